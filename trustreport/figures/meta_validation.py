"""Meta-validation: whether performance goes with similarity over the external sets, a panel a measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, isfinite
from typing import TYPE_CHECKING, Any

from trustreport.figures import numbers, style, ticks
from trustreport.figures.external_performance import (
    REACHED,
    Labelled,
    Occupied,
    glyph,
    labelled,
    number_and_name,
    spread_discs,
)
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Millimetres.
LEFT, RIGHT, GAP, TOP, HEIGHT = 10.0, 2.0, 12.0, 10.5, 46.0
TALL = HEIGHT - 2.0  # of a panel
BELOW = 9.0
LINE, ENTRY = 4.0, 3.6  # of the key: a line, and the room of a mark before its name
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
    """Similarity across, performance upward, a mark a set with its name, and the correlation over all."""

    labels: tuple[Message | str, ...]
    similarity: tuple[float, ...]
    measures: tuple[Correlated, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per set and measure, then the correlation of each measure."""
        rows = [
            {
                "label": style.label_text(say, label),
                "measure": style.label_text(say, measure.label),
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
                "measure": style.label_text(say, measure.label),
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
        names = [style.label_text(say, label) for label in self.labels]
        spots = labelled(names, [self._occupied(p, width) for p in range(k)])
        key = _Key([number_and_name(say, i, n) for i, n in enumerate(names)] if spots.numbered else names)
        figure, sheet = style.figure(style.TEXT_WIDTH, TOP + HEIGHT + BELOW + key.height + 1.0)
        for p, measure in enumerate(self.measures):
            left = LEFT + p * (width + GAP)
            style.write(sheet, left, 2.4, style.label_text(say, measure.title), weight=style.SEMIBOLD)
            text = style.wrap(self._correlation(say, measure.correlation), width, style.SMALL)
            style.write(sheet, left, 4.9, text, size=style.SMALL, color=style.MUTE, va="top")
            plot = style.panel(figure, left, TOP + 2.0, width, TALL)
            plot.set(xlim=(-ASIDE, 1 + ASIDE), ylim=(measure.low, measure.high))
            plot.spines["left"].set_visible(True)
            plot.set_xticks(*ticks.linear(0.0, 1.0, width, lambda x: numbers.plain(say, x)))
            least, most = sorted((measure.low, measure.high))
            upward = ticks.linear(least, most, HEIGHT, lambda x: numbers.plain(say, x), upright=True)
            plot.set_yticks(*upward)
            plot.tick_params(length=2, width=style.HAIR, color=style.MUTE)
            plot.set_xlabel(say("figure.meta.similarity"), size=style.TICK, labelpad=2)
            self._marks(say, plot, p, width, names, spots)
        key.write(sheet, TOP + HEIGHT + BELOW)
        return figure

    def _correlation(self, say: Catalogue, r: Estimate) -> str:
        if not isfinite(r.value):
            return say("figure.meta.none")
        return say("figure.meta.r", value=numbers.estimate(say, r, "number"), p=r.p, n=r.n)

    def _place(self, i: int, p: int, width: float) -> tuple[float, float]:
        """Where a set lies in a panel, in millimetres from its lower left corner."""
        measure = self.measures[p]
        y = _inside(measure, measure.performances[i].value)
        across = (self.similarity[i] + ASIDE) / (1 + 2 * ASIDE) * width
        return across, (y - measure.low) / (measure.high - measure.low) * TALL

    def _occupied(self, p: int, width: float) -> Occupied:
        """The marks of a panel, and the bars that no name may cover."""
        measure, bars = self.measures[p], []
        there = [
            i
            for i, s in enumerate(self.similarity)
            if isfinite(s) and isfinite(measure.performances[i].value)
        ]
        places = [self._place(i, p, width) for i in there]
        for i, (x, _) in zip(there, places):
            e = measure.performances[i]
            if isfinite(e.low) and isfinite(e.high):
                ends = ((_inside(measure, y) - measure.low) for y in (e.low, e.high))
                low, high = sorted(end / (measure.high - measure.low) * TALL for end in ends)
                bars.append((x - 0.3, x + 0.3, low, high))
        return Occupied(tuple(there), tuple(spread_discs(places, width, TALL)), tuple(bars), width, TALL)

    def _marks(
        self, say: Catalogue, plot: "Axes", p: int, width: float, names: Sequence[str], spots: Labelled
    ) -> None:
        measure, held = self.measures[p], spots.panels[p]
        room, spread = 1 + 2 * ASIDE, measure.high - measure.low

        def back(across: float, upward: float) -> tuple[float, float]:
            return across / width * room - ASIDE, measure.low + upward / TALL * spread

        for i, (across, upward) in zip(held.sites, held.marks):
            e = measure.performances[i]
            x, y = self._place(i, p, width)
            if isfinite(e.low) and isfinite(e.high):
                ends = [_inside(measure, e.low), _inside(measure, e.high)]
                line: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN, "zorder": 1.5}
                plot.plot([self.similarity[i]] * 2, ends, gid=f"interval-{p}-{i}", **line)
            at = back(across, upward)
            if hypot(across - x, upward - y) > 0.1:
                place = self.similarity[i], _inside(measure, e.value)
                plot.plot(*zip(place, at), color=style.MUTE, lw=style.HAIR, zorder=2.8, gid=f"leader-{p}-{i}")
                how: dict[str, Any] = {"marker": "o", "ms": 1.8, **style.filled(style.TEAL)}
                style.mark(plot, *place, f"place-{p}-{i}", **how)
            said = numbers.of_mark(say, e, "number", names[i], style.label_text(say, measure.title))
            style.mark(plot, *at, f"mark-{p}-{i}", label=said, **glyph(i, REACHED))
        spots.write(plot, p, back)


def _inside(measure: Correlated, y: float) -> float:
    """A value, at the end of the axis where it lies beyond."""
    low, high = sorted((measure.low, measure.high))
    return min(max(y, low), high)


class _Key:
    """The marks of the sets with their names, on as many lines as they need."""

    def __init__(self, names: Sequence[str]) -> None:
        self.entries: list[tuple[float, float, str]] = []
        x = y = 0.0
        for name in names:
            text = style.wrap(name, style.TEXT_WIDTH - ENTRY, style.SMALL).replace("\n", " ")
            wide = ENTRY + style.width_of(text, style.SMALL)
            if x and x + wide > style.TEXT_WIDTH:
                x, y = 0.0, y + LINE
            self.entries.append((x, y, text))
            x += wide + 4.0
        self.height = y + LINE

    def write(self, sheet: "Axes", top: float) -> None:
        """The key from this height on."""
        for i, (x, y, text) in enumerate(self.entries):
            middle = top + y + LINE / 2
            sheet.plot([x + 1.4], [middle], ls="none", **glyph(i, REACHED))
            style.write(sheet, x + ENTRY, middle, text, size=style.SMALL, color=style.MUTE)
