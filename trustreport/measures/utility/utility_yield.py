"""Utility yield: what a case is worth on average when a model's decisions are followed."""

from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustreport.estimate import Estimate, undefined
from trustreport.measures import notes
from trustreport.measures.case_mean import CLUSTER_MEAN
from trustreport.measures.cluster import ONE_CLUSTER, clustered_variance
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.utility.matrices import Floats, as_matrix

METHOD = "case_mean"
CLASS_ABSENT = "a class with a share has no case"
ONE_CASE = "a class has one case: no interval"


def confusion_matrix(
    truth: NDArray[np.int64], decision: NDArray[np.int64], n_classes: int
) -> NDArray[np.int64]:
    """Cases by decision (rows) and truth (columns), shape (n_classes, n_classes).

    >>> confusion_matrix(np.array([0, 1, 1]), np.array([0, 0, 1]), 2)
    array([[1, 1],
           [0, 1]])
    """
    for name, values in (("truth", truth), ("decision", decision)):
        if values.shape != truth.shape or (values.size and not 0 <= values.min() <= values.max() < n_classes):
            raise ValueError(f"{name} must hold a class, 0 to {n_classes - 1}, for each case.")
    cells = np.bincount(decision * n_classes + truth, minlength=n_classes * n_classes)
    return cells.reshape(n_classes, n_classes).astype(np.int64, copy=False)


