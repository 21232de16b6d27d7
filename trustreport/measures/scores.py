"""Every estimate of each measure of scores in `trustreport.measures.score_measure`, the primary one first.

Where cases come in clusters, the estimate that respects them leads.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.calibration.binned import ece, gici
from trustreport.measures.calibration.logistic import (
    calibration_intercept,
    calibration_slope,
    fitted_intercept,
)
from trustreport.measures.calibration.overall import brier, brier_parts, oe_ratio
from trustreport.measures.cluster import Clusters, Order
from trustreport.measures.estimate import Estimate
from trustreport.measures.net_benefit import net_benefit, net_benefit_mover
from trustreport.measures.roc.auc import (
    area_and_variance,
    auc_logit_larger,
    delong,
    logit_delong,
    newcombe_auc,
)
from trustreport.measures.roc.clustered import auc_logit_obuchowski, clustered_auc
from trustreport.measures.roc.curve import FEW_POSITIVES, logit_binomial, logit_influence, outranked
from trustreport.measures.standardized_net_benefit import (
    snb_jackknife,
    snb_mover,
    standardized_net_benefit,
    weighted_utility,
)

Truth = NDArray[np.bool_]
Scores = NDArray[Any]
LARGE = 200_000  # with more cases the profile interval is Wald's to the digits printed
INTERVALS: dict[str, Callable[..., Estimate]] = {
    interval.__name__: interval
    for interval in (
        *(auc_logit_larger, delong, logit_delong, newcombe_auc),
        *(logit_influence, logit_binomial),
    )
}


def areas(
    truth: Truth,
    score: Scores,
    *,
    cluster: Clusters | None,
    intervals: Sequence[str],
    level: float,
    order: Order,
) -> list[Estimate]:
    """The area under the ROC curve."""
    area = area_and_variance(truth, score, order=order)
    found = [INTERVALS[name](truth, score, level=level, known=area) for name in intervals]
    if cluster is None:
        return found
    first, other = (m(truth, score, cluster, level=level) for m in (auc_logit_obuchowski, clustered_auc))
    return [first, *found, other]


def average_precisions(
    truth: Truth,
    score: Scores,
    *,
    cluster: Clusters | None,
    intervals: Sequence[str],
    level: float,
    order: Order,
) -> list[Estimate]:
    """Average precision; with few positives the last of its intervals leads."""
    few = int(truth.sum()) < FEW_POSITIVES
    given: dict[str, Any] = {"level": level, "known": outranked(truth, score, order)}
    found = [INTERVALS[name](truth, score, **given) for name in (intervals[::-1] if few else intervals)]
    if cluster is not None:
        found.insert(0, logit_influence(truth, score, cluster=cluster, **given))
    return found


def _calibrated(
    measure: Callable[..., Estimate], shared: Callable[..., Any] | None = None
) -> Callable[..., list[Estimate]]:
    """A measure of probabilities whose intervals are named; `shared` is what several of them start from."""

    def estimates(
        truth: Truth, score: Scores, *, cluster: Clusters | None, intervals: Sequence[str], level: float
    ) -> list[Estimate]:
        given: dict[str, Any] = {"level": level}
        if shared and len(score):
            given["known"] = shared(truth, score)
        found = [
            measure(truth, score, interval=name, **given)
            for name in intervals
            if name != "profile" or len(score) <= LARGE
        ]
        if cluster is not None:
            found.insert(0, measure(truth, score, cluster=cluster, **given))
        return found

    return estimates


briers = _calibrated(brier, brier_parts)
calibration_intercepts = _calibrated(calibration_intercept, fitted_intercept)
calibration_slopes = _calibrated(calibration_slope)
oe_ratios = _calibrated(oe_ratio)


def eces(truth: Truth, score: Scores, *, cluster: Clusters | None, level: float, **_: Any) -> list[Estimate]:
    """The calibration error of ten bins of equal width."""
    return [ece(truth, score, cluster=cluster, level=level)]


def gicis(truth: Truth, score: Scores, *, cluster: Clusters | None, level: float, **_: Any) -> list[Estimate]:
    """The calibration index of ten bins of equal width."""
    return [gici(truth, score, cluster=cluster, level=level).overall]


def net_benefits(
    truth: Truth, score: Scores, threshold: float, *, cluster: Clusters | None, level: float, **_: Any
) -> list[Estimate]:
    given = truth, score, threshold
    found = [net_benefit_mover(*given, level=level), net_benefit(*given, level=level)]
    if cluster is not None:
        found.insert(0, net_benefit_mover(*given, cluster=cluster, level=level))
    return found


def standardized_net_benefits(
    truth: Truth, score: Scores, threshold: float, *, cluster: Clusters | None, level: float, **_: Any
) -> list[Estimate]:
    """Net benefit at a threshold as a part of the greatest possible one."""
    given = truth, score, threshold
    plain = standardized_net_benefit(*given, level=level)
    found = [snb_mover(*given, level=level, known=plain), plain]
    if cluster is not None:
        found.insert(0, snb_jackknife(*given, cluster, level=level))
    return found


def weighted_utilities(
    truth: Truth,
    score: Scores,
    threshold: NDArray[np.float64],
    relevance: NDArray[np.float64],
    *,
    cluster: Clusters | None,
    level: float,
    **_: Any,
) -> list[Estimate]:
    """The utility of decisions, each case with its own threshold and relevance."""
    given = truth, score, threshold, relevance
    alone = weighted_utility(*given, level=level)
    return [alone] if cluster is None else [weighted_utility(*given, cluster=cluster, level=level), alone]
