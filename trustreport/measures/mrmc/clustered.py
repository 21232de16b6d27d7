"""Difference of two arms over all paired readings, with a variance that knows their clusters."""

from math import inf, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from trustreport.measures.cluster import Clusters, grouped
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.bootstrap import Statistic
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


def ratio_mean(numerator: NDArray[np.float64], denominator: NDArray[np.float64], arm: int = 0) -> Statistic:
    """One arm's sum of the numerator over its sum of the denominator; parameters as in `ratio_difference`."""
    return lambda readers, cases: _ratios(numerator[arm], denominator[arm], readers, cases)


def ratio_difference(
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64],
    *,
    compared: int = 1,
    baseline: int = 0,
) -> Statistic:
    """Difference of two arms, each a sum over readings divided by another.

    Seconds for each case: the seconds over ones. PPV: called positive and condition present, over called
    positive. Sensitivity: the same over condition present.

    Parameters
    ----------
    numerator, denominator : float array, shape (n_arms, n_readers, n_cases)
        NaN in either leaves the reading out.
    """
    one, other = (ratio_mean(numerator, denominator, arm) for arm in (compared, baseline))
    return combined((1.0, one), (-1.0, other))


def combined(*parts: tuple[float, Statistic], constant: float = 0.0) -> Statistic:
    """A weighted sum of statistics of the same draws: ``combined((1, sensitivity), (1, specificity))``."""

    def total(readers: NDArray[np.float64], cases: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(constant + sum(weight * part(readers, cases) for weight, part in parts))

    return total


def auc_difference(
    rating: NDArray[np.float64], truth: NDArray[np.bool_], *, compared: int = 1, baseline: int = 0
) -> Statistic:
    """Difference of two arms' mean areas under the ROC curve over readers.

    Parameters
    ----------
    rating : float array, shape (n_arms, n_readers, n_cases)
        NaN: no reading.
    truth : bool array, shape (n_cases,)

    Examples
    --------
    >>> rating = np.array([[[1.0, 2, 2, 5]], [[1, 1, 2, 3]]])
    >>> auc_difference(rating, np.arange(4) > 1)(np.ones((1, 1)), np.ones((1, 4)))
    array([0.125])
    """
    curves = [[_Curve.of(one, truth) for one in rating[arm]] for arm in (compared, baseline)]

    def difference(readers: NDArray[np.float64], cases: NDArray[np.float64]) -> NDArray[np.float64]:
        after, before = (_mean_area(of_arm, readers, cases) for of_arm in curves)
        return after - before

    return difference


class _Curve:
    """The rated cases of one reader and arm in the order of their ratings, and where each rating begins."""

    def __init__(
        self, order: NDArray[np.intp], starts: NDArray[np.intp], positive: NDArray[np.bool_]
    ) -> None:
        self.order, self.starts, self.positive = order, starts, positive

    @classmethod
    def of(cls, rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> "_Curve":
        rated = np.flatnonzero(~np.isnan(rating))
        order = rated[np.argsort(rating[rated], kind="stable")]
        ordered = rating[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(order) else order
        return cls(order, starts, truth[order])

    def areas(self, cases: NDArray[np.float64]) -> NDArray[np.float64]:
        """The area for each draw: a positive beats the weight of negatives below, and half of those level."""
        if not len(self.order):
            return np.full(len(cases), np.nan)
        weight = cases[:, self.order]
        positive = np.add.reduceat(np.where(self.positive, weight, 0.0), self.starts, axis=1)
        negative = np.add.reduceat(np.where(self.positive, 0.0, weight), self.starts, axis=1)
        below = np.cumsum(negative, axis=1)
        made = positive.sum(axis=1) * below[:, -1]
        won = (positive * (below - negative / 2)).sum(axis=1)
        return np.asarray(won / np.where(made > 0, made, np.nan))


def _mean_area(
    curves: list[_Curve], readers: NDArray[np.float64], cases: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean of the readers' areas for each draw; a reader that was not drawn need not have one."""
    areas = np.stack([curve.areas(cases) for curve in curves], axis=1)
    total = np.where(readers > 0, readers * areas, 0.0).sum(axis=1)
    return np.asarray(total / readers.sum(axis=1))


def _ratios(
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64],
    readers: NDArray[np.float64],
    cases: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weighted sum of the numerator over that of the denominator, per draw; NaN where the latter is 0."""
    known = ~np.isnan(numerator) & ~np.isnan(denominator)
    above, below = (
        ((readers @ np.where(known, part, 0.0)) * cases).sum(axis=1) for part in (numerator, denominator)
    )
    return np.asarray(above / np.where(below != 0, below, np.nan))
