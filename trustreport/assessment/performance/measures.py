"""Each quantity of scored cases, estimated once: the one place where its primary interval is chosen.

The first estimate of a quantity is the primary one. Where cases come in clusters it respects them, and the
interval that takes cases as independent is beside it.
"""

from collections.abc import Callable
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.measures import notes
from trustreport.measures.calibration.brier import brier, brier_parts, oe_ratio
from trustreport.measures.calibration.ece import ece, gici
from trustreport.measures.calibration.gap_bounds import BOUNDS
from trustreport.measures.calibration.logistic import (
    calibration_intercept,
    calibration_slope,
    fitted_intercept,
)
from trustreport.measures.confusion.at_prevalence import at_prevalence
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.proportion import wilson
from trustreport.measures.roc.auc import (
    area_and_variance,
    auc_logit_larger,
    delong,
    logit_delong,
    newcombe_auc,
)
from trustreport.measures.roc.average_precision import (
    FEW_POSITIVES,
    logit_binomial,
    logit_influence,
    outranked,
)
from trustreport.measures.roc.clustered import auc_logit_obuchowski, clustered_auc
from trustreport.measures.utility.net_benefit import net_benefit, net_benefit_mover
from trustreport.measures.utility.standardized_net_benefit import (
    snb_jackknife,
    snb_mover,
    standardized_net_benefit,
    weighted_utility,
)
from trustreport.study.study import Floats
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import estimate_of

CALIBRATION: dict[str, Callable[..., Estimate]] = {
    "brier": brier,
    "calibration_intercept": calibration_intercept,
    "calibration_slope": calibration_slope,
    "oe_ratio": oe_ratio,
}
# What several intervals of a measure start from.
SHARED: dict[str, Callable[..., Any]] = {
    "brier": brier_parts,
    "calibration_intercept": fitted_intercept,
}
# The method of the primary estimate, a fixed word, said too where there is none.
METHODS = {
    "auc": "auc_logit_larger",
    "average_precision": "logit_influence",
    "brier": "logit_t",
    "calibration_intercept": "sandwich",
    "calibration_slope": "wald",
    "oe_ratio": "oe_delta",
    "net_benefit": "yield_mover",
    "standardized_net_benefit": "snb_mover",
    "weighted_utility": "wu_log_t",
    "ece": BOUNDS,
    "gici": BOUNDS,
}
# Intervals of calibration that are commonly published, beside the primary one.
OTHER_INTERVALS = {
    "brier": ("wald",),
    "calibration_intercept": ("wald", "profile"),
    "calibration_slope": ("profile",),
    "oe_ratio": ("log_wald",),
}
LARGE = 200_000  # with more cases the profile interval is Wald's to the digits printed

NO_DECISION = "no decisions, and no operating point that would make them"
NO_SCORE = "no scores"
NO_SCORE_OF_CASES = "no case has a score"
NO_THRESHOLD = "no operating point is declared"
NOT_RISKS = "the scores are not all within 0 and 1: they are no probabilities"
NO_PROBABILITIES = "the scores are declared to be no probabilities"
NO_WEIGHTS = "no column relevance or case_threshold is declared"
REVERSED = "a lower score speaks for the condition: it is no probability of it"


def lead(case: ScoredCases, name: str, level: float, **chosen: Any) -> Estimate:
    """The primary estimate of a quantity; undefined with its reason where these cases do not yield it.

    Parameters
    ----------
    name : a quantity of these cases: any of the four cells, or of the scores
    chosen : ``prevalence`` of a measure of the four cells, ``threshold`` of net benefit
    """
    return estimates(case, name, level, **chosen)[0]


def estimates(case: ScoredCases, name: str, level: float, **chosen: Any) -> tuple[Estimate, ...]:
    """Every estimate of a quantity, the primary one first; computed once for these cases.

    Raises
    ------
    LookupError : scored cases have no such quantity
    """
    at = (name, level, *sorted(chosen.items()))
    if at not in case.memo:
        row = quantity(name)
        case.memo[at] = tuple(estimate_of(e, row) for e in _estimates(case, name, level, **chosen))
    return case.memo[at]


