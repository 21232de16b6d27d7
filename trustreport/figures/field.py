"""Planes of two parameters or measures: shades, regions of the best candidate, estimates, half discs."""

from dataclasses import dataclass
from math import isfinite, isnan, sqrt
from typing import Any

import numpy as np

from trustreport.figures import numbers, panels, style
from trustreport.figures.panels import Chart, LegendEntry, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.measures.utility.matrices import matrix_at
from trustreport.vocabulary.messages import Catalogue, Message

Grid = tuple[tuple[float, ...], ...]
MOST_CELLS = 41  # rows and columns that the table of values lists
SHADES = (style.PAPER, style.TEAL)
# Each region bears the name of its candidate as well.
REGIONS = (style.TEAL_WASH, style.BLUE_WASH, "#efe7d3", style.RUST_WASH, "#e3e6ea", "#f7f3e8")
MOST_NUMBERED = 8  # declared places whose numbers stand in the corner that the map leaves free
CORNER = (0.86, -0.42, 0.078)  # of the first number, and the step down to the next
# The corners of the map of utilities, and where the matrix of each stands beside them: x, y, its own corner.
CORNERS = (
    *((-1, 0, -1.0, 0.17, "left", "bottom"), (0, 1, -0.2, 1.0, "right", "top")),
    *((1, 1, 0.98, 0.98, "right", "top"), (1, 0, 1.0, -0.17, "right", "top")),
    *((0, -1, 0.2, -1.0, "left", "bottom"), (-1, -1, -0.98, -0.98, "left", "bottom")),
)
MATRIX_WIDTH, MATRIX_HEIGHT = 5.6, 5.4  # millimetres
DISC: dict[str, Any] = {"marker": "o", "ms": 8.5, "mfc": style.INK, "mec": style.PAPER}
IN_DISC: dict[str, Any] = {
    "size": style.SMALLEST,
    "color": style.PAPER,
    "ha": "center",
    "va": "center_baseline",
}
LARGEST = 6.2  # millimetres: the diameter of the largest disc


@dataclass(frozen=True, slots=True)
class FieldPanel:
    """Values at each (y, x), rows in the order of y; NaN where undefined."""

    label: Message | str
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: Grid


