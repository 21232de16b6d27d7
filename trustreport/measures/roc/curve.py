"""Curves of a score: the ROC curve, its mean over groups, and average precision."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import (
    ONE_CLUSTER,
    ONE_OF_A_CLASS,
    Clusters,
    Order,
    ascending,
    clustered_variance,
    clusters_of_scarcer_class,
)
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.note import NO_NOTE
from trustreport.measures.notes import OFTEN_ABOVE
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.roc import notes
from trustreport.measures.roc.auc import Floats, check_scores, split_sorted

CHUNK = 1_000_000  # points worked on at once


@dataclass(frozen=True, slots=True)
class RocCurve:
    """Operating points from the strictest threshold (infinite, nobody called positive) to the laxest.

    `tp` and `fp` count the positives and negatives with score >= threshold. Between points the curve is a
    straight line: cases with equal scores cannot be distinguished.
    """

    threshold: Floats
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]

    @property
    def tpr(self) -> Floats:
        """Sensitivity at each point."""
        return np.asarray(self.tp / self.tp[-1], dtype=np.float64)

    @property
    def fpr(self) -> Floats:
        """1 - specificity at each point."""
        return np.asarray(self.fp / self.fp[-1], dtype=np.float64)

    def corners(self) -> "RocCurve":
        """The points at which the curve turns: the same curve with fewer points, for drawing."""
        keep = np.ones(len(self.tp), np.bool_)
        for start in range(1, len(keep) - 1, CHUNK):
            some = slice(start - 1, start + CHUNK + 1)
            up, right = np.diff(self.tp[some]), np.diff(self.fp[some])
            keep[start : start + len(up) - 1] = up[1:] * right[:-1] != up[:-1] * right[1:]
        return RocCurve(self.threshold[keep], self.tp[keep], self.fp[keep])


def roc_curve(truth: NDArray[np.bool_], score: NDArray[Any], *, order: Order | None = None) -> RocCurve:
    """One point for each score that occurs, and the empty one.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
        Both classes must occur.
    order : optional
        `ascending(score)`, where it is at hand already.
    """
    check_scores(truth, score)
    if truth.all() or not truth.any():
        raise ValueError(
            f"an ROC curve needs cases of both classes; all {truth.size} have truth {bool(truth.all()):d}."
        )
    order = (ascending(score) if order is None else order)[::-1]
    falling, present = score[order], truth[order]
    last = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    threshold = np.concatenate([[np.inf], falling[last]])
    tp = np.concatenate([[0], np.cumsum(present, dtype=np.int32)[last]]).astype(np.int64, copy=False)
    fp = np.concatenate([[-1], last]).astype(np.int64, copy=False)
    fp += 1 - tp
    return RocCurve(threshold, tp, fp)


def mean_curve(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The curve whose sensitivity at each false positive rate is the mean of those of the curves.

    ::

        y(x) = mean of y_j(x),   a rise of curve j at x taken from its lower to its upper end

    The area under it is the mean of the areas.

    Estimand: describes these curves; it has no interval of its own.

    Parameters
    ----------
    curves : at least one pair of float arrays (fpr, tpr), shape (n_points,) each
        Points from (0, 0) to (1, 1), neither falling, as `roc_curve` gives them.

    Returns
    -------
    fpr, tpr : float arrays, shape (n_points,)
        From (0, 0) to (1, 1), neither falling; two points where the mean rises.

    References
    ----------
    Fawcett (2006), Pattern Recognit. Lett. 27, 861-874, section 8.1 (vertical averaging).
    Chen and Samuelson (2014), Br. J. Radiol. 87, 20140016.
    """
    at = np.unique(np.concatenate([fpr for fpr, _ in curves]))
    low, high = np.zeros(len(at)), np.zeros(len(at))
    for fpr, tpr in curves:
        first = np.minimum(np.searchsorted(fpr, at, "left"), len(fpr) - 1)
        last = np.maximum(np.searchsorted(fpr, at, "right") - 1, 0)
        between = np.interp(at, fpr, tpr)
        meets = fpr[first] == at
        low += np.where(meets, tpr[first], between) / len(curves)
        high += np.where(meets, tpr[last], between) / len(curves)
    x, y = np.repeat(at, 2), np.column_stack([low, high]).ravel()
    kept = np.append(True, (np.diff(x) > 0) | (np.diff(y) > 0))
    return x[kept], y[kept]


CLUSTERED = "cluster_influence"
# With fewer positives the influences vary less than the value does.
FEW_POSITIVES = 50
BIASED = 75  # with fewer, AP is too high on average for its interval


@dataclass(frozen=True, slots=True)
class Outranked:
    """Positives and negatives, the lowest score first, and how many of each score as high as a positive."""

    positive: NDArray[Any]
    negative: NDArray[Any]
    above: NDArray[np.int64]
    false: NDArray[np.int64]


def outranked(truth: NDArray[np.bool_], score: NDArray[Any], order: Order | None = None) -> Outranked:
    """What every interval of the average precision starts from; `order` is `ascending(score)`.

    >>> outranked(np.array([False, True, True]), np.array([2, 1, 3])).false
    array([1, 0])
    """
    positive, negative = split_sorted(truth, score, ascending(score) if order is None else order)

    def as_high(among: NDArray[Any]) -> NDArray[np.int64]:
        return len(among) - np.searchsorted(among, positive, "left")

    return Outranked(positive, negative, as_high(positive), as_high(negative))


