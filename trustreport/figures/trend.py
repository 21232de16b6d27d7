"""Estimates over periods: a panel a measure, the baseline first, declared rates as lines."""

from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from trustreport.estimate import Estimate
from trustreport.figures import curves, numbers, style, ticks
from trustreport.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 12.0
CROSS = "\N{MULTIPLICATION SIGN}"  # stands where nothing can be estimated
MOST_LABELS = 12  # period numbers under a panel; of more periods some go without
BASELINE: dict[str, Any] = {"marker": "s", "ms": 4.0, "mfc": style.PAPER, "mec": style.INK, "mew": 1.0}
PERIOD: dict[str, Any] = {"marker": "o", "ms": 4.2, "mfc": style.BLUE, "mec": style.BLUE, "mew": 0.4}
LATEST: dict[str, Any] = {"marker": "D", "ms": 4.6, "mfc": style.TEAL, "mec": style.TEAL, "mew": 0.4}
IN_CONTROL: dict[str, Any] = {"color": style.MUTE, "lw": style.THIN}
TO_DETECT: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": (0, (4, 1.8))}


@dataclass(frozen=True, slots=True)
class TrendPanel:
    """One measure: an estimate for each place of the axis, and the declared rates where there are any."""

    label: Message | str
    estimates: tuple[Estimate, ...]
    in_control: float = nan
    to_detect: float = nan
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Trend:
    """Panels over the same periods; `names` are written in full in the data table, as numbers on the axis.

    With `baseline` the first place is the baseline.
    """

    names: tuple[str, ...]
    panels: tuple[TrendPanel, ...]
    baseline: bool

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per measure and period."""
        return [
            {
                "label": style.said(say, panel.label),
                "period": name,
                "value": e.value,
                "low": e.low,
                "high": e.high,
                "n": e.n,
                "in_control": panel.in_control,
                "to_detect": panel.to_detect,
            }
            for panel in self.panels
            for name, e in zip(self.names, panel.estimates)
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        titles = [style.said(say, panel.label) for panel in self.panels]
        labels = curves.Labels(say("figure.trend.x"), "")
        figure, _, places = curves.lay_out(titles, labels, self._key(say), ratio=0.62, gap=GAP)
        for k, (panel, place) in enumerate(zip(self.panels, places)):
            plot = style.panel(figure, place.left, place.top, place.width, place.height)
            self._panel(say, plot, panel, place, k)
        return figure

    def _panel(
        self, say: Catalogue, plot: "Axes", panel: TrendPanel, place: curves.Place, number: int
    ) -> None:
        low, high = _range(panel)
        n = len(self.names)
        plot.set(xlim=(-0.6, n - 0.4), ylim=(low, high))
        plot.spines["left"].set_visible(True)

        def text(value: float) -> str:
            if panel.percent:
                return say("figure.percent_tick", value=numbers.plain(say, round(100 * value, 6)))
            return numbers.plain(say, value)

        plot.set_yticks(*ticks.linear(low, high, place.height, text, upright=True))
        plot.set_xticks(*_places(say, n, baseline=self.baseline, width=place.width))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        for name, at, how in (
            ("in-control", panel.in_control, IN_CONTROL),
            ("to-detect", panel.to_detect, TO_DETECT),
        ):
            if isfinite(at):
                plot.plot([-0.6, n - 0.4], [at, at], gid=f"{name}-{number}", zorder=1, **how)
        last = max((i for i, e in enumerate(panel.estimates) if not isnan(e.value)), default=-1)
        for i, e in enumerate(panel.estimates):
            if isnan(e.value):
                style.write(plot, i, low, CROSS, size=style.TICK, color=style.MUTE, ha="center", va="bottom")
                continue
            if isfinite(e.low) and isfinite(e.high):
                ends = [min(max(end, low), high) for end in (e.low, e.high)]
                line: dict[str, Any] = {"color": style.FAINT, "lw": style.LINE, "zorder": 2}
                plot.plot([i, i], ends, gid=f"interval-{number}-{i}", **line)
            how = BASELINE if self.baseline and i == 0 else LATEST if i == last else PERIOD
            scale: numbers.Scale = "percent" if panel.percent else "number"
            label = numbers.of_mark(say, e, scale, style.said(say, panel.label), self.names[i])
            style.mark(plot, i, min(max(e.value, low), high), f"mark-{number}-{i}", label=label, **how)

    def _key(self, say: Catalogue) -> list[curves.Entry]:
        entries = [curves.Entry(_marker(BASELINE), say("figure.trend.baseline"))] if self.baseline else []
        entries.append(curves.Entry(_marker(PERIOD), say("figure.trend.period")))
        entries.append(curves.Entry(_marker(LATEST), say("figure.trend.latest"), leads=True))
        for name, how in (("in_control", IN_CONTROL), ("to_detect", TO_DETECT)):
            if any(isfinite(getattr(panel, name)) for panel in self.panels):
                entries.append(curves.Entry(_stroke(how), say(f"figure.trend.{name}")))
        if any(isnan(e.value) for panel in self.panels for e in panel.estimates):
            entries.append(curves.Entry(_cross, say("figure.not_estimable")))
        return entries


def _range(panel: TrendPanel) -> tuple[float, float]:
    """The axis: all values and limits with some air; shares stay within 0 and 1."""
    found = [x for e in panel.estimates if not isnan(e.value) for x in (e.value, e.low, e.high)]
    found = [x for x in (*found, panel.in_control, panel.to_detect) if isfinite(x)] or [0.0, 1.0]
    low, high = min(found), max(found)
    air = 0.08 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - air, high + air
    if panel.percent:
        low, high = max(low, 0.0) if min(found) >= 0 else low, min(high, 1.0) if max(found) <= 1 else high
        low, high = (low - 0.01, high + 0.01) if low == high else (low, high)
    return low, high


def _places(say: Catalogue, n: int, *, baseline: bool, width: float) -> ticks.Ticks:
    """The numbers of the periods, every one or every so many; the baseline has a letter."""
    first = 0 if baseline else 1
    labels = [say("figure.trend.base") if baseline and i == 0 else str(i + first) for i in range(n)]
    room = min(MOST_LABELS, max(2, int(width / 4.0)))
    step = -(-n // room)
    return tuple(range(0, n, step)), tuple(labels[::step])


def _marker(how: dict[str, Any]) -> curves.Sample:
    def draw(sheet: "Axes", x: float, y: float) -> None:
        sheet.plot([x + curves.SAMPLE / 2 - 1.0], [y], ls="none", **how)

    return draw


def _stroke(how: dict[str, Any]) -> curves.Sample:
    def draw(sheet: "Axes", x: float, y: float) -> None:
        sheet.plot([x, x + curves.SAMPLE - 1.4], [y, y], **how)

    return draw


def _cross(sheet: "Axes", x: float, y: float) -> None:
    style.write(sheet, x + curves.SAMPLE / 2 - 1.8, y, CROSS, size=style.TICK, color=style.MUTE)
