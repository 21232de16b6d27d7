"""Calibration curves, histograms of values, and measured values against their reference."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.figures import numbers, panels, style
from trustreport.figures.panels import (
    Chart,
    LegendEntry,
    PlotPanel,
    PlotSheet,
    lay_out,
    line_sample,
    mark_sample,
    write_y_label,
)
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:  # brings SciPy
    from trustreport.measures.calibration.binned import CurvePoint

# Millimetres.
LEFT, RIGHT, GAP = 13.0, 2.0, 7.0
ALONE, MOST_SIDE = 48.0, 56.0  # side of a single panel, of one of several
STRIP, STRIP_GAP = 7.0, 1.8  # the histogram's height, and what is above it
ROW_GAP = 5.5
HIGH, LOWEST = 115.0, 24.0  # what panels below each other are made lower for, and how low
BELOW, KEY = 10.5, 4.2
LEAST_BESIDE = 12.0  # beside a histogram, for two lines of words

MARK: dict[str, Any] = {"marker": "o", "mfc": style.TEAL, "mec": style.PAPER, "mew": 0.5}


@dataclass(frozen=True, slots=True)
class Histogram:
    """Cases with and without the condition between one edge of the scores and the next."""

    edges: tuple[float, ...]
    present: tuple[int, ...]
    absent: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CalibrationPanel:
    """One data set: a mark with its interval for each bin, a smooth curve, how the scores are spread."""

    label: Message | str
    points: "tuple[CurvePoint, ...]"
    histogram: Histogram
    smooth: tuple[tuple[float, float], ...]
    slope: Estimate
    oe_ratio: Estimate


@dataclass(frozen=True, slots=True)
class CalibrationFigure(Chart):
    """Panels side by side; on the diagonal the scores mean what they say."""

    panels: tuple[CalibrationPanel, ...]
    at_horizon: bool = False  # scores are risks of an event by a horizon, in groups, without a smooth curve

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per bin of each panel."""
        return [
            {
                "label": style.label(say, panel.label),
                "bin_from": point.low,
                "bin_to": point.high,
                "mean_score": point.mean_score,
                **numbers.columns(point.observed, "n"),
            }
            for panel in self.panels
            for point in panel.points
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        n = len(self.panels)
        across = 1 if n == 1 else 2 if n in (2, 4) else 3 if n <= 9 else 4
        down = ceil(n / across)
        room = style.TEXT_WIDTH - LEFT - RIGHT
        key = self._key(say)
        side = ALONE if n == 1 else min((room - (across - 1) * GAP) / across, MOST_SIDE)
        titles = [_title(say, panel.label, side) for panel in self.panels]
        line = style.height_of(" ", style.SMALL)
        heads = [
            max(style.height_of(title, style.TICK) for title in titles[row * across : (row + 1) * across])
            + 2 * line
            + 2.0
            for row in range(down)
        ]
        around = STRIP_GAP + STRIP + ROW_GAP
        fixed = sum(heads) + down * around - ROW_GAP + BELOW + 2.0 + KEY * len(key)
        wanted, most = ((high - fixed) / down for high in (HIGH, style.PAGE_HEIGHT))
        tall = min(side, max(wanted, LOWEST), most)
        block, height = tall + around, fixed + down * tall
        sheet = PlotSheet(height)
        gap = 2 * GAP if across == 2 else GAP
        start = 0.0
        for i, (panel, title) in enumerate(zip(self.panels, titles)):
            row, column = divmod(i, across)
            if row and column == 0:
                start += heads[row - 1] + block
            left, top = LEFT + column * (side + gap), start + heads[row]
            for k, (name, e) in enumerate((("oe_ratio", panel.oe_ratio), ("slope", panel.slope))):
                text = say(f"figure.calibration.{name}", number=numbers.estimate(say, e, "number"))
                sheet.write(left, top - 1.6 - line * (k + 0.5), text, **style.MUTED)
            if title:
                sheet.write(left, top - 1.8 - 2 * line, title, va="bottom", **style.HEADING)
            # As wide as high, so that the diagonal is one.
            self._curve(say, sheet.panel(left, top, tall, tall), i)
            below = top + tall + STRIP_GAP
            self._histogram(say, sheet.panel(left, below, tall, STRIP), i, beside=side - tall)
            if column == 0:
                self._y_label(say, sheet, top, tall)
            if i + across >= n:
                x = left + tall / 2, below + STRIP + 7.0
                sheet.write(*x, say("figure.calibration.x"), ha="center", **style.AXIS)
        for k, text in enumerate(key):
            sheet.write(0, height - KEY * (len(key) - k - 0.5), text, **style.MUTED)
        return sheet

    @property
    def _ends(self) -> tuple[float, ...]:
        return panels.QUARTERS if len(self.panels) <= 4 else (0.0, 0.5, 1.0)

    def _y_label(self, say: Catalogue, sheet: PlotSheet, top: float, tall: float) -> None:
        text = say(f"figure.calibration.y{'_at_horizon' if self.at_horizon else ''}")
        write_y_label(sheet, text, top, top + tall)

    def _key(self, say: Catalogue) -> list[str]:
        level = numbers.level(say, self.panels[0].points[0].observed)
        text = say(f"figure.calibration.key{'_at_horizon' if self.at_horizon else ''}", level=level)
        return style.wrap(text, style.TEXT_WIDTH, style.SMALL).split("\n")

    def _curve(self, say: Catalogue, plot: PlotPanel, i: int) -> None:
        panel = self.panels[i]
        plot.x_axis((0, 1))
        plot.y_axis((0, 1))
        ends = self._ends
        plot.ticks((ends, [""] * len(ends)), (ends, [numbers.plain(say, x) for x in ends]), pad=2)
        plot.diagonal(f"as-said-{i}", style.INK)
        if panel.smooth:
            plot.line(panel.smooth, f"smooth-{i}", color=style.MUTE, lw=style.LINE, zorder=2)
        for k, point in enumerate(panel.points):
            e, at = point.observed, point.mean_score
            line: dict[str, Any] = {"color": style.TEAL, "lw": style.THIN, "zorder": 2.5}
            plot.line(((at, e.low), (at, e.high)), f"interval-{i}-{k}", **line)
            scores = [numbers.written_number(say, edge, 2, "number") for edge in (point.low, point.high)]
            between = say("figure.mark_between", **dict(zip(("from", "to"), scores)))
            label = numbers.of_mark(say, e, "percent", style.label(say, panel.label), between)
            size = 3.2 if len(self.panels) > 4 else 4.6
            plot.mark(at, e.value, f"mark-{i}-{k}", label=label, ms=size, **MARK)

    def _histogram(self, say: Catalogue, plot: PlotPanel, i: int, beside: float) -> None:
        """Cases with the condition upward, without it downward, on one scale.

        What the highest bar counts is `beside` it where there is room for it, else past the end of the bars
        where these are lowest.
        """
        counts = self.panels[i].histogram
        most = max(*counts.present, *counts.absent, 1)
        half = len(counts.present) // 2
        sides = [(max(of[part], default=0), left, up)
                 for of, up in ((counts.present, True), (counts.absent, False))
                 for part, left in ((slice(half), True), (slice(half, None), False))]  # fmt: skip
        tallest, left, up = min(sides)
        end = 1.08 * most if beside > LEAST_BESIDE else max(1.08 * most, tallest + 1.05 * most)
        plot.x_axis((0, 1))
        plot.y_axis((-1.08 * most, end) if up else (-end, 1.08 * most), line=False)
        plot.axes.spines["bottom"].set_visible(False)
        for name, sign, of, colour in (
            ("present", 1, counts.present, style.BLUE),
            ("absent", -1, counts.absent, style.FAINT),
        ):
            for k, (n, low, high) in enumerate(zip(of, counts.edges, counts.edges[1:])):
                if n:
                    x, y = [low, high, high, low], [0, 0, sign * n, sign * n]
                    plot.axes.fill(x, y, color=colour, ec=style.PAPER, lw=0.4, gid=f"{name}-{i}-{k}")
        plot.axes.axhline(0, color=style.MUTE, lw=style.HAIR)
        plot.ticks((self._ends, [numbers.plain(say, x) for x in self._ends]))
        text = say("figure.calibration.most", n=most)
        if beside > LEAST_BESIDE:
            plot.write(1.05, 0, style.wrap(text, beside, style.SMALLEST), ha="left", **style.TINY)
            return
        place: dict[str, Any] = {"ha": "left" if left else "right", "va": "top" if up else "bottom"}
        plot.write(0.0 if left else 1.0, end if up else -end, text, **place, **style.TINY)


def _title(say: Catalogue, label: Message | str, width: float) -> str:
    """The name of a set in at most two lines."""
    lines = style.wrap(style.label(say, label), width - 3.0, style.TICK, style.SEMIBOLD).split("\n")
    if len(lines) > 2:
        lines = [lines[0], say("word.shortened", text=lines[1])]
    return "\n".join(lines)


MOST_VALUES = 12  # of more distinct values, counts are put together in equal steps
STEPS = 10
FILLED = 0.82  # of the room of a bar
LINE_ROOM = 1.2  # millimetres between the lowest line of labels and the bars
ABOVE: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": style.DASHED, "zorder": 2}


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """How many have a value, or lie in the step around it."""

    at: float
    n: int


@dataclass(frozen=True, slots=True)
class HistogramMark:
    """A value above which, or from which on, a part lies; `label` says which part."""

    at: float
    label: Message | str


@dataclass(frozen=True, slots=True)
class HistogramPanel:
    """The bars of one data set, each `width` wide."""

    label: Message | str
    bars: tuple[HistogramBar, ...]
    width: float
    marks: tuple[HistogramMark, ...] = ()

    @classmethod
    def of_values(
        cls, label: Message | str, values: NDArray[np.float64], marks: Sequence[HistogramMark] = ()
    ) -> "HistogramPanel":
        """Bars at the values themselves where they are few, else over equal steps."""
        distinct, counts = np.unique(values, return_counts=True)
        width = float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0
        if len(distinct) > MOST_VALUES:
            counts, edges = np.histogram(values, STEPS)
            distinct, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
        bars = tuple(HistogramBar(float(x), int(n)) for x, n in zip(distinct.tolist(), counts.tolist()))
        return cls(label, bars, width, tuple(marks))


@dataclass(frozen=True, slots=True)
class HistogramChart(Chart):
    """Panels side by side, each with an axis of its own counts; `marked` says what the dashed lines are."""

    panels: tuple[HistogramPanel, ...]
    x: Message
    y: Message
    marked: Message | str = ""

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per bar, then per marked value."""
        rows: list[dict[str, Any]] = []
        for panel in self.panels:
            place = style.label(say, panel.label)
            rows += [{"place": place, "at": bar.at, "value": bar.n} for bar in panel.bars]
            rows += [
                {"place": place, "label": style.label(say, m.label), "at": m.at, "declared": True}
                for m in panel.marks
            ]
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        titles = [style.label(say, panel.label) for panel in self.panels]
        key = []
        if any(panel.marks for panel in self.panels):
            key = [LegendEntry(panels.line_sample(ABOVE), style.label(say, self.marked))]
        sheet, plots = panels.lay_out(titles, (say(self.x), say(self.y)), key, ratio=0.62, gap=13.0)
        for i, (panel, plot) in enumerate(zip(self.panels, plots)):
            self._bars(say, plot, panel, str(i))
        return sheet

    def _bars(self, say: Catalogue, plot: PlotPanel, panel: HistogramPanel, name: str) -> None:
        left = panel.bars[0].at - panel.width * 0.6
        right = panel.bars[-1].at + panel.width * 0.6
        span, tallest = right - left, max(bar.n for bar in panel.bars)
        texts = [style.label(say, mark.label) for mark in panel.marks]
        rows = _rows([mark.at * plot.width / span for mark in panel.marks], texts)
        # The labels of marks stand above the bars, on as many lines as keep them apart.
        line = style.LINE_HEIGHT * style.SMALLEST
        room = (max(rows, default=-1) + 1) * line + (LINE_ROOM if rows else 0.0)
        top = tallest * 1.04 / (1 - room / plot.height)
        plot.x_axis((left, right))
        plot.y_axis((0, top))
        for k, bar in enumerate(panel.bars):
            (drawn,) = plot.axes.bar(bar.at, bar.n, panel.width * FILLED, color=style.BLUE, lw=0, zorder=1)
            drawn.set_gid(f"bar-{name}-{k}")
        for k, (mark, row, text) in enumerate(zip(panel.marks, rows, texts)):
            up = top * (1 - (row + 0.5) * line / plot.height)
            plot.line(((mark.at, 0), (mark.at, up - top * line / 2 / plot.height)), f"at-{name}-{k}", **ABOVE)
            half = style.width_of(text, style.SMALLEST) / 2 * span / plot.width
            how: dict[str, Any] = {"size": style.SMALLEST, "color": style.RUST, "ha": "center", "zorder": 3}
            plot.write(min(max(mark.at, left + half), right - half), up, text, **how)
        plain = numbers.tick(say, "number")
        at = [bar.at for bar in panel.bars]
        spoken = tuple(at), tuple(map(plain, at))
        fits = all(style.width_of(text, style.TICK) + 1.5 < plot.width / len(at) for text in spoken[1])
        even = len(at) < 3 or np.ptp(np.diff(at)) < 1e-9
        own = fits and even and len(at) < STEPS
        plot.ticks(spoken if own else numbers.linear_ticks(left, right, plot.width, plain))
        counted = zip(*numbers.linear_ticks(0, tallest, plot.height, plain, upright=True))
        heights, counts = zip(*((y, text) for y, text in counted if y == int(y)))
        plot.ticks(y=(heights, counts))


def _rows(at: Sequence[float], texts: Sequence[str]) -> list[int]:
    """On which line each label stands, so that none lies over another; `at` in millimetres."""
    half = [style.width_of(text, style.SMALLEST) / 2 for text in texts]
    rows: list[int] = []
    for k, x in enumerate(at):
        taken = {rows[j] for j in range(k) if abs(at[j] - x) < half[k] + half[j] + 2.0}
        rows.append(next(row for row in range(k + 1) if row not in taken))
    return rows


AIR = 0.06
POINT: dict[str, Any] = {"marker": "o", "ms": 2.6, "mfc": style.BLUE, "mec": "none", "alpha": 0.55}
BIAS: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE}
LIMIT: dict[str, Any] = {"color": style.INK, "lw": style.THIN, "ls": style.DASHED}
EQUAL: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN}


@dataclass(frozen=True, slots=True)
class AgreementPanel:
    """The cases of one device or arm: the reference and the measured value of each, and what they give.

    `lines` are the bias and, of a device, both limits of agreement, as far as they are known.
    """

    label: Message | str
    points: tuple[tuple[float, float], ...]
    lines: tuple[Estimate, ...] = ()


@dataclass(frozen=True, slots=True)
class _Agreement(Chart):
    """Panels with the same axes; `unit` is written with the names of the axes."""

    panels: tuple[AgreementPanel, ...]
    unit: str = ""

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row for each panel: cases, bias and limits of agreement."""
        rows = []
        for panel in self.panels:
            row: dict[str, Any] = {"label": style.label(say, panel.label), "cases": len(panel.points)}
            for name, e in zip(("bias", "limit_low", "limit_high"), panel.lines):
                row |= {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high}
            rows.append(row)
        return rows

    def _unit(self) -> str:
        return f" ({self.unit})" if self.unit else ""

    def _sheet(
        self, say: Catalogue, axes: tuple[str, str], key: Sequence[LegendEntry], ratio: float
    ) -> tuple[PlotSheet, list[PlotPanel]]:
        names = [style.label(say, panel.label) for panel in self.panels]
        named = tuple(say(f"figure.agreement.{axis}") + self._unit() for axis in axes)
        return lay_out(names, (named[0], named[1]), key, ratio=ratio, gap=8.0)


def _ends_of(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    air = AIR * ((high - low) or abs(high) or 1.0)
    return low - air, high + air


class DifferencePlot(_Agreement):
    """Differences from the reference against the mean of both values (Bland and Altman)."""

    __slots__ = ()

    def _draw(self, say: Catalogue) -> PlotSheet:
        key = [
            LegendEntry(mark_sample(POINT), say("figure.agreement.case")),
        ]
        most = max(len(panel.lines) for panel in self.panels)
        if most:
            key.append(LegendEntry(line_sample(BIAS), say("figure.agreement.bias"), leads=True))
        if most > 1:
            key.append(LegendEntry(line_sample(LIMIT), say("figure.agreement.limits")))
        sheet, panels = self._sheet(say, ("mean", "difference"), key, 0.72)
        every = [((x + y) / 2, y - x) for panel in self.panels for x, y in panel.points]
        ends = [x for panel in self.panels for e in panel.lines for x in (e.low, e.high, e.value) if x == x]
        across, up = _ends_of([x for x, _ in every]), _ends_of([0.0, *(y for _, y in every), *ends])
        text = numbers.tick(say, "number")
        for shown, plot in zip(self.panels, panels, strict=True):
            plot.x_axis(across, text)
            plot.y_axis(up, text)
            plot.plot(across, (0.0, 0.0), **EQUAL)
            for i, e in enumerate(shown.lines):
                how = BIAS if i == 0 else LIMIT
                if e.low == e.low:
                    plot.axes.axhspan(e.low, e.high, color=how["color"], alpha=0.12, lw=0)
                if e.value == e.value:
                    plot.plot(across, (e.value, e.value), **how)
            x, y = zip(*(((a + b) / 2, b - a) for a, b in shown.points))
            plot.plot(x, y, ls="none", zorder=3, **POINT)
        return sheet


class IdentityPlot(_Agreement):
    """Measured values against the reference, with the line on which both are equal."""

    __slots__ = ()

    def _draw(self, say: Catalogue) -> PlotSheet:
        key = [
            LegendEntry(mark_sample(POINT), say("figure.agreement.case")),
            LegendEntry(line_sample(EQUAL), say("figure.agreement.equal")),
        ]
        sheet, panels = self._sheet(say, ("reference", "measured"), key, 1.0)
        ends = _ends_of([x for panel in self.panels for point in panel.points for x in point])
        text = numbers.tick(say, "number")
        for shown, plot in zip(self.panels, panels, strict=True):
            plot.x_axis(ends, text)
            plot.y_axis(ends, text)
            plot.plot(ends, ends, **EQUAL)
            x, y = zip(*shown.points)
            plot.plot(x, y, ls="none", zorder=3, **POINT)
        return sheet
