"""The points of an ROC curve, and the threshold at which sensitivity and specificity sum highest."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.order import Order, ascending
from trustreport.measures.roc.scores import Floats, check_scores

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
