"""What figures of curves share: panels in rows, thinned lines, strokes that differ without colour, a key."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil, hypot, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trustreport.estimate import Estimate
from trustreport.figures import numbers, style
from trustreport.figures.panel import Panel, Sheet
from trustreport.messages import Catalogue, Message

Points = tuple[tuple[float, float], ...]
Sample = Callable[[Sheet, float, float], None]

MOST_POINTS = 400
MOST_PANELS = 12

# Millimetres.
LEFT = 15.0
ALONE = 88.0  # width of a single panel; the key stands beside it
SIDE = LEFT + ALONE + 8.0
RIGHT = 5.0  # room for half of the last tick label
ROW_GAP = 7.0
HEAD_AIR = 1.6
BELOW = 11.5
SAMPLE = 7.0  # room of a stroke or a mark before its text
LINE_AIR = 1.3

# Colour, width and dashes; a further line begins anew.
STROKES: tuple[dict[str, Any], ...] = (
    {"color": style.TEAL, "lw": 1.8},
    {"color": style.BLUE, "lw": 1.4, "ls": (0, (5, 1.6))},
    {"color": style.INK, "lw": 1.4, "ls": (0, (1.2, 1.2))},
    {"color": style.AMBER, "lw": 1.3, "ls": (0, (6, 1.5, 1.2, 1.5))},
    {"color": style.MUTE, "lw": 1.1},
    {"color": style.RUST, "lw": 1.1, "ls": (0, (2.6, 1.4))},
)


def thinned(x: ArrayLike, y: ArrayLike, most: int = MOST_POINTS) -> Points:
    """At most `most` points of a line, its ends among them: each next one is where the line departs farthest.

    Points on a straight line between their neighbours go first, so that nothing is lost where the line has
    fewer corners than that.

    >>> thinned([0, 1, 2, 3], [0, 1, 2, 0])
    ((0.0, 0.0), (2.0, 2.0), (3.0, 0.0))
    """
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    kept = {0, len(across) - 1}
    waiting: list[tuple[float, int, int, int]] = []

    def split(a: int, b: int) -> None:
        if b - a < 2:
            return
        dx, dy = across[b] - across[a], up[b] - up[a]
        inside = slice(a + 1, b)
        off = np.abs((across[inside] - across[a]) * dy - (up[inside] - up[a]) * dx)
        if not dx and not dy:
            off = np.hypot(across[inside] - across[a], up[inside] - up[a])
        k = int(off.argmax())
        distance = float(off[k]) / (hypot(dx, dy) or 1.0)
        if distance > 1e-12:
            heappush(waiting, (-distance, a + 1 + k, a, b))

    split(0, len(across) - 1)
    while waiting and len(kept) < most:
        _, at, a, b = heappop(waiting)
        kept.add(at)
        split(a, at)
        split(at, b)
    return tuple((float(across[i]), float(up[i])) for i in sorted(kept))


def above(points: Points, least: float) -> list[Points]:
    """The parts of a line that lie at or above a height, cut where it crosses it."""
    parts: list[list[tuple[float, float]]] = [[]]
    for i, (x, y) in enumerate(points):
        if i and (y < least) != (points[i - 1][1] < least):
            x0, y0 = points[i - 1]
            parts[-1].append((x0 + (least - y0) / (y - y0) * (x - x0), least))
            if y < least:
                parts.append([])
        if y >= least:
            parts[-1].append((x, y))
    return [tuple(part) for part in parts if len(part) > 1]


def strokes(labels: Iterable[Message | str]) -> dict[str, int]:
    """The stroke of each candidate, by its plain name: that of its first appearance."""
    return {name: i for i, name in enumerate(dict.fromkeys(map(style.plain, labels)))}


def stroke(which: int) -> dict[str, Any]:
    """Colour, width and dashes of the n-th line."""
    return STROKES[which % len(STROKES)]


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A line of the key: a sample, what it stands for, and what is said below in more detail."""

    sample: Sample
    text: str
    details: tuple[str, ...] = ()
    leads: bool = False


def line_sample(how: Mapping[str, Any], less: float = 1.4) -> Sample:
    """A piece of a line drawn so, for the key, this much shorter than the room of a sample."""

    def draw(sheet: Sheet, x: float, y: float) -> None:
        sheet.plot([x, x + SAMPLE - less], [y, y], **how)

    return draw


def stroke_sample(which: int) -> Sample:
    """A piece of the n-th line, for the key."""
    return line_sample(stroke(which), 2.0)


