"""Each reader's way from unaided to aided, and that of their mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from trustreport.figures import numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNAIDED = Message("figure.slope.unaided")
AIDED = Message("figure.slope.aided")
ACCURACY = Message("figure.benefit.accuracy")

# Millimetres.
LEFT, LEAST_HEIGHT = 15.0, 78.0
BEFORE, AFTER = 26.0, 5.0  # from the plot's edges to the arms; the mean's first label stands before the first
LEADER = 7.0
LABEL_WIDTHS = (45.0, 60.0, 78.0)  # wider where the labels would be higher than a page


@dataclass(frozen=True, slots=True)
class ReaderSlope:
    """One reader's endpoint in both arms."""

    reader: Message | str
    unaided: Estimate
    aided: Estimate


@dataclass(frozen=True, slots=True)
class SlopePlot:
    """A line per reader: thin and blue where the aided value is higher, heavy and rust where it is lower.

    `mean` is drawn in teal. With `unit` ``percent`` values are proportions shown as per cent.
    """

    rows: tuple[ReaderSlope, ...]
    mean: ReaderSlope | None = None
    endpoint: Message | str = ACCURACY
    unit: Literal["percent", "number"] = "percent"
    arms: tuple[Message | str, Message | str] = (UNAIDED, AIDED)

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per reader and arm, the mean last."""
        rows = []
        for row in (*self.rows, *([self.mean] if self.mean else [])):
            for arm, shown in zip(self.arms, (row.unaided, row.aided)):
                rows.append(
                    {
                        "label": style.label_text(say, row.reader),
                        "arm": style.label_text(say, arm),
                        "value": shown.value,
                        "low": shown.low,
                        "high": shown.high,
                        "n": shown.n,
                    }
                )
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        drawn = [(i, row) for i, row in enumerate(self.rows) if _complete(row)]
        mean = self.mean if self.mean is not None and _complete(self.mean) else None
        names = [(style.label_text(say, row.reader), style.REGULAR) for _, row in drawn]
        ends = [row.aided.value for _, row in drawn]
        if mean:
            names.append((self._mean_label(say, mean.aided), style.SEMIBOLD))
            ends.append(mean.aided.value)
        for most in LABEL_WIDTHS:
            labels = [style.wrap(name, most, style.TICK, weight) for name, weight in names]
            tall = [style.height_of(label, style.TICK) + 0.3 for label in labels]
            if sum(tall) <= style.PAGE_HEIGHT - 30.0:
                break
        label_width = max((style.width_of(x, style.TICK, w) for x, (_, w) in zip(labels, names)), default=0.0)
        width = style.TEXT_WIDTH - LEFT - label_width - LEADER
        height = max(LEAST_HEIGHT, sum(tall) + 4.0)
        key = self._key(say)
        key_height = sum(style.height_of(text, style.TICK) + 1.0 for text, *_ in key)
        figure, sheet = style.figure(style.TEXT_WIDTH, height + 9.0 + key_height + 1.0)
        top = 2.0
        plot = style.panel(figure, LEFT, top, width, height)
        low, high = self._limits([row for _, row in drawn], mean)
        first, last = BEFORE, width - AFTER
        plot.set(xlim=(0, width), ylim=(low, high))
        self._axes(say, plot, height, (first, last))
        for i, row in drawn:
            name = style.label_text(say, row.reader)
            said = [
                numbers.of_mark(say, e, self.unit, name, style.label_text(say, arm))
                for e, arm in zip((row.unaided, row.aided), self.arms)
            ]
            _line(plot, (first, last), row, i, said)
        if mean:
            _mean_line(plot, (first, last), mean)
            y = top + (high - mean.unaided.value) / (high - low) * height
            text = style.wrap(self._mean_label(say, mean.unaided), BEFORE - 4.0, style.TICK, style.SEMIBOLD)
            _write_mean(sheet, LEFT + first - 2.5, y, text, "right")
        wanted = [top + (high - end) / (high - low) * height for end in ends]
        for k, (at, y) in enumerate(zip(wanted, spread(wanted, tall, top, top + height))):
            at_label = LEFT + width + LEADER
            bend = [LEFT + last + 1.8, LEFT + width + 1.0, at_label - 1.0]
            sheet.plot(bend, [at, at, y], color=style.FAINT, lw=style.HAIR, zorder=1)
            if mean and k == len(labels) - 1:
                _write_mean(sheet, at_label, y, labels[k], "left")
            else:
                style.write(sheet, at_label, y, labels[k], size=style.TICK)
        self._write_key(sheet, key, top + height + 8.0)
        return figure

    def _mean_label(self, say: Catalogue, shown: Estimate) -> str:
        scale: numbers.Scale = self.unit
        value = numbers.one(say, shown.value, numbers.places_of(shown, scale), scale)
        return say(f"figure.slope.{self.unit}", value=value)

    def _limits(self, rows: Sequence[ReaderSlope], mean: ReaderSlope | None) -> tuple[float, float]:
        values = [x for row in rows for x in (row.unaided.value, row.aided.value)]
        if mean:
            arms = (mean.unaided, mean.aided)
            values += [x for arm in arms for x in (arm.value, arm.low, arm.high) if isfinite(x)]
        values = values or [0.0, 1.0]
        room = max(0.04 * (max(values) - min(values)), 0.005)
        return min(values) - room, max(values) + room

    def _axes(self, say: Catalogue, plot: "Axes", height: float, at: tuple[float, float]) -> None:
        low, high = plot.get_ylim()
        percent = self.unit == "percent"

        def text(x: float) -> str:
            written = numbers.plain(say, round(numbers.hundredfold(x, self.unit), 10))
            return say("figure.percent_tick", value=written) if percent else written

        plot.set_yticks(*ticks.linear(low, high, height, text, upright=True))
        plot.set_xticks(at, [style.label_text(say, arm) for arm in self.arms])
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        plot.tick_params(axis="x", labelcolor=style.INK)
        plot.set_ylabel(style.label_text(say, self.endpoint), size=style.TICK)
        plot.yaxis.set_label_coords(-(LEFT - 3.4) / plot.get_xlim()[1], 0.5)

    def _key(self, say: Catalogue) -> list[tuple[str, str | None]]:
        """How many readers went which way, and how many are not drawn."""
        ways = [_way(row) for row in self.rows if _complete(row)]
        key: list[tuple[str, str | None]] = [
            (say(f"figure.slope.{way}", n=ways.count(way)), way) for way in WAYS if way in ways
        ]
        absent = len(self.rows) - len(ways)
        return [*key, (say("figure.slope.not_drawn", n=absent), None)] if absent else key

    def _write_key(self, sheet: "Axes", key: Sequence[tuple[str, str | None]], y: float) -> None:
        for text, way in key:
            y += style.height_of(text, style.TICK) / 2
            if way:
                colour, weight = WAYS[way]
                sheet.plot([LEFT, LEFT + 9.0], [y, y], color=colour, lw=weight)
            style.write(
                sheet, LEFT + 11.0, y, text, size=style.TICK, color=WAYS[way][0] if way else style.MUTE
            )
            y += style.height_of(text, style.TICK) / 2 + 1.0


WAYS = {
    "higher": (style.BLUE, style.THIN),
    "lower": (style.RUST, 1.7),
    "same": (style.MUTE, style.HAIR),
}


def _complete(row: ReaderSlope) -> bool:
    return isfinite(row.unaided.value) and isfinite(row.aided.value)


def _way(row: ReaderSlope) -> str:
    change = row.aided.value - row.unaided.value
    return "higher" if change > 0 else "lower" if change < 0 else "same"


def _line(plot: "Axes", at: tuple[float, float], row: ReaderSlope, i: int, said: Sequence[str]) -> None:
    """Unaided a hollow square, aided a filled disc, as in the figure of error rates."""
    colour, weight = WAYS[_way(row)]
    start, end = row.unaided.value, row.aided.value
    plot.plot(at, [start, end], color=colour, lw=weight, gid=f"line-{i}", zorder=2)
    unaided, aided = ({"label": text} for text in said)
    style.mark(
        plot, at[0], start, f"mark-{i}-unaided", marker="s", ms=3.8, **unaided, **style.hollow(style.MUTE)
    )
    style.mark(plot, at[1], end, f"mark-{i}-aided", marker="o", ms=4.2, **aided, **style.filled(style.BLUE))


def _mean_line(plot: "Axes", at: tuple[float, float], mean: ReaderSlope) -> None:
    ys = [mean.unaided.value, mean.aided.value]
    plot.plot(at, ys, color=style.TEAL, lw=style.HEAVY, zorder=4, gid="mean")
    for arm, x, y, shown in zip(("unaided", "aided"), at, ys, (mean.unaided, mean.aided)):
        if isfinite(shown.low) and isfinite(shown.high):
            ends = [shown.low, shown.high]
            plot.plot([x, x], ends, color=style.TEAL, lw=style.THIN, zorder=1.8, gid=f"mean-interval-{arm}")
        style.mark(plot, x, y, f"mean-{arm}", marker="D", ms=5.4, mec=style.TEAL, mfc=style.TEAL, zorder=5)


def _write_mean(sheet: "Axes", x: float, y: float, text: str, side: str) -> None:
    how: dict[str, Any] = {"size": style.TICK, "weight": style.SEMIBOLD, "color": style.TEAL, "ha": side}
    style.write(sheet, x, y, text, multialignment=side, **how)


def spread(wanted: Sequence[float], tall: Sequence[float], top: float, bottom: float) -> list[float]:
    """Middles of labels, as near as possible to where they are wanted, none over another, within the ends.

    Pools neighbours that would overlap and centres each pool on the mean of its wishes.
    """
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    offsets, reach = [], 0.0
    for k in order:
        offsets.append(reach + tall[k] / 2)
        reach += tall[k]
    pools: list[tuple[float, int]] = []  # where the stack of labels would start, and how many share it
    for k, offset in zip(order, offsets):
        pools.append((wanted[k] - offset, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, n), (b, m) = pools[-2:]
            pools[-2:] = [((a * n + b * m) / (n + m), n + m)]
    starts = [min(max(start, top), bottom - reach) for start, n in pools for _ in range(n)]
    placed = [0.0] * len(wanted)
    for k, start, offset in zip(order, starts, offsets):
        placed[k] = start + offset
    return placed
