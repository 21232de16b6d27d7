"""Areas under readers' ROC curves for draws of readers and cases: what the two-way bootstrap is checked with.

The report has a formula for the variance of an area; `reader_study.py` times the bootstrap on this statistic,
and its tests compare it with published standard errors.
"""

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.mrmc.bootstrap import Statistic


def auc_difference(
    rating: NDArray[np.float64], truth: NDArray[np.bool_], *, compared: int = 1, baseline: int = 0
) -> Statistic:
    """Difference of two arms' mean areas under the ROC curve over readers.

    Parameters
    ----------
    rating : float array, shape (n_arms, n_readers, n_cases)
        NaN: no reading.
    """
    curves = [[_Curve.of_ratings(one, truth) for one in rating[arm]] for arm in (compared, baseline)]

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
    def of_ratings(cls, rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> "_Curve":
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
