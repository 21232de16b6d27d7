"""The difference between the means of two groups of cases: of errors, ratings or counts."""

from math import nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, cluster_sums
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import df_by_kurtosis, no_interval, quantile, two_sided_p
from trustreport.measures.note import note

Floats = NDArray[np.float64]
WELCH, CLUSTERED = "welch_kurtosis_t", "cluster_two_means_t"
EMPTY_GROUP = note("group_has_no_case_this_kind")
NO_SPREAD = note("nothing_varies_between_cases_groups_no")
ONE_CASE = note("group_has_one_case")
LEAST = 2


def difference_of_means(
    first: Floats,
    second: Floats,
    *,
    cluster: tuple[Clusters, Clusters] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean of one group of cases less that of another, with Welch's interval.

    With n, m, s^2 of either group, f the degrees of freedom that the kurtosis of a group leaves
    (`df_by_kurtosis`; n - 1 of normal values)::

        V_k = s_k^2 / n_k,   m_1 - m_2 -+ t sqrt(V_1 + V_2)
        df = (V_1 + V_2)^2 / (V_1^2 / f_1 + V_2^2 / f_2)

    In clusters, of which one may have cases in both groups, each case contributes (x - m_1) / n_1 or
    -(x - m_2) / n_2. The variance is that of the clusters' sums, times G / (G - 1) with G the clusters of the
    group that has fewer; degrees of freedom by the kurtosis of the sums, at most G - 1.

    Estimand: difference of the means of two populations of cases.

    Parameters
    ----------
    first, second : float array, shape (n_cases of the group,)
        What each case is worth, in any unit; no NaN.
    cluster : two int arrays, shape (n_cases of the group,) each, optional
        Numbered alike in both.

    Returns
    -------
    `n` counts both groups, `p` tests no difference. NaN with a note where a group is empty; no limits
    with a note where one has a single case or cluster, or where nothing varies.

    References
    ----------
    Welch (1947), Biometrika 34, 28-35. Shoemaker (2003), Am. Stat. 57, 243-249 (degrees of freedom).

    Examples
    --------
    >>> first, second = np.array([3.0, 5.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0, 2.0, 2.0])
    >>> print(difference_of_means(first, second))
    2.50 (95% CI 0.58 to 4.42; n = 9)
    """
    check_level(level)
    sizes, method = (len(first), len(second)), WELCH if cluster is None else CLUSTERED
    n = sum(sizes)
    if not all(sizes):
        return undefined(n, EMPTY_GROUP, level=level, method=method)
    value = float(first.mean() - second.mean())
    details: dict[str, float] = {}
    if cluster is None:
        if min(sizes) < LEAST:
            return no_interval(value, n, ONE_CASE, level=level, method=method)
        parts = [float(x.var(ddof=1)) / len(x) for x in (first, second)]
        variance = sum(parts)
        f = [df_by_kurtosis(x) if v > 0 else nan for x, v in zip((first, second), parts)]
        of_df = sum(v**2 / own for v, own in zip(parts, f) if v > 0)
        df = variance**2 / of_df if of_df > 0 else nan
    else:
        influence = np.concatenate([(first - first.mean()) / sizes[0], (second.mean() - second) / sizes[1]])
        sums = cluster_sums(influence, np.concatenate(cluster))
        least = min(len(np.unique(codes)) for codes in cluster)
        details = {"clusters": float(len(sums))}
        if least < LEAST:
            return no_interval(value, n, ONE_CLUSTER, level=level, method=method, details=details)
        variance = float(sums @ sums) * least / (least - 1)
        df = min(df_by_kurtosis(sums), least - 1.0) if variance > 0 else nan
    if not variance > 0:
        return no_interval(value, n, NO_SPREAD, level=level, method=method, details=details)
    se = variance**0.5
    half = quantile(df, level) * se
    return Estimate(
        value, value - half, value + half, n, level, method,
        se=se, df=df, p=two_sided_p(value / se, df), details=details,
    )  # fmt: skip
