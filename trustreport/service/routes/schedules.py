"""Periodic audits: a report of a study's newest valid version, every so many days."""

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from trustreport.service import audit
from trustreport.service.ids import PATTERN, new_id
from trustreport.service.routes.pages_of import Name, Page, Turned
from trustreport.service.routes.shapes import Said, Wishes, moment
from trustreport.service.storage.models import Schedule, Study
from trustreport.service.storage.store import now
from trustreport.service.web.guard import Author, Reader, TheCore

router = APIRouter(prefix="/schedules", tags=["schedules"])


class NewSchedule(Wishes):
    study: str = Field(pattern=PATTERN)
    every_days: int = Field(ge=1, le=3660)
    first: datetime | None = Field(default=None, description="when the first one is due; now where left out")


class ScheduleSaid(Said):
    id: str
    study: str
    wishes: dict[str, Any]
    every_days: int
    next_at: datetime
    created_by: str
    created_at: datetime


@router.get("")
def schedules(who: Reader, core: TheCore, turn: Turned) -> Page[ScheduleSaid]:
    """All periodic audits."""
    with core.store.read() as rows:
        return turn.rows(rows, who.all(Schedule), Schedule.id, _said)


@router.post("", status_code=201)
def begin(asked: NewSchedule, who: Author, core: TheCore) -> ScheduleSaid:
    """A new periodic audit. When it is due and nothing changed since the last time, no report is made."""
    with core.store.write() as rows:
        study = who.one(rows, Study, asked.study)
        at = now(rows)
        row = Schedule(
            id=new_id(),
            organisation=who.organisation,
            study=study.id,
            wishes=asked.plain(),
            every_days=asked.every_days,
            next_at=max(at, _milliseconds(asked.first)) if asked.first else at,
            created_by=who.user,
            created_at=at,
        )
        rows.add(row)
        rows.flush()
        audit.write(
            rows,
            who.organisation,
            who.user,
            "schedule.add",
            row.id,
            study=study.id,
            every_days=row.every_days,
        )
        return _said(row)


@router.get("/{schedule}")
def one(schedule: Name, who: Reader, core: TheCore) -> ScheduleSaid:
    """One periodic audit."""
    with core.store.read() as rows:
        return _said(who.one(rows, Schedule, schedule))


@router.delete("/{schedule}", status_code=204)
def stop(schedule: Name, who: Author, core: TheCore) -> None:
    """End a periodic audit."""
    with core.store.write() as rows:
        row = who.one(rows, Schedule, schedule)
        audit.write(rows, who.organisation, who.user, "schedule.stop", row.id, study=row.study)
        rows.delete(row)


def _milliseconds(at: datetime) -> int:
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(round(at.timestamp() * 1000), 0), 253_370_764_800_000)  # to the year 9999


def _said(row: Schedule) -> ScheduleSaid:
    return ScheduleSaid(
        id=row.id,
        study=row.study,
        wishes=row.wishes,
        every_days=row.every_days,
        next_at=moment(row.next_at),
        created_by=row.created_by,
        created_at=moment(row.created_at),
    )
