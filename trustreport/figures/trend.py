"""Charts over time: estimates and groups over periods, and sequential statistics with their limits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import Any

from trustreport.figures import numbers, panels, style
from trustreport.figures.curves import Points
from trustreport.figures.panels import Chart, LegendEntry, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

CROSS = "\N{MULTIPLICATION SIGN}"  # stands where nothing can be estimated
MOST_LABELS = 12  # period numbers under a panel; of more periods some go without
BASELINE: dict[str, Any] = {"marker": "s", "ms": 4.0, **style.hollow(style.INK)}
PERIOD: dict[str, Any] = {"marker": "o", "ms": 4.2, **style.filled(style.BLUE)}
LATEST: dict[str, Any] = {"marker": "D", "ms": 4.6, **style.filled(style.TEAL)}
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
class Trend(Chart):
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
                "label": style.label(say, panel.label),
                "period": name,
                **numbers.columns(e, "n"),
                "in_control": panel.in_control,
                "to_detect": panel.to_detect,
            }
            for panel in self.panels
            for name, e in zip(self.names, panel.estimates)
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        titles = [style.label(say, panel.label) for panel in self.panels]
        axes = say("figure.trend.x"), ""
        sheet, plots = panels.lay_out(titles, axes, self._key(say), ratio=0.62, gap=12.0)
        for k, (panel, plot) in enumerate(zip(self.panels, plots)):
            self._panel(say, plot, panel, k)
        return sheet

    def _panel(self, say: Catalogue, plot: PlotPanel, panel: TrendPanel, number: int) -> None:
        low, high = axis_range(panel.estimates, (panel.in_control, panel.to_detect), percent=panel.percent)
        n, scale = len(self.names), _scale(panel.percent)
        plot.x_axis((-0.6, n - 0.4))
        plot.y_axis((low, high), numbers.tick(say, scale))
        labels = _period_names(say, self.short, n, baseline=self.baseline)
        widest = max(style.width_of(label, style.TICK) for label in labels)
        room = min(MOST_LABELS, max(2, int(plot.width / max(4.0, widest + 1.5))))
        plot.ticks(_every(labels, room))
        for name, at, how in (
            ("in-control", panel.in_control, IN_CONTROL),
            ("to-detect", panel.to_detect, TO_DETECT),
        ):
            if isfinite(at):
                plot.line(((-0.6, at), (n - 0.4, at)), f"{name}-{number}", zorder=1, **how)
        self._events(plot, high)
        last = max((i for i, e in enumerate(panel.estimates) if not isnan(e.value)), default=-1)
        for i, e in enumerate(panel.estimates):
            if isnan(e.value):
                plot.write(i, low, CROSS, size=style.TICK, color=style.MUTE, ha="center", va="bottom")
                continue
            plot.interval(e.low, e.high, i, f"interval-{number}-{i}", upright=True)
            how = BASELINE if self.baseline and i == 0 else LATEST if i == last else PERIOD
            label = numbers.of_mark(say, e, scale, style.label(say, panel.label), self.names[i])
            plot.mark(i, plot.clipped(e.value, upright=True), f"mark-{number}-{i}", label=label, **how)

    def _events(self, plot: PlotPanel, top: float) -> None:
        """A dotted line at each event, with its letter; letters that would touch stand together."""
        shown: list[tuple[float, str]] = []
        for k, (x, _) in enumerate(self.events):
            plot.axes.axvline(x, gid="event", **EVENT)
            if shown and (x - shown[-1][0]) / len(self.names) * plot.width < 1.2 + 1.6 * len(shown[-1][1]):
                shown[-1] = (shown[-1][0], shown[-1][1] + LETTERS[k])
            else:
                shown.append((x, LETTERS[k]))
        for x, letters in shown:
            plot.write(x + 0.08, top, letters, ha="left", va="top", **style.TINY)

    def _key(self, say: Catalogue) -> list[LegendEntry]:
        marks = (("baseline", BASELINE), ("period", PERIOD), ("latest", LATEST))
        entries = [
            LegendEntry(panels.mark_sample(how), say(f"figure.trend.{name}"), leads=how is LATEST)
            for name, how in marks[0 if self.baseline else 1 :]
        ]
        for name, how in (("in_control", IN_CONTROL), ("to_detect", TO_DETECT)):
            if any(isfinite(getattr(panel, name)) for panel in self.panels):
                entries.append(LegendEntry(panels.line_sample(how), say(f"figure.trend.{name}")))
        if any(isnan(e.value) for panel in self.panels for e in panel.estimates):
            entries.append(LegendEntry(_cross, say("figure.not_estimable")))
        for letter, (_, label) in zip(LETTERS, self.events):
            text = say("figure.trend.event", letter=letter, event=style.label(say, label))
            entries.append(LegendEntry(_upright, text))
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


def _scale(percent: bool) -> numbers.Scale:
    return "percent" if percent else "number"


def _period_names(say: Catalogue, short: Sequence[Message | str], n: int, *, baseline: bool) -> list[str]:
    """The periods by their names, else by their numbers, the baseline first where there is one."""
    labels = [style.label(say, name) for name in short] or [str(i + (not baseline)) for i in range(n)]
    return [say("figure.trend.base"), *labels[1:]] if baseline else labels


def _every(labels: list[str], room: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """A tick at every place, or at every so many where only `room` labels fit."""
    step = -(-len(labels) // room)
    return tuple(range(0, len(labels), step)), tuple(labels[::step])


def _upright(sheet: PlotSheet, x: float, y: float) -> None:
    at = x + panels.SAMPLE / 2 - 1.0
    sheet.plot([at, at], [y - 1.4, y + 1.4], **EVENT)


def _cross(sheet: PlotSheet, x: float, y: float) -> None:
    sheet.write(x + panels.SAMPLE / 2 - 1.8, y, CROSS, size=style.TICK, color=style.MUTE)


@dataclass(frozen=True, slots=True)
class _Strips:
    """Panels below each other at the left of a sheet, in millimetres."""

    left: float
    wide: float
    tall: float
    head: float
    between: float

    def on(
        self, sheet: PlotSheet, labels: Sequence[str], below: str, title: float
    ) -> Iterator[tuple[int, PlotPanel]]:
        """Each panel with its label as far above it as `title`, and at last what lies along the last axis."""
        top = self.head
        for k, label in enumerate(labels):
            sheet.write(self.left, top - title, label, **style.HEADING)
            yield k, sheet.panel(self.left, top, self.wide, self.tall)
            top += self.tall + self.between + self.head
        middle, bottom = self.left + self.wide / 2, top - self.between - self.head
        sheet.write(middle, bottom + 7.6, below, ha="center", **style.AXIS)

    def sheet(self, n: int) -> PlotSheet:
        """A sheet for so many panels."""
        return PlotSheet(n * (self.head + self.tall) + (n - 1) * self.between + 11.0)


STACKS = _Strips(left=15.0, wide=96.0, tall=27.0, head=6.5, between=8.5)
STACK_KEY = STACKS.left + STACKS.wide + 6.0
MOST_STACKS = 5
MOST_PARTS = 6
# From dark to light, so that neighbours differ in grey; a further group begins anew with stripes.
FILLS = (style.BLUE, style.TEAL, "#86a9cd", style.AMBER, style.HAIRLINE, style.RUST)


@dataclass(frozen=True, slots=True)
class StackPart:
    """A group: its name and its cases in each period."""

    label: Message | str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StackPanel:
    """The groups of one column; as shares of the period where `shares`, else as counts."""

    label: Message | str
    parts: tuple[StackPart, ...]
    shares: bool = False


@dataclass(frozen=True, slots=True)
class Stacked(Chart):
    """Panels over the same periods; with `baseline` the first place is the baseline.

    `short` are the names on the axis, numbers where there are none.
    """

    names: tuple[str, ...]
    panels: tuple[StackPanel, ...]
    baseline: bool
    short: tuple[Message | str, ...] = ()

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per panel, period and group."""
        return [
            {
                "label": style.label(say, panel.label),
                "period": name,
                "group": style.label(say, part.label),
                "value": part.counts[i],
            }
            for panel in self.panels
            for i, name in enumerate(self.names)
            for part in panel.parts
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        labels = [style.label(say, panel.label) for panel in self.panels]
        sheet = STACKS.sheet(len(labels))
        for k, plot in STACKS.on(sheet, labels, say("figure.trend.x"), 3.6):
            self._bars(say, plot, self.panels[k], k)
            self._key(say, sheet, self.panels[k], plot.top)
        return sheet

    def _bars(self, say: Catalogue, plot: PlotPanel, panel: StackPanel, number: int) -> None:
        n = len(self.names)
        totals = [sum(part.counts[i] for part in panel.parts) for i in range(n)]
        most = 1.0 if panel.shares else float(max([*totals, 1]))
        plot.x_axis((-0.6, n - 0.4))
        plot.y_axis((0, most), numbers.tick(say, "percent") if panel.shares else say.numbers.count)
        plot.ticks(_every(_period_names(say, self.short, n, baseline=self.baseline), 24))
        base = [0.0] * n
        for j, part in enumerate(panel.parts):
            scale = [1 / totals[i] if panel.shares and totals[i] else 1.0 for i in range(n)]
            heights = [part.counts[i] * scale[i] for i in range(n)]
            bars = plot.axes.bar(
                range(n), heights, 0.72, bottom=base, color=FILLS[j % len(FILLS)],
                edgecolor=style.PAPER, linewidth=style.HAIR,
            )  # fmt: skip
            for i, bar in enumerate(bars):
                bar.set_gid(f"bar-{number}-{j}-{i}")
                share = part.counts[i] / totals[i] if totals[i] else 0.0
                name = " · ".join((style.label(say, part.label), self.names[i]))
                counted = say("figure.mark_share", share=share, n=part.counts[i])
                bar.set_label(say("figure.mark", name=name, number=counted))
            base = [b + h for b, h in zip(base, heights)]

    def _key(self, say: Catalogue, sheet: PlotSheet, panel: StackPanel, y: float) -> None:
        """The groups beside the bars, the uppermost first, as they are stacked."""
        from matplotlib.patches import Rectangle

        for j, part in reversed(list(enumerate(panel.parts))):
            room = style.TEXT_WIDTH - STACK_KEY - 5.0
            name = style.wrap(style.label(say, part.label), room, style.SMALL)
            middle = y + style.height_of(" ", style.SMALL) / 2
            fill = FILLS[j % len(FILLS)]
            sheet.axes.add_patch(
                Rectangle((STACK_KEY, middle - 1.2), 2.8, 2.4, facecolor=fill, edgecolor="none")
            )
            sheet.write(STACK_KEY + 4.6, y, name, size=style.SMALL, va="top")
            y += style.height_of(name, style.SMALL) + 1.0


CONTROLS = _Strips(left=12.0, wide=124.0, tall=15.0, head=9.5, between=5.5)
MOST_CONTROLS = 4
PATH: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE, "solid_joinstyle": "miter"}
LIMIT: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": style.DASHED}
FLOOR: dict[str, Any] = {"color": style.BLUE, "lw": style.THIN, "ls": style.DOTTED}
ALERT: dict[str, Any] = {"marker": "s", "ms": 5.0, **style.filled(style.RUST)}
ACCEPT: dict[str, Any] = {"marker": "o", "ms": 4.8, **style.filled(style.BLUE)}


