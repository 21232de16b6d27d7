"""Recalibration by logistic regression: intercept (calibration in the large) and slope."""

from collections.abc import Callable
from math import inf, nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from trustreport.estimate import Estimate, undefined
from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import check
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.proportion import normal_quantile

Floats = NDArray[np.float64]
Interval = Literal["wald", "profile"]
INWARDS = 1e-8
STEPS = 100


def calibration_intercept(
    truth: NDArray[np.bool_], score: Floats, *, interval: Interval = "wald", level: float = 0.95
) -> Estimate:
    """By how much the log odds of all scores must move for the expected events to match the observed.

    ::

        logit P(event) = a + logit(s),   a by maximum likelihood

    Estimand: calibration in the large of the population's cases.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
        True = condition present.
    score : float array, shape (n_cases,)
        Probability of the condition; 0 and 1 move inwards by 1e-8, which the note says.
    interval : {"wald", "profile"}
        By the curvature of the likelihood, or by the likelihood itself (better with few events).
    level : float in (0, 1)

    Returns
    -------
    Estimate
        0 = right on average, positive: the scores are too low. p of an intercept of 0. NaN with a note
        without cases of both classes.

    Notes
    -----
    Not the intercept fitted together with the slope, which some software prints under this name; that one is
    among the details of `calibration_slope`.

    References
    ----------
    Cox (1958), Biometrika 45, 562-565.
    Van Calster et al. (2016), J. Clin. Epidemiol. 74, 167-176.

    Examples
    --------
    >>> truth, score = np.array([True, False, True, True]), np.array([0.5, 0.5, 0.5, 0.5])
    >>> round(calibration_intercept(truth, score).value, 6)  # ln 3
    1.098612
    """
    check(truth, score)
    if why := _undefined(truth):
        return undefined(len(score), why, level=level, method=interval)
    predictor, note = _logits(score)
    none = np.zeros((len(score), 0))
    fit = _fit(truth, none, predictor)
    if fit is None:
        return undefined(len(score), notes.NO_CONVERGENCE, level=level, method=interval)
    (value,), information = fit
    se = 1 / sqrt(information[0, 0])

    def likelihood(a: float) -> float:
        return _likelihood(truth, a + predictor)

    return _estimate(value, se, likelihood, 0.0, len(score), interval, level, note, {})


def calibration_slope(
    truth: NDArray[np.bool_], score: Floats, *, interval: Interval = "wald", level: float = 0.95
) -> Estimate:
    """By how much the spread of the scores' log odds would have to be stretched to match what was observed.

    ::

        logit P(event) = a + b logit(s),   b by maximum likelihood

    Estimand: the slope over the population's cases.

    Parameters
    ----------
    truth, score, interval, level
        As in `calibration_intercept`.

    Returns
    -------
    Estimate
        1 = right; under 1 the scores are too extreme, over 1 not extreme enough. p of a slope of 1; the
        intercept of the same fit in `details`. NaN with a note without cases of both classes, when all scores
        are alike and when the scores separate the classes.

    References
    ----------
    Cox (1958), Biometrika 45, 562-565.
    Van Calster et al. (2016), J. Clin. Epidemiol. 74, 167-176.

    Examples
    --------
    >>> truth = np.array([False, False, True, False, True, True])
    >>> print(calibration_slope(truth, np.array([0.1, 0.3, 0.4, 0.6, 0.7, 0.9])))
    1.50 (95% CI -0.93 to 3.94; n = 6)
    """
    check(truth, score)
    why = _undefined(truth)
    if not why and score.min() == score.max():
        why = notes.CONSTANT_SCORE
    if not why and (score[~truth].max() <= score[truth].min() or score[truth].max() <= score[~truth].min()):
        why = notes.SEPARATED
    if why:
        return undefined(len(score), why, level=level, method=interval)
    predictor, note = _logits(score)
    fit = _fit(truth, predictor[:, None], np.zeros(len(score)))
    if fit is None:
        return undefined(len(score), notes.NO_CONVERGENCE, level=level, method=interval)
    (intercept, value), information = fit
    se = sqrt(np.linalg.inv(information)[1, 1])
    none = np.zeros((len(score), 0))

    def likelihood(b: float) -> float:
        inner = _fit(truth, none, b * predictor)
        return -inf if inner is None else _likelihood(truth, inner[0][0] + b * predictor)

    return _estimate(
        value, se, likelihood, 1.0, len(score), interval, level, note, {"intercept": float(intercept)}
    )


def _undefined(truth: NDArray[np.bool_]) -> str:
    if not truth.size:
        return notes.NO_CASE
    return notes.ONE_CLASS if truth.all() or not truth.any() else ""


def _logits(score: Floats) -> tuple[Floats, str]:
    inside = np.clip(score, INWARDS, 1 - INWARDS)
    return logit(inside), notes.CLIPPED if score.min() < INWARDS or score.max() > 1 - INWARDS else ""


def _likelihood(truth: NDArray[np.bool_], predictor: Floats) -> float:
    return -float(np.logaddexp(0.0, np.where(truth, -predictor, predictor)).sum())


def _fit(truth: NDArray[np.bool_], columns: Floats, offset: Floats) -> tuple[Floats, Floats] | None:
    """Coefficients (intercept first) and their information, by Newton's method with halved steps."""
    design = np.column_stack([np.ones(len(truth)), columns])
    coefficients = np.zeros(design.shape[1])
    reached = _likelihood(truth, offset)
    for _ in range(STEPS):
        p = expit(design @ coefficients + offset)
        information = (design * (p * (1 - p))[:, None]).T @ design
        try:
            step = np.linalg.solve(information, design.T @ (truth - p))
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(step).all():
            return None
        for _ in range(STEPS):
            likelihood = _likelihood(truth, design @ (coefficients + step) + offset)
            if likelihood >= reached - 1e-9 * abs(reached):
                break
            step = step / 2
        coefficients, reached = coefficients + step, likelihood
        if np.abs(step).max() <= 1e-10 * max(1.0, np.abs(coefficients).max()):
            p = expit(design @ coefficients + offset)
            return coefficients, (design * (p * (1 - p))[:, None]).T @ design
    return None


def _estimate(
    value: float,
    se: float,
    likelihood: Callable[[float], float],
    null: float,
    n: int,
    interval: Interval,
    level: float,
    note: str,
    details: dict[str, float],
) -> Estimate:
    z = normal_quantile(level)
    value = float(value)
    if interval == "wald":
        p = two_sided_p((value - null) / se)
        return Estimate(
            value, value - z * se, value + z * se, n, level, "wald", note, se=se, p=p, details=details
        )
    top = likelihood(value)

    def drop(at: float) -> float:
        return 2 * (top - likelihood(at)) - z * z

    low, high = (_crossing(drop, value, sign * z * se) for sign in (-1, 1))
    p = two_sided_p(sqrt(max(0.0, 2 * (top - likelihood(null)))))
    return Estimate(value, low, high, n, level, "profile", note, se=se, p=p, details=details)


def _crossing(drop: Callable[[float], float], start: float, step: float) -> float:
    """Where the likelihood has dropped to the limit, looking from `start` in the direction of `step`."""
    for _ in range(60):
        if drop(start + step) > 0:
            return float(brentq(drop, start, start + step, xtol=1e-12, rtol=1e-12))
        step *= 1.5
    return nan
