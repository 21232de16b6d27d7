"""Figures and tables of advice accuracy: ROC and decision curves, several sets, and over the prevalence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from math import ceil, floor, isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.advice_accuracy.results import (
    CELLS,
    ID,
    ResultView,
    are_risks,
    declared_prevalences,
)
from trustreport.assessment.dimensions.advice_accuracy.utility import to_rank_by, two_class
from trustreport.assessment.finding import Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Texts, heading, set_label
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.decision_table import DecisionRow, decision_rows
from trustreport.assessment.performance.keys import public_cell
from trustreport.assessment.release.cuts import declared_thresholds as thresholds
from trustreport.assessment.release.cuts import public_cuts, public_roc
from trustreport.figures import numbers
from trustreport.figures.curves import (
    MOST_POINTS,
    DecisionCurves,
    DecisionPanel,
    LineOver,
    LinePoint,
    LinesChart,
    LinesPanel,
    Points,
)
from trustreport.figures.measure_rows import MeasureCell, MeasureColumn, MeasureRow, MeasuresChart
from trustreport.figures.panels import MOST_PANELS
from trustreport.figures.roc import DevicePoint, EqualYield, ReaderPoint, RocFigure, RocLine, RocPanel
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated, weighed
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.net_benefit import DecisionCurve, decision_curve
from trustreport.measures.roc.curve import roc_curve
from trustreport.study.plan import Plan
from trustreport.study.study import Readings, Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

# Points of one curve where several share a figure.
FEWER_POINTS = 120
MOST_TOUCHING = 3  # utilities whose lines of equal yield are drawn at one curve
# The chart of measures holds so many sets, and there are at most so many charts; the table lists all.
ROWS, CHARTS = 24, 2
CHARTED = ("accuracy", "sensitivity", "specificity", "ppv", "npv", "f1", "threat_score", "mcc")

text = Texts(ID)


@dataclass(frozen=True, eq=False)
class CandidatesOnSet:
    """A data set with what each candidate said of it."""

    name: str
    candidates: tuple[tuple[ScoredCases, ResultView], ...]

    @property
    def label(self) -> Message | str:
        """How figures name it."""
        return set_label(self.name, self.candidates[0][0].dataset.role)


def scored(cases: Sequence[ScoredCases], views: Sequence[ResultView]) -> list[CandidatesOnSet]:
    """The data sets with an ROC curve, of scores and cases of both classes; training sets last."""
    sets: dict[str, list[tuple[ScoredCases, ResultView]]] = {}
    for case, one in zip(cases, views):
        if case.score is not None and case.truth.any() and not case.truth.all():
            sets.setdefault(case.dataset.name, []).append((case, one))
    found = [CandidatesOnSet(name, tuple(candidates)) for name, candidates in sets.items()]
    return sorted(found, key=lambda one: one.candidates[0][0].dataset.role == "training")


def curves(sets: Sequence[CandidatesOnSet], study: Study, plan: Plan, number: int = 1) -> Iterator[Figure]:
    """ROC curves, then decision curves of those whose scores are risks; a panel for each data set."""
    for start in range(0, len(sets), MOST_PANELS):
        some = sets[start : start + MOST_PANELS]
        drawn = RocFigure(tuple(_roc(one, study, plan, named=len(sets) > 1) for one in some))
        names = [one.name for one in some]
        areas = [e for one in some for _, view in one.candidates if (e := view.estimate("auc"))]
        id = f"roc_{number + start // MOST_PANELS}"
        yield text.figure(id, drawn, "roc", n=len(names), names=names, areas=_range(areas))
    risks = [
        CandidatesOnSet(one.name, tuple((c, t) for c, t in one.candidates if are_risks(c)))
        for one in sets
        if any(are_risks(c) for c, _ in one.candidates)
    ]
    for start in range(0, len(risks), MOST_PANELS):
        some = risks[start : start + MOST_PANELS]
        panels = tuple(_decisions(one, plan, named=len(sets) > 1) for one in some)
        low, high = panels[0].treat_all[0][0], panels[0].treat_all[-1][0]
        level, names = plan.report.confidence_level, [one.name for one in some]
        id, chart = f"decision_curve_{number + start // MOST_PANELS}", DecisionCurves(panels, level)
        ends: dict[str, Any] = {"low": low, "high": high}
        yield text.figure(id, chart, "decision_curve", n=len(some), names=names, level=level, **ends)


def _range(areas: Sequence[Estimate]) -> Message:
    low, high = (end(e.value for e in areas) for end in (min, max))
    return text("figure.area" if len(areas) == 1 else "figure.areas", low=low, high=high)


def _label(case: ScoredCases) -> str:
    return case.place.candidate or ""


def _roc(one: CandidatesOnSet, study: Study, plan: Plan, *, named: bool) -> RocPanel:
    most = MOST_POINTS if not named and len(one.candidates) == 1 else FEWER_POINTS
    least = public_cell(plan)
    lines = []
    for case, view in one.candidates:
        curve = roc_curve(*case.ranked[:2], order=case.ranked_order).corners()
        area = view.estimate("auc")
        assert area is not None
        point = _point(case, view)
        fpr, tpr = (curve.fpr, curve.tpr) if not least else public_roc(case, plan, least)
        lines.append(RocLine.of_curve(_label(case), fpr, tpr, area, point, most=most))
    touching = tuple(_equal_yield(one, plan, alone=not named)) if not least else ()
    return RocPanel(
        one.label if named else "", tuple(lines), tuple(_readers(one.name, study, plan)), touching
    )


def _equal_yield(one: CandidatesOnSet, plan: Plan, *, alone: bool) -> Iterator[EqualYield]:
    """The lines of equal yield of the utility that ranks; of a single curve those of several."""
    most = MOST_TOUCHING if alone and len(one.candidates) == 1 else 1
    for utility in islice(to_rank_by(two_class(plan)), most):
        for case, view in one.candidates:
            where = {"parameters": {"utility": utility.name}}
            best = view.estimate("optimal_threshold", **where)
            if best is not None:
                of = best.details
                yield EqualYield(
                    _label(case),
                    say("word.name", name=utility.name),
                    of["slope"],
                    1 - of["specificity"],
                    of["sensitivity"],
                    best.value,
                )


def _point(case: ScoredCases, view: ResultView) -> DevicePoint | None:
    present, absent = view.estimate("sensitivity"), view.estimate("specificity")
    if present is None or absent is None:
        return None
    at: Message | str = ""
    if case.threshold is not None and case.by_threshold:
        at = say("figure.roc.threshold", threshold=case.threshold)
    return DevicePoint(present, absent, at)


def _readers(name: str, study: Study, plan: Plan) -> Iterator[ReaderPoint]:
    """What the readers decided, where their task goes by the name of the data set."""
    aided = {arm.arm: bool(arm.aided) for arm in plan.arms} or {"aided": True, "unaided": False}
    for readings in study.readings:
        if readings.task and readings.task == name and readings.decision is not None:
            for arm in readings.arms:
                if arm in aided:
                    yield from _points(readings, arm, plan, aided=aided[arm])


def _points(readings: Readings, arm: str, plan: Plan, *, aided: bool) -> Iterator[ReaderPoint]:
    assert readings.decision is not None
    level = plan.report.confidence_level
    known = (readings.arm == readings.arms.index(arm)) & (readings.decision >= 0) & (readings.truth >= 0)
    for k, reader in enumerate(readings.readers.labels):
        own = known & (readings.reader == k)
        counts = ConfusionCounts.of_decisions(readings.truth[own] == 1, readings.decision[own] == 1)
        sens, spec = (
            estimated(MEASURES[name], counts, level=level) for name in ("sensitivity", "specificity")
        )
        yield ReaderPoint(reader, sens, spec, aided)


def _decisions(one: CandidatesOnSet, plan: Plan, *, named: bool) -> DecisionPanel:
    level, at, least = plan.report.confidence_level, _grid(plan), public_cell(plan)
    declared = [t for t in thresholds(plan) if at[0] <= t <= at[-1]]
    lines: list[LineOver] = []
    everybody: Points = ()
    for case, _ in one.candidates:
        truth, score, cluster = case.acted_on
        found = decision_curve(truth, score, at, cluster=cluster, level=level)
        marked = None
        if declared:
            marked = decision_curve(truth, score, declared, cluster=cluster, level=level)
        points = [_curve(found), _curve(marked) if marked else ()]
        if least:
            kept = public_cuts(case, plan, least)
            points = [tuple(p for p in some if np.isclose(kept, p.x, atol=1e-9).any()) for some in points]
        lines.append(LineOver(_label(case), points[0], points[1]))
        everybody = tuple(zip(found.threshold.tolist(), found.treat_all.tolist()))
    return DecisionPanel(one.label if named else "", tuple(lines), everybody)


def _grid(plan: Plan) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Every hundredth of the declared range; without one, to one half or well beyond what was declared."""
    furthest = max(thresholds(plan), default=0.0)
    low, high = plan.utility.threshold_range or (0.01, max(0.5, 1.5 * furthest))
    first, last = max(ceil(100 * low - 1e-9), 0), min(floor(100 * high + 1e-9), 99)
    if last <= first:
        first, last = 1, 99
    return np.arange(first, last + 1) / 100


