"""The space of all utility matrices of two classes, and which candidate is best in which part of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustreport.measures.utility.matrices import Floats, right_decisions_pay, standard_form

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
