"""What lists are narrowed by: one set of parameters for the API, the pages and the exports."""

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

from fastapi import Depends, Query
from sqlalchemy import ColumnElement, Select, and_, exists, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from trustreport.service.access.principal import Principal
from trustreport.service.storage.collaboration import ReviewRequest
from trustreport.service.storage.models import (
    Attestation,
    Audit,
    Job,
    StoredDevice,
    StoredReport,
    StoredStudy,
    User,
    Version,
    has_json,
)
from trustreport.service.web.faults import Fault, Field
from trustreport.vocabulary.messages import say

DAY = timedelta(days=1)
Search = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$", description="a part of its name")]
Row = Annotated[str, Query(max_length=26, pattern="^[0-9a-z]*$", description="name of a row")]
Person = Annotated[str, Query(max_length=60, pattern=r"^[^\x00]*$", description="name of a user")]
Choice = Annotated[str, Query(max_length=40, pattern="^[a-z._]*$")]
Day = Annotated[str, Query(pattern=r"^(\d{4}-\d\d-\d\d)?$", description="a date, as 2026-03-31")]


@dataclass
class ListFilter:
    """Words, a person and days; empty ones narrow nothing. Fields are parameters of the list's address."""

    q = by = since = until = ""  # of a list that does not have one of them

    @property
    def given(self) -> dict[str, str]:
        """What narrows the list, as its address says it."""
        return {name: value for name, value in asdict(self).items() if value}

    def days(self, column: InstrumentedAttribute[int]) -> list[ColumnElement[bool]]:
        """From the first day to the last one, which is included (UTC)."""
        found = []
        if self.since:
            found.append(column >= _milliseconds(self.since, "since"))
        if self.until:
            found.append(column < _milliseconds(self.until, "until", DAY))
        return found


@dataclass
class StudyFilter(ListFilter):
    """Studies by their names."""

    q: Search = ""
    by: Person = ""
    since: Day = ""
    until: Day = ""

    def apply(self, query: Select[Any]) -> Select[Any]:
        """The studies that are wanted."""
        if self.q.strip():
            query = query.where(StoredStudy.name.icontains(self.q.strip(), autoescape=True))
        if self.by:
            query = query.where(StoredStudy.created_by == self.by)
        return query.where(*self.days(StoredStudy.created_at))


@dataclass
class DeviceFilter(ListFilter):
    """Devices by what they are called."""

    q: Search = ""
    since: Day = ""
    until: Day = ""

    def apply(self, query: Select[Any]) -> Select[Any]:
        """The devices that are wanted, by trade name, manufacturer or Basic UDI-DI."""
        query = query.where(StoredDevice.id.in_(select(Version.device)))  # of which all versions are removed
        if wanted := self.q.strip():
            columns = (StoredDevice.trade_name, StoredDevice.manufacturer, StoredDevice.basic_udi_di)
            query = query.where(or_(*(column.icontains(wanted, autoescape=True) for column in columns)))
        return query.where(*self.days(StoredDevice.created_at))


@dataclass
class ReportFilter(ListFilter):
    """Reports by what they are of, and by what was found, signed and requested."""

    q: Search = ""
    study: Row = ""
    device: Row = ""
    kind: Choice = ""
    verdict: Choice = ""
    signed: Choice = ""
    reviewer: Person = ""
    by: Person = ""
    since: Day = ""
    until: Day = ""

    def apply(self, query: Select[Any], who: Principal, is_sqlite: bool) -> Select[Any]:
        """The reports that are wanted."""
        for name, column in (
            ("study", StoredReport.study),
            ("device", StoredReport.device),
            ("kind", StoredReport.kind),
            ("by", StoredReport.created_by),
        ):
            if value := getattr(self, name):
                query = query.where(column == value)
        if self.verdict:
            query = query.where(has_json(StoredReport.facts, ("verdicts", self.verdict), is_sqlite))
        if self.signed:
            query = query.where(_is_signed(self.signed))
        if self.reviewer:
            reviewer = who.user if self.reviewer == "me" else self.reviewer
            requested = select(ReviewRequest.report).where(
                ReviewRequest.reviewer == reviewer, ReviewRequest.ended_at.is_(None)
            )
            query = query.where(StoredReport.id.in_(requested))
        if wanted := self.q.strip():
            studies = who.rows_of(StoredStudy).where(StoredStudy.name.icontains(wanted, autoescape=True))
            devices = who.rows_of(StoredDevice).where(
                StoredDevice.trade_name.icontains(wanted, autoescape=True)
            )
            query = query.where(
                or_(
                    StoredReport.study.in_(studies.with_only_columns(StoredStudy.id)),
                    StoredReport.device.in_(devices.with_only_columns(StoredDevice.id)),
                )
            )
        return query.where(*self.days(StoredReport.created_at))


