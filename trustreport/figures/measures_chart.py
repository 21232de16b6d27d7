"""Measures of several sets side by side: a row a set, a column a measure, marks with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from trustreport.figures import numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 40
# Millimetres.
WIDEST, NARROWEST = 44.0, 16.0  # the column of labels
GAP, RIGHT = 6.0, 3.0
ABOVE, BELOW = 8.0, 7.0


@dataclass(frozen=True, slots=True)
class MeasureColumn:
    """A measure, and the ends of what is possible; its axis fits its values."""

    label: Message | str
    least: float = 0.0
    most: float = 1.0


@dataclass(frozen=True, slots=True)
class MeasureCell:
    """A measure of a set; `reference` is what to hold it against, `reason` says why it is undefined."""

    estimate: Estimate
    reference: float = nan
    reason: Message | str = ""


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A set; a cell for each column, None where it has no such measure."""

    label: Message | str
    cells: tuple[MeasureCell | None, ...]


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
                "label": style.label_text(say, row.label),
                "measure": style.label_text(say, column.label),
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
        said = [style.label_text(say, row.label) for row in self.rows]
        widest = max(style.width_of(text, size) for text in said)
        names = min(max(widest, NARROWEST), WIDEST)
        labels = [style.wrap(text, names, size) for text in said]
        heights = [style.height_of(label, size) + air for label in labels]
        n = len(self.columns)
        width = (style.TEXT_WIDTH - names - n * GAP - RIGHT) / n
        heads = [
            style.wrap(style.label_text(say, c.label), width + GAP - 1.0, style.TICK) for c in self.columns
        ]
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
            left = names + GAP + k * (width + GAP)
            how = {"size": style.TICK, "weight": style.SEMIBOLD, "va": "bottom", "ha": "center"}
            style.write(sheet, left + width / 2, top - 1.6, head, multialignment="center", **how)
            plot = style.panel(figure, left, top, width, bottom - top)
            own = [row.cells[k] for row in self.rows]
            ends, found = ticks.fitted(
                _values(own), width, lambda x: numbers.plain(say, round(x, 10)), column.least, column.most
            )
            plot.set(xlim=ends, ylim=(bottom, top))
            _frame(plot, found)
            for i, cell in enumerate(own):
                if cell is not None:
                    self._mark(say, plot, cell, y[i], f"{i}-{k}", heights[i], (said[i], column.label))
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
        text = style.label_text(say, self.reference)
        return style.wrap(text, style.TEXT_WIDTH - 3.0, style.SMALL).split("\n")

    def _mark(
        self,
        say: Catalogue,
        plot: "Axes",
        cell: MeasureCell,
        y: float,
        name: str,
        room: float,
        titles: tuple[str, Message | str],
    ) -> None:
        e = cell.estimate
        left, right = plot.get_xlim()
        if isnan(e.value):
            text = style.label_text(say, cell.reason) or say("figure.measures.undefined")
            middle = (left + right) / 2
            paper = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.6}
            how: dict[str, Any] = {"size": style.SMALLEST, "color": style.MUTE, "ha": "center", "bbox": paper}
            style.write(plot, middle, y, text, zorder=4, **how)
            return
        if isfinite(cell.reference):
            half = min(0.38 * room, 1.6)
            at = [min(max(cell.reference, left), right)] * 2
            stroke: dict[str, Any] = {"color": style.RUST, "lw": style.LINE, "zorder": 1.8, "clip_on": False}
            plot.plot(at, [y - half, y + half], gid=f"reference-{name}", **stroke)
        if isfinite(e.low) and isfinite(e.high):
            ends = [min(max(end, left), right) for end in (e.low, e.high)]
            line: dict[str, Any] = {"color": style.FAINT, "lw": style.LINE, "zorder": 2, "clip_on": False}
            plot.plot(ends, [y, y], gid=f"interval-{name}", **line)
        title = numbers.of_mark(say, e, "number", *(style.label_text(say, text) for text in titles))
        glyph: dict[str, Any] = {"marker": "o", "ms": 4.2, **style.filled(style.BLUE)}
        style.mark(plot, e.value, y, f"mark-{name}", label=title, **glyph)


def _values(cells: Sequence[MeasureCell | None]) -> list[float]:
    return [x for c in cells if c for x in (c.estimate.value, c.estimate.low, c.estimate.high, c.reference)]


def _frame(plot: "Axes", found: ticks.Ticks) -> None:
    plot.set_xticks(*found)
    plot.tick_params(axis="x", length=2, width=style.HAIR, color=style.MUTE)
    for x in found[0]:
        plot.axvline(x, color=style.HAIRLINE, lw=style.HAIR, zorder=0)
