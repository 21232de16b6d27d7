"""Devices: what was reported of each over time, and when the next audit is due."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from fastapi import APIRouter, Request, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.device import api, trends
from trustreport.service.engine import FIRST_YEAR, LAST_YEAR
from trustreport.service.pages import filters
from trustreport.service.pages.page_context import (
    After,
    Author,
    Reader,
    Sent,
    body_from,
    listed,
    pairs,
    see,
    shown_again,
    signed_acts,
)
from trustreport.service.pages.render import PageWords, declared, page, words_of
from trustreport.service.storage.models import Schedule, StoredDevice, StoredReport, StoredStudy, Version
from trustreport.service.web.shapes import Name, PageRequest, moment

REPORTS = 50
MOST_REPORTS = 200  # that are drawn
MOST_BARS = 12
FIRST_DAY, LAST_DAY = date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)

MOST_OTHERS = 200  # devices that one may be continued as
MOST_LOOKED_AT = 50  # versions of a device, the newest first
router = APIRouter(prefix="/devices")


@dataclass(frozen=True, slots=True)
class Bar:
    """A period of the drawing, in percent of its width; `open` is what is still to come."""

    label: str
    start: float
    width: float
    report: str = ""


@dataclass(frozen=True, slots=True)
class TimelineDrawing:
    """Periods above one axis: bars, the ticks of the axis, and where the next audit is due."""

    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, str], ...]
    due: float | None


def latest_of_device(rows: Rows, who: Principal, device: str) -> Version | None:
    """The newest version of a device that a period may follow."""
    query = who.rows_of(Version).where(Version.device == device, Version.state == "valid")
    newest = query.order_by(Version.created_at.desc(), Version.id.desc()).limit(MOST_LOOKED_AT)
    return next((one for one in rows.scalars(newest) if one.has_next), None)


@router.get("")
def devices(
    request: Request, who: Reader, core: TheCore, wanted: filters.Devices, after: After = ""
) -> Response:
    """All devices, each with its reports and the next audit."""
    query = wanted.apply(who.rows_of(StoredDevice))
    with core.store.read() as rows:
        found = listed(rows, query, StoredDevice.id, after)
        names = [device.id for device in found.items]
        made = (
            select(StoredReport.device, func.count(), func.max(StoredReport.created_at))
            .where(StoredReport.device.in_(names))
            .group_by(StoredReport.device)
        )
        counted = {device: (n, last) for device, n, last in rows.execute(made)}
        next_at = (
            select(Version.device, func.min(Schedule.next_at))
            .join(Schedule, Schedule.study == Version.study)
            .where(Version.device.in_(names))
            .group_by(Version.device)
        )
        due = dict(pairs(rows, next_at))
    return page(
        request,
        "devices",
        devices=found.items,
        counted=counted,
        due=due,
        wanted=wanted,
        after=after,
        next=found.next,
    )


@router.get("/{device}")
def _show(
    request: Request,
    who: Reader,
    core: TheCore,
    device: Name,
    after: After = "",
) -> Response:
    """One device with its reports, the newest first."""
    say = words_of(request)
    with core.store.read() as rows:
        row = who.row_of(rows, StoredDevice, device)
        if row.same_as and request.method == "GET":
            return see(f"/devices/{row.same_as}")
        query = who.rows_of(StoredReport).where(StoredReport.device == row.id)
        found = listed(rows, query, StoredReport.id, after, REPORTS)
        studies = _studies(rows, row)
        schedules = rows.scalars(
            select(Schedule).where(Schedule.study.in_([s.id for s in studies])).order_by(Schedule.next_at)
        ).all()
        others = who.rows_of(StoredDevice).where(StoredDevice.id != row.id)
        due = moment(schedules[0].next_at) if schedules else None
        moments = api.timeline(device, who, core, PageRequest(limit=MOST_REPORTS, after=None)).items
        return page(
            request,
            "device",
            device=row,
            aliases=rows.scalars(others.where(StoredDevice.same_as == row.id)).all(),
            others=rows.scalars(filters.DeviceFilter().apply(others).limit(MOST_OTHERS)).all(),
            reports=found.items,
            after=after,
            next=found.next,
            signed=signed_acts(rows, [r.id for r in found.items]),
            studies={s.id: s.name for s in studies},
            schedules=schedules,
            due=due,
            drawing=drawing(found.items, due, say),
            latest=latest_of_device(rows, who, row.id),
            charts=trends.charts(moments, lambda name: quantity_name(name, say), say),
        )


@router.post("/{device}/same-as")
@shown_again(_show)
def continue_device(device: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Say that it is another one under a new UDI."""
    made = api.continue_device(device, body_from(form, api.SameDevice), who, core)
    return see(f"/devices/{made.id}?done=continued")


