"""Rows of a label, a mark on a shared axis, and a number: the layout of effects and of error rates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trustreport.figures import numbers, style
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 5.0
LABEL_WIDTH = 52.0
NUMBER_WIDTH = 48.0
LEAST_LABEL_WIDTH = 24.0


@dataclass(frozen=True, slots=True)
class RowText:
    """What is written of a row. `reason` stands in the plot where no mark can."""

    label: str
    number: str
    note: str = ""
    reason: str = ""
    leads: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class Columns:
    """The figure laid out: `plot` has the rows' heights `y` as its y axis, in millimetres like the sheet."""

    figure: "Figure"
    sheet: "Axes"
    plot: "Axes"
    y: tuple[float, ...]
    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class _Row:
    group: str
    label: str
    note: str
    reason: str
    number: str
    height: float


@dataclass(frozen=True, slots=True)
class _Set:
    """The texts broken into lines at one size, and where the columns then lie."""

    size: float
    label_left: float
    left: float
    right: float
    header: str
    rows: tuple[_Row, ...]
    group_heights: dict[str, float]
    height: float


def lay_out(
    lines: Sequence[RowText], header: str, *, above: float, below: Callable[[float, float], float]
) -> Columns:
    """Set labels and numbers of all rows; the type shrinks a little where the page would be too short.

    `below` says how much room the axis needs below a plot between two places of the sheet.
    """
    for size in (style.LABEL, 7.2, style.SMALLEST):
        done = _set(lines, header, size)
        if above + done.height + below(done.left, done.right) <= style.PAGE_HEIGHT:
            break
    header_height = style.height_of(done.header, style.SMALL)
    top = max(above, header_height + 2.0)
    bottom = top + done.height
    figure, sheet = style.figure(style.TEXT_WIDTH, bottom + below(done.left, done.right))
    plot = style.panel(figure, done.left, top, done.right - done.left, done.height)
    plot.set_ylim(bottom, top)
    how = {"size": style.SMALL, "color": style.MUTE, "ha": "right", "va": "bottom", "multialignment": "right"}
    style.write(sheet, style.TEXT_WIDTH, top - 1.5, done.header, **how)
    y = _write_rows(sheet, done, lines, top)
    return Columns(figure, sheet, plot, tuple(y), done.left, done.right, top, bottom)


def _set(lines: Sequence[RowText], header: str, size: float) -> _Set:
    small = max(size - 1.0, style.SMALLEST)
    weights = [style.SEMIBOLD if line.leads else style.REGULAR for line in lines]
    numbers = [style.wrap(line.number, NUMBER_WIDTH, size, w) for line, w in zip(lines, weights)]
    number_width = max(style.width_of(n, size, w) for n, w in zip(numbers, weights))
    header = style.wrap(header, max(number_width, 30.0), style.SMALL)
    number_width = max(number_width, style.width_of(header, style.SMALL))

    groups = list(dict.fromkeys(line.group for line in lines))
    widest_group = max(style.width_of(group, size, style.SEMIBOLD) for group in groups)
    group_width = min(widest_group, LABEL_WIDTH * 0.62)
    label_left = group_width + 4.0 if widest_group else 0.0
    widest = max(style.width_of(line.label, size, w) for line, w in zip(lines, weights))
    label_width = min(max(widest, LEAST_LABEL_WIDTH - label_left), LABEL_WIDTH - label_left * 0.6)
    left = label_left + label_width + GAP
    right = style.TEXT_WIDTH - number_width - GAP

    air = 1.4 if len(lines) > 20 else 2.4 if len(lines) > 10 else 3.8
    rows = []
    for line, weight, number in zip(lines, weights, numbers):
        label = style.wrap(line.label, label_width, size, weight)
        note = style.wrap(line.note, label_width, small)
        reason = style.wrap(line.reason, right - left, small)
        written = style.height_of(label, size) + style.height_of(note, small)
        height = max(written, style.height_of(reason, small), style.height_of(number, size)) + air
        group = style.wrap(line.group, group_width, size, style.SEMIBOLD)
        rows.append(_Row(group, label, note, reason, number, height))

    heights = {}
    for group in groups:
        text = style.wrap(group, group_width, size, style.SEMIBOLD)
        inside = sum(row.height for row, line in zip(rows, lines) if line.group == group)
        heights[group] = max(inside, style.height_of(text, size) + air) + (air if widest_group else 0)
    return _Set(size, label_left, left, right, header, tuple(rows), heights, sum(heights.values()))


def _write_rows(sheet: "Axes", done: _Set, lines: Sequence[RowText], top: float) -> list[float]:
    """Write the rows below each other, group by group; the height of each row's middle in the order given."""
    small = max(done.size - 1.0, style.SMALLEST)
    y = [0.0] * len(lines)
    start = top
    for group, group_height in done.group_heights.items():
        members = [i for i, line in enumerate(lines) if line.group == group]
        spare = group_height - sum(done.rows[i].height for i in members)
        middle = start + group_height / 2
        if group:
            style.write(sheet, 0, middle, done.rows[members[0]].group, size=done.size, weight=style.SEMIBOLD)
            if start > top:
                sheet.plot([0, style.TEXT_WIDTH], [start, start], color=style.HAIRLINE, lw=style.HAIR)
        at = start + spare / 2
        for i in members:
            row, line = done.rows[i], lines[i]
            y[i] = at + row.height / 2
            at += row.height
            how: dict[str, Any] = {
                "size": done.size,
                "weight": style.SEMIBOLD if line.leads else style.REGULAR,
            }
            remark = {"size": small, "color": style.MUTE}
            label, note = style.height_of(row.label, done.size), style.height_of(row.note, small)
            style.write(sheet, done.label_left, y[i] - note / 2, row.label, **how)
            if row.note:
                style.write(sheet, done.label_left, y[i] + label / 2, row.note, **remark)
            style.write(sheet, style.TEXT_WIDTH, y[i], row.number, ha="right", multialignment="right", **how)
            if row.reason:  # its paper covers the line of no effect
                paper = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 1}
                style.write(sheet, done.left, y[i], row.reason, zorder=5, bbox=paper, **remark)
        start += group_height
    return y


def header(say: Catalogue, quantity: str, estimates: Sequence[Estimate]) -> str:
    """What the number column holds, with the level of the intervals where all have the same."""
    levels = {shown.level for shown in estimates}
    if len(levels) != 1:
        return say("figure.header_no_level", quantity=quantity)
    return say("figure.header", quantity=quantity, level=numbers.plain(say, round(100 * levels.pop(), 6)))


def tick(plot: "Axes", found: tuple[tuple[float, ...], tuple[str, ...]]) -> None:
    """Short thin ticks with their labels below the plot."""
    values, labels = found
    plot.set_xticks(values, labels)
    plot.set_xticks([], minor=True)
    plot.tick_params(axis="x", length=2, width=style.HAIR, color=style.MUTE)


def line_of_no_effect(drawn: Columns, x: float) -> None:
    """A thin dark line through all rows and a little above them."""
    beyond = 1 + 2.0 / (drawn.bottom - drawn.top)
    drawn.plot.axvline(
        x, ymax=beyond, color=style.INK, lw=style.THIN, clip_on=False, zorder=1, gid="no-effect"
    )