@dataclass(frozen=True, slots=True)
class FieldChart(Chart):
    """Shaded values with lines of equal value, which are labelled."""

    panels: tuple[FieldPanel, ...]
    x: Message
    y: Message
    value: Message

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per place of each field, thinned where it is fine."""
        rows: list[dict[str, Any]] = []
        for panel in self.panels:
            across = range(0, len(panel.x), -(-len(panel.x) // MOST_CELLS))
            upward = range(0, len(panel.y), -(-len(panel.y) // MOST_CELLS))
            place = style.label(say, panel.label)
            rows += [
                {"place": place, "at": panel.x[j], "at_y": panel.y[i], "value": panel.values[i][j]}
                for i in upward
                for j in across
            ]
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("shades", SHADES)
        found = [v for panel in self.panels for row in panel.values for v in row if isfinite(v)]
        low, high = (min(found), max(found)) if found else (0.0, 1.0)
        room = max(high - low, 0.02)
        levels = numbers.linear_ticks(low, low + room, 70.0, numbers.tick(say, "number"))[0]
        levels = tuple(x for x in levels if low < x < high)
        titles = [style.label(say, panel.label) for panel in self.panels]
        sample = panels.box_sample(fc=shades(0.6), ec="none")
        key = [LegendEntry(sample, say("figure.field.key", value=self.value))]
        sheet, plots = panels.lay_out(titles, (say(self.x), say(self.y)), key, ratio=0.8, gap=15.0)
        for i, (panel, plot) in enumerate(zip(self.panels, plots)):
            grid = np.ma.masked_invalid(np.array(panel.values, float))
            mesh = plot.axes.pcolormesh(
                panel.x, panel.y, grid, cmap=shades, vmin=low - 0.3 * room, vmax=high + 0.1 * room,
                shading="nearest", rasterized=True, zorder=0,
            )  # fmt: skip
            mesh.set_gid(f"field-{i}")
            if levels and grid.count() > 3:
                thin: dict[str, Any] = {"colors": style.INK, "linewidths": style.HAIR, "zorder": 2}
                lines = plot.axes.contour(panel.x, panel.y, grid, levels=levels, **thin)
                plot.axes.clabel(
                    lines, fmt=lambda v: numbers.plain(say, round(v, 8)), fontsize=style.SMALLEST, inline=True
                )
            plot.x_axis((panel.x[0], panel.x[-1]), numbers.tick(say, "number"))
            plot.y_axis((panel.y[0], panel.y[-1]), numbers.tick(say, "number"))
        return sheet


@dataclass(frozen=True, slots=True)
class MapPlace:
    """A declared place on a map, with its name."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class RegionChart(Chart):
    """A map whose cells (rows by y) name the candidate that is best there; -1 ties, -2 outside the map.

    `area` is the share of the map of each candidate.
    """

    x_at: tuple[float, ...]
    y_at: tuple[float, ...]
    best: tuple[tuple[int, ...], ...]
    candidates: tuple[str, ...]
    area: tuple[float, ...]
    places: tuple[MapPlace, ...]
    x: Message
    y: Message

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """The share of each candidate, the declared places, then the map, thinned."""
        rows: list[dict[str, Any]] = [
            {"label": name, "value": share} for name, share in zip(self.candidates, self.area)
        ]
        rows += [{"label": p.label, "at": p.x, "at_y": p.y, "declared": True} for p in self.places]
        rows += [
            {"label": str(matrix_at(x, y).astype(int).tolist()), "at": x, "at_y": y} for x, y, *_ in CORNERS
        ]
        step = -(-len(self.x_at) // MOST_CELLS)
        rows += [
            {
                "at": self.x_at[j],
                "at_y": self.y_at[i],
                "label": self.candidates[k] if k >= 0 else say("figure.field.tied"),
            }
            for i in range(0, len(self.y_at), step)
            for j in range(0, len(self.x_at), step)
            if (k := self.best[i][j]) != -2
        ]
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        grid = np.array(self.best)
        key = [
            LegendEntry(
                panels.box_sample(2.8, fc=REGIONS[k % len(REGIONS)], ec=style.FAINT, lw=style.HAIR),
                name,
                (say("figure.field.share", share=numbers.plain(say, round(100 * self.area[k], 1))),),
                leads=True,
            )
            for k, name in enumerate(self.candidates)
        ]
        key += [
            LegendEntry(_number(i + 1), say("figure.field.place", name=place.label))
            for i, place in enumerate(self.places[:MOST_NUMBERED])
        ]
        sheet, (plot,) = panels.lay_out([""], (say(self.x), say(self.y)), key, ratio=0.95)
        axes, x, y = plot.axes, np.array(self.x_at), np.array(self.y_at)
        for k, name in enumerate(self.candidates):
            own = (grid == k).astype(float)
            if not own.any():
                continue
            axes.contourf(x, y, own, levels=[0.5, 1.5], colors=[REGIONS[k % len(REGIONS)]], zorder=0.5)
            axes.contour(x, y, own, levels=[0.5], colors=style.FAINT, linewidths=style.HAIR, zorder=0.8)
            across, up, room = _middle(grid == k, x, y)
            if style.width_of(name, style.TICK) < 2 * room * plot.width / 2.08:
                plot.write(across, up, name, ha="center", zorder=3, **style.HEADING)
        outline = (grid != -2).astype(float)
        axes.contour(x, y, outline, levels=[0.5], colors=style.INK, linewidths=style.THIN, zorder=1)
        for a, b in (((-1, 1), (0, 0)), ((0, 0), (-1, 1))):
            axes.plot(a, b, color=style.MUTE, lw=style.HAIR, ls=(0, (2, 2)), zorder=1.2)
        for x1, y1, across, up, ha, va in CORNERS:
            _matrix(say, plot, matrix_at(x1, y1), (across, up), (ha, va))
        for i, place in enumerate(self.places[:MOST_NUMBERED]):
            x0, y0 = CORNER[0], CORNER[1] - i * CORNER[2]
            axes.plot([place.x, x0], [place.y, y0], color=style.MUTE, lw=style.HAIR, zorder=2.5)
            plot.mark(place.x, place.y, f"place-{i}", marker="o", ms=4.6, mfc=style.INK, mec=style.PAPER)
            plot.mark(x0, y0, f"number-{i}", **DISC)
            plot.write(x0, y0, say.numbers.count(i + 1), zorder=4, **IN_DISC)
        plot.x_axis((-1.04, 1.04), numbers.tick(say, "number"))
        plot.y_axis((-1.04, 1.04), numbers.tick(say, "number"))
        return sheet


def _matrix(
    say: Catalogue, plot: PlotPanel, matrix: Any, at: tuple[float, float], aligned: tuple[str, str]
) -> None:
    """A utility matrix of two classes between brackets, with one of its corners at a place."""
    width, height = 2.08 * MATRIX_WIDTH / plot.width, 2.08 * MATRIX_HEIGHT / plot.height
    left = at[0] - (width if aligned[0] == "right" else 0)
    low = at[1] - (height if aligned[1] == "top" else 0)
    how: dict[str, Any] = {"size": style.SMALLEST, "color": style.INK, "ha": "center", "zorder": 2.4}
    for i in range(2):
        for j in range(2):
            x, y = left + width * (0.28 + 0.44 * j), low + height * (0.75 - 0.5 * i)
            plot.write(x, y, say.numbers.count(int(matrix[i, j])), va="center_baseline", **how)
    for x, inward in ((left, 0.12 * width), (left + width, -0.12 * width)):
        across, up = [x + inward, x, x, x + inward], [low, low, low + height, low + height]
        plot.plot(across, up, color=style.INK, lw=style.HAIR, zorder=2.4)


def _middle(own: Any, x: Any, y: Any) -> tuple[float, float, float]:
    """A place as deep inside a region as any, by steps of the grid, and its distance from the border."""
    inside = own.copy()
    depth = np.zeros(own.shape, int)
    while inside.any():
        depth += inside
        shrunk = np.zeros_like(inside)
        shrunk[1:-1, 1:-1] = (
            inside[1:-1, 1:-1] & inside[:-2, 1:-1] & inside[2:, 1:-1] & inside[1:-1, :-2] & inside[1:-1, 2:]
        )
        inside = shrunk
    row, column = np.unravel_index(int(depth.argmax()), depth.shape)
    return float(x[column]), float(y[row]), float(depth.max() * (x[1] - x[0]))


def _number(i: int) -> panels.Sample:
    def draw(sheet: PlotSheet, x: float, y: float) -> None:
        middle = x + panels.SAMPLE / 2 - 1.0
        sheet.plot([middle], [y], ls="none", marker="o", ms=8.0, mfc=style.INK, mec=style.PAPER, mew=0.5)
        sheet.write(middle, y, str(i), **IN_DISC)

    return draw


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

    def _draw(self, say: Catalogue) -> PlotSheet:
        key = [self._entry(say, i, point) for i, point in enumerate(self.points)]
        sheet, (plot,) = panels.lay_out([""], (say(self.x.label), say(self.y.label)), key, ratio=0.8)
        plot.y_axis(self._axis(say, plot, self.y, [p.upward for p in self.points], upright=True))
        plot.x_axis(self._axis(say, plot, self.x, [p.across for p in self.points]))
        for i, point in enumerate(self.points):
            self._mark(say, plot, i, point)
        return sheet

    def _entry(self, say: Catalogue, i: int, point: PlanePoint) -> LegendEntry:
        details = tuple(
            say(
                "figure.plane.number",
                measure=style.label(say, axis.short),
                number=numbers.estimate(say, e, axis.scale),
            )
            for axis, e in ((self.y, point.upward), (self.x, point.across))
        )
        sample = panels.mark_sample({"ms": 5.2, **_how(i, point)})
        return LegendEntry(sample, style.label(say, point.label), details)

    def _axis(
        self,
        say: Catalogue,
        plot: PlotPanel,
        axis: PlaneAxis,
        found: list[Estimate],
        *,
        upright: bool = False,
    ) -> tuple[float, float]:
        """Ticks and the line of an axis; the ends that fit its values."""
        shown = [x for e in found for x in (e.value, e.low, e.high)]
        shown += [axis.null] if axis.null is not None else []
        length = plot.height if upright else plot.width
        ends, ticked = numbers.fitted_ticks(
            shown, length, numbers.tick(say, axis.scale), axis.least, axis.most
        )
        plot.ticks(**{"y" if upright else "x": ticked})
        if axis.null is not None:
            line = plot.axes.axhline if upright else plot.axes.axvline
            name = "null-y" if upright else "null-x"
            line(axis.null, color=style.INK, lw=style.THIN, zorder=1, gid=name)
        return ends

    def _mark(self, say: Catalogue, plot: PlotPanel, i: int, point: PlanePoint) -> None:
        x, y = point.across, point.upward
        if isnan(x.value) or isnan(y.value):
            return
        how: dict[str, Any] = {"color": style.SERIES[i % len(style.SERIES)], "lw": style.THIN}
        plot.interval(x.low, x.high, y.value, f"interval-x-{i}", clip_on=False, **how)
        plot.interval(y.low, y.high, x.value, f"interval-y-{i}", upright=True, clip_on=False, **how)
        said = say.between.join(
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

    def _draw(self, say: Catalogue) -> PlotSheet:
        titles = [style.label(say, panel.label) for panel in self.panels]
        key = [
            LegendEntry(panels.mark_sample({**_half(side, colour), "ms": 8.0}), say(f"figure.bubbles.{name}"))
            for name, side, colour in (("right", "left", style.TEAL), ("wrong", "right", style.RUST))
        ]
        sheet, plots = panels.lay_out(titles, (say(self.x), say(self.y)), key, ratio=0.85, gap=13.0)
        written = numbers.tick(say, "number")
        for panel, plot in zip(self.panels, plots):
            plot.x_axis(_wider(*self.x_range), written, over=self.x_range)
            plot.y_axis(_wider(*self.y_range), written, over=self.y_range)
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
