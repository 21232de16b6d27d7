"""Lines over a range, thinned, with bands and marked places; among them decision curves of net benefit."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import hypot, isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trustreport.figures import numbers, panels, style
from trustreport.figures.panels import Chart, LegendEntry, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

Points = tuple[tuple[float, float], ...]

MOST_POINTS = 400
GAP = 13.0
ASIDE = 1.3  # millimetres between the limits of two lines at one place
WIDEST = 2.6  # and between those of the first and the last
CLEAR = 1.5  # of a mark at an end of the axis from what is written beside it
BELOW_ZERO = 0.22  # room below zero, as a share of the largest net benefit
MARK: dict[str, Any] = {"marker": "o", "ms": 5.0, "mec": style.PAPER, "mew": 0.7}
ASKED: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": (0, (1.2, 1.6))}
ALL: dict[str, Any] = {"color": style.MUTE, "lw": style.LINE, "ls": style.DASHED}
NONE: dict[str, Any] = {"color": style.INK, "lw": style.THIN}


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
class LinePoint:
    """A place on a line, with limits where there are any."""

    x: float
    y: float
    low: float = nan
    high: float = nan

    @property
    def estimate(self) -> Estimate:
        """The value with its limits, as it is written."""
        return Estimate(self.y, self.low, self.high, 0)


@dataclass(frozen=True, slots=True)
class LineOver:
    """A line through points; points with limits of their own make its band. `marked` are declared places."""

    label: Message | str
    points: tuple[LinePoint, ...]
    marked: tuple[LinePoint, ...] = ()


@dataclass(frozen=True, slots=True)
class LinesPanel:
    """The lines of one data set or candidate."""

    label: Message | str
    lines: tuple[LineOver, ...]


def _draw_line(
    plot: PlotPanel,
    line: LineOver,
    how: dict[str, Any],
    labels: Sequence[str],
    *,
    ids: tuple[str, str, str],
    band: float,
    aside: float,
) -> None:
    """A line with its band, as opaque as `band`, and its marked places with their limits, set `aside`.

    `labels` say what each mark is; `ids` are the kind of line and of mark, and what tells this one apart.
    """
    least, most = plot.axes.get_ylim()
    line_id, mark_id, name = ids
    limited = [p for p in line.points if numbers.has_interval(p.estimate)]
    if band and len(limited) > 1:
        x, low, high = zip(
            *((p.x, *(plot.clipped(y, upright=True) for y in (p.low, p.high))) for p in limited)
        )
        filled = plot.axes.fill_between(x, low, high, color=how["color"], alpha=band, lw=0, zorder=1)
        filled.set_gid(f"band-{name}")
    drawn = tuple((p.x, min(p.y, most)) for p in line.points if isfinite(p.y))
    for part in above(drawn, least):
        plot.line(part, f"{line_id}-{name}", zorder=2, clip_on=False, **how)
    for k, (p, label) in enumerate(zip(line.marked, labels)):
        if least <= p.y <= most:
            thin: dict[str, Any] = {"color": how["color"], "zorder": 2.5, "clip_on": False, "upright": True}
            plot.interval(p.low, p.high, p.x + aside, f"interval-{name}-{k}", **thin)
            plot.mark(p.x + aside, p.y, f"{mark_id}-{name}-{k}", mfc=how["color"], label=label, **MARK)


@dataclass(frozen=True, slots=True)
class LinesChart(Chart):
    """Panels with one pair of axes; what lies below `y_range` is cut off.

    `asked` is a level that was declared beforehand, drawn across every panel, and `marked` says what the
    marks are. `percent` writes x as per cent.
    """

    panels: tuple[LinesPanel, ...]
    x: Message
    y: Message
    x_range: tuple[float, float]
    y_range: tuple[float, float] = (0.0, 1.0)
    marked: Message | str = ""
    asked: float = nan
    asked_label: Message | str = ""
    percent: bool = False

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of each line, then its marked places."""
        rows: list[dict[str, Any]] = [
            {
                "label": style.label(say, line.label),
                "place": style.label(say, panel.label),
                "at": p.x,
                **numbers.columns(p.estimate),
                "declared": declared,
            }
            for panel in self.panels
            for line in panel.lines
            for points, declared in ((line.points, False), (line.marked, True))
            for p in points
        ]
        if isfinite(self.asked):
            rows.append({"label": style.label(say, self.asked_label), "value": self.asked, "declared": True})
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        titles = [style.label(say, panel.label) for panel in self.panels]
        ratio = 0.8 if len(titles) == 1 else 0.74
        sheet, plots = panels.lay_out(
            titles, (say(self.x), say(self.y)), self._key(say), ratio=ratio, gap=GAP
        )
        which = style.strokes(line.label for panel in self.panels for line in panel.lines)
        for i, (panel, plot) in enumerate(zip(self.panels, plots)):
            self._frame(say, plot, panel)
            if isfinite(self.asked):
                plot.axes.axhline(self.asked, zorder=1.5, gid=f"asked-{i}", **ASKED)
            marked = [k for k, line in enumerate(panel.lines) if line.marked]
            step = min(ASIDE, WIDEST / max(len(marked) - 1, 1)) / plot.width
            for k, line in enumerate(panel.lines):
                aside = (marked.index(k) - (len(marked) - 1) / 2) * step if k in marked else 0.0
                _draw_line(
                    plot,
                    line,
                    style.stroke(which[style.label_key(line.label)]),
                    [self._of_mark(say, panel, line, p) for p in line.marked],
                    ids=("line", "marked", f"{i}-{k}"),
                    band=0.12,
                    aside=aside * (self.x_range[1] - self.x_range[0]),
                )
        return sheet

    def _frame(self, say: Catalogue, plot: PlotPanel, panel: LinesPanel) -> None:
        (left, right), marked = self.x_range, [p.x for line in panel.lines for p in line.marked]
        room = (WIDEST / 2 + CLEAR) * (right - left) / plot.width
        if marked:  # those at an end keep clear of the labels of the axis
            left, right = min(left, min(marked) - room), max(right, max(marked) + room)
        written = numbers.tick(say, "percent" if self.percent else "number")
        plot.x_axis((left, right), written, over=self.x_range)
        plot.y_axis(self.y_range, numbers.tick(say, "number"))
        if self.y_range[0] < 0:
            plot.axes.axhline(0, color=style.HAIRLINE, lw=style.HAIR, zorder=0)

    def _of_mark(self, say: Catalogue, panel: LinesPanel, line: LineOver, p: LinePoint) -> str:
        """What a marked place says about itself."""
        at = say.numbers.percent(p.x, 1) if self.percent else numbers.plain(say, round(p.x, 4))
        names = (style.label(say, panel.label), style.label(say, line.label), at)
        return numbers.of_mark(say, p.estimate, "number", *names)

    def _key(self, say: Catalogue) -> list[LegendEntry]:
        lines = [line for panel in self.panels for line in panel.lines]
        labels = {style.label_key(line.label): line.label for line in lines}
        entries = [
            LegendEntry(panels.stroke_sample(i), style.label(say, labels[name]))
            for name, i in style.strokes(line.label for line in lines).items()
        ]
        if self.marked and any(line.marked for line in lines):
            entries.append(LegendEntry(panels.interval_sample(MARK), style.label(say, self.marked)))
        if isfinite(self.asked):
            sample = panels.line_sample(ASKED, 2.0)
            entries.append(LegendEntry(sample, style.label(say, self.asked_label)))
        return entries


