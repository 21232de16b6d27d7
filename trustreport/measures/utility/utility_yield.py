"""Utility yield of decisions: its interval, and differences of two."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate
from trustreport.measures.means import cell_mean
from trustreport.measures.utility.matrices import Floats, as_matrix


def confusion_matrix(
    truth: NDArray[np.int64], decision: NDArray[np.int64], n_classes: int, n_decisions: int = 0
) -> NDArray[np.int64]:
    """Cases by decision (rows) and truth (columns), shape (n_decisions, n_classes).

    There are as many decisions as classes unless `n_decisions` says otherwise.
    """
    rows = n_decisions or n_classes
    for name, values, n in (("truth", truth, n_classes), ("decision", decision, rows)):
        if values.shape != truth.shape or (values.size and not 0 <= values.min() <= values.max() < n):
            raise ValueError(f"{name} must hold a class, 0 to {n - 1}, for each case.")
    cells = np.bincount(decision * n_classes + truth, minlength=rows * n_classes)
    return cells.reshape(rows, n_classes).astype(np.int64, copy=False)


def utility_yield(counts: ArrayLike, utility: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean utility of a case.

    With C the share of all cases with decision i and truth j, U its utility::

        yield = sum over i, j of U_ij C_ij

    with limits from the Wilson limits of the shares (`cell_mean.cell_mean`). Rankings of candidates do not
    change when U is replaced by a U + b, a > 0; nor do the limits, but that they move along.

    Estimand: the same in the population, cases sampled as they come.

    Parameters
    ----------
    counts : array of counts, shape (n_decisions, n_classes)
        Rows decisions, columns truths.
    utility : array, same shape
        In the unit of the result.

    Returns
    -------
    From the least to the greatest utility, limits too; NaN with a note without cases; no width, and a
    note, when all utilities are alike.

    References
    ----------
    Dyrland, Lundervold, Porta Mana, "Does the evaluation stand up to evaluation?", eq. 10.
    Zou, Huang, Zhang (2009), Comput. Stat. Data Anal. 53, 1080-1085 (limits).

    Examples
    --------
    >>> print(utility_yield([[27, 15], [23, 35]], [[15, -335], [-35, 165]]))
    3.50 (95% CI -31.61 to 32.19; n = 100)
    """
    return cell_mean(*_cells(counts, utility), level=level)


def yield_at_prevalence(
    counts: ArrayLike, utility: ArrayLike, shares: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Utility yield in a population with other shares of the classes, decisions within a class unchanged.

    ::

        yield = sum over classes j of share_j * mean over cases of class j of U_ij

    Parameters
    ----------
    shares : array, shape (n_classes,)
        Not negative, sum 1.

    Returns
    -------
    Classes sampled separately, limits put together from those of each (`cell_mean.cell_mean`); NaN with a
    note when a class with a share has no case.

    Examples
    --------
    >>> print(yield_at_prevalence([[27, 15], [23, 35]], [[15, -335], [-35, 165]], [0.9, 0.1]))
    -5.70 (95% CI -14.90 to 2.30; n = 100)
    """
    cells, worth, truth = _cells(counts, utility)
    mix = np.asarray(shares, dtype=np.float64)
    k = int(truth.max()) + 1
    if mix.shape != (k,) or (mix < 0).any() or not np.isclose(mix.sum(), 1, rtol=1e-9):
        raise ValueError(f"shares must be {k} numbers, none negative, that sum to 1.")
    return cell_mean(cells, worth, truth, shares=dict(enumerate(mix.tolist())), level=level)


def yield_of_clusters(
    cells: NDArray[np.int64],
    utility: ArrayLike,
    positives: float | None = None,
    *,
    level: float = 0.95,
) -> Estimate:
    """Utility yield of two classes when cases come in clusters, at their own mix or at another.

    The value of `utility_yield`, or of `yield_at_mix`; cases count as many as vary like the clusters do, and
    the Wilson limits are those of Student's t (`cell_mean.cell_mean`).

    Parameters
    ----------
    cells : int array, shape (n_clusters, 4)
        tp, fp, fn, tn of each cluster.
    utility : array, shape (2, 2)
        Rows decisions, columns truths, negative class first.
    positives : float in (0, 1), optional
        Share of positives for which the yield is wanted; the sample's own when not given.

    Examples
    --------
    >>> cells = np.array([[3, 0, 1, 4], [0, 1, 2, 5], [2, 0, 0, 2], [1, 1, 0, 6], [4, 0, 1, 3]])
    >>> print(yield_of_clusters(cells, [[1, 0], [0, 1]]))
    0.83 (95% CI 0.61 to 0.94; n = 36)
    """
    matrix = as_matrix(utility)
    worth = np.array([matrix[1, 1], matrix[1, 0], matrix[0, 1], matrix[0, 0]])
    shares = None if positives is None else {1: positives, 0: 1 - positives}
    truth = np.array([1, 0, 1, 0])
    return cell_mean(cells.sum(axis=0), worth, truth, shares=shares, clusters=cells, level=level)


def yield_of_decisions(
    truth: NDArray[np.int64],
    decision: NDArray[np.int64],
    utility: ArrayLike,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """The utility yield of decisions case by case, of any number of classes; in clusters as they vary.

    Parameters
    ----------
    truth, decision : int arrays, shape (n_cases,)
        Column and row of the utility that a case earns.
    utility : array, shape (n_decisions, n_classes)

    Examples
    --------
    >>> truth, decision = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 0, 2, 2, 0])
    >>> print(yield_of_decisions(truth, decision, [[0, -10], [-0.3, -1], [-1, 2]]))
    -1.05 (95% CI -4.96 to 0.84; n = 6)
    """
    matrix = as_matrix(utility)
    cells = confusion_matrix(truth, decision, matrix.shape[1], matrix.shape[0])
    if cluster is None:
        return utility_yield(cells, matrix, level=level)
    groups, of = np.unique(cluster, return_inverse=True)
    cell = decision * matrix.shape[1] + truth
    by_cluster = np.bincount(of * cells.size + cell, minlength=len(groups) * cells.size)
    by_cluster = by_cluster.reshape(len(groups), cells.size).astype(np.int64, copy=False)
    # A class without a case would count as one that no cluster holds.
    flat, worth, of_truth = _cells(cells, matrix)
    held = cells.sum(axis=0)[of_truth] > 0
    return cell_mean(flat[held], worth[held], of_truth[held], clusters=by_cluster[:, held], level=level)


def _cells(counts: ArrayLike, utility: ArrayLike) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Count, utility and truth of each cell, in one row."""
    cells, matrix = _checked(counts, utility)
    return cells.ravel(), matrix.ravel(), np.indices(cells.shape)[1].ravel()


def _checked(counts: ArrayLike, utility: ArrayLike) -> tuple[NDArray[np.int64], Floats]:
    matrix, cells = as_matrix(utility), np.asarray(counts)
    if cells.shape != matrix.shape:
        raise ValueError(f"counts and utility must have one shape, got {cells.shape} and {matrix.shape}.")
    if not ((cells >= 0) & (cells == np.floor(cells))).all():
        raise ValueError("counts must be whole numbers, none negative.")
    return cells.astype(np.int64), matrix
