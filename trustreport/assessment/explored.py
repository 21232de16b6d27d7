"""What a reader may explore on the page: the decisions of each test set at other thresholds and prevalences.

Nothing of it is in results.json, and no verdict rests on it. Of a public report it holds what is printed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan

import numpy as np

from trustreport.assessment.assess import Assessment
from trustreport.assessment.performance.cases import ScoredCases, by_rule, scored_cases
from trustreport.assessment.performance.measures import why_no_risk
from trustreport.measures import net_benefit
from trustreport.measures.confusion.clustered import clustered
from trustreport.measures.confusion.independent import at_prevalence, estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate

MOST_THRESHOLDS = 100  # of a set; of more distinct scores, so many at equal distances in rank
EVEN = 0.5  # the prevalence at which odds after a result are those of the likelihood ratio
NOT_TESTED = ("training", "tuning")
MEASURED = ("sensitivity", "specificity", "ppv", "npv")
CELLS = ("tp", "fp", "fn", "tn")
Limits = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class ExploredPoint:
    """The cells at a threshold, with limits for `MEASURED` and for predictive values at prevalence `EVEN`.

    From the latter follow those at any prevalence: the likelihood ratios do not depend on it. The last limits
    are of the net benefit in these cases, where scores are risks.
    """

    threshold: float | None
    risk: float | None
    cells: tuple[int, int, int, int]
    limits: tuple[Limits, ...]


@dataclass(frozen=True, slots=True)
class ExploredSet:
    """A test set, of one candidate where there are several; `locked` is the declared threshold's place."""

    name: str
    locked: int
    points: tuple[ExploredPoint, ...]


@dataclass(frozen=True, slots=True)
class ReaderChange:
    """Changes in sensitivity and specificity with the aid, and how their half-widths go together.

    The half-width of the change in accuracy at prevalence q is the root of
    ``q^2 h_1^2 + (1 - q)^2 h_2^2 + 2 q (1 - q) shared``.
    """

    sensitivity: tuple[float, float, float]
    specificity: tuple[float, float, float]
    shared: float


def explored_sets(assessment: Assessment) -> tuple[ExploredSet, ...]:
    """The test sets whose decisions a reader may explore."""
    return tuple(_sets(assessment))


def _sets(assessment: Assessment) -> Iterator[ExploredSet]:
    public = assessment.plan.report.release == "public"
    for case in scored_cases(assessment.study, assessment.plan):
        whole = case.shared is None and case.counts is not None and case.truth.any() and not case.truth.all()
        if case.dataset.role in NOT_TESTED or not whole:
            continue
        if public:
            printed = _printed(case, assessment)
            if printed:
                yield ExploredSet(case.name, 0, (printed,))
            continue
        level = assessment.plan.report.confidence_level
        thresholds = _thresholds(case)
        points = tuple(_point(case, t, level) for t in thresholds)
        yield ExploredSet(case.name, thresholds.index(case.threshold) if len(points) > 1 else 0, points)


def _thresholds(case: ScoredCases) -> Sequence[float | None]:
    """The declared threshold among those of the scores; alone where decisions do not come from scores."""
    if case.score is None or not case.by_threshold or not (case.scored | case.failed).all():
        return [case.threshold]
    assert case.threshold is not None
    distinct = np.unique(case.score[case.scored])
    if len(distinct) > MOST_THRESHOLDS:
        distinct = distinct[np.linspace(0, len(distinct) - 1, MOST_THRESHOLDS).round().astype(int)]
    return sorted({*map(float, distinct), case.threshold})


def _point(case: ScoredCases, threshold: float | None, level: float) -> ExploredPoint:
    """The decisions of a set at a threshold; failed cases stay as the rule has them."""
    if threshold != case.threshold:
        assert case.score is not None
        assert threshold is not None
        above = case.score <= threshold if case.reversed else case.score >= threshold
        called = np.where(case.failed, by_rule(case.truth, case.rule), above)
        case = replace(case, decision=called, threshold=threshold, memo={})
    counts, risk = case.counts, None
    assert counts is not None
    if threshold is not None and not why_no_risk(case):
        low, high = case.risk_range or (0.0, 1.0)
        risk = (threshold - low) / (high - low)
    found = [_limits(_lead(case, name, None, level)) for name in MEASURED]
    found += [_limits(_lead(case, name, EVEN, level)) for name in ("ppv", "npv")]
    if risk is not None:
        cells = np.array([counts.tp, counts.fp, counts.fn, counts.tn])
        found.append(_limits(net_benefit.of_cells(cells, risk, clusters=case.cells, level=level)))
    return ExploredPoint(threshold, risk, (counts.tp, counts.fp, counts.fn, counts.tn), tuple(found))


def _lead(case: ScoredCases, name: str, prevalence: float | None, level: float) -> Estimate:
    """The primary estimate of `performance.measures` alone: a table asks for hundreds."""
    counts, cells = case.counts, case.cells
    assert counts is not None
    if cells is not None:
        return clustered(name, cells, prevalence=prevalence, level=level)
    if prevalence is not None:
        return at_prevalence(name, counts, prevalence, level=level)
    return estimated(MEASURES[name], counts, level=level)


def _limits(e: Estimate) -> Limits:
    return None if isnan(e.low) else e.low, None if isnan(e.high) else e.high


def _printed(case: ScoredCases, assessment: Assessment) -> ExploredPoint | None:
    """The point of a public report: cells and intervals as printed, None where any of them is withheld."""
    own = {
        r.quantity.id: r.estimate
        for r in assessment.results
        if r.place == case.place and r.primary and not r.parameters and not isnan(r.estimate.value)
    }
    if not {*CELLS, *MEASURED} <= set(own):
        return None
    tp, fp, fn, tn = (round(own[name].value) for name in CELLS)
    limits = (*(_limits(own[name]) for name in MEASURED), (None, None), (None, None))
    return ExploredPoint(case.threshold, None, (tp, fp, fn, tn), limits)


def reader_change(assessment: Assessment) -> ReaderChange | None:
    """What a reader study found on both classes; None without one."""
    own = [
        r
        for r in assessment.results
        if r.id == "decision_benefit.mean_benefit"
        and r.primary
        and r.place.subgroup is None
        and not isnan(r.estimate.low)
    ]
    found = {r.endpoint: r.estimate for r in own if not r.parameters}
    if not {"sensitivity", "specificity"} <= set(found):
        return None
    one, other = found["sensitivity"], found["specificity"]
    shared = 0.0
    for r in own:
        q = r.parameters.get("prevalence")
        if q and r.endpoint == "accuracy":
            alone = (q * _half(one)) ** 2 + ((1 - q) * _half(other)) ** 2
            shared = (_half(r.estimate) ** 2 - alone) / (2 * q * (1 - q))
    return ReaderChange((one.value, one.low, one.high), (other.value, other.low, other.high), shared)


def _half(e: Estimate) -> float:
    return (e.high - e.low) / 2
