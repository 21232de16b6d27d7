"""Funnel plot: the share of each unit against its number of cases, between the limits that chance allows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.figures.slope import spread
from trustreport.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Millimetres.
TOP, LEFT, WIDE, TALL, BELOW = 3.0, 15.0, 92.0, 62.0, 12.0
NAMES = 5.0  # from the plot to the names
NAME_WIDTH = 32.0
MOST_NAMED = 16
INNER: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE}
OUTER: dict[str, Any] = {"color": style.TEAL, "lw": style.THIN, "ls": (0, (4, 1.8))}
NAIVE: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN, "ls": (0, (1.2, 1.2))}
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
class Limits:
    """A pair of lines (cases, share) below and above the target."""

    low: curves.Points
    high: curves.Points


@dataclass(frozen=True, slots=True)
class FunnelPlot:
    """Units against their target; `inner` and `outer` lead, `naive` takes no account of over-dispersion."""

    label: Message | str
    target: float
    units: tuple[FunnelUnit, ...]
    inner: Limits
    outer: Limits
    naive: Limits | None = None

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
                points = [p for p in getattr(pair, side) if first <= p[0] <= last]
                plot.plot(*zip(*points), gid=f"{name}-{side}", zorder=1.5, **how)
        for k, unit in enumerate(self.units):
            number = say("figure.mark", name=unit.name, number=say.numbers.percent(unit.share, 1))
            label = say("figure.mark_of", text=number, n=unit.n)
            style.mark(
                plot, unit.n, unit.share, f"unit-{k}", label=label, **(OUTSIDE if unit.outside else INSIDE)
            )
        self._names(sheet, plot, low, high, last, first)
        middle, bottom = LEFT + WIDE / 2, TOP + TALL
        style.write(sheet, middle, bottom + 7.6, say("figure.funnel.x"), size=style.TICK, ha="center")
        upward = style.wrap(style.said(say, self.label), TALL, style.TICK)
        how = {"size": style.TICK, "ha": "center", "rotation": 90, "multialignment": "center"}
        style.write(sheet, 2.0, TOP + TALL / 2, upward, **how)
        self._key(say, sheet)
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
        return max(0.0, min(seen) - air), min(1.0, max(seen) + air), first, last

    def _names(self, sheet: "Axes", plot: "Axes", low: float, high: float, last: float, first: float) -> None:
        """Names beside the plot, each with a thin line to its mark; of many units those outside."""
        named = [u for u in self.units if u.outside or len(self.units) <= MOST_NAMED][:MOST_NAMED]
        if not named:
            return
        wanted = [TOP + (high - unit.share) / (high - low) * TALL for unit in named]
        texts = [style.wrap(unit.name, NAME_WIDTH, style.SMALL) for unit in named]
        tall = [style.height_of(text, style.SMALL) + 0.4 for text in texts]
        left = LEFT + WIDE + NAMES
        for unit, want, y, text in zip(named, wanted, spread(wanted, tall, TOP, TOP + TALL), texts):
            x = LEFT + (unit.n - first) / (last - first) * WIDE
            sheet.plot([x, LEFT + WIDE + 1.0, left - 1.0], [want, want, y], color=style.HAIRLINE,
                       lw=style.HAIR, zorder=0)  # fmt: skip
            colour = style.RUST if unit.outside else style.INK
            style.write(sheet, left, y, text, size=style.SMALL, color=colour)

    def _key(self, say: Catalogue, sheet: "Axes") -> None:
        left = LEFT + WIDE + NAMES + NAME_WIDTH + 3.0
        room = style.TEXT_WIDTH - left
        samples: list[tuple[str, dict[str, Any]]] = [("inner", INNER), ("outer", OUTER)]
        if self.naive is not None:
            samples.append(("naive", NAIVE))
        y = TOP + 2.0
        for name, how in samples:
            text = style.wrap(say(f"figure.funnel.{name}"), room, style.SMALL)
            sheet.plot([left, left + 6.0], [y, y], **how)
            style.write(sheet, left, y + 1.6, text, size=style.SMALL, color=style.MUTE, va="top")
            y += style.height_of(text, style.SMALL) + 5.0
