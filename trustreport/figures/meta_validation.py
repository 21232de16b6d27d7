"""Meta-validation: whether performance goes with similarity over the external sets, a panel a measure."""

from dataclasses import dataclass
from math import hypot, isfinite
from typing import TYPE_CHECKING, Any

from trustreport.estimate import Estimate
from trustreport.figures import numbers, style, ticks
from trustreport.figures.external_performance import DISC, apart, letter
from trustreport.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Millimetres.
LEFT, RIGHT, GAP, TOP, HEIGHT = 10.0, 2.0, 12.0, 10.5, 46.0
BELOW = 9.0
TWO = 2  # sets over which nothing can be correlated
ASIDE = 0.07  # of similarity, beyond 0 and 1: room for discs there


@dataclass(frozen=True, slots=True)
class Correlated:
    """A measure over the sets, in their order, and its correlation with similarity.

    `low` and `high` are the ends of its axis, low for poor performance.
    """

    title: Message | str
    label: Message | str
    performances: tuple[Estimate, ...]
    correlation: Estimate
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MetaValidation:
    """Similarity across, performance upward, a disc with a letter a set, and the correlation over all."""

    labels: tuple[Message | str, ...]
    similarity: tuple[float, ...]
    measures: tuple[Correlated, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per set and measure, then the correlation of each measure."""
        rows = [
            {
                "label": style.said(say, label),
                "letter": letter(i),
                "measure": style.said(say, measure.label),
                "value": measure.performances[i].value,
                "low": measure.performances[i].low,
                "high": measure.performances[i].high,
                "n": measure.performances[i].n,
                "similarity": self.similarity[i],
            }
            for measure in self.measures
            for i, label in enumerate(self.labels)
        ]
        return rows + [
            {
                "label": say("figure.meta.correlation"),
                "measure": style.said(say, measure.label),
                "value": measure.correlation.value,
                "low": measure.correlation.low,
                "high": measure.correlation.high,
                "n": measure.correlation.n,
            }
            for measure in self.measures
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        k = len(self.measures)
        width = (style.TEXT_WIDTH - LEFT - RIGHT - (k - 1) * GAP) / k
        key = " · ".join(f"{letter(i)} {style.said(say, label)}" for i, label in enumerate(self.labels))
        key = style.wrap(key, style.TEXT_WIDTH, style.SMALL)
        height = TOP + HEIGHT + BELOW + style.height_of(key, style.SMALL) + 1.0
        figure, sheet = style.figure(style.TEXT_WIDTH, height)
        for p, measure in enumerate(self.measures):
            left = LEFT + p * (width + GAP)
            style.write(sheet, left, 2.4, style.said(say, measure.title), weight=style.SEMIBOLD)
            text = style.wrap(self._correlation(say, measure.correlation), width, style.SMALL)
            style.write(sheet, left, 4.9, text, size=style.SMALL, color=style.MUTE, va="top")
            plot = style.panel(figure, left, TOP + 2.0, width, HEIGHT - 2.0)
            plot.set(xlim=(-ASIDE, 1 + ASIDE), ylim=(measure.low, measure.high))
            plot.spines["left"].set_visible(True)
            plot.set_xticks(*ticks.linear(0.0, 1.0, width, lambda x: numbers.plain(say, x)))
            least, most = sorted((measure.low, measure.high))
            upward = ticks.linear(least, most, HEIGHT, lambda x: numbers.plain(say, x), upright=True)
            plot.set_yticks(*upward)
            plot.tick_params(length=2, width=style.HAIR, color=style.MUTE)
            plot.set_xlabel(say("figure.meta.similarity"), size=style.TICK, labelpad=2)
            self._marks(say, plot, p, width)
        style.write(sheet, 0, TOP + HEIGHT + BELOW, key, size=style.SMALL, color=style.MUTE, va="top")
        return figure

    def _correlation(self, say: Catalogue, r: Estimate) -> str:
        if not isfinite(r.value):
            return say("figure.meta.few", n=r.n) if r.n > TWO else say("figure.meta.none")
        value = numbers.estimate(say, r, "number", 2)
        return say("figure.meta.r", value=value, n=r.n)

    def _marks(self, say: Catalogue, plot: "Axes", p: int, width: float) -> None:
        measure = self.measures[p]
        there = [
            i
            for i, s in enumerate(self.similarity)
            if isfinite(s) and isfinite(measure.performances[i].value)
        ]
        spread, tall = measure.high - measure.low, HEIGHT - 2.0

        def inside(y: float) -> float:
            return min(max(y, min(measure.low, measure.high)), max(measure.low, measure.high))

        room = 1 + 2 * ASIDE
        places = [
            (
                (self.similarity[i] + ASIDE) / room * width,
                (inside(measure.performances[i].value) - measure.low) / spread * tall,
            )
            for i in there
        ]
        for i, (x, y), (across, upward) in zip(there, places, apart(places, width, tall)):
            e = measure.performances[i]
            if isfinite(e.low) and isfinite(e.high):
                ends = [inside(e.low), inside(e.high)]
                line: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN, "zorder": 1.5}
                plot.plot([self.similarity[i]] * 2, ends, gid=f"interval-{p}-{i}", **line)
            at = across / width * room - ASIDE, measure.low + upward / tall * spread
            if hypot(across - x, upward - y) > 0.1:
                place = self.similarity[i], inside(e.value)
                plot.plot(*zip(place, at), color=style.MUTE, lw=style.HAIR, zorder=2.8, gid=f"leader-{p}-{i}")
                style.mark(plot, *place, f"place-{p}-{i}", marker="o", ms=1.8, mew=0, mfc=style.TEAL)
            disc: dict[str, Any] = {
                "ms": DISC * style.MM - 1.0,
                "mfc": style.PAPER,
                "mec": style.TEAL,
                "mew": 1.0,
            }
            names = style.said(say, self.labels[i]), style.said(say, measure.label)
            disc["label"] = numbers.of_mark(say, e, "number", *names)
            style.mark(plot, *at, f"mark-{p}-{i}", marker="o", **disc)
            how: dict[str, Any] = {"size": style.SMALLEST, "color": style.TEAL, "ha": "center", "zorder": 4}
            style.write(plot, *at, letter(i), weight=style.SEMIBOLD, va="center_baseline", **how)
