"""Readers without and with the aid: the gain of each against where each began, and the way of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, isfinite, isnan
from typing import Any, Literal

from trustreport.figures import numbers, style
from trustreport.figures.layout import Box, mark_box, overlap, spread
from trustreport.figures.panels import Chart, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

ACCURACY = Message("figure.benefit.accuracy")
# Marker and whether it is filled, a stratum each; all further strata share the cross.
GLYPHS = (
    ("o", True), ("s", False), ("^", True), ("D", False), ("v", True),
    ("o", False), ("s", True), ("^", False), ("D", True), ("v", False),
)  # fmt: skip
OTHERS = ("x", True)

# Millimetres.
LEFT, PLOT_WIDTH, PLOT_HEIGHT = 15.0, 106.0, 64.0
SIDE = LEFT + PLOT_WIDTH + 3.5
STRIP = 6.0  # kept free above and below what is drawn, for the words benefit and detriment
SAME_PLACE = 0.6


@dataclass(frozen=True, slots=True)
class ReaderBenefit:
    """One reader: the endpoint unaided, and aided minus unaided."""

    reader: Message | str
    baseline: float
    benefit: Estimate
    stratum: Message | str = ""


@dataclass(frozen=True, slots=True)
class BenefitDiagram(Chart):
    """A glyph per reader by stratum, the mean as a line with its band, the region that is possible at all.

    With `unit` ``percent`` the axes show per cent and percentage points, with ``number`` plain numbers (an
    area under the curve). `mean_note` says what the mean's interval takes as random.
    """

    rows: tuple[ReaderBenefit, ...]
    mean: Estimate | None = None
    mean_note: Message | str = ""
    endpoint: Message | str = ACCURACY
    unit: Literal["percent", "number"] = "percent"
    intervals: bool = True

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per reader, and one for the mean."""
        rows: list[dict[str, Any]] = [
            {
                "label": style.label(say, row.reader),
                "stratum": style.label(say, row.stratum),
                "baseline": row.baseline,
                **numbers.columns(row.benefit, "n"),
            }
            for row in self.rows
        ]
        if self.mean is not None:
            rows.append({"label": say("figure.mean_label"), **numbers.columns(self.mean, "n")})
        return rows

    @property
    def _drawn(self) -> list[int]:
        return [i for i, r in enumerate(self.rows) if isfinite(r.baseline) and isfinite(r.benefit.value)]

    @property
    def _scale(self) -> numbers.Scale:
        return "points" if self.unit == "percent" else "difference"

    def _draw(self, say: Catalogue) -> PlotSheet:
        key = self._key(say)
        mean_text, note_text = self._mean_text(say)
        key_height = sum(style.height_of(text, style.TICK) + 1.4 for text, *_ in key)
        mean_height = style.height_of(mean_text, style.TICK) + style.height_of(note_text, style.SMALL)
        height = max(PLOT_HEIGHT, key_height + mean_height + 4.0)
        sheet = PlotSheet(height + 12.5)
        top = 2.5
        plot = sheet.panel(LEFT, top, PLOT_WIDTH, height)
        self._axes(say, plot)
        self._regions(say, plot)
        at = self._draw_mean(plot)
        self._draw_readers(say, plot)

        bottom = top + height
        key_first = at - top >= height / 2  # the key goes where the mean leaves more room
        if mean_text:
            first, last = top + mean_height / 2, bottom - mean_height / 2
            first, last = (first + key_height + 3.0, last) if key_first else (first, last - key_height - 3.0)
            y = min(max(at, first), last) - mean_height / 2
            colour = style.MUTE if self.mean is None or isnan(self.mean.value) else style.TEAL
            how: dict[str, Any] = {"color": colour, "va": "top"}
            sheet.write(SIDE, y, mean_text, **how, **style.HEADING)
            if note_text:
                y += style.height_of(mean_text, style.TICK)
                sheet.write(SIDE, y, note_text, size=style.SMALL, **how)
        self._write_key(sheet, key, top if key_first else bottom - key_height)
        return sheet

    def _glyphs(self) -> dict[str, tuple[str, bool]]:
        """The glyph of each stratum."""
        strata = list(dict.fromkeys(style.label_key(row.stratum) for row in self.rows))
        return {name: GLYPHS[i] if i < len(GLYPHS) else OTHERS for i, name in enumerate(strata)}

    def _key(self, say: Catalogue) -> list[tuple[str, tuple[str, bool] | None]]:
        """What each glyph stands for, with the readers it counts, and how many have no place."""
        width = style.TEXT_WIDTH - SIDE - 5.0
        counts: dict[tuple[str, bool], int] = {}
        names: dict[tuple[str, bool], str] = {}
        glyphs = self._glyphs()
        for row in (self.rows[i] for i in self._drawn):
            glyph = glyphs[style.label_key(row.stratum)]
            counts[glyph] = counts.get(glyph, 0) + 1
            name = style.label(say, row.stratum) or say("figure.benefit.readers")
            names[glyph] = say("figure.benefit.other_strata") if glyph == OTHERS else name
        key: list[tuple[str, tuple[str, bool] | None]] = [
            (style.wrap(say("figure.benefit.stratum", name=names[g], n=n), width, style.TICK), g)
            for g, n in counts.items()
        ]
        absent = len(self.rows) - len(self._drawn)
        if absent:
            key.append((style.wrap(say("figure.benefit.not_drawn", n=absent), width, style.TICK), None))
        return key

    def _mean_text(self, say: Catalogue) -> tuple[str, str]:
        if self.mean is None:
            return "", ""
        mean, width = self.mean, style.TEXT_WIDTH - SIDE
        if isnan(mean.value):
            text = say("figure.benefit.no_mean", reason=mean.note)
        else:
            value, low, high = numbers.parts(say, mean, self._scale)
            key = "mean_points" if self.unit == "percent" else "mean"
            if isnan(mean.low) or isnan(mean.high):
                key += "_no_interval"
            text = say(
                f"figure.benefit.{key}", value=value, low=low, high=high, level=numbers.level(say, mean)
            )
        note = style.wrap(style.label(say, self.mean_note), width, style.SMALL)
        return style.wrap(text, width, style.TICK, style.SEMIBOLD), note

    def _limits(self, height: float) -> tuple[float, float, float, float]:
        """Everything drawn, with room at the sides and a free strip above and below."""
        rows = [self.rows[i] for i in self._drawn]
        xs = [row.baseline for row in rows] or [0.5]
        ys = [0.0, *(row.benefit.value for row in rows)]
        ends = [row.benefit for row in rows] if self.intervals else []
        ends += [self.mean] if self.mean is not None else []
        ys += [y for e in ends for y in (e.value, e.low, e.high) if isfinite(y)]
        x_room = max(0.06 * (max(xs) - min(xs)), (0.1 - (max(xs) - min(xs))) / 2, 0.01)
        span = max(max(ys) - min(ys), 0.02)
        y_room = (STRIP + 1.0) * span / (height - 2 * STRIP - 2.0)
        middle = (max(ys) + min(ys)) / 2
        y0, y1 = min(min(ys), middle - span / 2) - y_room, max(max(ys), middle + span / 2) + y_room
        x0, x1 = min(xs) - x_room, max(xs) + x_room
        beyond = 0.04 * (x1 - x0)  # a proportion needs little room past 0 and 1
        shift = max(-beyond - x0, 0.0) - max(x1 - 1 - beyond, 0.0)
        return x0 + shift, x1 + shift, y0, y1

    def _axes(self, say: Catalogue, plot: PlotPanel) -> None:
        percent = self.unit == "percent"
        x0, x1, y0, y1 = self._limits(plot.height)
        plot.x_axis((x0, x1))
        plot.y_axis((y0, y1), numbers.tick(say, self._scale), line=False)
        found = zip(
            *numbers.linear_ticks(x0, x1, PLOT_WIDTH, numbers.tick(say, "percent" if percent else "number"))
        )
        within = [(x, text) for x, text in found if 0 <= x <= 1]
        plot.ticks(([x for x, _ in within], [text for _, text in within]))
        text = say("figure.benefit.x", endpoint=style.label(say, self.endpoint))
        plot.axes.set_xlabel(text, size=style.TICK, labelpad=3)
        plot.axes.set_ylabel(say(f"figure.benefit.y{'_points' if percent else ''}"), size=style.TICK)
        plot.axes.yaxis.set_label_coords(-(LEFT - 3.4) / PLOT_WIDTH, 0.5)

    def _regions(self, say: Catalogue, plot: PlotPanel) -> None:
        """Benefit above zero and detriment below it, as far as a proportion allows."""
        axes, strip = plot.axes, STRIP / 2 / plot.height
        axes.fill([0, 1, 0], [0, 0, 1], color=style.BLUE_WASH, lw=0, zorder=0, gid="benefit")
        axes.fill([0, 1, 1], [0, 0, -1], color=style.RUST_WASH, lw=0, zorder=0, gid="detriment")
        axes.axhline(0, color=style.INK, lw=style.THIN, zorder=1.5, gid="no-change")
        for y, key, colour in ((1 - strip, "benefit", style.BLUE), (strip, "detriment", style.RUST)):
            text = say(f"figure.benefit.{key}")
            plot.write(1.5 / PLOT_WIDTH, y, text, color=colour, transform=axes.transAxes, **style.AXIS)

    def _draw_mean(self, plot: PlotPanel) -> float:
        """The mean's band and line; how far down the sheet the line lies."""
        mean = self.mean
        if mean is None or isnan(mean.value):
            return plot.top + plot.height / 2
        if numbers.has_interval(mean):
            band: dict[str, Any] = {"color": style.TEAL, "alpha": 0.16, "lw": 0, "zorder": 1}
            plot.axes.axhspan(mean.low, mean.high, gid="mean-interval", **band)
        plot.axes.axhline(mean.value, color=style.TEAL, lw=style.HEAVY * 0.75, zorder=2, gid="mean")
        return plot.sheet_y(mean.value)

    def _draw_readers(self, say: Catalogue, plot: PlotPanel) -> None:
        (x0, x1), (y0, y1) = plot.axes.get_xlim(), plot.axes.get_ylim()
        glyphs = self._glyphs()
        places: list[tuple[float, float, tuple[str, bool], int]] = []  # millimetres, glyph, readers there
        for i in self._drawn:
            row = self.rows[i]
            glyph, e = glyphs[style.label_key(row.stratum)], row.benefit
            if self.intervals:
                plot.interval(e.low, e.high, row.baseline, f"interval-{i}", upright=True, lw=0.7, zorder=2.5)
            names = style.label(say, row.reader), style.label(say, row.stratum)
            label = numbers.of_mark(say, e, self._scale, *names)
            plot.plot([row.baseline], [e.value], gid=f"mark-{i}", label=label, **_glyph(glyph))
            x, y = (row.baseline - x0) / (x1 - x0) * PLOT_WIDTH, (e.value - y0) / (y1 - y0) * plot.height
            same = [
                k for k, (a, b, g, _) in enumerate(places) if g == glyph and hypot(a - x, b - y) < SAME_PLACE
            ]
            if same:
                a, b, g, n = places[same[0]]
                places[same[0]] = (a, b, g, n + 1)
            else:
                places.append((x, y, glyph, 1))
        self._write_counts(say, plot, places)

    def _write_counts(self, say: Catalogue, plot: PlotPanel, places: Sequence[Any]) -> None:
        """How many readers lie in one place, beside it where nothing else is."""
        taken, height = [mark_box((x, y), 1.1) for x, y, *_ in places], plot.height
        for x, y, _, n in places:
            if n == 1:
                continue
            text = say("figure.benefit.times", n=n)
            width, tall = style.width_of(text, style.SMALL), style.height_of(text, style.SMALL)
            near = [(x + dx, y + dy) for dy in (1.9, -1.9, 0.0, 3.6, -3.6) for dx in (1.5, -1.5 - width)]
            boxes: list[Box] = [(left, left + width, mid - tall / 2, mid + tall / 2) for left, mid in near]
            inside = [
                b for b in boxes if b[0] > 0 and b[1] < PLOT_WIDTH and b[2] > STRIP and b[3] < height - STRIP
            ]
            free = [b for b in inside if not any(overlap(b, other) for other in taken)]
            box = (free or inside or boxes)[0]
            taken.append(box)
            place = (box[0] / PLOT_WIDTH, (box[2] + box[3]) / 2 / height)
            plot.write(*place, text, size=style.SMALL, transform=plot.axes.transAxes, zorder=4)

    def _write_key(self, sheet: PlotSheet, key: Sequence[Any], y: float) -> None:
        for text, glyph in key:
            if glyph:
                middle = y + style.height_of(" ", style.TICK) / 2
                sheet.plot([SIDE + 1.4], [middle], **_glyph(glyph))
            how = {"color": style.INK if glyph else style.MUTE, "va": "top", **style.AXIS}
            sheet.write(SIDE + (5.0 if glyph else 0), y, text, **how)
            y += style.height_of(text, style.TICK) + 1.4