def mark_sample(how: Mapping[str, Any]) -> Sample:
    """A mark drawn so, for the key."""

    def draw(sheet: Sheet, x: float, y: float) -> None:
        sheet.plot([x + SAMPLE / 2 - 1.0], [y], ls="none", **how)

    return draw


def interval_sample(how: Mapping[str, Any], *, crossed: bool = False) -> Sample:
    """A mark drawn so with its interval, or `crossed` with those of both axes, for the key."""

    def draw(sheet: Sheet, x: float, y: float) -> None:
        middle = x + SAMPLE / 2 - 1.0
        line: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE}
        if crossed:
            sheet.plot([middle - 2.4, middle + 2.4], [y, y], **line)
        sheet.plot([middle, middle], [y - 1.5, y + 1.5], **line)
        sheet.plot([middle], [y], ls="none", mfc=style.TEAL, **how)

    return draw


def box_sample(tall: float = 2.4, **how: Any) -> Sample:
    """A box filled so, for the key."""

    def draw(sheet: Sheet, x: float, y: float) -> None:
        from matplotlib.patches import Rectangle

        sheet.axes.add_patch(Rectangle((x, y - tall / 2), SAMPLE - 2.0, tall, **how))

    return draw


CHANCE = line_sample({"color": style.FAINT, "lw": style.THIN}, 2.0)


def area_text(say: Catalogue, e: Estimate, kind: str) -> str:
    """The area under a curve of a kind (``roc``, ``froc``) with its interval, where it has one."""
    if not (isfinite(e.value) and numbers.has_interval(e)):
        return say(f"figure.{kind}.area", number=numbers.estimate(say, e, "number"))
    value, low, high = numbers.parts(say, e, "number")
    return say(f"figure.{kind}.area_interval", value=value, low=low, high=high, level=numbers.level(say, e))


