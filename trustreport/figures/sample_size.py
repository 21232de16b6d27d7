"""Minimum sample sizes: how much of what each measure needs a site has, a bar each."""

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from trustreport.figures import style
from trustreport.figures.external_performance import REACHED, share
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SITES = 20
# Millimetres.
NAME, GAP, RIGHT = 46.0, 3.5, 1.5
BAR, ROW = 2.2, 9.0
CUT = 1.6  # a longer bar ends here, with an arrow head


@dataclass(frozen=True, slots=True)
class SizeRow:
    """One site: its cases, and the cases that each measure needs, in the order of the columns."""

    label: Message | str
    n: int
    needed: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class SampleSizes:
    """A row per site, a column per measure: teal bars reach the minimum, pale ones do not."""

    measures: tuple[Message | str, ...]
    rows: tuple[SizeRow, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per site and measure."""
        return [
            {
                "label": style.label_text(say, row.label),
                "measure": style.label_text(say, measure),
                "value": needed.value,
                "n": row.n,
                "reached": row.n / needed.value,
            }
            for row in self.rows
            for measure, needed in zip(self.measures, row.needed)
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        k = len(self.measures)
        said = [self._name(say, row) for row in self.rows]
        label = min(max(style.width_of(name, style.TICK) for name in said) + 2.0, NAME)
        width = (style.TEXT_WIDTH - label - RIGHT - k * GAP) / k
        heads = [style.wrap(style.label_text(say, m), width, style.SMALL) for m in self.measures]
        head = max(style.height_of(text, style.SMALL) for text in heads) + 3.0
        names = [style.wrap(name, label - 2.0, style.TICK) for name in said]
        heights = [max(ROW, style.height_of(name, style.TICK) + 2.0) for name in names]
        bottom = head + sum(heights)
        key = style.wrap(say("figure.sample_size.key"), style.TEXT_WIDTH, style.SMALL)
        figure, sheet = style.figure(style.TEXT_WIDTH, bottom + 4.0 + style.height_of(key, style.SMALL))
        for m, text in enumerate(heads):
            left = label + m * (width + GAP) + GAP
            how: dict[str, Any] = {"size": style.SMALL, "color": style.MUTE, "va": "bottom"}
            style.write(sheet, left, head - 1.6, text, **how)
            plot = style.panel(figure, left, head, width, bottom - head)
            plot.set(xlim=(0, CUT), ylim=(bottom, head))
            plot.spines["bottom"].set_visible(False)
            y = head
            for i, row in enumerate(self.rows):
                # Beside the bar alone: what it says stands over it.
                least = [y + heights[i] / 2 - 0.1, y + heights[i]]
                plot.plot([1, 1], least, color=style.INK, lw=style.THIN, zorder=2.5, gid=f"minimum-{i}-{m}")
                _bar(say, plot, row, m, f"{i}-{m}", y + heights[i] / 2)
                y += heights[i]
        y = head
        for name, height in zip(names, heights):
            sheet.plot([0, style.TEXT_WIDTH], [y, y], color=style.HAIRLINE, lw=style.HAIR, zorder=0)
            style.write(sheet, 0, y + height / 2, name, size=style.TICK)
            y += height
        style.write(sheet, 0, bottom + 2.4, key, size=style.SMALL, color=style.MUTE, va="top")
        return figure

    def _name(self, say: Catalogue, row: SizeRow) -> str:
        return say("figure.sample_size.site", name=style.label_text(say, row.label), n=row.n)


def _bar(say: Catalogue, plot: "Axes", row: SizeRow, m: int, name: str, y: float) -> None:
    needed = row.needed[m]
    how: dict[str, Any] = {"size": style.SMALLEST, "color": style.MUTE, "zorder": 3}
    if isnan(needed.value):
        style.write(plot, 0.0, y - 1.7, say("figure.not_estimable"), **how)
        return
    reached = row.n / needed.value
    enough = reached >= REACHED
    end = min(reached, CUT)
    low, high = y + 0.5, y + 0.5 + BAR
    fill = style.TEAL if enough else style.FAINT
    plot.fill([0, end, end, 0], [low, low, high, high], fc=fill, lw=0, gid=f"bar-{name}", zorder=2)
    if reached > CUT:
        beyond = {"marker": ">", "ms": 4.0, "mew": 0, "mfc": style.TEAL}
        style.mark(plot, CUT, (low + high) / 2, f"beyond-{name}", **beyond)
    text = say("figure.sample_size.of", share=share(say, reached), needed=needed.value)
    style.write(plot, 0.0, y - 1.7, text, **how)
