"""Funnel plot: the share of each unit against its number of cases, between the limits that chance allows."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.figures.slope import spread
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Millimetres.
TOP, LEFT, WIDE, TALL, BELOW = 3.0, 15.0, 120.0, 66.0, 12.0
MARGIN = LEFT + WIDE + 2.0  # where the limits are named
REACH = (2.2, 4.0, 6.5)  # from a mark to its name
HALF = 1.2  # of a mark
MOST_NAMED = 16
INNER: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE}
OUTER: dict[str, Any] = {"color": style.TEAL, "lw": style.THIN, "ls": style.DASHED}
NAIVE: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN, "ls": style.DOTTED}
INSIDE: dict[str, Any] = {"marker": "o", "ms": 4.2, "mfc": style.BLUE, "mec": style.BLUE, "mew": 0.4}
OUTSIDE: dict[str, Any] = {"marker": "s", "ms": 4.6, "mfc": style.RUST, "mec": style.RUST, "mew": 0.4}


@dataclass(frozen=True, slots=True)
class FunnelUnit:
    """A site or reader: cases, share, z-score; `outside` of the inner limits."""

    name: str
    n: int
    share: float
    z: float
    outside: bool


@dataclass(frozen=True, slots=True)
class FunnelLimits:
    """A pair of lines (cases, share) below and above the target."""

    low: curves.Points
    high: curves.Points


@dataclass(frozen=True, slots=True)
class FunnelPlot:
    """Units against their target; `inner` and `outer` lead, `naive` takes no account of over-dispersion."""

    label: Message | str
    target: float
    units: tuple[FunnelUnit, ...]
    inner: FunnelLimits
    outer: FunnelLimits
    naive: FunnelLimits | None = None

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per unit."""
        return [
            {
                "label": unit.name,
                "n": unit.n,
                "value": unit.share,
                "z": unit.z,
                "target": self.target,
                "outside": say("word.yes" if unit.outside else "word.no"),
            }
            for unit in self.units
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        figure, sheet = style.figure(style.TEXT_WIDTH, TOP + TALL + BELOW)
        plot = style.panel(figure, LEFT, TOP, WIDE, TALL)
        low, high, first, last = self._range()
        plot.set(xlim=(first, last), ylim=(low, high))
        plot.spines["left"].set_visible(True)

        def percent(value: float) -> str:
            return say("figure.percent_tick", value=numbers.plain(say, round(100 * value, 6)))

        plot.set_xticks(*ticks.linear(first, last, WIDE, say.numbers.count))
        plot.set_yticks(*ticks.linear(low, high, TALL, percent, upright=True))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        plot.plot([first, last], [self.target] * 2, color=style.INK, lw=style.THIN, zorder=1, gid="target")
        lines = (("naive", self.naive, NAIVE), ("inner", self.inner, INNER), ("outer", self.outer, OUTER))
        for name, pair, how in lines:
            for side in ("low", "high") if pair is not None else ():
                # A limit that no share can reach is none: the line ends there.
                points = [p for p in getattr(pair, side) if first <= p[0] <= last and 0 < p[1] < 1]
                if points:
                    plot.plot(*zip(*points), gid=f"{name}-{side}", zorder=1.5, **how)
        for k, unit in enumerate(self.units):
            share = Estimate(unit.share, nan, nan, unit.n)
            said = numbers.of_mark(say, share, "percent", unit.name, style.label_text(say, self.label))
            how = OUTSIDE if unit.outside else INSIDE
            style.mark(plot, unit.n, unit.share, f"unit-{k}", label=said, **how)
        self._names(sheet, low, high, last, first)
        middle, bottom = LEFT + WIDE / 2, TOP + TALL
        style.write(sheet, middle, bottom + 7.6, say("figure.funnel.x"), size=style.TICK, ha="center")
        upward = style.wrap(style.label_text(say, self.label), TALL, style.TICK)
        how = {"size": style.TICK, "ha": "center", "rotation": 90, "multialignment": "center"}
        style.write(sheet, 2.0, TOP + TALL / 2, upward, **how)
        self._limits(say, sheet, low, high)
        return figure

    def _range(self) -> tuple[float, float, float, float]:
        """The axes: from none to a little more cases than the largest unit has."""
        last = 1.08 * max(unit.n for unit in self.units)
        first = 0.0
        least = min(unit.n for unit in self.units)
        seen = [y for pair in (self.inner, self.outer) for side in (pair.low, pair.high) for x, y in side
                if 0.9 * least <= x <= last]  # fmt: skip
        seen += [unit.share for unit in self.units] + [self.target]
        air = 0.06 * (max(seen) - min(seen)) or 0.02
        seen = [y for y in seen if 0 < y < 1] or seen
        return max(0.0, min(seen) - air), min(1.0 + air / 3, max(seen) + air), first, last

    def _names(self, sheet: "Axes", low: float, high: float, last: float, first: float) -> None:
        """A name close to each mark, where it is over no mark or name; those outside choose first."""
        spots = [
            (LEFT + (u.n - first) / (last - first) * WIDE, TOP + (high - u.share) / (high - low) * TALL)
            for u in self.units
        ]
        pairs = [pair for pair in (self.inner, self.outer, self.naive) if pair is not None]
        points = [p for pair in pairs for side in (pair.low, pair.high) for p in side]
        points += [(first + i / 200 * (last - first), self.target) for i in range(200)]
        lines = [
            (LEFT + (n - first) / (last - first) * WIDE, TOP + (high - y) / (high - low) * TALL)
            for n, y in points
        ]
        taken = [(x - HALF, y - HALF, x + HALF, y + HALF) for x, y in spots]
        order = sorted(range(len(self.units)), key=lambda k: not self.units[k].outside)
        for k in order[:MOST_NAMED]:
            unit = self.units[k]
            size = style.width_of(unit.name, style.SMALL) + 0.6, style.height_of(unit.name, style.SMALL)
            free = [b for b in _around(spots[k], *size) if not any(_over(b, other) for other in taken)]
            if not free:
                continue  # the table has it
            box = min(free, key=lambda b: any(b[0] < x < b[2] and b[1] < y < b[3] for x, y in lines))
            taken.append(box)
            colour = style.RUST if unit.outside else style.INK
            middle = (box[1] + box[3]) / 2
            style.write(sheet, box[0] + 0.3, middle, unit.name, size=style.SMALL, color=colour)

    def _limits(self, say: Catalogue, sheet: "Axes", low: float, high: float) -> None:
        """What each line is, written where it ends."""
        named: list[tuple[float, str, str]] = [(self.target, say("figure.funnel.target"), style.INK)]
        pairs = (("inner", self.inner, INNER), ("outer", self.outer, OUTER), ("naive", self.naive, NAIVE))
        for name, pair, how in pairs:
            for points in (pair.low, pair.high) if pair is not None else ():
                inside = [y for _, y in points if low <= y <= min(high, 1.0 - 1e-9)]
                if inside:
                    colour = style.MUTE if how is NAIVE else how["color"]
                    named.append((inside[-1], say(f"figure.funnel.{name}"), colour))
        wanted = [TOP + (high - y) / (high - low) * TALL for y, *_ in named]
        texts = [style.wrap(text, style.TEXT_WIDTH - MARGIN, style.SMALL) for _, text, _ in named]
        tall = [style.height_of(text, style.SMALL) + 0.4 for text in texts]
        for (_, _, colour), text, y in zip(named, texts, spread(wanted, tall, TOP, TOP + TALL)):
            style.write(sheet, MARGIN, y, text, size=style.SMALL, color=colour)


Box = tuple[float, float, float, float]


def _around(spot: tuple[float, float], wide: float, high: float) -> Iterator[Box]:
    """Places for a name around its mark, the nearest first, within the plot."""
    x, y = spot
    for reach in REACH:
        for left, top in (
            (x + reach, y - high / 2),
            (x - reach - wide, y - high / 2),
            (x - wide / 2, y - reach - high),
            (x - wide / 2, y + reach),
            (x + 0.7 * reach, y - 0.7 * reach - high),
            (x + 0.7 * reach, y + 0.7 * reach),
            (x - 0.7 * reach - wide, y - 0.7 * reach - high),
            (x - 0.7 * reach - wide, y + 0.7 * reach),
        ):
            if left >= LEFT and left + wide <= LEFT + WIDE and top >= TOP and top + high <= TOP + TALL:
                yield left, top, left + wide, top + high


def _over(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
