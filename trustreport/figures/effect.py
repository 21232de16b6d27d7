"""Effects with their intervals, a row each, against a line of no effect: ratios and differences."""

from dataclasses import dataclass
from math import exp, inf, isfinite, isnan, log
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from trustreport.figures import columns, numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AT_NO_EFFECT = Message("figure.effect.no_effect")
FEWER_ERRORS = Message("figure.effect.fewer_errors")
MORE_ERRORS = Message("figure.effect.more_errors")
EDGE = 2.6  # millimetres from the edge of the plot to a mark that belongs beyond it
LARGEST = 1e7  # a ratio beyond it, or below its inverse, is drawn at the edge
MARGIN_ROOM = 3.6  # millimetres that the label of a margin takes above that of no effect


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One effect; `note` is said below the label, or in the plot in place of a mark that cannot be drawn."""

    label: Message | str
    estimate: Estimate
    leads: bool = False
    note: Message | str = ""


@dataclass(frozen=True, slots=True)
class EffectPlot:
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
            {
                "label": style.label_text(say, row.label),
                "value": row.estimate.value,
                "low": row.estimate.low,
                "high": row.estimate.high,
                "level": row.estimate.level,
                "n": row.estimate.n,
                "leads": row.leads,
                **margins,
            }
            for row in self.rows
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    @property
    def _no_effect(self) -> float:
        return 1.0 if self.scale == "ratio" else 0.0

    def _draw(self, say: Catalogue) -> "Figure":
        quantity = style.label_text(say, self.quantity)
        header = columns.header(say, quantity, [row.estimate for row in self.rows])
        leads = [row.leads for row in self.rows]
        low, high = _span([row.estimate for row in self.rows], leads, self.scale, self.margins)
        ratio = self.scale == "ratio"
        share = log(1 / low) / log(high / low) if ratio else -low / (high - low)  # where no effect lies

        def meanings(left: float, right: float) -> tuple[str, str]:
            """What either side means, in the room that it has beside the line."""
            line = left + share * (right - left)
            rooms = (line - 2.0, style.TEXT_WIDTH - line - 2.0)
            sides = (style.label_text(say, self.left), style.label_text(say, self.right))
            return style.wrap(sides[0], rooms[0], style.TICK), style.wrap(sides[1], rooms[1], style.TICK)

        def below(left: float, right: float) -> float:
            return 7.0 + max(style.height_of(text, style.TICK) for text in meanings(left, right))

        above = 7.0 + (MARGIN_ROOM if self.margins else 0.0)
        drawn = columns.lay_out(self._lines(say), header, above=above, below=below)
        plot, width = drawn.plot, drawn.right - drawn.left
        if ratio:
            plot.set_xscale("log")
            found = ticks.ratio(low, high, width, lambda x: self._tick(say, x))
        else:
            found = ticks.linear(low, high, width, lambda x: self._tick(say, x))
        plot.set_xlim(low, high)
        columns.tick(plot, found)
        columns.line_of_no_effect(drawn, self._no_effect)
        self._draw_margins(say, drawn, low, high)
        for i, (row, y) in enumerate(zip(self.rows, drawn.y)):
            text = numbers.of_mark(say, row.estimate, self.scale, style.label_text(say, row.label))
            _mark(plot, i, row, y, width, text)
        self._write_axis(say, drawn, drawn.left + share * width, meanings(drawn.left, drawn.right))
        return drawn.figure

    def _lines(self, say: Catalogue) -> list[columns.RowText]:
        lines = []
        for row in self.rows:
            shown, said = row.estimate, style.label_text(say, row.note)
            undefined = isnan(shown.value)
            no_interval = isnan(shown.low) or isnan(shown.high)
            lines.append(
                columns.RowText(
                    label=style.label_text(say, row.label),
                    number=numbers.estimate(say, shown, self.scale),
                    note="" if undefined else said or (say.noted(shown.note) if no_interval else ""),
                    reason=said or say.noted(shown.note) if undefined else "",
                    leads=row.leads,
                )
            )
        return lines

    def _draw_margins(self, say: Catalogue, drawn: columns.Columns, low: float, high: float) -> None:
        """A dashed line through all rows up to its label, which stands above that of no effect."""

        def across(x: float) -> float:
            share = log(x / low) / log(high / low) if self.scale == "ratio" else (x - low) / (high - low)
            return drawn.left + share * (drawn.right - drawn.left)

        size = {"size": style.TICK, "va": "center"}
        no_effect = style.width_of(style.label_text(say, self.line), style.TICK) / 2
        for i, margin in enumerate(self.margins):
            at = across(margin)
            free = abs(at - across(self._no_effect)) > no_effect + 1.0
            beyond = 1 + (MARGIN_ROOM + 2.4 if free else 2.0) / (drawn.bottom - drawn.top)
            how: dict[str, Any] = {
                "color": style.INK,
                "lw": style.THIN,
                "ls": style.DASHED,
                "clip_on": False,
                "zorder": 1,
            }
            drawn.plot.axvline(margin, ymax=beyond, gid=f"margin-{i}", **how)
            text = say("figure.effect.margin", value=self._tick(say, margin))
            half = style.width_of(text, style.TICK) / 2
            if len(self.margins) == 1:
                middle = min(max(at, half), drawn.right - half)
            else:  # neither label reaches beyond the middle between the lines
                lack = half + 1.0 - abs(across(self.margins[1 - i]) - at) / 2
                middle = at + max(lack, 0.0) * (1 if i else -1)
            style.write(drawn.sheet, middle, drawn.top - 4.2 - MARGIN_ROOM, text, ha="center", **size)

    def _tick(self, say: Catalogue, value: float) -> str:
        return _ratio_tick(say, value) if self.scale == "ratio" else self._difference_tick(say, value)

    def _difference_tick(self, say: Catalogue, value: float) -> str:
        text = numbers.plain(say, round(numbers.hundredfold(value, self.scale), 10))
        return "+" + text if value > 0 else text

    def _write_axis(
        self, say: Catalogue, drawn: columns.Columns, line: float, meanings: tuple[str, str]
    ) -> None:
        """No effect above its line; what either side means below the ticks, apart in colour and in place."""
        sheet = drawn.sheet
        text = style.label_text(say, self.line)
        half = style.width_of(text, style.TICK) / 2
        middle = min(max(line, drawn.left + half), drawn.right - half)
        style.write(sheet, middle, drawn.top - 4.2, text, ha="center", size=style.TICK, color=style.MUTE)
        below = drawn.bottom + 6.6
        better, worse = (style.BLUE, style.RUST) if self.benefit == "left" else (style.RUST, style.BLUE)
        for text, at, side, colour in (
            (meanings[0], line - 1.5, "right", better),
            (meanings[1], line + 1.5, "left", worse),
        ):
            how = {"ha": side, "va": "top", "multialignment": side, "size": style.TICK, "color": colour}
            style.write(sheet, at, below, text, **how)
        unit = say("figure.effect.log_axis" if self.scale == "ratio" else f"figure.effect.{self.scale}_axis")
        unit = style.wrap(unit, drawn.left - columns.GAP, style.SMALL)
        style.write(sheet, 0, drawn.bottom + 3.4, unit, size=style.SMALL, color=style.MUTE)


def _ratio_tick(say: Catalogue, value: float) -> str:
    exponent = round(log(value, 10))
    if not 1e-4 <= value <= 1e6 and abs(value / 10.0**exponent - 1) < 1e-9:
        return numbers.power_of_ten(exponent)
    return numbers.plain(say, value)


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


def _mark(plot: "Axes", i: int, row: EffectRow, y: float, width: float, text: str) -> None:
    """The interval and the estimate of a row, which says `text`; arrow heads point beyond the axis."""
    shown = row.estimate
    if isnan(shown.value):
        return
    colour = style.TEAL if row.leads else style.MUTE
    line = style.HEAVY if row.leads else style.LINE
    x0, x1 = plot.get_xlim()

    def inside(value: float) -> float:
        return min(max(value, x0), x1)

    def arrow(edge: float, pointing: str, name: str) -> None:
        size = 4.6 if row.leads else 4.0
        style.mark(plot, edge, y, f"{name}-{i}", marker=pointing, ms=size, mew=0, mfc=colour, zorder=2)

    if not isnan(shown.low) and not isnan(shown.high):
        ends = [inside(shown.low), inside(shown.high)]
        plot.plot(ends, [y, y], color=colour, lw=line, gid=f"interval-{i}", zorder=2, clip_on=False)
        if shown.low < x0:
            arrow(x0, "<", "low-beyond")
        if shown.high > x1:
            arrow(x1, ">", "high-beyond")
    glyph: dict[str, Any] = {
        "marker": "D" if row.leads else "o",
        "ms": 6.0 if row.leads else 5.0,
        "label": text,
    }
    if x0 <= shown.value <= x1:
        style.mark(plot, shown.value, y, f"mark-{i}", **glyph, **style.filled(colour))
        return
    # An estimate of 0, of infinity, or beyond the axis: pale, beside the arrow at the edge.
    left = shown.value < x0
    share = EDGE / width if left else 1 - EDGE / width
    across = plot.get_yaxis_transform()
    style.mark(plot, share, y, f"mark-{i}", transform=across, **glyph, **style.pale())
    arrow(x0 if left else x1, "<" if left else ">", "value-beyond")