def _estimates(case: ScoredCases, name: str, level: float, **chosen: Any) -> list[Estimate]:
    if name in MEASURES:
        return _of_cells(case, name, level, **chosen)
    if name == "error_rate":
        return [complement(e) for e in estimates(case, "accuracy", level)]
    if name == "failure_rate":
        return [_failures(case, level)]
    if name in CALIBRATION:
        return _of_risks(case, name, level)
    if name in ("net_benefit", "standardized_net_benefit"):
        return _at_threshold(case, name, level, **chosen)
    if name == "weighted_utility":
        return _by_relevance(case, level, **chosen)
    if name in ("ece", "gici"):
        return _in_bins(case, name, level)
    if name in ("auc", "average_precision"):
        return _of_ranks(case, name, level)
    raise LookupError(f"scored cases have no {name}")


def complement(e: Estimate) -> Estimate:
    """One minus a share."""
    return replace(e, value=1 - e.value, low=1 - e.high, high=1 - e.low, note=notes.mirrored(e.note))


def why_no_risk(case: ScoredCases) -> str:
    """Why the scores cannot be read as probabilities, or nothing."""
    if "why_no_risk" not in case.memo:
        case.memo["why_no_risk"] = _why_no_risk(case)
    return str(case.memo["why_no_risk"])


def _why_no_risk(case: ScoredCases) -> str:
    if case.score is None:
        return NO_SCORE
    if case.reversed:
        return REVERSED
    if case.risk is None:
        return NO_PROBABILITIES
    used = case.with_scores[1]
    return NOT_RISKS if used.size and (used.min() < 0 or used.max() > 1) else ""


# ---------------------------------------------------------------- the four cells


def _of_cells(case: ScoredCases, name: str, level: float, prevalence: float | None = None) -> list[Estimate]:
    counts, cells = case.counts, case.cells
    if counts is None:
        return [undefined(len(case), NO_DECISION, level=level, method="wilson")]
    if prevalence is None:
        alone = MEASURES[name](counts, level=level)
    else:
        alone = at_prevalence(name, counts, prevalence, level=level)
    if cells is None:
        return [alone]
    return [clustered(name, cells, prevalence=prevalence, level=level), alone]


def _failures(case: ScoredCases, level: float) -> Estimate:
    """The share of cases without a usable output, with the counts on which a comparison rests."""
    if case.cluster is None:
        e = wilson(case.n_failed, len(case), level)
    else:
        cells = cluster_cells(np.ones(len(case), bool), case.failed, case.cluster)
        e = clustered("sensitivity", cells, level=level)
    counted = {"failed": case.n_failed, "not_run": case.n_not_given, "known": case.n_counted}
    return replace(e, details={**e.details, **{k: float(n) for k, n in counted.items()}})


# ---------------------------------------------------------------- scores


def _of_ranks(case: ScoredCases, name: str, level: float) -> list[Estimate]:
    if case.score is None:
        return [undefined(len(case), NO_SCORE, level=level, method=METHODS[name])]
    truth, score, cluster = case.ranked
    if not truth.size:
        return [undefined(0, NO_SCORE_OF_CASES, level=level, method=METHODS[name])]
    if name == "average_precision":
        few = int(truth.sum()) < FEW_POSITIVES
        methods = (logit_binomial, logit_influence) if few else (logit_influence, logit_binomial)
        given: dict[str, Any] = {"level": level, "known": outranked(truth, score, case.ranked_order)}
        found = [method(truth, score, **given) for method in methods]
        if cluster is not None:
            found.insert(0, logit_influence(truth, score, cluster=cluster, **given))
        return found
    area = area_and_variance(truth, score, order=case.ranked_order)
    found = [
        method(truth, score, level=level, known=area) for method in (auc_logit_larger, delong, logit_delong)
    ]
    found.append(newcombe_auc(truth, score, level=level, known=area))
    if cluster is None:
        return found
    first, other = (m(truth, score, cluster, level=level) for m in (auc_logit_obuchowski, clustered_auc))
    return [first, *found, other]


