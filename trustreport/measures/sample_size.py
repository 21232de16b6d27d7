"""How many cases an external validation needs: exact, without simulation.

Each function gives the smallest number of cases with which the interval of its measure is at most `width`
wide (all of it, not half) if the stated values hold; rounded up, so never under the need.
"""

from dataclasses import dataclass
from math import asinh, ceil, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.proportion import normal_quantile

ONE_CLASS = note("no_sample_size_without_cases_both")
SEPARATED = note("area_0_or_1_has_no")
NO_VARIANCE = note("every_case_has_same_error_no_sample")
NOBODY_CALLED = note("nobody_called_positive_net_benefit_0")
ALL_RIGHT = note("every_call_right_net_benefit_has")
NO_SPREAD = note("scores_do_not_vary_slope_not")
EXTREME = note("score_0_or_1_was_moved")


def planning_quantile(level: float) -> float:
    """The z of the published formulas: 1.96 as printed for level .95, the exact quantile otherwise."""
    return 1.96 if level == 0.95 else normal_quantile(level)


def check_inputs(width: float, prevalence: float | None = None) -> None:
    """Refuse a width that is not positive and a prevalence outside [0, 1]."""
    if not width > 0:
        raise ValueError(f"width must be positive, got {width:g}.")
    if prevalence is not None and not 0 <= prevalence <= 1:
        raise ValueError(f"prevalence must lie in [0, 1], got {prevalence:g}.")


def needed(
    exact: float,
    target_se: float,
    *,
    n: int,
    width: float,
    level: float,
    method: str,
    note: Note = NO_NOTE,
    least: int = 1,
) -> Estimate:
    """The smallest whole number of cases that is not under `exact` (up to rounding of its last digits)."""
    cases = max(least, ceil(exact * (1 - 1e-12)))
    details = {"exact": exact, "target_se": target_se, "width": width}
    return Estimate(float(cases), float("nan"), float("nan"), n, level, method, note, details=details)


LEAST = 10


def mss_auc(
    auc: float, prevalence: float, *, width: float = 0.1, n: int = 0, level: float = 0.95
) -> Estimate:
    """Cases needed to know the area under the ROC curve to a given width.

    ::

        smallest n >= 10 with SE(n) <= width / (2 z)
        SE^2 = C (1 - C) [1 + (n / 2 - 1) g] / (n^2 phi (1 - phi)),   g = (1 - C) / (2 - C) + C / (1 + C)

    with phi the prevalence.

    Estimand: a planning value; it takes the area and the prevalence as known.

    Parameters
    ----------
    auc, prevalence : float in [0, 1]
        Expected, or found in the set at hand.
    width : float
        Of the whole interval.
    n : int
        Cases in the set at hand, carried into the result; 0 where there is none.

    Returns
    -------
    A whole number, without interval; NaN with a note for an area of 0 or 1 or a single class.

    References
    ----------
    Riley et al. (2021), Stat. Med. 40, 4230-4251, section 3.3.

    Examples
    --------
    >>> mss_auc(0.8, 0.018).value
    4252.0
    """
    check_inputs(width, prevalence)
    if not 0 <= auc <= 1:
        raise ValueError(f"auc must lie in [0, 1], got {auc:g}.")
    if prevalence in (0, 1):
        return undefined(n, ONE_CLASS, level=level, method="newcombe_se")
    if auc in (0, 1):
        return undefined(n, SEPARATED, level=level, method="newcombe_se")
    target = width / (2 * planning_quantile(level))
    # SE(n) = target is a quadratic in n: a n^2 - b n - c = 0, with one positive root.
    a = target**2 * prevalence * (1 - prevalence)
    b, c = auc * (1 - auc) * _g(auc) / 2, auc * (1 - auc) * (1 - _g(auc))
    exact = (b + sqrt(b * b + 4 * a * c)) / (2 * a)
    return needed(exact, target, n=n, width=width, level=level, method="newcombe_se", least=LEAST)


def _g(auc: float) -> float:
    return (1 - auc) / (2 - auc) + auc / (1 + auc)


LEAST_OF_A_CLASS = 10