def _curve(found: DecisionCurve) -> tuple[LinePoint, ...]:
    columns = (found.threshold, found.value, found.low, found.high)
    return tuple(LinePoint(*row) for row in zip(*(column.tolist() for column in columns)))


def charts(all_views: Sequence[ResultView]) -> Iterator[Figure]:
    """The main measures of many sets, with what the answer of the more common class would reach."""
    if len(all_views) > ROWS * CHARTS:
        return
    names = (*CHARTED, "auc") if any(view.estimate("auc") for view in all_views) else CHARTED
    columns = tuple(MeasureColumn(text(f"heading.{name}"), -1.0 if name == "mcc" else 0.0) for name in names)
    for start in range(0, len(all_views), ROWS):
        some = all_views[start : start + ROWS]
        rows = tuple(MeasureRow(view.label, tuple(_cell(view, name) for name in names)) for view in some)
        drawing = MeasuresChart(columns, rows, say("figure.measures.reference"))
        yield text.figure(f"advice_accuracy_measures_{start // ROWS + 1}", drawing, "measures", n=len(some))


def _cell(view: ResultView, name: str) -> MeasureCell | None:
    e: Estimate | None = view.estimate(name)
    if e is None:
        return None
    share = view.estimate("prevalence")
    common = max(share.value, 1 - share.value) if name == "accuracy" and share else nan
    return MeasureCell(e, common)


