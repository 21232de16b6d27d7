"""Calibration curves: the share of cases with the condition against what the scores said; a panel a set."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from trustreport.estimate import Estimate
from trustreport.figures import curves, numbers, style
from trustreport.figures.panel import Chart, Panel, Sheet
from trustreport.measures.calibration.curve import CurvePoint
from trustreport.messages import Catalogue, Message

MOST_PANELS = 12
# Millimetres.
LEFT, RIGHT, GAP = 13.0, 2.0, 7.0
ALONE, MOST_SIDE = 48.0, 56.0  # side of a single panel, of one of several
STRIP, STRIP_GAP = 0.2, 3.2  # the histogram's height as a share of the side, and what is above it
MOST_HEAD = 14.0  # two lines of name, two of numbers
ROW_GAP = 5.0
BELOW, KEY = 10.5, 4.2

MARK: dict[str, Any] = {"marker": "o", "mfc": style.TEAL, "mec": style.PAPER, "mew": 0.5}
BAND = (0.055, 0.486, 0.482, 0.16)  # teal, see-through


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
    points: tuple[CurvePoint, ...]
    histogram: Histogram
    smooth: tuple[tuple[float, float], ...]
    slope: Estimate
    oe_ratio: Estimate


@dataclass(frozen=True, slots=True)
class CalibrationFigure(Chart):
    """Panels side by side; on the diagonal the scores mean what they say.

    The band of a bin reaches over its scores and over the interval of the observed share.
    """

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

    def _draw(self, say: Catalogue) -> Sheet:
        n = len(self.panels)
        across = 1 if n == 1 else 2 if n in (2, 4) else 3 if n <= 9 else 4
        down = ceil(n / across)
        room = style.TEXT_WIDTH - LEFT - RIGHT
        key = self._key(say)
        fixed = BELOW + 2.0 + KEY * len(key) + down * (MOST_HEAD + STRIP_GAP + ROW_GAP)
        side = ALONE if n == 1 else min((room - (across - 1) * GAP) / across, MOST_SIDE)
        side = min(side, (style.PAGE_HEIGHT - fixed) / (1 + STRIP) / down)
        strip = STRIP * side
        titles = [_title(say, panel.label, side) for panel in self.panels]
        line = style.height_of(" ", style.SMALL)
        heads = [
            max(style.height_of(title, style.TICK) for title in titles[row * across : (row + 1) * across])
            + 2 * line
            + 2.0
            for row in range(down)
        ]
        block = side + STRIP_GAP + strip + ROW_GAP
        height = sum(heads) + down * block - ROW_GAP + BELOW + 2.0 + KEY * len(key)
        sheet = Sheet(height)
        gap = 2 * GAP if across == 2 else GAP
        left_of_all = LEFT + (room - across * side - (across - 1) * gap) / 2
        start = 0.0
        for i, (panel, title) in enumerate(zip(self.panels, titles)):
            row, column = divmod(i, across)
            if row and column == 0:
                start += heads[row - 1] + block
            left, top = left_of_all + column * (side + gap), start + heads[row]
            for k, (name, e) in enumerate((("oe_ratio", panel.oe_ratio), ("slope", panel.slope))):
                text = say(f"figure.calibration.{name}", number=numbers.estimate(say, e, "number"))
                sheet.write(left, top - 1.6 - line * (k + 0.5), text, **style.MUTED)
            if title:
                sheet.write(left, top - 1.8 - 2 * line, title, va="bottom", **style.HEADING)
            ends = {"first": column == 0, "last": i + across >= n}
            self._curve(say, sheet.panel(left, top, side, side, **ends), i)
            below = top + side + STRIP_GAP
            self._histogram(say, sheet.panel(left, below, side, strip, **ends), i)
        for k, text in enumerate(key):
            sheet.write(0, height - KEY * (len(key) - k - 0.5), text, **style.MUTED)
        return sheet

    @property
    def _ends(self) -> tuple[float, ...]:
        return curves.QUARTERS if len(self.panels) <= 4 else (0.0, 0.5, 1.0)

    def _ticks(self, say: Catalogue, *, shown: bool) -> tuple[tuple[float, ...], list[str]]:
        return self._ends, [numbers.plain(say, x) if shown else "" for x in self._ends]

    def _key(self, say: Catalogue) -> list[str]:
        level = numbers.level(say, self.panels[0].points[0].observed)
        text = say(f"figure.calibration.key{'_at_horizon' if self.at_horizon else ''}", level=level)
        return style.wrap(text, style.TEXT_WIDTH, style.SMALL).split("\n")

    def _curve(self, say: Catalogue, plot: Panel, i: int) -> None:
        panel = self.panels[i]
        plot.across((0, 1))
        plot.upward((0, 1))
        plot.ticks(self._ticks(say, shown=False), self._ticks(say, shown=plot.first), pad=2)
        if plot.first:
            text = say(f"figure.calibration.y{'_at_horizon' if self.at_horizon else ''}")
            plot.axes.set_ylabel(text, size=style.TICK, labelpad=3)
        plot.diagonal(f"as-said-{i}", style.INK)
        for k, point in enumerate(panel.points):
            e = point.observed
            x, y = [point.low, point.high, point.high, point.low], [e.low, e.low, e.high, e.high]
            plot.axes.fill(x, y, color=BAND, lw=0, zorder=0.5, gid=f"band-{i}-{k}")
        if panel.smooth:
            plot.line(panel.smooth, f"smooth-{i}", color=style.MUTE, lw=style.LINE, zorder=2)
        for k, point in enumerate(panel.points):
            e, at = point.observed, point.mean_score
            line: dict[str, Any] = {"color": style.TEAL, "lw": style.THIN, "zorder": 2.5}
            plot.line(((at, e.low), (at, e.high)), f"interval-{i}-{k}", **line)
            scores = [numbers.one(say, edge, 2, "number") for edge in (point.low, point.high)]
            between = say("figure.mark_between", **dict(zip(("from", "to"), scores)))
            label = numbers.of_mark(say, e, "percent", style.label(say, panel.label), between)
            size = 3.2 if len(self.panels) > 4 else 4.6
            plot.mark(at, e.value, f"mark-{i}-{k}", label=label, ms=size, **MARK)

    def _histogram(self, say: Catalogue, plot: Panel, i: int) -> None:
        """Cases with the condition upward, without it downward, on one scale."""
        counts = self.panels[i].histogram
        most = max(*counts.present, *counts.absent, 1)
        plot.across((0, 1))
        plot.upward((-1.08 * most, 1.08 * most), line=False)
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
        plot.ticks(self._ticks(say, shown=plot.last), ([most], [say.numbers.count(most)]))
        plot.axes.tick_params(axis="y", length=0, labelsize=style.SMALLEST, pad=1.5)
        if plot.last:
            plot.axes.set_xlabel(say("figure.calibration.x"), size=style.TICK, labelpad=2)


def _title(say: Catalogue, label: Message | str, width: float) -> str:
    """The name of a set in at most two lines."""
    lines = style.wrap(style.label(say, label), width - 3.0, style.TICK, style.SEMIBOLD).split("\n")
    if len(lines) > 2:
        lines = [lines[0], say("word.shortened", text=lines[1])]
    return "\n".join(lines)
