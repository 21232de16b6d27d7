"""Rates of rare events per case processed, and the middle of times, with exact limits."""

from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, chdtri, expit, logit

from trustreport.measures.calibration.logistic import INWARDS, calibration_intercept, calibration_slope
from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.confusion.clustered import value_and_gradient
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring.weights import NO_EVENT, NO_EXPOSURE, NO_VALUE, TOO_FEW_FOR_MEDIAN
from trustreport.measures.roc.auc import placements


def event_rate(events: int, exposure: int, *, level: float = 0.95) -> Estimate:
    """Events per case processed; without any event, what rate is still compatible with that.

    Events are Poisson with mean rate x exposure. The limits are the rates with tail probability
    (1 - level) / 2 each, also without an event, so that either is a one-sided limit at (1 + level) / 2::

        chi2(lower tail; 2 events) / 2n, 0 without an event,  to  chi2(upper tail; 2 events + 2) / 2n

    Without an event the upper limit is -ln((1 - level) / 2) / n, 3.7 / n at 95 %; the rule of three (3 / n)
    is the one-sided limit at 95 %.

    Estimand: the rate of events per case, constant over the time counted.

    Parameters
    ----------
    events, exposure : int
        Events, and cases processed; a case may have several events.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        0 or more; `n` is the exposure; NaN with a note without exposure.

    References
    ----------
    Garwood (1936), Biometrika 28, 437-442.
    Hanley, Lippman-Hand (1983), JAMA 249, 1743-1745 (the rule of three).

    Examples
    --------
    >>> round(event_rate(0, 300).high, 4)
    0.0123
    >>> found = event_rate(10, 1)  # R: poisson.test(10)
    >>> round(found.low, 4), round(found.high, 4)
    (4.7954, 18.3904)
    """
    check_level(level)
    if events < 0 or exposure < 0:
        raise ValueError(f"events and exposure must be counts, got {events} and {exposure}.")
    if exposure == 0:
        return undefined(0, NO_EXPOSURE, level=level, method="poisson_exact")
    tail = (1 - level) / 2
    low = float(chdtri(2 * events, 1 - tail)) / 2 / exposure if events else 0.0
    high = float(chdtri(2 * events + 2, tail)) / 2 / exposure
    note = "" if events else NO_EVENT
    return Estimate(events / exposure, low, high, exposure, level, "poisson_exact", note)


def median(values: NDArray[np.float64], *, cluster: Clusters | None = None, level: float = 0.95) -> Estimate:
    """The middle value, with limits at order statistics that need no distribution.

    ::

        x(j) to x(n + 1 - j),   j the largest with P(Binomial(n, 1/2) < j) <= (1 - level) / 2

    Of values that belong together the limits are those of m = n / D values, D >= 1 the design effect of the
    share below the middle, at the same part of the order.

    Parameters
    ----------
    values : float array, shape (n,)
        No NaN.
    cluster : int array, shape (n,), optional
        Which values belong together; each is independent where absent.

    Returns
    -------
    Estimate
        Covers at least as often as it says; no limits with so few values that none would; NaN with a note
        without values.

    References
    ----------
    Conover (1999), Practical Nonparametric Statistics, 3rd ed., section 3.2.
    Woodruff (1952), J. Am. Stat. Assoc. 47, 635-646 (limits of a quantile from those of a share).

    Examples
    --------
    >>> print(median(np.arange(1.0, 21.0)))
    10.50 (95% CI 6.00 to 15.00; n = 20)
    """
    check_level(level)
    n = len(values)
    if not n:
        return undefined(0, NO_VALUE, level=level, method="order_statistics")
    x = np.sort(values)
    middle = float(np.median(x))
    worth, details = n, {}
    if cluster is not None:
        below_middle = (values <= middle) - np.mean(values <= middle)
        variance, clusters = clustered_variance(below_middle / n, cluster)
        details["clusters"] = float(clusters)
        if clusters < 2:
            return Estimate(middle, nan, nan, n, level, "order_statistics", ONE_CLUSTER, details=details)
        alone = clustered_variance(below_middle / n, np.arange(n))[0]
        worth = int(n / max(1.0, variance / alone)) if alone > 0 else clusters
    ranks = np.arange(0, worth // 2 + 1)
    below = bdtr(ranks - 1, worth, 0.5)
    below = np.where(ranks == 0, 0.0, below)
    j = int(ranks[below <= (1 - level) / 2].max())
    if j == 0:
        return Estimate(middle, nan, nan, n, level, "order_statistics", TOO_FEW_FOR_MEDIAN, details=details)
    from_end = (j - 1) * n // worth
    low, high = float(x[from_end]), float(x[n - 1 - from_end])
    return Estimate(middle, low, high, n, level, "order_statistics", details=details)


def any_false_alert(looks: int, each: float) -> float:
    """The chance of at least one false alert when every look is tested by itself, independently.

    ::

        1 - (1 - each) ^ looks

    >>> round(any_false_alert(8, 0.05), 3)
    0.337
    """
    if looks < 0 or not 0 <= each <= 1:
        raise ValueError(f"looks must be a count and each a share, got {looks} and {each:g}.")
    return 1 - (1 - each) ** looks if looks < inf else 1.0


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


def of_risk(name: str, truth: NDArray[np.bool_], score: Floats) -> Floats:
    """Influence on the Brier score, on the logarithm of O/E, or on the intercept or slope of recalibration.

    The last two up to the inverse of the information, which is a factor of the set: score equations at the
    fitted values, those of the slope about the weighted mean of the log odds.
    """
    if name == "brier":
        squared = (score - truth) ** 2
        return np.asarray(squared - squared.mean()) / len(score)
    if name == "oe_ratio":
        return np.asarray(truth / truth.sum() - score / score.sum())
    predictor = logit(np.clip(score, INWARDS, 1 - INWARDS))
    if name == "calibration_intercept":
        return np.asarray(truth - expit(calibration_intercept(truth, score).value + predictor))
    fit = calibration_slope(truth, score)
    p = expit(fit.details["intercept"] + fit.value * predictor)
    weight = p * (1 - p)
    return np.asarray((truth - p) * (predictor - weight @ predictor / weight.sum()))


def of_net_benefit(
    truth: NDArray[np.bool_], acted: NDArray[np.bool_], threshold: float, ratio: float = 0.0
) -> Floats:
    """Influence on the net benefit; with `ratio` its standardised value, on that value."""
    found = truth & acted, (~truth & acted) * (threshold / (1 - threshold))
    gain = found[0] - found[1] - ratio * truth
    return np.asarray(gain - gain.mean()) / len(truth)