def logit_binomial(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    *,
    level: float = 0.95,
    known: Outranked | None = None,
) -> Estimate:
    """Average precision with an interval that takes it as a share of the cases with the condition.

    With A_i positives and B_i negatives that score at least as high as positive i, n1 positives::

        AP = mean_i A_i / (A_i + B_i)
        logit AP +- z / sqrt(n1 AP (1 - AP)),   turned back

    Estimand: the area under the population's precision-recall curve, cases sampled as they come. Depends on
    the prevalence: the value of a useless score is the prevalence (in `details`).

    Parameters
    ----------
    known : optional
        `outranked` of these cases, where it is at hand already.

    Returns
    -------
    In (0, 1]; NaN with a note when no case has the condition; no limits when AP is 1.

    Notes
    -----
    Wider than need be where scores separate well; the choice under 50 positives, `logit_influence` from there
    on (benchmarks/roc.py). AP itself is biased upwards with few positives: each counts in its own precision.

    References
    ----------
    Boyd, Eng, Page (2013), ECML PKDD, LNCS 8190, 451-466.

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> print(logit_binomial(truth, np.array([1, 2, 2, 3, 2, 3, 4, 5])))
    0.83 (95% CI 0.26 to 0.99; n = 8)
    """
    return _average_precision(truth, score, level, "logit_binomial", known)


def logit_influence(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
    known: Outranked | None = None,
) -> Estimate:
    """Average precision with an interval from what each case contributes to it, for 50 positives or more.

    The influence of a case is the derivative of AP by its weight, V the sum of their squares::

        logit AP +- z sqrt(V) / (AP (1 - AP)),   turned back

    Value, parameters and edges as in `logit_binomial`; no limits with one positive. With `cluster` (n_cases,)
    V is that of the clusters' summed influences; with D >= 1 its ratio to that of single cases and fewer than
    50 clusters that hold a positive it is at least D AP (1 - AP) / n1. t has as many degrees of freedom as
    clusters hold a case of the class found in fewer, less one.

    References
    ----------
    Hampel (1974), J. Am. Stat. Assoc. 69, 383-393 (influence curve).

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> print(logit_influence(truth, np.array([1, 2, 2, 3, 2, 3, 4, 5])))
    0.83 (95% CI 0.39 to 0.97; n = 8)
    """
    return _average_precision(truth, score, level, "logit_influence", known, cluster)


def _average_precision(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    level: float,
    method: str,
    known: Outranked | None,
    cluster: Clusters | None = None,
) -> Estimate:
    z = normal_quantile(level)
    method = method if cluster is None else CLUSTERED
    check_scores(truth, score)
    n1, n = int(np.count_nonzero(truth)), truth.size
    if n1 == 0:
        return undefined(n, notes.NO_POSITIVE, level=level, method=method)
    known = known or outranked(truth, score)
    highest, lowest, above, false = known.positive, known.negative, known.above, known.false
    own = above / (above + false)
    value = float(own.mean())
    details = {"prevalence": n1 / n}
    if value == 1 or (n1 < 2 and method != "logit_binomial"):
        note = notes.NO_NEGATIVE if n1 == n else notes.PERFECT if value == 1 else notes.ONE_CASE
        return Estimate(value, nan, nan, n, level, method, note, details=details)
    if method == "logit_binomial":
        variance = value * (1 - value) / n1
    else:
        gain = np.concatenate([[0.0], np.cumsum(false / (above + false) ** 2)])
        loss = np.concatenate([[0.0], np.cumsum(above / (above + false) ** 2)])
        # Cases in their order are needed only to sum over clusters; ranked ones are found faster.
        present, absent = (highest, lowest) if cluster is None else (score[truth], score[~truth])
        share = own if cluster is None else own[np.searchsorted(highest, present, "left")]
        of_positive = share - value + gain[np.searchsorted(highest, present, "right")]
        of_negative = -loss[np.searchsorted(highest, absent, "right")]
        if cluster is None:
            summed = float(of_positive @ of_positive + of_negative @ of_negative)
            variance = n / (n - 1) * summed / n1**2
        else:
            influence = np.empty(n)
            influence[truth], influence[~truth] = of_positive, of_negative
            variance, n_clusters = clustered_variance(influence / n1, cluster)
            if n_clusters < 2:
                return Estimate(value, nan, nan, n, level, method, ONE_CLUSTER, details=details)
            held = clusters_of_scarcer_class(truth, cluster)
            if held < 2:
                return Estimate(value, nan, nan, n, level, method, ONE_OF_A_CLASS, details=details)
            if len(np.unique(cluster[truth])) < FEW_POSITIVES:
                alone = n / (n - 1) * float(influence @ influence) / n1**2
                effect = max(1.0, variance / alone) if alone > 0 else 1.0
                variance = max(variance, effect * value * (1 - value) / n1)
            z, details["clusters"] = quantile(held - 1, level), float(held)
    half = z * sqrt(variance) / (value * (1 - value))
    centre = log(value / (1 - value))
    low, high = (1 / (1 + exp(-end)) for end in (centre - half, centre + half))
    note = OFTEN_ABOVE if n1 < BIASED else NO_NOTE
    return Estimate(value, low, high, n, level, method, note, se=sqrt(variance), details=details)
