"""External performance diagram: how a model does elsewhere, against how like the training data that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, isfinite, isnan, pi, sin
from typing import TYPE_CHECKING, Any

from trustreport.estimate import Estimate
from trustreport.figures import numbers, style, ticks
from trustreport.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Similarity from which each band reaches up to the next.
BANDS = (("low", 0.0), ("slight", 0.2), ("moderate", 0.4), ("significant", 0.6), ("fundamental", 0.8))
DISSIMILAR = ("moderate", "slight", "low")
QUALITIES = ("acceptable", "good", "excellent")
# Minimum sample size reached, and reached with a margin.
REACHED, AMPLY = 1.0, 1.1
MOST = 99.99  # shares beyond it are written as it

# Millimetres.
LEFT, RIGHT, GAP, TOP, HEIGHT = 30.0, 2.0, 5.0, 6.5, 74.0
WIDTH = (style.TEXT_WIDTH - LEFT - RIGHT - 2 * GAP) / 3
STRIP = 0.11  # of similarity, below zero: for the words of the qualities and for marks near zero
ABOVE = 0.04
DISC = 3.7
NAME, SHARE = 39.0, 12.4  # columns of the key

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
class Performance:
    """One measure at one site; `reached` is the share of its minimum sample size, NaN where unknown."""

    estimate: Estimate
    reached: float


@dataclass(frozen=True, slots=True)
class Site:
    """One site: similarity to the training data with its Monte Carlo limits, and a performance per panel."""

    label: Message | str
    similarity: Estimate
    performances: tuple[Performance, ...]


@dataclass(frozen=True, slots=True)
class ExternalPerformance:
    """Panels with one axis of similarity; a disc with a letter per site, bars for both intervals.

    A disc is hollow below the minimum sample size, filled from there on, with a dark edge above 110 % of it.
    Fields are darker the better the performance and the less similar the data.
    """

    axes: tuple[Axis, ...]
    sites: tuple[Site, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per site and panel."""
        return [
            {
                "label": style.said(say, site.label),
                "letter": letter(i),
                "measure": style.said(say, axis.label),
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
        key = _Key(say, self)
        top = TOP + HEIGHT + 13.0
        figure, sheet = style.figure(style.TEXT_WIDTH, top + key.height)
        self._similarity(say, sheet)
        for p, axis in enumerate(self.axes):
            left = LEFT + p * (WIDTH + GAP)
            style.write(sheet, left, 2.4, style.said(say, axis.title), weight=style.SEMIBOLD)
            plot = style.panel(figure, left, TOP, WIDTH, HEIGHT)
            self._frame(say, plot, p)
            self._marks(say, plot, p)
        key.write(sheet, top)
        return figure

    def _similarity(self, say: Catalogue, sheet: "Axes") -> None:
        """The names of the bands, and what the axis shows."""
        ends = [start for _, start in BANDS[1:]] + [1.0]
        for (name, start), end in zip(BANDS, ends):
            y = TOP + HEIGHT * _down((start + end) / 2)
            text = say(f"figure.external.{name}")
            style.write(sheet, LEFT - 8.0, y, text, size=style.TICK, color=style.MUTE, ha="right")
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
        label = style.wrap(style.said(say, axis.label), WIDTH + GAP - 1.0, style.TICK)
        plot.set_xlabel(label, size=style.TICK, labelpad=2)
        self._qualities(say, plot, p)

    def _qualities(self, say: Catalogue, plot: "Axes", p: int) -> None:
        """The words of the qualities under their fields, at the axis, each where it has room."""
        axis = self.axes[p]
        taken = -1e9
        millimetres = [(x - axis.worst) / (axis.best - axis.worst) * WIDTH for x in (*axis.bands, axis.best)]
        for name, start, end in zip(QUALITIES, millimetres, millimetres[1:]):
            text = say(f"figure.external.{name}")
            width = style.width_of(text, style.SMALLEST)
            # The first may begin before its fields, the last ends with them.
            left = start + 0.4 if width <= end - start - 0.4 and name != QUALITIES[-1] else end - width - 0.4
            left = max(left, taken + 0.9) if name == "good" else left
            if left >= taken + 0.8 and left + width <= WIDTH + 0.1:
                y = -STRIP + 1.5 * (STRIP + 1 + ABOVE) / HEIGHT
                how: dict[str, Any] = {"size": style.SMALLEST, "color": style.BLUE}
                style.write(plot, left / WIDTH, y, text, transform=plot.get_yaxis_transform(), **how)
                taken = left + width

    def _marks(self, say: Catalogue, plot: "Axes", p: int) -> None:
        axis = self.axes[p]
        there = [i for i, site in enumerate(self.sites) if _has_place(site, p)]
        if not there:
            reasons = [s.similarity.note or s.performances[p].estimate.note for s in self.sites]
            text = style.wrap(reasons[0] if reasons else "", WIDTH - 6.0, style.SMALL)
            how: dict[str, Any] = {"size": style.SMALL, "color": style.MUTE, "ha": "center"}
            style.write(plot, (axis.worst + axis.best) / 2, 0.7, text, multialignment="center", **how)
            return
        places = [self._millimetres(i, p) for i in there]
        for i, (x, y), (across, upward) in zip(there, places, apart(places, WIDTH, HEIGHT)):
            self._interval(plot, i, p)
            if hypot(across - x, upward - y) > 0.1:
                ends = [self._back(x, y, p), self._back(across, upward, p)]
                line: dict[str, Any] = {"color": style.MUTE, "lw": style.HAIR, "zorder": 2.8}
                plot.plot(*zip(*ends), gid=f"leader-{p}-{i}", **line)
                style.mark(
                    plot, *ends[0], f"place-{p}-{i}", marker="o", ms=1.8, mew=0, mfc=style.TEAL, zorder=2.9
                )
            _disc(
                plot,
                *self._back(across, upward, p),
                letter(i),
                self.sites[i].performances[p].reached,
                f"mark-{p}-{i}",
                self._said(say, i, p),
            )

    def _said(self, say: Catalogue, i: int, p: int) -> str:
        names = style.said(say, self.sites[i].label), style.said(say, self.axes[p].label)
        return numbers.of_mark(say, self.sites[i].performances[p].estimate, "number", *names)

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


class _Key:
    """Letters, names of the sites, shares of the minimum sample sizes, and what the discs mean."""

    def __init__(self, say: Catalogue, drawing: ExternalPerformance) -> None:
        self.say, self.drawing = say, drawing
        self.columns = 1 if len(drawing.sites) <= 3 else 2
        self.names = [style.wrap(style.said(say, site.label), NAME, style.SMALL) for site in drawing.sites]
        line = style.height_of(" ", style.SMALL)
        self.heights = [max(style.height_of(name, style.SMALL), line) + 1.0 for name in self.names]
        self.rows = -(-len(self.names) // self.columns)
        self.row_heights = [
            max(self.heights[k] for k in range(row, len(self.names), self.rows)) for row in range(self.rows)
        ]
        self.legend = style.wrap(say("figure.external.key"), style.TEXT_WIDTH, style.SMALL)
        missing = [
            letter(i)
            for i, site in enumerate(drawing.sites)
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
                text = style.said(self.say, axis.short)
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
        style.write(sheet, left, y, letter(k), size=style.SMALL, weight=style.SEMIBOLD, color=style.TEAL)
        style.write(sheet, left + 5.0, y, self.names[k], size=style.SMALL)
        for p, shown in enumerate(site.performances):
            text = say("table.empty") if isnan(shown.reached) else share(say, shown.reached)
            style.write(sheet, self._right(left, p), y, text, size=style.SMALL, ha="right")

    def _meanings(self, sheet: "Axes", y: float) -> None:
        x = 0.0
        muted: dict[str, Any] = {"size": style.SMALL, "color": style.MUTE}
        for name, reached in (("below", 0.5), ("reached", REACHED), ("amply", 2.0)):
            _disc(sheet, x + DISC / 2, y, "", reached, None)
            text = self.say(f"figure.external.{name}")
            style.write(sheet, x + 5.0, y, text, **muted)
            x += 5.0 + style.width_of(text, style.SMALL) + 6.0
        y += 2.8
        style.write(sheet, 0, y, self.legend, va="top", **muted)
        if self.absent:
            style.write(
                sheet, 0, y + style.height_of(self.legend, style.SMALL), self.absent, va="top", **muted
            )


def letter(i: int) -> str:
    """A to Z, then AA, AB ..."""
    return (letter(i // 26 - 1) if i >= 26 else "") + chr(ord("A") + i % 26)


def apart(places: Sequence[tuple[float, float]], width: float, height: float) -> list[tuple[float, float]]:
    """Where discs go so that none covers another: at their place, or the nearest free one, in millimetres.

    >>> apart([(5.0, 5.0), (40.0, 5.0)], 45.0, 70.0)
    [(5.0, 5.0), (40.0, 5.0)]
    """
    room = DISC + 0.25
    taken: list[tuple[float, float]] = []
    for x, y in places:
        inside = min(max(x, DISC / 2), width - DISC / 2), min(max(y, DISC + 1.2), height - DISC / 2)
        taken.append(min(_around(*inside, width, height), key=_costs(taken, inside, room)))
    return taken


def _around(x: float, y: float, width: float, height: float) -> list[tuple[float, float]]:
    """Places around a place, the place itself first."""
    found = [(x, y)]
    for ring in range(1, 60):
        radius = 0.8 * ring
        steps = max(12, int(2 * pi * radius / 1.0))
        for k in range(steps):
            a, b = x + radius * cos(2 * pi * k / steps), y + radius * sin(2 * pi * k / steps)
            if DISC / 2 <= a <= width - DISC / 2 and DISC + 1.2 <= b <= height - DISC / 2:
                found.append((a, b))
    return found


def _costs(taken: Sequence[tuple[float, float]], at: tuple[float, float], room: float) -> Any:
    """How far a place is from where the disc belongs; a place that is taken costs more than any distance."""

    def cost(place: tuple[float, float]) -> float:
        covered = any(hypot(place[0] - a, place[1] - b) < room for a, b in taken)
        return hypot(place[0] - at[0], place[1] - at[1]) + (1e6 if covered else 0.0)

    return cost


def _has_place(site: Site, p: int) -> bool:
    return isfinite(site.similarity.value) and isfinite(site.performances[p].estimate.value)


def _down(similarity: float) -> float:
    """How far down a panel a similarity lies, as a share of its height."""
    return (1 + ABOVE - similarity) / (1 + ABOVE + STRIP)


def share(say: Catalogue, reached: float) -> str:
    """A share of a minimum size in whole per cent, rounded down: 100 only where it is reached."""
    return say("figure.percent_tick", value=say.numbers.count(float(int(100 * min(reached, MOST)))))


def _disc(
    axes: "Axes", x: float, y: float, text: str, reached: float, name: str | None, said: str = ""
) -> None:
    filled = reached >= REACHED
    amply = reached > AMPLY
    how: dict[str, Any] = {
        "marker": "o",
        "ms": DISC * style.MM - (2.0 if amply else 1.0),
        "mfc": style.TEAL if filled else style.PAPER,
        "mec": style.INK if amply else style.TEAL,
        "mew": 1.6 if amply else 1.0,
        "zorder": 3,
    }
    axes.plot([x], [y], ls="none", clip_on=False, gid=name, label=said, **how)
    if text:
        colour = style.PAPER if filled else style.TEAL
        size = style.SMALLEST
        style.write(
            axes,
            x,
            y,
            text,
            size=size,
            weight=style.SEMIBOLD,
            color=colour,
            ha="center",
            va="center_baseline",
            zorder=4,
        )