# Each figure: its id, its measures, the key of its texts, and the least value that they can have.
FIGURES = (
    ("measures_over_prevalence", ("ppv", "npv"), "mixes", 0.0),
    ("whole_measures_over_prevalence", ("accuracy", "f1", "mcc"), "whole_mixes", -1.0),
)
POINTS = 30


def prevalence_figures(all_views: Sequence[ResultView], plan: Plan) -> Iterator[Figure]:
    """The predictive values, then accuracy, F1 and MCC, over the declared prevalences or all of them."""
    if not declared_prevalences(plan):
        return
    low, high = plan.utility.prevalence_range or (0.01, 0.99)
    shares = [*declared_prevalences(plan)]
    low, high = min(low, *shares), max(high, *shares)
    if high - low < 0.02:
        low, high = max(low - 0.05, 0.001), min(high + 0.05, 0.999)
    grid = np.linspace(max(low, 0.001), min(high, 0.999), POINTS).tolist()
    for id, names, key, possible in FIGURES:
        drawn = [_panel(view, names, grid, plan, len(all_views) > 1) for view in all_views[:MOST_PANELS]]
        panels = tuple(panel for panel in drawn if panel is not None)
        if not panels:
            continue
        points = [p for panel in panels for line in panel.lines for p in (*line.points, *line.marked)]
        least, most = numbers.axis_ends((x for p in points for x in (p.y, p.low, p.high)), possible, 1.0)
        drawing = LinesChart(
            panels,
            text("axis.prevalence"),
            text("axis.value"),
            (grid[0], grid[-1]),
            (least, most),
            text("marked_prevalence", level=plan.report.confidence_level),
            percent=True,
        )
        yield text.figure(id, drawing, key, low=grid[0], high=grid[-1], n=len(panels))


def _panel(
    view: ResultView, names: Sequence[str], grid: Sequence[float], plan: Plan, named: bool
) -> LinesPanel | None:
    found = [view.estimate(cell) for cell in CELLS]
    cells = [int(e.value) for e in found if e is not None]
    if len(cells) < len(CELLS):
        return None
    counts = ConfusionCounts(*cells)
    if not counts.positives or not counts.negatives:
        return None
    lines = []
    for name in names:
        points = tuple(LinePoint(q, _at_prevalence(name, counts, q)) for q in grid)
        if all(isnan(p.y) for p in points):
            continue
        marked = []
        for share in declared_prevalences(plan):
            e = view.estimate(name, parameters={"prevalence": share})
            if e is not None:
                marked.append(LinePoint(share, e.value, e.low, e.high))
        lines.append(LineOver(heading(name), points, tuple(marked)))
    return LinesPanel(view.name if named else "", tuple(lines)) if lines else None


def _at_prevalence(name: str, counts: ConfusionCounts, share: float) -> float:
    try:
        return float(MEASURES[name].formula(*weighed(counts, share)))
    except ZeroDivisionError:
        return float("nan")


TEXT = f"{ID}.decision_table"
PER = 100  # cases, for interventions avoided: as R's dcurves has them
# More sets than this share a table.
EACH_UP_TO = 6

in_numbers = Texts(TEXT)


def decision_parts(results: Sequence[Result]) -> Iterator[Part]:
    """A part with a table for each data set whose scores are risks; of many sets one table."""
    rows = decision_rows(results)
    of_sets = [list(own) for _, own in groupby(rows, key=lambda row: row.dataset)]
    several = len(of_sets) > EACH_UP_TO
    if several:
        of_sets = [[row for own in of_sets for row in own]]
    if of_sets:
        tables = [_table(own, number, several=several) for number, own in enumerate(of_sets, 1)]
        yield in_numbers.part(tables, in_numbers("title"))


def _table(rows: Sequence[DecisionRow], number: int, *, several: bool) -> PlainTable:
    caption = in_numbers("caption_sets") if several else in_numbers("caption", name=rows[0].dataset)
    return in_numbers.table(
        f"decision_table_{number}",
        in_numbers("caption_of", what=caption),
        "data_set? .strategy .threshold:number n .pos_rate:percent .tp_rate:percent .fp_rate:percent"
        " .net_benefit:number.3 .standardized:number.3 .avoided:number.1",
        [
            (
                row.dataset if several else None,
                _strategy(row),
                row.threshold,
                row.n,
                row.pos_rate,
                row.tp_rate,
                row.fp_rate,
                row.net_benefit,
                row.standardized_net_benefit,
                PER * row.net_interventions_avoided,
            )
            for row in rows
        ],
    )


def _strategy(row: DecisionRow) -> Message | str:
    if row.strategy == "device" and row.candidate:
        return row.candidate
    return in_numbers(row.strategy)
