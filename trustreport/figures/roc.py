"""ROC curves: sensitivity against false alarms, a panel for each data set, a line for each candidate."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

from numpy.typing import ArrayLike

from trustreport.figures import numbers, panels, style
from trustreport.figures.curves import MOST_POINTS, Points, thinned
from trustreport.figures.panels import Chart, LegendEntry, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.digits import same_digits
from trustreport.vocabulary.messages import Catalogue, Message

GAP = 10.0
UNAIDED: dict[str, Any] = {"marker": "s", "ms": 4.0, **style.hollow(style.INK)}
AIDED: dict[str, Any] = {"marker": "o", "ms": 4.4, **style.filled(style.BLUE)}
RATER: dict[str, Any] = {"marker": "o", "ms": 4.4, **style.hollow(style.INK)}
POINTS = {"unaided": UNAIDED, "aided": AIDED, "rater": RATER}
EQUAL: dict[str, Any] = {"lw": style.THIN, "ls": (0, (4, 2))}
TOUCH: dict[str, Any] = {"marker": "o", "ms": 4.6, "mfc": style.PAPER}
POINT: dict[str, Any] = {"marker": "D", "ms": 5.2, "mec": style.PAPER, "mew": 0.7}


@dataclass(frozen=True, slots=True)
class DevicePoint:
    """The decisions of the device: sensitivity and specificity with their intervals, at what threshold."""

    sensitivity: Estimate
    specificity: Estimate
    threshold: Message | str = ""

    @property
    def drawn(self) -> bool:
        """Whether the point has a place."""
        return isfinite(self.sensitivity.value) and isfinite(self.specificity.value)


@dataclass(frozen=True, slots=True)
class RocLine:
    """One candidate: (1 - specificity, sensitivity) from (0, 0) to (1, 1), the area below, the point used."""

    label: Message | str
    points: Points
    auc: Estimate
    point: DevicePoint | None = None

    @classmethod
    def of_curve(
        cls,
        label: Message | str,
        fpr: ArrayLike,
        tpr: ArrayLike,
        auc: Estimate,
        point: DevicePoint | None = None,
        *,
        most: int = MOST_POINTS,
    ) -> "RocLine":
        """The line with at most `most` of its points."""
        return cls(label, thinned(fpr, tpr, most), auc, point)


@dataclass(frozen=True, slots=True)
class ReaderPoint:
    """A reader's decisions on the same cases, with or without the aid; or a rater's, `aided` being None."""

    label: Message | str
    sensitivity: Estimate
    specificity: Estimate
    aided: bool | None

    @property
    def kind(self) -> str:
        """What the key calls it."""
        return "rater" if self.aided is None else "aided" if self.aided else "unaided"


@dataclass(frozen=True, slots=True)
class EqualYield:
    """The line of equal yield that touches a curve from above, at the threshold that a utility calls for.

    `line` is the label of the curve; `slope` may be infinite. No point above the line is on the curve.
    """

    line: Message | str
    utility: Message
    slope: float
    fpr: float
    tpr: float
    threshold: float

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where it enters and leaves the square of all rates."""
        if not isfinite(self.slope):
            return (self.fpr, 0.0), (self.fpr, 1.0)
        if self.slope == 0:
            return (0.0, self.tpr), (1.0, self.tpr)
        at = [(y - self.tpr) / self.slope + self.fpr for y in (0.0, 1.0)]
        first, last = (min(max(x, 0.0), 1.0) for x in at)
        return tuple((x, self.tpr + self.slope * (x - self.fpr)) for x in (first, last))  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class RocPanel:
    """One data set."""

    label: Message | str
    lines: tuple[RocLine, ...]
    readers: tuple[ReaderPoint, ...] = ()
    equal_yield: tuple[EqualYield, ...] = ()


