"""What all figures stand on: a chart that draws itself, and panels with axes, ticks, intervals and marks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

from trustreport.figures import numbers, style
from trustreport.vocabulary.messages import Catalogue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Ends = tuple[float, float]

MOST_PANELS = 12  # side by side

# Millimetres.
LEFT = 15.0
ALONE = 68.0  # width of a single panel; the key stands beside it
SIDE = LEFT + ALONE + 8.0
RIGHT = 5.0  # room for half of the last tick label
ROW_GAP = 7.0
HEAD_AIR = 1.6
BELOW = 11.5
SAMPLE = 7.0  # room of a stroke or a mark before its text
LINE_AIR = 1.3

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Chart:
    """A figure, drawn within the settings that all share; its subclasses are frozen dataclasses."""

    __slots__ = ()

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say).figure

    def _draw(self, say: Catalogue) -> "PlotSheet":
        raise NotImplementedError


class _Ground:
    """Axes on which text, lines and marks are drawn."""

    axes: "Axes"

    def write(self, x: float, y: float, text: str, **how: Any) -> None:
        """Text at a place; several lines are set as one block."""
        self.axes.text(x, y, text, **{"size": style.LABEL, "va": "center", **how})

    def plot(self, x: Sequence[float], y: Sequence[float], **how: Any) -> None:
        """A line, or marks without one, through places."""
        self.axes.plot(x, y, **how)

    def line(self, points: Iterable[tuple[float, float]], name: str, **how: Any) -> None:
        """A line through points; its `name` is its id in the SVG."""
        self.axes.plot(*zip(*points), gid=name, **how)

    def mark(self, x: float, y: float, name: str, **how: Any) -> None:
        """One glyph; its `label` says what it marks to those who do not see it."""
        self.axes.plot([x], [y], gid=name, **{"ls": "none", "mew": 1.1, "clip_on": False, "zorder": 3, **how})


class PlotSheet(_Ground):
    """All of a figure as wide as the text, in millimetres from its upper left corner."""

    def __init__(self, height: float) -> None:
        self.figure, self.axes = style.figure(style.TEXT_WIDTH, height)

    def panel(self, left: float, top: float, width: float, height: float) -> "PlotPanel":
        """A panel at a place of the sheet."""
        return PlotPanel(self.figure, (left, top, width, height))


class PlotPanel(_Ground):
    """Axes at a place of the sheet, in millimetres, with a thin grey line below and no ticks yet."""

    def __init__(self, figure: "Figure", place: tuple[float, float, float, float]) -> None:
        self.left, self.top, self.width, self.height = left, top, width, height = place
        full_width, full_height = (side * 25.4 for side in figure.get_size_inches())
        self.axes = figure.add_axes(
            (left / full_width, 1 - (top + height) / full_height, width / full_width, height / full_height),
            facecolor="none",
        )
        self.axes.spines[["left", "right", "top"]].set_visible(False)
        self.axes.tick_params(length=0, labelsize=style.TICK, labelcolor=style.MUTE, pad=3)
        self.axes.set(xticks=[], yticks=[])

    def x_axis(
        self, ends: Ends, text: Callable[[float], str] | None = None, *, over: Ends | None = None
    ) -> None:
        """The ends of the axis below; with `text` also round ticks, `over` a part of it."""
        self.axes.set_xlim(*ends)
        if text:
            self.ticks(x=numbers.linear_ticks(*(over or ends), self.width, text))

    def y_axis(
        self,
        ends: Ends,
        text: Callable[[float], str] | None = None,
        *,
        over: Ends | None = None,
        line: bool = True,
    ) -> None:
        """The ends of the upright axis and its line; with `text` also round ticks, `over` a part of it."""
        self.axes.set_ylim(*ends)
        self.axes.spines["left"].set_visible(line)
        if text:
            self.ticks(y=numbers.linear_ticks(*(over or ends), self.height, text, upright=True))

    def ticks(
        self,
        x: tuple[Sequence[float], Sequence[str]] | None = None,
        y: tuple[Sequence[float], Sequence[str]] | None = None,
        **how: Any,
    ) -> None:
        """Short thin ticks with their labels."""
        if x is not None:
            self.axes.set_xticks(*x)
        if y is not None:
            self.axes.set_yticks(*y)
        self.axes.tick_params(length=2, width=style.HAIR, color=style.MUTE, **how)

    def grid(self, at: Iterable[float]) -> None:
        """Faint upright lines through all rows."""
        for x in at:
            self.axes.axvline(x, color=style.HAIRLINE, lw=style.HAIR, zorder=0)

    def diagonal(self, name: str, colour: str = style.FAINT) -> None:
        """The line on which both axes are equal."""
        self.axes.plot([0, 1], [0, 1], color=colour, lw=style.THIN, zorder=1, gid=name)

    def clipped(self, value: float, *, upright: bool = False) -> float:
        """The value, or the end of the axis beyond which it lies."""
        low, high = sorted(self.axes.get_ylim() if upright else self.axes.get_xlim())
        return min(max(value, low), high)

    def interval(
        self, low: float, high: float, at: float, name: str, *, upright: bool = False, **how: Any
    ) -> None:
        """The line between two limits, as far as the axis reaches; none where there is no interval."""
        if isfinite(low) and isfinite(high):
            ends, places = [self.clipped(x, upright=upright) for x in (low, high)], [at, at]
            shown = {"color": style.FAINT, "lw": style.LINE, "zorder": 2, **how}
            self.axes.plot(*((places, ends) if upright else (ends, places)), gid=name, **shown)

    def sheet_y(self, y: float) -> float:
        """How far down the sheet a value of the upright axis lies."""
        low, high = self.axes.get_ylim()
        return self.top + (high - y) / (high - low) * self.height

    def sheet_x(self, x: float) -> float:
        """How far to the right on the sheet a value of the axis below lies."""
        low, high = self.axes.get_xlim()
        return self.left + (x - low) / (high - low) * self.width


Sample = Callable[[PlotSheet, float, float], None]


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A line of the key: a sample, what it stands for, and what is said below in more detail."""

    sample: Sample
    text: str
    details: tuple[str, ...] = ()
    leads: bool = False

    @property
    def _weight(self) -> int:
        return style.SEMIBOLD if self.leads else style.REGULAR

    @property
    def width(self) -> float:
        """On one line, with the sample."""
        widths = [style.width_of(self.text, style.TICK, self._weight)]
        widths += [style.width_of(text, style.TICK) for text in self.details]
        return min(SAMPLE + max(widths), style.TEXT_WIDTH - LEFT)

    def _lines(self, room: float) -> list[str]:
        head = style.wrap(self.text, room - SAMPLE, style.TICK, self._weight)
        return [head, *(style.wrap(text, room - SAMPLE, style.TICK) for text in self.details)]

    def height(self, room: float) -> float:
        """Of text and details, broken into lines."""
        return sum(style.height_of(text, style.TICK) for text in self._lines(room)) + LINE_AIR

    def write(self, sheet: PlotSheet, x: float, y: float, room: float) -> None:
        """The entry from this height on."""
        self.sample(sheet, x, y + style.height_of(" ", style.TICK) / 2)
        weight, colour = self._weight, style.INK
        for text in self._lines(room):
            sheet.write(x + SAMPLE, y, text, weight=weight, color=colour, va="top", **style.AXIS)
            y += style.height_of(text, style.TICK)
            weight, colour = style.REGULAR, style.MUTE


