"""Shares of decisions, each with its interval, on one axis of per cent: error rates, accuracies."""

from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from trustreport.figures import columns, numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ERROR_RATE = Message("figure.error_rates.quantity")
OF_WRONG = Message("figure.error_rates.axis")
ASKED: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": style.DASHED}
ASKED_ROOM = 6.5  # millimetres above the rows for what the declared line is


@dataclass(frozen=True, slots=True)
class ErrorRateRow:
    """The error rate of one arm, or another share; `note` is said below the label.

    `group` names the published set, the task or the candidate where there are several.
    """

    label: Message | str
    estimate: Estimate
    aided: bool = False
    leads: bool = False
    group: Message | str = ""
    note: Message | str = ""


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """A dot and its interval per row: unaided a hollow grey square, aided, or the device, a filled blue disc.

    `axis` says what the share is of. `asked` is a level that was declared beforehand, drawn through all rows.
    """

    rows: tuple[ErrorRateRow, ...]
    quantity: Message | str = ERROR_RATE
    axis: Message | str = OF_WRONG
    asked: float = nan
    asked_label: Message | str = ""

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """Label, arm, rate, limits and decisions of each row, then the declared level."""
        rows: list[dict[str, Any]] = [
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
        if isfinite(self.asked):
            label = style.label_text(say, self.asked_label)
            rows.append({"label": label, "value": self.asked, "declared": True})
        return rows

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
                note=style.label_text(say, row.note),
                reason=say.noted(row.estimate.note) if isnan(row.estimate.value) else "",
                leads=row.leads,
                group=style.label_text(say, row.group),
            )
            for row in self.rows
        ]
        header = columns.header(say, quantity, [row.estimate for row in self.rows])
        above = ASKED_ROOM if isfinite(self.asked) else 3.0
        drawn = columns.lay_out(lines, header, above=above, below=lambda left, right: 11.0)
        low, high = _span([row.estimate for row in self.rows], self.asked)
        plot = drawn.plot
        plot.set_xlim(low, high)
        columns.tick(plot, ticks.linear(low, high, drawn.right - drawn.left, lambda x: _percent(say, x)))
        plot.set_xlabel(style.label_text(say, self.axis), size=style.TICK, color=style.INK, labelpad=3)
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
        if isfinite(self.asked):
            self._draw_declared(say, drawn, (self.asked - low) / (high - low))
        return drawn.figure

    def _draw_declared(self, say: Catalogue, drawn: columns.Columns, share: float) -> None:
        """The declared level, and above it what it is."""
        beyond = 1 + 2.0 / (drawn.bottom - drawn.top)
        drawn.plot.axvline(self.asked, ymax=beyond, clip_on=False, zorder=1, gid="asked", **ASKED)
        text = style.label_text(say, self.asked_label)
        half = style.width_of(text, style.TICK) / 2
        at = drawn.left + share * (drawn.right - drawn.left)
        middle = min(max(at, half), drawn.right - half)
        style.write(
            drawn.sheet, middle, drawn.top - 4.2, text, ha="center", size=style.TICK, color=style.RUST
        )


def _percent(say: Catalogue, value: float) -> str:
    return say("figure.percent_tick", value=numbers.plain(say, round(100 * value, 10)))


def _span(estimates: list[Estimate], asked: float = nan) -> tuple[float, float]:
    """The part of the axis to show: from 0, unless all that is drawn would then fill an eighth of it."""
    every = [x for e in estimates for x in (e.value, e.low, e.high)]
    drawn = [x for x in (*every, asked) if isfinite(x)]
    if not drawn:
        return 0.0, 1.0
    low, high = min(drawn), max(drawn)
    if high <= 0:
        return 0.0, 0.01
    if high - low > high / 8:
        return 0.0, min(high * 1.04, 1.0)
    room = max((high - low) * 0.5, high * 1e-3)
    return max(low - room, 0.0), min(high + room, 1.0)