@dataclass
class JobFilter(ListFilter):
    """Jobs by what they do, and how far they are."""

    state: Choice = ""
    task: Choice = ""
    study: Row = ""
    by: Person = ""
    since: Day = ""
    until: Day = ""

    def apply(self, query: Select[Any]) -> Select[Any]:
        """The jobs that are wanted."""
        wanted = {Job.study: self.study, Job.state: self.state, Job.task: self.task, Job.created_by: self.by}
        conditions = [column == value for column, value in wanted.items() if value]
        return query.where(*conditions, *self.days(Job.created_at))


@dataclass
class UserFilter(ListFilter):
    """Users by name, address and role."""

    q: Search = ""
    role: Choice = ""

    def apply(self, query: Select[Any]) -> Select[Any]:
        """The users that are wanted, by name, address or role."""
        if wanted := self.q.strip():
            columns = (User.name, User.email)
            query = query.where(or_(*(column.icontains(wanted, autoescape=True) for column in columns)))
        if self.role:
            query = query.where(has_word(User.roles, self.role))
        return query


@dataclass
class AuditFilter(ListFilter):
    """Entries of the log by what they are about, who did it, and what was done."""

    subject: Annotated[str, Query(max_length=100, pattern=r"^[^\x00]*$")] = ""
    by: Person = ""
    action: Choice = ""
    since: Day = ""
    until: Day = ""

    def __post_init__(self) -> None:
        self.subject = self.subject.strip()

    def apply(self, query: Select[Any]) -> Select[Any]:
        """The entries that are wanted; an action may be its beginning: `report` finds `report.made`."""
        if self.subject:
            query = query.where(Audit.subject == self.subject)
        if self.by:
            query = query.where(Audit.actor == self.by)
        if self.action:
            begins = Audit.action.startswith(f"{self.action}.", autoescape=True)
            query = query.where(or_(Audit.action == self.action, begins))
        return query.where(*self.days(Audit.at))


def has_word(column: InstrumentedAttribute[list[Any]], word: str) -> ColumnElement[bool]:
    """Whether a list that is kept as JSON has a word."""
    from sqlalchemy import Text, type_coerce

    return type_coerce(column, Text).contains(f'"{word}"', autoescape=True)


def _is_signed(state: str) -> ColumnElement[bool]:
    """Whether a report is in this state, as lists show it: no approval undoes a rejection."""

    def has(act: str) -> ColumnElement[bool]:
        return exists().where(Attestation.report == StoredReport.id, Attestation.act == act)

    states = {
        "rejection": has("rejection"),
        "approval": and_(has("approval"), ~has("rejection")),
        "review": and_(has("review"), ~has("approval"), ~has("rejection")),
        "none": ~exists().where(Attestation.report == StoredReport.id),
    }
    if state not in states:
        raise Fault(
            422,
            "",
            [Field("signed", f"expected {', '.join(states)}")],
            title=say("pages.fault.not_as_expected.title"),
        )
    return states[state]


def _milliseconds(day: str, name: str, more: timedelta = timedelta()) -> int:
    try:
        at = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC) + more
    except (ValueError, OverflowError):
        said = f"found {day}, expected a date, as 2026-03-31"
        raise Fault(422, "", [Field(name, said)], title=say("pages.fault.not_as_expected.title")) from None
    return round(at.timestamp() * 1000)


Studies = Annotated[StudyFilter, Depends()]
Devices = Annotated[DeviceFilter, Depends()]
Reports = Annotated[ReportFilter, Depends()]
Jobs = Annotated[JobFilter, Depends()]
Users = Annotated[UserFilter, Depends()]
Entries = Annotated[AuditFilter, Depends()]