def utility_yield(counts: ArrayLike, utility: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean utility of a case.

    With C the share of all cases with decision i and truth j, U its utility::

        yield = sum over i, j of U_ij C_ij

    The interval is the normal one of that mean, cases sampled as they come. Rankings of candidates do not
    change when U is replaced by a U + b, a > 0.

    Parameters
    ----------
    counts : array of counts, shape (n_classes, n_classes)
        Rows decisions, columns truths.
    utility : array, same shape
        In the unit of the result.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        From the least to the greatest utility; NaN with a note without cases; no width, and a note, when all
        cases are worth the same.

    References
    ----------
    Dyrland, Lundervold, Porta Mana, "Does the evaluation stand up to evaluation?", eq. 10.

    Examples
    --------
    >>> print(utility_yield([[27, 15], [23, 35]], [[15, -335], [-35, 165]]))
    3.50 (95% CI -28.52 to 35.52; n = 100)
    """
    cells, matrix = _checked(counts, utility)
    n, z = int(cells.sum()), normal_quantile(level)
    if n == 0:
        return undefined(0, notes.NO_CASE, level=level, method=METHOD)
    value = float((matrix * cells).sum() / n)
    variance = float(((matrix - value) ** 2 * cells).sum() / n)
    se = sqrt(variance / n)
    return Estimate(
        value, value - z * se, value + z * se, n, level, METHOD, "" if se else notes.NO_WIDTH, se=se
    )


def yield_at_mix(
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
    Estimate
        Normal interval, classes sampled separately; NaN with a note when a class with a share has no case.

    Examples
    --------
    >>> print(yield_at_mix([[27, 15], [23, 35]], [[15, -335], [-35, 165]], [0.9, 0.1]))
    -5.70 (95% CI -14.68 to 3.28; n = 100)
    """
    cells, matrix = _checked(counts, utility)
    mix = np.asarray(shares, dtype=np.float64)
    if mix.shape != (len(cells),) or (mix < 0).any() or not np.isclose(mix.sum(), 1, rtol=1e-9):
        raise ValueError(f"shares must be {len(cells)} numbers, none negative, that sum to 1.")
    z, n, used = normal_quantile(level), int(cells.sum()), mix > 0
    sizes = cells.sum(axis=0)
    if not sizes[used].all():
        return undefined(n, CLASS_ABSENT, level=level, method=METHOD)
    share = cells[:, used] / sizes[used]
    means = (matrix[:, used] * share).sum(axis=0)
    value = float(mix[used] @ means)
    if (sizes[used] < 2).any():
        return Estimate(value, nan, nan, n, level, METHOD, ONE_CASE)
    variances = ((matrix[:, used] - means) ** 2 * share).sum(axis=0) / (sizes[used] - 1)
    se = sqrt(float(mix[used] ** 2 @ variances))
    return Estimate(
        value, value - z * se, value + z * se, n, level, METHOD, "" if se else notes.NO_WIDTH, se=se
    )


def yield_of_clusters(
    cells: NDArray[np.int64],
    utility: ArrayLike,
    positives: float | None = None,
    *,
    level: float = 0.95,
) -> Estimate:
    """Utility yield of two classes when cases come in clusters, at their own mix or at another.

    The value of `utility_yield`, or of `yield_at_mix`; the variance is that of the clusters' summed
    influences, the interval Student's with as many degrees of freedom as there are clusters, less one.

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
    0.83 (95% CI 0.67 to 1.00; n = 36)
    """
    matrix, n = as_matrix(utility), int(cells.sum())
    worth = np.array([matrix[1, 1], matrix[1, 0], matrix[0, 1], matrix[0, 0]])
    weight = np.full(4, 1 / n if n else nan)
    if positives is not None and n:
        present, absent = int(cells[:, [0, 2]].sum()), int(cells[:, [1, 3]].sum())
        if not present or not absent:
            return undefined(n, CLASS_ABSENT, level=level, method=CLUSTER_MEAN)
        weight = np.array([positives / present, (1 - positives) / absent] * 2)
    if not n:
        return undefined(0, notes.NO_CASE, level=level, method=CLUSTER_MEAN)
    totals = cells.sum(axis=0)
    value = float((totals * weight) @ worth)
    means = np.full(4, value)
    if positives is not None:
        for pair in ([0, 2], [1, 3]):
            means[pair] = totals[pair] @ worth[pair] / totals[pair].sum()
    influence = cells @ (weight * (worth - means))
    variance, held = clustered_variance(influence, np.arange(len(cells)))
    if held < 2:
        return Estimate(value, nan, nan, n, level, CLUSTER_MEAN, ONE_CLUSTER)
    half = quantile(held - 1, level) * sqrt(variance)
    note = "" if half else notes.NO_WIDTH
    return Estimate(
        value, value - half, value + half, n, level, CLUSTER_MEAN, note,
        se=sqrt(variance), df=float(held - 1), details={"clusters": float(held)},
    )  # fmt: skip


def yield_bootstrap(
    counts: ArrayLike,
    utility: ArrayLike,
    *,
    rng: np.random.Generator,
    resamples: int = 10_000,
    level: float = 0.95,
) -> Estimate:
    """Utility yield with the percentile interval of resampled cases; for skewed utilities and few cases.

    >>> table, worth = [[27, 15], [23, 35]], [[15, -335], [-35, 165]]
    >>> print(yield_bootstrap(table, worth, rng=np.random.default_rng(1)))
    3.50 (95% CI -28.50 to 34.51; n = 100)
    """
    cells, matrix = _checked(counts, utility)
    plain = utility_yield(cells, matrix, level=level)
    if plain.n == 0:
        return undefined(0, notes.NO_CASE, level=level, method="bootstrap_percentile")
    drawn = rng.multinomial(plain.n, cells.ravel() / plain.n, resamples) @ matrix.ravel() / plain.n
    low, high = (float(q) for q in np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    return Estimate(plain.value, low, high, plain.n, level, "bootstrap_percentile", plain.note, se=plain.se)


def _checked(counts: ArrayLike, utility: ArrayLike) -> tuple[NDArray[np.int64], Floats]:
    matrix, cells = as_matrix(utility), np.asarray(counts)
    if cells.shape != matrix.shape:
        raise ValueError(f"counts and utility must have one shape, got {cells.shape} and {matrix.shape}.")
    if not ((cells >= 0) & (cells == np.floor(cells))).all():
        raise ValueError("counts must be whole numbers, none negative.")
    return cells.astype(np.int64), matrix
