"""The points of an ROC curve, and the threshold at which sensitivity and specificity sum highest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.blocks import Order, ascending

NO_POSITIVE = "no case has the condition"
NO_NEGATIVE = "every case has the condition"
ONE_CASE = "a class has one case: no interval"
PERFECT = "the scores separate the classes completely, or the wrong way round: no interval"
ALL_PAIRS_ALIKE = "every pair of a positive and a negative counts alike: no interval"
NO_VARIATION = "the two scores rank all pairs alike: no interval"
NOTHING_IN_GROUP = "the curve has no length between these false positive rates"
FEW_RESAMPLES = "in some resamples the curve has no length between these false positive rates: no interval"


Floats = NDArray[np.float64]


def check_scores(truth: NDArray[np.bool_], *scores: NDArray[Any]) -> None:
    """Refuse arrays that are not one number per case; NaN is no score."""
    for score in scores:
        if truth.ndim != 1 or score.shape != truth.shape:
            raise ValueError(
                "truth and score must have one entry per case each, "
                f"got shapes {truth.shape} and {score.shape}."
            )
        if score.dtype.kind == "f" and np.isnan(score).any():
            raise ValueError(
                f"{int(np.isnan(score).sum())} of {score.size} scores are missing: leave these cases out, "
                "or count them as indeterminate."
            )


def split(truth: NDArray[np.bool_], score: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores of the positives and of the negatives, in the order of the cases."""
    check_scores(truth, score)
    return score[truth], score[~truth]


def split_sorted(
    truth: NDArray[np.bool_], score: NDArray[Any], order: Order
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same, the lowest score first; `order` is `ascending(score)`."""
    check_scores(truth, score)
    return score[order[truth[order]]], score[order[~truth[order]]]


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
    score : array of numbers, shape (n_cases,)
        Higher = more suspicious; no NaN.
    order : optional
        `ascending(score)`, where it is at hand already.

    Examples
    --------
    >>> curve = roc_curve(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.4, 0.8]))
    >>> curve.threshold, curve.tp, curve.fp
    (array([inf, 0.8, 0.4, 0.1]), array([0, 1, 2, 2]), array([0, 0, 1, 2]))
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

    Examples
    --------
    >>> fpr, tpr = mean_curve(
    ...     [(np.array([0, 0, 1.0]), np.array([0, 1, 1.0])), (np.array([0, 1.0]),) * 2]
    ... )
    >>> fpr, tpr
    (array([0., 0., 1.]), array([0. , 0.5, 1. ]))
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
