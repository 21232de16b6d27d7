"""Curves and their mean: ROC curves of readers, FROC curves of lesions, summary ROC plots of studies."""

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

from trustreport.figures import numbers, panels, style
from trustreport.figures.curves import Points
from trustreport.figures.panels import Chart, LegendEntry, PlotPanel, PlotSheet
from trustreport.figures.roc import area_text, both_rates
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

# How the arms look, by whether they are aided: a thin line for each reader, a heavy one for the mean.
READER: dict[bool, dict[str, Any]] = {
    False: {"color": style.MUTE, "lw": 0.6, "ls": style.DASHED},
    True: {"color": style.BLUE, "lw": 0.6},
}
# More readers than this are drawn paler, so that the means stay in sight.
FEW = 8
PALE: dict[bool, dict[str, Any]] = {
    False: {"color": style.FAINT, "lw": style.HAIR, "ls": style.DASHED},
    True: {"color": "#86a9cd", "lw": style.HAIR},
}
MEAN: dict[bool, dict[str, Any]] = {
    False: {"color": style.INK, "lw": 1.8, "ls": style.DASHED},
    True: {"color": style.BLUE, "lw": style.HEAVY},
}
DECISIONS: dict[bool, dict[str, Any]] = {
    False: {"marker": "s", "ms": 3.8, **style.hollow(style.INK)},
    True: {"marker": "o", "ms": 4.2, "mfc": style.BLUE, "mec": style.PAPER, "mew": 0.6},
}
AIR = 1.04  # of the axis of false marks beyond the last one
AT_RATE: dict[str, Any] = {"marker": "D", "ms": 4.2, "mec": style.PAPER, "mew": 0.6}
LEAST, MOST = 2.4, 9.0  # across the mark of a study, in points
STUDY: dict[str, Any] = {"marker": "o", "mfc": "none", "mec": style.MUTE, "mew": 0.9}
SUMMARY: dict[str, Any] = {"marker": "D", "ms": 5.6, "mfc": style.TEAL, "mec": style.PAPER, "mew": 0.7}
CURVE: dict[str, Any] = {"color": style.BLUE, "lw": style.LINE}
REGION: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE}
NEW: dict[str, Any] = {"color": style.MUTE, "lw": style.THIN, "ls": style.DASHED}
SHARP: dict[str, Any] = {"solid_joinstyle": "miter"}


@dataclass(frozen=True, slots=True)
class ReaderCurve:
    """One reader in one arm: (1 - specificity, sensitivity) of scores and, where there are any, of decisions.

    `points` is empty for a reader without cases of both classes.
    """

    label: Message | str
    points: Points
    decisions: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ArmCurves:
    """The readers of one arm, the mean of their curves, and their mean area."""

    label: Message | str
    aided: bool
    readers: tuple[ReaderCurve, ...]
    mean: Points
    auc: Estimate


