"""Marks in a plane: estimates in two measures at once, and answers by two graded judgements."""

from dataclasses import dataclass
from math import isnan, sqrt
from typing import Any

from trustreport.estimate import Estimate
from trustreport.figures import curves, numbers, style, ticks
from trustreport.figures.panel import Chart, Panel, Sheet
from trustreport.messages import Catalogue, Message

LARGEST = 6.2  # millimetres: the diameter of the largest disc


@dataclass(frozen=True, slots=True)
class PlanePoint:
    """What stands at one place; `hollow` marks what the others are compared with."""

    label: Message | str
    across: Estimate
    upward: Estimate
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class PlaneAxis:
    """What lies along an axis: a share in per cent, or a number; the ends of what is possible.

    `short` names it in the key. A line stands at `null`; `low` and `high` say what its sides mean.
    """

    label: Message
    short: Message
    scale: numbers.Scale
    least: float
    most: float
    null: float | None = None


@dataclass(frozen=True, slots=True)
class PlaneChart(Chart):
    """Points that differ in shape and colour, each with its intervals and its numbers in the key."""

    points: tuple[PlanePoint, ...]
    x: PlaneAxis
    y: PlaneAxis

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point."""
        return [
            {
                "label": style.label(say, point.label),
                **{
                    f"{axis}{end}": getattr(e, field)
                    for axis, e in (("at", point.across), ("value", point.upward))
                    for end, field in (("", "value"), ("_low", "low"), ("_high", "high"), ("_n", "n"))
                },
            }
            for point in self.points
        ]

    def _draw(self, say: Catalogue) -> Sheet:
        key = [self._entry(say, i, point) for i, point in enumerate(self.points)]
        sheet, (plot,) = curves.lay_out([""], (say(self.x.label), say(self.y.label)), key, ratio=0.8)
        plot.upward(self._axis(say, plot, self.y, [p.upward for p in self.points], upright=True))
        plot.across(self._axis(say, plot, self.x, [p.across for p in self.points]))
        for i, point in enumerate(self.points):
            self._mark(say, plot, i, point)
        return sheet

    def _entry(self, say: Catalogue, i: int, point: PlanePoint) -> curves.LegendEntry:
        details = tuple(
            say(
                "figure.plane.number",
                measure=style.label(say, axis.short),
                number=numbers.estimate(say, e, axis.scale),
            )
            for axis, e in ((self.y, point.upward), (self.x, point.across))
        )
        sample = curves.mark_sample({"ms": 5.2, **_how(i, point)})
        return curves.LegendEntry(sample, style.label(say, point.label), details)

    def _axis(
        self, say: Catalogue, plot: Panel, axis: PlaneAxis, found: list[Estimate], *, upright: bool = False
    ) -> tuple[float, float]:
        """Ticks and the line of an axis; the ends that fit its values."""
        shown = [x for e in found for x in (e.value, e.low, e.high)]
        shown += [axis.null] if axis.null is not None else []
        length = plot.height if upright else plot.width
        ends, ticked = ticks.fitted(shown, length, numbers.tick(say, axis.scale), axis.least, axis.most)
        plot.ticks(**{"y" if upright else "x": ticked})
        if axis.null is not None:
            line = plot.axes.axhline if upright else plot.axes.axvline
            name = "null-y" if upright else "null-x"
            line(axis.null, color=style.INK, lw=style.THIN, zorder=1, gid=name)
        return ends

    def _mark(self, say: Catalogue, plot: Panel, i: int, point: PlanePoint) -> None:
        x, y = point.across, point.upward
        if isnan(x.value) or isnan(y.value):
            return
        how: dict[str, Any] = {"color": style.SERIES[i % len(style.SERIES)], "lw": style.THIN}
        plot.interval(x.low, x.high, y.value, f"interval-x-{i}", clip_on=False, **how)
        plot.interval(y.low, y.high, x.value, f"interval-y-{i}", upright=True, clip_on=False, **how)
        said = "; ".join(
            numbers.of_mark(say, e, axis.scale, style.label(say, axis.short))
            for axis, e in ((self.y, y), (self.x, x))
        )
        text = say("figure.mark", name=style.label(say, point.label), number=said)
        plot.mark(x.value, y.value, f"mark-{i}", **{"ms": 5.6, **_how(i, point)}, label=text)


def _how(i: int, point: PlanePoint) -> dict[str, Any]:
    how = style.series(i)
    return how | style.hollow(str(how["mec"])) if point.hollow else how


@dataclass(frozen=True, slots=True)
class Bubble:
    """Answers at one place: how many were right and how many wrong."""

    x: float
    y: float
    right: int
    wrong: int


@dataclass(frozen=True, slots=True)
class BubblesPanel:
    """The answers of the device, or of the raters."""

    label: Message | str
    bubbles: tuple[Bubble, ...]


@dataclass(frozen=True, slots=True)
class BubblesChart(Chart):
    """Pairs of half discs: right answers to the left, wrong ones to the right of each place."""

    panels: tuple[BubblesPanel, ...]
    x: Message
    y: Message
    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per place."""
        return [
            {
                "place": style.label(say, panel.label),
                "at": b.x,
                "at_y": b.y,
                "right": b.right,
                "wrong": b.wrong,
            }
            for panel in self.panels
            for b in panel.bubbles
        ]

    def _draw(self, say: Catalogue) -> Sheet:
        titles = [style.label(say, panel.label) for panel in self.panels]
        key = [
            curves.LegendEntry(
                curves.mark_sample({**_half(side, colour), "ms": 8.0}), say(f"figure.bubbles.{name}")
            )
            for name, side, colour in (("right", "left", style.TEAL), ("wrong", "right", style.RUST))
        ]
        sheet, plots = curves.lay_out(titles, (say(self.x), say(self.y)), key, ratio=0.85, gap=13.0)
        written = numbers.tick(say, "number")
        for panel, plot in zip(self.panels, plots):
            plot.across(_wider(*self.x_range), written, over=self.x_range)
            plot.upward(_wider(*self.y_range), written, over=self.y_range)
            most = max((max(b.right, b.wrong) for b in panel.bubbles), default=1)
            for i, b in enumerate(panel.bubbles):
                for side, n, colour in (("left", b.right, style.TEAL), ("right", b.wrong, style.RUST)):
                    if n:
                        size = LARGEST * sqrt(n / most) * style.MM
                        plot.plot(
                            [b.x], [b.y], ms=size, ls="none", clip_on=False, gid=f"{side}-{i}", zorder=2,
                            **_half(side, colour),
                        )  # fmt: skip
        return sheet


def _wider(low: float, high: float) -> tuple[float, float]:
    room = 0.07 * (high - low)
    return low - room, high + room


def _half(side: str, colour: str) -> dict[str, Any]:
    """One half of a disc."""
    return {
        "marker": "o",
        "fillstyle": side,
        "mfc": colour,
        "mec": "none",
        "markerfacecoloralt": "none",
    }
