"""Which entries of the log are events, and the rows that send them, written in the entry's transaction."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service.ids import new_id
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.storage.models import Audit
from trustreport.service.storage.store import now
from trustreport.service.storage.wakeups import announce


@dataclass(frozen=True, slots=True)
class EventKind:
    """An event as people read it, and where in the API its subject is."""

    title: str
    resource: str


EVENTS: dict[str, EventKind] = {
    "version.valid": EventKind("An upload was checked: no problems", "/versions/{}"),
    "version.invalid": EventKind("An upload was checked: problems", "/versions/{}"),
    "report.made": EventKind("A report is ready", "/reports/{}"),
    "report.alert": EventKind("A control chart of a report has an alert", "/reports/{}"),
    "job.failed": EventKind("A check or a report has failed", "/jobs/{}"),
    "schedule.due": EventKind("A periodic audit is due", "/schedules/{}"),
    "period.waiting": EventKind("A scheduled period waits for its data", "/versions/{}"),
    "period.failed": EventKind("A scheduled period was not reported", "/versions/{}"),
    "report.review": EventKind("A report was reviewed", "/reports/{}"),
    "report.approval": EventKind("A report was approved", "/reports/{}"),
    "report.rejection": EventKind("A report was rejected", "/reports/{}"),
    "criteria.fix": EventKind("Criteria were fixed", "/fixed-criteria/{}"),
    "criteria.waiting": EventKind("Criteria wait for a countersignature", "/fixed-criteria/{}"),
    "criteria.countersign": EventKind("Fixed criteria were countersigned", "/fixed-criteria/{}"),
    "incident.near": EventKind("An incident must be reported soon", "/incidents/{}"),
    "incident.overdue": EventKind("An incident should have been reported", "/incidents/{}"),
    "study.remove": EventKind("A study was removed", ""),
}
TEST = "webhook.test"


def queue_deliveries(rows: Rows, entry: Audit) -> None:
    """Write a delivery of an entry of the log for each webhook that wants it."""
    if entry.action not in EVENTS:
        return
    query = select(Webhook).where(Webhook.organisation == entry.chain, Webhook.paused_at.is_(None))
    for webhook in rows.scalars(query).all():
        if entry.action in webhook.events:
            queue_delivery(rows, webhook, entry)


def queue_delivery(rows: Rows, webhook: Webhook, entry: Audit) -> Delivery:
    """A delivery of an entry; what is sent holds ids, hashes and counts, as the log does."""
    kind = EVENTS.get(entry.action)
    name, at = new_id(), now(rows)
    details: dict[str, Any] = {
        "id": name,
        "event": entry.action,
        "at": entry.at,
        "organisation": entry.chain,
        "subject": entry.subject,
        "resource": f"/api/v1{kind.resource.format(entry.subject)}" if kind and kind.resource else "",
        "details": entry.details,
        "log": {"number": entry.number, "hash": entry.hash},
    }
    delivery = Delivery(
        id=name,
        organisation=webhook.organisation,
        webhook=webhook.id,
        kind=entry.action,
        details=details,
        attempts=0,
        next_at=at,
        reason="",
        created_at=at,
        queued_at=at,
    )
    rows.add(delivery)
    rows.flush()
    announce(rows, "outgoing")
    return delivery
