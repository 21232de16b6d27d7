"""What all figures stand on: a chart that draws itself, and panels with axes, ticks, intervals and marks."""

from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from trustreport.figures import style, ticks
from trustreport.messages import Catalogue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Ends = tuple[float, float]


class Chart:
    """A figure, drawn within the settings that all share; its subclasses are frozen dataclasses."""

    __slots__ = ()

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say).figure

    def _draw(self, say: Catalogue) -> "Sheet":
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


class Sheet(_Ground):
    """All of a figure as wide as the text, in millimetres from its upper left corner."""

    def __init__(self, height: float) -> None:
        self.figure, self.axes = style.figure(style.TEXT_WIDTH, height)

    def panel(
        self, left: float, top: float, width: float, height: float, *, first: bool = True, last: bool = True
    ) -> "Panel":
        """A panel at a place of the sheet."""
        return Panel(self.figure, (left, top, width, height), first=first, last=last)


class Panel(_Ground):
    """Axes at a place of the sheet, in millimetres, with a thin grey line below and no ticks yet.

    `first` says that the panel leads its row, `last` that it ends its column: there stand the tick labels
    where panels share axes.
    """

    def __init__(
        self, figure: "Figure", place: tuple[float, float, float, float], *, first: bool, last: bool
    ) -> None:
        self.left, self.top, self.width, self.height = left, top, width, height = place
        self.first, self.last = first, last
        full_width, full_height = (side * 25.4 for side in figure.get_size_inches())
        self.axes = figure.add_axes(
            (left / full_width, 1 - (top + height) / full_height, width / full_width, height / full_height),
            facecolor="none",
        )
        self.axes.spines[["left", "right", "top"]].set_visible(False)
        self.axes.tick_params(length=0, labelsize=style.TICK, labelcolor=style.MUTE, pad=3)
        self.axes.set(xticks=[], yticks=[])

    def across(
        self, ends: Ends, text: Callable[[float], str] | None = None, *, over: Ends | None = None
    ) -> None:
        """The ends of the axis below; with `text` also round ticks, `over` a part of it."""
        self.axes.set_xlim(*ends)
        if text:
            self.ticks(x=ticks.linear(*(over or ends), self.width, text))

    def upward(
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
            self.ticks(y=ticks.linear(*(over or ends), self.height, text, upright=True))

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

    def inside(self, value: float, *, upright: bool = False) -> float:
        """The value, or the end of the axis beyond which it lies."""
        low, high = sorted(self.axes.get_ylim() if upright else self.axes.get_xlim())
        return min(max(value, low), high)

    def interval(
        self, low: float, high: float, at: float, name: str, *, upright: bool = False, **how: Any
    ) -> None:
        """The line between two limits, as far as the axis reaches; none where there is no interval."""
        if isfinite(low) and isfinite(high):
            ends, places = [self.inside(x, upright=upright) for x in (low, high)], [at, at]
            shown = {"color": style.FAINT, "lw": style.LINE, "zorder": 2, **how}
            self.axes.plot(*((places, ends) if upright else (ends, places)), gid=name, **shown)

    def down(self, y: float) -> float:
        """How far down the sheet a value of the upright axis lies."""
        low, high = self.axes.get_ylim()
        return self.top + (high - y) / (high - low) * self.height

    def aside(self, x: float) -> float:
        """How far to the right on the sheet a value of the axis below lies."""
        low, high = self.axes.get_xlim()
        return self.left + (x - low) / (high - low) * self.width
