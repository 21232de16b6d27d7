"""Means over cases, and ratios of them, with intervals that respect clusters where there are any."""

from dataclasses import replace
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures import notes
from trustreport.measures.blocks import sums
from trustreport.measures.cluster import ONE_CLUSTER, Clusters, cluster_sums
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import df_by_kurtosis, quantile, two_sided_p
from trustreport.measures.proportion import normal_quantile

Floats = NDArray[np.float64]
MEAN, CLUSTER_MEAN, DIFFERENCE = "case_mean", "cluster_mean", "_t"
RATIO, CLUSTER_RATIO = "ratio_delta", "cluster_ratio"
AT_ONE = "at a threshold of 1 a false positive weighs infinitely"


def case_mean(
    worth: Floats, level: float = 0.95, cluster: Clusters | None = None, *, tested: bool = False
) -> Estimate:
    """Mean of what each case is worth, with the normal interval; with clusters Student's, by their sums.

    A difference (`tested`) often rests on few cases: it has Student's t with the degrees of freedom that the
    kurtosis of the worths, or of the clusters' sums, leaves (`mrmc.interval.df_by_kurtosis`).

    Parameters
    ----------
    worth : float array, shape (n_cases,)
        Infinite where a false positive weighs infinitely: then the mean is, without limits.
    cluster : int array, shape (n_cases,), optional
    tested : whether it is a difference, so that `p` of a mean of 0 is wanted

    Returns
    -------
    Estimate
        ``case_mean``, variance with divisor n, or ``cluster_mean`` with the clusters in `details`, and
        ``..._t`` of a difference; NaN with a note without cases; no width, and a note, where all cases are
        worth the same.

    Examples
    --------
    >>> print(case_mean(np.array([1.0, 0, 1, 1])))
    0.75 (95% CI 0.33 to 1.17; n = 4)
    """
    n = worth.size
    method = (MEAN if cluster is None else CLUSTER_MEAN) + (DIFFERENCE if tested else "")
    if n == 0:
        return undefined(0, notes.NO_CASE, level=level, method=method)
    if not np.isfinite(worth).all():
        return infinite(worth, n, level, method)
    value = float(worth.mean())
    if cluster is not None:
        return _clustered(value, (worth - value) / n, cluster, level, method, tested=tested)
    se = sqrt(float(worth.var()) / n)
    note, df = "" if se else notes.NO_WIDTH, df_by_kurtosis(worth) if tested and se else inf
    half = quantile(df, level) * se
    p = two_sided_p(value / se, df) if tested and se else nan
    df = df if df < inf else nan
    return Estimate(value, value - half, value + half, n, level, method, note, se=se, df=df, p=p)


def case_ratio(
    worth: Floats, best: Floats, level: float = 0.95, none: str = "", cluster: Clusters | None = None
) -> Estimate:
    """Sum of worth over sum of the best possible, (n_cases,) each, by the delta method.

    `none` is the note where nothing could be earned.

    >>> print(case_ratio(np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 1, 0]), none="nothing"))
    0.67 (95% CI 0.13 to 1.20; n = 4)
    """
    z, n = normal_quantile(level), worth.size
    method = RATIO if cluster is None else CLUSTER_RATIO
    if n == 0 or not best.any():
        return undefined(n, none if n else notes.NO_CASE, level=level, method=method)
    if not np.isfinite(worth).all():
        return infinite(worth, n, level, method)
    value = float(worth.sum() / best.sum())
    if cluster is not None:
        return _clustered(value, (worth - value * best) / float(best.sum()), cluster, level, method)
    squared = float(sums(n, lambda of: ((worth[of] - value * best[of]) ** 2,))[0])
    se = sqrt(squared / n / n) / float(best.mean())
    note = "" if se else notes.NO_WIDTH
    return Estimate(value, value - z * se, value + z * se, n, level, method, note, se=se)


def _clustered(
    value: float, influence: Floats, cluster: Clusters, level: float, method: str, *, tested: bool = False
) -> Estimate:
    """The t interval from what each case, by its cluster, contributes."""
    sums = cluster_sums(influence, cluster)
    return replace(mean_of_clusters(value, sums, influence.size, level, tested=tested), method=method)


def mean_of_clusters(
    value: float, influence: Floats, n: int, level: float, *, tested: bool = False
) -> Estimate:
    """The t interval of a mean, or ratio of means, over `n` cases from what each cluster contributes to it.

    Parameters
    ----------
    influence : float array, shape (n_clusters,)
        Summing to 0.

    Examples
    --------
    >>> print(mean_of_clusters(0.5, np.array([0.1, -0.1, 0.05, -0.05]), 40, 0.95))
    0.50 (95% CI -0.08 to 1.08; n = 40)
    """
    n_clusters = len(influence)
    if n_clusters < 2:
        return Estimate(value, nan, nan, n, level, CLUSTER_MEAN, ONE_CLUSTER)
    se = sqrt(float(influence @ influence) * n_clusters / (n_clusters - 1))
    df = df_by_kurtosis(influence) if se and tested else float(n_clusters - 1)
    half = quantile(df, level) * se
    note = "" if se else notes.NO_WIDTH
    p = two_sided_p(value / se, df) if tested and se else nan
    details = {"clusters": float(n_clusters)}
    return Estimate(
        value, value - half, value + half, n, level, CLUSTER_MEAN, note,
        se=se, df=df, p=p, details=details,
    )  # fmt: skip


def infinite(worth: Floats, n: int, level: float, method: str) -> Estimate:
    """The mean of worths of which some are infinite, without limits."""
    signs = set(np.sign(worth[np.isinf(worth)]).tolist())
    value = signs.pop() * inf if len(signs) == 1 else nan
    return Estimate(value, nan, nan, n, level, method, AT_ONE)
