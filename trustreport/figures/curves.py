"""What figures of curves share: panels in rows, thinned lines, strokes that differ without colour, a key."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil, hypot, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from trustreport.figures import numbers, style
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = tuple[tuple[float, float], ...]
Sample = Callable[["Axes", float, float], None]

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


@dataclass(frozen=True, slots=True)
class PanelPlace:
    """Where a panel lies, in millimetres; `first` of its row, `last` of its column."""

    left: float
    top: float
    width: float
    height: float
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A line of the key: a sample, what it stands for, and what is said below in more detail."""

    sample: Sample
    text: str
    details: tuple[str, ...] = ()
    leads: bool = False


def stroke(which: int) -> Sample:
    """A sample of the n-th line."""

    def draw(sheet: "Axes", x: float, y: float) -> None:
        sheet.plot([x, x + SAMPLE - 2.0], [y, y], **STROKES[which % len(STROKES)])

    return draw


@dataclass(frozen=True, slots=True)
class AxisLabels:
    """What lies across and what upward, the same for every panel."""

    x: str
    y: str


def line_sample(how: Mapping[str, Any]) -> Sample:
    """A piece of a line drawn so, for the key."""

    def draw(sheet: "Axes", x: float, y: float) -> None:
        sheet.plot([x, x + SAMPLE - 1.4], [y, y], **how)

    return draw


def mark_sample(how: Mapping[str, Any]) -> Sample:
    """A mark drawn so, for the key."""

    def draw(sheet: "Axes", x: float, y: float) -> None:
        sheet.plot([x + SAMPLE / 2 - 1.0], [y], ls="none", **how)

    return draw


def area_text(say: Catalogue, e: Estimate, kind: str) -> str:
    """The area under a curve of a kind (``roc``, ``froc``) with its interval, where it has one."""
    if not (isfinite(e.value) and isfinite(e.low) and isfinite(e.high)):
        return say(f"figure.{kind}.area", number=numbers.estimate(say, e, "number"))
    value, low, high = numbers.parts(say, e, "number")
    level = numbers.plain(say, round(100 * e.level, 6))
    return say(f"figure.{kind}.area_interval", value=value, low=low, high=high, level=level)


def lay_out(
    titles: Sequence[str], labels: AxisLabels, key: Sequence[LegendEntry], *, ratio: float, gap: float
) -> tuple["Figure", "Axes", list[PanelPlace]]:
    """A sheet with a place for each panel; their titles, the labels of the axes and the key are written.

    One panel has its key beside it, several have it below. `ratio` is the height of a panel by its width.
    """
    n = len(titles)
    if n == 1:
        return _alone(titles[0], labels, key, ALONE * ratio)
    across = 2 if n in (2, 4) else 3 if n <= 9 else 4
    width = min((style.TEXT_WIDTH - LEFT - RIGHT - (across - 1) * gap) / across, 70.0)
    height = width * ratio
    broken = [style.wrap(title, width, style.TICK, style.SEMIBOLD) for title in titles]
    places, top = [], 0.4
    for row in range(ceil(n / across)):
        members = range(row * across, min((row + 1) * across, n))
        top += max(style.height_of(broken[i], style.TICK) for i in members) + HEAD_AIR
        for i in members:
            left = LEFT + (i % across) * (width + gap)
            places.append(PanelPlace(left, top, width, height, i % across == 0, i + across >= n))
        top += height + ROW_GAP
    bottom = top - ROW_GAP
    rows = _flow(key)
    below = bottom + BELOW
    figure, sheet = style.figure(style.TEXT_WIDTH, below + sum(_tall(entries) for entries in rows))
    for place, title in zip(places, broken):
        _title(sheet, place, title)
    _label(sheet, labels, LEFT + (across * (width + gap) - gap) / 2, places[0].top, bottom)
    for entries in rows:
        x = LEFT
        for entry in entries:
            _write(sheet, x, below, entry, style.TEXT_WIDTH - LEFT)
            x += _wide(entry) + 6.0
        below += _tall(entries)
    return figure, sheet, places


