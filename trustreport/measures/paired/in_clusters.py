"""The difference of two paired shares where cases belong together: Tango's limits of an effective sample."""

from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures import notes
from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.paired.difference import score_limits, score_variance

CLUSTERED_TANGO = "tango_clustered"
CLUSTERS_AS_CASES = "no pair differs: the interval counts clusters as cases"


def tango_clustered(
    change: NDArray[np.float64], cluster: Clusters, *, within: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Mean of what changes in each case, with the score interval of as many independent pairs as it is worth.

    With V the variance of the mean over clusters, V_1 that over single cases, D = max(1, V / V_1), b gained
    and c lost among n pairs, G clusters: the limits of `tango` for b / D, c / D and n / D, with Student's t
    of G - 1 degrees of freedom. Where no pair differs D is n / G: a cluster is worth one case. Where clusters
    are made of smaller ones, such as a patient's cases by reader, D is not below that of the smaller ones.

    Estimand: that of `tango`, clusters sampled, every case weighing alike.

    Parameters
    ----------
    change : float array, shape (n_cases,)
        1 gained, -1 lost, 0 neither.
    cluster : int array, shape (n_cases,)
    within : int array, shape (n_cases,), optional
        The smaller clusters.

    Returns
    -------
    Estimate
        In [-1, 1]; `n` counts cases, `details` the clusters, the design effect D and the effective counts;
        p of no difference on the same scale. No limits with one cluster; NaN with a note without cases.

    References
    ----------
    Tango (1998), Stat. Med. 17, 891-908. Rao, Scott (1992), Biometrics 48, 577-585 (design effect).

    Examples
    --------
    >>> change = np.repeat([1.0, -1.0, 0.0, 0.0, 1.0, 0.0], 5)
    >>> print(tango_clustered(change, np.arange(30) // 5))  # six patients, whose cases are all alike
    0.17 (95% CI -0.57 to 0.74; n = 30)
    """
    n = len(change)
    if not n:
        return undefined(0, notes.NO_PAIR, level=level, method=CLUSTERED_TANGO)
    value = float(change.mean())
    variance, clusters = clustered_variance((change - value) / n, cluster)
    alone = clustered_variance((change - value) / n, np.arange(n))[0]
    if within is not None:
        variance = max(variance, clustered_variance((change - value) / n, within)[0])
    details = {"clusters": float(clusters)}
    if clusters < 2:
        return replace(undefined(n, ONE_CLUSTER, level=level, method=CLUSTERED_TANGO), value=value, details=details)
    effect = max(1.0, variance / alone) if alone > 0 else n / clusters
    gained, lost = (float(np.count_nonzero(change == sign)) / effect for sign in (1, -1))
    details |= {"design_effect": effect, "gained": gained, "lost": lost, "pairs": n / effect}
    low, high = score_limits(gained, lost, n / effect, quantile(clusters - 1.0, level))
    found = Estimate(
        value, low, high, n, level, CLUSTERED_TANGO, "" if alone > 0 else CLUSTERS_AS_CASES,
        df=clusters - 1.0, details=details,
    )  # fmt: skip
    at_none = score_variance(0.0, gained, lost, n / effect)
    p = two_sided_p(value / at_none**0.5, found.df) if at_none > 0 else 1.0
    return replace(found, p=p)


def correlation_of_sums(
    one: NDArray[np.float64], of_one: Clusters, other: NDArray[np.float64], of_other: Clusters
) -> float:
    """Correlation over clusters of two means of different cases, such as both classes of the same patients.

    Parameters
    ----------
    one, other : float array, shape (n_cases,) each
        What each case adds to its mean, summing to 0.
    of_one, of_other : int array, shape (n_cases,) each
        The cluster of each, numbered alike.

    Examples
    --------
    >>> correlation_of_sums(
    ...     np.array([1.0, -1.0]), np.array([1, 2]), np.array([2.0, -2.0]), np.array([1, 2])
    ... )
    1.0
    """
    codes, index = np.unique(np.concatenate([of_one, of_other]), return_inverse=True)
    first = np.bincount(index[: len(one)], one, len(codes))
    second = np.bincount(index[len(one) :], other, len(codes))
    squares = float(first @ first) * float(second @ second)
    return float(first @ second) / sqrt(squares) if squares > 0 else 0.0
