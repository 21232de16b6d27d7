"""Deliveries of webhooks: which is due, sent, and tried again."""

import random
import time
from http.client import HTTPException

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session as Rows

import trustreport
from trustreport.service import audit
from trustreport.service.core import Core
from trustreport.service.log import log
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.storage.models import canonical
from trustreport.service.storage.store import now
from trustreport.service.storage.wakeups import announce
from trustreport.service.webhook import destination
from trustreport.webhook_signature import ID, SIGNATURE, TIMESTAMP, secret_text, sign

ACTOR = "webhooks"
FIRST_WAIT = 30_000  # milliseconds between the first two attempts; each further wait is twice as long
LONGEST_WAIT = 4 * 3_600_000
GIVEN_UP_AFTER = 24 * 3_600_000
JITTER = (0.75, 1.25)  # so that events that failed together are not tried together
_random = random.SystemRandom()


def claim(rows: Rows) -> tuple[Webhook, Delivery] | None:
    """Take a delivery that is due; it is due again later unless its end is noted before.

    Addresses take turns, so that one that is slow or has much to receive does not hold up the others.
    """
    at = now(rows)
    due = _due(at).order_by(Webhook.tried_at, Delivery.next_at, Delivery.attempts, Delivery.id)
    delivery = rows.scalar(due.limit(1).with_for_update(skip_locked=True, of=Delivery))
    if delivery is None:
        return None
    delivery.attempts += 1
    last = max(delivery.queued_at + GIVEN_UP_AFTER, at + FIRST_WAIT)
    delivery.next_at = min(at + _wait(delivery.attempts), last)
    webhook = rows.get_one(Webhook, delivery.webhook)
    webhook.tried_at = at
    return webhook, delivery


def anything_waits(rows: Rows) -> bool:
    """Whether a delivery is due; asked first, since it takes no lock."""
    return rows.scalar(_due(now(rows)).limit(1)) is not None


def end(rows: Rows, name: str, reason: str = "") -> None:
    """Note that an event was sent, or why not; after a day of attempts it is given up.

    What else waits for an address that did not take an event waits for the next attempt as well.
    """
    delivery = rows.scalar(select(Delivery).where(Delivery.id == name).with_for_update())
    if delivery is None or delivery.sent_at or delivery.failed_at:
        return
    delivery.reason = reason[:200]
    at = now(rows)
    if not reason:
        delivery.sent_at = at
        return
    waiting = (
        Delivery.webhook == delivery.webhook,
        Delivery.sent_at.is_(None),
        Delivery.failed_at.is_(None),
        Delivery.next_at < delivery.next_at,
    )
    rows.execute(update(Delivery).where(*waiting).values(next_at=delivery.next_at))
    if at >= delivery.queued_at + GIVEN_UP_AFTER:  # noted last: whoever writes the log waits for nobody
        delivery.failed_at = at
        about = {"delivery": delivery.id, "event": delivery.kind, "attempts": delivery.attempts}
        audit.write(rows, delivery.organisation, ACTOR, "webhook.failed", delivery.webhook, **about)


def again(rows: Rows, delivery: Delivery) -> None:
    """Put a delivery back as if it were new; its id stays, so that the receiver knows it."""
    at = now(rows)
    delivery.attempts, delivery.reason = 0, ""
    delivery.next_at = delivery.queued_at = at
    delivery.sent_at = delivery.failed_at = None
    announce(rows, "outgoing")


def _due(at: int) -> Select[Delivery]:
    return (
        select(Delivery)
        .join(Webhook, Webhook.id == Delivery.webhook)
        .where(Webhook.paused_at.is_(None), Delivery.is_due(at))
    )


def _wait(attempts: int) -> int:
    """Milliseconds until the next attempt."""
    return round(min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_WAIT) * _random.uniform(*JITTER))


def send_next(core: Core) -> bool:
    """Send one event that is due; whether there was one."""
    with core.store.read() as rows:
        if not anything_waits(rows):
            return False
    with core.store.write() as rows:
        claimed = claim(rows)
    if claimed is None:
        return False
    webhook, delivery = claimed
    reason = _send(core, webhook, delivery)
    with core.store.write() as rows:
        end(rows, delivery.id, reason)
    log().info("webhook", webhook=webhook.id, kind=delivery.kind, attempt=delivery.attempts, failed=reason)
    return True


def secret_of(core: Core, webhook: str) -> str:
    """The secret of a webhook: derived from the service's key, so that the database never holds it."""
    return secret_text(core.signer.derived(f"webhook {webhook}"))


def _send(core: Core, webhook: Webhook, delivery: Delivery) -> str:
    """Send an event; nothing, or why it was not taken."""
    body, at = canonical(delivery.details).encode(), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"trustreport/{trustreport.__version__}",
        ID: delivery.id,
        TIMESTAMP: str(at),
        SIGNATURE: sign(secret_of(core, webhook.id), delivery.id, at, body),
    }
    try:
        status = destination.post(webhook.url, body, headers, core.settings.allowed_networks)
    except (OSError, HTTPException, destination.NotAllowed) as error:
        return destination.reason_of(error)
    if 300 <= status < 400:
        return f"answered {status}; redirects are not followed"
    return "" if 200 <= status < 300 else f"answered {status}"
