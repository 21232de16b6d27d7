"""Reliability of labels: what a measured accuracy means when they may be wrong, and how sure raters are."""

from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

from trustreport.figures import numbers, style
from trustreport.figures.layout import spread
from trustreport.figures.panels import Chart, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

# Millimetres.
LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 15.0, 13.0, 108.0, 40.0
RIGHT = LEFT + PLOT_WIDTH
LINE_LABEL = RIGHT + 3.0
BESIDE = RIGHT + 17.0  # names of points and of the raters
CONCORDANCES = (0.0, 0.04, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# More points than this are drawn without their bounds, names and ways to the axes.
NAMED_UP_TO = 8


@dataclass(frozen=True, slots=True)
class NomogramLine:
    """All that one measured accuracy can mean: places (label accuracy, actual accuracy) on a line."""

    measured: float
    places: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class NomogramPoint:
    """One measured accuracy against labels of one reliability, with the bounds that assume nothing.

    `ends` are the limits of the actual accuracy, where it has an interval.
    """

    label: Message | str
    concordance: float
    label_accuracy: float
    measured: float
    actual: float
    low_bound: float
    high_bound: float
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class NomogramFigure(Chart):
    """From the reliability of the labels up to a line, then left to the actual accuracy; or back again.

    The horizontal scale is that of label accuracy (above), on which the lines are straight; below it has the
    ticks of weighted concordance, at the places `ticks_at` gives them (concordance, label accuracy).
    `concordance` and `label` mark the reliability of a study's raters, on both scales.
    """

    lines: tuple[NomogramLine, ...]
    ticks_at: tuple[tuple[float, float], ...]
    points: tuple[NomogramPoint, ...] = ()
    concordance: Estimate | None = None
    label: Estimate | None = None

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point; the raters' own reliability; the ends of the lines."""
        rows: list[dict[str, Any]] = [
            {
                "label": style.label(say, p.label),
                "concordance": p.concordance,
                "label_accuracy": p.label_accuracy,
                "measured": p.measured,
                "value": p.actual,
                "low_bound": p.low_bound,
                "high_bound": p.high_bound,
            }
            for p in self.points
        ]
        if self.concordance is not None and self.label is not None:
            rows.append(
                {
                    "label": say("figure.nomogram.raters"),
                    **numbers.columns(self.label),
                    "concordance": self.concordance.value,
                    "concordance_low": self.concordance.low,
                    "concordance_high": self.concordance.high,
                }
            )
        return rows + [
            {
                "label": say("figure.nomogram.line", value=numbers.percent(say, round(line.measured, 3))),
                "measured": line.measured,
                "label_accuracy": at,
                "value": actual,
            }
            for line in self.lines
            for at, actual in (line.places[0], line.places[-1])
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        named = len(self.points) <= NAMED_UP_TO
        shown = [(i, p) for i, p in enumerate(self.points) if isfinite(p.actual)]
        names = [self._name(say, p) for _, p in shown] if named else []
        talls = [style.height_of(name, style.SMALL) + 1.2 for name in names]
        mark = self._mark_text(say)
        mark_height = style.height_of(mark, style.TICK) + 3.0 if mark else 0.0
        height = max(PLOT_HEIGHT, sum(talls) + mark_height)
        sheet = PlotSheet(TOP + height + 12.5)
        plot = sheet.panel(LEFT, TOP, PLOT_WIDTH, height)
        bounds = [b for _, p in shown for b in (p.low_bound, p.high_bound)] if named else []
        low = min([0.5, *(y for line in self.lines for _, y in line.places), *bounds])
        air = 0.012 * (1 - low)
        plot.x_axis((0.5, 1.0))
        plot.y_axis((low - air, 1.0 + air), partial(numbers.percent, say), line=False)
        self._axes(say, plot, sheet)
        if mark:
            self._mark_raters(plot)
            sheet.write(BESIDE, TOP + height, mark, va="bottom", color=style.TEAL, **style.HEADING)
        for line in self.lines:
            name = f"line-{line.measured:g}"
            plot.line(line.places, name, color=style.MUTE, lw=style.THIN, zorder=2)
        self._label_lines(say, plot, sheet)
        for i, point in shown:
            _draw_point(plot, point, i, named=named)
        wanted = [plot.sheet_y(p.actual) for _, p in shown] if named else []
        places = spread(wanted, talls, TOP, TOP + height - mark_height)
        for (_, p), at, y, name in zip(shown, wanted, places, names):
            ends = [plot.sheet_x(p.label_accuracy) + 1.2, BESIDE - 3.0, BESIDE - 0.8]
            sheet.plot(ends, [at, at, y], color=style.FAINT, lw=style.HAIR, zorder=1)
            sheet.write(BESIDE, y, name, size=style.SMALL)
        return sheet

    def _axes(self, say: Catalogue, plot: PlotPanel, sheet: PlotSheet) -> None:
        axes = plot.axes
        axes.set_ylabel(say("figure.nomogram.actual"), size=style.TICK)
        axes.yaxis.set_label_coords(-(LEFT - 3.4) / PLOT_WIDTH, 0.5)
        plot.ticks(([at for _, at in self.ticks_at], [numbers.plain(say, rho) for rho, _ in self.ticks_at]))
        axes.set_xlabel(say("figure.nomogram.concordance"), size=style.TICK, labelpad=3)
        axes.grid(color=style.HAIRLINE, lw=style.HAIR, zorder=0)
        axes.set_axisbelow(True)
        above = numbers.linear_ticks(0.5, 1.0, PLOT_WIDTH, partial(numbers.percent, say))
        how: dict[str, Any] = {"ha": "center", "va": "bottom", **style.AXIS}
        sheet.plot([LEFT, RIGHT], [TOP, TOP], color=style.HAIRLINE, lw=style.THIN, zorder=1)
        for x, text in zip(*above):
            place = plot.sheet_x(x)
            sheet.plot([place, place], [TOP - 0.7, TOP], color=style.MUTE, lw=style.HAIR)
            sheet.write(place, TOP - 1.6, text, color=style.MUTE, **how)
        middle = LEFT + PLOT_WIDTH / 2
        sheet.write(middle, TOP - 6.4, say("figure.nomogram.labels"), color=style.INK, **how)

    def _mark_text(self, say: Catalogue) -> str:
        """What is said of the reliability of the raters; nothing where it is not marked."""
        label, rho = self.label, self.concordance
        if label is None or rho is None or not isfinite(label.value):
            return ""
        text = say(
            "figure.nomogram.mark",
            concordance=numbers.estimate(say, rho, "number"),
            label=numbers.estimate(say, label, "percent"),
        )
        return style.wrap(text, style.TEXT_WIDTH - BESIDE, style.TICK, style.SEMIBOLD)

    def _mark_raters(self, plot: PlotPanel) -> None:
        """Where the labels of the study stand: a line with its band."""
        label = self.label
        assert label is not None
        if numbers.has_interval(label):
            band: dict[str, Any] = {"color": style.TEAL, "alpha": 0.14, "lw": 0, "zorder": 1}
            plot.axes.axvspan(label.low, label.high, gid="raters-interval", **band)
        plot.axes.axvline(label.value, color=style.TEAL, lw=style.LINE, zorder=2.5, gid="raters")

    def _name(self, say: Catalogue, point: NomogramPoint) -> str:
        """A point's name, at most three lines of it, with its actual accuracy and bounds."""
        width = style.TEXT_WIDTH - BESIDE
        lines = style.wrap(style.label(say, point.label), width, style.SMALL).split("\n")
        name = "\n".join(lines[:3])
        if len(lines) > 3:
            name = style.wrap(say("word.shortened", text=name[:-2]), width, style.SMALL)

        def percent(share: float) -> str:
            return say("figure.percent_tick", value=say.numbers.fixed(100 * share, 1))

        actual = percent(point.actual)
        if point.ends is not None:
            low, high = map(percent, point.ends)
            actual = say("figure.nomogram.interval", actual=actual, low=low, high=high)
        bounds = {"low": percent(point.low_bound), "high": percent(point.high_bound)}
        said = say("figure.nomogram.point", actual=actual, **bounds)
        return name + "\n" + style.wrap(said, width, style.SMALL)

    def _label_lines(self, say: Catalogue, plot: PlotPanel, sheet: PlotSheet) -> None:
        """The measured accuracy at the right end of its line, apart where lines end close together."""
        labels = [numbers.percent(say, round(line.measured, 3)) for line in self.lines]
        wanted = [plot.sheet_y(line.places[-1][1]) for line in self.lines]
        tall = [style.height_of(text, style.TICK) + 0.2 for text in labels]
        how: dict[str, Any] = {"color": style.MUTE, **style.AXIS}
        places = spread(wanted, tall, TOP - 1.0, plot.top + plot.height + 1.0)
        for text, at, y in zip(labels, wanted, places):
            ends = [RIGHT + 0.4, LINE_LABEL - 0.6]
            sheet.plot(ends, [at, y], color=style.FAINT, lw=style.HAIR, zorder=1)
            sheet.write(LINE_LABEL, y, text, bbox={**style.ON_PAPER, "pad": 0.8}, **how)
        sheet.write(LINE_LABEL, TOP - 6.4, say("figure.nomogram.measured"), va="bottom", **how)


def _draw_point(plot: PlotPanel, point: NomogramPoint, i: int, *, named: bool) -> None:
    """The point on its line; when there are few, its bounds and the ways to both axes."""
    x, y = point.label_accuracy, point.actual
    if named:
        bounds = (x, point.low_bound), (x, point.high_bound)
        plot.line(bounds, f"bounds-{i}", color=style.BLUE, lw=style.LINE, zorder=2.6)
        way = (x, plot.axes.get_ylim()[0]), (x, y), (0.5, y)
        dashes = (0, (2, 2))
        plot.line(way, f"way-{i}", color=style.BLUE, lw=style.HAIR, ls=dashes, zorder=1.5)
    size = 5.2 if named else 3.6
    plot.mark(x, y, f"mark-{i}", marker="o", ms=size, mfc=style.BLUE, mec=style.PAPER, mew=0.6)


# Of the joyplot, in millimetres.
LABEL_WIDTH, NUMBER_WIDTH, GAP = 42.0, 12.0, 4.0
ABOVE, BELOW = 9.0, 14.0
OVERLAP = 1.7  # a ridge of a continuous scale may reach this many rows up
MOST_ROW, LEAST_ROW = 9.0, 4.4
USUAL_HEIGHT = 84.0  # of all rows, unless they are many


@dataclass(frozen=True, slots=True)
class Ridge:
    """One rater: the share of labels at each confidence (a step of the scale, or the middle of a bin)."""

    rater: Message | str
    shares: tuple[float, ...]
    mean: float
    n: int


@dataclass(frozen=True, slots=True)
class Joyplot(Chart):
    """A ridge per rater on one scale of heights; `at` (confidences) is common to all.

    With `discrete` the confidences are the steps of a scale and stand as bars; else they are the middles of
    bins of one width, and a ridge joins them.
    """

    rows: tuple[Ridge, ...]
    at: tuple[float, ...]
    discrete: bool = True

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per rater and confidence, and one for each mean."""
        rows: list[dict[str, Any]] = []
        for row in self.rows:
            label = style.label(say, row.rater)
            for at, share in zip(self.at, row.shares):
                rows.append({"label": label, "confidence": at, "value": share, "n": row.n})
            rows.append({"label": say("figure.joyplot.mean_of", rater=label), "value": row.mean, "n": row.n})
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        labels = [style.wrap(style.label(say, row.rater), LABEL_WIDTH, style.TICK) for row in self.rows]
        room = style.PAGE_HEIGHT - ABOVE - BELOW
        base = min(MOST_ROW, max(LEAST_ROW, USUAL_HEIGHT / len(self.rows)))
        size = style.TICK
        heights = [max(base, style.height_of(label, size) + 0.8) for label in labels]
        if sum(heights) > room:  # long names: smaller type, then shorter names
            size = style.SMALLEST
            labels = [self._first_line(say, row) for row in self.rows]
            heights = [base] * len(labels)
        first = heights[0] * (OVERLAP if not self.discrete else 1.0) - heights[0]
        top, height = ABOVE + first, sum(heights)
        head = style.width_of(say("figure.joyplot.rater"), style.SMALL)
        left = max(head, *(style.width_of(label, size) for label in labels)) + GAP
        sheet = PlotSheet(top + height + BELOW)
        plot = sheet.panel(left, top, style.TEXT_WIDTH - NUMBER_WIDTH - left, height)
        edge = self._bar / 2 + 0.01 if self.discrete else 0.01  # room beyond 0 and 1 for half a bar
        plot.x_axis((-edge, 1 + edge), numbers.tick(say, "number"), over=(0, 1))
        plot.y_axis((top + height, top), line=False)
        most = max((share for row in self.rows for share in row.shares), default=0.0)
        plot.axes.set_xlabel(say("figure.joyplot.confidence"), size=style.TICK, labelpad=3)
        tallest = say("figure.joyplot.height", share=say.numbers.percent(most, 0))
        for x, text, side in (
            (0, say("figure.joyplot.rater"), "left"),
            (style.TEXT_WIDTH, say("figure.joyplot.mean"), "right"),
            (left, tallest, "left"),
        ):
            sheet.write(x, ABOVE - 3.0, text, ha=side, va="bottom", **style.MUTED)
        bottom = top
        for i, (row, label, tall) in enumerate(zip(self.rows, labels, heights)):
            bottom += tall
            self._ridge(plot, row, i, bottom, min(heights) / (most or 1.0))
            sheet.write(0, bottom - base / 2, label, size=size)
            mean = numbers.written_number(say, row.mean, 2, "number")
            sheet.write(style.TEXT_WIDTH, bottom - base / 2, mean, ha="right", size=size)
        return sheet

    def _first_line(self, say: Catalogue, row: Ridge) -> str:
        """As much of a long name as one line holds."""
        lines = style.wrap(style.label(say, row.rater), LABEL_WIDTH - 4.0, style.SMALLEST).split("\n")
        return say("word.shortened", text=lines[0]) if len(lines) > 1 else lines[0]

    @property
    def _bar(self) -> float:
        """The width of a bar: most of the least step of the scale."""
        steps = [b - a for a, b in zip(self.at, self.at[1:])]
        return min(0.6 * min(steps, default=0.1), 0.08)

    def _ridge(self, plot: PlotPanel, row: Ridge, i: int, bottom: float, scale: float) -> None:
        """One rater's shares, drawn upward from the line that the row stands on; later rows lie in front."""
        axes, order = plot.axes, 2 + i / (len(self.rows) + 1)
        axes.plot(axes.get_xlim(), [bottom, bottom], color=style.HAIRLINE, lw=style.HAIR, zorder=order)
        if self.discrete:
            filled: dict[str, Any] = {"color": style.BLUE, "alpha": 0.75, "lw": 0, "zorder": order}
            for at, share in zip(self.at, row.shares):
                if share > 0:
                    left, right, up = at - self._bar / 2, at + self._bar / 2, bottom - share * scale * 0.86
                    corners = [left, left, right, right], [bottom, up, up, bottom]
                    axes.fill(*corners, gid=f"bar-{i}-{at:g}", **filled)
        else:
            tops = [bottom - share * scale * OVERLAP * 0.86 for share in row.shares]
            how: dict[str, Any] = {"zorder": order, "clip_on": False}
            xs, ys = [self.at[0], *self.at, self.at[-1]], [bottom, *tops, bottom]
            axes.fill(xs, ys, color=style.TEAL_WASH, alpha=0.9, lw=0, **how)
            plot.line(zip(self.at, tops), f"ridge-{i}", color=style.BLUE, lw=style.THIN, **how)
        plot.mark(row.mean, bottom, f"mean-{i}", marker="o", ms=3.6, mfc=style.INK, mec=style.PAPER, mew=0.6)
