"""Mail and webhooks for an incident that must be reported soon, or should have been."""

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit, mail
from trustreport.service.roles import permissions
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Audit, User
from trustreport.service.storage.vigilance import VigilanceEntry
from trustreport.service.vigilance.entries import today
from trustreport.service.vigilance.fields import clock


def announce_deadlines(rows: Rows, organisation: str, settings: Settings, actor: str) -> None:
    """Announce each deadline twice: when it is near, and when it has passed without a report.

    A deadline that moved, since awareness or seriousness was changed, is announced anew.
    """
    day = today(rows)
    open_ones = select(VigilanceEntry).where(
        VigilanceEntry.organisation == organisation,
        VigilanceEntry.group == "incidents",
        VigilanceEntry.closed.is_(False),
    )
    for entry in rows.scalars(open_ones).all():
        timed = clock(entry, day)
        if not (timed.missed or timed.near) or timed.deadline is None:
            continue
        kind: mail.Kind = "incident_overdue" if timed.missed else "incident_near"
        action, deadline = kind.replace("_", ".", 1), timed.deadline.isoformat()
        if deadline in _announced(rows, entry, action):
            continue
        audit.write(rows, organisation, actor, action, entry.id, device=entry.device, deadline=deadline)
        for user in _responsible(rows, entry):
            mail.queue_mail(rows, settings, kind, user, incident=entry.id, due=deadline)


def _announced(rows: Rows, entry: VigilanceEntry, action: str) -> Iterator[str]:
    """The deadlines of an incident that were announced."""
    query = select(Audit).where(
        Audit.chain == entry.organisation, Audit.subject == entry.id, Audit.action == action
    )
    return (one.details["deadline"] for one in rows.scalars(query))


def _responsible(rows: Rows, entry: VigilanceEntry) -> list[str]:
    """Who registered an incident; every author where that account is closed or may no longer write."""
    query = select(User).where(User.organisation == entry.organisation, User.disabled_at.is_(None))
    authors = [user.id for user in rows.scalars(query) if "write" in permissions(user.roles)]
    return [entry.created_by] if entry.created_by in authors else authors
