"""Change of a measure between two periods.

The periods are independent, or share clusters (patients seen in both): then `correlation` is that of the two
estimates, and the degrees of freedom are no more than `clusters` - 1.
"""

from dataclasses import dataclass
from math import exp, hypot, inf, isfinite, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from trustreport.measures.calibration.logistic import INWARDS, calibration_intercept, calibration_slope
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import value_and_gradient
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.roc.auc import placements

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SharedCorrelation:
    """The correlation of two estimates, the clusters in both sets, and those in either that bear on them."""

    correlation: float
    both: int
    either: int


def shared(now: Floats, now_cluster: Clusters, then: Floats, then_cluster: Clusters) -> SharedCorrelation:
    """How far two estimates go together because clusters of cases are in both sets.

    With I_g and J_g the summed influence of the cases of cluster g on either estimate::

        r = sum over g in both of I_g J_g / sqrt(sum I_g^2 sum J_g^2)

    so that r se se' is the covariance of the cluster-robust (sandwich) estimator over both sets.

    Estimand: the correlation over samples of clusters, each with its cases of both sets.

    Parameters
    ----------
    now, then : float arrays, shapes (n_cases,) and (n_others,)
        Influence of each case on the estimate of its set, up to a factor of the set.
    now_cluster, then_cluster : int arrays, of the same shapes
        The same number for the same cluster in both sets.

    Returns
    -------
    Shared
        The correlation is in [-1, 1]; 0 where no cluster is in both or one estimate does not vary.

    References
    ----------
    Liang, Zeger (1986), Biometrika 73, 13-22.

    Examples
    --------
    Two patients seen twice, right and wrong alike in both periods:

    >>> found = shared(np.array([0.5, -0.5]), np.array([1, 2]), np.array([0.5, -0.5]), np.array([1, 2]))
    >>> found.correlation, found.both, found.either
    (1.0, 2, 2)
    """
    names, index = np.unique(np.concatenate([now_cluster, then_cluster]), return_inverse=True)
    first, second = index[: len(now)], index[len(now) :]
    ours = np.bincount(first, weights=now, minlength=len(names))
    theirs = np.bincount(second, weights=then, minlength=len(names))
    both = np.intersect1d(first, second).size
    scale = sqrt(float(ours @ ours) * float(theirs @ theirs))
    correlation = float(ours @ theirs) / scale if both and scale > 0 else 0.0
    return SharedCorrelation(correlation, both, int(np.count_nonzero((ours != 0) | (theirs != 0))))


def of_share(event: NDArray[np.bool_]) -> Floats:
    """Influence on a share of events: event - share, over n."""
    return (event - event.mean()) / len(event) if len(event) else np.zeros(0)


def of_cells(name: str, truth: NDArray[np.bool_], decision: NDArray[np.bool_]) -> Floats:
    """Influence on a measure of the four cells: its derivative by the cell of each case."""
    cell = np.where(truth, np.where(decision, 0, 2), np.where(decision, 1, 3))
    _, gradient = value_and_gradient(name, np.bincount(cell, minlength=4), None)
    found: Floats = np.where(np.isfinite(gradient), gradient, 0.0)[cell]
    return found


def of_area(truth: NDArray[np.bool_], score: Floats) -> Floats:
    """Influence on the area under the ROC curve: placement - area, over the cases of the class."""
    found = np.zeros(len(truth))
    for own, placed in zip((truth, ~truth), placements(truth, score)):
        found[own] = (placed - placed.mean()) / len(placed)
    return found


def of_brier(truth: NDArray[np.bool_], risk: Floats) -> Floats:
    """Influence on the Brier score."""
    squared = (risk - truth) ** 2
    return np.asarray(squared - squared.mean()) / len(risk)


def of_oe_ratio(truth: NDArray[np.bool_], risk: Floats) -> Floats:
    """Influence on the logarithm of O/E."""
    return np.asarray(truth / truth.sum() - risk / risk.sum())


