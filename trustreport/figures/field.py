"""Fields over two parameters: shades of a value, and regions in which one candidate is best."""

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.measures.utility.matrices import matrix_at
from trustreport.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Grid = tuple[tuple[float, ...], ...]
GAP = 15.0
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


@dataclass(frozen=True, slots=True)
class FieldPanel:
    """Values at each (y, x), rows in the order of y; NaN where undefined."""

    label: Message | str
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: Grid


@dataclass(frozen=True, slots=True)
class FieldChart:
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
            place = style.label_text(say, panel.label)
            rows += [
                {"place": place, "at": panel.x[j], "at_y": panel.y[i], "value": panel.values[i][j]}
                for i in upward
                for j in across
            ]
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        import numpy as np
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("shades", SHADES)
        found = [v for panel in self.panels for row in panel.values for v in row if isfinite(v)]
        low, high = (min(found), max(found)) if found else (0.0, 1.0)
        room = max(high - low, 0.02)
        rounds = ticks.linear(low, low + room, 70.0, lambda v: numbers.plain(say, v))[0]
        levels = [x for x in rounds if low < x < high]
        titles = [style.label_text(say, panel.label) for panel in self.panels]
        key = [curves.LegendEntry(_shade(shades(0.6)), say("figure.field.key", value=self.value))]
        labels = curves.AxisLabels(say(self.x), say(self.y))
        figure, _, places = curves.lay_out(titles, labels, key, ratio=0.8, gap=GAP)
        for i, (panel, place) in enumerate(zip(self.panels, places)):
            plot = style.panel(figure, place.left, place.top, place.width, place.height)
            grid = np.array(panel.values, float)
            limits = (panel.x[0], panel.x[-1]), (panel.y[0], panel.y[-1])
            mesh = plot.pcolormesh(
                panel.x, panel.y, np.ma.masked_invalid(grid), cmap=shades, vmin=low - 0.3 * room,
                vmax=high + 0.1 * room, shading="nearest", rasterized=True, zorder=0,
            )  # fmt: skip
            mesh.set_gid(f"field-{i}")
            if levels and np.isfinite(grid).sum() > 3:
                lines = plot.contour(
                    panel.x, panel.y, np.ma.masked_invalid(grid), levels=levels,
                    colors=style.INK, linewidths=style.HAIR, zorder=2,
                )  # fmt: skip
                plot.clabel(
                    lines, fmt=lambda v: numbers.plain(say, round(v, 8)), fontsize=style.SMALLEST, inline=True
                )
            _frame(say, plot, place, limits)
        return figure


