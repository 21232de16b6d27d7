"""Counts of values, shades of a value over two parameters, and regions in which a candidate is best."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.figures import curves, numbers, style, ticks
from trustreport.figures.panel import Chart, Panel, Sheet
from trustreport.measures.utility.space import matrix_at
from trustreport.messages import Catalogue, Message

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
MOST_VALUES = 12  # of more distinct values, counts are put together in equal steps
STEPS = 10
FILLED = 0.82  # of the room of a bar
LINE_ROOM = 1.2  # millimetres between the lowest line of labels and the bars
ABOVE: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": style.DASHED, "zorder": 2}


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

    def _draw(self, say: Catalogue) -> Sheet:
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("shades", SHADES)
        found = [v for panel in self.panels for row in panel.values for v in row if isfinite(v)]
        low, high = (min(found), max(found)) if found else (0.0, 1.0)
        room = max(high - low, 0.02)
        levels = ticks.linear(low, low + room, 70.0, numbers.tick(say, "number"))[0]
        levels = tuple(x for x in levels if low < x < high)
        titles = [style.label(say, panel.label) for panel in self.panels]
        sample = curves.box_sample(fc=shades(0.6), ec="none")
        key = [curves.LegendEntry(sample, say("figure.field.key", value=self.value))]
        sheet, plots = curves.lay_out(titles, (say(self.x), say(self.y)), key, ratio=0.8, gap=15.0)
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
            plot.across((panel.x[0], panel.x[-1]), numbers.tick(say, "number"))
            plot.upward((panel.y[0], panel.y[-1]), numbers.tick(say, "number"))
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

    def _draw(self, say: Catalogue) -> Sheet:
        grid = np.array(self.best)
        key = [
            curves.LegendEntry(
                curves.box_sample(2.8, fc=REGIONS[k % len(REGIONS)], ec=style.FAINT, lw=style.HAIR),
                name,
                (say("figure.field.share", share=numbers.plain(say, round(100 * self.area[k], 1))),),
                leads=True,
            )
            for k, name in enumerate(self.candidates)
        ]
        key += [
            curves.LegendEntry(_number(i + 1), say("figure.field.place", name=place.label))
            for i, place in enumerate(self.places[:MOST_NUMBERED])
        ]
        sheet, (plot,) = curves.lay_out([""], (say(self.x), say(self.y)), key, ratio=0.95)
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
        plot.across((-1.04, 1.04), numbers.tick(say, "number"))
        plot.upward((-1.04, 1.04), numbers.tick(say, "number"))
        return sheet


def _matrix(
    say: Catalogue, plot: Panel, matrix: Any, at: tuple[float, float], aligned: tuple[str, str]
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


def _number(i: int) -> curves.Sample:
    def draw(sheet: Sheet, x: float, y: float) -> None:
        middle = x + curves.SAMPLE / 2 - 1.0
        sheet.plot([middle], [y], ls="none", marker="o", ms=8.0, mfc=style.INK, mec=style.PAPER, mew=0.5)
        sheet.write(middle, y, str(i), **IN_DISC)

    return draw


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """How many have a value, or lie in the step around it."""

    at: float
    n: int


@dataclass(frozen=True, slots=True)
class HistogramMark:
    """A value above which, or from which on, a part lies; `label` says which part."""

    at: float
    label: Message | str


@dataclass(frozen=True, slots=True)
class HistogramPanel:
    """The bars of one data set, each `width` wide."""

    label: Message | str
    bars: tuple[HistogramBar, ...]
    width: float
    marks: tuple[HistogramMark, ...] = ()

    @classmethod
    def of(
        cls, label: Message | str, values: NDArray[np.float64], marks: Sequence[HistogramMark] = ()
    ) -> "HistogramPanel":
        """Bars at the values themselves where they are few, else over equal steps."""
        distinct, counts = np.unique(values, return_counts=True)
        width = float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0
        if len(distinct) > MOST_VALUES:
            counts, edges = np.histogram(values, STEPS)
            distinct, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
        bars = tuple(HistogramBar(float(x), int(n)) for x, n in zip(distinct.tolist(), counts.tolist()))
        return cls(label, bars, width, tuple(marks))


@dataclass(frozen=True, slots=True)
class HistogramChart(Chart):
    """Panels side by side, each with an axis of its own counts; `marked` says what the dashed lines are."""

    panels: tuple[HistogramPanel, ...]
    x: Message
    y: Message
    marked: Message | str = ""

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per bar, then per marked value."""
        rows: list[dict[str, Any]] = []
        for panel in self.panels:
            place = style.label(say, panel.label)
            rows += [{"place": place, "at": bar.at, "value": bar.n} for bar in panel.bars]
            rows += [
                {"place": place, "label": style.label(say, m.label), "at": m.at, "declared": True}
                for m in panel.marks
            ]
        return rows

    def _draw(self, say: Catalogue) -> Sheet:
        titles = [style.label(say, panel.label) for panel in self.panels]
        key = []
        if any(panel.marks for panel in self.panels):
            key = [curves.LegendEntry(curves.line_sample(ABOVE), style.label(say, self.marked))]
        sheet, plots = curves.lay_out(titles, (say(self.x), say(self.y)), key, ratio=0.62, gap=13.0)
        for i, (panel, plot) in enumerate(zip(self.panels, plots)):
            self._bars(say, plot, panel, str(i))
        return sheet

    def _bars(self, say: Catalogue, plot: Panel, panel: HistogramPanel, name: str) -> None:
        left = panel.bars[0].at - panel.width * 0.6
        right = panel.bars[-1].at + panel.width * 0.6
        span, tallest = right - left, max(bar.n for bar in panel.bars)
        texts = [style.label(say, mark.label) for mark in panel.marks]
        rows = _rows([mark.at * plot.width / span for mark in panel.marks], texts)
        # The labels of marks stand above the bars, on as many lines as keep them apart.
        line = style.LINE_HEIGHT * style.SMALLEST
        room = (max(rows, default=-1) + 1) * line + (LINE_ROOM if rows else 0.0)
        top = tallest * 1.04 / (1 - room / plot.height)
        plot.across((left, right))
        plot.upward((0, top))
        for k, bar in enumerate(panel.bars):
            (drawn,) = plot.axes.bar(bar.at, bar.n, panel.width * FILLED, color=style.BLUE, lw=0, zorder=1)
            drawn.set_gid(f"bar-{name}-{k}")
        for k, (mark, row, text) in enumerate(zip(panel.marks, rows, texts)):
            up = top * (1 - (row + 0.5) * line / plot.height)
            plot.line(((mark.at, 0), (mark.at, up - top * line / 2 / plot.height)), f"at-{name}-{k}", **ABOVE)
            half = style.width_of(text, style.SMALLEST) / 2 * span / plot.width
            how: dict[str, Any] = {"size": style.SMALLEST, "color": style.RUST, "ha": "center", "zorder": 3}
            plot.write(min(max(mark.at, left + half), right - half), up, text, **how)
        plain = numbers.tick(say, "number")
        at = [bar.at for bar in panel.bars]
        spoken = tuple(at), tuple(map(plain, at))
        fits = all(style.width_of(text, style.TICK) + 1.5 < plot.width / len(at) for text in spoken[1])
        even = len(at) < 3 or np.ptp(np.diff(at)) < 1e-9
        own = fits and even and len(at) < STEPS
        plot.ticks(spoken if own else ticks.linear(left, right, plot.width, plain))
        counted = zip(*ticks.linear(0, tallest, plot.height, plain, upright=True))
        heights, counts = zip(*((y, text) for y, text in counted if y == int(y)))
        plot.ticks(y=(heights, counts))


def _rows(at: Sequence[float], texts: Sequence[str]) -> list[int]:
    """On which line each label stands, so that none lies over another; `at` in millimetres."""
    half = [style.width_of(text, style.SMALLEST) / 2 for text in texts]
    rows: list[int] = []
    for k, x in enumerate(at):
        taken = {rows[j] for j in range(k) if abs(at[j] - x) < half[k] + half[j] + 2.0}
        rows.append(next(row for row in range(k + 1) if row not in taken))
    return rows