def of_intercept(truth: NDArray[np.bool_], risk: Floats) -> Floats:
    """Influence on the intercept of recalibration, up to the inverse of the information, a factor of the set.

    That is the score equation at the fitted values.
    """
    return np.asarray(truth - expit(calibration_intercept(truth, risk).value + _predictor(risk)))


def of_slope(truth: NDArray[np.bool_], risk: Floats) -> Floats:
    """Influence on the slope of recalibration, as `of_intercept`, about the weighted mean of the log odds."""
    fit, predictor = calibration_slope(truth, risk), _predictor(risk)
    p = expit(fit.details["intercept"] + fit.value * predictor)
    weight = p * (1 - p)
    return np.asarray((truth - p) * (predictor - weight @ predictor / weight.sum()))


def _predictor(risk: Floats) -> Floats:
    return np.asarray(logit(np.clip(risk, INWARDS, 1 - INWARDS)))


def of_net_benefit(truth: NDArray[np.bool_], risk: Floats, threshold: float) -> Floats:
    """Influence on the net benefit."""
    return _of_gain(truth, risk, threshold, 0.0)


def of_standardized_net_benefit(truth: NDArray[np.bool_], risk: Floats, threshold: float) -> Floats:
    """Influence on the standardised net benefit, up to the prevalence, a factor of the set."""
    acted = risk >= threshold
    benefit = np.mean(truth & acted) - np.mean(~truth & acted) * threshold / (1 - threshold)
    return _of_gain(truth, risk, threshold, float(benefit / truth.mean()))


def _of_gain(truth: NDArray[np.bool_], risk: Floats, threshold: float, less: float) -> Floats:
    acted = risk >= threshold
    gain = (truth & acted) - (~truth & acted) * (threshold / (1 - threshold)) - less * truth
    return np.asarray(gain - gain.mean()) / len(truth)


def wald_change(
    now: Estimate, then: Estimate, *, correlation: float = 0.0, clusters: float = inf, level: float = 0.95
) -> Estimate:
    """Difference of two estimates by their standard errors, with r their correlation.

    ::

        now - then +- q sqrt(se^2 + se'^2 - 2 r se se')

    q is normal; where a standard error has degrees of freedom (clusters), Student's t with Satterthwaite's.

    Returns
    -------
    `n` counts both sets; `p` tests no change. NaN with the note of the one that is undefined; no limits
    where one has no standard error.

    References
    ----------
    Satterthwaite (1946), Biom. Bull. 2, 110-114.

    Examples
    --------
    >>> one, other = (Estimate(v, nan, nan, 50, se=0.3) for v in (1.0, 0.4))
    >>> print(wald_change(one, other))
    0.60 (95% CI -0.23 to 1.43; n = 100)
    """
    method, n = "wald_independent", now.n + then.n
    check_level(level)
    for part in (now, then):
        if part.value != part.value:
            return undefined(n, part.note, level=level, method=method)
    value = now.value - then.value
    if not (now.se > 0 and then.se > 0):
        return Estimate(value, nan, nan, n, level, method, notes.NO_INTERVAL)
    se, df = _combined(now, then, correlation, clusters)
    if not se > 0:
        return Estimate(value, nan, nan, n, level, method, notes.NO_INTERVAL)
    half, p = quantile(df, level) * se, two_sided_p(value / se, df)
    return Estimate(value, value - half, value + half, n, level, method, se=se, df=_shown(df), p=p)


