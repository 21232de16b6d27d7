"""External performance diagram: how a model does elsewhere, against how like the training data that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, isfinite, isnan, nan
from typing import Any

from trustreport.figures import numbers, style
from trustreport.figures.layout import DISC, Box, Labelled, Occupied, Place, labelled, spread_discs
from trustreport.figures.panels import Chart, PlotPanel, PlotSheet, write_y_label
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

# Similarity from which each band reaches up to the next.
BANDS = (("low", 0.0), ("slight", 0.2), ("moderate", 0.4), ("significant", 0.6), ("fundamental", 0.8))
DISSIMILAR = ("moderate", "slight", "low")
QUALITIES = ("acceptable", "good", "excellent")
REACHED = 1.0  # the minimum sample size
MOST = 99.99  # shares beyond it are written as it

# Millimetres.
LEFT, RIGHT, GAP, TOP, HEIGHT = 14.0, 19.0, 5.0, 6.5, 54.0
WIDTH = (style.TEXT_WIDTH - LEFT - RIGHT - 2 * GAP) / 3
STRIP = 0.2  # of similarity, below zero: for the words of the qualities and for marks near zero
ABOVE = 0.04
NAME, SHARE = 35.0, 14.0  # columns of the key

# From good performance on fairly similar data to excellent performance on data unlike the training data.
FIELDS = ("#f3f6fa", "#e8eef5", "#dce6f0", "#cfdcea", "#c0d1e3")


@dataclass(frozen=True, slots=True)
class Axis:
    """What lies across a panel, from `worst` to `best`; `bands` are where acceptable, good, excellent begin.

    `short` heads the column of the key.
    """

    title: Message | str
    label: Message | str
    short: Message | str
    worst: float
    best: float
    bands: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class SitePerformance:
    """One measure at one site; `reached` is the share of its minimum sample size, NaN where unknown."""

    estimate: Estimate
    reached: float


@dataclass(frozen=True, slots=True)
class SitePoint:
    """One site: similarity to the training data with its Monte Carlo limits, and a performance per panel."""

    label: Message | str
    similarity: Estimate
    performances: tuple[SitePerformance, ...]


@dataclass(frozen=True, slots=True)
class ExternalPerformance(Chart):
    """Panels with one axis of similarity; a mark per site with its name beside it, bars for both intervals.

    Marks differ in shape and colour; they are hollow below the minimum sample size, half filled where that is
    not known. Where not every name has room beside its mark, all marks have their numbers in the key. Fields
    are darker the better the performance and the less similar the data.
    """

    axes: tuple[Axis, ...]
    sites: tuple[SitePoint, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per site and panel."""
        return [
            numbers.entry(say, shown.estimate, "n", label=site.label, measure=axis.label)
            | {
                "similarity": site.similarity.value,
                "similarity_low": site.similarity.low,
                "similarity_high": site.similarity.high,
                "reached": shown.reached,
            }
            for i, site in enumerate(self.sites)
            for axis, shown in zip(self.axes, site.performances)
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        names = [style.label(say, site.label) for site in self.sites]
        spots = labelled(names, [self._occupied(say, p) for p in range(len(self.axes))])
        key = _SetKey(say, self, names, numbered=spots.numbered)
        top = TOP + HEIGHT + 11.5
        sheet = PlotSheet(top + key.height)
        self._similarity(say, sheet)
        for p, axis in enumerate(self.axes):
            left = LEFT + p * (WIDTH + GAP)
            sheet.write(left, 2.4, style.label(say, axis.title), weight=style.SEMIBOLD)
            plot = sheet.panel(left, TOP, WIDTH, HEIGHT)
            self._frame(say, plot, p)
            self._marks(say, plot, p, spots)
        key.write(sheet, top)
        return sheet

    def _similarity(self, say: Catalogue, sheet: PlotSheet) -> None:
        """What the axis shows and its numbers to the left, the names of the bands to the right."""
        ends = [start for _, start in BANDS[1:]] + [1.0]
        for (name, start), end in zip(BANDS, ends):
            y = TOP + HEIGHT * _down((start + end) / 2)
            right = LEFT + 3 * WIDTH + 2 * GAP + 1.6
            sheet.write(right, y, say(f"figure.external.{name}"), color=style.MUTE, **style.AXIS)
        for at in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
            y = TOP + HEIGHT * _down(at)
            sheet.write(LEFT - 1.6, y, numbers.plain(say, at), ha="right", **style.TINY)
        write_y_label(sheet, say("figure.external.similarity"), TOP, TOP + HEIGHT)

    def _frame(self, say: Catalogue, plot: PlotPanel, p: int) -> None:
        """Fields, bands, ticks and the names of the qualities."""
        axis = self.axes[p]
        plot.x_axis((axis.worst, axis.best))
        plot.y_axis((-STRIP, 1 + ABOVE))
        starts = dict(BANDS)
        ends = (*axis.bands[1:], axis.best)
        for q, (start, end) in enumerate(zip(axis.bands, ends)):
            for d, name in enumerate(DISSIMILAR):
                x, y = [start, end, end, start], [starts[name]] * 2 + [starts[name] + 0.2] * 2
                plot.axes.fill(x, y, color=FIELDS[q + d], lw=0, zorder=0, gid=f"field-{p}-{q}-{d}")
        for _, start in BANDS:
            plot.axes.axhline(start, color=style.HAIRLINE, lw=style.HAIR, zorder=0.5)
        least, most = sorted((axis.worst, axis.best))
        plot.ticks(numbers.linear_ticks(least, most, WIDTH, numbers.tick(say, "number")))
        label = style.wrap(style.label(say, axis.label), WIDTH + GAP - 1.0, style.TICK)
        plot.axes.set_xlabel(label, size=style.TICK, labelpad=2)
        for text, left, box in self._words(say, p):
            at = self._back(left, (box[2] + box[3]) / 2, p)
            plot.write(*at, text, size=style.SMALLEST, color=style.BLUE)

    def _words(self, say: Catalogue, p: int) -> list[tuple[str, float, Box]]:
        """The words of the qualities, the edge to which each is set, and where it is, in millimetres.

        Each is under its field; the middle one on a line of its own, all three where two would meet.
        """
        axis = self.axes[p]
        edges = [(x - axis.worst) / (axis.best - axis.worst) * WIDTH for x in (*axis.bands, axis.best)]
        texts = [say(f"figure.external.{name}") for name in QUALITIES]
        wide = [style.width_of(text, style.SMALLEST) for text in texts]
        lefts = [edges[0], (edges[1] + edges[2] - wide[1]) / 2, edges[3] - wide[2]]
        lefts = [min(max(left, 0.0), WIDTH - w) for left, w in zip(lefts, wide)]
        crowded = lefts[0] + wide[0] + 1.0 > lefts[2]
        middles = (7.1, 4.3, 1.5) if crowded else (4.6, 1.6, 4.6)
        half = style.height_of(" ", style.SMALLEST) / 2
        return [
            (text, left, (left, left + w, y - half, y + half))
            for text, left, w, y in zip(texts, lefts, wide, middles)
        ]

    def _occupied(self, say: Catalogue, p: int) -> Occupied:
        """The marks of a panel, and what else no name may cover."""
        there = [i for i, site in enumerate(self.sites) if _has_place(site, p)]
        words = [box for *_, box in self._words(say, p)]
        floor = max(box[3] for box in words) + 0.2
        marks = spread_discs([self._millimetres(i, p) for i in there], WIDTH, HEIGHT, floor=floor)
        return Occupied(tuple(there), tuple(marks), (*words, *self._bars(there, p)), WIDTH, HEIGHT)

    def _marks(self, say: Catalogue, plot: PlotPanel, p: int, spots: Labelled) -> None:
        axis, held = self.axes[p], spots.panels[p]
        if not held.sites:
            reasons = [s.similarity.note or s.performances[p].estimate.note for s in self.sites]
            text = style.wrap(say(reasons[0]) if reasons else "", WIDTH - 6.0, style.SMALL)
            middle = (axis.worst + axis.best) / 2
            plot.write(middle, 0.7, text, ha="center", multialignment="center", **style.MUTED)
            return
        for i, (across, upward) in zip(held.sites, held.marks):
            x, y = self._millimetres(i, p)
            self._interval(plot, i, p)
            site, shown = self.sites[i], self.sites[i].performances[p]
            titles = (style.label(say, text) for text in (site.label, axis.label))
            said = numbers.of_mark(say, shown.estimate, "number", *titles)
            moved = hypot(across - x, upward - y) > 0.1
            at, place = self._back(across, upward, p), self._back(x, y, p) if moved else None
            disc(plot, f"{p}-{i}", place, at, label=said, **glyph(i, shown.reached))
        spots.write(plot, p, lambda x, y: self._back(x, y, p))

    def _bars(self, there: Sequence[int], p: int) -> list[Box]:
        """Where the intervals of performance and similarity are, in millimetres."""
        axis, boxes = self.axes[p], []
        for i in there:
            e, (_, y) = self.sites[i].performances[p].estimate, self._millimetres(i, p)
            if numbers.has_interval(e):
                ends = sorted((x - axis.worst) / (axis.best - axis.worst) * WIDTH for x in (e.low, e.high))
                boxes.append((ends[0], ends[1], y - 0.3, y + 0.3))
            s, (x, _) = self.sites[i].similarity, self._millimetres(i, p)
            if numbers.has_interval(s):
                low, high = ((1 - _down(min(max(end, 0.0), 1.0))) * HEIGHT for end in (s.low, s.high))
                boxes.append((x - 0.3, x + 0.3, low, high))
        return boxes

    def _interval(self, plot: PlotPanel, i: int, p: int) -> None:
        """Bars over both intervals; an arrow head where one leaves the panel."""
        axis, site = self.axes[p], self.sites[i]
        e, s = site.performances[p].estimate, site.similarity
        how: dict[str, Any] = {"color": style.TEAL, "lw": style.THIN}
        plot.interval(e.low, e.high, s.value, f"interval-{p}-{i}", **how)
        least, most = sorted((axis.worst, axis.best))
        for at, beyond in ((least, e.low < least - 1e-9), (most, e.high > most + 1e-9)):
            if beyond and numbers.has_interval(e):
                pointing = "<" if at == axis.worst else ">"
                arrow = {"marker": pointing, "ms": 3.4, "mew": 0, "mfc": style.TEAL, "zorder": 2}
                plot.mark(at, s.value, f"beyond-{p}-{i}", **arrow)
        ends, at = (max(s.low, 0.0), min(s.high, 1.0)), plot.clipped(e.value)
        if numbers.has_interval(s):
            plot.interval(*ends, at, f"similarity-{p}-{i}", upright=True, **how)

    def _millimetres(self, i: int, p: int) -> Place:
        """Where a site lies in a panel, from its lower left corner."""
        axis, site = self.axes[p], self.sites[i]
        across = (site.performances[p].estimate.value - axis.worst) / (axis.best - axis.worst)
        return min(max(across, 0.0), 1.0) * WIDTH, (1 - _down(site.similarity.value)) * HEIGHT

    def _back(self, x: float, y: float, p: int) -> Place:
        axis = self.axes[p]
        return axis.worst + x / WIDTH * (axis.best - axis.worst), y / HEIGHT * (1 + ABOVE + STRIP) - STRIP


def disc(
    plot: PlotPanel, name: str, place: Place | None, at: Place, *, order: float = 2.9, **how: Any
) -> None:
    """The mark of a site; where it makes room for another, a line leads to its true place."""
    if place is not None:
        plot.line((place, at), f"leader-{name}", color=style.MUTE, lw=style.HAIR, zorder=2.8)
        plot.mark(*place, f"place-{name}", marker="o", ms=1.8, zorder=order, **style.filled(style.TEAL))
    plot.mark(*at, f"mark-{name}", **how)


class _SetKey:
    """Marks, names of the sites, shares of the minimum sample sizes, and what hollow marks mean."""

    def __init__(
        self, say: Catalogue, drawing: ExternalPerformance, names: Sequence[str], *, numbered: bool
    ) -> None:
        self.say, self.drawing = say, drawing
        self.columns = 1 if len(drawing.sites) <= 3 else 2
        shown = [number_and_name(say, k, name) for k, name in enumerate(names)] if numbered else names
        self.names = [style.wrap(name, NAME, style.SMALL) for name in shown]
        line = style.height_of(" ", style.SMALL)
        self.heights = [max(style.height_of(name, style.SMALL), line) + 1.0 for name in self.names]
        self.rows = -(-len(self.names) // self.columns)
        self.row_heights = [
            max(self.heights[k] for k in range(row, len(self.names), self.rows)) for row in range(self.rows)
        ]
        self.legend = style.wrap(say("figure.external.key"), style.TEXT_WIDTH, style.SMALL)
        missing = [
            style.label(say, site.label)
            for site in drawing.sites
            if not all(_has_place(site, p) for p in range(len(drawing.axes)))
        ]
        absent = say("figure.external.no_place", n=len(missing), names=missing) if missing else ""
        self.absent = style.wrap(absent, style.TEXT_WIDTH, style.SMALL)
        self.head = 4.6
        self.height = self.head + sum(self.row_heights) + 3.0 + style.height_of(self.legend, style.SMALL)
        self.height += 5.0 + style.height_of(self.absent, style.SMALL)

    def write(self, sheet: PlotSheet, top: float) -> None:
        """The key below the panels."""
        lefts = [column * style.TEXT_WIDTH / self.columns for column in range(self.columns)]
        for left in lefts:
            sheet.write(left, top + 1.4, self.say("figure.external.size_head"), **style.TINY)
            for p, axis in enumerate(self.drawing.axes):
                text = style.label(self.say, axis.short)
                sheet.write(self._right(left, p), top + 1.4, text, ha="right", **style.TINY)
        y = top + self.head
        for row, height in enumerate(self.row_heights):
            for k, left in zip(range(row, len(self.names), self.rows), lefts):
                self._site(sheet, k, left, y + height / 2)
            y += height
        self._meanings(sheet, y + 3.2)

    def _right(self, left: float, p: int) -> float:
        return left + 5.0 + NAME + (p + 1) * SHARE * (1.4 if self.columns == 1 else 1.0)

    def _site(self, sheet: PlotSheet, k: int, left: float, y: float) -> None:
        say, site = self.say, self.drawing.sites[k]
        sheet.plot([left + 1.4], [y], ls="none", **glyph(k, REACHED))
        sheet.write(left + 5.0, y, self.names[k], size=style.SMALL)
        for p, shown in enumerate(site.performances):
            text = say("table.empty") if isnan(shown.reached) else share(say, shown.reached)
            sheet.write(self._right(left, p), y, text, size=style.SMALL, ha="right")

    def _meanings(self, sheet: PlotSheet, y: float) -> None:
        x = 0.0
        unknown = [isnan(shown.reached) for site in self.drawing.sites for shown in site.performances]
        states = [] if all(unknown) else [("reached", REACHED), ("below", 0.0)]
        for name, reached in [*states, ("unknown", nan)] if any(unknown) else states:
            sheet.plot([x + 1.4], [y], ls="none", **glyph(0, reached))
            text = self.say(f"figure.external.{name}")
            sheet.write(x + 5.0, y, text, **style.MUTED)
            x += 5.0 + style.width_of(text, style.SMALL) + 6.0
        y += 2.8
        sheet.write(0, y, self.legend, va="top", **style.MUTED)
        if self.absent:
            y += style.height_of(self.legend, style.SMALL)
            sheet.write(0, y, self.absent, va="top", **style.MUTED)


def glyph(i: int, reached: float) -> dict[str, Any]:
    """The mark of a site by its place among all: hollow where it has too few cases, half where unknown."""
    own = style.series(i)
    colour = own["mfc"]
    fill = style.half(colour) if isnan(reached) else {} if reached >= REACHED else style.hollow(colour)
    return {"ms": DISC * style.MM * 0.72, "zorder": 3, **own, **fill}


def number_and_name(say: Catalogue, k: int, name: str) -> str:
    """A site as the key has it where marks carry numbers."""
    return say("figure.external.numbered", n=k + 1, name=name)


def _has_place(site: SitePoint, p: int) -> bool:
    return isfinite(site.similarity.value) and isfinite(site.performances[p].estimate.value)


def _down(similarity: float) -> float:
    """How far down a panel a similarity lies, as a share of its height."""
    return (1 + ABOVE - similarity) / (1 + ABOVE + STRIP)


def share(say: Catalogue, reached: float) -> str:
    """A share of a minimum size in whole per cent, rounded down: 100 only where it is reached."""
    return say("figure.percent_tick", value=say.numbers.count(float(int(100 * min(reached, MOST)))))
