"""What waits for a person: reviews, signatures, periods and incidents that are late, what failed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal

from sqlalchemy import Row, Select, exists, func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.principal import Principal
from trustreport.service.record.retention import DAY
from trustreport.service.review.attestations import makers, preparers
from trustreport.service.storage.collaboration import ReviewRequest
from trustreport.service.storage.fixing import FixedCriteria
from trustreport.service.storage.models import (
    Attestation,
    Job,
    Schedule,
    StoredDevice,
    StoredReport,
    StoredStudy,
    User,
    Version,
)
from trustreport.service.storage.store import now
from trustreport.service.storage.vigilance import VigilanceEntry
from trustreport.service.study.fixing import fixing_of, lacks_data_alone
from trustreport.service.vigilance.entries import MOST_ENTRIES, today
from trustreport.service.vigilance.fields import clock

MOST_OF_A_KIND = 10
MOST_LOOKED_AT = 50  # acts that wait for a second person, the newest first
LATE = 3_600_000  # milliseconds after which a due audit is overdue: the queue is looked at all the time
FAILED_DAYS = 30  # for which a failure is shown


@dataclass(frozen=True, slots=True)
class OpenTask:
    """Something that somebody is to do: where, of which study or device, by when (a date)."""

    kind: Literal[
        "review", "countersignature", "approval", "audit", "period", "entry", "report_by", "check", "job"
    ]
    address: str
    name: str
    due: str = ""
    late: bool = False


def open_tasks(rows: Rows, who: Principal, latest: list[Version]) -> list[OpenTask]:
    """What a person can do something about; what is late comes first.

    Parameters
    ----------
    latest : the newest valid version of each device
    """
    day = today(rows)
    found = [*_reviews(rows, who, day.isoformat())]
    if "review" in who.may:
        found += _countersignatures(rows, who)
    if "approve" in who.may:
        found += _approvals(rows, who)
    if "write" in who.may:
        found += [*_audits(rows, who), *_periods(rows, who, latest, day.isoformat())]
        found += _entries(rows, who, day)
    found += [*_failed_checks(rows, who), *_failed_jobs(rows, who)]
    return sorted(found, key=lambda task: not task.late)


def _reviews(rows: Rows, who: Principal, today: str) -> Iterator[OpenTask]:
    query = (
        who.rows_of(ReviewRequest)
        .where(ReviewRequest.reviewer == who.user, ReviewRequest.ended_at.is_(None))
        .join(StoredReport, StoredReport.id == ReviewRequest.report)
        .join(StoredStudy, StoredStudy.id == StoredReport.study)
        .order_by(ReviewRequest.due.is_(None), ReviewRequest.due, ReviewRequest.id)
        .limit(MOST_OF_A_KIND)
        .with_only_columns(ReviewRequest.report, ReviewRequest.due, StoredStudy.name)
    )
    for report, due, name in rows.execute(query):
        yield OpenTask("review", f"/reports/{report}", name, due or "", due is not None and due < today)


def _countersignatures(rows: Rows, who: Principal) -> Iterator[OpenTask]:
    """Criteria that somebody else has fixed, and that count once they are countersigned."""
    own = FixedCriteria
    open_acts = who.rows_of(own).where(own.needs_second, own.countersigned_at.is_(None))
    others = open_acts.where(own.created_by != who.user).order_by(own.id.desc())
    acts = rows.scalars(others.limit(MOST_LOOKED_AT)).all()
    names = _names(rows, who, {act.study for act in acts})
    for act in acts:
        waiting = fixing_of(rows, act.study).waiting
        if waiting and waiting.id == act.id and who.user not in makers(rows, act.version):
            yield OpenTask("countersignature", f"/studies/{act.study}/criteria", names[act.study])


def _approvals(rows: Rows, who: Principal) -> list[OpenTask]:
    """Reports that were reviewed by others and are neither approved nor rejected."""
    done = exists().where(
        Attestation.report == StoredReport.id, Attestation.act.in_(("approval", "rejection"))
    )
    reviewed = exists().where(Attestation.report == StoredReport.id, Attestation.act == "review")
    own = exists().where(Attestation.report == StoredReport.id, Attestation.user == who.user)
    query = who.rows_of(StoredReport).where(reviewed, ~done, ~own).order_by(StoredReport.id.desc())
    reports = rows.scalars(query.limit(MOST_OF_A_KIND)).all()
    names = _names(rows, who, {one.study for one in reports})
    fit = [one for one in reports if who.user not in preparers(rows, one)]
    return [OpenTask("approval", f"/reports/{one.id}", names[one.study]) for one in fit]


def _audits(rows: Rows, who: Principal) -> Iterator[OpenTask]:
    """Schedules whose time has passed without their audit."""
    query = (
        who.rows_of(Schedule)
        .where(Schedule.next_at < now(rows) - LATE)
        .join(StoredStudy, StoredStudy.id == Schedule.study)
        .order_by(Schedule.next_at)
        .limit(MOST_OF_A_KIND)
        .with_only_columns(Schedule.study, Schedule.next_at, StoredStudy.name)
    )
    for study, at, name in rows.execute(query):
        yield OpenTask("audit", f"/studies/{study}", name, _day(at), late=True)


def _periods(rows: Rows, who: Principal, latest: list[Version], today: str) -> Iterator[OpenTask]:
    """Devices whose next period has ended, and which no schedule fetches."""
    over = [v for v in latest if (v.facts.get("next") or {}).get("until", today) < today]
    over = [v for v in over if v.facts["next"]["until"]]
    query = who.rows_of(Schedule).where(Schedule.study.in_({v.study for v in over}))
    fetched = {one.study for one in rows.scalars(query) if one.wishes.get("next_period")}
    named = who.rows_of(StoredDevice).where(StoredDevice.id.in_({v.device for v in over}))
    devices = {one.id: one.trade_name for one in rows.scalars(named)}
    for version in over[:MOST_OF_A_KIND]:
        if version.study not in fetched:
            name = devices.get(version.device or "", "")
            yield OpenTask(
                "period", f"/versions/{version.id}/period", name, version.facts["next"]["until"], late=True
            )


def _entries(rows: Rows, who: Principal, day: date) -> Iterator[OpenTask]:
    """Incidents and signals whose day is over, and incidents whose deadline for reporting is near."""
    query = who.rows_of(VigilanceEntry).where(~VigilanceEntry.closed).order_by(VigilanceEntry.id)
    timed = [(e, clock(e, day)) for e in rows.scalars(query.limit(MOST_ENTRIES))]
    for entry in [e for e, one in timed if one.overdue][:MOST_OF_A_KIND]:
        yield OpenTask("entry", f"/incidents/{entry.id}", entry.name, late=True)
    for entry, one in [(e, one) for e, one in timed if one.near and not one.overdue][:MOST_OF_A_KIND]:
        yield OpenTask("report_by", f"/incidents/{entry.id}", entry.name, f"{one.deadline}")


def _failed_checks(rows: Rows, who: Principal) -> Iterator[OpenTask]:
    """Newest versions with problems, other than that their data are not there yet."""
    last = select(Version.study, func.max(Version.number).label("number")).group_by(Version.study).subquery()
    newest = (Version.study == last.c.study) & (Version.number == last.c.number)
    failed = who.rows_of(Version).join(last, newest).where(Version.state.in_(("invalid", "unreadable")))
    found = [(one, name) for one, name in _lately(rows, who, failed, Version) if not lacks_data_alone(one)]
    for version, name in found[:MOST_OF_A_KIND]:
        yield OpenTask("check", f"/versions/{version.id}", name, _day(version.created_at))


def _failed_jobs(rows: Rows, who: Principal) -> Iterator[OpenTask]:
    """Reports that could not be made, of versions that have none since."""
    made = exists().where(StoredReport.version == Job.version, StoredReport.created_at > Job.created_at)
    failed = who.rows_of(Job).where(Job.state == "failed", Job.task == "report", ~made)
    for job, name in [*_lately(rows, who, failed, Job)][:MOST_OF_A_KIND]:
        yield OpenTask("job", f"/jobs/{job.id}", name, _day(job.created_at))


def _lately(
    rows: Rows, who: Principal, failed: Select[Any], kind: type[Version | Job]
) -> Iterable[Row[Any, str]]:
    """Failures of the last days that a person sees: their own, an administrator those of closed accounts."""
    closed = who.rows_of(User).where(User.disabled_at.is_not(None)).with_only_columns(User.id)
    persons = {who.user, *(rows.scalars(closed) if "manage" in who.may else ())}
    query = (
        failed.where(kind.created_by.in_(persons), kind.created_at > now(rows) - FAILED_DAYS * DAY)
        .join(StoredStudy, StoredStudy.id == kind.study)
        .order_by(kind.id.desc())
        .limit(MOST_LOOKED_AT)
    )
    return rows.execute(query.with_only_columns(kind, StoredStudy.name))


def _names(rows: Rows, who: Principal, studies: set[str]) -> dict[str, str]:
    named = who.rows_of(StoredStudy).where(StoredStudy.id.in_(studies))
    return {one.id: one.name for one in rows.scalars(named)}


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()
