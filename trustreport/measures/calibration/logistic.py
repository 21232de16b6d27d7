"""Recalibration by logistic regression: intercept (calibration in the large) and slope.

Not statsmodels' GLM, whose estimates are the same: it takes two to four times as long, resamples and sites
ask for thousands of fits, and of classes that the score separates it gives numbers, with a warning.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import check, sandwich
from trustreport.measures.cluster import Clusters, filled, sums
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.proportion import normal_quantile

Floats = NDArray[np.float64]
Interval = Literal["wald", "profile", "sandwich"]
INWARDS = 1e-8
STEPS = 100
ALIKE = 1e-13  # of their size: what differs less, differs by rounding


@dataclass(frozen=True, slots=True)
class FittedIntercept:
    """The log odds of the scores, what was done to those of 0 and 1, and the intercept fitted to them."""

    predictor: Floats
    note: Note
    value: float


def fitted_intercept(truth: NDArray[np.bool_], score: Floats) -> FittedIntercept | None:
    """What every interval of `calibration_intercept` starts from; None without cases of both classes.

    >>> truth, score = np.array([True, False, True, True]), np.array([0.5, 0.5, 0.5, 0.5])
    >>> round(fitted_intercept(truth, score).value, 6)
    1.098612
    """
    check(truth, score)
    if _undefined(truth):
        return None
    predictor, note = _logits(score)
    return FittedIntercept(predictor, note, _intercept(truth, predictor))


def calibration_intercept(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    interval: Interval = "wald",
    cluster: Clusters | None = None,
    level: float = 0.95,
    known: FittedIntercept | None = None,
) -> Estimate:
    """By how much the log odds of all scores must move for the expected events to match the observed.

    ::

        logit P(event) = a + logit(s),   a by maximum likelihood

    Estimand: calibration in the large of the population's cases.

    Parameters
    ----------
    score : float array, shape (n_cases,)
        Probability of the condition; 0 and 1 move inwards by 1e-8, which the note says.
    interval : {"wald", "profile", "sandwich"}
        By the curvature of the likelihood, by the likelihood itself, or from what each case contributes
        (`in_clusters.sandwich`), which also covers where the slope is not 1.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to: then the interval is that of `in_clusters.sandwich`.
    known : optional
        `fitted_intercept` of these cases, where it is at hand already.

    Returns
    -------
    0 = right on average, positive: the scores are too low. p of an intercept of 0. NaN with a note
    without cases of both classes.

    Notes
    -----
    Where the slope is .5 or .6 the Wald interval covers in .86 to .93 of samples, the sandwich in .94 to .95;
    of right scores both do in .95 to .97. Not the intercept fitted together with the slope, which some
    software prints under this name; that one is among the details of `calibration_slope`.

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
    known = known or fitted_intercept(truth, score)
    if known is None:
        return undefined(len(score), _undefined(truth), level=level, method=interval)
    predictor, note, value = known.predictor, known.note, known.value

    def weight(of: slice) -> tuple[Floats]:
        p = expit(value + predictor[of])
        return (p * (1 - p),)

    information = float(sums(len(truth), weight)[0])
    if cluster is not None or interval == "sandwich":
        influence = filled(len(truth), lambda of: (truth[of] - expit(value + predictor[of])) / information)
        return sandwich(float(value), influence, truth, cluster, null=0.0, level=level, note=note)
    se = 1 / sqrt(information)

    def likelihood(a: float) -> float:
        return _likelihood(truth, a + predictor)

    return _estimate(value, se, likelihood, 0.0, len(score), interval, level, note, {})


