"""Means over cases and over clusters, with intervals on the scale that suits them."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures import notes
from trustreport.measures.cluster import ONE_CLUSTER, ONE_OF_A_CLASS, Clusters, cluster_sums, sums
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.independent import score_limit
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import NEGLIGIBLE, df_by_kurtosis, quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.proportion import normal_quantile, wilson


def case_share(
    event: NDArray[np.bool_],
    *,
    lacking: Note = notes.NO_CASE,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of cases with an event: Wilson's interval, with clusters by the effective number of cases.

    Parameters
    ----------
    event : bool array, shape (n_cases,)
    lacking : what to say without cases

    Examples
    --------
    >>> print(case_share(np.array([True, False, False, False])))
    0.25 (95% CI 0.05 to 0.70; n = 4)
    """
    if not event.size:
        return undefined(0, lacking, level=level, method="wilson" if cluster is None else "cluster_wilson")
    if cluster is None:
        return wilson(int(event.sum()), event.size, level)
    # A made-up table in which every case is positive: its sensitivity is the share.
    return clustered("sensitivity", cluster_cells(np.ones(event.size, bool), event, cluster), level=level)


Floats = NDArray[np.float64]
MEAN, CLUSTER_MEAN, DIFFERENCE = "case_mean", "cluster_mean", "_t"
RATIO, CLUSTER_RATIO = "ratio_delta", "cluster_ratio"
AT_ONE = note("at_threshold_1_false_positive_weighs")


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
    tested : whether it is a difference, so that `p` of a mean of 0 is wanted

    Returns
    -------
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
    note, df = NO_NOTE if se else notes.NO_WIDTH, df_by_kurtosis(worth) if tested and se else inf
    half = quantile(df, level) * se
    p = two_sided_p(value / se, df) if tested and se else nan
    df = df if df < inf else nan
    return Estimate(value, value - half, value + half, n, level, method, note, se=se, df=df, p=p)


