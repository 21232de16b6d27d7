"""Measures of several sets: a row a set, a column a measure; of all its cases, or of its groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import Any

from trustreport.figures import numbers, style
from trustreport.figures.layout import measure_columns, rule
from trustreport.figures.panels import Chart, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message
from trustreport.vocabulary.quantity import Quantity

MOST_ROWS = 40
# Millimetres.
WIDEST, NARROWEST = 44.0, 16.0  # the column of labels
GAP, RIGHT, BELOW = 6.0, 3.0, 7.0
# Of groups: a line of one mark, what is around the marks of a row, a line of the key of a block.
LINE, AIR, HEAD, TICKS = 3.3, 1.2, 5.0, 4.4
COUNT, GROUP_GAP = 7.0, 11.0  # room of a number of cases beside a panel, and between panels
GLYPH, SPACE = 3.2, 5.0  # of an entry of a key, before and after its text
MARK = 4.0  # points


@dataclass(frozen=True, slots=True)
class MeasureColumn:
    """A measure, and the ends of what is possible; its axis fits its values, and those of others in its unit.

    `null` is where the line of no effect stands, NaN for none, and `better` the side that is: up or down.
    """

    label: Message | str
    least: float = 0.0
    most: float = 1.0
    null: float = nan
    scale: numbers.Scale = "number"
    better: str = ""

    @classmethod
    def of_unit(cls, label: Message | str, row: Quantity) -> "MeasureColumn":
        """The column of a quantity, in its unit."""
        scale, none = numbers.SCALES.get(row.written, "number"), row.no_effect
        better = row.better if none is not None and isinstance(row.better, str) else ""
        return cls(label, row.low, row.high, nan if none is None else none, scale, better)


def _axes(
    say: Catalogue, columns: Sequence[MeasureColumn], shown: Sequence[Sequence[float]], width: float
) -> Iterator[tuple[tuple[float, float], numbers.Ticks]]:
    """The ends and ticks of each column, of what it shows: those in per cent or points share a scale."""
    for column, own in zip(columns, shown):
        values = [*own, column.null]
        if column.scale != "number":
            alike = (v for other, v in zip(columns, shown) if other.scale == column.scale)
            values = [x for v in alike for x in v] + [column.null]
        text = numbers.tick(say, column.scale)
        yield numbers.fitted_ticks(values, width, text, column.least, column.most)


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
class MeasuresChart(Chart):
    """Dots with intervals on axes that all rows share; what is undefined says so in its place.

    `reference` names the small upright stroke, where any cell has one.
    """

    columns: tuple[MeasureColumn, ...]
    rows: tuple[MeasureRow, ...]
    reference: Message | str = ""

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per set and measure."""
        return [
            numbers.entry(say, cell.estimate, "n", label=row.label, measure=column.label)
            | {"reference": cell.reference}
            for row in self.rows
            for column, cell in zip(self.columns, row.cells)
            if cell is not None
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        size = style.TICK if len(self.rows) <= 24 else style.SMALLEST
        air = 2.4 if len(self.rows) <= 12 else 1.5 if len(self.rows) <= 24 else 0.9
        said = [style.label(say, row.label) for row in self.rows]
        names = min(max(*(style.width_of(text, size) for text in said), NARROWEST), WIDEST)
        labels = [style.wrap(text, names, size) for text in said]
        heights = [style.height_of(label, size) + air for label in labels]
        width, lefts = measure_columns(names, len(self.columns), GAP, RIGHT)
        heads = [style.wrap(style.label(say, c.label), width + GAP - 1.0, style.TICK) for c in self.columns]
        top = max(8.0, max(style.height_of(head, style.TICK) for head in heads) + 3.0)
        bottom = top + sum(heights)
        key = self._key(say)
        sheet = PlotSheet(bottom + BELOW + 4.2 * len(key))
        y, at = [], top
        for label, tall in zip(labels, heights):
            y.append(at + tall / 2)
            sheet.write(0, y[-1], label, size=size)
            at += tall
            if at < bottom - 0.1:
                rule(sheet, at)
        shown = [
            [x for c in cells if c for x in (*_ends(c.estimate), c.reference)]
            for cells in zip(*(row.cells for row in self.rows))
        ]
        axes = list(_axes(say, self.columns, shown, width))
        for k, (column, head, left) in enumerate(zip(self.columns, heads, lefts)):
            how = {"va": "bottom", "ha": "center", "multialignment": "center", **style.HEADING}
            sheet.write(left + width / 2, top - 1.6, head, **how)
            plot = sheet.panel(left, top, width, bottom - top)
            own = [row.cells[k] for row in self.rows]
            ends, found = axes[k]
            plot.x_axis(ends)
            plot.y_axis((bottom, top), line=False)
            plot.ticks(found)
            plot.grid(found[0])
            for i, cell in enumerate(own):
                if cell is not None:
                    titles = said[i], style.label(say, column.label)
                    self._mark(say, plot, cell, y[i], f"{i}-{k}", heights[i], column.scale, titles)
        for i, text in enumerate(key):
            line = bottom + BELOW + 4.2 * (i + 0.5)
            if i == 0 and self.reference:
                sheet.plot([1.0, 1.0], [line - 1.3, line + 1.3], color=style.RUST, lw=style.LINE)
            sheet.write(3.0 if self.reference else 0.0, line, text, **style.MUTED)
        return sheet

    def _key(self, say: Catalogue) -> list[str]:
        named = any(c is not None and isfinite(c.reference) for row in self.rows for c in row.cells)
        if not named or not self.reference:
            return []
        text = style.label(say, self.reference)
        return style.wrap(text, style.TEXT_WIDTH - 3.0, style.SMALL).split("\n")

    def _mark(
        self, say: Catalogue, plot: PlotPanel, cell: MeasureCell, y: float, name: str, room: float,
        scale: numbers.Scale, titles: tuple[str, str],
    ) -> None:  # fmt: skip
        e = cell.estimate
        if isnan(e.value):
            text = style.label(say, cell.reason) or say("figure.measures.undefined")
            how: dict[str, Any] = {"ha": "center", "bbox": {**style.ON_PAPER, "pad": 0.6}, "zorder": 4}
            plot.write(sum(plot.axes.get_xlim()) / 2, y, text, **how, **style.TINY)
            return
        if isfinite(cell.reference):
            half, at = min(0.38 * room, 1.6), plot.clipped(cell.reference)
            stroke: dict[str, Any] = {"color": style.RUST, "lw": style.LINE, "zorder": 1.8}
            plot.line(((at, y - half), (at, y + half)), f"reference-{name}", clip_on=False, **stroke)
        plot.interval(e.low, e.high, y, f"interval-{name}", clip_on=False)
        title = numbers.of_mark(say, e, scale, *titles)
        plot.mark(e.value, y, f"mark-{name}", label=title, marker="o", ms=4.2, **style.filled(style.BLUE))


def _ends(e: Estimate) -> tuple[float, float, float]:
    return e.value, e.low, e.high


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
class GroupRows(Chart):
    """Blocks below each other on axes that they share; the groups of a block differ in shape and colour.

    Beside each mark is its n; `overall` says what the upright stroke through a row is.
    """

    measures: tuple[MeasureColumn, ...]
    blocks: tuple[GroupBlock, ...]
    overall: Message | str

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per attribute, set, group and measure."""
        return [
            numbers.entry(
                say, e, "n", attribute=block.label, label=row.label, group=name, measure=measure.label
            )
            | {"reference": nan if whole is None else whole.value}
            for block in self.blocks
            for row in block.rows
            for name, estimates in zip(block.groups, row.groups)
            for measure, e, whole in zip(self.measures, estimates, row.overall)
            if e is not None and isfinite(e.value)
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        said = [style.label(say, row.label) for block in self.blocks for row in block.rows]
        room = max([style.width_of(text, style.TICK) for text in said] + [12.0]) + 2.0
        names = min(room, 38.0)
        width, lefts = measure_columns(names, len(self.measures), GROUP_GAP, COUNT)
        heads = [
            style.wrap(style.label(say, m.label), width + GROUP_GAP - 2.0, style.TICK) for m in self.measures
        ]
        top = max(style.height_of(head, style.TICK) for head in heads) + 2.0
        keys = [_GroupKey(say, block) for block in self.blocks]
        tall = [max(LINE * len(block.groups) + AIR, 5.0) for block in self.blocks]
        bottom = top + sum(
            key.height + height * len(block.rows) + TICKS
            for key, height, block in zip(keys, tall, self.blocks)
        )
        sheet = PlotSheet(bottom + 5.5)
        for left, head in zip(lefts, heads):
            sheet.write(left, top - 0.6, head, va="bottom", **style.HEADING)
            right: dict[str, Any] = {"va": "bottom", "ha": "right", **style.TINY}
            sheet.write(left + width + COUNT, top - 0.6, say("figure.value.n"), **right)
        axes = list(_axes(say, self.measures, [self._shown(c) for c in range(len(self.measures))], width))
        y = top
        for b, (block, key, height) in enumerate(zip(self.blocks, keys, tall)):
            key.write(sheet, y)
            y += key.height
            below = y + height * len(block.rows)
            plots = [sheet.panel(left, y, width, below - y) for left in lefts]
            for measure, plot, (ends, found) in zip(self.measures, plots, axes):
                plot.x_axis(ends)
                plot.y_axis((below, y), line=False)
                plot.grid(found[0])
                if ends[0] <= measure.null <= ends[1]:
                    plot.axes.axvline(measure.null, color=style.INK, lw=style.THIN, zorder=0.5)
                plot.ticks(found)
            for i, row in enumerate(block.rows):
                rule(sheet, y)
                label = style.label(say, row.label)
                sheet.write(0, y + height / 2, style.wrap(label, names - 1.0, style.TICK), **style.AXIS)
                for c, (measure, plot) in enumerate(zip(self.measures, plots)):
                    where = f"{label} · {style.label(say, measure.label)}"
                    said = [
                        numbers.of_mark(say, e, measure.scale, where, style.label(say, group)) if e else ""
                        for group, e in zip(block.groups, (own[c] for own in row.groups))
                    ]
                    _row(plot, row, c, y, height, f"{b}-{i}-{c}", said)
                y += height
            y += TICKS
        line = bottom + 3.5
        sheet.plot([1.0, 1.0], [line - 1.4, line + 1.4], color=style.MUTE, lw=style.LINE)
        sheet.write(3.0, line, style.label(say, self.overall), **style.MUTED)
        for measure, left in zip(self.measures, lefts):
            if measure.better:
                x, ha = (left + width, "right") if measure.better == "up" else (left, "left")
                sheet.write(x, line, numbers.towards_better(say, measure.better), ha=ha, **style.TINY)
        return sheet

    def _shown(self, c: int) -> list[float]:
        """What is drawn of a measure in all blocks."""
        own = [each[c] for block in self.blocks for row in block.rows for each in (*row.groups, row.overall)]
        return [x for e in own if e is not None for x in _ends(e)]


def _row(
    plot: PlotPanel, row: GroupRow, c: int, y: float, height: float, name: str, said: Sequence[str]
) -> None:
    whole = row.overall[c]
    if whole is not None and isfinite(whole.value):
        ends = (whole.value, y + 0.6), (whole.value, y + height - 0.6)
        plot.line(ends, f"overall-{name}", color=style.MUTE, lw=style.LINE, zorder=1.5)
    first = y + (height - LINE * len(row.groups)) / 2 + LINE / 2
    for g, estimates in enumerate(row.groups):
        e = estimates[c]
        if e is None or isnan(e.value):
            continue
        at, glyph = first + g * LINE, style.series(g)
        plot.interval(e.low, e.high, at, f"interval-{name}-{g}", color=glyph["mec"], lw=style.THIN)
        plot.mark(e.value, at, f"mark-{name}-{g}", label=said[g], ms=MARK, **glyph)
        if e.n:
            x = 1 + COUNT / plot.width
            where: dict[str, Any] = {"transform": plot.axes.get_yaxis_transform(), "ha": "right"}
            plot.write(x, at, str(e.n), **where, **style.TINY)


class _GroupKey:
    """The name of an attribute, and its groups with their marks, on as many lines as they need."""

    def __init__(self, say: Catalogue, block: GroupBlock) -> None:
        self.title = say.declared(style.label(say, block.label))
        self.texts = [style.label(say, name) for name in block.groups]
        widths = (GLYPH + style.width_of(text, style.TICK) for text in self.texts)
        after = style.width_of(self.title, style.TICK, style.SEMIBOLD) + SPACE
        start = after if after < style.TEXT_WIDTH / 2 else 0.0
        self.places = style.flowed(widths, SPACE, start=start, first=after)
        self.height = HEAD * (self.places[-1][0] + 1) + 1.0

    def write(self, sheet: PlotSheet, top: float) -> None:
        """The key from this height on."""
        middle = top + 1.0 + HEAD / 2
        sheet.write(0, middle, self.title, **style.HEADING)
        for g, (text, (line, x)) in enumerate(zip(self.texts, self.places)):
            y = middle + HEAD * line
            sheet.plot([x + 1.0], [y], ls="none", ms=MARK, **style.series(g))
            sheet.write(x + GLYPH, y, text, color=style.MUTE, **style.AXIS)
