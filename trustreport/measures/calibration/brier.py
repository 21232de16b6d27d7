"""Brier score and what it is made of."""

from math import nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import CHUNK, check, equal_width
from trustreport.measures.calibration.in_clusters import sandwich
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.proportion import normal_quantile

Interval = Literal["logit_t", "wald"]


def brier_parts(
    truth: NDArray[np.bool_], score: NDArray[np.float64], bins: int = 10
) -> tuple[float, dict[str, float]]:
    """Value and details of `brier`, which are those of every interval.

    >>> round(brier_parts(np.array([True, False, True]), np.array([0.9, 0.2, 0.6]))[0], 9)
    0.07
    """
    check(truth, score)
    n = len(score)
    second = fourth = 0.0
    for start in range(0, n, CHUNK):
        part = score[start : start + CHUNK].astype(np.float64, copy=False)  # sums are of 64 bits
        squared = (part - truth[start : start + CHUNK]) ** 2
        second += float(squared.sum())
        fourth += float(squared @ squared)
    value, fourth = second / n, fourth / n
    variance = max(0.0, fourth - value**2)
    if variance <= 1e-15 * fourth:
        variance = 0.0
    within = equal_width(truth, score, bins)
    filled = within.n > 0
    weight, observed, mean = within.n[filled] / n, within.observed[filled], within.mean_score[filled]
    prevalence = float(within.events.sum()) / n
    uncertainty = prevalence * (1 - prevalence)
    reliability = float(weight @ (mean - observed) ** 2)
    resolution = float(weight @ (observed - prevalence) ** 2)
    return value, {
        "variance_per_case": variance,
        "reliability": reliability,
        "resolution": resolution,
        "uncertainty": uncertainty,
        "within_bins": value - (reliability - resolution + uncertainty),
        "scaled": 1 - value / uncertainty if uncertainty else nan,
    }


def brier(
    truth: NDArray[np.bool_],
    score: NDArray[np.float64],
    *,
    bins: int = 10,
    interval: Interval = "wald",
    cluster: Clusters | None = None,
    level: float = 0.95,
    known: tuple[float, dict[str, float]] | None = None,
) -> Estimate:
    """Mean squared distance of the score from what was the case.

    ::

        Brier = mean (s - y)^2,   variance per case = mean (s - y)^4 - Brier^2
        wald:     Brier +- z sqrt(variance / n), cut at 0 and 1
        logit_t:  logit Brier +- t(n - 1) sqrt(variance / (n - 1)) / (Brier (1 - Brier)),   turned back

    Over equal-width bins with mean score c_b and share of events o_b, and phi the prevalence, it is made of::

        reliability = sum n_b / n (c_b - o_b)^2      what miscalibration adds
        resolution  = sum n_b / n (o_b - phi)^2      what telling cases apart takes off
        uncertainty = phi (1 - phi)                  the Brier score of the prevalence for everybody
        within bins = Brier - (reliability - resolution + uncertainty)

    Estimand: the same mean in the population.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
        True = condition present.
    score : float array, shape (n_cases,)
        Probability of the condition.
    bins : int
        For the parts only.
    interval : {"wald", "logit_t"}
        As above; the second is the primary one.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to: then the interval is that of `in_clusters.sandwich`
        on the logit scale.
    level : float in (0, 1)
    known : optional
        `brier_parts` of these cases, where they are at hand already.

    Returns
    -------
    Estimate
        In [0, 1], limits too, 0 = always right and sure, .25 = a coin; the parts in `details`, and `scaled` =
        1 - Brier / uncertainty. NaN with a note without cases; no limits with one, or where all errors are
        alike.

    Notes
    -----
    With 5 to 25 events in 30 to 250 cases ``logit_t`` covers in .94 to .96 of samples, ``wald`` in .89 to
    .94. Depends on the prevalence: compare sites by `scaled`, or beside their uncertainty.

    References
    ----------
    Brier (1950), Mon. Weather Rev. 78, 1-3.
    Murphy (1973), J. Appl. Meteorol. 12, 595-600; Stephenson, Coelho, Jolliffe (2008), Weather Forecast. 23,
    752-757 (within bins).

    Examples
    --------
    >>> brier(np.array([True, False, True]), np.array([0.9, 0.2, 0.6])).value
    0.07
    """
    check(truth, score)
    z = normal_quantile(level)
    n = len(score)
    if n == 0:
        return undefined(0, notes.NO_CASE, level=level, method=interval)
    value, details = known or brier_parts(truth, score, bins)
    variance = details["variance_per_case"]
    if cluster is not None:
        influence = ((score - truth) ** 2 - value) / n
        return sandwich(value, influence, truth, cluster, scale="logit", level=level, details=details)
    if n == 1:
        return Estimate(value, nan, nan, n, level, interval, notes.ONE_CASE, details=details)
    if interval == "wald":
        se = sqrt(variance / n)
        low, high = max(0.0, value - z * se), min(1.0, value + z * se)
        note = "" if se else notes.NO_SPREAD
        return Estimate(value, low, high, n, level, "wald", note, se=se, details=details)
    if not variance:
        return Estimate(value, nan, nan, n, level, interval, notes.ALIKE, details=details)
    se, df = sqrt(variance / (n - 1)), float(n - 1)
    half = quantile(df, level) * se / (value * (1 - value))
    low, high = (float(expit(logit(value) + end)) for end in (-half, half))
    return Estimate(value, low, high, n, level, interval, se=se, df=df, details=details)