def calibration_slope(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    interval: Interval = "wald",
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """By how much the spread of the scores' log odds would have to be stretched to match what was observed.

    ::

        logit P(event) = a + b logit(s),   b by maximum likelihood

    Estimand: the slope over the population's cases.

    Parameters
    ----------
    truth, score, interval, cluster, level
        As in `calibration_intercept`; with clusters the variance is not below Wald's times the design effect.

    Returns
    -------
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
    if why := _undefined(truth):
        return undefined(len(score), why, level=level, method=interval)
    predictor, note = _logits(score)  # scores next to 0 are alike once they are moved inwards
    if np.ptp(predictor) <= ALIKE * np.abs(predictor).max():
        return undefined(len(score), notes.CONSTANT_SCORE, level=level, method=interval)
    if _separated(predictor[truth], predictor[~truth]):
        return undefined(len(score), notes.SEPARATED, level=level, method=interval)
    fit = _line(truth, predictor, overwrite=cluster is None and interval == "wald")
    if fit is None:
        return undefined(len(score), notes.NO_CONVERGENCE, level=level, method=interval)
    intercept, value, se = fit
    details = {"intercept": float(intercept)}
    if cluster is not None or interval == "sandwich":
        influence = _slope_influence(truth, predictor, intercept, value)
        return sandwich(
            float(value), influence, truth, cluster,
            null=1.0, independent=se * se, level=level, note=note, details=details,
        )  # fmt: skip

    def likelihood(b: float) -> float:
        return _likelihood(truth, _intercept(truth, b * predictor) + b * predictor)

    return _estimate(value, se, likelihood, 1.0, len(score), interval, level, note, details)


def _slope_influence(truth: NDArray[np.bool_], predictor: Floats, intercept: float, slope: float) -> Floats:
    """What each case contributes to the slope: its score equation times the inverse information."""
    p = expit(intercept + slope * predictor)
    weight = p * (1 - p)
    centre = float(weight @ predictor / weight.sum())
    away = predictor - centre
    influence: Floats = (truth - p) * away / float(weight @ away**2)
    return influence


def _separated(positives: Floats, negatives: Floats) -> bool:
    return bool(negatives.max() <= positives.min() or positives.max() <= negatives.min())


def _undefined(truth: NDArray[np.bool_]) -> Note:
    if not truth.size:
        return notes.NO_CASE
    return notes.ONE_CLASS if truth.all() or not truth.any() else NO_NOTE


def _logits(score: Floats) -> tuple[Floats, Note]:
    inside = np.clip(score.astype(np.float64, copy=False), INWARDS, 1 - INWARDS)  # 1 - 1e-8 is no float32
    note = notes.CLIPPED if score.min() < INWARDS or score.max() > 1 - INWARDS else NO_NOTE
    return logit(inside, out=inside), note


def _likelihood(truth: NDArray[np.bool_], predictor: Floats) -> float:
    def loss(of: slice) -> tuple[Floats]:
        return (np.logaddexp(0.0, np.where(truth[of], -predictor[of], predictor[of])),)

    return -float(sums(len(truth), loss)[0])


def _intercept(truth: NDArray[np.bool_], offset: Floats) -> float:
    """Where the expected events equal the observed ones: one root, between those of the extreme offsets."""
    events = int(truth.sum())
    middle = float(logit(events / len(truth)))
    low, high = middle - float(offset.max()), middle - float(offset.min())
    if high - low < 1e-12:
        return (low + high) / 2

    def excess(a: float) -> float:
        return float(sums(len(offset), lambda of: (expit(a + offset[of]),))[0]) - events

    # Rounding may leave a bracket's end a hair on the wrong side of the root.
    return float(brentq(excess, low - 1e-6, high + 1e-6, xtol=1e-12, rtol=1e-14))


def _line(
    truth: NDArray[np.bool_], predictor: Floats, *, overwrite: bool
) -> tuple[float, float, float] | None:
    """Intercept, slope and the slope's standard error, by Newton's method with halved steps.

    `overwrite` lets the predictor be lost, which spares memory.
    """
    centre, scale = float(predictor.mean()), float(predictor.std())
    x = np.subtract(predictor, centre, out=predictor if overwrite else None)
    x /= scale
    a, b = float(logit(truth.mean())), 0.0
    weight, gap = np.empty(len(x)), np.empty(len(x))

    def derivatives(of: slice) -> tuple[Floats, Floats]:
        p = expit(a + b * x[of])
        weight[of], gap[of] = p * (1 - p), truth[of] - p
        return weight[of], gap[of]

    reached = _roughly(truth, x, a, b)
    for _ in range(STEPS):
        i0, g0 = map(float, sums(len(x), derivatives))
        i1, g1 = float(weight @ x), float(gap @ x)
        i2 = float(weight @ np.square(x, out=gap))
        determinant = i0 * i2 - i1 * i1
        if not determinant > 0:
            return None
        da, db = (i2 * g0 - i1 * g1) / determinant, (i0 * g1 - i1 * g0) / determinant
        if max(abs(da), abs(db)) <= 1e-9 * max(1.0, abs(a), abs(b)):
            slope = (b + db) / scale
            return a + da - slope * centre, slope, sqrt(i0 / determinant) / scale
        for _ in range(STEPS):
            likelihood = _roughly(truth, x, a + da, b + db)
            if likelihood >= reached - 1e-12 * abs(reached):
                break
            da, db = da / 2, db / 2
        a, b, reached = a + da, b + db, likelihood
    return None


def _roughly(truth: NDArray[np.bool_], x: Floats, a: float, b: float) -> float:
    """The likelihood of a line but for its last digits, in half of the time: good for comparing steps."""

    def loss(of: slice) -> tuple[Floats]:
        predictor = a + b * x[of]
        return (np.where(truth[of], -predictor, predictor).clip(0) + np.log1p(np.exp(-np.abs(predictor))),)

    return -float(sums(len(x), loss)[0])


def _estimate(
    value: float,
    se: float,
    likelihood: Callable[[float], float],
    null: float,
    n: int,
    interval: Interval,
    level: float,
    note: Note,
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
