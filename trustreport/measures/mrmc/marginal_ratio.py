"""Ratios of two arms' marginal rates with the interval of the reader study: delta method on the log scale."""

from math import exp, inf, isinf, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, quantile, two_sided_p


def or_delta(
    compared: float,
    baseline: float,
    covariance: NDArray[np.float64],
    n: int,
    *,
    df: float = inf,
    level: float = 0.95,
    note: str = "",
) -> Estimate:
    """Marginal odds ratio of two arms, odds(compared) / odds(baseline), with a delta-method interval.

    With p, q the rates of the two arms and V their covariance matrix::

        log OR = logit p - logit q
        Var = V_pp / (p (1-p))^2 + V_qq / (q (1-q))^2 - 2 V_pq / (p (1-p) q (1-q))
        interval: exp(log OR +- quantile x sqrt(Var))

    Estimand: ratio of the odds of an event in the two arms over all readers and cases; neither the odds
    ratio within one pair of readings (matched) nor within one reader and case (mixed model), which are
    farther from 1.

    Parameters
    ----------
    compared, baseline : float in [0, 1]
        Rates of the event: of error, for the odds ratio of a report.
    covariance : float array, shape (2, 2)
        Of both rates, compared first: `mean_covariance` of an Obuchowski-Rockette fit or of a U-statistic.
    n : int
        Readings of one arm.
    df : float
        Degrees of freedom of the difference (`reference_df`); infinite: normal.
    note : str
        What to carry along, such as that of the difference.

    Returns
    -------
    Estimate
        In (0, inf); 0 or infinite without limits where one cell is empty, NaN where both arms are; each
        with a note.

    References
    ----------
    Agresti (2013), Categorical Data Analysis, 3rd ed., section 16.1 (delta method).

    Examples
    --------
    >>> print(or_delta(0.2, 0.3, np.array([[4e-4, 2e-4], [2e-4, 5e-4]]), 500))
    0.58 (95% CI 0.46 to 0.74; n = 500)
    """
    check_level(level)
    if compared == baseline and compared in (0.0, 1.0):
        why = notes.NO_EVENT_EITHER if compared == 0 else notes.ALL_EVENTS_EITHER
        return undefined(n, why, level=level, method="or_delta")
    if {compared, baseline} & {0.0, 1.0}:
        value = 0.0 if compared == 0 or baseline == 1 else inf
        return no_interval(value, n, notes.ZERO_CELL, level=level, method="or_delta")
    value = log(compared / (1 - compared)) - log(baseline / (1 - baseline))
    slope = np.array([1 / (compared * (1 - compared)), -1 / (baseline * (1 - baseline))])
    return _log_scale(value, float(slope @ covariance @ slope), n, df, level, "or_delta", note)


def rr_delta(
    compared: float,
    baseline: float,
    covariance: NDArray[np.float64],
    n: int,
    *,
    df: float = inf,
    level: float = 0.95,
    note: str = "",
) -> Estimate:
    """Ratio of two arms' rates, compared / baseline, with a delta-method interval on the log scale.

    ::

        Var log RR = V_pp / p^2 + V_qq / q^2 - 2 V_pq / (p q)

    Parameters, result and source as in `or_delta`.

    Examples
    --------
    >>> print(rr_delta(0.2, 0.3, np.array([[4e-4, 2e-4], [2e-4, 5e-4]]), 500))
    0.67 (95% CI 0.55 to 0.80; n = 500)
    """
    check_level(level)
    if compared == baseline == 0:
        return undefined(n, notes.NO_EVENT_EITHER, level=level, method="rr_delta")
    if compared == 0 or baseline == 0:
        value = 0.0 if compared == 0 else inf
        return no_interval(value, n, notes.ZERO_CELL, level=level, method="rr_delta")
    slope = np.array([1 / compared, -1 / baseline])
    return _log_scale(
        log(compared / baseline), float(slope @ covariance @ slope), n, df, level, "rr_delta", note
    )


def _log_scale(
    value: float, variance: float, n: int, df: float, level: float, method: str, note: str
) -> Estimate:
    if not variance > NEGLIGIBLE:
        why = notes.join(note, notes.NO_LOG_VARIANCE)
        return no_interval(exp(value), n, why, level=level, method=method)
    if not df >= 1:
        return no_interval(exp(value), n, notes.join(note, notes.NO_DF), level=level, method=method)
    se = sqrt(variance)
    half = quantile(df, level) * se
    return Estimate(
        exp(value),
        exp(value - half),
        exp(value + half),
        n,
        level,
        method,
        note,
        se=nan,
        df=nan if isinf(df) else df,
        p=two_sided_p(value / se, df),
        details={"log_se": se},
    )