def _alone(
    title: str, labels: AxisLabels, key: Sequence[LegendEntry], height: float
) -> tuple["Figure", "Axes", list[PanelPlace]]:
    broken = style.wrap(title, ALONE, style.TICK, style.SEMIBOLD)
    top = style.height_of(broken, style.TICK) + HEAD_AIR + 0.4 if broken else 2.0
    room = style.TEXT_WIDTH - SIDE
    tall = sum(_height(entry, room) + 2.0 for entry in key)
    figure, sheet = style.figure(style.TEXT_WIDTH, max(top + height + BELOW - 2.0, tall + 2.0))
    place = PanelPlace(LEFT, top, ALONE, height, True, True)
    _title(sheet, place, broken)
    _label(sheet, labels, LEFT + ALONE / 2, top, top + height)
    y = max(min(top, top + height - tall), 0.5)
    for entry in key:
        _write(sheet, SIDE, y, entry, room)
        y += _height(entry, room) + 2.0
    return figure, sheet, [place]


def _label(sheet: "Axes", labels: AxisLabels, middle: float, top: float, bottom: float) -> None:
    how: dict[str, Any] = {"size": style.TICK, "ha": "center"}
    style.write(sheet, middle, bottom + 7.4, labels.x, **how)
    upward = style.wrap(labels.y, bottom - top, style.TICK)
    style.write(sheet, 2.0, (top + bottom) / 2, upward, rotation=90, multialignment="center", **how)


def _title(sheet: "Axes", place: PanelPlace, text: str) -> None:
    if text:
        how: dict[str, Any] = {"size": style.TICK, "weight": style.SEMIBOLD, "va": "bottom"}
        style.write(sheet, place.left, place.top - HEAD_AIR, text, **how)


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


def _write(sheet: "Axes", x: float, y: float, entry: LegendEntry, room: float) -> None:
    entry.sample(sheet, x, y + style.height_of(" ", style.TICK) / 2)
    for i, text in enumerate(_lines(entry, room)):
        weight, colour = (_weight(entry), style.INK) if i == 0 else (style.REGULAR, style.MUTE)
        how: dict[str, Any] = {"size": style.TICK, "weight": weight, "color": colour, "va": "top"}
        style.write(sheet, x + SAMPLE, y, text, **how)
        y += style.height_of(text, style.TICK)


def unit_square(say: Catalogue, plot: "Axes") -> None:
    """Both axes from 0 to 100 %, and the diagonal of chance."""
    plot.set(xlim=(0, 1), ylim=(0, 1))
    plot.spines["left"].set_visible(True)
    ends = (0.0, 0.25, 0.5, 0.75, 1.0)
    labels = [say("figure.percent_tick", value=numbers.plain(say, 100 * end)) for end in ends]
    plot.set_xticks(ends, labels)
    plot.set_yticks(ends, labels)
    plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
    plot.plot([0, 1], [0, 1], color=style.FAINT, lw=style.THIN, zorder=1, gid="chance")


def write_stack(
    plot: "Axes", texts: Sequence[tuple[str, int | None]], place: PanelPlace, *, low: bool
) -> None:
    """Texts in the lower right corner of a panel, or in the upper left one, each after its line's stroke."""
    size = style.SMALL if place.width > 40 else style.SMALLEST
    sample = 5.0 if any(which is not None for _, which in texts) else 0.0
    broken = [style.wrap(text, 0.8 * place.width - sample, size) for text, _ in texts]
    heights = [style.height_of(text, size) + 0.5 for text in broken]
    widest = max(style.width_of(text, size) for text in broken)
    left = place.width - 1.2 - widest if low else 1.2 + sample
    y = sum(heights) + 1.0 if low else place.height - 1.0
    for text, (_, which), tall in zip(broken, texts, heights):
        where: dict[str, Any] = {"transform": plot.transAxes, "zorder": 4}
        style.write(plot, left / place.width, y / place.height, text, va="top", size=size, **where)
        if which is not None:
            middle = (y - style.height_of(" ", size) / 2) / place.height
            ends = [(left - sample) / place.width, (left - 1.2) / place.width]
            plot.plot(ends, [middle, middle], **where, **STROKES[which % len(STROKES)])
        y -= tall