def lay_out(
    titles: Sequence[str],
    axes: tuple[str, str],
    key: Sequence[LegendEntry],
    *,
    ratio: float,
    gap: float = 6.0,
) -> tuple[Sheet, list[Panel]]:
    """A figure with a panel for each title; the names of both axes and the key are written.

    One panel has its key beside it, several have it below. `ratio` is the height of a panel by its width.
    """
    n = len(titles)
    if n == 1:
        return _alone(titles[0], axes, key, ALONE * ratio)
    across = 2 if n in (2, 4) else 3 if n <= 9 else 4
    width = min((style.TEXT_WIDTH - LEFT - RIGHT - (across - 1) * gap) / across, 70.0)
    height = width * ratio
    broken = [style.wrap(title, width, style.TICK, style.SEMIBOLD) for title in titles]
    tops, top = [], 0.4
    for row in range(ceil(n / across)):
        members = broken[row * across : (row + 1) * across]
        top += max(style.height_of(title, style.TICK) for title in members) + HEAD_AIR
        tops.append(top)
        top += height + ROW_GAP
    bottom = top - ROW_GAP
    rows = _flow(key)
    below = bottom + BELOW
    sheet = Sheet(below + sum(_tall(entries) for entries in rows))
    panels = []
    for i, title in enumerate(broken):
        left, at = LEFT + (i % across) * (width + gap), tops[i // across]
        panels.append(sheet.panel(left, at, width, height, first=i % across == 0, last=i + across >= n))
        _title(sheet, left, at, title)
    _label(sheet, axes, LEFT + (across * (width + gap) - gap) / 2, tops[0], bottom)
    for entries in rows:
        x = LEFT
        for entry in entries:
            _write(sheet, x, below, entry, style.TEXT_WIDTH - LEFT)
            x += _wide(entry) + 6.0
        below += _tall(entries)
    return sheet, panels


def _alone(
    title: str, axes: tuple[str, str], key: Sequence[LegendEntry], height: float
) -> tuple[Sheet, list[Panel]]:
    broken = style.wrap(title, ALONE, style.TICK, style.SEMIBOLD)
    top = style.height_of(broken, style.TICK) + HEAD_AIR + 0.4 if broken else 2.0
    room = style.TEXT_WIDTH - SIDE
    tall = sum(_height(entry, room) + 2.0 for entry in key)
    sheet = Sheet(max(top + height + BELOW - 2.0, tall + 2.0))
    _title(sheet, LEFT, top, broken)
    _label(sheet, axes, LEFT + ALONE / 2, top, top + height)
    y = max(min(top, top + height - tall), 0.5)
    for entry in key:
        _write(sheet, SIDE, y, entry, room)
        y += _height(entry, room) + 2.0
    return sheet, [sheet.panel(LEFT, top, ALONE, height)]


def _label(sheet: Sheet, names: tuple[str, str], middle: float, top: float, bottom: float) -> None:
    sheet.write(middle, bottom + 7.4, names[0], ha="center", **style.AXIS)
    upward(sheet, names[1], top, bottom)


def upward(sheet: Sheet, name: str, top: float, bottom: float) -> None:
    """The name of an upright axis, at the left edge of the sheet."""
    text = style.wrap(name, bottom - top, style.TICK)
    how: dict[str, Any] = {"ha": "center", "rotation": 90, "multialignment": "center"}
    sheet.write(2.0, (top + bottom) / 2, text, **how, **style.AXIS)


def _title(sheet: Sheet, left: float, top: float, text: str) -> None:
    if text:
        sheet.write(left, top - HEAD_AIR, text, va="bottom", **style.HEADING)


def _weight(entry: LegendEntry) -> int:
    return style.SEMIBOLD if entry.leads else style.REGULAR


def _lines(entry: LegendEntry, room: float) -> list[str]:
    """Text and details, broken into lines."""
    head = style.wrap(entry.text, room - SAMPLE, style.TICK, _weight(entry))
    return [head, *(style.wrap(text, room - SAMPLE, style.TICK) for text in entry.details)]


def _height(entry: LegendEntry, room: float) -> float:
    return sum(style.height_of(text, style.TICK) for text in _lines(entry, room)) + LINE_AIR


def _wide(entry: LegendEntry) -> float:
    widths = [style.width_of(entry.text, style.TICK, _weight(entry))]
    widths += [style.width_of(text, style.TICK) for text in entry.details]
    return min(SAMPLE + max(widths), style.TEXT_WIDTH - LEFT)


def _tall(entries: Sequence[LegendEntry]) -> float:
    return max(_height(entry, style.TEXT_WIDTH - LEFT) for entry in entries) + 0.4


def _flow(key: Sequence[LegendEntry]) -> list[list[LegendEntry]]:
    """The entries in rows as wide as the sheet."""
    rows: list[list[LegendEntry]] = []
    x = style.TEXT_WIDTH
    for entry in key:
        if x + _wide(entry) > style.TEXT_WIDTH:
            rows.append([])
            x = LEFT
        rows[-1].append(entry)
        x += _wide(entry) + 6.0
    return rows


def _write(sheet: Sheet, x: float, y: float, entry: LegendEntry, room: float) -> None:
    entry.sample(sheet, x, y + style.height_of(" ", style.TICK) / 2)
    for i, text in enumerate(_lines(entry, room)):
        weight, colour = (_weight(entry), style.INK) if i == 0 else (style.REGULAR, style.MUTE)
        how: dict[str, Any] = {"size": style.TICK, "weight": weight, "color": colour, "va": "top"}
        sheet.write(x + SAMPLE, y, text, **how)
        y += style.height_of(text, style.TICK)


QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def rates(say: Catalogue, ends: Sequence[float] = QUARTERS) -> tuple[Sequence[float], list[str]]:
    """Ticks of an axis from 0 to 100 %."""
    return ends, [numbers.percent(say, end) for end in ends]


def unit_square(say: Catalogue, plot: Panel) -> None:
    """Both axes from 0 to 100 %, and the diagonal of chance."""
    plot.across((0, 1))
    plot.upward((0, 1))
    plot.ticks(rates(say), rates(say))
    plot.diagonal("chance")


def write_stack(plot: Panel, texts: Sequence[tuple[str, int | None]], *, low: bool) -> None:
    """Texts in the lower right corner of a panel, or in the upper left one, each after its line's stroke."""
    size = style.SMALL if plot.width > 40 else style.SMALLEST
    sample = 5.0 if any(which is not None for _, which in texts) else 0.0
    broken = [style.wrap(text, 0.8 * plot.width - sample, size) for text, _ in texts]
    heights = [style.height_of(text, size) + 0.5 for text in broken]
    widest = max(style.width_of(text, size) for text in broken)
    left = plot.width - 1.2 - widest if low else 1.2 + sample
    y = sum(heights) + 1.0 if low else plot.height - 1.0
    for text, (_, which), tall in zip(broken, texts, heights):
        where: dict[str, Any] = {"transform": plot.axes.transAxes, "zorder": 4}
        plot.write(left / plot.width, y / plot.height, text, va="top", size=size, **where)
        if which is not None:
            middle = (y - style.height_of(" ", size) / 2) / plot.height
            ends = [(left - sample) / plot.width, (left - 1.2) / plot.width]
            plot.plot(ends, [middle, middle], **where, **stroke(which))
        y -= tall
