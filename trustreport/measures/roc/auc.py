"""Area under the ROC curve with DeLong's variance, by sorting."""

from math import exp, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from trustreport.estimate import Estimate, undefined
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.roc import notes
from trustreport.measures.roc.scores import Floats, split
from trustreport.measures.two_arm.score import score_distance


def delong(truth: NDArray[np.bool_], score: NDArray[Any], *, level: float = 0.95) -> Estimate:
    """Chance that a case with the condition scores higher than one without it.

    With X_i the share of negatives that positive i outscores, Y_j the share of positives that outscore
    negative j, ties counting half::

        AUC = mean X = mean Y
        V = var(X) / n1 + var(Y) / n0,   divisors n1 - 1 and n0 - 1
        AUC +- z sqrt(V)

    Estimand: P(score of a positive > score of a negative) + P(equal) / 2, cases sampled independently.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
        True = condition present.
    score : array of numbers, shape (n_cases,)
        Higher = more suspicious; no NaN.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [0, 1], limits not cut there; `n` counts cases, `details` positives and negatives, `p` tests .5.
        NaN with a note when a class is absent; no limits when a class has one case or the area is 0 or 1.

    Notes
    -----
    O(n log n) time, a few copies of the scores in memory. Under 30 cases in a class prefer `logit_delong`.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.
    Sun, Xu (2014), IEEE Signal Process. Lett. 21, 1389-1393 (by ranks).

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> print(delong(truth, np.array([1, 2, 2, 3, 2, 3, 4, 5])))
    0.84 (95% CI 0.57 to 1.12; n = 8)
    """
    area, variance, n1, n0, note = area_and_variance(truth, score)
    details = {"positives": float(n1), "negatives": float(n0)}
    if area != area:
        return undefined(n1 + n0, note, level=level, method="delong")
    z = normal_quantile(level)
    if note:
        return Estimate(area, nan, nan, n1 + n0, level, "delong", note, details=details)
    se = sqrt(variance)
    return Estimate(
        area, area - z * se, area + z * se, n1 + n0, level, "delong", se=se, p=_p(area, se), details=details
    )


def logit_delong(truth: NDArray[np.bool_], score: NDArray[Any], *, level: float = 0.95) -> Estimate:
    """Area under the ROC curve as `delong`, the interval made on the logit scale and turned back.

    ::

        logit A +- z sqrt(V) / (A (1 - A))

    so that the limits stay in (0, 1) and fit small classes better. Parameters and result as in `delong`.

    References
    ----------
    Pepe (2003), The Statistical Evaluation of Medical Tests, section 5.2.

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> print(logit_delong(truth, np.array([1, 2, 2, 3, 2, 3, 4, 5])))
    0.84 (95% CI 0.40 to 0.98; n = 8)
    """
    area, variance, n1, n0, note = area_and_variance(truth, score)
    details = {"positives": float(n1), "negatives": float(n0)}
    if area != area:
        return undefined(n1 + n0, note, level=level, method="logit_delong")
    z = normal_quantile(level)
    if note:
        return Estimate(area, nan, nan, n1 + n0, level, "logit_delong", note, details=details)
    se = sqrt(variance)
    half = z * se / (area * (1 - area))
    centre = log(area / (1 - area))
    low, high = (1 / (1 + exp(-end)) for end in (centre - half, centre + half))
    return Estimate(area, low, high, n1 + n0, level, "logit_delong", se=se, p=_p(area, se), details=details)


