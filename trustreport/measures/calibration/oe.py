"""Observed over expected events."""

from math import exp, log, nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import check
from trustreport.measures.calibration.in_clusters import sandwich
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.proportion import normal_quantile

LEAST = 1e-300  # a mean score that expects nothing: the ratio is beyond the numbers that are left
OeInterval = Literal["oe_delta", "log_wald"]


def oe_ratio(
    truth: NDArray[np.bool_],
    score: NDArray[np.float64],
    *,
    interval: OeInterval = "log_wald",
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Events observed for each event that the scores expect: calibration in the large as a ratio.

    With truth y_i and score s_i of case i of n, phi the prevalence::

        O/E = events / sum of scores
        oe_delta:  I_i = y_i / events - s_i / (sum of scores)
                   ln O/E +- t(n - 1) sqrt(n / (n - 1) sum I_i^2)
        log_wald:  ln O/E +- z sqrt((1 - phi) / events), the scores taken as given

    Estimand: prevalence over mean score in the population, cases sampled as they come.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
        True = condition present.
    score : float array, shape (n_cases,)
        Probability of the condition.
    interval : {"log_wald", "oe_delta"}
        As above; the second is the primary one.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to: then the interval is that of `in_clusters.sandwich`.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        From 0 on; 1 = as many events as expected, above: too few expected. Interval of its logarithm, `se`
        on that scale, p of a ratio of 1. NaN with a note when the scores expect none; no limits without
        events and without non-events.

    Notes
    -----
    ``oe_delta`` covers in .95 to .97 of samples; ``log_wald`` in .95 to .99: it is wider than need be, the
    more so the better the scores separate the classes.

    References
    ----------
    Cochran (1977), Sampling Techniques, 3rd ed., section 6.3 (variance of a ratio).
    Debray et al. (2017), BMJ 356, i6460 (standard error with the scores as given).

    Examples
    --------
    >>> oe_ratio(np.array([True, False, True, False]), np.array([0.9, 0.4, 0.9, 0.3])).value
    0.8
    """
    check(truth, score)
    z = normal_quantile(level)
    n, events, expected = len(score), int(truth.sum()), float(score.sum())
    if n == 0:
        return undefined(0, notes.NO_CASE, level=level, method=interval)
    if expected <= LEAST * n:
        return undefined(n, notes.NOTHING_EXPECTED, level=level, method=interval)
    value = events / expected
    details = {"observed": float(events), "expected": expected}
    if events in (0, n):
        note = notes.ALL_EVENTS if events else notes.NO_EVENT
        return Estimate(value, nan, nan, n, level, interval, note, details=details)
    if cluster is not None or interval == "oe_delta":
        influence = truth / events - score / expected
        return sandwich(
            value, influence, truth, cluster,
            null=1.0, scale="log", level=level, method=interval, details=details,
        )  # fmt: skip
    se = sqrt((1 - events / n) / events)
    factor = exp(z * se)
    p = two_sided_p(log(value) / se)
    return Estimate(value, value / factor, value * factor, n, level, "log_wald", se=se, p=p, details=details)
