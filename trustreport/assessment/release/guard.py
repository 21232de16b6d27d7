"""Findings and checks of a public report, without numbers that give small cells back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from math import isnan
from typing import Any

from trustreport.assessment.finding import CheckOutcome, Figure, Finding, Part, PlainTable
from trustreport.assessment.performance.cases import scored_cases
from trustreport.assessment.performance.keys import public_cell, suppressed
from trustreport.assessment.release.cells import REPORTED, Shown, ShownThresholds, saying_too_much
from trustreport.assessment.release.cuts import public_cuts
from trustreport.figures.benefit import SlopePlot
from trustreport.figures.calibration import CalibrationFigure
from trustreport.figures.curves import DecisionCurves
from trustreport.figures.effect import EffectPlot, ErrorRates
from trustreport.figures.field import PlaneChart
from trustreport.figures.flow import FlowFigure, ParticipantFlow
from trustreport.figures.measure_rows import GroupRows, MeasuresChart
from trustreport.figures.roc import RocFigure
from trustreport.figures.sites import Forest, SampleSizes
from trustreport.figures.trend import Trend
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Message, Note
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.results import Result

# Drawings of estimates alone, which lose those that are withheld, and curves that are thinned where they
# are made. Any other drawing may show single cases or small groups, and is left out.
THINNED = (RocFigure, DecisionCurves, CalibrationFigure)
KEPT = (
    *(SlopePlot, EffectPlot, ErrorRates, PlaneChart, GroupRows, MeasuresChart, Forest, SampleSizes, Trend),
    *(*THINNED, FlowFigure),
)
# Details that may stay where they count enough cases; any other may be of single cases or of cells.
DETAILS = frozenset(
    "positives negatives prevalence sites sites_without_interval q q_df q_p scale_value expected observed"
    " scaled uncertainty replicates iterations comparisons family p_holm prespecified readers cases figures"
    " measured slope".split()
)
NOT_PEOPLE = frozenset(("k", "level", "least", "q_df", "df", "sites", "comparisons", "iterations", "folds"))
SAYS_WHAT_IS_SUPPRESSED = "P59"
Key = tuple[float, float, float, int]


def guarded(findings: Sequence[Finding], study: Study, plan: Plan) -> tuple[Finding, ...]:
    """The findings as they are; of a public report without what gives cells of a few cases back."""
    least = public_cell(plan)
    if least < 2:
        return tuple(findings)
    results = [r for finding in findings for r in finding.results]
    hidden = saying_too_much(results, least, shown_thresholds(study, plan))
    small = {key_of(r.estimate): suppressed(r.estimate, least) for r in results if id(r) in hidden}
    return tuple(_finding(finding, hidden, small, least) for finding in findings)


def guarded_results(results: Sequence[Result], study: Study, plan: Plan) -> tuple[Result, ...]:
    """The results of one dimension as a public report may use them."""
    least = public_cell(plan)
    if least < 2:
        return tuple(results)
    hidden = saying_too_much(results, least, shown_thresholds(study, plan))
    small = {key_of(r.estimate): suppressed(r.estimate, least) for r in results if id(r) in hidden}
    return tuple(without_small(r, small) for r in results)


def shown_thresholds(study: Study, plan: Plan) -> Shown:
    """The thresholds at which numbers of each data set and candidate may be shown."""
    least = public_cell(plan)
    return {
        (case.dataset.name, case.place.candidate or ""): ShownThresholds(
            tuple(public_cuts(case, plan, least).tolist()),
            plan.threshold_of(case.candidate) if case.by_threshold else None,
        )
        for case in scored_cases(study, plan)
        if case.score is not None and len(case)
    }


def key_of(e: Estimate) -> Key:
    """The numbers by which an estimate is known again in tables and drawings."""
    return e.value, e.low, e.high, e.n


def without_small(value: Any, small: Mapping[Key, Estimate]) -> Any:
    """The same with estimates replaced that have these numbers, at any depth of frozen objects and tuples."""
    if isinstance(value, Estimate):
        return value if isnan(value.value) else small.get(key_of(value), value)
    if isinstance(value, Result):
        estimate = without_small(value.estimate, small)
        same = estimate is value.estimate or isnan(value.estimate.value)
        return value if same else replace(value, estimate=estimate, details={})
    if isinstance(value, Message | Note):
        return value
    if isinstance(value, tuple):
        made = tuple(without_small(item, small) for item in value)
        return value if all(new is old for new, old in zip(made, value)) else made
    if is_dataclass(value) and not isinstance(value, type):
        held = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        changed = {name: new for name, old in held.items() if (new := without_small(old, small)) is not old}
        return replace(value, **changed) if changed else value
    return value


def _finding(finding: Finding, hidden: set[int], small: Mapping[Key, Estimate], least: int) -> Finding:
    if finding.dimension == REPORTED:
        return finding
    gone = [r for r in finding.results if id(r) in hidden]
    return replace(
        finding,
        results=tuple(_plain_details(without_small(r, small), least) for r in finding.results),
        parts=tuple(_part(part, _touches(part, gone, small), small, least) for part in finding.parts),
    )


def _plain_details(r: Result, least: int) -> Result:
    """The result without details that count a few cases, or are made of a few."""

    def kept(details: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: value
            for name, value in details.items()
            if name in DETAILS and (name in NOT_PEOPLE or not _few(value, least))
        }

    own, of_estimate = kept(r.details), kept(r.estimate.details)
    if len(own) == len(r.details) and len(of_estimate) == len(r.estimate.details):
        return r
    return replace(r, details=own, estimate=replace(r.estimate, details=of_estimate))


def _few(value: Any, least: int) -> bool:
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == _whole(value)
    return whole and 0 < value < least


def _whole(value: float) -> int | None:
    """The whole number nearest to a number; None where it has none."""
    return None if isnan(value) or value in (float("inf"), -float("inf")) else round(value)


def _touches(part: Part, gone: Sequence[Result], small: Mapping[Key, Estimate]) -> bool:
    """Whether a part speaks of data of which a number is withheld, or holds such a number."""
    if any(r.place.rests_on(part.place) for r in gone):
        return True
    return any(
        without_small(one, small) is not one for one in (*part.tables, *(f.drawing for f in part.figures))
    )


def _part(part: Part, touched: bool, small: Mapping[Key, Estimate], least: int) -> Part:
    figures, lost = [], 0
    for figure in part.figures:
        drawing = without_small(figure.drawing, small)
        if not isinstance(drawing, KEPT) or draws_few(drawing, least):
            lost += 1
            continue
        alt = figure.caption if touched and any(_numbers(figure.alt)) else figure.alt
        caption = figure.caption
        figures.append(Figure(figure.id, drawing, caption, alt))
    tables = tuple(
        without_small(table, small)
        for table in part.tables
        if not (isinstance(table, PlainTable) and (touched or _has_few(table, least)))
    )
    said = () if touched else tuple(m for m in part.finding if not says_few(m, least))
    if len(said) < len(part.finding):
        said = (*said, say("report.release.sentences", k=least))
    if any(isinstance(figure.drawing, THINNED) for figure in figures):
        said = (*said, say("report.release.curves", k=least))
    if lost:
        said = (*said, say("report.release.figures", n=lost, k=least))
    if len(tables) < len(part.tables):
        said = (*said, say("report.release.tables", n=len(part.tables) - len(tables), k=least))
    return replace(part, finding=said, tables=tables, figures=tuple(figures))


def draws_few(drawing: Any, least: int) -> bool:
    """Whether a drawing states numbers of few people, or is made of groups that may be few."""
    if isinstance(drawing, CalibrationFigure):
        return drawing.at_horizon
    if isinstance(drawing, ParticipantFlow):
        return any(0 < n < least for n in drawing.counts())
    if isinstance(drawing, FlowFigure):
        steps = (*drawing.steps, *drawing.arms)
        return any(0 < n < least for step in steps for n in (step.count, *(n for _, n in step.aside)))
    return False


def _has_few(table: PlainTable, least: int) -> bool:
    return any(
        isinstance(cell, int) and not isinstance(cell, bool) and 0 < cell < least
        for row in table.rows
        for cell in row
    ) or any(isinstance(cell, Message) and says_few(cell, least) for row in table.rows for cell in row)


def _numbers(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """The numbers that a message names, each with the name of its value."""
    if isinstance(value, Message):
        for key, held in value.values.items():
            yield from _numbers(held, key)
    elif isinstance(value, Estimate):
        yield name, value.value
    elif isinstance(value, Result):
        yield name, value.estimate.value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


def says_few(message: Message, least: int) -> bool:
    """Whether a message states a whole number of 1 to ``least - 1`` that may count cases."""
    return any(name not in NOT_PEOPLE and _few(n, least) for name, n in _numbers(message))


def guarded_checks(
    checks: Sequence[CheckOutcome], findings: Sequence[Finding], plan: Plan
) -> tuple[CheckOutcome, ...]:
    """The checks as they are; of a public report without the small numbers of their messages."""
    least = public_cell(plan)
    if least < 2:
        return tuple(checks)
    gone = [
        r
        for f in findings
        for r in f.results
        if r.estimate.note.has("suppressed_fewer_than") and r.place.data
    ]

    def states_small(outcome: CheckOutcome) -> bool:
        if outcome.check == SAYS_WHAT_IS_SUPPRESSED:
            return False
        if says_few(outcome.message, least):
            return True
        on_withheld = any(r.place.rests_on(outcome.place) for r in gone)
        return on_withheld and any(isinstance(n, float) for _, n in _numbers(outcome.message))

    return tuple(
        replace(one, message=say("report.release.check", k=least)) if states_small(one) else one
        for one in checks
    )