def line_sample(how: Mapping[str, Any], less: float = 1.4) -> Sample:
    """A piece of a line drawn so, for the key, this much shorter than the room of a sample."""

    def draw(sheet: PlotSheet, x: float, y: float) -> None:
        sheet.plot([x, x + SAMPLE - less], [y, y], **how)

    return draw


def stroke_sample(which: int) -> Sample:
    """A piece of the n-th line, for the key."""
    return line_sample(style.stroke(which), 2.0)


def mark_sample(how: Mapping[str, Any]) -> Sample:
    """A mark drawn so, for the key."""

    def draw(sheet: PlotSheet, x: float, y: float) -> None:
        sheet.plot([x + SAMPLE / 2 - 1.0], [y], ls="none", **how)

    return draw


def interval_sample(how: Mapping[str, Any], *, crossed: bool = False) -> Sample:
    """A mark drawn so with its interval, or `crossed` with those of both axes, for the key."""

    def draw(sheet: PlotSheet, x: float, y: float) -> None:
        middle = x + SAMPLE / 2 - 1.0
        line: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE}
        if crossed:
            sheet.plot([middle - 2.4, middle + 2.4], [y, y], **line)
        sheet.plot([middle, middle], [y - 1.5, y + 1.5], **line)
        sheet.plot([middle], [y], ls="none", mfc=style.TEAL, **how)

    return draw


