"""What monitoring shows: events above an indicator of each period, and units between limits of chance."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import Any, Literal

from trustreport.figures import numbers, panels, style
from trustreport.figures.curves import Points
from trustreport.figures.layout import Box, mark_box, overlap, spread
from trustreport.figures.panels import Chart, PlotPanel, PlotSheet
from trustreport.figures.trend import BASELINE, EVENT, IN_CONTROL, LATEST, PERIOD, TO_DETECT, axis_range
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

MarkKind = Literal["version", "threshold", "group", "alert", "signal", "closed", "incident", "complaint"]

# Millimetres.
NAMES, SLOT, RIGHT = 30.0, 14.0, 25.0  # lane names, the baseline, names of the rates
LEFT = NAMES + SLOT
WIDE = style.TEXT_WIDTH - LEFT - RIGHT
TOP, ROW, BETWEEN, TALL = 1.0, 4.6, 1.6, 38.0
AIR = 2.0  # between a mark and its label, and between a label and the next mark
MOST_MONTHS = 14  # months with a name of their own
SHAPES: dict[MarkKind, dict[str, Any]] = {
    "version": {"marker": "^", "ms": 5.0, "mfc": style.BLUE, "mec": style.BLUE},
    "threshold": {"marker": "P", "ms": 5.0, "mfc": style.BLUE, "mec": style.BLUE},
    "group": {"marker": "D", "ms": 4.2, "mfc": style.BLUE, "mec": style.BLUE},
    "alert": {"marker": "s", "ms": 4.6, "mfc": style.RUST, "mec": style.RUST},
    "signal": {"marker": "o", "ms": 4.6, "mfc": style.AMBER, "mec": style.AMBER},
    "closed": {"marker": "o", "ms": 4.6, "mfc": style.PAPER, "mec": style.AMBER},
    "incident": {"marker": "v", "ms": 5.0, "mfc": style.INK, "mec": style.INK},
    "complaint": {"marker": "v", "ms": 5.0, "mfc": style.PAPER, "mec": style.INK},
}
# Changes whose day is drawn through the indicator.
GUIDED: tuple[MarkKind, ...] = ("version", "threshold", "group")


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """Something that happened on a day."""

    day: dt.date
    label: Message | str
    kind: MarkKind


@dataclass(frozen=True, slots=True)
class TimelineTrack:
    """What happened of one kind."""

    label: Message | str
    marks: tuple[TimelineMark, ...]


@dataclass(frozen=True, slots=True)
class TimelinePeriod:
    """The indicator in one period."""

    name: str
    start: dt.date
    end: dt.date
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class EventTimeline(Chart):
    """Lanes above an indicator; `baseline` is drawn before the first period, None without one."""

    tracks: tuple[TimelineTrack, ...]
    label: Message | str
    periods: tuple[TimelinePeriod, ...]
    baseline: Estimate | None = None
    in_control: float = nan
    to_detect: float = nan
    percent: bool = False

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per event, then a row per period."""
        rows = [
            _row_of(style.label(say, track.label), say.numbers.day(mark.day), style.label(say, mark.label))
            for track in self.tracks
            for mark in track.marks
        ]
        base = [(say("figure.trend.baseline"), self.baseline)] if self.baseline else []
        return rows + [
            _row_of(style.label(say, self.label), name or say("figure.trend.baseline"), "", e)
            for name, e in (*base, *((p.name, p.estimate) for p in self.periods))
        ]

    @property
    def span(self) -> tuple[dt.date, dt.date]:
        """The first and the last day of the axis."""
        days = [mark.day for lane in self.tracks for mark in lane.marks]
        ends = [day for p in self.periods for day in (p.start, p.end)]
        return min([*days, *ends]), max([*days, *ends]) + dt.timedelta(1)

    def _place_of_day(self, day: dt.date, *, middle: bool = True) -> float:
        """Where a day is, in millimetres from the left end of the axis."""
        first, last = self.span
        return ((day - first).days + (0.5 if middle else 0.0)) / (last - first).days * WIDE

    def _draw(self, say: Catalogue) -> PlotSheet:
        placed = [_rows(say, track, self._place_of_day) for track in self.tracks]
        tall = [max(row for *_, row in marks) + 1 for marks in placed]
        head = TOP + sum(ROW * n + BETWEEN for n in tall) + 5.0
        sheet = PlotSheet(head + TALL + 12.0)
        top = TOP
        for k, (track, marks, n) in enumerate(zip(self.tracks, placed, tall)):
            name = style.wrap(style.label(say, track.label), NAMES + SLOT - 4.0, style.SMALL)
            sheet.write(0.0, top + ROW / 2, name.split("\n")[0], **style.MUTED)
            low = top + ROW * n + BETWEEN / 2
            sheet.plot([0, LEFT + WIDE], [low, low], color=style.HAIRLINE, lw=style.HAIR, zorder=0)
            for i, (mark, text, left, x, row) in enumerate(marks):
                y = top + ROW * (row + 0.5)
                sheet.mark(LEFT + x, y, f"event-{k}-{i}", **SHAPES[mark.kind])
                sheet.write(LEFT + left, y, text, size=style.SMALL)
            top += ROW * n + BETWEEN
        sheet.write(0.0, head - 2.4, style.label(say, self.label), **style.HEADING)
        self._indicator(say, sheet.panel(NAMES, head, SLOT + WIDE, TALL), sheet)
        return sheet

    def _indicator(self, say: Catalogue, plot: PlotPanel, sheet: PlotSheet) -> None:
        found = [e for e in (self.baseline, *(p.estimate for p in self.periods)) if e is not None]
        ends = axis_range(found, (self.in_control, self.to_detect), percent=self.percent)
        plot.x_axis((-SLOT, WIDE))
        plot.y_axis(ends, numbers.tick(say, "percent" if self.percent else "number"))
        for track in self.tracks:
            for mark in track.marks:
                if mark.kind in GUIDED:
                    plot.axes.axvline(self._place_of_day(mark.day), gid="guide", **EVENT)
        self._rates(say, plot, sheet)
        bottom = plot.top + TALL
        if self.baseline is not None:
            _estimate(plot, -SLOT / 2, self.baseline, "baseline", BASELINE)
            under = say("figure.trend.baseline")
            sheet.write(NAMES + SLOT / 2, bottom + 3.2, under, size=style.SMALL, ha="center")
        last = max((k for k, p in enumerate(self.periods) if not isnan(p.estimate.value)), default=-1)
        for k, period in enumerate(self.periods):
            middle = (
                self._place_of_day(period.start, middle=False) + self._place_of_day(period.end) + 0.5
            ) / 2
            _estimate(plot, middle, period.estimate, f"period-{k}", LATEST if k == last else PERIOD)
        self._months(say, plot, sheet, bottom)

    def _rates(self, say: Catalogue, plot: PlotPanel, sheet: PlotSheet) -> None:
        rates = (("in_control", self.in_control, IN_CONTROL), ("to_detect", self.to_detect, TO_DETECT))
        drawn = [rate for rate in rates if isfinite(rate[1])]
        texts = [style.wrap(say(f"figure.trend.{name}"), RIGHT - 2.0, style.SMALL) for name, *_ in drawn]
        wanted = [plot.sheet_y(at) for _, at, _ in drawn]
        tall = [style.height_of(text, style.SMALL) + 0.4 for text in texts]
        places = spread(wanted, tall, plot.top, plot.top + TALL)
        for (name, at, how), text, y in zip(drawn, texts, places):
            plot.line(((-SLOT, at), (WIDE, at)), name.replace("_", "-"), zorder=1, **how)
            sheet.write(LEFT + WIDE + 2.0, y, text, size=style.SMALL, color=how["color"])

    def _months(self, say: Catalogue, plot: PlotPanel, sheet: PlotSheet, bottom: float) -> None:
        """A stroke where a month begins and its name in its middle; the year below the first, and January."""
        first, last = self.span
        months = list(_months(first, last))
        step = -(-len(months) // MOST_MONTHS)
        starts = [self._place_of_day(day, middle=False) for day, _ in months if day >= first]
        plot.ticks((starts, [""] * len(starts)))
        year = 0
        for start, end in months[::step]:
            left, right = (
                self._place_of_day(day, middle=False) for day in (max(start, first), min(end, last))
            )
            name = say("figure.month", day=start)
            if right - left < style.width_of(name, style.SMALL) + 0.6:
                continue
            middle = LEFT + (left + right) / 2
            sheet.write(middle, bottom + 3.2, name, ha="center", **style.MUTED)
            if start.year != year:
                year = start.year
                sheet.write(middle, bottom + 7.0, str(year), ha="center", **style.MUTED)


def _row_of(label: str, when: str, event: str, e: Estimate | None = None) -> dict[str, Any]:
    nothing = {"value": nan, "low": nan, "high": nan}
    return {"label": label, "period": when, "event": event, **(numbers.columns(e) if e else nothing)}


def _estimate(plot: PlotPanel, x: float, e: Estimate, name: str, how: dict[str, Any]) -> None:
    if not isnan(e.value):
        plot.interval(e.low, e.high, x, f"interval-{name}", upright=True)
        plot.mark(x, e.value, f"mark-{name}", **how)


Placed = tuple[TimelineMark, str, float, float, int]


def _rows(say: Catalogue, lane: TimelineTrack, at: Any) -> list[Placed]:
    """The marks of a lane with their label, where it begins, where the mark is, and in which row."""
    ends: list[list[tuple[float, float]]] = []
    placed = []
    for mark in sorted(lane.marks, key=lambda m: m.day):
        x = at(mark.day)
        text = style.label(say, mark.label)
        wide = style.width_of(text, style.SMALL)
        right = x + AIR + wide <= WIDE + RIGHT
        left = x + AIR if right else x - AIR - wide
        taken = (x - AIR, left + wide + AIR) if right else (left - AIR, x + AIR)
        free = (
            k for k, held in enumerate(ends) if all(taken[1] <= low or taken[0] >= high for low, high in held)
        )
        row = next(free, len(ends))
        if row == len(ends):
            ends.append([])
        ends[row].append(taken)
        placed.append((mark, text, left, x, row))
    return placed


def _months(first: dt.date, last: dt.date) -> Iterator[tuple[dt.date, dt.date]]:
    """The first day of each month, and that of the next."""
    day = first.replace(day=1)
    while day < last:
        after = (day + dt.timedelta(32)).replace(day=1)
        yield day, after
        day = after


# Of the funnel.
FUNNEL_TOP, FUNNEL_LEFT, FUNNEL_WIDE, FUNNEL_TALL, FUNNEL_BELOW = 3.0, 15.0, 120.0, 66.0, 12.0
MARGIN = FUNNEL_LEFT + FUNNEL_WIDE + 2.0  # where the limits are named
REACH = (2.2, 4.0, 6.5)  # from a mark to its name
MOST_NAMED = 16
INNER: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE}
OUTER: dict[str, Any] = {"color": style.TEAL, "lw": style.THIN, "ls": style.DASHED}
NAIVE: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN, "ls": style.DOTTED}
INSIDE: dict[str, Any] = {"marker": "o", "ms": 4.2, **style.filled(style.BLUE)}
OUTSIDE: dict[str, Any] = {"marker": "s", "ms": 4.6, **style.filled(style.RUST)}


