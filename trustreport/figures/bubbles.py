"""Right and wrong answers by two graded judgements: discs whose areas are shares of all answers."""

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 13.0
LARGEST = 6.2  # millimetres: the diameter of the largest disc


@dataclass(frozen=True, slots=True)
class Bubble:
    """Answers at one place: how many were right and how many wrong."""

    x: float
    y: float
    right: int
    wrong: int


@dataclass(frozen=True, slots=True)
class BubblesPanel:
    """The answers of the device, or of the raters."""

    label: Message | str
    bubbles: tuple[Bubble, ...]


@dataclass(frozen=True, slots=True)
class BubblesChart:
    """Pairs of half discs: right answers to the left, wrong ones to the right of each place."""

    panels: tuple[BubblesPanel, ...]
    x: Message
    y: Message
    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per place."""
        return [
            {
                "place": style.label_text(say, panel.label),
                "at": b.x,
                "at_y": b.y,
                "right": b.right,
                "wrong": b.wrong,
            }
            for panel in self.panels
            for b in panel.bubbles
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        titles = [style.label_text(say, panel.label) for panel in self.panels]
        key = [
            curves.LegendEntry(_half(left=True), say("figure.bubbles.right")),
            curves.LegendEntry(_half(left=False), say("figure.bubbles.wrong")),
        ]
        labels = curves.AxisLabels(say(self.x), say(self.y))
        figure, _, places = curves.lay_out(titles, labels, key, ratio=0.85, gap=GAP)
        for panel, place in zip(self.panels, places):
            plot = style.panel(figure, place.left, place.top, place.width, place.height)
            self._frame(say, plot, place)
            most = max((max(b.right, b.wrong) for b in panel.bubbles), default=1)
            for i, b in enumerate(panel.bubbles):
                for side, n, colour in (("left", b.right, style.TEAL), ("right", b.wrong, style.RUST)):
                    if n:
                        across = LARGEST * sqrt(n / most) * 72 / 25.4
                        plot.plot(
                            [b.x], [b.y], marker="o", fillstyle=side, ms=across, mfc=colour, mec="none",
                            markerfacecoloralt="none", ls="none", clip_on=False, gid=f"{side}-{i}", zorder=2,
                        )  # fmt: skip
        return figure

    def _frame(self, say: Catalogue, plot: "Axes", place: curves.PanelPlace) -> None:
        def written(value: float) -> str:
            return numbers.plain(say, round(value, 10))

        (x0, x1), (y0, y1) = (_wider(*ends) for ends in (self.x_range, self.y_range))
        plot.set(xlim=(x0, x1), ylim=(y0, y1))
        plot.spines["left"].set_visible(True)
        plot.set_xticks(*ticks.linear(*self.x_range, place.width, written))
        plot.set_yticks(*ticks.linear(*self.y_range, place.height, written, upright=True))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)


def _wider(low: float, high: float) -> tuple[float, float]:
    room = 0.07 * (high - low)
    return low - room, high + room


def _half(*, left: bool) -> curves.Sample:
    side, colour = ("left", style.TEAL) if left else ("right", style.RUST)

    def draw(sheet: "Axes", x: float, y: float) -> None:
        how: dict[str, Any] = {"mfc": colour, "mec": "none", "markerfacecoloralt": "none", "ls": "none"}
        sheet.plot([x + curves.SAMPLE / 2 - 1.0], [y], marker="o", fillstyle=side, ms=8.0, **how)

    return draw
