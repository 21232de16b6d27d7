"""Incidents and signals of a device as pages: the register with its clock, and one entry with its history."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session as Rows
from starlette.datastructures import FormData

from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.engine import DAYS_TO_REPORT
from trustreport.service.pages.page_context import (
    After,
    Author,
    Reader,
    Sent,
    body_from,
    listed,
    see,
    shown_again,
    text,
    texts,
    user_names,
)
from trustreport.service.pages.render import page
from trustreport.service.storage.models import StoredDevice, StoredReport
from trustreport.service.storage.vigilance import VigilanceChange, VigilanceEntry
from trustreport.service.vigilance import api
from trustreport.service.vigilance.entries import MOST_ENTRIES, next_name, today
from trustreport.service.vigilance.fields import (
    FIELDS,
    EventGroup,
    RegulatoryClock,
    VigilanceAct,
    clock,
    kind_of,
)
from trustreport.service.web.shapes import Name

MOST_REPORTS = 24  # of the device that an entry can be linked to
LONG = ("description", "decision", "action", "outcome")
LINES = ("imdrf_codes", "alternative_explanations")
TEXTS = ("causality", "decided_by", "reported_to", "capa_id", "indicator", "source", "owner", "period")
CHOICES = {"kind": ("incident", "complaint"), "seriousness": ("not serious", *DAYS_TO_REPORT)}
# In the form of a new entry, beside its facts.
AT_FIRST = ("seriousness",)
STAGES = ("detected", "validated", "assessed", "acted", "closed")

router = APIRouter()


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry as lists show it."""

    entry: VigilanceEntry
    clock: RegulatoryClock
    kind: str
    stage: str = ""

    @property
    def order(self) -> tuple[bool, bool, dt.date, str]:
        """Open ones first, of these the overdue ones, then by deadline; the oldest first."""
        due = self.clock.deadline if "report_date" not in self.entry.facts else None
        days = [day for day in (due, _date(self.entry.facts.get("due"))) if day]
        return self.entry.closed, not self.clock.overdue, min(days, default=dt.date.max), self.entry.id


@dataclass(frozen=True, slots=True)
class EntryField:
    """A field of a form: how it is typed, what it holds, and what there is to choose."""

    key: str
    form: str
    value: Any = ""
    choices: Sequence[str] = ()


@router.get("/devices/{device}/incidents")
def _register(
    request: Request,
    who: Reader,
    core: TheCore,
    device: Name,
) -> Response:
    """The incidents and signals of a device, open ones first."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredDevice, device)
        query = who.rows_of(VigilanceEntry).where(VigilanceEntry.device == row.id).limit(MOST_ENTRIES)
        day = today(rows)
        entries = [
            ListedEntry(one, clock(one, day), kind_of(one), _stage(one)) for one in rows.scalars(query)
        ]
        others = who.rows_of(StoredDevice).where(StoredDevice.id != row.id, StoredDevice.same_as.is_(None))
        has_others = rows.scalar(others.limit(1)) is not None
        names = {kind: next_name(rows, row.id, kind) for kind in ("incident", "signal")}
    entries.sort(key=lambda one: one.order)
    return page(
        request,
        "incidents",
        device=row,
        others=has_others,
        incidents=[one for one in entries if one.entry.group == "incidents"],
        signals=[one for one in entries if one.entry.group == "signals"],
        n_open=sum(not one.entry.closed for one in entries),
        n_overdue=sum(one.clock.overdue for one in entries),
        new={group: _new_fields(group) for group in FIELDS},
        names=names,
    )


@router.post("/devices/{device}/incidents")
@shown_again(_register)
def register(device: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Register an incident, a complaint or a signal."""
    wanted = body_from(form, api.NewVigilanceEntry)
    facts = _typed_facts(form, [field.key for field in _new_fields(wanted.group)])
    made = api.register(device, wanted.model_copy(update={"facts": facts}), who, core)
    return see(f"/incidents/{made.id}?done=registered")