def box_sample(tall: float = 2.4, **how: Any) -> Sample:
    """A box filled so, for the key."""

    def draw(sheet: PlotSheet, x: float, y: float) -> None:
        from matplotlib.patches import Rectangle

        sheet.axes.add_patch(Rectangle((x, y - tall / 2), SAMPLE - 2.0, tall, **how))

    return draw


CHANCE = line_sample({"color": style.FAINT, "lw": style.THIN}, 2.0)


def lay_out(
    titles: Sequence[str],
    axes: tuple[str, str],
    key: Sequence[LegendEntry],
    *,
    ratio: float,
    gap: float = 6.0,
    beside: int = 3,
) -> tuple[PlotSheet, list[PlotPanel]]:
    """A figure with a panel for each title; the names of both axes and the key are written.

    One panel has its key beside it, several have it below. `ratio` is the height of a panel by its width,
    `beside` how many of up to nine panels stand in a row.
    """
    n = len(titles)
    if n == 1:
        return _alone(titles[0], axes, key, ALONE * ratio)
    across = n if n <= max(3, beside) else 2 if n == 4 else beside if n <= 9 else 4
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
    below, room = bottom + BELOW, style.TEXT_WIDTH - LEFT
    places = style.flowed((entry.width for entry in key), 6.0, start=LEFT)
    rows = [[entry for entry, (at, _) in zip(key, places) if at == k] for k in range(len(key))]
    talls = [max(entry.height(room) for entry in row) + 0.4 for row in rows if row]
    sheet = PlotSheet(below + sum(talls))
    panels = []
    for i, title in enumerate(broken):
        left, at = LEFT + (i % across) * (width + gap), tops[i // across]
        panels.append(sheet.panel(left, at, width, height))
        _title(sheet, left, at, title)
    _label(sheet, axes[0], LEFT + (across * (width + gap) - gap) / 2, bottom)
    for at in tops:
        write_y_label(sheet, axes[1], at, at + height)
    for entry, (line, x) in zip(key, places):
        entry.write(sheet, x, below + sum(talls[:line]), room)
    return sheet, panels


def _alone(
    title: str, axes: tuple[str, str], key: Sequence[LegendEntry], height: float
) -> tuple[PlotSheet, list[PlotPanel]]:
    broken = style.wrap(title, ALONE, style.TICK, style.SEMIBOLD)
    top = style.height_of(broken, style.TICK) + HEAD_AIR + 0.4 if broken else 2.0
    room = style.TEXT_WIDTH - SIDE
    tall = sum(entry.height(room) + 2.0 for entry in key)
    sheet = PlotSheet(max(top + height + BELOW - 2.0, tall + 2.0))
    _title(sheet, LEFT, top, broken)
    _label(sheet, axes[0], LEFT + ALONE / 2, top + height)
    write_y_label(sheet, axes[1], top, top + height)
    y = max(min(top, top + height - tall), 0.5)
    for entry in key:
        entry.write(sheet, SIDE, y, room)
        y += entry.height(room) + 2.0
    return sheet, [sheet.panel(LEFT, top, ALONE, height)]


def _label(sheet: PlotSheet, name: str, middle: float, bottom: float) -> None:
    sheet.write(middle, bottom + 7.4, name, ha="center", **style.AXIS)


def write_y_label(sheet: PlotSheet, name: str, top: float, bottom: float) -> None:
    """The name of an upright axis, at the left edge of the sheet."""
    text = style.wrap(name, bottom - top, style.TICK)
    how: dict[str, Any] = {"ha": "center", "rotation": 90, "multialignment": "center"}
    left = max(style.height_of(text, style.TICK) / 2 + 0.2, 2.0)
    sheet.write(left, (top + bottom) / 2, text, **how, **style.AXIS)


def _title(sheet: PlotSheet, left: float, top: float, text: str) -> None:
    if text:
        sheet.write(left, top - HEAD_AIR, text, va="bottom", **style.HEADING)


def rates(say: Catalogue, ends: Sequence[float] = QUARTERS) -> tuple[Sequence[float], list[str]]:
    """Ticks of an axis from 0 to 100 %."""
    return ends, [numbers.percent(say, end) for end in ends]


def unit_square(say: Catalogue, plot: PlotPanel) -> None:
    """Both axes from 0 to 100 %, and the diagonal of chance."""
    plot.x_axis((0, 1))
    plot.y_axis((0, 1))
    plot.ticks(rates(say), rates(say))
    plot.diagonal("chance")
