"""For administrators: addresses that events are sent to, and what became of each event."""

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from trustreport.service.access.guard import TheCore
from trustreport.service.client.records import CreatedWebhook
from trustreport.service.events import EVENTS, TEST
from trustreport.service.pages.page_context import (
    Admin,
    After,
    Given,
    Sent,
    body_from,
    listed,
    see,
    shown_again,
    text,
    texts,
)
from trustreport.service.pages.render import page
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.web.shapes import Name
from trustreport.service.webhook import api

TITLES: dict[str, str] = {TEST: "A test"} | {name: kind.title for name, kind in EVENTS.items()}

CHOSEN = ("report.made", "job.failed")  # at first

router = APIRouter(prefix="/admin/webhooks")


@router.get("")
def _list(
    request: Request,
    who: Admin,
    core: TheCore,
    form: Given[FormData] = None,
    *,
    made: Given[CreatedWebhook] = None,
) -> Response:
    """All webhooks, and a form for a new one."""
    with core.store.read() as rows:
        found = listed(rows, who.rows_of(Webhook), Webhook.id, limit=api.MOST)
    return page(
        request,
        "admin_webhooks",
        webhooks=found.items,
        made=made,
        kinds=EVENTS,
        chosen=CHOSEN if form is None else texts(form, "event"),
    )


@router.post("")
@shown_again(_list)
def add_webhook(request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """A new webhook; its secret is on this one page and nowhere else."""
    made = api.add_webhook(body_from(form, api.NewWebhook), who, core)
    return _list(request, who, core, made=made)


@router.get("/{webhook}")
def _show(
    request: Request,
    who: Admin,
    core: TheCore,
    webhook: Name,
    after: After = "",
) -> Response:
    """One webhook with its deliveries, the newest first."""
    with core.store.read() as rows:
        row = who.row_of(rows, Webhook, webhook)
        query = who.rows_of(Delivery).where(Delivery.webhook == row.id)
        found = listed(rows, query, Delivery.id, after)
    return page(
        request,
        "admin_webhook",
        webhook=row,
        deliveries=found.items,
        titles=TITLES,
        kinds=EVENTS,
        chosen=row.events,
        after=after,
        next=found.next,
    )


@router.post("/{webhook}")
@shown_again(_show)
def change(webhook: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Other events."""
    api.change(webhook, body_from(form, api.WebhookChange), who, core)
    return see(f"/admin/webhooks/{webhook}?done=saved")


@router.post("/{webhook}/pause")
def pause(webhook: Name, who: Admin, core: TheCore, form: Sent) -> Response:
    """Send nothing for a while, or go on."""
    api.change(webhook, api.WebhookChange(paused=text(form, "paused") == "yes"), who, core)
    return see(f"/admin/webhooks/{webhook}?done=saved")


@router.post("/{webhook}/removal")
def remove(webhook: Name, who: Admin, core: TheCore, form: Sent) -> Response:
    """No more of it."""
    api.remove(webhook, who, core)
    return see("/admin/webhooks?done=webhook")


@router.post("/{webhook}/test")
@shown_again(_show)
def test(webhook: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Send a test."""
    api.test(webhook, who, core)
    return see(f"/admin/webhooks/{webhook}?done=sending")


@router.post("/{webhook}/deliveries/{delivery}/again")
@shown_again(_show)
def send_again(
    webhook: Name, delivery: Name, request: Request, who: Admin, core: TheCore, form: Sent
) -> Response:
    """Send an event again."""
    api.send_again(webhook, delivery, who, core)
    return see(f"/admin/webhooks/{webhook}?done=sending")
