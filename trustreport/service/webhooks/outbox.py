"""The outbox: rows of `deliveries`, written in the transaction of the event that they report.

A worker takes a row by moving its next attempt ahead, sends, and notes the end. If it is killed between the
last two, the event is sent again at that time: every event is sent at least once, always under one id.
"""

import random

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.jobs.wakeups import announce
from trustreport.service.storage.store import now
from trustreport.service.storage.webhooks import Delivery, Webhook

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
