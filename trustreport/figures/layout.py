"""Layouts: rows of labels, marks and numbers; and names and discs of which none lies over another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin
from typing import Any

from trustreport.figures import numbers, style
from trustreport.figures.panels import PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue

GAP = 5.0
COUNT_GAP = 4.0  # before the column of n
LABEL_WIDTH = 60.0
NUMBER_WIDTH = 48.0
LEAST_LABEL_WIDTH = 24.0

Box = tuple[float, float, float, float]  # left, right, lower, upper; millimetres
Place = tuple[float, float]

DISC = 2.5  # across a mark
FURTHER = (3.0, 6.0, 9.0, 12.0, 15.0, 18.0)  # how far from its mark a name may go, with a line to it


def rule(sheet: PlotSheet, y: float, colour: str = style.HAIRLINE) -> None:
    """A thin line across the sheet, between two rows."""
    sheet.plot([0, style.TEXT_WIDTH], [y, y], color=colour, lw=style.HAIR, zorder=0)


def measure_columns(names: float, n: int, gap: float, right: float) -> tuple[float, list[float]]:
    """The width of so many columns beside the names of the rows, and where each begins."""
    width = (style.TEXT_WIDTH - names - n * gap - right) / n
    return width, [names + gap + k * (width + gap) for k in range(n)]


@dataclass(frozen=True, slots=True)
class Text:
    """What is written of a row. `reason` stands in the plot where no mark can, `n` at the end."""

    label: str
    number: str
    note: str = ""
    reason: str = ""
    leads: bool = False
    group: str = ""
    n: str = ""


@dataclass(frozen=True, slots=True)
class Columns:
    """The figure laid out: `plot` goes upward in millimetres of the sheet, `y` is the middle of each row."""

    sheet: PlotSheet
    plot: PlotPanel
    y: tuple[float, ...]

    def level(self, x: float, name: str, beyond: float = 2.0, **how: Any) -> None:
        """An upright line through all rows and a little above them."""
        up = 1 + beyond / self.plot.height
        self.plot.axes.axvline(x, ymax=up, clip_on=False, zorder=1, gid=name, **how)

    def write_above(self, x: float, text: str, colour: str) -> None:
        """What a line is, above it and within the plot."""
        half = style.width_of(text, style.TICK) / 2
        middle = min(max(x, self.plot.left + half), self.plot.left + self.plot.width - half)
        self.sheet.write(middle, self.plot.top - 4.2, text, ha="center", color=colour, **style.AXIS)


@dataclass(frozen=True, slots=True)
class _Set:
    """The texts broken into lines at one size with the height of each row, and where the columns then lie."""

    size: float
    label_left: float
    left: float
    right: float
    numbers: float  # where the column of numbers ends; beyond is that of n
    header: str
    rows: tuple[tuple[Text, float], ...]
    group_heights: dict[str, float]

    @property
    def height(self) -> float:
        return sum(self.group_heights.values())


def _weight(line: Text) -> int:
    return style.SEMIBOLD if line.leads else style.REGULAR


def lay_out(
    lines: Sequence[Text],
    heading: tuple[str, str],
    *,
    above: float,
    below: Callable[[float, float], float],
) -> Columns:
    """Set labels and numbers of all rows; the type shrinks a little where the page would be too short.

    `heading` is that of the numbers and that of n; `below` says how much room the axis needs below a plot
    between two places of the sheet.
    """
    for size in (style.LABEL, 7.2, style.SMALLEST):
        done = _set(lines, heading[0], size)
        if above + done.height + below(done.left, done.right) <= style.PAGE_HEIGHT:
            break
    top = max(above, style.height_of(done.header, style.SMALL) + 2.0)
    bottom = top + done.height
    sheet = PlotSheet(bottom + below(done.left, done.right))
    plot = sheet.panel(done.left, top, done.right - done.left, done.height)
    plot.y_axis((bottom, top), line=False)
    how = {"ha": "right", "va": "bottom", "multialignment": "right", **style.MUTED}
    sheet.write(done.numbers, top - 1.5, done.header, **how)
    if done.numbers < style.TEXT_WIDTH:
        sheet.write(style.TEXT_WIDTH, top - 1.5, heading[1], **how)
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
    counts = max(style.width_of(line.n, size) for line in lines)
    numbers = style.TEXT_WIDTH - (counts + COUNT_GAP if counts else 0.0)
    right = numbers - number_width - GAP

    air = 1.4 if len(lines) > 5 else 3.8
    rows = []
    for line, number in zip(lines, written_numbers):
        label = style.wrap(line.label, label_width, size, _weight(line))
        note = style.wrap(line.note, label_width, small)
        reason = style.wrap(line.reason, right - left, small)
        written = style.height_of(label, size) + style.height_of(note, small)
        height = max(written, style.height_of(reason, small), style.height_of(number, size)) + air
        group = style.wrap(line.group, group_width, size, style.SEMIBOLD)
        rows.append((Text(label, number, note, reason, line.leads, group, line.n), height))

    heights = {}
    for group in groups:
        text = style.wrap(group, group_width, size, style.SEMIBOLD)
        inside = sum(height for (_, height), line in zip(rows, lines) if line.group == group)
        heights[group] = max(inside, style.height_of(text, size) + air) + (air if widest_group else 0)
    return _Set(size, label_left, left, right, numbers, header, tuple(rows), heights)


def _write_rows(sheet: PlotSheet, done: _Set, lines: Sequence[Text], top: float) -> list[float]:
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
            sheet.write(done.numbers, y[i], row.number, ha="right", multialignment="right", **how)
            sheet.write(style.TEXT_WIDTH, y[i], row.n, ha="right", size=done.size, color=style.MUTE)
            if row.reason:  # its paper covers the line of no effect
                paper = {**style.ON_PAPER, "pad": 1}
                sheet.write(done.left, y[i], row.reason, zorder=5, bbox=paper, **remark)
        start += group_height
    return y


def number_header(say: Catalogue, quantity: str, estimates: Sequence[Estimate]) -> tuple[str, str]:
    """What the column of numbers holds, with the level of the intervals where it is one, and that of n."""
    if len({shown.level for shown in estimates}) != 1:
        return say("figure.header_no_level", quantity=quantity), say("figure.value.n")
    level = numbers.level(say, estimates[0])
    return say("figure.header", quantity=quantity, level=level), say("figure.value.n")


def overlap(a: Box, b: Box) -> bool:
    """Whether two boxes lie over each other."""
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


def mark_box(place: Place, half: float) -> Box:
    """The box of a mark."""
    x, y = place
    return x - half, x + half, y - half, y + half


def spread(wanted: Sequence[float], tall: Sequence[float], top: float, bottom: float) -> list[float]:
    """Middles of labels, as near as possible to where they are wanted, none over another, within the ends.

    Pools neighbours that would overlap and centres each pool on the mean of its wishes.
    """
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    offsets, reach = [], 0.0
    for k in order:
        offsets.append(reach + tall[k] / 2)
        reach += tall[k]
    pools: list[tuple[float, int]] = []  # where the stack of labels would start, and how many share it
    for k, offset in zip(order, offsets):
        pools.append((wanted[k] - offset, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, n), (b, m) = pools[-2:]
            pools[-2:] = [((a * n + b * m) / (n + m), n + m)]
    starts = [min(max(start, top), bottom - reach) for start, n in pools for _ in range(n)]
    placed = [0.0] * len(wanted)
    for k, start, offset in zip(order, starts, offsets):
        placed[k] = start + offset
    return placed


@dataclass(frozen=True, slots=True)
class Occupied:
    """A panel: which sites have a mark, where, and what else no name may cover; in millimetres."""

    sites: tuple[int, ...]
    marks: tuple[Place, ...]
    taken: tuple[Box, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """What is written beside each mark of each panel, and where it begins; numbers of the key, or names."""

    panels: tuple[Occupied, ...]
    texts: tuple[str, ...]
    spots: tuple[tuple[Place | None, ...], ...]
    numbered: bool

    def write(self, plot: PlotPanel, p: int, back: Callable[[float, float], Place]) -> None:
        """The labels of a panel; `back` takes millimetres to its axes. A far one has a line to its mark."""
        held = self.panels[p]
        for i, mark, spot in zip(held.sites, held.marks, self.spots[p]):
            if spot is None:
                continue
            text = self.texts[i]
            wide, tall = style.width_of(text, style.SMALLEST), style.height_of(" ", style.SMALLEST)
            end = (  # the point of the label that is nearest to its mark
                min(max(mark[0], spot[0]), spot[0] + wide),
                min(max(mark[1], spot[1] - tall / 2), spot[1] + tall / 2),
            )
            if hypot(end[0] - mark[0], end[1] - mark[1]) > DISC:
                line: dict[str, Any] = {"color": style.FAINT, "lw": style.HAIR, "zorder": 2.7}
                plot.line((back(*mark), back(*end)), f"label-{p}-{i}", **line)
            plot.write(*back(*spot), text, size=style.SMALLEST, zorder=4)


def labelled(names: Sequence[str], panels: Sequence[Occupied]) -> Labelled:
    """Every site by its name in every panel where all have room, else by its number in the key."""

    def spots(texts: Sequence[str]) -> tuple[tuple[Place | None, ...], ...]:
        return tuple(
            tuple(label_places([texts[i] for i in p.sites], p.marks, p.width, p.height, p.taken))
            for p in panels
        )

    found, numbered = spots(names), False
    if any(spot is None for own in found for spot in own):
        names, numbered = [str(k + 1) for k in range(len(names))], True
        found = spots(names)
    return Labelled(tuple(panels), tuple(names), found, numbered)


def label_places(
    names: Sequence[str], marks: Sequence[Place], width: float, height: float, taken: Sequence[Box] = ()
) -> list[Place | None]:
    """Where the name of each mark begins, beside it or near, over nothing else; None where it has no room."""
    half = DISC / 2
    used = [*taken, *(mark_box(mark, half) for mark in marks)]
    tall = style.height_of(" ", style.SMALLEST)
    found: list[Place | None] = []
    for name, (x, y) in zip(names, marks):
        wide = style.width_of(name, style.SMALLEST)
        right, left = x + half + 0.4, x - half - 0.4 - wide
        middle = min(max(x - wide / 2, 0.3), width - wide - 0.3)
        above, below = y + half + tall / 2, y - half - tall / 2
        spots = [(right, y), (left, y), (middle, above), (middle, below)]
        spots += [(right, above), (left, above), (right, below), (left, below)]
        for away in FURTHER:
            spots += [(middle, above + away), (middle, below - away)]
            for side in (away / 2, away):
                ups = (0.0, away, -away)
                spots += [(right + side, y + up) for up in ups] + [(left - side, y + up) for up in ups]
        for a, b in spots:
            box = (a, a + wide, b - tall / 2, b + tall / 2)
            inside = box[0] >= 0 and box[1] <= width and box[2] >= 0 and box[3] <= height
            if inside and not any(overlap(box, other) for other in used):
                found.append((a, b))
                used.append(box)
                break
        else:
            found.append(None)
    return found


def spread_discs(places: Sequence[Place], width: float, height: float, *, floor: float = 2.45) -> list[Place]:
    """Where discs go so that none covers another: at their place, or the nearest free one, in millimetres.

    No disc reaches below `floor`.

    >>> spread_discs([(5.0, 5.0), (40.0, 5.0)], 45.0, 70.0)
    [(5.0, 5.0), (40.0, 5.0)]
    """
    least, taken = floor + DISC / 2, list[Place]()
    for x, y in places:
        wanted = min(max(x, DISC / 2), width - DISC / 2), min(max(y, least), height - DISC / 2)
        rings = [(0.8 * ring, max(12, int(2 * pi * 0.8 * ring))) for ring in range(1, 60)]
        near = [
            (wanted[0] + radius * cos(2 * pi * k / steps), wanted[1] + radius * sin(2 * pi * k / steps))
            for radius, steps in rings
            for k in range(steps)
        ]
        within = [
            (a, b) for a, b in near if DISC / 2 <= a <= width - DISC / 2 and least <= b <= height - DISC / 2
        ]

        def cost(place: Place, wanted: Place = wanted) -> float:
            """The distance from where the disc belongs; a taken place costs more than any distance."""
            covered = any(hypot(place[0] - a, place[1] - b) < DISC + 0.25 for a, b in taken)
            return hypot(place[0] - wanted[0], place[1] - wanted[1]) + (1e6 if covered else 0.0)

        taken.append(min([wanted, *within], key=cost))
    return taken
