"""Charts of a device over time: values of its reports with intervals, bounds, versions and alerts."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from math import ceil, floor, log10

from trustreport.service.client.records import Moment, TrendPoint
from trustreport.service.engine import FIRST_YEAR, LAST_YEAR
from trustreport.service.pages.render import PageWords, page_words
from trustreport.vocabulary.quantities import known, quantity

MOST_CHARTS = 8
WORD, TICK = 13, 62  # the height of a line of words, the room of a month
WIDTH, HEIGHT = 720, 210
LEFT, RIGHT, TOP, BOTTOM = 58, 130, 26, 26  # room for words around the area that is drawn on
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
class BoundLine:
    """A value that others are compared with: a line across, its words beside it."""

    y: float
    word_y: float
    name: str
    value: float


@dataclass(frozen=True, slots=True)
class DeviceChart:
    """One series: its marks in the order of time, lines across it, and where the version changed."""

    title: str
    percent: bool
    marks: tuple[Mark, ...]
    bounds: tuple[BoundLine, ...]
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


def charts(
    moments: Sequence[Moment], label: Callable[[str], str], say: PageWords | None = None
) -> list[DeviceChart]:
    """The charts of a device; series with criteria come first, and those of one point are left out.

    Parameters
    ----------
    moments : its reports, the newest first: where two have a value for one period, the newer one is drawn
    label : what people call a quantity
    say : the words of the page; in English where there are none
    """
    say = say or page_words("en")
    series: dict[str, dict[tuple[date, str], Observation]] = {}
    for moment in moments:
        for point in moment.trend:
            if point.value is None or (found := _observed(moment, point, say)) is None:
                continue
            series.setdefault(point.series, {}).setdefault((found.day, found.period), found)
    drawn = [
        _chart(_title(name, found, label), sorted(found.values(), key=lambda o: (o.day, o.report)), say)
        for name, found in series.items()
        if len(found) > 1
    ]
    return sorted(drawn, key=lambda chart: not chart.bounds)[:MOST_CHARTS]


def _title(series: str, found: dict[tuple[date, str], Observation], label: Callable[[str], str]) -> str:
    """What a series is called; one that is named by its quantity has the words of that."""
    name = next(iter(found.values())).point.quantity or ""
    named = series
    if name and series.startswith(name):
        named = label(name) + series.removeprefix(name).replace("_", " ")
    return named[:1].upper() + named[1:]


def _observed(moment: Moment, point: TrendPoint, say: PageWords) -> Observation | None:
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
        made = say("pages.device.made", day=moment.created_at.date())
        period = say("word.to", low=start or "?", high=end) if end else made
    day = min(max(end or moment.created_at.date(), FIRST_DAY), LAST_DAY)
    return Observation(point, day, period, moment.software_version, moment.report)


def _chart(title: str, found: list[Observation], say: PageWords) -> DeviceChart:
    percent = is_percent(found[0].point)
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
        return Mark(*where, p, o.day, o.period, o.version, o.report, alert_of(p, say))

    return DeviceChart(
        title=title,
        percent=percent,
        marks=tuple(mark(o) for o in found),
        bounds=_placed((y(value), say(f"pages.device.bound.{name}"), value) for name, value in across),
        versions=tuple((x(o.day), o.version) for o in _changes(found)),
        ticks_x=_spread([(x(o.day), f"{o.day:%Y-%m}") for o in found]),
        ticks_y=tuple((y(v), v) for v in _round_values(bottom, top)),
    )


def is_percent(point: TrendPoint) -> bool:
    """Whether a value is written in percent, as reports write it (an area is a number)."""
    name = point.quantity or ""
    return (quantity(name).written if known(name) else point.unit) == "proportion"


def alert_of(point: TrendPoint, say: PageWords) -> str:
    """Why a value is marked; empty where it is not."""
    if point.verdict == "fail":
        return say("pages.device.alert_criterion")
    if point.alert:
        return say("pages.device.alert_chart", period=point.alert)
    return ""


def _bounds(points: Iterable[TrendPoint]) -> list[tuple[str, float]]:
    """What values were tested against, each once: the newest of criteria, and of control charts."""
    found: dict[str, float | None] = {}
    for point in points:
        found["above"] = point.above if point.above is not None else found.get("above")
        found["below"] = point.below if point.below is not None else found.get("below")
        found["in_control"] = point.expected if point.expected is not None else found.get("in_control")
        found["to_detect"] = point.alarming if point.alarming is not None else found.get("to_detect")
    return [(name, value) for name, value in found.items() if value is not None]


def _range(points: list[TrendPoint], bounds: list[float], percent: bool) -> tuple[float, float]:
    values = [v for p in points for v in (p.value, p.low, p.high) if v is not None] + bounds
    low, high = min(values), max(values)
    room = (high - low) * 0.06 or abs(high) * 0.1 or 0.1
    low, high = low - room, high + room
    return (max(low, 0.0), min(high, 1.0)) if percent else (low, high)


def _placed(bounds: Iterable[tuple[float, str, float]]) -> tuple[BoundLine, ...]:
    """Bounds from the top down, with words that do not cover each other."""
    found: list[BoundLine] = []
    for y, name, value in sorted(bounds):
        word_y = max(y, found[-1].word_y + WORD) if found else y
        found.append(BoundLine(y, word_y, name, value))
    return tuple(found)


def _round_values(bottom: float, top: float) -> list[float]:
    """Some round values between two, for the axis."""
    rough = (top - bottom) / 4
    power = 10.0 ** floor(log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
    first = ceil(bottom / step)
    return [round(step * i, 10) for i in range(first, floor(top / step) + 1)]


def _changes(found: list[Observation]) -> list[Observation]:
    """The first observation of each version after another."""
    return [after for before, after in pairwise(found) if after.version != before.version]


def _spread(ticks: list[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """Those words of the axis that do not cover each other."""
    found: list[tuple[float, str]] = []
    for x, text in ticks:
        if not found or x - found[-1][0] >= TICK:
            found.append((x, text))
    return tuple(found)
