"""Webhooks: addresses that events are sent to, and what became of each event."""

from hashlib import sha256
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import Field, StringConstraints
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import events
from trustreport.service.access.guard import Admin, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.client import operations as op
from trustreport.service.client.records import CreatedWebhook, DeliveryResponse, EventName, WebhookResponse
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.storage.models import Organisation
from trustreport.service.storage.store import now
from trustreport.service.storage.wakeups import announce
from trustreport.service.web.faults import Fault
from trustreport.service.web.faults import Field as WrongField
from trustreport.service.web.shapes import Name, Page, RequestBody, RequestedPage, serves
from trustreport.service.webhook import sending
from trustreport.service.webhook.sending import secret_of
from trustreport.vocabulary.messages import say

router = APIRouter(prefix="/webhooks", tags=["webhooks"])
MOST = 20  # webhooks of one organisation
Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Events = Annotated[
    list[EventName],
    Field(min_length=1, max_length=len(events.EVENTS), examples=[["report.made", "job.failed"]]),
]


class NewWebhook(RequestBody):
    url: Url = Field(
        description="https, of a public address; others where the operator allows their network",
        examples=["https://receiver.example.org/trustreport"],
    )
    events: Events


class WebhookChange(RequestBody):
    """What is left out stays. Another address is another webhook, with a secret of its own."""

    events: Events | None = None
    paused: bool | None = None


@serves(router, op.WEBHOOKS)
def webhooks(who: Admin, core: TheCore, turn: RequestedPage) -> Page[WebhookResponse]:
    """All webhooks."""
    with core.store.read() as rows:
        return turn.rows(rows, who.rows_of(Webhook), Webhook.id, WebhookResponse.of_row)


@serves(router, op.ADD_WEBHOOK, name="add")  # its id in the document
def add_webhook(asked: NewWebhook, who: Admin, core: TheCore) -> CreatedWebhook:
    """Register an address and the events that are sent there."""
    try:
        sending.parse(asked.url, core.settings.allowed_networks)
    except sending.NotAllowed as error:
        wrong = WrongField("url", f"{error}; expected https:// and a public name")
        raise Fault(422, say("pages.fault.address_refused.detail"), [wrong]) from None
    with core.store.write() as rows:
        # One after the other, beside transactions whose rows refer to the organisation.
        rows.refresh(rows.get_one(Organisation, who.organisation), with_for_update={"key_share": True})
        if (rows.scalar(select(func.count()).select_from(who.rows_of(Webhook).subquery())) or 0) >= MOST:
            raise Fault(409, say("pages.fault.too_many_webhooks.detail", most=MOST))
        webhook = who.new_row(rows, Webhook, url=asked.url, events=sorted(set(asked.events)), tried_at=0)
        about = {"host": urlsplit(asked.url).hostname, "url_sha256": sha256(asked.url.encode()).hexdigest()}
        who.audit(rows, "webhook.add", webhook.id, events=webhook.events, **about)
        return CreatedWebhook(webhook=WebhookResponse.of_row(webhook), secret=secret_of(core, webhook.id))


@router.get("/{webhook}")
def get_webhook(webhook: Name, who: Admin, core: TheCore) -> WebhookResponse:
    """One webhook."""
    with core.store.read() as rows:
        return WebhookResponse.of_row(who.row_of(rows, Webhook, webhook))


@router.patch("/{webhook}")
def change(webhook: Name, asked: WebhookChange, who: Admin, core: TheCore) -> WebhookResponse:
    """Choose other events, pause or resume. Events of the time of a pause are not sent later."""
    with core.store.write() as rows:
        row = who.row_of(rows, Webhook, webhook)
        if asked.events is not None:
            row.events = sorted(set(asked.events))
        if asked.paused is not None:
            row.paused_at = now(rows) if asked.paused else None
            announce(rows, "outgoing")
        who.audit(
            rows,
            "webhook.change",
            row.id,
            **asked.model_dump(exclude_none=True, exclude={"events"}),
            events=row.events,
        )
        return WebhookResponse.of_row(row)


@serves(router, op.REMOVE_WEBHOOK)
def remove(webhook: Name, who: Admin, core: TheCore) -> None:
    """Remove a webhook with the list of its deliveries; what waits is not sent."""
    with core.store.write() as rows:
        row = who.row_of(rows, Webhook, webhook)
        who.audit(rows, "webhook.remove", row.id)  # from here no event comes in
        rows.execute(delete(Delivery).where(Delivery.webhook == row.id))
        rows.delete(row)


@serves(router, op.TEST_WEBHOOK)
def test(webhook: Name, who: Admin, core: TheCore) -> DeliveryResponse:
    """Send an event of the kind `webhook.test`, whatever events were chosen."""
    with core.store.write() as rows:
        row = who.row_of(rows, Webhook, webhook)
        _refuse_paused(row)
        entry = who.audit(rows, events.TEST, row.id)
        return to_response(events.queue_delivery(rows, row, entry))


@serves(router, op.DELIVERIES)
def deliveries(webhook: Name, who: Admin, core: TheCore, turn: RequestedPage) -> Page[DeliveryResponse]:
    """What was sent, waits or was given up, of the last 30 days."""
    with core.store.read() as rows:
        row = who.row_of(rows, Webhook, webhook)
        query = who.rows_of(Delivery).where(Delivery.webhook == row.id)
        return turn.rows(rows, query, Delivery.id, to_response)


@serves(router, op.SEND_AGAIN)
def send_again(webhook: Name, delivery: Name, who: Admin, core: TheCore) -> DeliveryResponse:
    """Send an event again, now and for up to another day, under the same id."""
    with core.store.write() as rows:
        hook, row = _both(who, rows, webhook, delivery)
        _refuse_paused(hook)
        sending.requeue(rows, row)
        who.audit(rows, "webhook.again", hook.id, delivery=row.id)
        return to_response(row)


def _both(who: Principal, rows: Rows, webhook: str, delivery: str) -> tuple[Webhook, Delivery]:
    hook, row = who.row_of(rows, Webhook, webhook), who.row_of(rows, Delivery, delivery)
    if row.webhook != hook.id:
        raise Fault(404, say("pages.fault.not_found.there_no_delivery", delivery=repr(delivery)))
    rows.refresh(row, with_for_update=True)
    return hook, row


def _refuse_paused(row: Webhook) -> None:
    if row.paused_at is not None:
        raise Fault(409, say("pages.fault.paused.detail"))


def to_response(row: Delivery) -> DeliveryResponse:
    """A delivery as the API says it."""
    return DeliveryResponse.of_row(
        row,
        event=row.kind,
        body=row.details,
        next_at=row.next_at if row.state == "waiting" else None,
        ended_at=row.sent_at or row.failed_at,
    )