def _glyph(glyph: tuple[str, bool]) -> dict[str, Any]:
    """A reader's mark: see-through enough to tell what lies below it."""
    marker, filled = glyph
    size = {"o": 5.2, "s": 4.8, "D": 4.4, "x": 4.8}.get(marker, 5.4)
    fill = (0.12, 0.37, 0.62, 0.8) if filled else (1, 1, 1, 0.7)
    how: dict[str, Any] = {"marker": marker, "ms": size, "mfc": fill, "mec": style.BLUE, "mew": 1.1}
    return how | {"ls": "none", "zorder": 3}


UNAIDED = Message("figure.slope.unaided")
AIDED = Message("figure.slope.aided")
# Of the slopes, in millimetres; the mean's first label stands before the first arm.
LEAST_HEIGHT = 78.0
BEFORE, AFTER = 26.0, 5.0  # from the plot's edges to the arms
LEADER = 7.0
LABEL_WIDTHS = (45.0, 60.0, 78.0)  # wider where the labels would be higher than a page
WAYS = {
    "higher": (style.BLUE, style.THIN),
    "lower": (style.RUST, 1.7),
    "same": (style.MUTE, style.HAIR),
}


@dataclass(frozen=True, slots=True)
class ReaderSlope:
    """One reader's endpoint in both arms."""

    reader: Message | str
    unaided: Estimate
    aided: Estimate


