"""Layouts of rows: a label, a mark on one axis and a number; or a label and a column for each measure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trustreport.estimate import Estimate
from trustreport.figures import numbers, style
from trustreport.figures.panel import Panel, Sheet
from trustreport.messages import Catalogue

GAP = 5.0
LABEL_WIDTH = 52.0
NUMBER_WIDTH = 48.0
LEAST_LABEL_WIDTH = 24.0


def rule(sheet: Sheet, y: float, colour: str = style.HAIRLINE) -> None:
    """A thin line across the sheet, between two rows."""
    sheet.plot([0, style.TEXT_WIDTH], [y, y], color=colour, lw=style.HAIR, zorder=0)


def columns_beside(names: float, n: int, gap: float, right: float) -> tuple[float, list[float]]:
    """The width of so many columns beside the names of the rows, and where each begins."""
    width = (style.TEXT_WIDTH - names - n * gap - right) / n
    return width, [names + gap + k * (width + gap) for k in range(n)]


@dataclass(frozen=True, slots=True)
class Text:
    """What is written of a row. `reason` stands in the plot where no mark can."""

    label: str
    number: str
    note: str = ""
    reason: str = ""
    leads: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class Columns:
    """The figure laid out: `plot` goes upward in millimetres of the sheet, `y` is the middle of each row."""

    sheet: Sheet
    plot: Panel
    y: tuple[float, ...]

    def level(self, x: float, name: str, beyond: float = 2.0, **how: Any) -> None:
        """An upright line through all rows and a little above them."""
        up = 1 + beyond / self.plot.height
        self.plot.axes.axvline(x, ymax=up, clip_on=False, zorder=1, gid=name, **how)

    def write_above(self, x: float, text: str, colour: str) -> None:
        """What a line is, above it and within the plot."""
        half = style.width_of(text, style.TICK) / 2
        middle = min(max(x, self.plot.left + half), self.plot.left + self.plot.width - half)
        how: dict[str, Any] = {"ha": "center", "color": colour, **style.AXIS}
        self.sheet.write(middle, self.plot.top - 4.2, text, **how)


@dataclass(frozen=True, slots=True)
class _Set:
    """The texts broken into lines at one size with the height of each row, and where the columns then lie."""

    size: float
    label_left: float
    left: float
    right: float
    header: str
    rows: tuple[tuple[Text, float], ...]
    group_heights: dict[str, float]

    @property
    def height(self) -> float:
        return sum(self.group_heights.values())


def _weight(line: Text) -> int:
    return style.SEMIBOLD if line.leads else style.REGULAR


def lay_out(
    lines: Sequence[Text], heading: str, *, above: float, below: Callable[[float, float], float]
) -> Columns:
    """Set labels and numbers of all rows; the type shrinks a little where the page would be too short.

    `below` says how much room the axis needs below a plot between two places of the sheet.
    """
    for size in (style.LABEL, 7.2, style.SMALLEST):
        done = _set(lines, heading, size)
        if above + done.height + below(done.left, done.right) <= style.PAGE_HEIGHT:
            break
    top = max(above, style.height_of(done.header, style.SMALL) + 2.0)
    bottom = top + done.height
    sheet = Sheet(bottom + below(done.left, done.right))
    plot = sheet.panel(done.left, top, done.right - done.left, done.height)
    plot.upward((bottom, top), line=False)
    how = {"ha": "right", "va": "bottom", "multialignment": "right", **style.MUTED}
    sheet.write(style.TEXT_WIDTH, top - 1.5, done.header, **how)
    return Columns(sheet, plot, tuple(_write_rows(sheet, done, lines, top)))


def _set(lines: Sequence[Text], header: str, size: float) -> _Set:
    small = max(size - 1.0, style.SMALLEST)
    written_numbers = [style.wrap(line.number, NUMBER_WIDTH, size, _weight(line)) for line in lines]
    number_width = max(style.width_of(n, size, _weight(line)) for n, line in zip(written_numbers, lines))
    header = style.wrap(header, max(number_width, 30.0), style.SMALL)
    number_width = max(number_width, style.width_of(header, style.SMALL))

    groups = list(dict.fromkeys(line.group for line in lines))
    widest_group = max(style.width_of(group, size, style.SEMIBOLD) for group in groups)
    group_width = min(widest_group, LABEL_WIDTH * 0.62)
    label_left = group_width + 4.0 if widest_group else 0.0
    widest = max(style.width_of(line.label, size, _weight(line)) for line in lines)
    label_width = min(max(widest, LEAST_LABEL_WIDTH - label_left), LABEL_WIDTH - label_left * 0.6)
    left = label_left + label_width + GAP
    right = style.TEXT_WIDTH - number_width - GAP

    air = 1.4 if len(lines) > 20 else 2.4 if len(lines) > 10 else 3.8
    rows = []
    for line, number in zip(lines, written_numbers):
        label = style.wrap(line.label, label_width, size, _weight(line))
        note = style.wrap(line.note, label_width, small)
        reason = style.wrap(line.reason, right - left, small)
        written = style.height_of(label, size) + style.height_of(note, small)
        height = max(written, style.height_of(reason, small), style.height_of(number, size)) + air
        group = style.wrap(line.group, group_width, size, style.SEMIBOLD)
        rows.append((Text(label, number, note, reason, line.leads, group), height))

    heights = {}
    for group in groups:
        text = style.wrap(group, group_width, size, style.SEMIBOLD)
        inside = sum(height for (_, height), line in zip(rows, lines) if line.group == group)
        heights[group] = max(inside, style.height_of(text, size) + air) + (air if widest_group else 0)
    return _Set(size, label_left, left, right, header, tuple(rows), heights)


def _write_rows(sheet: Sheet, done: _Set, lines: Sequence[Text], top: float) -> list[float]:
    """Write the rows below each other, group by group; the height of each row's middle in the order given."""
    remark: dict[str, Any] = {"size": max(done.size - 1.0, style.SMALLEST), "color": style.MUTE}
    y = [0.0] * len(lines)
    start = top
    for group, group_height in done.group_heights.items():
        members = [i for i, line in enumerate(lines) if line.group == group]
        spare = group_height - sum(done.rows[i][1] for i in members)
        if group:
            text = done.rows[members[0]][0].group
            sheet.write(0, start + group_height / 2, text, size=done.size, weight=style.SEMIBOLD)
            if start > top:
                sheet.plot([0, style.TEXT_WIDTH], [start, start], color=style.HAIRLINE, lw=style.HAIR)
        at = start + spare / 2
        for i in members:
            row, height = done.rows[i]
            y[i] = at + height / 2
            at += height
            how: dict[str, Any] = {"size": done.size, "weight": _weight(row)}
            label, note = style.height_of(row.label, done.size), style.height_of(row.note, remark["size"])
            sheet.write(done.label_left, y[i] - note / 2, row.label, **how)
            if row.note:
                sheet.write(done.label_left, y[i] + label / 2, row.note, **remark)
            sheet.write(style.TEXT_WIDTH, y[i], row.number, ha="right", multialignment="right", **how)
            if row.reason:  # its paper covers the line of no effect
                paper = {**style.ON_PAPER, "pad": 1}
                sheet.write(done.left, y[i], row.reason, zorder=5, bbox=paper, **remark)
        start += group_height
    return y


def number_header(say: Catalogue, quantity: str, estimates: Sequence[Estimate]) -> str:
    """What the number column holds, with the level of the intervals where all have the same."""
    if len({shown.level for shown in estimates}) != 1:
        return say("figure.header_no_level", quantity=quantity)
    return say("figure.header", quantity=quantity, level=numbers.level(say, estimates[0]))
