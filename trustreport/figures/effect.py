"""Estimates in rows with their numbers: effects against no effect, and shares of decisions."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, isfinite, isnan, log, nan
from statistics import median
from typing import Any, Literal

from trustreport.figures import numbers, style
from trustreport.figures.layout import GAP, Columns, Text, lay_out, number_header
from trustreport.figures.panels import Chart, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

AT_NO_EFFECT = Message("figure.effect.no_effect")
FEWER_ERRORS = Message("figure.effect.fewer_errors")
MORE_ERRORS = Message("figure.effect.more_errors")
EDGE = 2.6  # millimetres from the edge of the plot to a mark that belongs beyond it
LARGEST = 1e7  # a ratio beyond it, or below its inverse, is drawn at the edge
MARGIN_ROOM = 3.6  # millimetres that the label of a margin takes above that of no effect
ERROR_RATE = Message("figure.error_rates.quantity")
OF_WRONG = Message("figure.error_rates.axis")
ASKED: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": style.DASHED}
ASKED_ROOM = 6.5  # millimetres above the rows for what the declared line is


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One effect; `note` is said below the label, or in the plot in place of a mark that cannot be drawn."""

    label: Message | str
    estimate: Estimate
    leads: bool = False
    note: Message | str = ""


@dataclass(frozen=True, slots=True)
class EffectPlot(Chart):
    """A label column, a mark and interval per row, a number column.

    `scale` is ``ratio`` (logarithmic axis, no effect at 1), ``points`` (differences of proportions, no effect
    at 0) or ``difference`` (any other difference). `left` and `right` say what either side of no effect
    means; `benefit` says which of them is the better one. A `margin`, or a low and a high one, is drawn as a
    dashed line with its label. `line` says what 0 (1 of a ratio) stands for, where that is not no effect.
    """

    rows: tuple[EffectRow, ...]
    quantity: Message | str
    scale: Literal["ratio", "points", "difference"] = "ratio"
    left: Message | str = FEWER_ERRORS
    right: Message | str = MORE_ERRORS
    benefit: Literal["left", "right"] = "left"
    margin: float | tuple[float, float] | None = None
    line: Message | str = AT_NO_EFFECT

    @property
    def margins(self) -> tuple[float, ...]:
        """None, one or two margins, the lower one first."""
        if self.margin is None:
            return ()
        return tuple(sorted(self.margin)) if isinstance(self.margin, tuple) else (self.margin,)

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """Label, value, limits and margins of each row."""
        names = ("margin",) if len(self.margins) == 1 else ("margin_low", "margin_high")
        margins = dict(zip(names, self.margins))
        return [
            numbers.entry(say, row.estimate, "level", "n", label=row.label) | {"leads": row.leads, **margins}
            for row in self.rows
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        estimates, ratio = [row.estimate for row in self.rows], self.scale == "ratio"
        header = number_header(say, style.label(say, self.quantity), estimates)
        low, high = _span(estimates, [row.leads for row in self.rows], self.scale, self.margins)
        share = log(1 / low) / log(high / low) if ratio else -low / (high - low)  # where no effect lies

        def meanings(left: float, right: float) -> tuple[str, str]:
            """What either side means, in the room that it has beside the line."""
            line = left + share * (right - left)
            rooms = (line - 2.0, style.TEXT_WIDTH - line - 2.0)
            sides = (style.label(say, self.left), style.label(say, self.right))
            return style.wrap(sides[0], rooms[0], style.TICK), style.wrap(sides[1], rooms[1], style.TICK)

        def below(left: float, right: float) -> float:
            return 7.0 + max(style.height_of(text, style.TICK) for text in meanings(left, right))

        above = 7.0 + (MARGIN_ROOM if self.margins else 0.0)
        drawn = lay_out(self._lines(say), header, above=above, below=below)
        plot = drawn.plot
        if ratio:
            plot.axes.set_xscale("log")
        plot.x_axis((low, high))
        plot.ticks(
            (numbers.ratio_ticks if ratio else numbers.linear_ticks)(low, high, plot.width, self._tick(say))
        )
        plot.axes.set_xticks([], minor=True)
        drawn.level(1.0 if ratio else 0.0, "no-effect", color=style.INK, lw=style.THIN)
        self._draw_margins(say, drawn, low, high)
        for i, (row, y) in enumerate(zip(self.rows, drawn.y)):
            text = numbers.of_mark(say, row.estimate, self.scale, style.label(say, row.label))
            _mark(plot, i, row, y, text)
        right = plot.left + plot.width
        self._write_axis(say, drawn, plot.left + share * plot.width, meanings(plot.left, right))
        return drawn.sheet

    def _lines(self, say: Catalogue) -> list[Text]:
        lines = []
        for row in self.rows:
            shown, said = row.estimate, style.label(say, row.note)
            undefined = isnan(shown.value)
            no_interval = isnan(shown.low) or isnan(shown.high)
            lines.append(
                Text(
                    label=style.label(say, row.label),
                    number=numbers.estimate(say, shown, self.scale),
                    note="" if undefined else said or (say(shown.note) if no_interval else ""),
                    reason=said or say(shown.note) if undefined else "",
                    leads=row.leads,
                    n=say.numbers.count(shown.n) if shown.n else "",
                )
            )
        return lines

    def _draw_margins(self, say: Catalogue, drawn: Columns, low: float, high: float) -> None:
        """A dashed line through all rows up to its label, which stands above that of no effect."""
        plot, ratio = drawn.plot, self.scale == "ratio"

        def across(x: float) -> float:
            return plot.left + plot.width * (
                log(x / low) / log(high / low) if ratio else (x - low) / (high - low)
            )

        no_effect = style.width_of(style.label(say, self.line), style.TICK) / 2
        for i, margin in enumerate(self.margins):
            at = across(margin)
            free = abs(at - across(1.0 if ratio else 0.0)) > no_effect + 1.0
            how: dict[str, Any] = {"color": style.INK, "lw": style.THIN, "ls": style.DASHED}
            drawn.level(margin, f"margin-{i}", MARGIN_ROOM + 2.4 if free else 2.0, **how)
            text = say("figure.effect.margin", value=self._tick(say)(margin))
            half = style.width_of(text, style.TICK) / 2
            if len(self.margins) == 1:
                middle = min(max(at, half), plot.left + plot.width - half)
            else:  # neither label reaches beyond the middle between the lines
                lack = half + 1.0 - abs(across(self.margins[1 - i]) - at) / 2
                middle = at + max(lack, 0.0) * (1 if i else -1)
            drawn.sheet.write(middle, plot.top - 4.2 - MARGIN_ROOM, text, ha="center", **style.AXIS)

    def _tick(self, say: Catalogue) -> Callable[[float], str]:
        written = numbers.tick(say, self.scale)

        def power(value: float) -> str:
            exponent = round(log(value, 10))
            long = not 1e-4 <= value <= 1e6 and abs(value / 10.0**exponent - 1) < 1e-9
            return numbers.power_of_ten(exponent) if long else written(value)

        return power if self.scale == "ratio" else written

    def _write_axis(self, say: Catalogue, drawn: Columns, line: float, meanings: tuple[str, str]) -> None:
        """No effect above its line; what either side means below the ticks, apart in colour and in place."""
        sheet, plot = drawn.sheet, drawn.plot
        drawn.write_above(line, style.label(say, self.line), style.MUTE)
        bottom = plot.top + plot.height
        better, worse = (style.BLUE, style.RUST) if self.benefit == "left" else (style.RUST, style.BLUE)
        for text, at, side, colour in (
            (meanings[0], line - 1.5, "right", better),
            (meanings[1], line + 1.5, "left", worse),
        ):
            how = {"ha": side, "va": "top", "multialignment": side, "color": colour, **style.AXIS}
            sheet.write(at, bottom + 6.6, text, **how)
        unit = say("figure.effect.log_axis" if self.scale == "ratio" else f"figure.effect.{self.scale}_axis")
        unit = style.wrap(unit, plot.left - GAP, style.SMALL)
        sheet.write(0, bottom + 3.4, unit, **style.MUTED)


def _span(
    estimates: list[Estimate], leads: list[bool], scale: str, margins: tuple[float, ...] = ()
) -> tuple[float, float]:
    """The part of the axis to show: every estimate, margin and leading interval; not all of long ones."""
    to, back = (log, exp) if scale == "ratio" else (float, float)
    least, largest = (1 / LARGEST, LARGEST) if scale == "ratio" else (-inf, inf)
    no_effect = 1.0 if scale == "ratio" else 0.0
    held = [to(no_effect), *map(to, margins)]
    pairs = []
    for e, leading in zip(estimates, leads):
        drawn = [to(x) for x in (e.value, e.low, e.high) if least <= x <= largest and isfinite(x)]
        if leading or len(estimates) == 1:
            held += drawn
        elif isfinite(e.value) and least <= e.value <= largest:
            held.append(to(e.value))
        pairs += [(min(drawn), max(drawn))] if drawn else []
    smallest = log(1.06) if scale == "ratio" else 1e-4
    reach = 1.5 * median(high - low for low, high in pairs) if pairs else 0.0
    low = max(min([low for low, _ in pairs] + held), min(held) - reach)
    high = min(max([high for _, high in pairs] + held), max(held) + reach)
    room = max(0.05 * (high - low), (smallest - (high - low)) / 2)
    # A side on which something has no end gets room for the line that leads there.
    further = max(0.3 * (high - low), 5 * smallest)
    values = [x for e in estimates for x in (e.value, e.low, e.high)]
    before = further if any(x < back(low - room) for x in values) else 0.0
    after = further if any(x > back(high + room) for x in values) else 0.0
    return back(low - room - before), back(high + room + after)


def _mark(plot: PlotPanel, i: int, row: EffectRow, y: float, text: str) -> None:
    """The interval and the estimate of a row, which says `text`; arrow heads point beyond the axis."""
    shown = row.estimate
    if isnan(shown.value):
        return
    colour = style.TEAL if row.leads else style.MUTE
    x0, x1 = plot.axes.get_xlim()

    def arrow(edge: float, pointing: str, name: str) -> None:
        size = 4.6 if row.leads else 4.0
        plot.mark(edge, y, f"{name}-{i}", marker=pointing, ms=size, mew=0, mfc=colour, zorder=2)

    if not isnan(shown.low) and not isnan(shown.high):
        ends = [plot.clipped(shown.low), plot.clipped(shown.high)]
        line: dict[str, Any] = {"color": colour, "lw": style.HEAVY if row.leads else style.LINE}
        plot.plot(ends, [y, y], gid=f"interval-{i}", zorder=2, clip_on=False, **line)
        if shown.low < x0:
            arrow(x0, "<", "low-beyond")
        if shown.high > x1:
            arrow(x1, ">", "high-beyond")
    glyph: dict[str, Any] = {"marker": "D", "ms": 6.0} if row.leads else {"marker": "o", "ms": 5.0}
    if x0 <= shown.value <= x1:
        plot.mark(shown.value, y, f"mark-{i}", label=text, **glyph, **style.filled(colour))
        return
    # An estimate of 0, of infinity, or beyond the axis: pale, beside the arrow at the edge.
    left = shown.value < x0
    share = EDGE / plot.width if left else 1 - EDGE / plot.width
    across = plot.axes.get_yaxis_transform()
    plot.mark(share, y, f"mark-{i}", transform=across, label=text, **glyph, **style.pale())
    arrow(x0 if left else x1, "<" if left else ">", "value-beyond")


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
class ErrorRates(Chart):
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
        shown: list[dict[str, Any]] = [
            {
                "group": style.label(say, row.group),
                "label": style.label(say, row.label),
                "aided": row.aided,
                **numbers.columns(row.estimate, "level", "n"),
            }
            for row in self.rows
        ]
        if isfinite(self.asked):
            label = style.label(say, self.asked_label)
            shown.append({"label": label, "value": self.asked, "declared": True})
        return shown

    def _draw(self, say: Catalogue) -> PlotSheet:
        estimates = [row.estimate for row in self.rows]
        lines = [
            Text(
                label=style.label(say, row.label),
                number=numbers.estimate(say, row.estimate, "percent"),
                note=style.label(say, row.note),
                reason=say(row.estimate.note) if isnan(row.estimate.value) else "",
                leads=row.leads,
                group=style.label(say, row.group),
                n=say.numbers.count(row.estimate.n) if row.estimate.n else "",
            )
            for row in self.rows
        ]
        header = number_header(say, style.label(say, self.quantity), estimates)
        above = ASKED_ROOM if isfinite(self.asked) else 3.0
        drawn = lay_out(lines, header, above=above, below=lambda left, right: 11.0)
        plot = drawn.plot
        plot.x_axis(_shares_shown(estimates, self.asked), numbers.tick(say, "percent"))
        plot.axes.set_xlabel(style.label(say, self.axis), size=style.TICK, color=style.INK, labelpad=3)
        for i, (row, e, y) in enumerate(zip(self.rows, estimates, drawn.y)):
            colour = style.BLUE if row.aided else style.MUTE
            plot.interval(e.low, e.high, y, f"interval-{i}", color=colour, clip_on=False)
            if isfinite(e.value):
                glyph: dict[str, Any] = {"marker": "s", "ms": 5.0, **style.hollow(colour)}
                if row.aided:
                    glyph = {"marker": "o", "ms": 5.6, **style.filled(colour)}
                said = numbers.of_mark(say, e, "percent", style.label(say, row.label))
                plot.mark(e.value, y, f"mark-{i}", label=said, **glyph)
        if isfinite(self.asked):
            drawn.level(self.asked, "asked", **ASKED)
            drawn.write_above(plot.sheet_x(self.asked), style.label(say, self.asked_label), style.RUST)
        return drawn.sheet


def _shares_shown(estimates: list[Estimate], asked: float = nan) -> tuple[float, float]:
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