@router.post("/{device}/schedules")
@shown_again(_show)
def schedule(device: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """An audit to be made again and again."""
    api.begin(body_from(form, api.NewSchedule), who, core)
    return see(f"/devices/{device}?done=schedule")


@router.post("/{device}/schedules/{schedule}/end")
def end(device: Name, schedule: Name, who: Author, core: TheCore, form: Sent) -> Response:
    """No more of them."""
    api.stop(schedule, who, core)
    return see(f"/devices/{device}?done=ended")


def quantity_name(name: str, words: PageWords) -> str:
    """What the catalogue calls a quantity; its own name where it has none."""
    return words(f"quantity.{name}") if f"quantity.{name}" in words else name.replace("_", " ")


def _studies(rows: Rows, device: StoredDevice) -> list[StoredStudy]:
    of_device = select(Version.study).where(Version.device == device.id)
    return list(
        rows.scalars(select(StoredStudy).where(StoredStudy.id.in_(of_device)).order_by(StoredStudy.id.desc()))
    )


def drawing(reports: list[StoredReport], due: datetime | None, say: PageWords) -> TimelineDrawing | None:
    """The periods that reports speak of, oldest first; nothing to draw where none declares one."""
    spans = [
        (_in_this_age(r.facts["period_start"]), _in_this_age(r.facts["period_end"]), r)
        for r in reports
        if r.facts.get("period_start") and r.facts.get("period_end")
    ]
    spans = sorted(spans, key=lambda s: (s[0], s[1], s[2].id))[-MOST_BARS:]
    if not spans:
        return None
    next_due = min(due.date(), LAST_DAY) if due else None
    ends = [end for _, end, _ in spans] + ([next_due] if next_due else [])
    first, last = min(s[0] for s in spans), max(ends) + timedelta(days=1)
    days = max((last - first).days, 1)

    def x_of(day: date) -> float:
        return round(100 * (day - first).days / days, 2)

    bars = tuple(
        Bar(
            _period(report, say),
            x_of(start),
            max(round(x_of(end) - x_of(start), 2), 0.8),
            report.id,
        )
        for start, end, report in spans
    )
    ticks = tuple((x_of(day), text) for day, text in _ticks(first, last))
    return TimelineDrawing(bars, ticks, x_of(next_due) if next_due else None)


def _period(report: StoredReport, say: PageWords) -> str:
    low, high = (declared(report.facts[f"period_{end}"], say.numbers) for end in ("start", "end"))
    return say("word.to", low=low, high=high)


def _in_this_age(text: str) -> date:
    """A date as it is drawn: manifests from before their dates were bounded may say anything."""
    return min(max(date.fromisoformat(text), FIRST_DAY), LAST_DAY)


def _ticks(first: date, last: date) -> list[tuple[date, str]]:
    """Where the axis has a word: years, or quarters where there are few years."""
    step = 12 if (last - first).days > 3 * 365 else 3 if (last - first).days > 200 else 1
    found, year, month = [], first.year, 1
    while (day := date(year, month, 1)) <= last:
        if day >= first:
            found.append((day, f"{day:%Y}" if step == 12 else f"{day:%Y-%m}"))
        year, month = year + (month - 1 + step) // 12, (month - 1 + step) % 12 + 1
    return found[:: max(1, len(found) // 6)]
