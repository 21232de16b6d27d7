"""The nomogram of reliability: what a measured accuracy means when the labels are not always right."""

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from trustreport.figures import numbers, style, ticks
from trustreport.figures.slope import spread
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Millimetres.
LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 15.0, 13.0, 108.0, 66.0
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
class NomogramFigure:
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
                "label": style.label_text(say, p.label),
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
                    "value": self.label.value,
                    "low": self.label.low,
                    "high": self.label.high,
                    "concordance": self.concordance.value,
                    "concordance_low": self.concordance.low,
                    "concordance_high": self.concordance.high,
                }
            )
        for line in self.lines:
            for at, actual in (line.places[0], line.places[-1]):
                rows.append(
                    {
                        "label": say("figure.nomogram.line", value=_percent(say, line.measured)),
                        "measured": line.measured,
                        "label_accuracy": at,
                        "value": actual,
                    }
                )
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        named = len(self.points) <= NAMED_UP_TO
        shown = [(i, p) for i, p in enumerate(self.points) if isfinite(p.actual)]
        names = [self._name(say, p) for _, p in shown] if named else []
        mark = self._mark_text(say)
        beside = sum(map(_tall, names)) + style.height_of(mark, style.TICK) + (3.0 if mark else 0.0)
        height = max(PLOT_HEIGHT, beside)
        figure, sheet = style.figure(style.TEXT_WIDTH, TOP + height + 12.5)
        plot = style.panel(figure, LEFT, TOP, PLOT_WIDTH, height)
        bounds = [b for _, p in shown for b in (p.low_bound, p.high_bound)] if named else []
        low = min([0.5, *(y for line in self.lines for _, y in line.places), *bounds])
        plot.set(xlim=(0.5, 1.0), ylim=(low - 0.012 * (1 - low), 1.0 + 0.012 * (1 - low)))
        self._axes(say, plot, sheet, height)
        if mark:
            self._mark_raters(plot)
            how: dict[str, Any] = {"size": style.TICK, "weight": style.SEMIBOLD, "color": style.TEAL}
            style.write(sheet, BESIDE, TOP + height, mark, va="bottom", **how)
        for line in self.lines:
            xs, ys = zip(*line.places)
            plot.plot(xs, ys, color=style.MUTE, lw=style.THIN, zorder=2, gid=f"line-{line.measured:g}")
        self._label_lines(say, plot, sheet, height)
        for i, point in shown:
            _draw_point(plot, point, i, named)
        bottom = TOP + height - (style.height_of(mark, style.TICK) + 3.0 if mark else 0.0)
        wanted = [_down(plot, p.actual, height) for _, p in shown] if named else []
        for (_, p), at, y, name in zip(
            shown, wanted, spread(wanted, list(map(_tall, names)), TOP, bottom), names
        ):
            x = LEFT + (p.label_accuracy - 0.5) / 0.5 * PLOT_WIDTH
            ends = [x + 1.2, BESIDE - 3.0, BESIDE - 0.8]
            sheet.plot(ends, [at, at, y], color=style.FAINT, lw=style.HAIR, zorder=1)
            style.write(sheet, BESIDE, y, name, size=style.SMALL)
        return figure

    def _axes(self, say: Catalogue, plot: "Axes", sheet: "Axes", height: float) -> None:
        low, high = plot.get_ylim()
        plot.set_yticks(*ticks.linear(low, high, height, lambda y: _percent(say, y), upright=True))
        plot.set_ylabel(say("figure.nomogram.actual"), size=style.TICK)
        plot.yaxis.set_label_coords(-(LEFT - 3.4) / PLOT_WIDTH, 0.5)
        below = [(at, numbers.plain(say, rho)) for rho, at in self.ticks_at]
        plot.set_xticks([at for at, _ in below], [text for _, text in below])
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        plot.set_xlabel(say("figure.nomogram.concordance"), size=style.TICK, labelpad=3)
        plot.grid(color=style.HAIRLINE, lw=style.HAIR, zorder=0)
        plot.set_axisbelow(True)
        above = ticks.linear(0.5, 1.0, PLOT_WIDTH, lambda x: _percent(say, x))
        how = {"size": style.TICK, "color": style.MUTE, "ha": "center", "va": "bottom"}
        sheet.plot([LEFT, RIGHT], [TOP, TOP], color=style.HAIRLINE, lw=style.THIN, zorder=1)
        for x, text in zip(*above):
            place = LEFT + (x - 0.5) / 0.5 * PLOT_WIDTH
            sheet.plot([place, place], [TOP - 0.7, TOP], color=style.MUTE, lw=style.HAIR)
            style.write(sheet, place, TOP - 1.6, text, **how)
        middle = LEFT + PLOT_WIDTH / 2
        style.write(sheet, middle, TOP - 6.4, say("figure.nomogram.labels"), **{**how, "color": style.INK})

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

    def _mark_raters(self, plot: "Axes") -> None:
        """Where the labels of the study stand: a line with its band."""
        label = self.label
        assert label is not None
        if isfinite(label.low) and isfinite(label.high):
            band: dict[str, Any] = {"color": style.TEAL, "alpha": 0.14, "lw": 0, "zorder": 1}
            plot.axvspan(label.low, label.high, gid="raters-interval", **band)
        plot.axvline(label.value, color=style.TEAL, lw=style.LINE, zorder=2.5, gid="raters")

    def _name(self, say: Catalogue, point: NomogramPoint) -> str:
        """A point's name, at most three lines of it, with its actual accuracy and bounds."""
        width = style.TEXT_WIDTH - BESIDE
        lines = style.wrap(style.label_text(say, point.label), width, style.SMALL).split("\n")
        name = "\n".join(lines[:3])
        if len(lines) > 3:
            name = style.wrap(say("word.shortened", text=name[:-2]), width, style.SMALL)
        actual = _percent(say, point.actual, 1)
        if point.ends is not None:
            low, high = (_percent(say, end, 1) for end in point.ends)
            actual = say("figure.nomogram.interval", actual=actual, low=low, high=high)
        numbers_said = say(
            "figure.nomogram.point",
            actual=actual,
            low=_percent(say, point.low_bound, 1),
            high=_percent(say, point.high_bound, 1),
        )
        return name + "\n" + style.wrap(numbers_said, width, style.SMALL)

    def _label_lines(self, say: Catalogue, plot: "Axes", sheet: "Axes", height: float) -> None:
        """The measured accuracy at the right end of its line, apart where lines end close together."""
        labels = [_percent(say, round(line.measured, 3)) for line in self.lines]
        wanted = [_down(plot, line.places[-1][1], height) for line in self.lines]
        tall = [style.height_of(text, style.TICK) + 0.2 for text in labels]
        for i, y in enumerate(spread(wanted, tall, TOP - 1.0, TOP + height + 1.0)):
            sheet.plot(
                [RIGHT + 0.4, LINE_LABEL - 0.6], [wanted[i], y], color=style.FAINT, lw=style.HAIR, zorder=1
            )
            paper = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.8}
            how = {"size": style.TICK, "color": style.MUTE, "bbox": paper}
            style.write(sheet, LINE_LABEL, y, labels[i], **how)
        head = {"size": style.TICK, "color": style.MUTE, "va": "bottom"}
        style.write(sheet, LINE_LABEL, TOP - 6.4, say("figure.nomogram.measured"), **head)