def mss_brier(
    variance_per_case: float, prevalence: float, *, width: float = 0.05, n: int = 0, level: float = 0.95
) -> Estimate:
    """Cases needed to know the Brier score to a given width.

    ::

        n = variance x (2 z / width)^2, rounded up; at least 10 / min(prevalence, 1 - prevalence)

    with the variance over cases of their squared error (`variance_per_case` of `brier`). Where a class is
    rare nearly every error is small, and the width alone is reached by a handful of cases that may hold none
    of that class: ten of it are to be expected.

    Estimand: a planning value; it takes variance and prevalence as known.

    Parameters
    ----------
    variance_per_case : float
        Not negative.
    prevalence : float in [0, 1]
        Expected, or found in the set at hand.
    width, n, level
        As in `mss_auc`.

    Returns
    -------
    A whole number, without interval; NaN with a note when every case has the same error, or for a single
    class.

    References
    ----------
    The mean's normal interval; not among the criteria of Riley et al. (2021), whose rule it follows. The ten
    of the rarer class are a rule of this project.

    Examples
    --------
    >>> mss_brier(0.04139318872455269, 0.4).value
    255.0
    >>> mss_brier(0.001, 0.001).value
    10000.0
    """
    check_inputs(width, prevalence)
    if not variance_per_case >= 0:
        raise ValueError(f"variance_per_case must not be negative, got {variance_per_case:g}.")
    if prevalence in (0, 1):
        return undefined(n, ONE_CLASS, level=level, method="brier_se")
    if not variance_per_case:
        return undefined(n, NO_VARIANCE, level=level, method="brier_se")
    target = width / (2 * planning_quantile(level))
    exact = variance_per_case / target**2
    least = ceil(LEAST_OF_A_CLASS / min(prevalence, 1 - prevalence) * (1 - 1e-12))
    return needed(exact, target, n=n, width=width, level=level, method="brier_se", least=least)


INWARDS = 1e-8


@dataclass(frozen=True, slots=True)
class Information:
    """What one case tells of intercept and slope when the scores p are right, with L = logit(p).

    ``alpha`` = E[p (1 - p)], ``slope`` = E[L^2 p (1 - p)], ``both`` = E[L p (1 - p)].
    """

    alpha: float
    slope: float
    both: float
    note: Note = NO_NOTE


def information(score: NDArray[np.float64]) -> Information:
    """Of the scores of a set, which stand for those of the planned one; 0 and 1 move inwards by 1e-8."""
    if ((score < 0) | (score > 1) | np.isnan(score)).any():
        raise ValueError("scores must lie in [0, 1], without missing ones.")
    inside = np.clip(score, INWARDS, 1 - INWARDS)
    weight, predictor = inside * (1 - inside), logit(inside)
    return Information(
        float(weight.mean()),
        float((predictor**2 * weight).mean()),
        float((predictor * weight).mean()),
        EXTREME if ((score == 0) | (score == 1)).any() else NO_NOTE,
    )


def mss_calibration_slope(
    of_case: Information, *, width: float = 0.2, n: int = 0, level: float = 0.95
) -> Estimate:
    """Cases needed to know the calibration slope to a given width, if the true slope is 1.

    With Ia, Ib, Iab what one case tells (`Information`)::

        n = Ia / (SE^2 (Ia Ib - Iab^2)), rounded up,   SE = width / (2 z)

    Estimand: a planning value; it takes the distribution of the scores as known.

    Parameters
    ----------
    of_case : Information
        Such as `information` of the scores of a set.
    width, n, level
        As in `mss_auc`.

    Returns
    -------
    A whole number, without interval; NaN with a note when the scores do not vary.

    References
    ----------
    Riley et al. (2021), Stat. Med. 40, 4230-4251, section 3.2.

    Examples
    --------
    >>> mss_calibration_slope(Information(0.02, 0.1, -0.04)).value
    19208.0
    """
    check_inputs(width)
    target = width / (2 * planning_quantile(level))
    determinant = of_case.alpha * of_case.slope - of_case.both**2
    if not determinant > 1e-12 * of_case.alpha * of_case.slope:
        return undefined(n, NO_SPREAD, level=level, method="fisher_information")
    exact = of_case.alpha / (target**2 * determinant)
    return needed(
        exact, target, n=n, width=width, level=level, method="fisher_information", note=of_case.note
    )