@dataclass(frozen=True, slots=True)
class ReaderRoc(Chart):
    """The arms over each other, the baseline first, against the diagonal on which scores tell nothing."""

    arms: tuple[ArmCurves, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of a curve, of a mean curve, and per reader's decisions."""
        rows: list[dict[str, Any]] = []
        for arm in self.arms:
            lines = [(style.label(say, r.label), "curve", r.points) for r in arm.readers]
            lines.append((say("figure.mean_label"), "curve", arm.mean))
            lines += [
                (style.label(say, r.label), "decisions", (r.decisions,)) for r in arm.readers if r.decisions
            ]
            name = style.label(say, arm.label)
            rows += [
                {
                    "label": label,
                    "arm": name,
                    "place": say(f"figure.reader_roc.{place}"),
                    "value": y,
                    "false_alarms": x,
                }
                for label, place, points in lines
                for x, y in points
            ]
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        axes = say("figure.roc.x"), say("figure.roc.y")
        sheet, (plot,) = panels.lay_out([""], axes, self._key(say), ratio=1.0)
        panels.unit_square(say, plot)
        for a, arm in enumerate(self.arms):
            how = {**SHARP, "clip_on": False}
            for k, reader in enumerate(arm.readers):
                if reader.points:
                    plot.line(reader.points, f"curve-{a}-{k}", zorder=2, **how, **self._thin[arm.aided])
            if arm.mean:
                plot.line(arm.mean, f"mean-{a}", zorder=2.6, **how, **MEAN[arm.aided])
            for k, reader in enumerate(arm.readers):
                if reader.decisions:
                    plot.mark(*reader.decisions, f"point-{a}-{k}", **DECISIONS[arm.aided])
        return sheet

    @property
    def _thin(self) -> dict[bool, dict[str, Any]]:
        return READER if max(len(arm.readers) for arm in self.arms) <= FEW else PALE

    def _key(self, say: Catalogue) -> list[LegendEntry]:
        """The means with their areas, then the readers and their decisions, then the diagonal."""
        entries = [
            _mean_entry(say, arm.label, arm.aided, area_text(say, arm.auc, "roc")) for arm in self.arms
        ]
        for arm in self.arms:
            n = sum(bool(reader.points) for reader in arm.readers)
            entries.append(_readers_entry(say, arm.label, n, self._thin[arm.aided]))
        for arm in self.arms:
            if any(reader.decisions for reader in arm.readers):
                text = say("figure.reader_roc.points", arm=style.label(say, arm.label))
                sample = panels.mark_sample({"mew": 1.1, **DECISIONS[arm.aided]})
                entries.append(LegendEntry(sample, text))
        return [*entries, _chance(say)]


def _mean_entry(say: Catalogue, arm: Message | str, aided: bool, area: str) -> LegendEntry:
    text = say("figure.reader_roc.mean", arm=style.label(say, arm))
    return LegendEntry(panels.line_sample(MEAN[aided]), text, (area,), aided)


def _readers_entry(say: Catalogue, arm: Message | str, n: int, how: dict[str, Any]) -> LegendEntry:
    text = say("figure.reader_roc.readers", n=n, arm=style.label(say, arm))
    return LegendEntry(panels.line_sample(how), text)


def _chance(say: Catalogue) -> LegendEntry:
    sample = panels.line_sample({"color": style.FAINT, "lw": style.THIN})
    return LegendEntry(sample, say("figure.roc.chance"))


@dataclass(frozen=True, slots=True)
class FrocLine:
    """One candidate: (false marks a case, sensitivity) from (0, 0), and estimates at rates of false marks."""

    label: Message | str
    points: Points
    area: Estimate
    at: tuple[tuple[float, Estimate], ...] = ()


@dataclass(frozen=True, slots=True)
class FrocArm:
    """The readers of one arm, the mean of their curves, and the mean area under the weighted AFROC curve."""

    label: Message | str
    aided: bool
    readers: tuple[tuple[str, Points], ...]
    mean: Points
    area: Estimate


@dataclass(frozen=True, slots=True)
class FrocFigure(Chart):
    """Curves of one data set, or of one task in its arms. The axis of false marks ends at `most`."""

    lines: tuple[FrocLine, ...]
    arms: tuple[FrocArm, ...]
    most: float

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of a curve, then the estimates at rates of false marks."""
        rows: list[dict[str, Any]] = []
        curve, mean = say("figure.froc.curve"), say("figure.mean_label")
        every = [(style.label(say, line.label), "", line.points) for line in self.lines]
        for arm in self.arms:
            name = style.label(say, arm.label)
            every += [(reader, name, points) for reader, points in arm.readers]
            every.append((mean, name, arm.mean))
        for label, arm_name, points in every:
            own = {"label": label, "arm": arm_name} if arm_name else {"label": label}
            rows += [{**own, "place": curve, "value": y, "false_marks": x} for x, y in points]
        return rows + [
            {
                "label": style.label(say, line.label),
                "place": say("figure.froc.at"),
                **numbers.columns(e),
                "false_marks": x,
            }
            for line in self.lines
            for x, e in line.at
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        axes = say("figure.froc.x"), say("figure.froc.y")
        sheet, (plot,) = panels.lay_out([""], axes, self._key(say), ratio=0.8)
        plot.x_axis((0, self.most), numbers.tick(say, "number"))
        plot.y_axis((0, 1))
        plot.ticks(y=panels.rates(say))
        for i, line in enumerate(self.lines):
            plot.line(line.points, f"curve-{i}", zorder=2.6, **SHARP, **style.stroke(i))
            self._estimates(say, plot, i, line)
        for a, arm in enumerate(self.arms):
            for k, (_, points) in enumerate(arm.readers):
                plot.line(points, f"curve-{a}-{k}", zorder=2, **SHARP, **READER[arm.aided])
            plot.line(arm.mean, f"mean-{a}", zorder=2.6, **SHARP, **MEAN[arm.aided])
        return sheet

    def _estimates(self, say: Catalogue, plot: PlotPanel, i: int, line: FrocLine) -> None:
        """The sensitivity at each rate; its interval where a single line leaves room for it."""
        colour = style.stroke(i)["color"]
        for k, (x, e) in enumerate(line.at):
            if x > self.most or not isfinite(e.value):
                continue
            if len(self.lines) == 1:
                plot.interval(e.low, e.high, x, f"interval-{i}-{k}", upright=True, color=colour, zorder=2.8)
            name = say("figure.froc.at_rate", rate=numbers.plain(say, x))
            said = numbers.of_mark(say, e, "percent", style.label(say, line.label), name)
            plot.mark(x, e.value, f"point-{i}-{k}", label=said, mfc=colour, **AT_RATE)

    def _key(self, say: Catalogue) -> list[LegendEntry]:
        """Each line with its area; then the estimates, or the readers of each arm."""
        entries = []
        for i, line in enumerate(self.lines):
            text = style.label(say, line.label) or say("figure.froc.curve")
            area = area_text(say, line.area, "froc")
            entries.append(LegendEntry(panels.stroke_sample(i), text, (area,), leads=not i))
        if any(line.at for line in self.lines):
            key = "figure.froc.points_interval" if len(self.lines) == 1 else "figure.froc.points"
            level = next(numbers.level(say, e) for line in self.lines for _, e in line.at)
            sample = panels.mark_sample({"mfc": style.TEAL, **AT_RATE})
            entries.append(LegendEntry(sample, say(key, level=level)))
        entries += [
            _mean_entry(say, arm.label, arm.aided, area_text(say, arm.area, "froc")) for arm in self.arms
        ]
        return entries + [
            _readers_entry(say, arm.label, len(arm.readers), READER[arm.aided]) for arm in self.arms
        ]


@dataclass(frozen=True, slots=True)
class StudyPoint:
    """One study and its number of cases."""

    label: str
    sensitivity: Estimate
    specificity: Estimate
    n: int


@dataclass(frozen=True, slots=True)
class SummaryRoc(Chart):
    """Studies as circles whose area grows with their cases; curve and regions empty where there are none."""

    studies: tuple[StudyPoint, ...]
    sensitivity: Estimate
    specificity: Estimate
    area: Estimate
    curve: Points
    region: Points
    new_study: Points

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per study, the mean, then the points of curve and regions."""
        marks = [(study.label, study.sensitivity, study.specificity) for study in self.studies]
        marks.append((say("figure.summary_roc.mean"), self.sensitivity, self.specificity))
        rows: list[dict[str, Any]] = [{"label": label, **both_rates(*both)} for label, *both in marks]
        for kind, points in self._lines():
            label = say(f"figure.summary_roc.{kind}")
            rows += [{"label": label, "value": y, "false_alarms": x} for x, y in points]
        return rows

    def _lines(self) -> tuple[tuple[str, Points], ...]:
        return ("curve", self.curve), ("region", self.region), ("new", self.new_study)

    def _draw(self, say: Catalogue) -> PlotSheet:
        axes = say("figure.roc.x"), say("figure.roc.y")
        sheet, (plot,) = panels.lay_out([""], axes, self._key(say), ratio=1.0)
        panels.unit_square(say, plot)
        for (kind, points), how in zip(self._lines(), (CURVE, REGION, NEW)):
            if points:
                plot.line(points, kind, zorder=2.4, clip_on=False, **how)
        most = max(study.n for study in self.studies)

        def mark(name: str, id: str, sensitivity: Estimate, specificity: Estimate, **how: Any) -> None:
            said = numbers.named(say, name, ", ".join(numbers.shares(say, sensitivity, specificity)))
            plot.mark(1 - specificity.value, sensitivity.value, id, label=said, **how)

        for k, study in enumerate(self.studies):
            size = LEAST + (MOST - LEAST) * sqrt(study.n / most)
            mark(study.label, f"study-{k}", study.sensitivity, study.specificity, ms=size, **STUDY)
        name = say("figure.summary_roc.mean")
        mark(name, "mean", self.sensitivity, self.specificity, **SUMMARY, zorder=4)
        return sheet

    def _key(self, say: Catalogue) -> list[LegendEntry]:
        details = numbers.shares(say, self.sensitivity, self.specificity)
        level = numbers.level(say, self.sensitivity)
        mean = say("figure.summary_roc.mean")
        entries = [LegendEntry(panels.mark_sample(SUMMARY), mean, details, leads=True)]
        for name, points, how in (("region", self.region, REGION), ("new", self.new_study, NEW)):
            if points:
                text = say(f"figure.summary_roc.{name}_key", level=level)
                entries.append(LegendEntry(panels.line_sample(how), text))
        if self.curve and isfinite(self.area.value):
            area = (area_text(say, self.area, "roc"),)
            text = say("figure.summary_roc.curve_key")
            entries.append(LegendEntry(panels.line_sample(CURVE), text, area))
        text = say("figure.summary_roc.studies", n=len(self.studies))
        entries.append(LegendEntry(panels.mark_sample({"ms": 5.0, **STUDY}), text))
        return [*entries, _chance(say)]