def newcombe_auc(truth: NDArray[np.bool_], score: NDArray[Any], *, level: float = 0.95) -> Estimate:
    """Area under the ROC curve with limits that also hold for few cases and for a perfect separation.

    The limits are the two areas C that solve, with m = (n1 + n0) / 2 - 1::

        |AUC - C| = z sqrt(C (1 - C) (1 + m (1 - C) / (2 - C) + m C / (1 + C)) / (n1 n0))

    the variance that Hanley and McNeil derive for exponential scores, both classes treated alike. Parameters
    as in `delong`.

    Returns
    -------
    Estimate
        In [0, 1], limits too; NaN with a note when a class is absent.

    Notes
    -----
    Uses no variance of these scores, so it neither needs several cases nor notices unequal spreads.

    References
    ----------
    Newcombe (2006), Stat. Med. 25, 559-573, method 5.
    Hanley, McNeil (1982), Radiology 143, 29-36.

    Examples
    --------
    >>> print(newcombe_auc(np.arange(20) > 12, np.arange(20)))
    1.00 (95% CI 0.78 to 1.00; n = 20)
    """
    positive, negative = split(truth, score)
    n1, n0 = len(positive), len(negative)
    z = normal_quantile(level)
    details = {"positives": float(n1), "negatives": float(n0)}
    if n1 == 0 or n0 == 0:
        note = notes.NO_NEGATIVE if n1 else notes.NO_POSITIVE
        return undefined(n1 + n0, note, level=level, method="newcombe_auc")
    positive.sort()
    negative.sort()
    area = int(_won(positive, negative).sum()) / (2 * n1 * n0)
    m = (n1 + n0) / 2 - 1

    def variance(c: float) -> float:
        return c * (1 - c) * (1 + m * (1 - c) / (2 - c) + m * c / (1 + c)) / (n1 * n0)

    low = area - score_distance(lambda h: variance(area - h), z, area)
    high = area + score_distance(lambda h: variance(area + h), z, 1 - area)
    return Estimate(area, low, min(high, 1.0), n1 + n0, level, "newcombe_auc", details=details)


def area_and_variance(truth: NDArray[np.bool_], score: NDArray[Any]) -> tuple[float, float, int, int, str]:
    """Area, DeLong's variance, positives, negatives, and why there is no area or no variance."""
    positive, negative = split(truth, score)
    n1, n0 = len(positive), len(negative)
    if n1 == 0 or n0 == 0:
        return nan, nan, n1, n0, notes.NO_NEGATIVE if n1 else notes.NO_POSITIVE
    positive.sort()
    negative.sort()
    won = _won(positive, negative)
    area = int(won.sum()) / (2 * n1 * n0)
    if min(n1, n0) < 2:
        return area, nan, n1, n0, notes.ONE_CASE
    variance = _variance(won, n0) / n1
    del won  # half of the memory that a set of many millions needs
    variance += _variance(_won(negative, positive), n1) / n0
    if area in (0.0, 1.0):
        return area, variance, n1, n0, notes.PERFECT
    return area, variance, n1, n0, "" if variance > 0 else notes.ALL_PAIRS_ALIKE


def _won(of: NDArray[Any], against: NDArray[Any]) -> NDArray[np.int64]:
    """Twice the number of the others that each outscores, ties counting half; both sorted."""
    won = np.searchsorted(against, of, "left")
    won += np.searchsorted(against, of, "right")
    return won.astype(np.int64, copy=False)


def _variance(won: NDArray[np.int64], n: int) -> float:
    return float(np.var(won, ddof=1)) / (4 * n * n)


def placements(truth: NDArray[np.bool_], score: NDArray[Any]) -> tuple[Floats, Floats]:
    """X of each positive and Y of each negative (see `delong`), in the order of the cases."""
    positive, negative = split(truth, score)
    up, down = np.argsort(positive), np.argsort(negative)
    of_positive, of_negative = np.empty(len(positive)), np.empty(len(negative))
    of_positive[up] = _won(positive[up], negative[down]) / (2 * len(negative))
    of_negative[down] = 1 - _won(negative[down], positive[up]) / (2 * len(positive))
    return of_positive, of_negative


def _p(area: float, se: float) -> float:
    """Two-sided, against an area of one half."""
    return float(2 * ndtr(-abs(area - 0.5) / se))