def mss_net_benefit(
    sensitivity: float,
    specificity: float,
    prevalence: float,
    threshold: float,
    *,
    width: float = 0.2,
    n: int = 0,
    level: float = 0.95,
) -> Estimate:
    """Cases needed to know the standardised net benefit at a threshold to a given width.

    With phi the prevalence, t the threshold and w = (1 - phi) / phi x t / (1 - t)::

        V = sens (1 - sens) / phi + w^2 spec (1 - spec) / (1 - phi) + w^2 (1 - spec)^2 / (phi (1 - phi))
        n = V (2 z / width)^2, rounded up

    Estimand: a planning value; it takes the four quantities as known.

    Parameters
    ----------
    sensitivity, specificity, prevalence : float in [0, 1]
        Expected, or found in the set at hand at the threshold.
    threshold : float in [0, 1)
        Probability from which a case is called positive.
    width, n, level
        As in `mss_auc`.

    Returns
    -------
    A whole number, without interval; NaN with a note for a single class, when nobody is called positive
    and when every call is right.

    References
    ----------
    Riley et al. (2021), Stat. Med. 40, 4230-4251, section 3.4.

    Examples
    --------
    >>> mss_net_benefit(0.95, 0.35, 0.22, 0.1).value
    248.0
    """
    check_inputs(width, prevalence)
    for name, share in (("sensitivity", sensitivity), ("specificity", specificity)):
        # Undefined (NaN) where there is no case of the class; that is the single class below.
        if not 0 <= share <= 1 and 0 < prevalence < 1:
            raise ValueError(f"{name} must lie in [0, 1], got {share:g}.")
    if not 0 <= threshold < 1:
        raise ValueError(f"threshold must lie in [0, 1), got {threshold:g}.")
    if prevalence in (0, 1):
        return undefined(n, ONE_CLASS, level=level, method="net_benefit_se")
    if sensitivity == 0 and specificity == 1:
        return undefined(n, NOBODY_CALLED, level=level, method="net_benefit_se")
    w2 = ((1 - prevalence) / prevalence * threshold / (1 - threshold)) ** 2
    variance = (
        sensitivity * (1 - sensitivity) / prevalence
        + w2 * specificity * (1 - specificity) / (1 - prevalence)
        + w2 * (1 - specificity) ** 2 / (prevalence * (1 - prevalence))
    )
    if not variance:
        return undefined(n, ALL_RIGHT, level=level, method="net_benefit_se")
    target = width / (2 * planning_quantile(level))
    return needed(variance / target**2, target, n=n, width=width, level=level, method="net_benefit_se")


def mss_oe(
    prevalence: float, *, oe: float = 1.0, width: float = 0.2, n: int = 0, level: float = 0.95
) -> Estimate:
    """Cases needed to know observed over expected events to a given width.

    On the logarithmic scale, where the interval runs from O/E exp(-z SE) to O/E exp(z SE)::

        SE = asinh(width / (2 O/E)) / z
        n = (1 - phi) / (phi SE^2), rounded up,   phi the prevalence

    Estimand: a planning value; it takes prevalence and ratio as known.

    Parameters
    ----------
    prevalence : float in [0, 1]
    oe : float
        Expected ratio, positive.
    width, n, level
        As in `mss_auc`.

    Returns
    -------
    A whole number, without interval; NaN with a note for a single class.

    References
    ----------
    Riley et al. (2021), Stat. Med. 40, 4230-4251, section 3.1.

    Examples
    --------
    >>> mss_oe(0.018, width=1).value
    906.0
    """
    check_inputs(width, prevalence)
    if not oe > 0:
        raise ValueError(f"oe must be positive, got {oe:g}.")
    if prevalence in (0, 1):
        return undefined(n, ONE_CLASS, level=level, method="log_oe_se")
    target = asinh(width / (2 * oe)) / planning_quantile(level)
    exact = (1 - prevalence) / (prevalence * target**2)
    return needed(exact, target, n=n, width=width, level=level, method="log_oe_se")
