"""Calibration and accuracy of all cases in one number: the Brier score, observed over expected events."""

from math import exp, log, nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import CHUNK, check, equal_width, sandwich
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.note import NO_NOTE
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
    bins : int
        For the parts only.
    interval : {"wald", "logit_t"}
        As above; the second is the primary one.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to: then the interval is that of `in_clusters.sandwich`
        on the logit scale.
    known : optional
        `brier_parts` of these cases, where they are at hand already.

    Returns
    -------
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
        note = NO_NOTE if se else notes.NO_SPREAD
        return Estimate(value, low, high, n, level, "wald", note, se=se, details=details)
    if not variance:
        return Estimate(value, nan, nan, n, level, interval, notes.ALIKE, details=details)
    se, df = sqrt(variance / (n - 1)), float(n - 1)
    half = quantile(df, level) * se / (value * (1 - value))
    low, high = (float(expit(logit(value) + end)) for end in (-half, half))
    return Estimate(value, low, high, n, level, interval, se=se, df=df, details=details)


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
    interval : {"log_wald", "oe_delta"}
        As above; the second is the primary one.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to: then the interval is that of `in_clusters.sandwich`.

    Returns
    -------
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
