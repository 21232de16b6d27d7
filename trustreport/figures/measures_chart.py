"""Measures of several sets side by side: a row a set, a column a measure, marks with their intervals."""

from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from trustreport.estimate import Estimate
from trustreport.figures import numbers, style
from trustreport.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 40
# Millimetres.
LABEL_WIDTH = 44.0
GAP, RIGHT = 4.5, 2.5
ABOVE, BELOW = 8.0, 7.0


@dataclass(frozen=True, slots=True)
class MeasureColumn:
    """A measure and the range of its axis."""

    label: Message | str
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A measure of a set; `reference` is what to hold it against, `reason` says why it is undefined."""

    estimate: Estimate
    reference: float = nan
    reason: Message | str = ""


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A set; a cell for each column, None where it has no such measure."""

    label: Message | str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class MeasuresChart:
    """Dots with intervals on axes that all rows share; what is undefined says so in its place.

    `reference` names the small upright stroke, where any cell has one.
    """

    columns: tuple[MeasureColumn, ...]
    rows: tuple[MeasureRow, ...]
    reference: Message | str = ""

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per set and measure."""
        return [
            {
                "label": style.said(say, row.label),
                "measure": style.said(say, column.label),
                "value": cell.estimate.value,
                "low": cell.estimate.low,
                "high": cell.estimate.high,
                "n": cell.estimate.n,
                "reference": cell.reference,
            }
            for row in self.rows
            for column, cell in zip(self.columns, row.cells)
            if cell is not None
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        size = style.TICK if len(self.rows) <= 24 else style.SMALLEST
        air = 2.4 if len(self.rows) <= 12 else 1.5 if len(self.rows) <= 24 else 0.9
        labels = [style.wrap(style.said(say, row.label), LABEL_WIDTH, size) for row in self.rows]
        heights = [style.height_of(label, size) + air for label in labels]
        n = len(self.columns)
        width = (style.TEXT_WIDTH - LABEL_WIDTH - n * GAP - RIGHT) / n
        heads = [style.wrap(style.said(say, c.label), width + GAP - 1.0, style.TICK) for c in self.columns]
        top = max(ABOVE, max(style.height_of(head, style.TICK) for head in heads) + 3.0)
        bottom = top + sum(heights)
        key = self._key(say)
        figure, sheet = style.figure(style.TEXT_WIDTH, bottom + BELOW + 4.2 * len(key))
        y, at = [], top
        for label, tall in zip(labels, heights):
            y.append(at + tall / 2)
            style.write(sheet, 0, y[-1], label, size=size)
            at += tall
            if at < bottom - 0.1:
                sheet.plot([0, style.TEXT_WIDTH], [at, at], color=style.HAIRLINE, lw=style.HAIR, zorder=0)
        for k, (column, head) in enumerate(zip(self.columns, heads)):
            left = LABEL_WIDTH + GAP + k * (width + GAP)
            how = {"size": style.TICK, "weight": style.SEMIBOLD, "va": "bottom", "ha": "center"}
            style.write(sheet, left + width / 2, top - 1.6, head, multialignment="center", **how)
            plot = style.panel(figure, left, top, width, bottom - top)
            plot.set(xlim=(column.low, column.high), ylim=(bottom, top))
            self._frame(say, plot, column)
            for i, row in enumerate(self.rows):
                cell = row.cells[k]
                if cell is not None:
                    label = numbers.of_mark(
                        say,
                        cell.estimate,
                        "number",
                        style.said(say, row.label),
                        style.said(say, column.label),
                    )
                    self._mark(say, plot, cell, y[i], column, f"{i}-{k}", heights[i], label)
        for i, text in enumerate(key):
            line = bottom + BELOW + 4.2 * (i + 0.5)
            if i == 0 and self.reference:
                sheet.plot([1.0, 1.0], [line - 1.3, line + 1.3], color=style.RUST, lw=style.LINE)
            style.write(sheet, 3.0 if self.reference else 0.0, line, text, size=style.SMALL, color=style.MUTE)
        return figure

    def _key(self, say: Catalogue) -> list[str]:
        named = any(c is not None and isfinite(c.reference) for row in self.rows for c in row.cells)
        if not named or not self.reference:
            return []
        text = style.said(say, self.reference)
        return style.wrap(text, style.TEXT_WIDTH - 3.0, style.SMALL).split("\n")

    def _frame(self, say: Catalogue, plot: "Axes", column: MeasureColumn) -> None:
        middle = (column.low + column.high) / 2
        ends = (column.low, middle, column.high)
        plot.set_xticks(ends, [numbers.plain(say, end) for end in ends])
        plot.tick_params(axis="x", length=2, width=style.HAIR, color=style.MUTE)
        for end in ends:
            plot.axvline(end, color=style.HAIRLINE, lw=style.HAIR, zorder=0)

    def _mark(
        self,
        say: Catalogue,
        plot: "Axes",
        cell: Cell,
        y: float,
        column: MeasureColumn,
        name: str,
        room: float,
        label: str,
    ) -> None:
        e = cell.estimate
        if isnan(e.value):
            text = style.said(say, cell.reason) or say("figure.measures.undefined")
            middle = (column.low + column.high) / 2
            paper = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.6}
            how: dict[str, Any] = {"size": style.SMALLEST, "color": style.MUTE, "ha": "center", "bbox": paper}
            style.write(plot, middle, y, text, zorder=4, **how)
            return
        if isfinite(cell.reference):
            half = min(0.38 * room, 1.6)
            at = [min(max(cell.reference, column.low), column.high)] * 2
            stroke: dict[str, Any] = {"color": style.RUST, "lw": style.LINE, "zorder": 1.8, "clip_on": False}
            plot.plot(at, [y - half, y + half], gid=f"reference-{name}", **stroke)
        if isfinite(e.low) and isfinite(e.high):
            ends = [min(max(end, column.low), column.high) for end in (e.low, e.high)]
            line: dict[str, Any] = {"color": style.FAINT, "lw": style.LINE, "zorder": 2, "clip_on": False}
            plot.plot(ends, [y, y], gid=f"interval-{name}", **line)
        glyph = {"marker": "o", "ms": 4.2, "mfc": style.BLUE, "mec": style.BLUE, "mew": 0.4}
        style.mark(plot, e.value, y, f"mark-{name}", label=label, **glyph)
