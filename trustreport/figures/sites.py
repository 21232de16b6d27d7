"""Measures at several sites: forests with their mean, sample sizes, and performance against similarity."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot, isfinite, isnan, nan
from typing import Any, Literal

from trustreport.figures import numbers, style
from trustreport.figures.external_performance import REACHED, disc, glyph, number_and_name, share
from trustreport.figures.layout import (
    Box,
    Labelled,
    Occupied,
    Place,
    labelled,
    measure_columns,
    rule,
    spread_discs,
)
from trustreport.figures.panels import Chart, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

MOST_SITES = 22
# Millimetres.
LABEL, GAP, RIGHT = 34.0, 5.0, 3.0
ROW, HEAD, BELOW = 7.4, 4.0, 7.5
TEXT, MARK = 1.9, 4.9  # of a row, from its top: the number, and the interval under it
UNDER = 3.5  # and from here on lines down the panel, which would run through the number
MEAN_LINE: dict[str, Any] = {"color": style.TEAL, "lw": style.HAIR, "ls": style.DASHED}
BEYOND = 3.0  # an interval this many times as wide as the middle of the others is cut


@dataclass(frozen=True, slots=True)
class ForestColumn:
    """A measure: each site's estimate, the mean over sites, the prediction interval for a new site.

    `null` is where a line stands (the slope of right calibration, a declared bound), NaN for none; `ratio`
    asks for a logarithmic axis; `least` and `most` are the ends of what is possible; `scale` says how numbers
    are written.
    """

    label: Message | str
    sites: tuple[Estimate, ...]
    mean: Estimate
    new: Estimate
    null: float = nan
    ratio: bool = False
    least: float = nan
    most: float = nan
    scale: numbers.Scale = "number"


@dataclass(frozen=True, slots=True)
class Forest(Chart):
    """A row a site or a study, then the mean (diamond) and a new one (thick bar); a column a measure.

    Where no measure has an interval for a new site, there is no row for one.
    """

    labels: tuple[Message | str, ...]
    columns: tuple[ForestColumn, ...]
    of: Literal["site", "study"] = "site"

    @property
    def expects(self) -> bool:
        """Whether any measure says what to expect at a new site."""
        return any(isfinite(column.new.low) for column in self.columns)

    def _last(self) -> tuple[str, ...]:
        return ("mean", "new") if self.expects else ("mean",)

    def _rows(self, column: ForestColumn) -> tuple[Estimate, ...]:
        return (*column.sites, column.mean, column.new)[: len(column.sites) + len(self._last())]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per site and measure, then the mean, then a new site."""
        names = [
            *(style.label(say, label) for label in self.labels),
            *(say(f"figure.forest.{self.of}.{row}") for row in self._last()),
        ]
        return [
            {
                "label": name,
                "measure": style.label(say, column.label),
                **numbers.columns(e, "n"),
            }
            for column in self.columns
            for name, e in zip(names, self._rows(column))
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        said = [style.label(say, label) for label in self.labels]
        last = [say(f"figure.forest.{self.of}.{row}") for row in self._last()]
        widest = max(style.width_of(name, style.TICK, style.SEMIBOLD) for name in (*said, *last))
        label = min(widest + 2.0, LABEL)
        names = [style.wrap(name, label - 2.0, style.TICK) for name in said]
        last = [style.wrap(name, label - 2.0, style.TICK, style.SEMIBOLD) for name in last]
        heights = [max(ROW, style.height_of(name, style.TICK) + 1.6) for name in (*names, *last)]
        width, lefts = measure_columns(label, len(self.columns), GAP, RIGHT)
        heads = [style.wrap(style.label(say, c.label), width, style.TICK) for c in self.columns]
        top = max(HEAD, max(style.height_of(head, style.TICK) for head in heads) + 1.6)
        bottom = top + sum(heights)
        key = say(f"figure.forest.{self.of}.{'key' if self.expects else 'key_alone'}")
        key = style.wrap(key, style.TEXT_WIDTH, style.SMALL)
        sheet = PlotSheet(bottom + BELOW + style.height_of(key, style.SMALL) + 0.6)
        starts = [top + sum(heights[:i]) for i in range(len(heights))]
        for i, (name, y, height) in enumerate(zip((*names, *last), starts, heights)):
            rule(sheet, y, style.INK if i == len(names) else style.HAIRLINE)
            weight = style.SEMIBOLD if i >= len(names) else style.REGULAR
            sheet.write(0, y + height / 2, name, size=style.TICK, weight=weight)
        kinds = ["site"] * len(names) + ["mean", "new"]
        for c, (column, head, left) in enumerate(zip(self.columns, heads, lefts)):
            sheet.write(left, top - 0.9, head, va="bottom", **style.HEADING)
            plot = sheet.panel(left, top, width, bottom - top)
            low, high = _range(column)
            plot.y_axis((bottom, top), line=False)
            if column.ratio:
                plot.axes.set_xscale("log")
            plot.x_axis((low, high))
            plot.axes.minorticks_off()
            written = numbers.tick(say, column.scale)
            plot.ticks(
                (numbers.ratio_ticks if column.ratio else numbers.linear_ticks)(low, high, width, written)
            )
            # Lines down the panel are left out where numbers stand.
            under = [(y + (height - ROW) / 2 + UNDER, y + height) for y, height in zip(starts, heights)]
            lines = (
                ("null", column.null, {"color": style.INK, "lw": style.THIN, "zorder": 1}),
                ("mean-line", column.mean.value, {**MEAN_LINE, "zorder": 0.8}),
            )
            for name, x, how in lines:
                for i, (upper, lower) in enumerate(under if low <= x <= high else ()):
                    plot.line(((x, upper), (x, lower)), f"{name}-{c}-{i}", **how)
            for i, (e, y, height) in enumerate(zip(self._rows(column), starts, heights)):
                at = y + (height - ROW) / 2
                self._row(say, plot, e, at, kinds[i], f"{kinds[i]}-{i}-{c}", column.scale, *names[i : i + 1])
        sheet.write(0, bottom + BELOW - 1.0, key, va="top", **style.MUTED)
        return sheet

    def _row(
        self, say: Catalogue, plot: PlotPanel, e: Estimate, y: float, kind: str, name: str,
        scale: numbers.Scale, site: str = "",
    ) -> None:  # fmt: skip
        low, high = plot.axes.get_xlim()
        # What a row says stands over its mark, at the left end of the panel.
        text = numbers.estimate(say, e, scale)
        if kind == "new" and isfinite(e.low):
            _, least, most = numbers.parts(say, e, scale)
            most = say("figure.percent_tick", value=most) if scale == "percent" else most
            text = say("figure.forest.interval", low=least, high=most)
        if kind == "new" and isnan(e.low) and e.n > 1:
            text = say(f"figure.forest.{self.of}.few", n=e.n)
        colour = style.MUTE if kind == "site" else style.INK
        how: dict[str, Any] = {"size": style.SMALLEST, "color": colour, "zorder": 3}
        how["transform"] = plot.axes.get_yaxis_transform()
        plot.write(0.0, y + TEXT, text, **how)
        n = say.numbers.count(e.n) if kind == "site" else ""
        if style.width_of(text, style.SMALLEST) + style.width_of(n, style.SMALLEST) + 1.5 < plot.width:
            plot.write(1.0, y + TEXT, n, ha="right", **how)
        if isnan(e.value) or (kind == "new" and isnan(e.low)):
            return
        at = y + MARK
        if numbers.has_interval(e):
            line = style.FAINT if kind == "site" else style.TEAL
            if kind == "mean":
                x = [plot.clipped(end) for end in (e.low, e.value, e.high, e.value)]
                up = [at, at - 1.2, at, at + 1.2]
                plot.axes.fill(x, up, color=line, lw=0, zorder=2.5, gid=name)
            else:
                weight = style.LINE if kind == "site" else style.HEAVY
                plot.interval(e.low, e.high, at, f"interval-{name}", color=line, lw=weight)
            for end, beyond, pointing in ((low, e.low < low, "<"), (high, e.high > high, ">")):
                if beyond:
                    plot.mark(end, at, f"beyond-{name}", marker=pointing, ms=3.4, mew=0, mfc=line, zorder=2)
        if kind == "site" and low <= e.value <= high:
            said = numbers.of_mark(say, e, scale, site)
            plot.mark(e.value, at, name, label=said, marker="s", ms=3.6, **style.filled(style.BLUE))


def _range(column: ForestColumn) -> tuple[float, float]:
    """The ends of an axis: all values and the mean, and intervals that are not much wider than the others."""
    shown = [e for e in (*column.sites, column.mean) if isfinite(e.value)]
    if not shown:
        return (0.5, 2.0) if column.ratio else (0.0, 1.0)
    points = [e.value for e in shown] + ([column.null] if isfinite(column.null) else [])
    widths = sorted(e.high - e.low for e in shown if isfinite(e.high) and isfinite(e.low))
    usual = BEYOND * widths[len(widths) // 2] if widths else 0.0
    for e in (*shown, column.new):
        if isfinite(e.low) and isfinite(e.high) and e.high - e.low <= max(usual, 1e-9):
            points += [e.low, e.high]
    low, high = min(points), max(points)
    if column.ratio:
        low, high = max(floor(9.5 * low) / 10, 0.05), ceil(10.5 * high) / 10
        return low, max(high, low + 0.2)
    spread = max(high - low, 0.05) * 0.06
    low, high = low - spread, high + spread
    low = max(low, column.least) if isfinite(column.least) else low
    high = min(high, column.most) if isfinite(column.most) else high
    return (low, high) if high > low else (low - 0.05, high + 0.05)


MOST_SIZES = 20  # sites whose sample sizes are drawn
# Millimetres.
NAME, SIZES_GAP, SIZES_ROW, BAR = 46.0, 3.5, 9.0, 2.2
CUT = 1.6  # a longer bar ends here, with an arrow head


@dataclass(frozen=True, slots=True)
class SizeRow:
    """One site: its cases, and the cases that each measure needs, in the order of the columns."""

    label: Message | str
    n: int
    needed: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class SampleSizes(Chart):
    """A row per site, a column per measure: teal bars reach the minimum, pale ones do not."""

    measures: tuple[Message | str, ...]
    rows: tuple[SizeRow, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per site and measure."""
        return [
            {
                "label": style.label(say, row.label),
                "measure": style.label(say, measure),
                "value": needed.value,
                "n": row.n,
                "reached": row.n / needed.value,
            }
            for row in self.rows
            for measure, needed in zip(self.measures, row.needed)
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        said = [
            say("figure.sample_size.site", name=style.label(say, row.label), n=row.n) for row in self.rows
        ]
        label = min(max(style.width_of(name, style.TICK) for name in said) + 2.0, NAME)
        width, lefts = measure_columns(label, len(self.measures), SIZES_GAP, 1.5)
        heads = [style.wrap(style.label(say, m), width, style.SMALL) for m in self.measures]
        head = max(style.height_of(text, style.SMALL) for text in heads) + 3.0
        names = [style.wrap(name, label - 2.0, style.TICK) for name in said]
        heights = [max(SIZES_ROW, style.height_of(name, style.TICK) + 2.0) for name in names]
        bottom = head + sum(heights)
        key = style.wrap(say("figure.sample_size.key"), style.TEXT_WIDTH, style.SMALL)
        sheet = PlotSheet(bottom + 4.0 + style.height_of(key, style.SMALL))
        for m, (text, left) in enumerate(zip(heads, lefts)):
            sheet.write(left, head - 1.6, text, va="bottom", **style.MUTED)
            plot = sheet.panel(left, head, width, bottom - head)
            plot.x_axis((0, CUT))
            plot.y_axis((bottom, head), line=False)
            plot.axes.spines["bottom"].set_visible(False)
            y = head
            for i, (row, height) in enumerate(zip(self.rows, heights)):
                # Beside the bar alone: what it says stands over it.
                least = (1, y + height / 2 - 0.1), (1, y + height)
                plot.line(least, f"minimum-{i}-{m}", color=style.INK, lw=style.THIN, zorder=2.5)
                _bar(say, plot, row.n, row.needed[m].value, f"{i}-{m}", y + height / 2)
                y += height
        y = head
        for name, height in zip(names, heights):
            rule(sheet, y)
            sheet.write(0, y + height / 2, name, **style.AXIS)
            y += height
        sheet.write(0, bottom + 2.4, key, va="top", **style.MUTED)
        return sheet


def _bar(say: Catalogue, plot: PlotPanel, n: int, needed: float, name: str, y: float) -> None:
    if isnan(needed):
        plot.write(0.0, y - 1.7, say("figure.not_estimable"), zorder=3, **style.TINY)
        return
    reached = n / needed
    end, low, high = min(reached, CUT), y + 0.5, y + 0.5 + BAR
    fill = style.TEAL if reached >= REACHED else style.FAINT
    plot.axes.fill([0, end, end, 0], [low, low, high, high], fc=fill, lw=0, gid=f"bar-{name}", zorder=2)
    if reached > CUT:
        plot.mark(CUT, (low + high) / 2, f"beyond-{name}", marker=">", ms=4.0, mew=0, mfc=style.TEAL)
    text = say("figure.sample_size.of", share=share(say, reached), needed=needed)
    plot.write(0.0, y - 1.7, text, zorder=3, **style.TINY)


# Of the correlations: places in millimetres, and of the key a line and the room of a mark before its name.
META_LEFT, META_RIGHT, META_GAP, META_TOP, META_HEIGHT, META_BELOW = 10.0, 2.0, 12.0, 10.5, 46.0, 9.0
META_TALL = META_HEIGHT - 2.0  # of a panel
LINE, ENTRY = 4.0, 3.6
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

    def drawn(self, i: int) -> tuple[float, float, float]:
        """Value and limits at a set, at the end of the axis where they lie beyond."""
        (low, high), e = sorted((self.low, self.high)), self.performances[i]
        value, least, most = (min(max(y, low), high) for y in (e.value, e.low, e.high))
        return value, least, most


@dataclass(frozen=True, slots=True)
class MetaValidation(Chart):
    """Similarity across, performance upward, a mark a set with its name, and the correlation over all."""

    labels: tuple[Message | str, ...]
    similarity: tuple[float, ...]
    measures: tuple[Correlated, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per set and measure, then the correlation of each measure."""
        names = [style.label(say, label) for label in self.labels]
        rows = [
            {
                "label": label,
                "measure": style.label(say, measure.label),
                **numbers.columns(measure.performances[i], "n"),
                "similarity": self.similarity[i],
            }
            for measure in self.measures
            for i, label in enumerate(names)
        ]
        return rows + [
            {
                "label": say("figure.meta.correlation"),
                "measure": style.label(say, measure.label),
                **numbers.columns(measure.correlation, "n"),
            }
            for measure in self.measures
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        k = len(self.measures)
        width = (style.TEXT_WIDTH - META_LEFT - META_RIGHT - (k - 1) * META_GAP) / k
        names = [style.label(say, label) for label in self.labels]
        spots = labelled(names, [self._occupied(measure, width) for measure in self.measures])
        key = [number_and_name(say, i, n) for i, n in enumerate(names)] if spots.numbered else names
        key = [style.wrap(text, style.TEXT_WIDTH - ENTRY, style.SMALL).replace("\n", " ") for text in key]
        places = style.flowed((ENTRY + style.width_of(text, style.SMALL) for text in key), 4.0)
        below = META_TOP + META_HEIGHT + META_BELOW
        sheet = PlotSheet(below + LINE * (places[-1][0] + 1) + 1.0)
        written = numbers.tick(say, "number")
        for p, measure in enumerate(self.measures):
            left = META_LEFT + p * (width + META_GAP)
            sheet.write(left, 2.4, style.label(say, measure.title), weight=style.SEMIBOLD)
            text = style.wrap(self._correlation(say, measure.correlation), width, style.SMALL)
            sheet.write(left, 4.9, text, va="top", **style.MUTED)
            plot = sheet.panel(left, META_TOP + 2.0, width, META_TALL)
            plot.x_axis((-ASIDE, 1 + ASIDE), written, over=(0.0, 1.0))
            plot.y_axis((measure.low, measure.high))
            least, most = sorted((measure.low, measure.high))
            plot.ticks(y=numbers.linear_ticks(least, most, META_HEIGHT, written, upright=True))
            plot.axes.set_xlabel(say("figure.meta.similarity"), size=style.TICK, labelpad=2)
            self._marks(say, plot, p, names, spots)
        for i, (text, (line, x)) in enumerate(zip(key, places)):
            middle = below + LINE * line + LINE / 2
            sheet.plot([x + 1.4], [middle], ls="none", **glyph(i, REACHED))
            sheet.write(x + ENTRY, middle, text, **style.MUTED)
        return sheet

    def _correlation(self, say: Catalogue, r: Estimate) -> str:
        if not isfinite(r.value):
            return say("figure.meta.none")
        return say("figure.meta.r", value=numbers.estimate(say, r, "number"), p=r.p, n=r.n)

    def _occupied(self, measure: Correlated, width: float) -> Occupied:
        """The marks of a panel, and the bars that no name may cover; from its lower left corner."""
        bars: list[Box] = []
        found = zip(self.similarity, measure.performances)
        there = [i for i, (s, e) in enumerate(found) if isfinite(s) and isfinite(e.value)]
        places = []
        for i in there:
            x = (self.similarity[i] + ASIDE) / (1 + 2 * ASIDE) * width
            y, *ends = (
                (y - measure.low) / (measure.high - measure.low) * META_TALL for y in measure.drawn(i)
            )
            places.append((x, y))
            if numbers.has_interval(measure.performances[i]):
                bars.append((x - 0.3, x + 0.3, min(ends), max(ends)))
        return Occupied(
            tuple(there), tuple(spread_discs(places, width, META_TALL)), tuple(bars), width, META_TALL
        )

    def _marks(self, say: Catalogue, plot: PlotPanel, p: int, names: Sequence[str], spots: Labelled) -> None:
        measure, held = self.measures[p], spots.panels[p]

        def back(across: float, upward: float) -> Place:
            x, spread = across / plot.width * (1 + 2 * ASIDE) - ASIDE, measure.high - measure.low
            return x, measure.low + upward / META_TALL * spread

        for i, (across, upward) in zip(held.sites, held.marks):
            e, value = measure.performances[i], measure.drawn(i)[0]
            thin: dict[str, Any] = {"upright": True, "lw": style.THIN, "zorder": 1.5}
            plot.interval(e.low, e.high, self.similarity[i], f"interval-{p}-{i}", **thin)
            x = (self.similarity[i] + ASIDE) / (1 + 2 * ASIDE) * plot.width
            y = (value - measure.low) / (measure.high - measure.low) * META_TALL
            said = numbers.of_mark(say, e, "number", names[i], style.label(say, measure.title))
            place = (self.similarity[i], value) if hypot(across - x, upward - y) > 0.1 else None
            disc(plot, f"{p}-{i}", place, back(across, upward), order=3.0, label=said, **glyph(i, REACHED))
        spots.write(plot, p, back)
