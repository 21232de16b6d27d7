"""Utility matrices on a common scale, and the space of all matrices of two classes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
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
    """
    return _matrices(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))


def point_of(utility: ArrayLike) -> tuple[float, float]:
    """Where on the map a matrix of two classes lies; its unit and zero do not matter."""
    u = standard_form(utility)
    if u.shape != (2, 2) or not right_decisions_pay(u):
        raise ValueError("the map holds matrices of two classes in which right decisions are worth more.")
    return float(u[1, 1] - u[0, 0]), float(u[0, 1] - u[1, 0])


def inside(x: ArrayLike, y: ArrayLike) -> NDArray[np.bool_]:
    """Whether in both classes the right decision is worth at least as much as the wrong one."""
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


def as_matrix(utility: ArrayLike) -> Floats:
    """A matrix of finite numbers: a row for each decision, a column for each truth, not always as many."""
    matrix = np.asarray(utility, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise ValueError(
            "utilities have a row for each decision, a column for each truth with a number in each cell, "
            f"got shape {matrix.shape}."
        )
    return matrix


def greatest_expected(utility: ArrayLike, probability: ArrayLike) -> NDArray[np.int64]:
    """The decision of greatest expected utility for each case; of equal ones the first.

    With p_j the probability of class j of a case::

        decision = argmax over i of sum over j of U_ij p_j

    Parameters
    ----------
    utility : array, shape (n_decisions, n_classes)
    probability : array, shape (n_cases, n_classes)
        Each row not negative, sum 1.

    References
    ----------
    Dyrland, Lundervold, Porta Mana, "Does the evaluation stand up to evaluation?", eq. 9.

    Examples
    --------
    Dismiss, test further or treat, at a probability of disease of .02, .15 and .9:

    >>> utility = [[0, -10], [-0.3, -1], [-1, 2]]
    >>> greatest_expected(utility, [[0.98, 0.02], [0.85, 0.15], [0.1, 0.9]])
    array([0, 1, 2])
    """
    matrix, shares = as_matrix(utility), np.asarray(probability, dtype=np.float64)
    if shares.ndim != 2 or shares.shape[1] != matrix.shape[1]:
        raise ValueError(
            f"probability must have a column for each of {matrix.shape[1]} classes, got shape {shares.shape}."
        )
    if (shares < 0).any() or not np.allclose(shares.sum(axis=1), 1, atol=1e-6):
        raise ValueError("the probabilities of a case must not be negative, and sum to 1.")
    # Rounded on the scale of the utilities, so that equal decisions are equal.
    expected = (shares @ matrix.T) / (float(np.ptp(matrix)) or 1.0)
    chosen: NDArray[np.int64] = np.argmax(np.round(expected, 12), axis=1).astype(np.int64)
    return chosen


def expected_matrix(utilities: Sequence[ArrayLike], probability: Sequence[float] | None = None) -> Floats:
    """The matrix to decide by when one of several may be right: their mean.

    Only the mean counts for the yield, which is linear in the utilities. They must be on one scale: matrices
    in different units are first brought to the same zero and unit by whoever states them.

    Parameters
    ----------
    utilities : matrices of one shape
    probability : one for each, not negative, sum 1, optional
        Equal when not given.
    """
    matrices = np.stack([as_matrix(u) for u in utilities])
    mean: Floats = np.tensordot(weights(len(matrices), probability), matrices, 1)
    return mean


def weights(n: int, probability: Sequence[float] | None) -> Floats:
    """Probabilities of n matrices, equal when not given."""
    if probability is None:
        return np.full(n, 1 / n)
    share = np.asarray(probability, dtype=np.float64)
    if len(share) != n or (share < 0).any() or not np.isclose(share.sum(), 1, rtol=1e-9):
        raise ValueError(
            f"probability must be {n} numbers, none negative, that sum to 1, got {share.tolist()}."
        )
    return share


def standard_form(utility: ArrayLike) -> Floats:
    """The matrix on a scale on which its least utility is 0 and its greatest 1; it ranks alike."""
    matrix = as_matrix(utility)
    least, greatest = matrix.min(), matrix.max()
    if least == greatest:
        raise ValueError("all utilities are equal: every decision is worth the same.")
    scaled: Floats = (matrix - least) / (greatest - least)
    return scaled


def right_decisions_pay(utility: ArrayLike) -> bool:
    """Whether in each truth the right decision is worth at least as much as any other.

    Decisions that are not as many as the classes have no right one.
    """
    matrix = as_matrix(utility)
    if matrix.shape[0] != matrix.shape[1]:
        return False
    return bool((np.diag(matrix) >= matrix.max(axis=0)).all())
