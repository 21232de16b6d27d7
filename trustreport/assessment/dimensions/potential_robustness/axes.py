"""The measures of the external performance diagram: what a set reaches, and how many cases each needs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, isfinite, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.narrative.texts import heading, quantity_name
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.features import ID
from trustreport.assessment.performance.measures import (
    NO_THRESHOLD,
    estimates,
    lead,
    relevance_and_thresholds,
    why_no_risk,
)
from trustreport.measures.calibration.overall import brier
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.notes import NO_CASE
from trustreport.measures.roc.auc import area_and_variance
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
from trustreport.measures.standardized_net_benefit import standardized_net_benefit, weighted_utility
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.quantities import ROWS, quantity
from trustreport.vocabulary.results import Result

Bands = tuple[float, float, float]
# The ends of an axis, and where acceptable, good and excellent begin on it. The authors print bands for the
# AUC, and have those of net benefit and the Brier score in their program. "Similar thresholds" for the other
# measures: those of the AUC for what runs from 0 to 1, and 2 x - 1 for what is 0 by chance, as J is twice the
# balanced accuracy less one.
_SHARE = (0.5, 1.0, (0.7, 0.8, 0.9))
_FROM_CHANCE = (0.0, 1.0, (0.4, 0.6, 0.8))
AXES: Mapping[str, tuple[float, float, Bands]] = {
    **dict.fromkeys(("auc", "accuracy", "balanced_accuracy", "sensitivity", "specificity", "f1"), _SHARE),
    **dict.fromkeys(("youden_j", "mcc", "standardized_net_benefit", "weighted_utility"), _FROM_CHANCE),
    "brier": (0.35, 0.0, (0.25, 0.15, 0.08)),
    "gici": _SHARE,
    "ece": (0.5, 0.0, (0.3, 0.2, 0.1)),
}
PANELS = ("discrimination", "utility", "calibration")
# Width of the interval by which a set is large enough for a measure that has no sample size formula of its
# own; twice as wide for those that run from -1 to 1.
WIDTHS_BY_ERROR = {"discrimination": 0.1, "utility": 0.2, "calibration": 0.05}
# Measures with a minimum sample size of their own, by what that is called.
SIZED_AS = {of: row.id.removeprefix("mss_") for row in ROWS for of in row.sizes}
UNLIKE = 0.4  # similarity under which a set counts as unlike the training data
NO_TEST = note("no_test_known_calibration_index_that")


@dataclass(frozen=True, slots=True)
class Precision:
    """A measure, its variance, and the cases on which both rest; NaN where it has none."""

    value: float
    variance: float
    n: int


def measures_of(plan: Plan) -> tuple[str, str, str]:
    """The measures of discrimination, utility and calibration, in the order of the panels."""
    chosen = plan.external_performance
    return chosen.discrimination, chosen.utility, chosen.calibration


def panel_of(name: str, plan: Plan) -> str:
    """The panel on which a measure is drawn."""
    return PANELS[measures_of(plan).index(name)]


def is_acceptable(name: str, value: float) -> bool:
    """Whether a value is at least acceptable by the bands of the diagram; False where there is none."""
    worst, best, bands = AXES[name]
    return value >= bands[0] if worst < best else value <= bands[0]


def span(name: str, values: Sequence[float]) -> tuple[float, float, Bands]:
    """The ends of an axis, further on the poor side where a value lies there, and its bands."""
    worst, best, bands = AXES[name]
    known = [v for v in values if isfinite(v)]
    if worst < best:
        return max(min([worst, *(floor(10 * v) / 10 for v in known)]), -1.0), best, bands
    return max([worst, *(ceil(20 * v) / 20 for v in known)]), best, bands


def axis_label(name: str, threshold: float | None) -> Message:
    """What an axis shows, with the threshold of a utility where it is known."""
    worst, best, _ = AXES[name]
    if threshold is not None and name in ("standardized_net_benefit", "weighted_utility"):
        return say(f"{ID}.axis.{name}", threshold=threshold)
    return heading(name) if worst < best else say(f"{ID}.axis.reversed", measure=heading(name))


def on_axes(case: ScoredCases, plan: Plan) -> dict[str, Estimate]:
    """What the scores of a set reach, a measure an axis."""
    return {name: lead(case, name, plan.report.confidence_level) for name in measures_of(plan)}


def with_rule(
    caption: Message, sets: Sequence[tuple[str, float, Mapping[str, Estimate]]], plan: Plan
) -> Message:
    """The caption of the diagram, with the rule of its authors for external validation, printed as theirs.

    `sets` are the name of each external set, its similarity, and the measures of the diagram there. A set
    without one of them cannot be judged; without any other the caption stays as it is.
    """
    known = [
        (name, similarity, reached)
        for name, similarity, reached in sets
        if isfinite(similarity) and all(isfinite(e.value) for e in reached.values())
    ]
    if not known:
        return caption
    unlike = [(name, reached) for name, similarity, reached in known if similarity < UNLIKE]
    enough = [n for n, reached in unlike if all(is_acceptable(m, e.value) for m, e in reached.items())]
    key = "met" if enough else "unmet" if unlike else "alike"
    names = enough or [name for name, _ in unlike]
    measures = [quantity_name(name) for name in measures_of(plan)]
    rule = say(f"{ID}.rule.{key}", n=len(names), names=names, measures=measures)
    return say(f"{ID}.rule.below", caption=caption, rule=rule)


def own_precision(case: ScoredCases, name: str, plan: Plan) -> Precision:
    """A measure of one set with the variance by which it is tested.

    That of the area is DeLong's, or Obuchowski's, not the larger of two.
    """
    if name != "auc":
        return precision([case], name, plan)
    method = "delong" if case.cluster is None else "obuchowski_clustered"
    found = [e for e in estimates(case, "auc", plan.report.confidence_level) if e.method == method]
    value = lead(case, "auc", plan.report.confidence_level).value
    return (
        Precision(found[0].value, found[0].se ** 2, len(case)) if found else Precision(value, nan, len(case))
    )


def precision(cases: Sequence[ScoredCases], name: str, plan: Plan) -> Precision:
    """A measure of the cases of several sets together, with its variance; NaN where they do not yield it."""
    if not cases:
        return Precision(nan, nan, 0)
    n = sum(len(case) for case in cases)
    if name == "auc":
        truth, score = (np.concatenate([c.ranked[k] for c in cases]) for k in (0, 1))
        area, spread, *_ = area_and_variance(truth, score)
        return Precision(area, spread, len(truth))
    e = _together(cases, name, plan)
    return Precision(e.value, e.se**2, n) if e is not None else Precision(nan, nan, n)


def _together(cases: Sequence[ScoredCases], name: str, plan: Plan) -> Estimate | None:
    if name in MEASURES:
        if any(case.decision is None for case in cases):
            return None
        cells = [
            cluster_cells(
                case.truth, case.decision, np.arange(len(case)) if case.cluster is None else case.cluster
            )
            for case in cases
            if case.decision is not None
        ]
        return clustered(name, np.concatenate(cells))
    if any(why_no_risk(case) for case in cases):
        return None
    if name == "brier":
        truth, risk = (np.concatenate([c.with_scores[k] for c in cases]) for k in (0, 1))
        return brier(
            truth,
            risk,
            cluster=_clusters([c.with_scores[2] for c in cases], [c.with_scores[0] for c in cases]),
        )
    at = plan.risk_threshold
    if at is None or name not in ("standardized_net_benefit", "weighted_utility"):
        return None
    truth, risk = (np.concatenate([c.acted_on[k] for c in cases]) for k in (0, 1))
    cluster = _clusters([c.acted_on[2] for c in cases], [c.acted_on[0] for c in cases])
    if name == "standardized_net_benefit":
        return standardized_net_benefit(truth, risk, at, cluster=cluster)
    declared = [relevance_and_thresholds(case, at) for case in cases]
    if any(one is None for one in declared):
        return None
    thresholds, relevance = (np.concatenate([one[k] for one in declared if one]) for k in (0, 1))
    return weighted_utility(truth, risk, thresholds, relevance, cluster=cluster)


def _clusters(own: Sequence[Clusters | None], of: Sequence[NDArray[np.bool_]]) -> Clusters | None:
    """The clusters of several sets, those of one set apart from those of another."""
    if all(one is None for one in own):
        return None
    joined, start = [], 0
    for one, cases in zip(own, of):
        codes = np.arange(len(cases)) if one is None else np.unique(one, return_inverse=True)[1]
        joined.append(codes + start)
        start += int(codes.max(initial=-1)) + 1
    return np.concatenate(joined)


def needed_by_error(found: Precision, name: str, panel: str, z: float) -> float:
    """The cases with which the interval of a measure would have the width asked for, by its standard error.

    ::

        n (2 z SE / W)^2
    """
    low = quantity(name).low
    width = WIDTHS_BY_ERROR[panel] * (2 if low == -1 else 1)
    if isnan(found.variance) or not found.variance > 0:
        return nan
    return float(ceil(found.n * 4 * z * z * found.variance / width**2 - 1e-9))


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
