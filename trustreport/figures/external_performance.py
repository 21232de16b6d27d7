"""External performance diagram: how a model does elsewhere, against how like the training data that is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, hypot, isfinite, isnan, nan, pi, sin
from typing import TYPE_CHECKING, Any

from trustreport.figures import numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Similarity from which each band reaches up to the next.
BANDS = (("low", 0.0), ("slight", 0.2), ("moderate", 0.4), ("significant", 0.6), ("fundamental", 0.8))
DISSIMILAR = ("moderate", "slight", "low")
QUALITIES = ("acceptable", "good", "excellent")
REACHED = 1.0  # the minimum sample size
MOST = 99.99  # shares beyond it are written as it

# Millimetres.
LEFT, RIGHT, GAP, TOP, HEIGHT = 14.0, 19.0, 5.0, 6.5, 74.0
WIDTH = (style.TEXT_WIDTH - LEFT - RIGHT - 2 * GAP) / 3
STRIP = 0.15  # of similarity, below zero: for the words of the qualities and for marks near zero
ABOVE = 0.04
DISC = 2.5  # across a mark
FURTHER = (3.0, 6.0, 9.0, 12.0, 15.0, 18.0)  # how far from its mark a name may go, with a line to it
NAME, SHARE = 35.0, 14.0  # columns of the key

Box = tuple[float, float, float, float]  # left, right, lower, upper

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
class ExternalPerformance:
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
            {
                "label": style.label_text(say, site.label),
                "measure": style.label_text(say, axis.label),
                "value": shown.estimate.value,
                "low": shown.estimate.low,
                "high": shown.estimate.high,
                "n": shown.estimate.n,
                "similarity": site.similarity.value,
                "similarity_low": site.similarity.low,
                "similarity_high": site.similarity.high,
                "reached": shown.reached,
            }
            for i, site in enumerate(self.sites)
            for axis, shown in zip(self.axes, site.performances)
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        names = [style.label_text(say, site.label) for site in self.sites]
        spots = labelled(names, [self._occupied(say, p) for p in range(len(self.axes))])
        key = _SetKey(say, self, names, numbered=spots.numbered)
        top = TOP + HEIGHT + 13.0
        figure, sheet = style.figure(style.TEXT_WIDTH, top + key.height)
        self._similarity(say, sheet)
        for p, axis in enumerate(self.axes):
            left = LEFT + p * (WIDTH + GAP)
            style.write(sheet, left, 2.4, style.label_text(say, axis.title), weight=style.SEMIBOLD)
            plot = style.panel(figure, left, TOP, WIDTH, HEIGHT)
            self._frame(say, plot, p)
            self._marks(say, plot, p, spots)
        key.write(sheet, top)
        return figure

    def _similarity(self, say: Catalogue, sheet: "Axes") -> None:
        """What the axis shows and its numbers to the left, the names of the bands to the right."""
        ends = [start for _, start in BANDS[1:]] + [1.0]
        for (name, start), end in zip(BANDS, ends):
            y = TOP + HEIGHT * _down((start + end) / 2)
            text = say(f"figure.external.{name}")
            right = LEFT + 3 * WIDTH + 2 * GAP + 1.6
            style.write(sheet, right, y, text, size=style.TICK, color=style.MUTE)
        for at in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
            how: dict[str, Any] = {"size": style.SMALLEST, "color": style.MUTE, "ha": "right"}
            style.write(sheet, LEFT - 1.6, TOP + HEIGHT * _down(at), numbers.plain(say, at), **how)
        text = say("figure.external.similarity")
        middle = TOP + HEIGHT * _down(0.5)
        style.write(sheet, 1.8, middle, text, size=style.TICK, rotation=90, ha="center")

    def _frame(self, say: Catalogue, plot: "Axes", p: int) -> None:
        """Fields, bands, ticks and the names of the qualities."""
        axis = self.axes[p]
        plot.set(xlim=(axis.worst, axis.best), ylim=(-STRIP, 1 + ABOVE))
        plot.spines["left"].set_visible(True)
        starts = dict(BANDS)
        ends = (*axis.bands[1:], axis.best)
        for q, (start, end) in enumerate(zip(axis.bands, ends)):
            for d, name in enumerate(DISSIMILAR):
                y = [starts[name]] * 2 + [starts[name] + 0.2] * 2
                colour = FIELDS[q + d]
                plot.fill([start, end, end, start], y, color=colour, lw=0, zorder=0, gid=f"field-{p}-{q}-{d}")
        for _, start in BANDS:
            plot.axhline(start, color=style.HAIRLINE, lw=style.HAIR, zorder=0.5)
        least, most = sorted((axis.worst, axis.best))
        found = ticks.linear(least, most, WIDTH, lambda x: numbers.plain(say, x))
        plot.set_xticks(*found)
        plot.tick_params(axis="x", length=2, width=style.HAIR, color=style.MUTE)
        label = style.wrap(style.label_text(say, axis.label), WIDTH + GAP - 1.0, style.TICK)
        plot.set_xlabel(label, size=style.TICK, labelpad=2)
        self._qualities(say, plot, p)

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

    def _qualities(self, say: Catalogue, plot: "Axes", p: int) -> None:
        for text, left, box in self._words(say, p):
            how: dict[str, Any] = {"size": style.SMALLEST, "color": style.BLUE}
            style.write(plot, *self._back(left, (box[2] + box[3]) / 2, p), text, **how)

    def _occupied(self, say: Catalogue, p: int) -> "Occupied":
        """The marks of a panel, and what else no name may cover."""
        there = [i for i, site in enumerate(self.sites) if _has_place(site, p)]
        words = [box for *_, box in self._words(say, p)]
        floor = max(box[3] for box in words) + 0.2
        marks = spread_discs([self._millimetres(i, p) for i in there], WIDTH, HEIGHT, floor=floor)
        return Occupied(tuple(there), tuple(marks), (*words, *self._bars(there, p)), WIDTH, HEIGHT)

    def _marks(self, say: Catalogue, plot: "Axes", p: int, spots: "Labelled") -> None:
        axis, held = self.axes[p], spots.panels[p]
        if not held.sites:
            reasons = [s.similarity.note or s.performances[p].estimate.note for s in self.sites]
            text = style.wrap(say.noted(reasons[0]) if reasons else "", WIDTH - 6.0, style.SMALL)
            how: dict[str, Any] = {"size": style.SMALL, "color": style.MUTE, "ha": "center"}
            style.write(plot, (axis.worst + axis.best) / 2, 0.7, text, multialignment="center", **how)
            return
        for i, (across, upward) in zip(held.sites, held.marks):
            x, y = self._millimetres(i, p)
            self._interval(plot, i, p)
            if hypot(across - x, upward - y) > 0.1:
                ends = [self._back(x, y, p), self._back(across, upward, p)]
                line: dict[str, Any] = {"color": style.MUTE, "lw": style.HAIR, "zorder": 2.8}
                plot.plot(*zip(*ends), gid=f"leader-{p}-{i}", **line)
                how = {"marker": "o", "ms": 1.8, "zorder": 2.9, **style.filled(style.TEAL)}
                style.mark(plot, *ends[0], f"place-{p}-{i}", **how)
            at = self._back(across, upward, p)
            site, shown = self.sites[i], self.sites[i].performances[p]
            titles = (style.label_text(say, text) for text in (site.label, axis.label))
            said = numbers.of_mark(say, shown.estimate, "number", *titles)
            style.mark(plot, *at, f"mark-{p}-{i}", label=said, **glyph(i, shown.reached))
        spots.write(plot, p, lambda x, y: self._back(x, y, p))

    def _bars(self, there: Sequence[int], p: int) -> list[Box]:
        """Where the intervals of the performance are, in millimetres."""
        axis, boxes = self.axes[p], []
        for i in there:
            e, (_, y) = self.sites[i].performances[p].estimate, self._millimetres(i, p)
            if isfinite(e.low) and isfinite(e.high):
                ends = sorted((x - axis.worst) / (axis.best - axis.worst) * WIDTH for x in (e.low, e.high))
                boxes.append((ends[0], ends[1], y - 0.3, y + 0.3))
        return boxes

    def _interval(self, plot: "Axes", i: int, p: int) -> None:
        """Bars over both intervals; an arrow head where one leaves the panel."""
        axis, site = self.axes[p], self.sites[i]
        e, s = site.performances[p].estimate, site.similarity
        least, most = sorted((axis.worst, axis.best))
        value = min(max(e.value, least), most)
        how: dict[str, Any] = {"color": style.TEAL, "lw": style.THIN, "zorder": 2}
        if isfinite(e.low) and isfinite(e.high):
            ends = [min(max(x, least), most) for x in (e.low, e.high)]
            plot.plot(ends, [s.value] * 2, gid=f"interval-{p}-{i}", **how)
            for at, beyond in ((least, e.low < least - 1e-9), (most, e.high > most + 1e-9)):
                if beyond:
                    pointing = "<" if at == axis.worst else ">"
                    arrow = {"marker": pointing, "ms": 3.4, "mew": 0, "mfc": style.TEAL, "zorder": 2}
                    style.mark(plot, at, s.value, f"beyond-{p}-{i}", **arrow)
        if isfinite(s.low) and isfinite(s.high):
            ends = [max(s.low, 0.0), min(s.high, 1.0)]
            plot.plot([value] * 2, ends, gid=f"similarity-{p}-{i}", **how)

    def _millimetres(self, i: int, p: int) -> tuple[float, float]:
        """Where a site lies in a panel, from its lower left corner."""
        axis, site = self.axes[p], self.sites[i]
        across = (site.performances[p].estimate.value - axis.worst) / (axis.best - axis.worst)
        return min(max(across, 0.0), 1.0) * WIDTH, (1 - _down(site.similarity.value)) * HEIGHT

    def _back(self, x: float, y: float, p: int) -> tuple[float, float]:
        axis = self.axes[p]
        return axis.worst + x / WIDTH * (axis.best - axis.worst), y / HEIGHT * (1 + ABOVE + STRIP) - STRIP


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
            style.label_text(say, site.label)
            for site in drawing.sites
            if not all(_has_place(site, p) for p in range(len(drawing.axes)))
        ]
        absent = say("figure.external.no_place", n=len(missing), names=missing) if missing else ""
        self.absent = style.wrap(absent, style.TEXT_WIDTH, style.SMALL)
        self.head = 4.6
        self.height = self.head + sum(self.row_heights) + 3.0 + style.height_of(self.legend, style.SMALL)
        self.height += 5.0 + style.height_of(self.absent, style.SMALL)

    def write(self, sheet: "Axes", top: float) -> None:
        """The key below the panels."""
        for column in range(self.columns):
            left = column * style.TEXT_WIDTH / self.columns
            head: dict[str, Any] = {"size": style.SMALLEST, "color": style.MUTE}
            style.write(sheet, left, top + 1.4, self.say("figure.external.size_head"), **head)
            for p, axis in enumerate(self.drawing.axes):
                text = style.label_text(self.say, axis.short)
                style.write(sheet, self._right(left, p), top + 1.4, text, ha="right", **head)
        y = top + self.head
        for row, height in enumerate(self.row_heights):
            for column in range(self.columns):
                k = row + column * self.rows
                if k < len(self.names):
                    self._site(sheet, k, column * style.TEXT_WIDTH / self.columns, y + height / 2)
            y += height
        self._meanings(sheet, y + 3.2)

    def _right(self, left: float, p: int) -> float:
        return left + 5.0 + NAME + (p + 1) * SHARE * (1.4 if self.columns == 1 else 1.0)

    def _site(self, sheet: "Axes", k: int, left: float, y: float) -> None:
        say, site = self.say, self.drawing.sites[k]
        sheet.plot([left + 1.4], [y], ls="none", **glyph(k, REACHED))
        style.write(sheet, left + 5.0, y, self.names[k], size=style.SMALL)
        for p, shown in enumerate(site.performances):
            text = say("table.empty") if isnan(shown.reached) else share(say, shown.reached)
            style.write(sheet, self._right(left, p), y, text, size=style.SMALL, ha="right")

    def _meanings(self, sheet: "Axes", y: float) -> None:
        x = 0.0
        muted: dict[str, Any] = {"size": style.SMALL, "color": style.MUTE}
        reached_by = [shown.reached for site in self.drawing.sites for shown in site.performances]
        states = [("reached", REACHED), ("below", 0.0)]
        states = states if not all(isnan(reached) for reached in reached_by) else []
        if any(isnan(reached) for reached in reached_by):
            states.append(("unknown", nan))
        for name, reached in states:
            sheet.plot([x + 1.4], [y], ls="none", **glyph(0, reached))
            text = self.say(f"figure.external.{name}")
            style.write(sheet, x + 5.0, y, text, **muted)
            x += 5.0 + style.width_of(text, style.SMALL) + 6.0
        y += 2.8
        style.write(sheet, 0, y, self.legend, va="top", **muted)
        if self.absent:
            style.write(
                sheet, 0, y + style.height_of(self.legend, style.SMALL), self.absent, va="top", **muted
            )


def glyph(i: int, reached: float) -> dict[str, Any]:
    """The mark of a site by its place among all: hollow where it has too few cases, half where unknown."""
    own = style.series(i)
    colour = own["mfc"]
    fill = style.half(colour) if isnan(reached) else {} if reached >= REACHED else style.hollow(colour)
    return {"ms": DISC * style.MM * 0.72, "zorder": 3, **own, **fill}


def number_and_name(say: Catalogue, k: int, name: str) -> str:
    """A site as the key has it where marks carry numbers."""
    return say("figure.external.numbered", n=k + 1, name=name)


@dataclass(frozen=True, slots=True)
class Occupied:
    """A panel: which sites have a mark, where, and what else no name may cover; in millimetres."""

    sites: tuple[int, ...]
    marks: tuple[tuple[float, float], ...]
    taken: tuple[Box, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """What is written beside each mark of each panel, and where it begins; numbers of the key, or names."""

    panels: tuple[Occupied, ...]
    texts: tuple[str, ...]
    spots: tuple[tuple[tuple[float, float] | None, ...], ...]
    numbered: bool

    def write(self, plot: "Axes", p: int, back: Callable[[float, float], tuple[float, float]]) -> None:
        """The labels of a panel; `back` takes millimetres to its axes. A far one has a line to its mark."""
        held = self.panels[p]
        for i, mark, spot in zip(held.sites, held.marks, self.spots[p]):
            if spot is None:
                continue
            text = self.texts[i]
            end = _nearest(spot, text, mark)
            if hypot(end[0] - mark[0], end[1] - mark[1]) > DISC:
                line: dict[str, Any] = {"color": style.FAINT, "lw": style.HAIR, "zorder": 2.7}
                plot.plot(*zip(back(*mark), back(*end)), gid=f"label-{p}-{i}", **line)
            style.write(plot, *back(*spot), text, size=style.SMALLEST, zorder=4)


def labelled(names: Sequence[str], panels: Sequence[Occupied]) -> Labelled:
    """Every site by its name in every panel where all have room, else by its number in the key."""
    texts = tuple(names)
    spots = [_spots_in(panel, texts) for panel in panels]
    numbered = any(spot is None for own in spots for spot in own)
    if numbered:
        texts = tuple(str(k + 1) for k in range(len(names)))
        spots = [_spots_in(panel, texts) for panel in panels]
    return Labelled(tuple(panels), texts, tuple(spots), numbered)


def _spots_in(panel: Occupied, texts: Sequence[str]) -> tuple[tuple[float, float] | None, ...]:
    own = [texts[i] for i in panel.sites]
    return tuple(label_places(own, panel.marks, panel.width, panel.height, panel.taken))


def label_places(
    names: Sequence[str],
    marks: Sequence[tuple[float, float]],
    width: float,
    height: float,
    taken: Sequence[Box] = (),
) -> list[tuple[float, float] | None]:
    """Where the name of each mark begins, beside it or near, over nothing else; None where it has no room."""
    half = DISC / 2
    used = [*taken, *((x - half, x + half, y - half, y + half) for x, y in marks)]
    tall = style.height_of(" ", style.SMALLEST)
    found: list[tuple[float, float] | None] = []
    for name, (x, y) in zip(names, marks):
        wide = style.width_of(name, style.SMALLEST)
        right, left = x + half + 0.4, x - half - 0.4 - wide
        middle = min(max(x - wide / 2, 0.3), width - wide - 0.3)
        above, below = y + half + tall / 2, y - half - tall / 2
        spots = [(right, y), (left, y), (middle, above), (middle, below)]
        spots += [(right, above), (left, above), (right, below), (left, below)]
        for away in FURTHER:
            spots += [(middle, above + away), (middle, below - away)]
            for side in (away / 2, away):
                ups = (0.0, away, -away)
                spots += [(right + side, y + up) for up in ups] + [(left - side, y + up) for up in ups]
        boxes = [(a, a + wide, b - tall / 2, b + tall / 2) for a, b in spots]
        free = [k for k, box in enumerate(boxes) if _free(box, used, width, height)]
        found.append(spots[free[0]] if free else None)
        if free:
            used.append(boxes[free[0]])
    return found


def _nearest(spot: tuple[float, float], text: str, mark: tuple[float, float]) -> tuple[float, float]:
    """The point of a label that is nearest to its mark."""
    wide, tall = style.width_of(text, style.SMALLEST), style.height_of(" ", style.SMALLEST)
    x = min(max(mark[0], spot[0]), spot[0] + wide)
    return x, min(max(mark[1], spot[1] - tall / 2), spot[1] + tall / 2)


def _free(box: Box, used: Sequence[Box], width: float, height: float) -> bool:
    inside = box[0] >= 0 and box[1] <= width and box[2] >= 0 and box[3] <= height
    return inside and not any(
        box[0] < b[1] and b[0] < box[1] and box[2] < b[3] and b[2] < box[3] for b in used
    )


def spread_discs(
    places: Sequence[tuple[float, float]], width: float, height: float, *, floor: float = 2.45
) -> list[tuple[float, float]]:
    """Where discs go so that none covers another: at their place, or the nearest free one, in millimetres.

    No disc reaches below `floor`.

    >>> spread_discs([(5.0, 5.0), (40.0, 5.0)], 45.0, 70.0)
    [(5.0, 5.0), (40.0, 5.0)]
    """
    room = DISC + 0.25
    taken: list[tuple[float, float]] = []
    for x, y in places:
        least = floor + DISC / 2
        inside = min(max(x, DISC / 2), width - DISC / 2), min(max(y, least), height - DISC / 2)
        taken.append(min(_around(*inside, width, height, least), key=_costs(taken, inside, room)))
    return taken


def _around(x: float, y: float, width: float, height: float, least: float) -> list[tuple[float, float]]:
    """Places around a place, the place itself first."""
    found = [(x, y)]
    for ring in range(1, 60):
        radius = 0.8 * ring
        steps = max(12, int(2 * pi * radius / 1.0))
        for k in range(steps):
            a, b = x + radius * cos(2 * pi * k / steps), y + radius * sin(2 * pi * k / steps)
            if DISC / 2 <= a <= width - DISC / 2 and least <= b <= height - DISC / 2:
                found.append((a, b))
    return found


def _costs(taken: Sequence[tuple[float, float]], at: tuple[float, float], room: float) -> Any:
    """How far a place is from where the disc belongs; a place that is taken costs more than any distance."""

    def cost(place: tuple[float, float]) -> float:
        covered = any(hypot(place[0] - a, place[1] - b) < room for a, b in taken)
        return hypot(place[0] - at[0], place[1] - at[1]) + (1e6 if covered else 0.0)

    return cost


def _has_place(site: SitePoint, p: int) -> bool:
    return isfinite(site.similarity.value) and isfinite(site.performances[p].estimate.value)


def _down(similarity: float) -> float:
    """How far down a panel a similarity lies, as a share of its height."""
    return (1 + ABOVE - similarity) / (1 + ABOVE + STRIP)


def share(say: Catalogue, reached: float) -> str:
    """A share of a minimum size in whole per cent, rounded down: 100 only where it is reached."""
    return say("figure.percent_tick", value=say.numbers.count(float(int(100 * min(reached, MOST)))))