@router.post("/devices/{device}/incidents/import")
@shown_again(_register)
def take_over(device: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Take over the incidents and signals of the newest manifest, once."""
    added = api.take_over(device, who, core)
    return see(f"/devices/{device}/incidents?done={'taken_over' if added else 'nothing_taken'}")


@router.get("/incidents/{entry}")
def _show(
    request: Request,
    who: Reader,
    core: TheCore,
    entry: Name,
    after: After = "",
) -> Response:
    """One incident or signal, with its history."""
    with core.store.read() as rows:
        row = who.row_of(rows, VigilanceEntry, entry)
        device = rows.get_one(StoredDevice, row.device)
        history = who.rows_of(VigilanceChange).where(VigilanceChange.entry == row.id)
        changes = listed(rows, history, VigilanceChange.id, after)
        reports = _reports(rows, who, row)
        day = today(rows)
        return page(
            request,
            "incident",
            entry=row,
            device=device,
            kind=kind_of(row),
            timed=clock(row, day),
            reports={report.id: report for report in reports},
            forms=_forms(row, [report.id for report in reports], day),
            changes=changes.items,
            order=[*chain(*FIELDS[cast("EventGroup", row.group)].values()), "status"],
            people=user_names(rows, who, {row.created_by, *(c.created_by for c in changes.items)}),
            after=after,
            next=changes.next,
        )


@router.post("/incidents/{entry}")
@shown_again(_show)
def change(entry: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Change, assess, link, close or open again."""
    wanted = body_from(form, api.VigilanceUpdate)
    with core.store.read() as rows:
        where = cast("EventGroup", who.row_of(rows, VigilanceEntry, entry).group)
    facts = _typed_facts(form, FIELDS[where][wanted.act])
    api.change(entry, wanted.model_copy(update={"facts": facts}), who, core)
    return see(f"/incidents/{entry}?done=saved")


def _typed_facts(form: FormData, keys: Sequence[str]) -> dict[str, Any]:
    """The facts as a form has them; a list has an item in each line."""
    facts: dict[str, Any] = {}
    for key in keys:
        if key == "reports":
            facts[key] = texts(form, key)
        elif key in LINES:
            facts[key] = [line.strip() for line in text(form, key).splitlines() if line.strip()]
        else:
            facts[key] = text(form, key).strip() or None
    return facts


def _new_fields(group: EventGroup) -> list[EntryField]:
    more = AT_FIRST if group == "incidents" else ()
    return [_field(key, {}) for key in (*FIELDS[group]["change"], *more)]


def _forms(
    entry: VigilanceEntry, reports: Sequence[str], day: dt.date
) -> dict[VigilanceAct, list[EntryField]]:
    """The fields of each form of an entry; the day of an assessment, or of closing, is today at first."""
    group = cast("EventGroup", entry.group)
    facts = dict(entry.facts)
    for key in ("assessed", "closed"):
        facts.setdefault(key, day.isoformat())
    return {act: [_field(key, facts, reports) for key in keys] for act, keys in FIELDS[group].items()}


def _field(key: str, facts: Mapping[str, Any], reports: Sequence[str] = ()) -> EntryField:
    value = facts.get(key, "")
    if key in CHOICES:
        own = (value,) if value and value not in CHOICES[key] else ()
        return EntryField(key, "choice", value, (*CHOICES[key], *own))
    if key == "reports":
        return EntryField(key, "reports", value or [], reports)
    if key in LINES:
        return EntryField(key, "long", "\n".join(value))
    return EntryField(key, "long" if key in LONG else "text" if key in TEXTS else "date", value)


def _reports(rows: Rows, who: Principal, entry: VigilanceEntry) -> list[StoredReport]:
    """The newest reports of the device, and those that the entry is linked to."""
    query = who.rows_of(StoredReport).where(StoredReport.device == entry.device)
    newest = rows.scalars(query.order_by(StoredReport.id.desc()).limit(MOST_REPORTS)).all()
    linked = rows.scalars(query.where(StoredReport.id.in_(entry.facts.get("reports", ())))).all()
    found = {report.id: report for report in (*newest, *linked)}
    return [found[name] for name in sorted(found, reverse=True)]


def _stage(entry: VigilanceEntry) -> str:
    """How far a signal has come: the last step that has a day."""
    return next((stage for stage in reversed(STAGES) if entry.facts.get(stage)), "")


def _date(day: str | None) -> dt.date | None:
    return dt.date.fromisoformat(day) if day else None
