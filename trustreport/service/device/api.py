"""Devices, what was reported of them over time, and their periodic audits."""

from datetime import UTC, datetime

from fastapi import APIRouter
from pydantic import Field, field_validator
from sqlalchemy import or_, select, update

from trustreport.service.access.guard import Author, Reader, TheCore
from trustreport.service.client import operations as op
from trustreport.service.client.records import DeviceResponse, Moment, ScheduleResponse, TrendPoint
from trustreport.service.engine import LAST_YEAR
from trustreport.service.ids import PATTERN
from trustreport.service.pages import filters
from trustreport.service.storage.models import (
    NEXT_PERIOD,
    Attestation,
    Schedule,
    StoredDevice,
    StoredReport,
    StoredStudy,
    Version,
)
from trustreport.service.storage.store import now
from trustreport.service.storage.vigilance import VigilanceEntry
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import (
    Name,
    Page,
    ReportOptions,
    RequestBody,
    RequestedPage,
    moment,
    serves,
)
from trustreport.vocabulary.messages import say

router = APIRouter(prefix="/devices", tags=["devices"])


class SameDevice(RequestBody):
    device: str = Field(pattern=PATTERN, description="the device that is continued")


@serves(router, op.DEVICES)
def devices(who: Reader, core: TheCore, turn: RequestedPage, wanted: filters.Devices) -> Page[DeviceResponse]:
    """All devices of which a study was uploaded."""
    with core.store.read() as rows:
        return turn.rows(
            rows, wanted.apply(who.rows_of(StoredDevice)), StoredDevice.id, DeviceResponse.of_row
        )


@router.get("/{device}")
def get_device(device: Name, who: Reader, core: TheCore) -> DeviceResponse:
    """One device."""
    with core.store.read() as rows:
        return DeviceResponse.of_row(who.row_of(rows, StoredDevice, device))


@serves(router, op.CONTINUE_DEVICE)
def continue_device(device: Name, asked: SameDevice, who: Author, core: TheCore) -> DeviceResponse:
    """Say that a device is another one under a new UDI: versions, reports and the register become one.

    What is uploaded under the new UDI belongs to the device that is continued from then on.
    """
    with core.store.write() as rows:
        new, old = (who.row_of(rows, StoredDevice, name) for name in (device, asked.device))
        for row in sorted((new, old), key=lambda one: one.id):  # in one order, whoever continues which
            rows.refresh(row, with_for_update=True)
        if new.id == old.id or old.same_as is not None:
            raise Fault(409, say("pages.fault.not_continued.itself"))
        entries = select(VigilanceEntry.group, VigilanceEntry.name)
        there = {(g, n) for g, n in rows.execute(entries.where(VigilanceEntry.device == old.id))}
        own = {(g, n) for g, n in rows.execute(entries.where(VigilanceEntry.device == new.id))}
        if both := sorted(name for _, name in there & own):
            raise Fault(409, say("pages.fault.not_continued.names", names=both))
        for model in (Version, StoredReport, VigilanceEntry):
            rows.execute(update(model).where(model.device == new.id).values(device=old.id))
        aliases = or_(StoredDevice.id == new.id, StoredDevice.same_as == new.id)
        rows.execute(update(StoredDevice).where(aliases).values(same_as=old.id))
        who.audit(rows, "device.continue", old.id, device=new.id, entries=len(own))
        return DeviceResponse.of_row(old)


@serves(router, op.TIMELINE)
def timeline(device: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[Moment]:
    """The reports of a device, the newest first, with their periods, verdicts and leading results."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredDevice, device)
        query = who.rows_of(StoredReport).where(StoredReport.device == row.id)
        found = turn.rows(rows, query, StoredReport.id, lambda report: report)
        names = [report.id for report in found.items]
        acts: dict[str, set[str]] = {name: set() for name in names}
        for report, act in rows.execute(
            select(Attestation.report, Attestation.act).where(Attestation.report.in_(names))
        ):
            acts[report].add(act)

        def moment_of(report: StoredReport) -> Moment:
            facts = report.facts
            return Moment(
                report=report.id,
                study=report.study,
                kind=report.kind,
                software_version=facts.get("software_version", ""),
                period_start=facts.get("period_start"),
                period_end=facts.get("period_end"),
                verdicts=facts.get("verdicts", {}),
                checks=facts.get("checks", {}),
                primary=facts.get("primary", []),
                trend=[TrendPoint(**point) for point in facts.get("trend", [])],
                signed=sorted(acts[report.id]),
                created_at=moment(report.created_at),
            )

        return Page(items=[moment_of(report) for report in found.items], next=found.next)


schedules_router = APIRouter(prefix="/schedules", tags=["schedules"])


class NewSchedule(ReportOptions):
    study: str = Field(pattern=PATTERN)
    every_days: int = Field(ge=1, le=3660, examples=[90])
    next_period: bool = Field(
        default=False,
        description="first fetch the next period, until the day before, of an audit with tables from queries",
    )
    first: datetime | None = Field(
        default=None, description="when the first one is due, from 1970 to 2200; now where left out"
    )

    @field_validator("first")
    @classmethod
    def _in_this_age(cls, value: datetime | None) -> datetime | None:
        if value is not None and not 1970 <= value.year <= LAST_YEAR:
            raise ValueError(f"a date from 1970-01-01 to {LAST_YEAR}-12-31")
        return value


@serves(schedules_router, op.SCHEDULES)
def schedules(who: Reader, core: TheCore, turn: RequestedPage) -> Page[ScheduleResponse]:
    """All periodic audits."""
    with core.store.read() as rows:
        return turn.rows(rows, who.rows_of(Schedule), Schedule.id, ScheduleResponse.of_row)


@schedules_router.post("", status_code=201)
def begin(asked: NewSchedule, who: Author, core: TheCore) -> ScheduleResponse:
    """A new periodic audit. When it is due and nothing changed since the last time, no report is made."""
    with core.store.write() as rows:
        study = who.row_of(rows, StoredStudy, asked.study)
        at = now(rows)
        next_at = max(at, _milliseconds(asked.first)) if asked.first else at
        wishes = asked.plain() | ({NEXT_PERIOD: True} if asked.next_period else {})
        row = who.new_row(
            rows, Schedule, study=study.id, wishes=wishes, every_days=asked.every_days, next_at=next_at
        )
        who.audit(rows, "schedule.add", row.id, study=study.id, every_days=row.every_days)
        return ScheduleResponse.of_row(row)


@schedules_router.get("/{schedule}")
def get_schedule(schedule: Name, who: Reader, core: TheCore) -> ScheduleResponse:
    """One periodic audit."""
    with core.store.read() as rows:
        return ScheduleResponse.of_row(who.row_of(rows, Schedule, schedule))


@schedules_router.delete("/{schedule}", status_code=204)
def stop(schedule: Name, who: Author, core: TheCore) -> None:
    """End a periodic audit."""
    with core.store.write() as rows:
        row = who.row_of(rows, Schedule, schedule)
        who.audit(rows, "schedule.stop", row.id, study=row.study)
        rows.delete(row)


def _milliseconds(at: datetime) -> int:
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return round(at.timestamp() * 1000)
