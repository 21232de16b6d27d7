"""How a model performs on a set, and how many cases each measure would have needed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.potential_robustness.axes import (
    SIZED_AS,
    measures_of,
    needed_by_error,
    own_precision,
    panel_of,
)
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.features import ID
from trustreport.assessment.performance.measures import NO_THRESHOLD, lead, why_no_risk
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.notes import NO_CASE
from trustreport.measures.sample_size import (
    information,
    mss_auc,
    mss_brier,
    mss_calibration_slope,
    mss_net_benefit,
    mss_oe,
    planning_quantile,
)
from trustreport.measures.sites.shared import NOT_SHARED
from trustreport.study.plan import Plan
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result

DIAGRAM = ("auc", "standardized_net_benefit", "brier")


@dataclass(frozen=True, eq=False)
class CandidatePerformance:
    """What a candidate reaches on a set: discrimination, utility at the operating point, calibration."""

    auc: Estimate
    net_benefit: Estimate
    brier: Estimate


def performance(case: ScoredCases, plan: Plan) -> CandidatePerformance:
    """The three measures of the external performance diagram, over all sites of the set."""
    return CandidatePerformance(*(lead(case, name, plan.report.confidence_level) for name in DIAGRAM))


def width(measure: str, plan: Plan) -> float:
    """The width asked for: declared as a half width or a standard error, else the customary one."""
    for name in (measure, *quantity(f"mss_{measure}").sizes):
        target = plan.precision_targets.get(name)
        if target and target.max_ci_half_width is not None:
            return 2 * target.max_ci_half_width
        if target and target.target_se is not None:
            return 2 * planning_quantile(plan.report.confidence_level) * target.target_se
    return SIZES[measure].width


def size_results(case: ScoredCases, reached: CandidatePerformance, plan: Plan) -> list[Result]:
    """The minimum sample size of each measure, with the share of it that the set has."""
    results = []
    for name in SIZES:
        needed = _needed(name, case, reached, plan)
        if needed.value > 0:
            details = {**needed.details, "reached": needed.n / needed.value}
            needed = replace(needed, details={**details, **_classes(case)}, note=needed.note or NO_INTERVAL)
        at = plan.risk_threshold if name == "net_benefit" else None
        place = case.place.narrowed(threshold=at)
        results.append(Result(f"{ID}.mss_{name}", place, needed, primary=True, cases=case.key))
    return results + _of_other_measures(case, plan)


def _of_other_measures(case: ScoredCases, plan: Plan) -> list[Result]:
    """The minimum sample size by the standard error, of the diagram's measures that have no formula."""
    level, results = plan.report.confidence_level, []
    for name in measures_of(plan):
        if name in SIZED_AS:
            continue
        found = own_precision(case, name, plan)
        needed = needed_by_error(found, name, panel_of(name, plan), planning_quantile(level))
        if needed > 0:
            e = Estimate(needed, nan, nan, found.n, level, BY_ERROR, NO_INTERVAL)
            e = replace(e, details={"reached": found.n / needed, **_classes(case)})
        else:
            e = undefined(len(case), NO_ERROR, level=level, method=BY_ERROR)
        chosen: dict[str, Any] = {"endpoint": name, "parameters": {"metric": name}}
        results.append(Result(f"{ID}.mss", case.place, e, primary=True, cases=case.key, **chosen))
    return results


BY_ERROR = "standard_error"
NO_ERROR = note("measure_has_no_standard_error_here")
NO_INTERVAL = note("planning_value_has_no_interval")


def _classes(case: ScoredCases) -> dict[str, float]:
    positive = int(case.truth.sum())
    return {"positives": float(positive), "negatives": float(len(case) - positive)}


def _needed(name: str, case: ScoredCases, reached: CandidatePerformance, plan: Plan) -> Estimate:
    size, level, n = SIZES[name], plan.report.confidence_level, len(case)
    why = NO_NOTE if not size.of_risks or case.shared is not None else why_no_risk(case)
    of = getattr(reached, name, None)
    if why or (of is not None and np.isnan(of.value)) or n == 0:
        return undefined(n, why or (of.note if of else NO_CASE), level=level, method=size.method)
    found = size.needed(case, reached, plan, width=width(name, plan), n=n, level=level)
    return undefined(n, found, level=level, method=size.method) if isinstance(found, Note) else found


def _of_auc(case: ScoredCases, reached: CandidatePerformance, plan: Plan, **chosen: Any) -> Estimate:
    return mss_auc(reached.auc.value, float(case.truth.mean()), **chosen)


def _of_net_benefit(
    case: ScoredCases, reached: CandidatePerformance, plan: Plan, **chosen: Any
) -> Estimate | Note:
    threshold = plan.risk_threshold
    acted = None if threshold is None else case.acted_at(threshold)
    if case.score is None and acted is None:
        return NOT_SHARED
    assert threshold is not None
    assert acted is not None
    truth, score, _ = acted
    called = score >= threshold
    present, absent = called[truth], called[~truth]
    sensitivity = float(present.mean()) if present.size else np.nan
    specificity = 1 - float(absent.mean()) if absent.size else np.nan
    if threshold >= 1:
        return NO_THRESHOLD
    return mss_net_benefit(sensitivity, specificity, float(case.truth.mean()), threshold, **chosen)


def _of_brier(case: ScoredCases, reached: CandidatePerformance, plan: Plan, **chosen: Any) -> Estimate:
    return mss_brier(reached.brier.details["variance_per_case"], float(case.truth.mean()), **chosen)


def _of_slope(case: ScoredCases, reached: CandidatePerformance, plan: Plan, **chosen: Any) -> Estimate | Note:
    if case.score is None:
        return NOT_SHARED
    return mss_calibration_slope(information(case.with_scores[1]), **chosen)


def _of_oe(case: ScoredCases, reached: CandidatePerformance, plan: Plan, **chosen: Any) -> Estimate:
    return mss_oe(float(case.truth.mean()), **chosen)


@dataclass(frozen=True, slots=True)
class SampleSizeOf:
    """The minimum sample size of a measure: a whole number of cases, or why it is not known.

    `width` is that of the whole interval, unless a precision is declared; `method` where there is none.
    """

    width: float
    method: str
    needed: Callable[..., Estimate | Note]
    of_risks: bool = True


SIZES = {
    "auc": SampleSizeOf(0.1, "newcombe_se", _of_auc, of_risks=False),
    "net_benefit": SampleSizeOf(0.2, "net_benefit_se", _of_net_benefit),
    "brier": SampleSizeOf(0.05, "brier_se", _of_brier),
    "calibration_slope": SampleSizeOf(0.2, "fisher_information", _of_slope),
    "oe": SampleSizeOf(0.2, "log_oe_se", _of_oe),
}
