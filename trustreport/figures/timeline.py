"""What happened when, in tracks by kind, above an indicator of each period with its declared rates."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Literal

from trustreport.figures import numbers, style, ticks
from trustreport.figures.slope import spread
from trustreport.figures.trend import BASELINE, IN_CONTROL, LATEST, PERIOD, TO_DETECT, axis_range
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MarkKind = Literal["version", "threshold", "group", "alert", "signal", "closed", "incident", "complaint"]

# Millimetres.
NAMES, SLOT, RIGHT = 30.0, 14.0, 25.0  # lane names, the baseline, names of the rates
LEFT = NAMES + SLOT
WIDE = style.TEXT_WIDTH - LEFT - RIGHT
TOP, ROW, BETWEEN, TALL, BELOW = 1.0, 4.6, 1.6, 38.0, 12.0
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
GUIDED: tuple[MarkKind, ...] = (
    "version",
    "threshold",
    "group",
)  # changes whose day is drawn through the indicator
GUIDE: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN, "ls": (0, (1.2, 1.6)), "zorder": 0.5}


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
class EventTimeline:
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
        rows: list[tuple[str, str, str, Estimate | None]] = [
            (
                style.label_text(say, lane.label),
                say.numbers.day(mark.day),
                style.label_text(say, mark.label),
                None,
            )
            for lane in self.tracks
            for mark in lane.marks
        ]
        base = [("", self.baseline)] if self.baseline else []
        rows += [
            (style.label_text(say, self.label), name or say("figure.trend.baseline"), "", e)
            for name, e in (*base, *((p.name, p.estimate) for p in self.periods))
        ]
        return [
            {
                "label": label,
                "period": when,
                "event": event,
                "value": e.value if e else nan,
                "low": e.low if e else nan,
                "high": e.high if e else nan,
            }
            for label, when, event, e in rows
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    @property
    def span(self) -> tuple[dt.date, dt.date]:
        """The first and the last day of the axis."""
        days = [mark.day for lane in self.tracks for mark in lane.marks]
        ends = [day for p in self.periods for day in (p.start, p.end)]
        return min([*days, *ends]), max([*days, *ends]) + dt.timedelta(1)

    def _at(self, day: dt.date, *, middle: bool = True) -> float:
        """Where a day is, in millimetres from the left end of the axis."""
        first, last = self.span
        return ((day - first).days + (0.5 if middle else 0.0)) / (last - first).days * WIDE

    def _draw(self, say: Catalogue) -> "Figure":
        placed = [_rows(say, lane, self._at) for lane in self.tracks]
        tall = [max(row for *_, row in lane) + 1 for lane in placed]
        head = TOP + sum(ROW * n + BETWEEN for n in tall) + 5.0
        figure, sheet = style.figure(style.TEXT_WIDTH, head + TALL + BELOW)
        top = TOP
        for k, (lane, marks, n) in enumerate(zip(self.tracks, placed, tall)):
            name = style.wrap(style.label_text(say, lane.label), NAMES + SLOT - 4.0, style.SMALL)
            style.write(sheet, 0.0, top + ROW / 2, name.split("\n")[0], size=style.SMALL, color=style.MUTE)
            low = top + ROW * n + BETWEEN / 2
            sheet.plot([0, LEFT + WIDE], [low, low], color=style.HAIRLINE, lw=style.HAIR, zorder=0)
            for i, (mark, text, left, x, row) in enumerate(marks):
                y = top + ROW * (row + 0.5)
                style.mark(sheet, LEFT + x, y, f"event-{k}-{i}", **SHAPES[mark.kind])
                style.write(sheet, LEFT + left, y, text, size=style.SMALL)
            top += ROW * n + BETWEEN
        title: dict[str, Any] = {"size": style.TICK, "weight": style.SEMIBOLD}
        style.write(sheet, 0.0, head - 2.4, style.label_text(say, self.label), **title)
        self._indicator(say, figure, sheet, head)
        return figure

    def _indicator(self, say: Catalogue, figure: "Figure", sheet: "Axes", top: float) -> None:
        plot = style.panel(figure, NAMES, top, SLOT + WIDE, TALL)
        found = [e for e in (self.baseline, *(p.estimate for p in self.periods)) if e is not None]
        low, high = axis_range(found, (self.in_control, self.to_detect), percent=self.percent)
        plot.set(xlim=(-SLOT, WIDE), ylim=(low, high))
        plot.spines["left"].set_visible(True)

        def text(value: float) -> str:
            if self.percent:
                return say("figure.percent_tick", value=numbers.plain(say, round(100 * value, 6)))
            return numbers.plain(say, value)

        plot.set_yticks(*ticks.linear(low, high, TALL, text, upright=True))
        plot.tick_params(axis="y", length=2, width=style.HAIR, color=style.MUTE)
        for lane in self.tracks:
            for mark in lane.marks:
                if mark.kind in GUIDED:
                    plot.axvline(self._at(mark.day), gid="guide", **GUIDE)
        self._rates(say, plot, sheet, (low, high), top)
        if self.baseline is not None:
            self._estimate(plot, -SLOT / 2, self.baseline, "baseline", (low, high), BASELINE)
            under = say("figure.trend.baseline")
            style.write(sheet, NAMES + SLOT / 2, top + TALL + 3.2, under, size=style.SMALL, ha="center")
        known = [k for k, p in enumerate(self.periods) if not isnan(p.estimate.value)]
        for k, period in enumerate(self.periods):
            middle = (self._at(period.start, middle=False) + self._at(period.end) + 0.5) / 2
            how = LATEST if known and k == known[-1] else PERIOD
            self._estimate(plot, middle, period.estimate, f"period-{k}", (low, high), how)
        self._months(say, plot, sheet, top + TALL)

    @staticmethod
    def _estimate(
        plot: "Axes", x: float, e: Estimate, name: str, ends: tuple[float, float], how: dict[str, Any]
    ) -> None:
        if isnan(e.value):
            return
        if isfinite(e.low) and isfinite(e.high):
            limits = [min(max(end, ends[0]), ends[1]) for end in (e.low, e.high)]
            plot.plot([x, x], limits, gid=f"interval-{name}", color=style.FAINT, lw=style.LINE, zorder=2)
        style.mark(plot, x, e.value, f"mark-{name}", **how)

    def _rates(
        self, say: Catalogue, plot: "Axes", sheet: "Axes", ends: tuple[float, float], top: float
    ) -> None:
        rates = (("in_control", self.in_control, IN_CONTROL), ("to_detect", self.to_detect, TO_DETECT))
        drawn = [rate for rate in rates if isfinite(rate[1])]
        room = RIGHT - 2.0
        texts = [style.wrap(say(f"figure.trend.{name}"), room, style.SMALL) for name, *_ in drawn]
        wanted = [top + (ends[1] - at) / (ends[1] - ends[0]) * TALL for _, at, _ in drawn]
        tall = [style.height_of(text, style.SMALL) + 0.4 for text in texts]
        for (name, at, how), text, y in zip(drawn, texts, spread(wanted, tall, top, top + TALL)):
            plot.plot([-SLOT, WIDE], [at, at], gid=name.replace("_", "-"), zorder=1, **how)
            style.write(sheet, LEFT + WIDE + 2.0, y, text, size=style.SMALL, color=how["color"])

    def _months(self, say: Catalogue, plot: "Axes", sheet: "Axes", bottom: float) -> None:
        """A stroke where a month begins and its name in its middle; the year below the first, and January."""
        first, last = self.span
        months = list(_months(first, last))
        step = -(-len(months) // MOST_MONTHS)
        starts = [self._at(day, middle=False) for day, _ in months if day >= first]
        plot.set_xticks(starts, [""] * len(starts))
        plot.tick_params(axis="x", length=2, width=style.HAIR, color=style.MUTE)
        how: dict[str, Any] = {"size": style.SMALL, "ha": "center", "color": style.MUTE}
        year = 0
        for k, (start, end) in enumerate(months):
            left = self._at(max(start, first), middle=False)
            right = self._at(min(end, last), middle=False)
            name = say("figure.month", day=start)
            if k % step or right - left < style.width_of(name, style.SMALL) + 0.6:
                continue
            middle = LEFT + (left + right) / 2
            style.write(sheet, middle, bottom + 3.2, name, **how)
            if start.year != year:
                style.write(sheet, middle, bottom + 7.0, str(start.year), **how)
                year = start.year


Placed = tuple[TimelineMark, str, float, float, int]


def _rows(say: Catalogue, lane: TimelineTrack, at: Any) -> list[Placed]:
    """The marks of a lane with their label, where it begins, where the mark is, and in which row."""
    ends: list[list[tuple[float, float]]] = []
    placed = []
    for mark in sorted(lane.marks, key=lambda m: m.day):
        x = at(mark.day)
        text = style.label_text(say, mark.label)
        wide = style.width_of(text, style.SMALL)
        right = x + AIR + wide <= WIDE + RIGHT
        left = x + AIR if right else x - AIR - wide
        taken = (x - AIR, left + wide + AIR) if right else (left - AIR, x + AIR)
        row = next((k for k, held in enumerate(ends) if _free(taken, held)), len(ends))
        if row == len(ends):
            ends.append([])
        ends[row].append(taken)
        placed.append((mark, text, left, x, row))
    return placed


def _free(wanted: tuple[float, float], held: Sequence[tuple[float, float]]) -> bool:
    return all(wanted[1] <= low or wanted[0] >= high for low, high in held)


def _months(first: dt.date, last: dt.date) -> Iterator[tuple[dt.date, dt.date]]:
    """The first day of each month, and that of the next."""
    day = first.replace(day=1)
    while day < last:
        after = (day + dt.timedelta(32)).replace(day=1)
        yield day, after
        day = after
