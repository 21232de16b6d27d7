"""Charts of a device over time: values of its reports with intervals, bounds, versions and alerts."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from trustreport.plan import FIRST_YEAR, LAST_YEAR
from trustreport.service.routes.devices import Moment, TrendPoint

MOST_CHARTS = 8
WIDTH, HEIGHT = 720, 210
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 26, 26  # room for words around the area that is drawn on
MONTH = re.compile(r"(\d{4})-(\d\d)")
FIRST_DAY, LAST_DAY = date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)


@dataclass(frozen=True, slots=True)
class Mark:
    """A value of one period, where it is drawn and what its row of the table says."""

    x: float
    y: float
    low: float | None
    high: float | None
    point: TrendPoint
    day: date
    period: str
    version: str
    report: str
    alert: str  # why, or empty


@dataclass(frozen=True, slots=True)
class DeviceChart:
    """One series: its marks in the order of time, lines across it, and where the version changed."""

    title: str
    percent: bool
    marks: tuple[Mark, ...]
    bounds: tuple[tuple[float, str, float], ...]  # height, what it is, value
    versions: tuple[tuple[float, str], ...]
    ticks_x: tuple[tuple[float, str], ...]
    ticks_y: tuple[tuple[float, float], ...]

    @property
    def line(self) -> str:
        """The points of the line through the values."""
        return " ".join(f"{m.x},{m.y}" for m in self.marks)

    @property
    def alerts(self) -> int:
        """How many marks have one."""
        return sum(bool(m.alert) for m in self.marks)


@dataclass(frozen=True, slots=True)
class Observation:
    """A point of a report with the day that it is drawn at."""

    point: TrendPoint
    day: date
    period: str
    version: str
    report: str


def charts(moments: Sequence[Moment], label: Callable[[str], str]) -> list[DeviceChart]:
    """The charts of a device; series with criteria come first, and those of one point are left out.

    Parameters
    ----------
    moments : its reports, the newest first: where two have a value for one period, the newer one is drawn
    label : what people call a quantity
    """
    series: dict[str, dict[tuple[date, str], Observation]] = {}
    for moment in moments:
        for point in moment.trend:
            if point.value is None or (found := _observed(moment, point)) is None:
                continue
            series.setdefault(point.series, {}).setdefault((found.day, found.period), found)
    drawn = [
        _chart(_title(name, found, label), sorted(found.values(), key=lambda o: (o.day, o.report)))
        for name, found in series.items()
        if len(found) > 1
    ]
    return sorted(drawn, key=lambda chart: not chart.bounds)[:MOST_CHARTS]


def _title(series: str, found: dict[tuple[date, str], Observation], label: Callable[[str], str]) -> str:
    """What a series is called; one that is named by its quantity has the words of that."""
    quantity = next(iter(found.values())).point.quantity or ""
    named = label(quantity) + series.removeprefix(quantity) if series.startswith(quantity or "\0") else series
    return named[:1].upper() + named[1:]


def _observed(moment: Moment, point: TrendPoint) -> Observation | None:
    """Where a point is drawn: at the end of its period, of its report's, or when that was made."""
    end, period = point.end, point.period or ""
    if point.period and end is None and (month := MONTH.fullmatch(point.period)):
        year, number = int(month[1]), int(month[2])
        if not (1 <= number <= 12 and FIRST_YEAR <= year <= LAST_YEAR):
            return None
        end = date(year, number, monthrange(year, number)[1])
    if point.period and end is None:  # a baseline, which has no time of its own
        return None
    if not point.period:
        end = moment.period_end
        start = moment.period_start
        period = f"{start or '?'} to {end}" if end else f"made {moment.created_at:%Y-%m-%d}"
    day = min(max(end or moment.created_at.date(), FIRST_DAY), LAST_DAY)
    return Observation(point, day, period, moment.software_version, moment.report)


def _chart(title: str, found: list[Observation]) -> DeviceChart:
    percent = found[0].point.unit == "proportion"
    across = _bounds(o.point for o in found)
    bottom, top = _range([o.point for o in found], [value for _, value in across], percent)
    first, last = found[0].day, max(found[-1].day, found[0].day + timedelta(days=1))

    def x(day: date) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (day - first).days / (last - first).days, 1)

    def y(value: float) -> float:
        share = (min(max(value, bottom), top) - bottom) / (top - bottom)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)

    def mark(o: Observation) -> Mark:
        p = o.point
        assert p.value is not None
        low, high = (None if limit is None else y(limit) for limit in (p.low, p.high))
        where = (x(o.day), y(p.value), low, high)
        return Mark(*where, p, o.day, o.period, o.version, o.report, alert_of(p))

    return DeviceChart(
        title=title,
        percent=percent,
        marks=tuple(mark(o) for o in found),
        bounds=tuple((y(value), name, value) for name, value in across),
        versions=tuple((x(o.day), o.version) for o in _changes(found)),
        ticks_x=tuple((x(o.day), f"{o.day:%Y-%m}") for o in _spread(found)),
        ticks_y=tuple((y(v), v) for v in (bottom, (bottom + top) / 2, top)),
    )


def alert_of(point: TrendPoint) -> str:
    """Why a value is marked; empty where it is not."""
    if point.verdict == "fail":
        return "criterion not met"
    if point.alert:
        return f"control chart: alert on {point.alert}"
    return ""


def _bounds(points: Iterable[TrendPoint]) -> list[tuple[str, float]]:
    """What values were tested against, each once: the newest of criteria, and of control charts."""
    found: dict[str, float | None] = {}
    for point in points:
        found["required above"] = point.above if point.above is not None else found.get("required above")
        found["required below"] = point.below if point.below is not None else found.get("required below")
        found["in control"] = point.expected if point.expected is not None else found.get("in control")
        found["to detect"] = point.alarming if point.alarming is not None else found.get("to detect")
    return [(name, value) for name, value in found.items() if value is not None]


def _range(points: list[TrendPoint], bounds: list[float], percent: bool) -> tuple[float, float]:
    values = [v for p in points for v in (p.value, p.low, p.high) if v is not None] + bounds
    low, high = min(values), max(values)
    room = (high - low) * 0.06 or abs(high) * 0.1 or 0.1
    low, high = low - room, high + room
    return (max(low, 0.0), min(high, 1.0)) if percent else (low, high)


def _changes(found: list[Observation]) -> list[Observation]:
    """The first observation of each version after another."""
    return [after for before, after in pairwise(found) if after.version != before.version]


def _spread(found: list[Observation]) -> list[Observation]:
    """Some six observations that the axis names."""
    step = max(1, len(found) // 6)
    return found[::step]
