"""Groups of cases of several sets: a row a set, a mark a group, a column a measure, a block an attribute."""

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

# Millimetres.
LINE, AIR = 3.3, 1.8  # of one mark, and around the marks of a row
HEAD = 5.6  # of a line of the key of a block
WIDEST, NARROWEST = 38.0, 14.0  # the column of labels
GAP, RIGHT, BELOW = 7.0, 3.0, 6.5
GLYPH, SPACE = 3.2, 5.0  # of an entry of a key, before and after its text

MARK = 4.0  # points


@dataclass(frozen=True, slots=True)
class GroupMeasure:
    """A measure, and the ends of what is possible; `null` is where a line stands, NaN for none."""

    label: Message | str
    least: float = 0.0
    most: float = 1.0
    null: float = nan


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A set: for each group of the block its estimates, a measure each, and those of all its cases."""

    label: Message | str
    groups: tuple[tuple[Estimate | None, ...], ...]
    overall: tuple[Estimate | None, ...]


@dataclass(frozen=True, slots=True)
class GroupBlock:
    """An attribute: its groups by name, and a row for each set."""

    label: Message | str
    groups: tuple[Message | str, ...]
    rows: tuple[GroupRow, ...]


@dataclass(frozen=True, slots=True)
class GroupRows:
    """Blocks below each other on axes that they share; the groups of a block differ in shape and colour.

    `overall` says what the upright stroke through a row is.
    """

    measures: tuple[GroupMeasure, ...]
    blocks: tuple[GroupBlock, ...]
    overall: Message | str

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per attribute, set, group and measure."""
        return [
            {
                "attribute": style.label_text(say, block.label),
                "label": style.label_text(say, row.label),
                "group": style.label_text(say, name),
                "measure": style.label_text(say, measure.label),
                "value": e.value,
                "low": e.low,
                "high": e.high,
                "n": e.n,
                "reference": nan if whole is None else whole.value,
            }
            for block in self.blocks
            for row in block.rows
            for name, estimates in zip(block.groups, row.groups)
            for measure, e, whole in zip(self.measures, estimates, row.overall)
            if e is not None and isfinite(e.value)
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        said = [style.label_text(say, row.label) for block in self.blocks for row in block.rows]
        room = max([style.width_of(text, style.TICK) for text in said] + [NARROWEST - 2.0]) + 2.0
        names = min(room, WIDEST)
        k = len(self.measures)
        width = (style.TEXT_WIDTH - names - k * GAP - RIGHT) / k
        heads = [
            style.wrap(style.label_text(say, m.label), width + GAP - 2.0, style.TICK) for m in self.measures
        ]
        top = max(style.height_of(head, style.TICK) for head in heads) + 2.0
        keys = [_GroupKey(say, block) for block in self.blocks]
        tall = [max(LINE * len(block.groups) + AIR, 5.0) for block in self.blocks]
        bottom = top + sum(
            key.height + height * len(block.rows) for key, height, block in zip(keys, tall, self.blocks)
        )
        figure, sheet = style.figure(style.TEXT_WIDTH, bottom + BELOW + 4.0)
        lefts = [names + GAP + c * (width + GAP) for c in range(k)]
        for left, head in zip(lefts, heads):
            how: dict[str, Any] = {"size": style.TICK, "weight": style.SEMIBOLD, "va": "bottom"}
            style.write(sheet, left, top - 0.6, head, **how)
        axes = [self._axis(say, c, width) for c in range(k)]
        y = top
        for b, (block, key, height) in enumerate(zip(self.blocks, keys, tall)):
            key.write(sheet, y)
            y += key.height
            below = y + height * len(block.rows)
            plots = [style.panel(figure, left, y, width, below - y) for left in lefts]
            last = b == len(self.blocks) - 1
            for c, plot in enumerate(plots):
                ends, found = axes[c]
                plot.set(xlim=ends, ylim=(below, y))
                self._frame(plot, c, found, ticked=last)
            for i, row in enumerate(block.rows):
                sheet.plot([0, style.TEXT_WIDTH], [y, y], color=style.HAIRLINE, lw=style.HAIR, zorder=0)
                text = style.wrap(style.label_text(say, row.label), names - 1.0, style.TICK)
                style.write(sheet, 0, y + height / 2, text, size=style.TICK)
                for c, plot in enumerate(plots):
                    titles = (row.label, self.measures[c].label)
                    where = " · ".join(style.label_text(say, text) for text in titles)
                    said = [
                        numbers.of_mark(say, e, "number", where, style.label_text(say, group)) if e else ""
                        for group, e in zip(block.groups, (own[c] for own in row.groups))
                    ]
                    _row(plot, row, c, y, height, f"{b}-{i}-{c}", said)
                y += height
        line = bottom + BELOW + 2.0
        sheet.plot([1.0, 1.0], [line - 1.4, line + 1.4], color=style.MUTE, lw=style.LINE)
        style.write(sheet, 3.0, line, style.label_text(say, self.overall), size=style.SMALL, color=style.MUTE)
        return figure

    def _axis(self, say: Catalogue, c: int, width: float) -> tuple[tuple[float, float], ticks.Ticks]:
        measure = self.measures[c]
        own = [groups[c] for block in self.blocks for row in block.rows for groups in row.groups]
        own += [row.overall[c] for block in self.blocks for row in block.rows]
        shown = [x for e in own if e is not None for x in (e.value, e.low, e.high)]
        return ticks.fitted(
            [*shown, measure.null],
            width,
            lambda x: numbers.plain(say, round(x, 10)),
            measure.least,
            measure.most,
        )

    def _frame(self, plot: "Axes", c: int, found: ticks.Ticks, *, ticked: bool) -> None:
        for x in found[0]:
            plot.axvline(x, color=style.HAIRLINE, lw=style.HAIR, zorder=0)
        low, high = plot.get_xlim()
        null = self.measures[c].null
        if low <= null <= high:
            plot.axvline(null, color=style.INK, lw=style.THIN, zorder=0.5)
        plot.spines["bottom"].set_visible(ticked)
        if ticked:
            plot.set_xticks(*found)
            plot.tick_params(axis="x", length=2, width=style.HAIR, color=style.MUTE)


def _row(
    plot: "Axes", row: GroupRow, c: int, y: float, height: float, name: str, said: Sequence[str]
) -> None:
    whole = row.overall[c]
    if whole is not None and isfinite(whole.value):
        ends = [y + 0.6, y + height - 0.6]
        how: dict[str, Any] = {"color": style.MUTE, "lw": style.LINE, "zorder": 1.5}
        plot.plot([whole.value] * 2, ends, gid=f"overall-{name}", **how)
    first = y + (height - LINE * len(row.groups)) / 2 + LINE / 2
    for g, estimates in enumerate(row.groups):
        e = estimates[c]
        if e is None or isnan(e.value):
            continue
        at, glyph = first + g * LINE, style.series(g)
        if isfinite(e.low) and isfinite(e.high):
            how = {"color": glyph["mec"], "lw": style.THIN, "zorder": 2}
            low, high = plot.get_xlim()
            plot.plot([max(e.low, low), min(e.high, high)], [at, at], gid=f"interval-{name}-{g}", **how)
        style.mark(plot, e.value, at, f"mark-{name}-{g}", label=said[g], ms=MARK, **glyph)


class _GroupKey:
    """The name of an attribute, and its groups with their marks, on as many lines as they need."""

    def __init__(self, say: Catalogue, block: GroupBlock) -> None:
        self.title = style.label_text(say, block.label)
        self.lines: list[list[tuple[float, int, str]]] = [[]]
        x = style.width_of(self.title, style.TICK, style.SEMIBOLD) + SPACE
        start = x if x < style.TEXT_WIDTH / 2 else 0.0
        for g, name in enumerate(block.groups):
            text = style.label_text(say, name)
            wide = GLYPH + style.width_of(text, style.TICK) + SPACE
            if x + wide - SPACE > style.TEXT_WIDTH and (self.lines[-1] or x > start):
                self.lines.append([])
                x = start
            self.lines[-1].append((x, g, text))
            x += wide
        self.height = HEAD * len(self.lines) + 1.0

    def write(self, sheet: "Axes", top: float) -> None:
        """The key from this height on."""
        y = top + 1.0 + HEAD / 2
        style.write(sheet, 0, y, self.title, size=style.TICK, weight=style.SEMIBOLD)
        for line in self.lines:
            for x, g, text in line:
                sheet.plot([x + 1.0], [y], ls="none", ms=MARK, **style.series(g))
                style.write(sheet, x + GLYPH, y, text, size=style.TICK, color=style.MUTE)
            y += HEAD