@dataclass(frozen=True, slots=True)
class FunnelUnit:
    """A site or reader: cases, share, z-score; `outside` of the inner limits."""

    name: str
    n: int
    share: float
    z: float
    outside: bool


@dataclass(frozen=True, slots=True)
class FunnelLimits:
    """A pair of lines (cases, share) below and above the target."""

    low: Points
    high: Points


@dataclass(frozen=True, slots=True)
class FunnelPlot(Chart):
    """Units against their target; `inner` and `outer` lead, `naive` takes no account of over-dispersion."""

    label: Message | str
    target: float
    units: tuple[FunnelUnit, ...]
    inner: FunnelLimits
    outer: FunnelLimits
    naive: FunnelLimits | None = None

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per unit."""
        return [
            {
                "label": unit.name,
                "n": unit.n,
                "value": unit.share,
                "z": unit.z,
                "target": self.target,
                "outside": say("word.yes" if unit.outside else "word.no"),
            }
            for unit in self.units
        ]

    @property
    def _pairs(self) -> list[tuple[str, FunnelLimits, dict[str, Any]]]:
        pairs = (("inner", self.inner, INNER), ("outer", self.outer, OUTER), ("naive", self.naive, NAIVE))
        return [(name, pair, how) for name, pair, how in pairs if pair is not None]

    def _draw(self, say: Catalogue) -> PlotSheet:
        sheet = PlotSheet(FUNNEL_TOP + FUNNEL_TALL + FUNNEL_BELOW)
        plot = sheet.panel(FUNNEL_LEFT, FUNNEL_TOP, FUNNEL_WIDE, FUNNEL_TALL)
        last = 1.08 * max(unit.n for unit in self.units)  # a little more cases than the largest unit has
        plot.x_axis((0.0, last), say.numbers.count)
        plot.y_axis(self._range(last), numbers.tick(say, "percent"))
        target = (0.0, self.target), (last, self.target)
        plot.line(target, "target", color=style.INK, lw=style.THIN, zorder=1)
        for name, pair, how in self._pairs[2:] + self._pairs[:2]:
            for side in ("low", "high"):
                # A limit that no share can reach is none: the line ends there.
                points = [p for p in getattr(pair, side) if 0.0 <= p[0] <= last and 0 < p[1] < 1]
                if points:
                    plot.line(points, f"{name}-{side}", zorder=1.5, **how)
        for k, unit in enumerate(self.units):
            share = Estimate(unit.share, nan, nan, unit.n)
            said = numbers.of_mark(say, share, "percent", unit.name, style.label(say, self.label))
            plot.mark(unit.n, unit.share, f"unit-{k}", label=said, **(OUTSIDE if unit.outside else INSIDE))
        self._names(sheet, plot, last)
        middle, bottom = FUNNEL_LEFT + FUNNEL_WIDE / 2, FUNNEL_TOP + FUNNEL_TALL
        sheet.write(middle, bottom + 7.6, say("figure.funnel.x"), ha="center", **style.AXIS)
        panels.write_y_label(sheet, style.label(say, self.label), FUNNEL_TOP, bottom)
        self._limits(say, sheet, plot)
        return sheet

    def _range(self, last: float) -> tuple[float, float]:
        """The axis of shares: all units, and their limits from the smallest unit on."""
        least = min(unit.n for unit in self.units)
        sides = [side for pair in (self.inner, self.outer) for side in (pair.low, pair.high)]
        seen = [y for side in sides for x, y in side if 0.9 * least <= x <= last]
        seen += [unit.share for unit in self.units] + [self.target]
        air = 0.06 * (max(seen) - min(seen)) or 0.02
        seen = [y for y in seen if 0 < y < 1] or seen
        return max(0.0, min(seen) - air), min(1.0 + air / 3, max(seen) + air)

    def _names(self, sheet: PlotSheet, plot: PlotPanel, last: float) -> None:
        """A name close to each mark, where it is over no mark or name; those outside choose first."""
        spots = [(plot.sheet_x(unit.n), plot.sheet_y(unit.share)) for unit in self.units]
        points = [p for _, pair, _ in self._pairs for side in (pair.low, pair.high) for p in side]
        points += [(i / 200 * last, self.target) for i in range(200)]
        lines = [(plot.sheet_x(n), plot.sheet_y(y)) for n, y in points]
        taken = [mark_box(spot, 1.2) for spot in spots]
        order = sorted(range(len(self.units)), key=lambda k: not self.units[k].outside)
        for k in order[:MOST_NAMED]:
            unit = self.units[k]
            size = style.width_of(unit.name, style.SMALL) + 0.6, style.height_of(unit.name, style.SMALL)
            free = [b for b in _spots_near(spots[k], *size) if not any(overlap(b, other) for other in taken)]
            if not free:
                continue  # the table has it
            box = min(free, key=lambda b: any(b[0] < x < b[1] and b[2] < y < b[3] for x, y in lines))
            taken.append(box)
            colour = style.RUST if unit.outside else style.INK
            middle = (box[2] + box[3]) / 2
            sheet.write(box[0] + 0.3, middle, unit.name, size=style.SMALL, color=colour)

    def _limits(self, say: Catalogue, sheet: PlotSheet, plot: PlotPanel) -> None:
        """What each line is, written where it ends."""
        named: list[tuple[float, str, str]] = [(self.target, say("figure.funnel.target"), style.INK)]
        low, high = plot.axes.get_ylim()
        for name, pair, how in self._pairs:
            for points in (pair.low, pair.high):
                inside = [y for _, y in points if low <= y <= min(high, 1.0 - 1e-9)]
                if inside:
                    colour = style.MUTE if how is NAIVE else how["color"]
                    named.append((inside[-1], say(f"figure.funnel.{name}"), colour))
        texts = [style.wrap(text, style.TEXT_WIDTH - MARGIN, style.SMALL) for _, text, _ in named]
        tall = [style.height_of(text, style.SMALL) + 0.4 for text in texts]
        places = spread([plot.sheet_y(y) for y, *_ in named], tall, FUNNEL_TOP, FUNNEL_TOP + FUNNEL_TALL)
        for (_, _, colour), text, y in zip(named, texts, places):
            sheet.write(MARGIN, y, text, size=style.SMALL, color=colour)


def _spots_near(spot: tuple[float, float], wide: float, high: float) -> Iterator[Box]:
    """Places for a name around its mark, the nearest first, within the plot."""
    x, y = spot
    for reach in REACH:
        near = 0.7 * reach
        for left, top in (
            (x + reach, y - high / 2),
            (x - reach - wide, y - high / 2),
            (x - wide / 2, y - reach - high),
            (x - wide / 2, y + reach),
            (x + near, y - near - high),
            (x + near, y + near),
            (x - near - wide, y - near - high),
            (x - near - wide, y + near),
        ):
            inside = left >= FUNNEL_LEFT and left + wide <= FUNNEL_LEFT + FUNNEL_WIDE
            if inside and top >= FUNNEL_TOP and top + high <= FUNNEL_TOP + FUNNEL_TALL:
                yield left, left + wide, top, top + high
