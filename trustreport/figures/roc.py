"""ROC curves: sensitivity against false alarms, a panel for each data set, a line for each candidate."""

from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from trustreport.figures import curves, numbers, style
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 8.5
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
    points: curves.Points
    auc: Estimate
    point: DevicePoint | None = None

    @classmethod
    def of(
        cls,
        label: Message | str,
        fpr: ArrayLike,
        tpr: ArrayLike,
        auc: Estimate,
        point: DevicePoint | None = None,
        *,
        most: int = curves.MOST_POINTS,
    ) -> "RocLine":
        """The line with at most `most` of its points."""
        return cls(label, curves.thinned(fpr, tpr, most), auc, point)


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
class RocFigure:
    """Curves against the diagonal on which scores tell nothing; decisions and readers as points.

    A line is one candidate, with the same stroke in every panel.
    """

    panels: tuple[RocPanel, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of a curve, then the points of decisions and of readers."""
        rows: list[dict[str, Any]] = []
        for panel in self.panels:
            for line in panel.lines:
                name = self._name(say, panel, line)
                point = {"label": name, "place": say("figure.roc.curve")}
                rows += [{**point, "value": y, "false_alarms": x} for x, y in line.points]
            rows += [
                {"label": style.label_text(say, touching.line), "place": place, "value": y, "false_alarms": x}
                for touching in panel.equal_yield
                for place in (say("figure.roc.equal_yield", utility=touching.utility),)
                for x, y in (*touching.ends, (touching.fpr, touching.tpr))
            ]
            marked = [
                (self._name(say, panel, line), "decisions", line.point.sensitivity, line.point.specificity)
                for line in panel.lines
                if line.point is not None
            ]
            marked += [
                (
                    style.label_text(say, r.label),
                    r.kind,
                    r.sensitivity,
                    r.specificity,
                )
                for r in panel.readers
            ]
            rows += [
                {
                    "label": label,
                    "place": say(f"figure.roc.{kind}"),
                    "value": up.value,
                    "low": up.low,
                    "high": up.high,
                    "false_alarms": 1 - across.value,
                    "false_alarms_low": 1 - across.high,
                    "false_alarms_high": 1 - across.low,
                }
                for label, kind, up, across in marked
            ]
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        titles = [style.label_text(say, panel.label) for panel in self.panels]
        labels = curves.AxisLabels(say("figure.roc.x"), say("figure.roc.y"))
        figure, _, places = curves.lay_out(titles, labels, self._key(say), ratio=1.0, gap=GAP)
        for i, (panel, place) in enumerate(zip(self.panels, places)):
            plot = style.panel(figure, place.left, place.top, place.width, place.height)
            self._frame(say, plot, place, str(i))
            for k, line in enumerate(panel.lines):
                self._line(say, plot, line, f"{i}-{k}")
            for k, touching in enumerate(panel.equal_yield):
                self._equal_yield(plot, touching, f"{i}-{k}")
            for k, reader in enumerate(panel.readers):
                self._reader(say, plot, reader, f"{i}-{k}")
            if len(self.panels) > 1:
                self._areas(say, plot, panel, place)
        return figure

    def _name(self, say: Catalogue, panel: RocPanel, line: RocLine) -> str:
        names = [style.label_text(say, name) for name in (panel.label, line.label) if name]
        return say("word.pair", first=names[0], second=names[1]) if len(names) == 2 else "".join(names)

    def _stroke(self, label: Message | str) -> int:
        """Which stroke a candidate has: that of its first appearance."""
        names = [_plain(line.label) for panel in self.panels for line in panel.lines]
        return list(dict.fromkeys(names)).index(_plain(label))

    def _frame(self, say: Catalogue, plot: "Axes", place: curves.PanelPlace, name: str) -> None:
        plot.set(xlim=(0, 1), ylim=(0, 1))
        plot.spines["left"].set_visible(True)
        ends = (0.0, 0.25, 0.5, 0.75, 1.0) if place.width > 60 else (0.0, 0.5, 1.0)
        labels = [say("figure.percent_tick", value=numbers.plain(say, 100 * end)) for end in ends]
        plot.set_xticks(ends, labels if place.last else [""] * len(ends))
        plot.set_yticks(ends, labels if place.first else [""] * len(ends))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        plot.plot([0, 1], [0, 1], color=style.FAINT, lw=style.THIN, zorder=1, gid=f"chance-{name}")

    def _line(self, say: Catalogue, plot: "Axes", line: RocLine, name: str) -> None:
        how = curves.STROKES[self._stroke(line.label) % len(curves.STROKES)]
        x, y = zip(*line.points)
        plot.plot(x, y, gid=f"curve-{name}", zorder=2.6, clip_on=False, solid_joinstyle="miter", **how)
        point = line.point
        if point is None or not point.drawn:
            return
        across, up = 1 - point.specificity.value, point.sensitivity.value
        thin = {"color": how["color"], "lw": style.LINE, "zorder": 2.8, "clip_on": False}
        if isfinite(point.specificity.high - point.specificity.low):
            ends = [1 - point.specificity.high, 1 - point.specificity.low]
            plot.plot(ends, [up, up], gid=f"across-{name}", **thin)
        if isfinite(point.sensitivity.high - point.sensitivity.low):
            ends = [point.sensitivity.low, point.sensitivity.high]
            plot.plot([across, across], ends, gid=f"up-{name}", **thin)
        said = _point_label(say, style.label_text(say, line.label), point.sensitivity, point.specificity)
        style.mark(plot, across, up, f"point-{name}", label=said, mfc=how["color"], **POINT)

    def _equal_yield(self, plot: "Axes", touching: EqualYield, name: str) -> None:
        colour = curves.STROKES[self._stroke(touching.line) % len(curves.STROKES)]["color"]
        x, y = zip(*touching.ends)
        plot.plot(x, y, color=colour, gid=f"equal-yield-{name}", zorder=2.2, **EQUAL)
        style.mark(plot, touching.fpr, touching.tpr, f"touch-{name}", mec=colour, **TOUCH)

    def _reader(self, say: Catalogue, plot: "Axes", reader: ReaderPoint, name: str) -> None:
        if isfinite(reader.sensitivity.value) and isfinite(reader.specificity.value):
            how = POINTS[reader.kind]
            name_of = style.label_text(say, reader.label)
            said = _point_label(say, name_of, reader.sensitivity, reader.specificity)
            place = 1 - reader.specificity.value, reader.sensitivity.value
            style.mark(plot, *place, f"reader-{name}", label=said, **how)

    def _areas(self, say: Catalogue, plot: "Axes", panel: RocPanel, place: curves.PanelPlace) -> None:
        """The areas in the corner that curves leave free."""
        areas = [line.auc.value for line in panel.lines if not isnan(line.auc.value)]
        several = len({_plain(line.label) for p in self.panels for line in p.lines}) > 1
        texts: list[tuple[str, int | None]] = [
            (self._area(say, line), self._stroke(line.label) if several else None) for line in panel.lines
        ]
        curves.write_stack(plot, texts, place, low=not areas or sum(areas) / len(areas) >= 0.5)

    def _area(self, say: Catalogue, line: RocLine) -> str:
        """The area with its interval, and its level where there is room for it."""
        alone = len(self.panels) == 1
        e = line.auc
        if isnan(e.value) or isnan(e.low) or isnan(e.high):
            return say("figure.roc.area", number=numbers.estimate(say, e, "number"))
        value, low, high = numbers.parts(say, e, "number")
        level = numbers.plain(say, round(100 * e.level, 6))
        key = "figure.roc.area_interval" if alone else "figure.roc.auc_short"
        return say(key, value=value, low=low, high=high, level=level)

    def _key(self, say: Catalogue) -> list[curves.LegendEntry]:
        """What each line and mark stands for; of a single panel also the numbers."""
        alone = len(self.panels) == 1
        lines: dict[str, RocLine] = {}
        for line in (line for panel in self.panels for line in panel.lines):
            lines.setdefault(_plain(line.label), line)
        entries = []
        for line in lines.values() if alone or len(lines) > 1 else ():
            details = self._numbers(say, line) if alone else ()
            text = style.label_text(say, line.label) or say("figure.roc.curve")
            entries.append(
                curves.LegendEntry(curves.stroke(self._stroke(line.label)), text, details, leads=alone)
            )
        entries += self._touching(say)
        points = [line.point for panel in self.panels for line in panel.lines if line.point is not None]
        if any(point.drawn for point in points):
            level = numbers.plain(say, round(100 * points[0].sensitivity.level, 6))
            entries.append(curves.LegendEntry(_cross, say("figure.roc.point", level=level)))
        for kind, how in POINTS.items():
            n = sum(reader.kind == kind for panel in self.panels for reader in panel.readers)
            if n:
                text = say(f"figure.roc.readers_{kind}", n=n)
                entries.append(curves.LegendEntry(curves.mark_sample(how), text))
        return [*entries, curves.LegendEntry(_chance, say("figure.roc.chance"))]

    def _touching(self, say: Catalogue) -> list[curves.LegendEntry]:
        """What the lines of equal yield are; of a single panel also their slopes and thresholds."""
        found: dict[str, list[EqualYield]] = {}
        for touching in (one for panel in self.panels for one in panel.equal_yield):
            text = say("figure.roc.equal_yield", utility=touching.utility)
            found.setdefault(text, []).append(touching)
        alone = len(self.panels) == 1
        several = len({_plain(line.label) for panel in self.panels for line in panel.lines}) > 1
        entries = []
        for text, lines in found.items():
            details = []
            for one in lines if alone else ():
                at = {"slope": _short(say, one.slope), "threshold": _short(say, one.threshold)}
                said = say("figure.roc.equal_yield_at", **at)
                name = style.label_text(say, one.line) if several else ""
                details.append(say("figure.mark", name=name, number=said) if name else said)
            which = self._stroke(lines[0].line) if not several else None
            entries.append(curves.LegendEntry(_tangent(which), text, tuple(details)))
        return entries

    def _numbers(self, say: Catalogue, line: RocLine) -> tuple[str, ...]:
        """Area, and the share of right decisions in either class."""
        found = [self._area(say, line)]
        if line.point is not None and line.point.drawn:
            if line.point.threshold:
                found.append(style.label_text(say, line.point.threshold))
            for name, e in (("sensitivity", line.point.sensitivity), ("specificity", line.point.specificity)):
                number = numbers.estimate(say, e, "percent")
                found.append(say(f"figure.roc.{name}", number=number))
        return tuple(found)


def _point_label(say: Catalogue, name: str, sensitivity: Estimate, specificity: Estimate) -> str:
    """What a point says about itself: both of its shares."""
    shares = (
        say("figure.roc.sensitivity", number=numbers.estimate(say, sensitivity, "percent")),
        say("figure.roc.specificity", number=numbers.estimate(say, specificity, "percent")),
    )
    return say("figure.mark", name=name, number=", ".join(shares)) if name else ", ".join(shares)


def _plain(label: Message | str) -> str:
    return label if isinstance(label, str) else label.key + repr(sorted(label.values.items()))


def _short(say: Catalogue, value: float) -> str:
    """A number to three significant digits."""
    return numbers.plain(say, float(f"{value:.3g}")) if isfinite(value) else "∞"


def _tangent(which: int | None) -> curves.Sample:
    colour = style.MUTE if which is None else curves.STROKES[which % len(curves.STROKES)]["color"]

    def draw(sheet: "Axes", x: float, y: float) -> None:
        sheet.plot([x, x + curves.SAMPLE - 2.0], [y, y], color=colour, **EQUAL)
        sheet.plot([x + curves.SAMPLE / 2 - 1.0], [y], ls="none", mec=colour, **TOUCH)

    return draw


def _chance(sheet: "Axes", x: float, y: float) -> None:
    sheet.plot([x, x + curves.SAMPLE - 2.0], [y, y], color=style.FAINT, lw=style.THIN)


def _cross(sheet: "Axes", x: float, y: float) -> None:
    middle = x + curves.SAMPLE / 2 - 1.0
    sheet.plot([middle - 2.4, middle + 2.4], [y, y], color=style.TEAL, lw=style.LINE)
    sheet.plot([middle, middle], [y - 1.5, y + 1.5], color=style.TEAL, lw=style.LINE)
    sheet.plot([middle], [y], ls="none", mfc=style.TEAL, **POINT)