def _draw_point(plot: "Axes", point: NomogramPoint, i: int, named: bool) -> None:
    """The point on its line; when there are few, its bounds and the ways to both axes."""
    x, y = point.label_accuracy, point.actual
    if named:
        bounds: dict[str, Any] = {"color": style.BLUE, "lw": style.LINE, "zorder": 2.6, "gid": f"bounds-{i}"}
        plot.plot([x, x], [point.low_bound, point.high_bound], **bounds)
        way: dict[str, Any] = {
            "color": style.BLUE,
            "lw": style.HAIR,
            "ls": (0, (2, 2)),
            "zorder": 1.5,
            "gid": f"way-{i}",
        }
        plot.plot([x, x, 0.5], [plot.get_ylim()[0], y, y], **way)
    size = 5.2 if named else 3.6
    style.mark(plot, x, y, f"mark-{i}", marker="o", ms=size, mfc=style.BLUE, mec=style.PAPER, mew=0.6)


def _tall(name: str) -> float:
    return style.height_of(name, style.SMALL) + 1.2


def _down(plot: "Axes", y: float, height: float) -> float:
    """How far down the sheet a value of the plot lies."""
    low, high = plot.get_ylim()
    return TOP + (high - y) / (high - low) * height


def _percent(say: Catalogue, value: float, places: int | None = None) -> str:
    shown = 100 * value
    text = numbers.plain(say, round(shown, 6)) if places is None else say.numbers.fixed(shown, places)
    return say("figure.percent_tick", value=text)
