"""How a model performs on a set, and how many cases each measure would have needed."""

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
from trustreport.measures.note import NO_NOTE, note
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
# Width of the whole interval that is asked for, unless precision targets are declared.
WIDTHS = {"auc": 0.1, "net_benefit": 0.2, "brier": 0.05, "calibration_slope": 0.2, "oe": 0.2}


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
    return WIDTHS[measure]


def size_results(case: ScoredCases, reached: CandidatePerformance, plan: Plan) -> list[Result]:
    """The minimum sample size of each measure, with the share of it that the set has."""
    results = []
    for name in WIDTHS:
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
    level, n, wanted = plan.report.confidence_level, len(case), width(name, plan)
    why = NO_NOTE if name == "auc" or case.shared is not None else why_no_risk(case)
    of = {"auc": reached.auc, "net_benefit": reached.net_benefit, "brier": reached.brier}.get(name)
    if why or (of is not None and np.isnan(of.value)) or n == 0:
        return undefined(n, why or (of.note if of else NO_CASE), level=level, method=METHODS[name])
    acted = None if plan.risk_threshold is None else case.acted_at(plan.risk_threshold)
    if case.score is None and (name == "calibration_slope" or (name == "net_benefit" and acted is None)):
        return undefined(n, NOT_SHARED, level=level, method=METHODS[name])
    prevalence = float(case.truth.mean())
    chosen: dict[str, Any] = {"width": wanted, "n": n, "level": level}
    match name:
        case "auc":
            return mss_auc(reached.auc.value, prevalence, **chosen)
        case "net_benefit":
            threshold = plan.risk_threshold
            assert threshold is not None
            assert acted is not None
            truth, score, _ = acted
            called = score >= threshold
            present, absent = called[truth], called[~truth]
            sensitivity = float(present.mean()) if present.size else np.nan
            specificity = 1 - float(absent.mean()) if absent.size else np.nan
            if threshold >= 1:
                return undefined(n, NO_THRESHOLD, level=level, method=METHODS[name])
            return mss_net_benefit(sensitivity, specificity, prevalence, threshold, **chosen)
        case "brier":
            return mss_brier(reached.brier.details["variance_per_case"], prevalence, **chosen)
        case "calibration_slope":
            return mss_calibration_slope(information(case.with_scores[1]), **chosen)
    return mss_oe(prevalence, **chosen)


METHODS = {
    "auc": "newcombe_se",
    "net_benefit": "net_benefit_se",
    "brier": "brier_se",
    "calibration_slope": "fisher_information",
    "oe": "log_oe_se",
}