@dataclass(frozen=True, slots=True)
class SlopePlot(Chart):
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
        return [
            numbers.entry(say, shown, "n", label=row.reader, arm=arm)
            for row in (*self.rows, *([self.mean] if self.mean else []))
            for arm, shown in zip(self.arms, (row.unaided, row.aided))
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        drawn = [(i, row) for i, row in enumerate(self.rows) if _complete(row)]
        mean = self.mean if self.mean is not None and _complete(self.mean) else None
        names = [(style.label(say, row.reader), style.REGULAR) for _, row in drawn]
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
        sheet = PlotSheet(height + 9.0 + key_height + 1.0)
        plot = sheet.panel(LEFT, 2.0, width, height)
        at = (BEFORE, width - AFTER)
        plot.x_axis((0, width))
        plot.y_axis(_limits([row for _, row in drawn], mean), numbers.tick(say, self.unit), line=False)
        plot.ticks((at, [style.label(say, arm) for arm in self.arms]))
        plot.axes.tick_params(axis="x", labelcolor=style.INK)
        plot.axes.set_ylabel(style.label(say, self.endpoint), size=style.TICK)
        plot.axes.yaxis.set_label_coords(-(LEFT - 3.4) / width, 0.5)
        for i, row in drawn:
            name = style.label(say, row.reader)
            said = [
                numbers.of_mark(say, e, self.unit, name, style.label(say, arm))
                for e, arm in zip((row.unaided, row.aided), self.arms)
            ]
            _line(plot, at, row, i, said)
        if mean:
            _mean_line(plot, at, mean)
            text = style.wrap(self._mean_label(say, mean.unaided), BEFORE - 4.0, style.TICK, style.SEMIBOLD)
            _write_mean(sheet, LEFT + at[0] - 2.5, plot.sheet_y(mean.unaided.value), text, "right")
        wanted, beside = [plot.sheet_y(end) for end in ends], LEFT + width + LEADER
        for k, (end, y) in enumerate(zip(wanted, spread(wanted, tall, 2.0, 2.0 + height))):
            bend = [LEFT + at[1] + 1.8, LEFT + width + 1.0, beside - 1.0]
            sheet.plot(bend, [end, end, y], color=style.FAINT, lw=style.HAIR, zorder=1)
            if mean and k == len(labels) - 1:
                _write_mean(sheet, beside, y, labels[k], "left")
            else:
                sheet.write(beside, y, labels[k], **style.AXIS)
        y = 2.0 + height + 8.0
        for text, colour, weight in key:
            y += style.height_of(text, style.TICK) / 2
            if weight:
                sheet.plot([LEFT, LEFT + 9.0], [y, y], color=colour, lw=weight)
            sheet.write(LEFT + 11.0, y, text, color=colour, **style.AXIS)
            y += style.height_of(text, style.TICK) / 2 + 1.0
        return sheet

    def _mean_label(self, say: Catalogue, shown: Estimate) -> str:
        value = numbers.written_number(say, shown.value, numbers.places_of(shown, self.unit), self.unit)
        return say(f"figure.slope.{self.unit}", value=value)

    def _key(self, say: Catalogue) -> list[tuple[str, str, float]]:
        """How many readers went which way, with the line of each, and how many are not drawn."""
        ways = [_way(row) for row in self.rows if _complete(row)]
        key = [(say(f"figure.slope.{w}", n=ways.count(w)), *how) for w, how in WAYS.items() if w in ways]
        absent = len(self.rows) - len(ways)
        return [*key, (say("figure.slope.not_drawn", n=absent), style.MUTE, 0.0)] if absent else key


def _limits(rows: Sequence[ReaderSlope], mean: ReaderSlope | None) -> tuple[float, float]:
    values = [x for row in rows for x in (row.unaided.value, row.aided.value)]
    for arm in (mean.unaided, mean.aided) if mean else ():
        values += [x for x in (arm.value, arm.low, arm.high) if isfinite(x)]
    values = values or [0.0, 1.0]
    room = max(0.04 * (max(values) - min(values)), 0.005)
    return min(values) - room, max(values) + room


def _complete(row: ReaderSlope) -> bool:
    return isfinite(row.unaided.value) and isfinite(row.aided.value)


def _way(row: ReaderSlope) -> str:
    change = row.aided.value - row.unaided.value
    return "higher" if change > 0 else "lower" if change < 0 else "same"


def _line(plot: PlotPanel, at: tuple[float, float], row: ReaderSlope, i: int, said: Sequence[str]) -> None:
    """Unaided a hollow square, aided a filled disc, as in the figure of error rates."""
    colour, weight = WAYS[_way(row)]
    ends = [*zip(at, (row.unaided.value, row.aided.value))]
    plot.line(ends, f"line-{i}", color=colour, lw=weight, zorder=2)
    plot.mark(*ends[0], f"mark-{i}-unaided", label=said[0], marker="s", ms=3.8, **style.hollow(style.MUTE))
    plot.mark(*ends[1], f"mark-{i}-aided", label=said[1], marker="o", ms=4.2, **style.filled(style.BLUE))


def _mean_line(plot: PlotPanel, at: tuple[float, float], mean: ReaderSlope) -> None:
    ends = zip(at, (mean.unaided.value, mean.aided.value))
    plot.line(ends, "mean", lw=style.HEAVY, color=style.TEAL, zorder=4)
    thin: dict[str, Any] = {"color": style.TEAL, "lw": style.THIN, "zorder": 1.8, "upright": True}
    for arm, x, e in zip(("unaided", "aided"), at, (mean.unaided, mean.aided)):
        plot.interval(e.low, e.high, x, f"mean-interval-{arm}", **thin)
        plot.mark(x, e.value, f"mean-{arm}", marker="D", ms=5.4, mec=style.TEAL, mfc=style.TEAL, zorder=5)


def _write_mean(sheet: PlotSheet, x: float, y: float, text: str, side: str) -> None:
    sheet.write(x, y, text, color=style.TEAL, ha=side, multialignment=side, **style.HEADING)