@dataclass(frozen=True, slots=True)
class RocFigure(Chart):
    """Curves against the diagonal on which scores tell nothing; decisions and readers as points.

    A line is one candidate, with the same stroke in every panel.
    """

    panels: tuple[RocPanel, ...]

    @property
    def _lines(self) -> list[RocLine]:
        return [line for panel in self.panels for line in panel.lines]

    @property
    def _strokes(self) -> dict[str, int]:
        return style.strokes(line.label for line in self._lines)

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of a curve, then the points of decisions and of readers."""
        rows: list[dict[str, Any]] = []
        for panel in self.panels:
            named = [(self._name(say, panel, line), line) for line in panel.lines]
            found = [(name, say("figure.roc.curve"), line.points) for name, line in named]
            found += [
                (
                    style.label(say, touching.line),
                    say("figure.roc.equal_yield", utility=touching.utility),
                    (*touching.ends, (touching.fpr, touching.tpr)),
                )
                for touching in panel.equal_yield
            ]
            rows += [
                {"label": label, "place": place, "value": y, "false_alarms": x}
                for label, place, points in found
                for x, y in points
            ]
            marked = [
                (name, "decisions", line.point.sensitivity, line.point.specificity)
                for name, line in named
                if line.point is not None
            ]
            marked += [
                (style.label(say, r.label), r.kind, r.sensitivity, r.specificity) for r in panel.readers
            ]
            rows += [
                {"label": label, "place": say(f"figure.roc.{kind}"), **both_rates(up, across)}
                for label, kind, up, across in marked
            ]
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        titles = [style.label(say, panel.label) for panel in self.panels]
        axes = say("figure.roc.x"), say("figure.roc.y")
        beside = 5 if len(self._strokes) == 1 else 4  # the areas of several need room in each panel
        sheet, plots = panels.lay_out(titles, axes, self._key(say), ratio=1.0, gap=GAP, beside=beside)
        for i, (panel, plot) in enumerate(zip(self.panels, plots)):
            plot.x_axis((0, 1))
            plot.y_axis((0, 1))
            ends, labels = panels.rates(say, panels.QUARTERS if plot.width > 60 else (0.0, 0.5, 1.0))
            plot.ticks((ends, labels), (ends, labels))
            plot.diagonal(f"chance-{i}")
            for k, line in enumerate(panel.lines):
                self._line(say, plot, line, f"{i}-{k}")
            for k, touching in enumerate(panel.equal_yield):
                colour = style.stroke(self._strokes[style.label_key(touching.line)])["color"]
                plot.line(touching.ends, f"equal-yield-{i}-{k}", color=colour, zorder=2.2, **EQUAL)
                plot.mark(touching.fpr, touching.tpr, f"touch-{i}-{k}", mec=colour, **TOUCH)
            for k, reader in enumerate(panel.readers):
                self._reader(say, plot, reader, f"{i}-{k}")
            if len(self.panels) > 1:
                self._areas(say, plot, panel)
        return sheet

    def _name(self, say: Catalogue, panel: RocPanel, line: RocLine) -> str:
        names = [style.label(say, name) for name in (panel.label, line.label) if name]
        return say("word.pair", first=names[0], second=names[1]) if len(names) == 2 else "".join(names)

    def _line(self, say: Catalogue, plot: PlotPanel, line: RocLine, name: str) -> None:
        how = style.stroke(self._strokes[style.label_key(line.label)])
        plot.line(line.points, f"curve-{name}", zorder=2.6, clip_on=False, solid_joinstyle="miter", **how)
        if line.point is None or not line.point.drawn:
            return
        sensitivity, specificity = line.point.sensitivity, line.point.specificity
        across, up = 1 - specificity.value, sensitivity.value
        thin = {"color": how["color"], "zorder": 2.8, "clip_on": False}
        plot.interval(1 - specificity.high, 1 - specificity.low, up, f"across-{name}", **thin)
        plot.interval(sensitivity.low, sensitivity.high, across, f"up-{name}", upright=True, **thin)
        said = numbers.named(
            say, style.label(say, line.label), ", ".join(numbers.shares(say, sensitivity, specificity))
        )
        plot.mark(across, up, f"point-{name}", label=said, mfc=how["color"], **POINT)

    def _reader(self, say: Catalogue, plot: PlotPanel, reader: ReaderPoint, name: str) -> None:
        up, across = reader.sensitivity, reader.specificity
        if isfinite(up.value) and isfinite(across.value):
            said = numbers.named(
                say, style.label(say, reader.label), ", ".join(numbers.shares(say, up, across))
            )
            plot.mark(1 - across.value, up.value, f"reader-{name}", label=said, **POINTS[reader.kind])

    def _areas(self, say: Catalogue, plot: PlotPanel, panel: RocPanel) -> None:
        """The areas in the corner that curves leave free."""
        areas = [line.auc.value for line in panel.lines if not isnan(line.auc.value)]
        which = self._strokes
        texts: list[tuple[str, int | None]] = [
            (self._area(say, line), which[style.label_key(line.label)] if len(which) > 1 else None)
            for line in panel.lines
        ]
        write_stack(plot, texts, low=not areas or sum(areas) / len(areas) >= 0.5)

    def _area(self, say: Catalogue, line: RocLine) -> str:
        """The area with its interval, and its level where there is room for it."""
        e = line.auc
        if isnan(e.value) or isnan(e.low) or isnan(e.high):
            return say("figure.roc.area", number=numbers.estimate(say, e, "number"))
        value, low, high = numbers.parts(say, same_digits(e, (one.auc for one in self._lines)), "number")
        key = "figure.roc.area_interval" if len(self.panels) == 1 else "figure.roc.auc_short"
        return say(key, value=value, low=low, high=high, level=numbers.level(say, e))

    def _key(self, say: Catalogue) -> list[LegendEntry]:
        """What each line and mark stands for; of a single panel also the numbers."""
        alone, entries = len(self.panels) == 1, []
        lines = {style.label_key(line.label): line for line in reversed(self._lines)}
        for name, which in self._strokes.items() if alone or len(lines) > 1 else ():
            details = self._numbers(say, lines[name]) if alone else ()
            text = style.label(say, lines[name].label) or say("figure.roc.curve")
            entries.append(LegendEntry(panels.stroke_sample(which), text, details, leads=alone))
        entries += self._touching(say)
        points = [line.point for line in self._lines if line.point is not None]
        if any(point.drawn for point in points):
            text = say("figure.roc.point", level=numbers.level(say, points[0].sensitivity))
            entries.append(LegendEntry(panels.interval_sample(POINT, crossed=True), text))
        for kind, how in POINTS.items():
            n = sum(reader.kind == kind for panel in self.panels for reader in panel.readers)
            if n:
                text = say(f"figure.roc.readers_{kind}", n=n)
                entries.append(LegendEntry(panels.mark_sample(how), text))
        return [*entries, LegendEntry(panels.CHANCE, say("figure.roc.chance"))]

    def _touching(self, say: Catalogue) -> list[LegendEntry]:
        """What the lines of equal yield are; of a single panel also their slopes and thresholds."""
        found: dict[str, list[EqualYield]] = {}
        for touching in (each for panel in self.panels for each in panel.equal_yield):
            text = say("figure.roc.equal_yield", utility=touching.utility)
            found.setdefault(text, []).append(touching)
        several = len(self._strokes) > 1
        entries = []
        for text, lines in found.items():
            details = [
                numbers.named(
                    say,
                    style.label(say, each.line) if several else "",
                    say(
                        "figure.roc.equal_yield_at",
                        slope=_short(say, each.slope),
                        threshold=_short(say, each.threshold),
                    ),
                )
                for each in (lines if len(self.panels) == 1 else ())
            ]
            which = self._strokes[style.label_key(lines[0].line)]
            colour = style.MUTE if several else style.stroke(which)["color"]
            entries.append(LegendEntry(_tangent(colour), text, tuple(details)))
        return entries

    def _numbers(self, say: Catalogue, line: RocLine) -> tuple[str, ...]:
        """Area, and the share of right decisions in either class."""
        found = [self._area(say, line)]
        if line.point is not None and line.point.drawn:
            if line.point.threshold:
                found.append(style.label(say, line.point.threshold))
            found += numbers.shares(say, line.point.sensitivity, line.point.specificity)
        return tuple(found)


def both_rates(sensitivity: Estimate, specificity: Estimate) -> dict[str, float]:
    """The columns of a point of a ROC curve in a table of values."""
    return {
        **numbers.columns(sensitivity),
        "false_alarms": 1 - specificity.value,
        "false_alarms_low": 1 - specificity.high,
        "false_alarms_high": 1 - specificity.low,
    }


def _short(say: Catalogue, value: float) -> str:
    """A number to three significant digits."""
    return numbers.plain(say, float(f"{value:.3g}")) if isfinite(value) else "∞"


def _tangent(colour: str) -> panels.Sample:
    def draw(sheet: PlotSheet, x: float, y: float) -> None:
        sheet.plot([x, x + panels.SAMPLE - 2.0], [y, y], color=colour, **EQUAL)
        sheet.plot([x + panels.SAMPLE / 2 - 1.0], [y], ls="none", mec=colour, **TOUCH)

    return draw


def area_text(say: Catalogue, e: Estimate, kind: str) -> str:
    """The area under a curve of a kind (``roc``, ``froc``) with its interval, where it has one."""
    if not (isfinite(e.value) and numbers.has_interval(e)):
        return say(f"figure.{kind}.area", number=numbers.estimate(say, e, "number"))
    value, low, high = numbers.parts(say, e, "number")
    return say(f"figure.{kind}.area_interval", value=value, low=low, high=high, level=numbers.level(say, e))


def write_stack(plot: PlotPanel, texts: Sequence[tuple[str, int | None]], *, low: bool) -> None:
    """Texts in the lower right corner of a panel, or in the upper left one, each after its line's stroke."""
    size = style.SMALL if plot.width > 40 else style.SMALLEST
    sample = 5.0 if any(which is not None for _, which in texts) else 0.0
    room = max(0.8 * plot.width, min(plot.width - 1.6, 21.0)) - sample
    broken = [style.wrap(text, room, size) for text, _ in texts]
    heights = [style.height_of(text, size) + 0.5 for text in broken]
    widest = max(style.width_of(text, size) for text in broken)
    left = plot.width - 1.2 - widest if low else 1.2 + sample
    y = sum(heights) + 1.0 if low else plot.height - 1.0
    for text, (_, which), tall in zip(broken, texts, heights):
        where: dict[str, Any] = {"transform": plot.axes.transAxes, "zorder": 4}
        plot.write(left / plot.width, y / plot.height, text, va="top", size=size, **where)
        if which is not None:
            middle = (y - style.height_of(" ", size) / 2) / plot.height
            ends = [(left - sample) / plot.width, (left - 1.2) / plot.width]
            plot.plot(ends, [middle, middle], **where, **style.stroke(which))
        y -= tall
