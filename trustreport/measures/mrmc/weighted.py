"""Statistics of weighted readers and cases, for `Draws`: means, ratios, areas under the curve."""

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.mrmc.bootstrap import Statistic


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