def ratio_change(
    now: Estimate, then: Estimate, *, correlation: float = 0.0, clusters: float = inf, level: float = 0.95
) -> Estimate:
    """Ratio of two ratios whose standard errors are those of their logarithms, with r their correlation.

    ::

        exp(ln now - ln then +- q sqrt(se^2 + se'^2 - 2 r se se'))

    q is that of `wald_change`.

    Returns
    -------
    1 = no change; `se` on the scale of the logarithm; NaN with a note where one is undefined, 0 or
    infinite.

    Examples
    --------
    >>> one, other = (Estimate(v, nan, nan, 50, se=0.3) for v in (2.0, 1.0))
    >>> print(ratio_change(one, other))
    2.00 (95% CI 0.87 to 4.59; n = 100)
    """
    method, n = "log_wald_independent", now.n + then.n
    check_level(level)
    for part in (now, then):
        if part.value != part.value:
            return undefined(n, part.note, level=level, method=method)
    if not (0 < now.value < inf and 0 < then.value < inf):
        return undefined(n, notes.INFINITE_RATIO, level=level, method=method)
    value = now.value / then.value
    if not (now.se > 0 and then.se > 0):
        return Estimate(value, nan, nan, n, level, method, notes.NO_INTERVAL)
    se, df = _combined(now, then, correlation, clusters)
    if not se > 0:
        return Estimate(value, nan, nan, n, level, method, notes.NO_INTERVAL)
    factor, p = exp(quantile(df, level) * se), two_sided_p(log(value) / se, df)
    return Estimate(value, value / factor, value * factor, n, level, method, se=se, df=_shown(df), p=p)


def _combined(now: Estimate, then: Estimate, correlation: float, clusters: float) -> tuple[float, float]:
    """Standard error of a difference, and its degrees of freedom: infinite where neither part has any."""
    known = [(part.se, part.df) for part in (now, then) if isfinite(part.df) and part.df > 0]
    variance = now.se**2 + then.se**2
    below = sum(se**4 / df for se, df in known)
    df = min(variance**2 / below, clusters - 1) if below else inf
    return sqrt(max(0.0, variance - 2 * correlation * now.se * then.se)), df


def _shown(df: float) -> float:
    return df if isfinite(df) else nan


def mover_change(
    now: Estimate,
    then: Estimate,
    *,
    ratio: bool = False,
    correlation: float = 0.0,
    level: float = 0.95,
) -> Estimate:
    """Difference of two estimates, its limits put together from the limits of each.

    With r the correlation of the two, and of either estimate the distances to its limits, below and above::

        low = now - then - sqrt(below^2 + above'^2 - 2 r below above')
        high = now - then + sqrt(above^2 + below'^2 - 2 r above below')

    With Wilson limits of two independent shares this is Newcombe's interval. A ratio is the same on the
    logarithm.

    Returns
    -------
    `n` counts both sets. NaN with the note of the one that is undefined, or for a ratio where one is 0 or
    infinite; no limits where one has none.

    References
    ----------
    Zou, Donner (2008), Stat. Med. 27, 1693-1702. Newcombe (1998), Stat. Med. 17, 873-890, method 10.

    Examples
    --------
    >>> from trustreport.measures.proportion import wilson
    >>> found = mover_change(wilson(56, 70), wilson(48, 80))
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")  # Newcombe (1998), Table II
    0.2000 [0.0524, 0.3339]
    """
    method, n = "log_mover" if ratio else "mover", now.n + then.n
    check_level(level)
    for part in (now, then):
        if part.value != part.value:
            return undefined(n, part.note, level=level, method=method)
    if ratio and not (0 < now.value < inf and 0 < then.value < inf):
        return undefined(n, notes.INFINITE_RATIO, level=level, method=method)
    a, b = (_scaled(e, ratio) for e in (now, then))
    value = a[0] - b[0]
    back = exp if ratio else float
    if not all(map(isfinite, (*a, *b))):
        return Estimate(back(value), nan, nan, n, level, method, notes.NO_LIMITS)
    low = value - _third_side(a[0] - a[1], b[2] - b[0], correlation)
    high = value + _third_side(a[2] - a[0], b[0] - b[1], correlation)
    return Estimate(back(value), back(low), back(high), n, level, method)


def _third_side(one: float, other: float, correlation: float) -> float:
    """The third side of a triangle whose other two have this cosine between them."""
    if not correlation:
        return hypot(one, other)
    return sqrt(max(0.0, one**2 + other**2 - 2 * correlation * one * other))


def _scaled(e: Estimate, ratio: bool) -> tuple[float, float, float]:
    """Value and limits, or their logarithms."""
    if not ratio:
        return e.value, e.low, e.high
    value, low, high = (log(x) if 0 < x < inf else nan for x in (e.value, e.low, e.high))
    return value, low, high
