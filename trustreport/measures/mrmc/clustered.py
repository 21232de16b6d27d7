"""Difference of two arms over all paired readings, with a variance that knows their clusters."""

from math import inf, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from trustreport.measures.cluster import Clusters, grouped
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, symmetric

Clustering = Literal["cluster_case", "cluster_reader", "cluster_twoway_z", "cluster_twoway_t"]
CLUSTERINGS: tuple[Clustering, ...] = (
    "cluster_case",
    "cluster_reader",
    "cluster_twoway_z",
    "cluster_twoway_t",
)


def clustered_difference(
    outcome: NDArray[np.float64],
    clustering: Clustering = "cluster_case",
    *,
    compared: int = 1,
    baseline: int = 0,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean difference of two arms over all pairs of readings, by the robust variance of its clusters.

    A pair is one reader and case read in both arms; d its difference, n the pairs, G the clusters::

        V = sum over clusters of (sum of (d - mean d))^2 / n^2 x G / (G - 1)
        two-way: V_case + V_reader - V_pair, each with its own factor

    ``cluster_case`` takes readers as fixed, ``cluster_reader`` cases as fixed, both with the normal quantile;
    ``cluster_twoway_z`` samples both, ``cluster_twoway_t`` with t and min(cases, readers) - 1 df.

    Estimand: mean over the pairs, so that a reader who read more weighs more.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted, 0.0 not, NaN no reading. With correct decisions the result is the absolute risk
        reduction.
    cluster : int array, shape (n_cases,), optional
        Which cases are of one patient: patients then stand in for cases.

    Returns
    -------
    Estimate
        In [-1, 1]; `n` counts pairs. No limits, and a note, with fewer than two clusters or no positive
        variance.

    Notes
    -----
    Clustering by one of both covers too rarely; two-way with z also, with t it is cautious.

    References
    ----------
    Cameron, Gelbach, Miller (2011), J. Bus. Econ. Stat. 29, 238-249.

    Examples
    --------
    >>> outcome = np.array([[[0.0, 0, 1], [0, 1, 1]], [[1.0, 0, 1], [1, 1, 0]]])
    >>> print(clustered_difference(outcome))
    0.17 (95% CI -0.70 to 1.03; n = 6)
    """
    change = outcome[compared] - outcome[baseline]
    paired = ~np.isnan(change)
    n = int(paired.sum())
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method=clustering)
    value = float(np.where(paired, change, 0.0).sum() / n)
    residual = np.where(paired, change - value, 0.0)
    residual, held = grouped(residual, cluster), grouped(paired.astype(float), cluster) > 0
    by_case, cases = residual.sum(axis=0), int(held.any(axis=0).sum())
    by_reader, readers = residual.sum(axis=1), int(held.any(axis=1).sum())
    details = {"n_readers": float(readers), "n_cases": float(cases)}
    needed = {"cluster_case": cases, "cluster_reader": readers}.get(clustering, min(cases, readers))
    if needed < 2:
        return no_interval(value, n, notes.ONE_CLUSTER, level=level, method=clustering, details=details)
    variance = {
        "cluster_case": lambda: _variance(by_case, cases, n),
        "cluster_reader": lambda: _variance(by_reader, readers, n),
    }.get(
        clustering,
        lambda: (
            _variance(by_case, cases, n)
            + _variance(by_reader, readers, n)
            - _variance(residual, int(held.sum()), n)
        ),
    )()
    if variance <= NEGLIGIBLE:
        note = notes.TWOWAY_NOT_POSITIVE if abs(residual).max() > NEGLIGIBLE else notes.NO_VARIATION
        details["variance"] = variance
        return no_interval(value, n, note, level=level, method=clustering, details=details)
    df = float(needed - 1) if clustering == "cluster_twoway_t" else inf
    return symmetric(value, variance, n, df=df, level=level, method=clustering, null=0.0, details=details)


def mcnemar_clustered_case(
    outcome: NDArray[np.float64],
    *,
    compared: int = 1,
    baseline: int = 0,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """McNemar's test of two arms where each case was judged by several readers, cases as clusters.

    With S_k the sum over readers of the difference in case k (in the cases of patient k, where a `cluster` is
    given), and K cases::

        chi-square = (sum S_k)^2 / sum S_k^2 x (K - 1) / K, 1 df

    Returns
    -------
    Estimate
        `value` is the chi-square and `p` its tail; no limits. Where no case favours an arm, 0 with p = 1.

    References
    ----------
    Obuchowski (1998), Stat. Med. 17, 1495-1507.

    Examples
    --------
    >>> outcome = np.array([[[0.0, 0, 1], [0, 1, 1]], [[1.0, 0, 1], [1, 1, 0]]])
    >>> round(mcnemar_clustered_case(outcome).value, 3)
    0.133
    """
    method = "mcnemar_clustered_case"
    change = outcome[compared] - outcome[baseline]
    paired = ~np.isnan(change)
    n, held = int(paired.sum()), grouped(paired.sum(axis=0).astype(float), cluster)
    cases = int((held > 0).sum())
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method=method)
    if cases < 2:
        return undefined(n, notes.ONE_CLUSTER, level=level, method=method)
    s = grouped(np.where(paired, change, 0.0).sum(axis=0), cluster)
    squares = float(s @ s)
    chi2 = float(s.sum() ** 2 / squares * (cases - 1) / cases) if squares > 0 else 0.0
    return Estimate(
        chi2,
        float("nan"),
        float("nan"),
        n,
        level,
        method,
        notes.TEST_ONLY if squares > 0 else notes.NO_DISCORDANT,
        df=1.0,
        p=float(chdtrc(1, chi2)),
        details={"n_cases": float(cases), "z": sqrt(chi2)},
    )


def _variance(sums: NDArray[np.float64], clusters: int, n: int) -> float:
    return float((sums**2).sum() / n**2 * clusters / (clusters - 1))