@dataclass(frozen=True, slots=True)
class ControlPanel:
    """One chart: `path` (cases so far, statistic), starting at (0, 0).

    `high` is the limit of an alert, `low` that of a decision for the rate in control (NaN: none). `alerts`
    are the places of alerts on the path, `accepted` that of such a decision. `periods` are the names of the
    periods and the cases at which each ends.
    """

    label: Message | str
    path: Points
    high: float
    low: float = nan
    alerts: Points = ()
    accepted: Points = ()
    periods: tuple[tuple[Message | str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ControlCharts(Chart):
    """Charts below each other, each with its own axis of cases."""

    panels: tuple[ControlPanel, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per corner of a path."""
        return [
            {
                "label": style.label(say, panel.label),
                "cases": x,
                "value": y,
                "limit": panel.high,
                "alert": say("word.yes" if (x, y) in panel.alerts else "word.no"),
            }
            for panel in self.panels
            for x, y in panel.path
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        labels = [style.label(say, panel.label) for panel in self.panels]
        sheet = CONTROLS.sheet(len(labels))
        for k, plot in CONTROLS.on(sheet, labels, say("figure.control_chart.x"), 7.0):
            self._panel(say, plot, sheet, self.panels[k], k)
        return sheet

    def _panel(
        self, say: Catalogue, plot: PlotPanel, sheet: PlotSheet, panel: ControlPanel, number: int
    ) -> None:
        y = [y for _, y in panel.path]
        last, right = max(panel.path[-1][0], 1.0), plot.left + plot.width
        low = min([0.0, *y, *([panel.low] if isfinite(panel.low) else [])])
        high = max([*y, panel.high])
        air = 0.08 * (high - low)
        plot.x_axis((0, last), say.numbers.count)
        plot.y_axis((low - (air if low < 0 else 0.0), high + air), numbers.tick(say, "number"))
        self._periods(say, plot, sheet, panel, last)
        for name, at, how in (("high", panel.high, LIMIT), ("low", panel.low, FLOOR)):
            if isfinite(at):
                plot.line(((0, at), (last, at)), f"{name}-{number}", zorder=1.5, **how)
                text = say(f"figure.control_chart.{name}", limit=say.numbers.fixed(at, 2))
                sheet.write(right + 2.0, plot.sheet_y(at), text, size=style.SMALL, color=how["color"])
        plot.line(panel.path, f"path-{number}", zorder=2, clip_on=False, **PATH)
        for i, place in enumerate(panel.alerts):
            plot.mark(*place, f"alert-{number}-{i}", **ALERT)
        for place in panel.accepted:
            plot.mark(*place, f"accepted-{number}", **ACCEPT)
        said = say("figure.control_chart.alerts", n=len(panel.alerts))
        sheet.write(right, plot.top - 7.0, said, ha="right", **style.MUTED)

    @staticmethod
    def _periods(say: Catalogue, plot: PlotPanel, sheet: PlotSheet, panel: ControlPanel, last: float) -> None:
        """Thin upright lines where a period ends, and its name above its middle where there is room."""
        start = 0.0
        for name, end in panel.periods:
            if end < last:
                plot.axes.axvline(end, color=style.HAIRLINE, lw=style.THIN, zorder=0)
            text = style.label(say, name)
            if (end - start) / last * plot.width > style.width_of(text, style.SMALLEST) + 1.5:
                middle = plot.left + (start + end) / 2 / last * plot.width
                sheet.write(middle, plot.top - 2.2, text, ha="center", **style.TINY)
            start = end
