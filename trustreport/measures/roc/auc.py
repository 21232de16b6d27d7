"""Area under the ROC curve with DeLong's variance, by sorting."""

from math import inf, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr

from trustreport.measures.cluster import Order
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.roc import notes
from trustreport.measures.two_arm.difference import score_distance

Floats = NDArray[np.float64]


def check_scores(truth: NDArray[np.bool_], *scores: NDArray[Any]) -> None:
    """Refuse arrays that are not one number per case; NaN is no score."""
    for score in scores:
        if truth.ndim != 1 or score.shape != truth.shape:
            raise ValueError(
                "truth and score must have one entry per case each, "
                f"got shapes {truth.shape} and {score.shape}."
            )
        if score.dtype.kind == "f" and np.isnan(score).any():
            raise ValueError(
                f"{int(np.isnan(score).sum())} of {score.size} scores are missing: leave these cases out, "
                "or count them as indeterminate."
            )


def split(truth: NDArray[np.bool_], score: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores of the positives and of the negatives, in the order of the cases."""
    check_scores(truth, score)
    return score[truth], score[~truth]


def split_sorted(
    truth: NDArray[np.bool_], score: NDArray[Any], order: Order
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same, the lowest score first; `order` is `ascending(score)`."""
    check_scores(truth, score)
    return score[order[truth[order]]], score[order[~truth[order]]]


Area = tuple[float, float, int, int, Note]
"""What `area_and_variance` returns."""


def delong(
    truth: NDArray[np.bool_], score: NDArray[Any], *, level: float = 0.95, known: Area | None = None
) -> Estimate:
    """Chance that a case with the condition scores higher than one without it.

    With X_i the share of negatives that positive i outscores, Y_j the share of the positives that outscore
    negative j, ties counting half::

        AUC = mean X = mean Y
        V = var(X) / n1 + var(Y) / n0,   divisors n1 - 1 and n0 - 1
        AUC +- z sqrt(V)

    Estimand: P(score of a positive > score of a negative) + P(equal) / 2, cases sampled independently.

    Parameters
    ----------
    known : optional
        `area_and_variance` of these cases, where it is at hand already.

    Returns
    -------
    In [0, 1], limits not cut there; `n` counts cases, `details` positives and negatives, `p` tests .5.
    NaN with a note when a class is absent; no limits when a class has one case or the area is 0 or 1.

    Notes
    -----
    O(n log n) time, a few copies of the scores in memory. Covers in .43 to .95 of samples: `auc_logit_larger`
    is the primary interval.

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
    area, variance, n1, n0, note = known or area_and_variance(truth, score)
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


def logit_delong(
    truth: NDArray[np.bool_], score: NDArray[Any], *, level: float = 0.95, known: Area | None = None
) -> Estimate:
    """Area under the ROC curve as `delong`, the interval made on the logit scale and turned back.

    ::

        logit A +- z sqrt(V) / (A (1 - A))

    so that the limits stay in (0, 1) and fit small classes better; p tests an area of .5 on the same scale.
    Parameters and result as in `delong`.

    References
    ----------
    Pepe (2003), The Statistical Evaluation of Medical Tests, section 5.2.

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> print(logit_delong(truth, np.array([1, 2, 2, 3, 2, 3, 4, 5])))
    0.84 (95% CI 0.40 to 0.98; n = 8)
    """
    area, variance, n1, n0, note = known or area_and_variance(truth, score)
    details = {"positives": float(n1), "negatives": float(n0)}
    if area != area:
        return undefined(n1 + n0, note, level=level, method="logit_delong")
    check_level(level)
    if note:
        return Estimate(area, nan, nan, n1 + n0, level, "logit_delong", note, details=details)
    se = sqrt(variance)
    low, high, p = on_logit_scale(area, se, inf, level)
    return Estimate(area, low, high, n1 + n0, level, "logit_delong", se=se, p=p, details=details)


AUC_LARGER, AUC_NEWCOMBE = "auc_logit_larger", "auc_newcombe"


def auc_logit_larger(
    truth: NDArray[np.bool_], score: NDArray[Any], *, level: float = 0.95, known: Area | None = None
) -> Estimate:
    """Area under the ROC curve, on the logit scale with the larger of two variances: the primary interval.

    With V DeLong's variance (`delong`) and, m = (n1 + n0) / 2 - 1, that of exponential scores, both classes
    treated alike::

        H = A (1 - A) (1 + m (1 - A) / (2 - A) + m A / (1 + A)) / (n1 n0)
        logit A +- z sqrt(max(V, H)) / (A (1 - A)),   turned back

    Where the area is 0 or 1 the interval is that of `newcombe_auc`, which rests on H alone.

    Estimand and parameters: as `delong`.

    Returns
    -------
    In [0, 1], limits too: ``auc_logit_larger``, or ``auc_newcombe`` at 0 and 1; p of an area of .5 by the
    test that the interval inverts. NaN with a note when a class is absent; no limits when a class has one
    case or every pair counts alike.

    Notes
    -----
    DeLong's variance, estimated from few cases of a class, is often much too small: by itself it covers in
    .56 to .97 of samples on this scale, the larger one in .93 to .99 (5 to 30 cases of the rarer class, areas
    .60 to .97, equal and unequal spreads, five-point scores).

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.
    Hanley, McNeil (1982), Radiology 143, 29-36; Newcombe (2006), Stat. Med. 25, 559-573, method 5 (both
    classes alike).

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> print(auc_logit_larger(truth, np.array([1, 2, 2, 3, 2, 3, 4, 5])))
    0.84 (95% CI 0.36 to 0.98; n = 8)
    """
    area, variance, n1, n0, note = known or area_and_variance(truth, score)
    check_level(level)
    details = {"positives": float(n1), "negatives": float(n0)}
    if area != area:
        return undefined(n1 + n0, note, level=level, method=AUC_LARGER)
    if note == notes.PERFECT:
        low, high, p = newcombe_limits(area, n1, n0, inf, level)
        return Estimate(area, low, high, n1 + n0, level, AUC_NEWCOMBE, p=p, details=details)
    if note:
        return Estimate(area, nan, nan, n1 + n0, level, AUC_LARGER, note, details=details)
    se = sqrt(max(variance, exponential_variance(area, n1, n0)))
    low, high, p = on_logit_scale(area, se, inf, level)
    return Estimate(area, low, high, n1 + n0, level, AUC_LARGER, se=se, p=p, details=details)


def on_logit_scale(area: float, se: float, df: float, level: float) -> tuple[float, float, float]:
    """Limits of an area by its standard error on the logit scale, and the p of an area of one half."""
    scaled, centre = se / (area * (1 - area)), float(logit(area))
    half = quantile(df, level) * scaled
    return float(expit(centre - half)), float(expit(centre + half)), two_sided_p(centre / scaled, df)


def newcombe_limits(area: float, n1: float, n0: float, df: float, level: float) -> tuple[float, float, float]:
    """Limits of `newcombe_auc` from an area and the numbers of cases, and the p of an area of one half."""
    z = quantile(df, level)
    low = area - score_distance(lambda h: exponential_variance(area - h, n1, n0), z, area)
    high = area + score_distance(lambda h: exponential_variance(area + h, n1, n0), z, 1 - area)
    return low, min(high, 1.0), two_sided_p((area - 0.5) / sqrt(exponential_variance(0.5, n1, n0)), df)


def exponential_variance(area: float, n1: float, n0: float) -> float:
    """Variance of the area that Hanley and McNeil derive for exponential scores, both classes alike."""
    m = (n1 + n0) / 2 - 1
    return area * (1 - area) * (1 + m * (1 - area) / (2 - area) + m * area / (1 + area)) / (n1 * n0)


def newcombe_auc(
    truth: NDArray[np.bool_], score: NDArray[Any], *, level: float = 0.95, known: Area | None = None
) -> Estimate:
    """Area under the ROC curve with limits that also hold for few cases and for a perfect separation.

    The limits are the two areas C that solve, with m = (n1 + n0) / 2 - 1::

        |AUC - C| = z sqrt(C (1 - C) (1 + m (1 - C) / (2 - C) + m C / (1 + C)) / (n1 n0))

    the variance that Hanley and McNeil derive for exponential scores, both classes treated alike. Parameters
    as in `delong`.

    Returns
    -------
    In [0, 1], limits too; p of an area of .5 by the same score; NaN with a note when a class is absent.

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
    check_level(level)
    area, _, n1, n0, note = known or area_and_variance(truth, score)
    details = {"positives": float(n1), "negatives": float(n0)}
    if n1 == 0 or n0 == 0:
        return undefined(n1 + n0, note, level=level, method="newcombe_auc")
    low, high, p = newcombe_limits(area, n1, n0, inf, level)
    return Estimate(area, low, high, n1 + n0, level, "newcombe_auc", p=p, details=details)


def area_and_variance(truth: NDArray[np.bool_], score: NDArray[Any], *, order: Order | None = None) -> Area:
    """Area, DeLong's variance, positives, negatives, and why there is no area or no variance.

    `order` is `ascending(score)`, where it is at hand already.
    """
    positive, negative = split(truth, score) if order is None else split_sorted(truth, score, order)
    n1, n0 = len(positive), len(negative)
    if n1 == 0 or n0 == 0:
        return nan, nan, n1, n0, notes.NO_NEGATIVE if n1 else notes.NO_POSITIVE
    if order is None:
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
    return area, variance, n1, n0, NO_NOTE if variance > 0 else notes.ALL_PAIRS_ALIKE


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
