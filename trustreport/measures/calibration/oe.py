"""Observed over expected events."""

from math import exp, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, undefined
from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import check
from trustreport.measures.calibration.in_clusters import sandwich
from trustreport.measures.cluster import Clusters
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.proportion import normal_quantile


def oe_ratio(
    truth: NDArray[np.bool_],
    score: NDArray[np.float64],
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Events observed for each event that the scores expect: calibration in the large as a ratio.

    With phi the prevalence::

        O/E = events / sum of scores,   SE(ln O/E) = sqrt((1 - phi) / events)

    With clusters the scores are taken as sampled too: case i with truth y and score s contributes
    y_i / events - s_i / (sum of scores) to the logarithm.

    Estimand: prevalence over mean score in the population; without clusters the scores count as given.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
        True = condition present.
    score : float array, shape (n_cases,)
        Probability of the condition.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to: then the interval is that of `in_clusters.sandwich`.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        From 0 on; 1 = as many events as expected, above: too few expected. Normal interval of its logarithm,
        `se` on that scale, p of a ratio of 1. NaN with a note when the scores expect none; no limits without
        events and without non-events.

    References
    ----------
    Debray et al. (2017), BMJ 356, i6460 (standard error).

    Examples
    --------
    >>> oe_ratio(np.array([True, False, True, False]), np.array([0.9, 0.4, 0.9, 0.3])).value
    0.8
    """
    check(truth, score)
    z = normal_quantile(level)
    n, events, expected = len(score), int(truth.sum()), float(score.sum())
    if n == 0:
        return undefined(0, notes.NO_CASE, level=level, method="log_wald")
    if expected == 0:
        return undefined(n, notes.NOTHING_EXPECTED, level=level, method="log_wald")
    value = events / expected
    details = {"observed": float(events), "expected": expected}
    if events in (0, n):
        note = notes.ALL_EVENTS if events else notes.NO_EVENT
        return Estimate(value, nan, nan, n, level, "log_wald", note, details=details)
    if cluster is not None:
        influence = truth / events - score / expected
        return sandwich(value, influence, cluster, null=1.0, logarithm=True, level=level, details=details)
    se = sqrt((1 - events / n) / events)
    factor = exp(z * se)
    p = two_sided_p(log(value) / se)
    return Estimate(value, value / factor, value * factor, n, level, "log_wald", se=se, p=p, details=details)
