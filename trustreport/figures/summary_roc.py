"""Summary ROC plot: studies, their mean with its region, where a new study may be, the summary curve."""

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP = 6.0
LEAST, MOST = 2.4, 9.0  # across the mark of a study, in points
STUDY: dict[str, Any] = {"marker": "o", "mfc": "none", "mec": style.MUTE, "mew": 0.9}
MEAN: dict[str, Any] = {"marker": "D", "ms": 5.6, "mfc": style.TEAL, "mec": style.PAPER, "mew": 0.7}
CURVE: dict[str, Any] = {"color": style.BLUE, "lw": style.LINE}
REGION: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE}
NEW: dict[str, Any] = {"color": style.MUTE, "lw": style.THIN, "ls": style.DASHED}


@dataclass(frozen=True, slots=True)
class StudyPoint:
    """One study and its number of cases."""

    label: str
    sensitivity: Estimate
    specificity: Estimate
    n: int


@dataclass(frozen=True, slots=True)
class SummaryRoc:
    """Studies as circles whose area grows with their cases; curve and regions empty where there are none."""

    studies: tuple[StudyPoint, ...]
    sensitivity: Estimate
    specificity: Estimate
    area: Estimate
    curve: curves.Points
    region: curves.Points
    new_study: curves.Points

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per study, the mean, then the points of curve and regions."""
        marks = [(study.label, study.sensitivity, study.specificity) for study in self.studies]
        marks.append((say("figure.summary_roc.mean"), self.sensitivity, self.specificity))
        rows: list[dict[str, Any]] = [
            {
                "label": label,
                "value": up.value,
                "low": up.low,
                "high": up.high,
                "false_alarms": 1 - across.value,
                "false_alarms_low": 1 - across.high,
                "false_alarms_high": 1 - across.low,
            }
            for label, up, across in marks
        ]
        for kind, points in self._lines():
            label = say(f"figure.summary_roc.{kind}")
            rows += [{"label": label, "value": y, "false_alarms": x} for x, y in points]
        return rows

    def _lines(self) -> tuple[tuple[str, curves.Points], ...]:
        return ("curve", self.curve), ("region", self.region), ("new", self.new_study)

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        labels = curves.AxisLabels(say("figure.roc.x"), say("figure.roc.y"))
        figure, _, (place,) = curves.lay_out([""], labels, self._key(say), ratio=1.0, gap=GAP)
        plot = style.panel(figure, place.left, place.top, place.width, place.height)
        curves.unit_square(say, plot)
        for (kind, points), how in zip(self._lines(), (CURVE, REGION, NEW)):
            if points:
                plot.plot(*zip(*points), gid=kind, zorder=2.4, clip_on=False, **how)
        most = max(study.n for study in self.studies)
        for k, study in enumerate(self.studies):
            size = LEAST + (MOST - LEAST) * sqrt(study.n / most)
            said = self._label(say, study.label, study.sensitivity, study.specificity)
            at = 1 - study.specificity.value, study.sensitivity.value
            style.mark(plot, *at, f"study-{k}", label=said, ms=size, **STUDY)
        at = 1 - self.specificity.value, self.sensitivity.value
        said = self._label(say, say("figure.summary_roc.mean"), self.sensitivity, self.specificity)
        style.mark(plot, *at, "mean", label=said, **{**MEAN, "zorder": 4})
        return figure

    def _label(self, say: Catalogue, name: str, *both: Estimate) -> str:
        shares = [
            say(f"figure.roc.{of}", number=numbers.estimate(say, e, "percent"))
            for of, e in zip(("sensitivity", "specificity"), both)
        ]
        return say("figure.mark", name=name, number=", ".join(shares))

    def _key(self, say: Catalogue) -> list[curves.LegendEntry]:
        shares = tuple(
            say(f"figure.roc.{of}", number=numbers.estimate(say, e, "percent"))
            for of, e in (("sensitivity", self.sensitivity), ("specificity", self.specificity))
        )
        level = numbers.plain(say, round(100 * self.sensitivity.level, 6))
        sample = curves.mark_sample(MEAN)
        entries = [curves.LegendEntry(sample, say("figure.summary_roc.mean"), shares, leads=True)]
        if self.region:
            text = say("figure.summary_roc.region_key", level=level)
            entries.append(curves.LegendEntry(curves.line_sample(REGION), text))
        if self.new_study:
            text = say("figure.summary_roc.new_key", level=level)
            entries.append(curves.LegendEntry(curves.line_sample(NEW), text))
        if self.curve and isfinite(self.area.value):
            area = (curves.area_text(say, self.area, "roc"),)
            text = say("figure.summary_roc.curve_key")
            entries.append(curves.LegendEntry(curves.line_sample(CURVE), text, area))
        text = say("figure.summary_roc.studies", n=len(self.studies))
        entries.append(curves.LegendEntry(curves.mark_sample({"ms": 5.0, **STUDY}), text))
        chance = {"color": style.FAINT, "lw": style.THIN}
        return [*entries, curves.LegendEntry(curves.line_sample(chance), say("figure.roc.chance"))]