@dataclass(frozen=True, slots=True)
class DecisionPanel:
    """One data set: net benefit over thresholds, a line for each candidate, declared thresholds marked.

    `treat_all` is (threshold, net benefit) of acting on everybody.
    """

    label: Message | str
    lines: tuple[LineOver, ...]
    treat_all: Points


@dataclass(frozen=True, slots=True)
class DecisionCurves(Chart):
    """A line with its band for each candidate, treat-all, treat-none, declared thresholds marked.

    What lies far below zero is cut off: there acting on nobody is better, however much worse the rest is.
    """

    panels: tuple[DecisionPanel, ...]
    level: float = 0.95

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of each line; those of treat-all last."""
        rows: list[dict[str, Any]] = []
        for panel in self.panels:
            place = style.label(say, panel.label)
            rows += [
                {
                    "label": _name(say, line),
                    "place": place,
                    "threshold": p.x,
                    **numbers.columns(p.estimate),
                    "declared": declared,
                }
                for line in panel.lines
                for points, declared in ((line.points, False), (line.marked, True))
                for p in points
            ]
            label = say("figure.decision_curve.treat_all")
            rows += [{"label": label, "place": place, "threshold": t, "value": y} for t, y in panel.treat_all]
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        titles = [style.label(say, panel.label) for panel in self.panels]
        axes = say("figure.decision_curve.x"), say("figure.decision_curve.y")
        ratio = 0.8 if len(titles) == 1 else 0.74
        sheet, plots = panels.lay_out(titles, axes, self._key(say), ratio=ratio, gap=GAP)
        which = style.strokes(line.label for panel in self.panels for line in panel.lines)
        for i, (panel, plot) in enumerate(zip(self.panels, plots)):
            x0, x1 = panel.treat_all[0][0], panel.treat_all[-1][0]
            drawn = [p for line in panel.lines for p in (*line.points, *line.marked)]
            # Upper limits count where the line itself lies above zero.
            tops = [y for p in drawn for y in ((p.y, p.high) if p.y > 0 else (p.y,))]
            most = max(0.01, panel.treat_all[0][1], *tops)
            plot.x_axis((x0, x1), numbers.tick(say, "percent"))
            plot.y_axis((-BELOW_ZERO * most, 1.06 * most), numbers.tick(say, "number"))
            plot.axes.axhline(0, zorder=1.5, gid=f"treat-none-{i}", **NONE)
            for part in above(panel.treat_all, -BELOW_ZERO * most):
                plot.line(part, f"treat-all-{i}", zorder=1.8, **ALL)
            # Several lines have limits at the declared thresholds only, side by side.
            for k, line in enumerate(panel.lines):
                _draw_line(
                    plot,
                    line,
                    style.stroke(which[style.label_key(line.label)]),
                    [
                        numbers.of_mark(
                            say,
                            p.estimate,
                            "number",
                            style.label(say, panel.label),
                            style.label(say, line.label),
                            numbers.percent(say, p.x),
                        )
                        for p in line.marked
                    ],
                    ids=("curve", "declared", f"{i}-{k}"),
                    band=0.14 if len(panel.lines) == 1 else 0.0,
                    aside=(k - (len(panel.lines) - 1) / 2) * ASIDE / plot.width * (x1 - x0),
                )
        return sheet

    def _key(self, say: Catalogue) -> list[LegendEntry]:
        lines = [line for panel in self.panels for line in panel.lines]
        first = {style.label_key(line.label): line for line in reversed(lines)}
        alone, bands = len(self.panels) == 1, all(len(panel.lines) == 1 for panel in self.panels)
        level = numbers.plain(say, round(100 * self.level, 6))
        entries = []
        for name, i in style.strokes(line.label for line in lines).items():
            text = _name(say, first[name])
            if bands:
                text = say("figure.decision_curve.line", name=text, level=level)
            details = self._numbers(say, first[name]) if alone else ()
            entries.append(LegendEntry(panels.stroke_sample(i), text, details, leads=alone))
        if any(line.marked for line in lines):
            text = say("figure.decision_curve.declared", level=level)
            entries.append(LegendEntry(panels.interval_sample(MARK), text))
        for treated, how in (("all", ALL), ("none", NONE)):
            text = say(f"figure.decision_curve.treat_{treated}")
            entries.append(LegendEntry(panels.line_sample(how), text))
        return entries

    def _numbers(self, say: Catalogue, line: LineOver) -> tuple[str, ...]:
        """Net benefit at the first declared thresholds."""
        found = []
        for p in line.marked[:4]:
            value, low, high = numbers.parts(say, p.estimate, "number")
            threshold = numbers.percent(say, p.x)
            found.append(
                say("figure.decision_curve.at", threshold=threshold, value=value, low=low, high=high)
            )
        return tuple(found)


def _name(say: Catalogue, line: LineOver) -> str:
    return style.label(say, line.label) or say("figure.decision_curve.device")