def _of_risks(case: ScoredCases, name: str, level: float) -> list[Estimate]:
    why = why_no_risk(case)
    if why:
        n = int(np.count_nonzero(case.scored))
        return [undefined(n, why, level=level, method=METHODS[name])]
    truth, score, cluster = case.with_scores
    measure, primary = CALIBRATION[name], METHODS[name]
    wanted = [primary, *OTHER_INTERVALS[name]]
    if len(score) > LARGE and "profile" in wanted:
        wanted.remove("profile")
    given: dict[str, Any] = {"level": level}
    if name in SHARED and len(score):
        given["known"] = SHARED[name](truth, score)
    found = [measure(truth, score, interval=interval, **given) for interval in wanted]
    if cluster is not None:
        found.insert(0, measure(truth, score, cluster=cluster, **given))
    return found


def _at_threshold(
    case: ScoredCases, name: str, level: float, threshold: float | None = None
) -> list[Estimate]:
    at = case.risk_threshold if threshold is None else threshold
    why = why_no_risk(case) or (NO_THRESHOLD if at is None else "")
    if why or at is None:
        return [undefined(len(case), why, level=level, method=METHODS[name])]
    truth, score, cluster = case.acted_on
    given = truth, score, at
    if name == "net_benefit":
        found = [net_benefit_mover(*given, level=level), net_benefit(*given, level=level)]
        if cluster is not None:
            found.insert(0, net_benefit_mover(*given, cluster=cluster, level=level))
        return found
    plain = standardized_net_benefit(*given, level=level)
    found = [snb_mover(*given, level=level, known=plain), plain]
    if cluster is not None:
        found.insert(0, snb_jackknife(*given, cluster, level=level))
    return found


def relevance_and_thresholds(case: ScoredCases, threshold: float) -> tuple[Floats, Floats] | None:
    """The threshold and the relevance of each case that a threshold meets; None where neither is declared.

    A case without a threshold of its own has this one; one without a relevance, none where others have one.
    """
    relevance, own = case.number("relevance"), case.number("case_threshold")
    if relevance is None and own is None:
        return None
    of = case.scored | case.failed
    n = int(np.count_nonzero(of))
    weight = np.ones(n) if relevance is None else np.nan_to_num(relevance[of], nan=0.0)
    at = np.full(n, threshold)
    if own is not None:
        at = np.where(np.isnan(own[of]), threshold, own[of])
    return at, weight


def _by_relevance(case: ScoredCases, level: float, threshold: float | None = None) -> list[Estimate]:
    at = case.risk_threshold if threshold is None else threshold
    why = why_no_risk(case) or (NO_THRESHOLD if at is None else "")
    declared = None if why or at is None else relevance_and_thresholds(case, at)
    if declared is None:
        return [undefined(len(case), why or NO_WEIGHTS, level=level, method=METHODS["weighted_utility"])]
    truth, score, cluster = case.acted_on
    given = truth, score, *declared
    alone = weighted_utility(*given, level=level)
    return [alone] if cluster is None else [weighted_utility(*given, cluster=cluster, level=level), alone]


def _in_bins(case: ScoredCases, name: str, level: float) -> list[Estimate]:
    """The calibration index or error of ten bins of equal width."""
    why = why_no_risk(case)
    if why:
        return [undefined(len(case), why, level=level, method=METHODS[name])]
    truth, score, cluster = case.with_scores
    given: dict[str, Any] = {"cluster": cluster, "level": level}
    return [ece(truth, score, **given) if name == "ece" else gici(truth, score, **given).overall]


def without_interval(e: Estimate, why: str) -> Estimate:
    """An estimate whose interval is left out, and why."""
    return replace(e, low=nan, high=nan, se=nan, p=nan, note="; ".join(filter(None, (e.note, why))))
