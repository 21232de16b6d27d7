"""Calibration curves: the share of cases with the condition against what the scores said; a panel a set."""

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from trustreport.estimate import Estimate
from trustreport.figures import numbers, style
from trustreport.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from trustreport.measures.calibration.binned import CurvePoint

MOST_PANELS = 12
# Millimetres.
LEFT, RIGHT, GAP = 13.0, 2.0, 7.0
ALONE, MOST_SIDE = 48.0, 56.0  # side of a single panel, of one of several
STRIP, STRIP_GAP = 0.2, 3.2  # the histogram's height as a share of the side, and what is above it
MOST_HEAD = 14.0  # two lines of name, two of numbers
ROW_GAP = 5.0
BELOW, KEY = 10.5, 4.2

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
    points: "tuple[CurvePoint, ...]"
    histogram: Histogram
    smooth: tuple[tuple[float, float], ...]
    slope: Estimate
    oe_ratio: Estimate


@dataclass(frozen=True, slots=True)
class CalibrationFigure:
    """Panels side by side; on the diagonal the scores mean what they say.

    The band of a bin reaches over its scores and over the interval of the observed share.
    """

    panels: tuple[CalibrationPanel, ...]
    at_horizon: bool = False  # scores are risks of an event by a horizon, in groups, without a smooth curve

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per bin of each panel."""
        return [
            {
                "label": style.label_text(say, panel.label),
                "bin_from": point.low,
                "bin_to": point.high,
                "mean_score": point.mean_score,
                "value": point.observed.value,
                "low": point.observed.low,
                "high": point.observed.high,
                "n": point.observed.n,
            }
            for panel in self.panels
            for point in panel.points
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
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
        heads = [
            max(style.height_of(title, style.TICK) for title in titles[row * across : (row + 1) * across])
            + 2 * style.height_of(" ", style.SMALL)
            + 2.0
            for row in range(down)
        ]
        block = side + STRIP_GAP + strip + ROW_GAP
        height = sum(heads) + down * block - ROW_GAP + BELOW + 2.0 + KEY * len(key)
        figure, sheet = style.figure(style.TEXT_WIDTH, height)
        gap = 2 * GAP if across == 2 else GAP
        left_of_all = LEFT + (room - across * side - (across - 1) * gap) / 2
        top = 0.0
        for row in range(down):
            head = heads[row]
            for column in range(min(across, n - row * across)):
                i = row * across + column
                left = left_of_all + column * (side + gap)
                self._head(say, sheet, self.panels[i], titles[i], left, top + head)
                plot = style.panel(figure, left, top + head, side, side)
                last = i + across >= n
                self._curve(say, plot, i, first=column == 0)
                below = style.panel(figure, left, top + head + side + STRIP_GAP, side, strip)
                self._histogram(say, below, i, first=column == 0, last=last)
            top += head + block
        for k, text in enumerate(key):
            style.write(sheet, 0, height - KEY * (len(key) - k - 0.5), text, **_MUTED)
        return figure

    def _key(self, say: Catalogue) -> list[str]:
        level = numbers.plain(say, round(100 * self.panels[0].points[0].observed.level, 6))
        text = say(f"figure.calibration.key{'_at_horizon' if self.at_horizon else ''}", level=level)
        return style.wrap(text, style.TEXT_WIDTH, style.SMALL).split("\n")

    def _head(
        self, say: Catalogue, sheet: "Axes", panel: CalibrationPanel, title: str, left: float, bottom: float
    ) -> None:
        """The set's name, slope and ratio above the panel."""
        line = style.height_of(" ", style.SMALL)
        for k, (name, e) in enumerate((("oe_ratio", panel.oe_ratio), ("slope", panel.slope))):
            number = numbers.estimate(say, e, "number")
            text = say(f"figure.calibration.{name}", number=number)
            style.write(sheet, left, bottom - 1.6 - line * (k + 0.5), text, **_MUTED)
        if title:
            how: dict[str, Any] = {"size": style.TICK, "weight": style.SEMIBOLD, "va": "bottom"}
            style.write(sheet, left, bottom - 1.8 - 2 * line, title, **how)

    def _curve(self, say: Catalogue, plot: "Axes", i: int, *, first: bool) -> None:
        panel = self.panels[i]
        plot.set(xlim=(0, 1), ylim=(0, 1))
        plot.spines["left"].set_visible(True)
        ends = (0.0, 0.25, 0.5, 0.75, 1.0) if len(self.panels) <= 4 else (0.0, 0.5, 1.0)
        plot.set_yticks(ends, [numbers.plain(say, x) if first else "" for x in ends])
        plot.set_xticks(ends, ["" for _ in ends])
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE, pad=2)
        if first:
            y = say(f"figure.calibration.y{'_at_horizon' if self.at_horizon else ''}")
            plot.set_ylabel(y, size=style.TICK, labelpad=3)
        plot.plot([0, 1], [0, 1], color=style.INK, lw=style.THIN, zorder=1, gid=f"as-said-{i}")
        for k, point in enumerate(panel.points):
            e = point.observed
            x = [point.low, point.high, point.high, point.low]
            plot.fill(x, [e.low, e.low, e.high, e.high], color=BAND, lw=0, zorder=0.5, gid=f"band-{i}-{k}")
        if panel.smooth:
            across, upward = zip(*panel.smooth)
            plot.plot(across, upward, color=style.MUTE, lw=style.LINE, zorder=2, gid=f"smooth-{i}")
        small = len(self.panels) > 4
        for k, point in enumerate(panel.points):
            e = point.observed
            middle = [point.mean_score] * 2
            plot.plot(
                middle, [e.low, e.high], color=style.TEAL, lw=style.THIN, zorder=2.5, gid=f"interval-{i}-{k}"
            )
            how: dict[str, Any] = {"marker": "o", "ms": 3.2 if small else 4.6, "mfc": style.TEAL}
            scores = [numbers.one(say, edge, 2, "number") for edge in (point.low, point.high)]
            between = say("figure.mark_between", **dict(zip(("from", "to"), scores)))
            how["label"] = numbers.of_mark(say, e, "percent", style.label_text(say, panel.label), between)
            style.mark(plot, point.mean_score, e.value, f"mark-{i}-{k}", mec=style.PAPER, mew=0.5, **how)

    def _histogram(self, say: Catalogue, plot: "Axes", i: int, *, first: bool, last: bool) -> None:
        """Cases with the condition upward, without it downward, on one scale."""
        counts = self.panels[i].histogram
        most = max(*counts.present, *counts.absent, 1)
        plot.set(xlim=(0, 1), ylim=(-1.08 * most, 1.08 * most))
        plot.spines["bottom"].set_visible(False)
        edges = counts.edges
        for name, sign, of, colour in (
            ("present", 1, counts.present, style.BLUE),
            ("absent", -1, counts.absent, style.FAINT),
        ):
            for k, n in enumerate(of):
                if n:
                    x = [edges[k], edges[k + 1], edges[k + 1], edges[k]]
                    y = [0, 0, sign * n, sign * n]
                    plot.fill(x, y, color=colour, ec=style.PAPER, lw=0.4, gid=f"{name}-{i}-{k}")
        plot.axhline(0, color=style.MUTE, lw=style.HAIR)
        ends = (0.0, 0.25, 0.5, 0.75, 1.0) if len(self.panels) <= 4 else (0.0, 0.5, 1.0)
        plot.set_xticks(ends, [numbers.plain(say, x) if last else "" for x in ends])
        plot.set_yticks([most], [say.numbers.count(most)])
        plot.tick_params(axis="x", length=2, width=style.HAIR, color=style.MUTE)
        plot.tick_params(axis="y", length=0, labelsize=style.SMALLEST, pad=1.5)
        if last:
            plot.set_xlabel(say("figure.calibration.x"), size=style.TICK, labelpad=2)


def _title(say: Catalogue, label: Message | str, width: float) -> str:
    """The name of a set in at most two lines."""
    lines = style.wrap(style.label_text(say, label), width - 3.0, style.TICK, style.SEMIBOLD).split("\n")
    if len(lines) > 2:
        lines = [lines[0], say("word.shortened", text=lines[1])]
    return "\n".join(lines)


_MUTED: dict[str, Any] = {"size": style.SMALL, "color": style.MUTE}
