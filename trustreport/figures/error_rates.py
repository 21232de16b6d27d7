"""Error rates of the arms, each with its interval, on one axis of per cent."""

from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from trustreport.estimate import Estimate
from trustreport.figures import columns, numbers, style, ticks
from trustreport.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ERROR_RATE = Message("figure.error_rates.quantity")


@dataclass(frozen=True, slots=True)
class ErrorRateRow:
    """The error rate of one arm; `group` names the published set or the task where there are several."""

    label: Message | str
    estimate: Estimate
    aided: bool = False
    leads: bool = False
    group: Message | str = ""


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """A dot and its interval per arm: unaided a hollow grey square, aided a filled blue disc."""

    rows: tuple[ErrorRateRow, ...]
    quantity: Message | str = ERROR_RATE

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """Label, arm, rate, limits and decisions of each row."""
        return [
            {
                "group": style.label_text(say, row.group),
                "label": style.label_text(say, row.label),
                "aided": row.aided,
                "value": row.estimate.value,
                "low": row.estimate.low,
                "high": row.estimate.high,
                "level": row.estimate.level,
                "n": row.estimate.n,
            }
            for row in self.rows
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        quantity = style.label_text(say, self.quantity)
        lines = [
            columns.RowText(
                label=style.label_text(say, row.label),
                number=numbers.estimate(say, row.estimate, "percent"),
                reason=say.noted(row.estimate.note) if isnan(row.estimate.value) else "",
                leads=row.leads,
                group=style.label_text(say, row.group),
            )
            for row in self.rows
        ]
        header = columns.header(say, quantity, [row.estimate for row in self.rows])
        drawn = columns.lay_out(lines, header, above=3.0, below=lambda left, right: 11.0)
        low, high = _span([row.estimate for row in self.rows])
        plot = drawn.plot
        plot.set_xlim(low, high)
        columns.tick(plot, ticks.linear(low, high, drawn.right - drawn.left, lambda x: _percent(say, x)))
        plot.set_xlabel(say("figure.error_rates.axis"), size=style.TICK, color=style.INK, labelpad=3)
        for i, (row, y) in enumerate(zip(self.rows, drawn.y)):
            colour = style.BLUE if row.aided else style.MUTE
            e = row.estimate
            if isfinite(e.low) and isfinite(e.high):
                line: dict[str, Any] = {
                    "color": colour,
                    "lw": style.LINE,
                    "gid": f"interval-{i}",
                    "clip_on": False,
                }
                plot.plot([e.low, e.high], [y, y], **line)
            if isfinite(e.value):
                glyph: dict[str, Any] = {"marker": "s", "ms": 5.0, **style.hollow(colour)}
                if row.aided:
                    glyph = {"marker": "o", "ms": 5.6, **style.filled(colour)}
                said = numbers.of_mark(say, e, "percent", style.label_text(say, row.label))
                style.mark(plot, e.value, y, f"mark-{i}", label=said, **glyph)
        return drawn.figure


def _percent(say: Catalogue, value: float) -> str:
    return say("figure.percent_tick", value=numbers.plain(say, round(100 * value, 10)))


def _span(estimates: list[Estimate]) -> tuple[float, float]:
    """The part of the axis to show: from 0, unless all that is drawn would then fill an eighth of it."""
    drawn = [x for e in estimates for x in (e.value, e.low, e.high) if isfinite(x)]
    if not drawn:
        return 0.0, 1.0
    low, high = min(drawn), max(drawn)
    if high <= 0:
        return 0.0, 0.01
    if high - low > high / 8:
        return 0.0, min(high * 1.04, 1.0)
    room = max((high - low) * 0.5, high * 1e-3)
    return max(low - room, 0.0), min(high + room, 1.0)
