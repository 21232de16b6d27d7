"""Clusters of cases, and arrays in blocks and in order."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.note import note

BLOCK = 1 << 15  # cases worked on at once, few enough for a processor's cache


def sums(n: int, terms: Callable[[slice], Sequence[NDArray[Any]]]) -> list[np.float64]:
    """The sums over n cases of several terms, each made for some of the cases at a time.

    numpy adds halves, halves of these and so on; so do the blocks, and no digit tells the difference.

    Parameters
    ----------
    terms : function of a slice of cases, to the float arrays of those cases that are to be summed
    """

    def within(start: int, stop: int) -> list[np.float64]:
        size = stop - start
        if size <= BLOCK:
            return [term.sum() for term in terms(slice(start, stop))]
        half = size // 2
        half -= half % 8
        return [a + b for a, b in zip(within(start, start + half), within(start + half, stop))]

    return within(0, n)


def filled(n: int, values: Callable[[slice], NDArray[Any]]) -> NDArray[np.float64]:
    """What is made for some of n cases at a time, of all of them."""
    found = np.empty(n)
    for start in range(0, n, BLOCK):
        of = slice(start, min(start + BLOCK, n))
        found[of] = values(of)
    return found


Order = NDArray[np.intp] | NDArray[np.int32]
MOST_TIED = 0.1  # share of tied values up to which their order is put right afterwards


def ascending(values: NDArray[Any]) -> Order:
    """The order of values without NaN, the lowest first, equal ones as they stand.

    That of numpy's stable sort, at less than half of its time where few values are equal.
    """
    order = np.argsort(values)
    ranked = values[order]
    like_next = ranked[1:] == ranked[:-1]
    if np.count_nonzero(like_next) > MOST_TIED * len(values):
        return np.argsort(values, kind="stable")
    before = np.flatnonzero(like_next)
    if before.size:
        tied = np.union1d(before, before + 1)
        rows = order[tied]
        order[tied] = rows[np.lexsort((rows, ranked[tied]))]
    return order


Floats = NDArray[np.float64]
Clusters = NDArray[np.int64]
ONE_CLUSTER = note("fewer_than_two_clusters_spread_between")
ONE_OF_A_CLASS = note("fewer_than_two_clusters_hold_case")


def cluster_sums(values: Floats, cluster: Clusters) -> Floats:
    """Sum of the values of each cluster, shape (n_clusters,), clusters in ascending order.

    Parameters
    ----------
    values : float array, shape (n_cases,)
    cluster : int array, shape (n_cases,)
        Which cluster a case belongs to; any integers.

    Examples
    --------
    >>> cluster_sums(np.array([1.0, 2.0, 4.0]), np.array([7, 2, 7]))
    array([2., 5.])
    """
    if values.shape != cluster.shape:
        raise ValueError(
            f"cluster must have one entry per case, got shape {cluster.shape} for {values.shape}."
        )
    _, index = np.unique(cluster, return_inverse=True)
    return np.bincount(index, weights=values).astype(np.float64, copy=False)


def together(cluster: Clusters | None, of: NDArray[np.bool_]) -> Clusters | None:
    """The clusters of some cases; None where each case is alone in its own."""
    if cluster is None:
        return None
    some = cluster[of]
    if (some[1:] > some[:-1]).all():  # as where each case has a number of its own
        return None
    return None if len(np.unique(some)) == len(some) else some


def grouped(values: Floats, cluster: Clusters | None) -> Floats:
    """Sums over the cases of each cluster, along the last axis; the values themselves without clusters.

    Parameters
    ----------
    values : float array, shape (..., n_cases)

    Examples
    --------
    >>> grouped(np.array([[1.0, 2.0, 4.0]]), np.array([7, 2, 7]))
    array([[2., 5.]])
    """
    if cluster is None:
        return values
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=cluster[order][:1] - 1))
    return np.add.reduceat(values[..., order], starts, axis=-1) if len(order) else values


def clustered_variance(influence: Floats, cluster: Clusters) -> tuple[float, int]:
    """Variance of an estimate from what each case contributes to it, and the number of clusters.

    With I_g the summed influence of the cases of cluster g, G clusters::

        V = G / (G - 1) sum over g of I_g^2

    With one case in each cluster this is the usual variance with divisor n - 1.

    Parameters
    ----------
    influence : float array, shape (n_cases,)
        Sums to 0 over the cases; for a mean (value - mean) / n.

    Returns
    -------
    variance, n_clusters
        The variance is NaN with fewer than two clusters.

    References
    ----------
    Rao, Scott (1992), Biometrics 48, 577-585.
    """
    sums = cluster_sums(influence, cluster)
    n = len(sums)
    return (float(sums @ sums) * n / (n - 1) if n > 1 else float("nan")), n


def clusters_of_scarcer_class(truth: NDArray[np.bool_], cluster: Clusters) -> int:
    """How many clusters hold a case of the class that is found in fewer of them.

    Parameters
    ----------
    cluster : int array, shape (n_cases,)

    Examples
    --------
    >>> clusters_of_scarcer_class(np.array([True, True, False, False]), np.array([1, 1, 2, 3]))
    1
    """
    return min(len(np.unique(cluster[own])) for own in (truth, ~truth))
