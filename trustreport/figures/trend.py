"""Estimates over periods: a panel a measure, the baseline first, declared rates as lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 12.0
CROSS = "\N{MULTIPLICATION SIGN}"  # stands where nothing can be estimated
MOST_LABELS = 12  # period numbers under a panel; of more periods some go without
BASELINE: dict[str, Any] = {"marker": "s", "ms": 4.0, **style.hollow(style.INK)}
PERIOD: dict[str, Any] = {"marker": "o", "ms": 4.2, "mfc": style.BLUE, "mec": style.BLUE, "mew": 0.4}
LATEST: dict[str, Any] = {"marker": "D", "ms": 4.6, "mfc": style.TEAL, "mec": style.TEAL, "mew": 0.4}
IN_CONTROL: dict[str, Any] = {"color": style.MUTE, "lw": style.THIN}
TO_DETECT: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": style.DASHED}
EVENT: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN, "ls": (0, (1.2, 1.6)), "zorder": 0.5}
LETTERS = "abcdefgh"  # of the events; there are no more


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
    """Panels over the same periods; `names` are written in full in the data table.

    With `baseline` the first place is the baseline. `short` are the names on the axis, numbers where there
    are none. `events` are (place on the axis, what happened): drawn through every panel, named in the key.
    """

    names: tuple[str, ...]
    panels: tuple[TrendPanel, ...]
    baseline: bool
    short: tuple[Message | str, ...] = ()
    events: tuple[tuple[float, Message | str], ...] = ()

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per measure and period."""
        return [
            {
                "label": style.label_text(say, panel.label),
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
        titles = [style.label_text(say, panel.label) for panel in self.panels]
        labels = curves.AxisLabels(say("figure.trend.x"), "")
        figure, _, places = curves.lay_out(titles, labels, self._key(say), ratio=0.62, gap=GAP)
        for k, (panel, place) in enumerate(zip(self.panels, places)):
            plot = style.panel(figure, place.left, place.top, place.width, place.height)
            self._panel(say, plot, panel, place, k)
        return figure

    def _panel(
        self, say: Catalogue, plot: "Axes", panel: TrendPanel, place: curves.PanelPlace, number: int
    ) -> None:
        low, high = axis_range(panel.estimates, (panel.in_control, panel.to_detect), percent=panel.percent)
        n = len(self.names)
        plot.set(xlim=(-0.6, n - 0.4), ylim=(low, high))
        plot.spines["left"].set_visible(True)

        def text(value: float) -> str:
            if panel.percent:
                return say("figure.percent_tick", value=numbers.plain(say, round(100 * value, 6)))
            return numbers.plain(say, value)

        plot.set_yticks(*ticks.linear(low, high, place.height, text, upright=True))
        plot.set_xticks(*self._places(say, place.width))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        for name, at, how in (
            ("in-control", panel.in_control, IN_CONTROL),
            ("to-detect", panel.to_detect, TO_DETECT),
        ):
            if isfinite(at):
                plot.plot([-0.6, n - 0.4], [at, at], gid=f"{name}-{number}", zorder=1, **how)
        self._events(plot, place, high)
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
            label = numbers.of_mark(say, e, scale, style.label_text(say, panel.label), self.names[i])
            style.mark(plot, i, min(max(e.value, low), high), f"mark-{number}-{i}", label=label, **how)

    def _places(self, say: Catalogue, width: float) -> ticks.Ticks:
        """The periods by their names, else by their numbers; every one, or every so many."""
        n, first = len(self.names), 0 if self.baseline else 1
        labels = [style.label_text(say, name) for name in self.short] or [str(i + first) for i in range(n)]
        if self.baseline:
            labels[0] = say("figure.trend.base")
        widest = max(style.width_of(label, style.TICK) for label in labels)
        room = min(MOST_LABELS, max(2, int(width / max(4.0, widest + 1.5))))
        step = -(-n // room)
        return tuple(range(0, n, step)), tuple(labels[::step])

    def _events(self, plot: "Axes", place: curves.PanelPlace, top: float) -> None:
        """A dotted line at each event, with its letter; letters that would touch stand together."""
        shown: list[tuple[float, str]] = []
        for k, (x, _) in enumerate(self.events):
            plot.axvline(x, gid="event", **EVENT)
            if shown and (x - shown[-1][0]) / len(self.names) * place.width < 1.2 + 1.6 * len(shown[-1][1]):
                shown[-1] = (shown[-1][0], shown[-1][1] + LETTERS[k])
            else:
                shown.append((x, LETTERS[k]))
        for x, letters in shown:
            how: dict[str, Any] = {"size": style.SMALLEST, "color": style.MUTE, "ha": "left", "va": "top"}
            style.write(plot, x + 0.08, top, letters, **how)

    def _key(self, say: Catalogue) -> list[curves.LegendEntry]:
        entries = (
            [curves.LegendEntry(curves.mark_sample(BASELINE), say("figure.trend.baseline"))]
            if self.baseline
            else []
        )
        entries.append(curves.LegendEntry(curves.mark_sample(PERIOD), say("figure.trend.period")))
        entries.append(curves.LegendEntry(curves.mark_sample(LATEST), say("figure.trend.latest"), leads=True))
        for name, how in (("in_control", IN_CONTROL), ("to_detect", TO_DETECT)):
            if any(isfinite(getattr(panel, name)) for panel in self.panels):
                entries.append(curves.LegendEntry(curves.line_sample(how), say(f"figure.trend.{name}")))
        if any(isnan(e.value) for panel in self.panels for e in panel.estimates):
            entries.append(curves.LegendEntry(_cross, say("figure.not_estimable")))
        for letter, (_, label) in zip(LETTERS, self.events):
            text = say("figure.trend.event", letter=letter, event=style.label_text(say, label))
            entries.append(curves.LegendEntry(_upright, text))
        return entries


def axis_range(
    estimates: Sequence[Estimate], rates: Sequence[float], *, percent: bool
) -> tuple[float, float]:
    """The axis: all values and limits with some air; shares stay within 0 and 1."""
    found = [x for e in estimates if not isnan(e.value) for x in (e.value, e.low, e.high)]
    found = [x for x in (*found, *rates) if isfinite(x)] or [0.0, 1.0]
    low, high = min(found), max(found)
    air = 0.08 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - air, high + air
    if percent:
        low, high = max(low, 0.0) if min(found) >= 0 else low, min(high, 1.0) if max(found) <= 1 else high
        low, high = (low - 0.01, high + 0.01) if low == high else (low, high)
    return low, high


def _upright(sheet: "Axes", x: float, y: float) -> None:
    at = x + curves.SAMPLE / 2 - 1.0
    sheet.plot([at, at], [y - 1.4, y + 1.4], **EVENT)


def _cross(sheet: "Axes", x: float, y: float) -> None:
    style.write(sheet, x + curves.SAMPLE / 2 - 1.8, y, CROSS, size=style.TICK, color=style.MUTE)
