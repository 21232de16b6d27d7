"""Sequential charts: the statistic case by case or period by period, its limits, the periods, the alerts."""

from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Millimetres.
LEFT, RIGHT, WIDE = 12.0, 34.0, 124.0
TALL, HEAD, BETWEEN, BELOW = 22.0, 10.0, 9.0, 11.0
MOST_PANELS = 4
PATH: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE, "solid_joinstyle": "miter"}
LIMIT: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": style.DASHED}
FLOOR: dict[str, Any] = {"color": style.BLUE, "lw": style.THIN, "ls": style.DOTTED}
ALERT: dict[str, Any] = {"marker": "s", "ms": 5.0, **style.filled(style.RUST)}
ACCEPT: dict[str, Any] = {"marker": "o", "ms": 4.8, **style.filled(style.BLUE)}


@dataclass(frozen=True, slots=True)
class ControlPanel:
    """One chart: `path` (cases so far, statistic), starting at (0, 0).

    `high` is the limit of an alert, `low` that of a decision for the rate in control (NaN: none). `alerts`
    are the places of alerts on the path, `accepted` that of such a decision. `periods` are the cases at which
    a period ends.
    """

    label: Message | str
    path: curves.Points
    high: float
    low: float = nan
    alerts: curves.Points = ()
    accepted: curves.Points = ()
    periods: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ControlCharts:
    """Charts below each other, each with its own axis of cases."""

    panels: tuple[ControlPanel, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per corner of a path."""
        return [
            {
                "label": style.label_text(say, panel.label),
                "cases": x,
                "value": y,
                "limit": panel.high,
                "alert": say("word.yes" if (x, y) in panel.alerts else "word.no"),
            }
            for panel in self.panels
            for x, y in panel.path
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        n = len(self.panels)
        figure, sheet = style.figure(style.TEXT_WIDTH, n * (HEAD + TALL) + (n - 1) * BETWEEN + BELOW)
        top = HEAD
        for k, panel in enumerate(self.panels):
            head: dict[str, Any] = {"size": style.TICK, "weight": style.SEMIBOLD, "va": "center"}
            style.write(sheet, LEFT, top - 7.0, style.label_text(say, panel.label), **head)
            plot = style.panel(figure, LEFT, top, WIDE, TALL)
            self._panel(say, plot, sheet, panel, top, k)
            top += TALL + BETWEEN + HEAD
        bottom = top - BETWEEN - HEAD
        text = say("figure.control_chart.x")
        style.write(sheet, LEFT + WIDE / 2, bottom + 7.6, text, size=style.TICK, ha="center")
        return figure

    def _panel(
        self, say: Catalogue, plot: "Axes", sheet: "Axes", panel: ControlPanel, top: float, number: int
    ) -> None:
        y = [y for _, y in panel.path]
        last = max(panel.path[-1][0], 1.0)
        low = min([0.0, *y, *([panel.low] if isfinite(panel.low) else [])])
        high = max([*y, panel.high])
        air = 0.08 * (high - low)
        low, high = low - (air if low < 0 else 0.0), high + air
        plot.set(xlim=(0, last), ylim=(low, high))
        plot.spines["left"].set_visible(True)
        plot.set_xticks(*ticks.linear(0, last, WIDE, say.numbers.count))
        written = ticks.linear(low, high, TALL, lambda v: numbers.plain(say, v), upright=True)
        plot.set_yticks(*written)
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        self._periods(say, plot, sheet, panel, top, last)
        limits = [("high", panel.high, LIMIT), ("low", panel.low, FLOOR)]
        for name, at, how in limits:
            if isfinite(at):
                plot.plot([0, last], [at, at], gid=f"{name}-{number}", zorder=1.5, **how)
                place = top + (high - at) / (high - low) * TALL
                text = say(f"figure.control_chart.{name}", limit=say.numbers.fixed(at, 2))
                small: dict[str, Any] = {"size": style.SMALL, "color": how["color"]}
                style.write(sheet, LEFT + WIDE + 2.0, place, text, **small)
        plot.plot(*zip(*panel.path), gid=f"path-{number}", zorder=2, clip_on=False, **PATH)
        for i, place_of in enumerate(panel.alerts):
            style.mark(plot, *place_of, f"alert-{number}-{i}", **ALERT)
        for place_of in panel.accepted:
            style.mark(plot, *place_of, f"accepted-{number}", **ACCEPT)
        said = say("figure.control_chart.alerts", n=len(panel.alerts))
        style.write(sheet, LEFT + WIDE, top - 7.0, said, size=style.SMALL, color=style.MUTE, ha="right")

    @staticmethod
    def _periods(
        say: Catalogue, plot: "Axes", sheet: "Axes", panel: ControlPanel, top: float, last: float
    ) -> None:
        """Thin upright lines where a period ends, and its number above its middle where there is room."""
        start = 0.0
        for number, end in enumerate(panel.periods, 1):
            if end < last:
                plot.axvline(end, color=style.HAIRLINE, lw=style.THIN, zorder=0)
            text = say("figure.control_chart.period", number=number)
            if (end - start) / last * WIDE > style.width_of(text, style.SMALLEST) + 1.5:
                middle = LEFT + (start + end) / 2 / last * WIDE
                how: dict[str, Any] = {"size": style.SMALLEST, "color": style.MUTE, "ha": "center"}
                style.write(sheet, middle, top - 2.2, text, **how)
            start = end
