"""Measures of calls among several classes: each class against the rest, all, and means over classes."""

from collections.abc import Callable
from math import nan, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures import notes
from trustreport.measures.cluster import Clusters, clustered_variance
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.proportion import normal_quantile, wilson

Codes = NDArray[np.int64]
Mean = Literal["sensitivity", "ppv", "f1"]
MOVER, DELTA = "class_mover", "class_delta"
STEP = 1e-30  # of the derivative by an imaginary step, which has no rounding error
NO_CASE_OF_A_CLASS = note("class_has_no_case")
NEVER_CALLED = note("class_never_called_predictive_value_does")
FEW_OF_RAREST = note("fewer_than_20_cases_or_clusters")
LEAST_OF_RAREST = 20
AT_THE_END = note("value_at_end_what_possible_this")


def class_measure(
    name: str,
    truth: Codes,
    called: Codes,
    of_class: int,
    cluster: Clusters | None = None,
    *,
    level: float = 0.95,
) -> Estimate:
    """A measure of the four cells for one class against all others.

    Parameters
    ----------
    name : of `trustreport.measures.confusion.table.MEASURES`
    truth, called : int array, shape (n_cases,)
        Position of the class; -1 of `called` where there was no output, which calls no class.

    Examples
    --------
    >>> truth, called = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 1, 2, 0])
    >>> print(class_measure("sensitivity", truth, called, 0))
    0.50 (95% CI 0.09 to 0.91; n = 2)
    """
    is_class, says = truth == of_class, called == of_class
    if cluster is not None:
        return clustered(name, cluster_cells(is_class, says, cluster), level=level)
    both, alone = int((is_class & says).sum()), int((~is_class & says).sum())
    counts = ConfusionCounts(both, alone, int(is_class.sum()) - both, int((~is_class).sum()) - alone)
    return estimated(MEASURES[name], counts, level=level)


def right_share(
    right: NDArray[np.bool_], cluster: Clusters | None = None, *, level: float = 0.95
) -> Estimate:
    """Share of cases that got their class, Wilson's interval; with clusters that of a design effect.

    >>> print(right_share(np.array([True, True, False, True])))
    0.75 (95% CI 0.30 to 0.95; n = 4)
    """
    if cluster is None:
        return wilson(int(right.sum()), len(right), level)
    return clustered("sensitivity", cluster_cells(np.ones(len(right), bool), right, cluster), level=level)


def among_highest(truth: Codes, scores: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Whether fewer than k classes have a higher score than that of the case; (n_cases, n_classes) scores."""
    own = np.take_along_axis(scores, truth[:, None], axis=1)
    return np.asarray((scores > own).sum(axis=1) < k)


def mean_of_classes(
    of: Mean,
    truth: Codes,
    called: Codes,
    n_classes: int,
    cluster: Clusters | None = None,
    *,
    weighted: bool = False,
    level: float = 0.95,
) -> Estimate:
    """Mean over classes of sensitivity, positive predictive value or F1, each class against the rest.

    With C the table of classes by calls, r_k and c_k its row and column of class k, w_k = 1 / K, or r_k / n
    with `weighted`::

        sensitivity_k = C_kk / r_k    ppv_k = C_kk / c_k    F1_k = 2 C_kk / (r_k + c_k)
        m = sum_k w_k m_k

    Sensitivity of independent cases, equal weights: the cases of each class are a sample of their own, and
    with (l_k, u_k) the Wilson limits of each class (square-and-add)::

        m - sqrt(sum_k (w_k (m_k - l_k))^2)  to  m + sqrt(sum_k (w_k (u_k - m_k))^2)

    Otherwise the delta method on the logit of m: the influence of a case in cell ij is dm / dC_ij, summed
    within clusters; Student's t with clusters.

    Estimand: the mean in the population from which the cases, or clusters, were sampled.

    Parameters
    ----------
    truth, called : int array, shape (n_cases,)
        As for `class_measure`.

    Returns
    -------
    ``class_mover`` or ``class_delta``; NaN with a note where a class has no case or, for the predictive
    value, is never called; without limits by the delta method at 0 and 1.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 873-890 (method 10); Zou, Donner (2008), Stat. Med. 27, 1693-1702, for
    sums of more than two; Takahashi, Yamamoto, Kuchiba, Koyama (2022), Appl. Intell. 52, 4961-4972, for F1.

    Examples
    --------
    >>> truth, called = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 1, 2, 0])
    >>> print(mean_of_classes("sensitivity", truth, called, 3))
    0.67 (95% CI 0.38 to 0.86; n = 6)
    """
    n = len(truth)
    square = of == "sensitivity" and cluster is None and not weighted
    method = MOVER if square else DELTA
    table = np.zeros((n_classes, n_classes + 1))
    np.add.at(table, (truth, np.where(called < 0, n_classes, called)), 1.0)
    missing = _why_undefined(of, table)
    if missing:
        return undefined(n, missing, level=level, method=method)
    if square:
        own = [class_measure("sensitivity", truth, called, k, level=level) for k in range(n_classes)]
        value = sum(e.value for e in own) / n_classes
        below = sqrt(sum((e.value - e.low) ** 2 for e in own)) / n_classes
        above = sqrt(sum((e.high - e.value) ** 2 for e in own)) / n_classes
        return Estimate(value, value - below, value + above, n, level, method)
    mean = _mean(of, weighted=weighted)
    value = float(mean(table))
    if not 0 < value < 1:
        return Estimate(value, nan, nan, n, level, method, AT_THE_END)
    influence = _gradient(mean, table)[truth, np.where(called < 0, n_classes, called)]
    groups = np.arange(n) if cluster is None else cluster
    variance, n_groups = clustered_variance(influence, groups)
    if n_groups < 2 or not variance > 0:
        return Estimate(value, nan, nan, n, level, method, notes.NO_WIDTH)
    z = normal_quantile(level) if cluster is None else quantile(n_groups - 1.0, level)
    half = z * sqrt(variance) / (value * (1 - value))
    low, high = (_expit(_logit(value) + side * half) for side in (-1, 1))
    details = {} if cluster is None else {"clusters": float(n_groups)}
    return Estimate(value, low, high, n, level, method, se=sqrt(variance), details=details)


def _why_undefined(of: Mean, table: NDArray[np.float64]) -> Note:
    k = len(table)
    rows, columns = table.sum(axis=1), table[:, :k].sum(axis=0)
    if not table.any():
        return notes.NO_CASE
    if of == "ppv" and (columns == 0).any():
        return NEVER_CALLED
    absent = rows == 0 if of == "sensitivity" else rows + columns == 0
    return NO_CASE_OF_A_CLASS if absent.any() else NO_NOTE


def _mean(of: Mean, *, weighted: bool) -> Callable[[NDArray[Any]], Any]:
    def mean(table: NDArray[Any]) -> Any:
        k = len(table)
        hit = np.diagonal(table[:, :k])
        rows, columns = table.sum(axis=1), table[:, :k].sum(axis=0)
        under = {"sensitivity": rows, "ppv": columns, "f1": (rows + columns) / 2}[of]
        own = hit / under
        return (own * rows).sum() / rows.sum() if weighted else own.mean()

    return mean


def _gradient(f: Callable[[NDArray[Any]], Any], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The derivative by each cell; of an f that the table's size does not change, 0 summed over cases."""
    found = np.zeros_like(table)
    for place in np.ndindex(table.shape):
        moved = table.astype(complex)
        moved[place] += 1j * STEP
        found[place] = f(moved).imag / STEP
    return found


def _logit(p: float) -> float:
    return float(np.log(p / (1 - p)))


def _expit(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))
