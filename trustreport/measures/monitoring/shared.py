"""The correlation of two estimates whose sets of cases share clusters: patients seen in both periods."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from trustreport.measures.calibration.logistic import INWARDS, calibration_intercept, calibration_slope
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import value_and_gradient
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
