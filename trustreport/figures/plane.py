"""Estimates in two measures at once: a mark each with both intervals, named in a key beside the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.figures.curves import PanelPlace
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 6.0


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
class PlaneChart:
    """Points that differ in shape and colour, each with its intervals and its numbers in the key."""

    points: tuple[PlanePoint, ...]
    x: PlaneAxis
    y: PlaneAxis

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point."""
        return [
            {
                "label": style.label_text(say, point.label),
                **{
                    f"{axis}{end}": getattr(e, field)
                    for axis, e in (("at", point.across), ("value", point.upward))
                    for end, field in (("", "value"), ("_low", "low"), ("_high", "high"), ("_n", "n"))
                },
            }
            for point in self.points
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        labels = curves.AxisLabels(say(self.x.label), say(self.y.label))
        key = [self._entry(say, i, point) for i, point in enumerate(self.points)]
        figure, _, (place,) = curves.lay_out([""], labels, key, ratio=0.8, gap=GAP)
        plot = style.panel(figure, place.left, place.top, place.width, place.height)
        self._frame(say, plot, place)
        for i, point in enumerate(self.points):
            self._mark(say, plot, i, point)
        return figure

    def _entry(self, say: Catalogue, i: int, point: PlanePoint) -> curves.LegendEntry:
        details = tuple(
            say(
                "figure.plane.number",
                measure=style.label_text(say, axis.short),
                number=numbers.estimate(say, e, axis.scale),
            )
            for axis, e in ((self.y, point.upward), (self.x, point.across))
        )
        sample = curves.mark_sample({"ms": 5.2, **_how(i, point)})
        return curves.LegendEntry(sample, style.label_text(say, point.label), details)

    def _frame(self, say: Catalogue, plot: "Axes", place: PanelPlace) -> None:
        for name, axis, of, length in (
            ("x", self.x, [p.across for p in self.points], place.width),
            ("y", self.y, [p.upward for p in self.points], place.height),
        ):
            shown = [x for e in of for x in (e.value, e.low, e.high)]
            shown += [axis.null] if axis.null is not None else []
            text = partial(_tick, say, axis.scale)
            (low, high), found = ticks.fitted(shown, length, text, axis.least, axis.most)
            plot.set(**{f"{name}lim": (low, high)})
            getattr(plot, f"set_{name}ticks")(*found)
            if axis.null is not None:
                line = plot.axvline if name == "x" else plot.axhline
                line(axis.null, color=style.INK, lw=style.THIN, zorder=1, gid=f"null-{name}")
        plot.spines["left"].set_visible(True)
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)

    def _mark(self, say: Catalogue, plot: "Axes", i: int, point: PlanePoint) -> None:
        x, y = point.across, point.upward
        if isnan(x.value) or isnan(y.value):
            return
        colour = style.SERIES[i % len(style.SERIES)]
        how: dict[str, Any] = {"color": colour, "lw": style.THIN, "zorder": 2, "clip_on": False}
        if isfinite(x.low) and isfinite(x.high):
            plot.plot(_within(plot.get_xlim(), x), [y.value] * 2, gid=f"interval-x-{i}", **how)
        if isfinite(y.low) and isfinite(y.high):
            plot.plot([x.value] * 2, _within(plot.get_ylim(), y), gid=f"interval-y-{i}", **how)
        said = "; ".join(
            numbers.of_mark(say, e, axis.scale, style.label_text(say, axis.short))
            for axis, e in ((self.y, y), (self.x, x))
        )
        text = say("figure.mark", name=style.label_text(say, point.label), number=said)
        style.mark(plot, x.value, y.value, f"mark-{i}", **{"ms": 5.6, **_how(i, point)}, label=text)


def _how(i: int, point: PlanePoint) -> dict[str, Any]:
    how = style.series(i)
    return how | style.hollow(str(how["mec"])) if point.hollow else how


def _within(ends: Sequence[float], e: Estimate) -> list[float]:
    return [min(max(x, ends[0]), ends[1]) for x in (e.low, e.high)]


def _tick(say: Catalogue, scale: numbers.Scale, value: float) -> str:
    text = numbers.plain(say, round(numbers.hundredfold(value, scale), 10))
    return say("figure.percent_tick", value=text) if scale == "percent" else text
