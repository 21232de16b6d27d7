"""The operating point that a utility calls for, and the space of utilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustreport.measures.roc.curve import RocCurve
from trustreport.measures.utility.utility_yield import Floats, as_matrix, right_decisions_pay, standard_form

OUTSIDE, TIED = -2, -1


def matrix_at(x: float, y: float) -> Floats:
    """The standard matrix (least utility 0, greatest 1) at a point of the map.

    ::

        U_00 = 1 - max(x, 0)   U_01 = max(y, 0)
        U_10 = max(-y, 0)      U_11 = 1 + min(x, 0)

    In the middle all errors and all right decisions are worth the same (accuracy); to the right class 1
    matters more, to the left class 0; upwards errors in class 1 are milder, downwards those in class 0.

    References
    ----------
    Dyrland, Lundervold, Porta Mana, "Does the evaluation stand up to evaluation?", eq. 13 and figure 1.

    Examples
    --------
    >>> matrix_at(0.25, -0.5)
    array([[0.75, 0.  ],
           [0.5 , 1.  ]])
    """
    return _matrices(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))


def point_of(utility: ArrayLike) -> tuple[float, float]:
    """Where on the map a matrix of two classes lies; its unit and zero do not matter.

    >>> x, y = point_of([[15, -335], [-35, 165]])
    >>> round(x, 12), round(y, 12)
    (0.3, -0.6)
    """
    u = standard_form(utility)
    if u.shape != (2, 2) or not right_decisions_pay(u):
        raise ValueError("the map holds matrices of two classes in which right decisions are worth more.")
    return float(u[1, 1] - u[0, 0]), float(u[0, 1] - u[1, 0])


def inside(x: ArrayLike, y: ArrayLike) -> NDArray[np.bool_]:
    """Whether in both classes the right decision is worth at least as much as the wrong one.

    >>> inside([0.5, 0.8], [0.2, -0.8])
    array([ True, False])
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    in_square = (np.abs(a) <= 1) & (np.abs(b) <= 1)
    return np.asarray(in_square & ~((a * b < 0) & (np.abs(a) + np.abs(b) > 1)))


@dataclass(frozen=True, slots=True)
class UtilityMap:
    """Which candidate has the greatest yield at each point of the map.

    `best` has a row for each y, a column for each x; `TIED` where two are equal, `OUTSIDE` where the map has
    no matrix. `area` is the part of the map that each candidate wins (not a probability: none is declared).
    """

    x: Floats
    y: Floats
    best: NDArray[np.int64]
    area: Floats


def utility_map(shares: ArrayLike, *, steps: int = 201) -> UtilityMap:
    """The map for candidates judged on the same cases.

    Parameters
    ----------
    shares : array, shape (n_candidates, 2, 2)
        Cases (or shares of cases) by decision and truth of each candidate; columns alike in all.
    steps : int
        Points along each axis.

    Examples
    --------
    >>> found = utility_map([[[27, 15], [23, 35]], [[43, 18], [7, 32]]], steps=5)
    >>> found.best
    array([[-1,  0,  0, -2, -2],
           [ 1,  1,  1,  0, -2],
           [ 1,  1,  1,  1,  0],
           [-2,  1,  1,  1,  0],
           [-2, -2,  1,  1, -1]])
    """
    cells = np.asarray(shares, dtype=np.float64)
    if cells.ndim != 3 or cells.shape[1:] != (2, 2) or not len(cells):
        raise ValueError(f"shares must be candidates by decision by truth (2 by 2), got shape {cells.shape}.")
    if not np.allclose(cells.sum(axis=1), cells[0].sum(axis=0)):
        raise ValueError("candidates must be judged on the same cases: their counts by truth differ.")
    axis = np.linspace(-1, 1, steps)
    x, y = np.meshgrid(axis, axis)
    yields = np.tensordot(_matrices(x, y), cells / cells[0].sum(), ((-2, -1), (1, 2)))
    best = yields.argmax(axis=-1).astype(np.int64, copy=False)
    close = np.count_nonzero(yields >= yields.max(axis=-1, keepdims=True) - 1e-12, axis=-1) > 1
    best = np.where(inside(x, y), np.where(close, TIED, best), OUTSIDE)
    n = np.count_nonzero(best != OUTSIDE)
    area = np.array([np.count_nonzero(best == i) / n for i in range(len(cells))])
    return UtilityMap(axis, axis, best, area)