def case_ratio(
    worth: Floats, best: Floats, level: float = 0.95, none: Note = NO_NOTE, cluster: Clusters | None = None
) -> Estimate:
    """Sum of worth over sum of the best possible, (n_cases,) each, by the delta method.

    `none` is the note where nothing could be earned.

    >>> print(case_ratio(np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 1, 0])))
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
    note = NO_NOTE if se else notes.NO_WIDTH
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
    note = NO_NOTE if se else notes.NO_WIDTH
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


Counts = NDArray[np.int64]
METHOD = "yield_mover"
FEW_CLUSTERS = 25  # that hold a case of the class found in fewer
CLASS_ABSENT = note("class_with_share_has_no_case")


def cell_mean(
    counts: Counts,
    worth: Floats,
    truth: Counts,
    *,
    shares: Mapping[int, float] | None = None,
    clusters: Counts | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean over cases of the worth of their cells, with limits from the Wilson limits of the cells' shares.

    With p_i the share of cell i, U_i its worth, M = sum U_i p_i and c_i = U_i - M, so that the limits move
    with the worths, d_i the distance from p_i to its Wilson limit on the side that lowers M (the upper one
    where c_i < 0), and r_ij the correlation of two shares of one multinomial::

        low = M - sqrt(sum_i (c_i d_i)^2 + sum_{i != j} r_ij c_i d_i c_j d_j)
        r_ij = -sqrt(p_i p_j / ((1 - p_i) (1 - p_j)))

    and `high` likewise by the distances on the other side. Cells of equal worth are one cell,
    so that the mean of right and wrong decisions has Wilson's interval. With `shares` the classes are sampled
    by themselves: each has such limits, and those of the sum of share x mean are put together alike, without
    correlation.

    In clusters each class counts with n V / V' cases (not more than there are), V the variance of M over
    independent cases and V' that of the clusters' sums, and the Wilson limits use Student's t with as many
    degrees of freedom as clusters hold a case of the class found in fewer, less one. Where nothing varies,
    clusters count as cases.

    Estimand: the mean worth in the population, cases (or clusters) sampled as they come.

    Parameters
    ----------
    counts : int array, shape (n_cells,)
    worth : float array, shape (n_cells,)
        Infinite where a false positive weighs infinitely: then there are no limits.
    truth : int array, shape (n_cells,)
        The class, 0 or more, of the cases of each cell.
    shares : of the population by class, optional
        Those of the sample when not given.
    clusters : int array, shape (n_clusters, n_cells), optional
        The counts by cluster.

    Returns
    -------
    Between the least and the greatest worth; `se` by the delta method. NaN with a note without cases, or
    where a class with a share has none; no limits when a class lies in fewer than two clusters; no width,
    and a note, where all cells are worth the same.

    Notes
    -----
    The normal interval of the mean covers in .28 to .97 of samples and errs on the side of a high worth where
    costly errors are rare; this one in .94 to .99 (prevalence .02 to .5, 30 to 500 cases), in clusters in .95
    to 1.00 (20 and 50 clusters of 3 and 10).

    References
    ----------
    Zou, Huang, Zhang (2009), Comput. Stat. Data Anal. 53, 1080-1085 (limits of a linear function from those
    of its parts, correlated parts). Wilson (1927), J. Am. Stat. Assoc. 22, 209-212. Rao, Scott (1992),
    Biometrics 48, 577-585 (clusters).

    Examples
    --------
    >>> cells, worth, truth = (
    ...     np.array([15, 10, 5, 70]),
    ...     np.array([1.0, 0, 0, 1]),
    ...     np.array([1, 0, 1, 0]),
    ... )
    >>> print(cell_mean(cells, worth, truth))
    0.85 (95% CI 0.77 to 0.91; n = 100)
    """
    check_level(level)
    n = int(counts.sum())
    if n == 0:
        return undefined(0, notes.NO_CASE, level=level, method=METHOD)
    parts = [(1.0, np.ones(len(counts), bool))]
    if shares is not None:
        parts = [(share, truth == of) for of, share in shares.items() if share > 0]
        if not all(counts[of].any() for _, of in parts):
            return undefined(n, CLASS_ABSENT, level=level, method=METHOD)
    if not np.isfinite(worth).all():
        return infinite(np.repeat(worth, counts), n, level, METHOD)
    sizes = [float(counts[of].sum()) for _, of in parts]
    means = [float(worth[of] @ counts[of]) / size for (_, of), size in zip(parts, sizes)]
    value = sum(share * mean for (share, _), mean in zip(parts, means))
    influence = np.zeros(len(counts))
    for (share, of), mean, size in zip(parts, means, sizes):
        influence[of] = share * (worth[of] - mean) / size
    variance, df, details = float(counts @ influence**2), inf, {}
    if clusters is not None:
        held = min(int(clusters[:, truth == of].any(axis=1).sum()) for of in np.unique(truth))
        details, df = {"clusters": float(held)}, float(held - 1)
        if held < 2:
            note = ONE_CLUSTER if len(clusters) < 2 else ONE_OF_A_CLASS
            return Estimate(value, nan, nan, n, level, METHOD, note, details=details)
        sums, independent = clusters @ influence, variance
        variance = float(sums @ sums) * len(clusters) / (len(clusters) - 1)
        if variance > NEGLIGIBLE * float(np.ptp(worth)) ** 2:
            effect = max(variance / independent, 1.0)
            details["design_effect"] = variance / independent
            sizes = [size / effect for size in sizes]
        else:
            sizes = [float(clusters[:, of].any(axis=1).sum()) for _, of in parts]
    below = above = 0.0
    for (share, of), size in zip(parts, sizes):
        values, at = np.unique(worth[of], return_inverse=True)
        share_of = np.bincount(at, counts[of]) / counts[of].sum()
        middle, low, high = mean_limits(share_of, size, values, quantile(df, level))
        below += (share * (middle - low)) ** 2
        above += (share * (high - middle)) ** 2
    note = NO_NOTE if below + above else notes.NO_WIDTH
    if clusters is not None and held < FEW_CLUSTERS and not note:
        note = notes.OFTEN_BELOW
    return Estimate(
        value, value - sqrt(below), value + sqrt(above), n, level, METHOD, note,
        se=sqrt(variance) or nan, df=df if df < inf else nan, details=details,
    )  # fmt: skip


def mean_limits(share: Floats, n: float, worth: Floats, t: float) -> tuple[float, float, float]:
    """Mean worth and its limits from the shares of cells, (n_cells,), of so many cases (`cell_mean`)."""
    value, end = float(share @ worth), (float(worth.min()), float(worth.max()))
    least, most = score_limit(share[:, None] * n, n, np.array([-t, t])).T
    centred = worth - value
    root = np.sqrt(share / np.maximum(1 - share, 1e-300))
    ends = []
    for lower in (True, False):
        up = (centred < 0) if lower else (centred > 0)
        moved = centred * np.where(up, most - share, share - least)
        # A share at 1 is alone: all others are 0, and none is correlated with it.
        tied = np.where(share < 1, root * moved, 0.0)
        squares = float(moved @ moved) - float(tied.sum() ** 2 - tied @ tied)
        ends.append(sqrt(max(squares, 0.0)))
    # Of one or two cases alike the limits of cells without any would add up to more than is possible.
    return value, max(value - ends[0], end[0]), min(value + ends[1], end[1])
