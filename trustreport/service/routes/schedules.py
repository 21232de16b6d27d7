"""Periodic audits: a report of a study's newest valid version, every so many days."""

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field, field_validator

from trustreport.service import audit
from trustreport.service.ids import PATTERN, new_id
from trustreport.service.routes.pagination import Name, Page, RequestedPage
from trustreport.service.routes.shapes import ReportOptions, ResponseBody, moment
from trustreport.service.storage.models import Schedule, StoredStudy
from trustreport.service.storage.store import now
from trustreport.service.web.guard import Author, Reader, TheCore
from trustreport.study.plan import LAST_YEAR

router = APIRouter(prefix="/schedules", tags=["schedules"])


class NewSchedule(ReportOptions):
    study: str = Field(pattern=PATTERN)
    every_days: int = Field(ge=1, le=3660)
    first: datetime | None = Field(
        default=None, description="when the first one is due, from 1970 to 2200; now where left out"
    )

    @field_validator("first")
    @classmethod
    def _in_this_age(cls, value: datetime | None) -> datetime | None:
        if value is not None and not 1970 <= value.year <= LAST_YEAR:
            raise ValueError(f"a date from 1970-01-01 to {LAST_YEAR}-12-31")
        return value


class ScheduleResponse(ResponseBody):
    id: str
    study: str
    wishes: dict[str, Any]
    every_days: int
    next_at: datetime
    created_by: str
    created_at: datetime


@router.get("")
def schedules(who: Reader, core: TheCore, turn: RequestedPage) -> Page[ScheduleResponse]:
    """All periodic audits."""
    with core.store.read() as rows:
        return turn.rows(rows, who.all(Schedule), Schedule.id, _to_response)


@router.post("", status_code=201)
def begin(asked: NewSchedule, who: Author, core: TheCore) -> ScheduleResponse:
    """A new periodic audit. When it is due and nothing changed since the last time, no report is made."""
    with core.store.write() as rows:
        study = who.one(rows, StoredStudy, asked.study)
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
        return _to_response(row)


@router.get("/{schedule}")
def get_schedule(schedule: Name, who: Reader, core: TheCore) -> ScheduleResponse:
    """One periodic audit."""
    with core.store.read() as rows:
        return _to_response(who.one(rows, Schedule, schedule))


@router.delete("/{schedule}", status_code=204)
def stop(schedule: Name, who: Author, core: TheCore) -> None:
    """End a periodic audit."""
    with core.store.write() as rows:
        row = who.one(rows, Schedule, schedule)
        audit.write(rows, who.organisation, who.user, "schedule.stop", row.id, study=row.study)
        rows.delete(row)


def _milliseconds(at: datetime) -> int:
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return round(at.timestamp() * 1000)


def _to_response(row: Schedule) -> ScheduleResponse:
    return ScheduleResponse(
        id=row.id,
        study=row.study,
        wishes=row.wishes,
        every_days=row.every_days,
        next_at=moment(row.next_at),
        created_by=row.created_by,
        created_at=moment(row.created_at),
    )
