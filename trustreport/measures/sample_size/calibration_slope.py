"""Cases needed for the calibration slope."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import beta, digamma, expit, logit, polygamma

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.sample_size import notes
from trustreport.measures.sample_size.target import check_inputs, needed, planning_quantile

INWARDS = 1e-8


@dataclass(frozen=True, slots=True)
class Information:
    """What one case tells of intercept and slope when the scores p are right, with L = logit(p).

    ``alpha`` = E[p (1 - p)], ``slope`` = E[L^2 p (1 - p)], ``both`` = E[L p (1 - p)].
    """

    alpha: float
    slope: float
    both: float
    note: str = ""


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
        notes.EXTREME if ((score == 0) | (score == 1)).any() else "",
    )


def information_normal(mean: float, sd: float) -> Information:
    """Of scores whose logit is normal: by the trapezoidal rule, exact to rounding for smooth integrands."""
    if not sd > 0:
        raise ValueError(f"sd must be positive, got {sd:g}.")
    step = min(0.05, 0.2 / sd)  # far under the distance pi / sd of the integrand's nearest pole
    z = np.arange(-9.5, 9.5 + step, step)
    density = np.exp(-(z**2) / 2) * step / np.sqrt(2 * np.pi)
    predictor = mean + sd * z
    weight = density * expit(predictor) * expit(-predictor)
    return Information(
        float(weight.sum()), float((predictor**2 * weight).sum()), float((predictor * weight).sum())
    )


def information_beta(a: float, b: float) -> Information:
    """Of scores with a beta distribution: p (1 - p) makes it another one, whose logit has known moments."""
    if not (a > 0 and b > 0):
        raise ValueError(f"a and b must be positive, got {a:g} and {b:g}.")
    alpha = float(beta(a + 1, b + 1) / beta(a, b))
    mean = float(digamma(a + 1) - digamma(b + 1))
    variance = float(polygamma(1, a + 1) + polygamma(1, b + 1))
    return Information(alpha, alpha * (variance + mean**2), alpha * mean)


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
        From `information` (the scores of a set), `information_normal` or `information_beta`.
    width, n, level
        As in `mss_auc`.

    Returns
    -------
    Estimate
        A whole number, without interval; NaN with a note when the scores do not vary.

    References
    ----------
    Riley et al. (2021), Stat. Med. 40, 4230-4251, section 3.2.

    Examples
    --------
    >>> mss_calibration_slope(information_normal(-5, 2.5)).value
    4554.0
    """
    check_inputs(width)
    target = width / (2 * planning_quantile(level))
    determinant = of_case.alpha * of_case.slope - of_case.both**2
    if not determinant > 1e-12 * of_case.alpha * of_case.slope:
        return undefined(n, notes.NO_SPREAD, level=level, method="fisher_information")
    exact = of_case.alpha / (target**2 * determinant)
    return needed(
        exact, target, n=n, width=width, level=level, method="fisher_information", note=of_case.note
    )