def _matrices(x: Floats, y: Floats) -> Floats:
    """Matrices at points, shape (..., 2, 2)."""
    rows = [
        [1 - np.maximum(x, 0), np.maximum(y, 0)],
        [np.maximum(-y, 0), 1 + np.minimum(x, 0)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@dataclass(frozen=True, slots=True)
class BestPoint:
    """The point of an ROC curve with the greatest yield at a prevalence.

    `slope` is that of the lines of equal yield, `intercept` the height at which the best one meets the
    sensitivity axis (NaN when the slope is infinite).
    """

    threshold: float
    fpr: float
    tpr: float
    expected_yield: float
    slope: float
    intercept: float


def equal_yield_slope(utility: ArrayLike, prevalence: float) -> float:
    """Sensitivity that must be gained for a unit of false positive rate to leave the yield unchanged.

    With the negative class first and q the prevalence of the positive one::

        slope = (U_00 - U_10) (1 - q) / ((U_11 - U_01) q)

    which is (U_11 - U_01)(1 - B) / ((U_00 - U_10) B) where class 0 is the one looked for, with share B.

    References
    ----------
    Metz (1978), Semin. Nucl. Med. 8, 283-298, p. 295.
    Dyrland, Lundervold, Porta Mana, "Does the evaluation stand up to evaluation?", eqs 23 and 24.

    Examples
    --------
    >>> equal_yield_slope([[1, 0], [0, 1]], 0.2)
    4.0
    """
    of_negatives, of_positives = _stakes(utility, prevalence)
    return of_negatives / of_positives if of_positives > 0 else inf


def best_point(curve: RocCurve, utility: ArrayLike, prevalence: float) -> BestPoint:
    """The threshold whose decisions are worth most; of several the highest.

    A corner of the upper convex hull, where a line of that slope touches the curve. The yield there is
    optimistic if the threshold is chosen on the cases on which it is measured.

    Parameters
    ----------
    curve : RocCurve
    utility : array, shape (2, 2)
        Rows decisions, columns truths, negative class first; in either truth the right decision must be worth
        at least as much as the wrong one.
    prevalence : float in (0, 1)
        That of the population in which the model is to be used.

    Examples
    --------
    >>> from trustreport.measures.roc.curve import roc_curve
    >>> curve = roc_curve(np.array([0, 1, 0, 1, 1], bool), np.array([0.1, 0.4, 0.5, 0.8, 0.6]))
    >>> best_point(curve, [[1, -4], [0, 5]], 0.2).threshold
    0.4
    """
    of_negatives, of_positives = _stakes(utility, prevalence)
    matrix = as_matrix(utility)
    gained = of_positives * curve.tpr - of_negatives * curve.fpr
    at = int(np.argmax(np.round(gained / max(of_positives, of_negatives), 12)))
    base = matrix[0, 0] * (1 - prevalence) + matrix[0, 1] * prevalence
    slope = equal_yield_slope(utility, prevalence)
    fpr, tpr = float(curve.fpr[at]), float(curve.tpr[at])
    intercept = tpr - slope * fpr if slope < inf else float("nan")
    return BestPoint(float(curve.threshold[at]), fpr, tpr, float(base + gained[at]), slope, intercept)


def dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether decisions with this (sensitivity, specificity) are worth more whatever the utilities.

    True when neither rate is lower and one is higher: then the yield is at least as high for every matrix in
    which right decisions pay, at any prevalence.

    >>> dominates((0.9, 0.8), (0.85, 0.8)), dominates((0.9, 0.7), (0.85, 0.8))
    (True, False)
    """
    return all(a >= b for a, b in zip(one, other)) and one != other


def not_dominated(rates: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Candidates (sensitivity, specificity) that no other candidate dominates.

    >>> not_dominated([(0.9, 0.7), (0.85, 0.8), (0.8, 0.8)])
    (0, 1)
    """
    return tuple(i for i, own in enumerate(rates) if not any(dominates(other, own) for other in rates))


def _stakes(utility: ArrayLike, prevalence: float) -> tuple[float, float]:
    """What a right decision adds in the negatives and in the positives, weighed by their shares."""
    matrix = as_matrix(utility)
    if matrix.shape != (2, 2):
        raise ValueError(f"an operating point needs two classes, got a matrix of shape {matrix.shape}.")
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence must lie in (0, 1), got {prevalence:g}.")
    of_negatives = float(matrix[0, 0] - matrix[1, 0]) * (1 - prevalence)
    of_positives = float(matrix[1, 1] - matrix[0, 1]) * prevalence
    if not right_decisions_pay(matrix) or of_negatives == of_positives == 0:
        raise ValueError("a wrong decision is worth more than the right one, or all are worth the same.")
    return of_negatives, of_positives


def shares(tpr: float, fpr: float, prevalence: float) -> Floats:
    """Shares of all cases by decision (rows) and truth (columns), negative class first.

    >>> shares(0.8, 0.1, 0.5)
    array([[0.45, 0.1 ],
           [0.05, 0.4 ]])
    """
    present, absent = prevalence, 1 - prevalence
    return np.array([[absent * (1 - fpr), present * (1 - tpr)], [absent * fpr, present * tpr]])