@dataclass(frozen=True, slots=True)
class MapPlace:
    """A declared place on a map, with its name."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class RegionChart:
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

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        import numpy as np

        grid = np.array(self.best)
        key = [
            curves.LegendEntry(
                _region(k),
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
        labels = curves.AxisLabels(say(self.x), say(self.y))
        figure, _, (place,) = curves.lay_out([""], labels, key, ratio=0.95, gap=GAP)
        plot = style.panel(figure, place.left, place.top, place.width, place.height)
        x, y = np.array(self.x_at), np.array(self.y_at)
        for k in range(len(self.candidates)):
            own = (grid == k).astype(float)
            if not own.any():
                continue
            shade = REGIONS[k % len(REGIONS)]
            plot.contourf(x, y, own, levels=[0.5, 1.5], colors=[shade], zorder=0.5)
            plot.contour(x, y, own, levels=[0.5], colors=style.FAINT, linewidths=style.HAIR, zorder=0.8)
            across, up, room = _middle(grid == k, x, y)
            name = self.candidates[k]
            if style.width_of(name, style.TICK) < 2 * room * place.width / 2.08:
                how: dict[str, Any] = {"size": style.TICK, "ha": "center", "weight": style.SEMIBOLD}
                style.write(plot, across, up, name, zorder=3, **how)
        outline = (grid != -2).astype(float)
        plot.contour(x, y, outline, levels=[0.5], colors=style.INK, linewidths=style.THIN, zorder=1)
        for a, b in (((-1, 1), (0, 0)), ((0, 0), (-1, 1))):
            plot.plot(a, b, color=style.MUTE, lw=style.HAIR, ls=(0, (2, 2)), zorder=1.2)
        for x1, y1, across, up, ha, va in CORNERS:
            _matrix(say, plot, place, matrix_at(x1, y1), (across, up), (ha, va))
        for i, one in enumerate(self.places[:MOST_NUMBERED]):
            x0, y0 = CORNER[0], CORNER[1] - i * CORNER[2]
            plot.plot([one.x, x0], [one.y, y0], color=style.MUTE, lw=style.HAIR, zorder=2.5)
            style.mark(plot, one.x, one.y, f"place-{i}", marker="o", ms=4.6, mfc=style.INK, mec=style.PAPER)
            style.mark(plot, x0, y0, f"number-{i}", **DISC)
            how = {"size": style.SMALLEST, "color": style.PAPER, "ha": "center", "zorder": 4}
            style.write(plot, x0, y0, say.numbers.count(i + 1), va="center_baseline", **how)
        _frame(say, plot, place, ((-1.04, 1.04), (-1.04, 1.04)))
        return figure


def _matrix(
    say: Catalogue,
    plot: "Axes",
    place: curves.PanelPlace,
    matrix: Any,
    at: tuple[float, float],
    aligned: tuple[str, str],
) -> None:
    """A utility matrix of two classes between brackets, with one of its corners at a place."""
    width, height = (
        2.08 * mm / of for mm, of in ((MATRIX_WIDTH, place.width), (MATRIX_HEIGHT, place.height))
    )
    left = at[0] - (width if aligned[0] == "right" else 0)
    low = at[1] - (height if aligned[1] == "top" else 0)
    how: dict[str, Any] = {"size": style.SMALLEST, "color": style.INK, "ha": "center", "zorder": 2.4}
    for i in range(2):
        for j in range(2):
            x, y = left + width * (0.28 + 0.44 * j), low + height * (0.75 - 0.5 * i)
            style.write(plot, x, y, say.numbers.count(int(matrix[i, j])), va="center_baseline", **how)
    for x, inward in ((left, 0.12 * width), (left + width, -0.12 * width)):
        across, up = [x + inward, x, x, x + inward], [low, low, low + height, low + height]
        plot.plot(across, up, color=style.INK, lw=style.HAIR, zorder=2.4)


def _frame(
    say: Catalogue,
    plot: "Axes",
    place: curves.PanelPlace,
    limits: tuple[tuple[float, float], tuple[float, float]],
) -> None:
    (x0, x1), (y0, y1) = limits
    plot.set(xlim=(x0, x1), ylim=(y0, y1))

    def written(value: float) -> str:
        return numbers.plain(say, round(value, 10))

    plot.set_xticks(*ticks.linear(x0, x1, place.width, written))
    plot.set_yticks(*ticks.linear(y0, y1, place.height, written, upright=True))
    plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
    plot.spines["left"].set_visible(True)


def _shade(colour: Any) -> curves.Sample:
    def draw(sheet: "Axes", x: float, y: float) -> None:
        from matplotlib.patches import Rectangle

        sheet.add_patch(Rectangle((x, y - 1.2), curves.SAMPLE - 2.0, 2.4, fc=colour, ec="none"))

    return draw


def _region(k: int) -> curves.Sample:
    def draw(sheet: "Axes", x: float, y: float) -> None:
        from matplotlib.patches import Rectangle

        box = (x, y - 1.4), curves.SAMPLE - 2.0, 2.8
        sheet.add_patch(Rectangle(*box, fc=REGIONS[k % len(REGIONS)], ec=style.FAINT, lw=style.HAIR))

    return draw


def _middle(own: Any, x: Any, y: Any) -> tuple[float, float, float]:
    """A place as deep inside a region as any, by steps of the grid, and its distance from the border."""
    import numpy as np

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
    def draw(sheet: "Axes", x: float, y: float) -> None:
        middle = x + curves.SAMPLE / 2 - 1.0
        sheet.plot([middle], [y], ls="none", marker="o", ms=8.0, mfc=style.INK, mec=style.PAPER, mew=0.5)
        how: dict[str, Any] = {"size": style.SMALLEST, "color": style.PAPER, "ha": "center"}
        style.write(sheet, middle, y, str(i), va="center_baseline", **how)

    return draw
