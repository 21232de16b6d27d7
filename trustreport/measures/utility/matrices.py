"""Utility matrices: checked, brought to a common scale, averaged over what is uncertain."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


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

    Examples
    --------
    >>> expected_matrix([[[1, 0], [0, 1]], [[1, 0.5], [0, 0.5]]], [0.5, 0.5])
    array([[1.  , 0.25],
           [0.  , 0.75]])
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
    """The matrix on a scale on which its least utility is 0 and its greatest 1; it ranks alike.

    >>> standard_form([[15, -335], [-35, 165]])
    array([[0.7, 0. ],
           [0.6, 1. ]])
    """
    matrix = as_matrix(utility)
    least, greatest = matrix.min(), matrix.max()
    if least == greatest:
        raise ValueError("all utilities are equal: every decision is worth the same.")
    scaled: Floats = (matrix - least) / (greatest - least)
    return scaled


def right_decisions_pay(utility: ArrayLike) -> bool:
    """Whether in each truth the right decision is worth at least as much as any other.

    Decisions that are not as many as the classes have no right one.

    >>> right_decisions_pay([[1, 0.2], [0.3, 1]]), right_decisions_pay([[0, 1], [1, 0]])
    (True, False)
    """
    matrix = as_matrix(utility)
    if matrix.shape[0] != matrix.shape[1]:
        return False
    return bool((np.diag(matrix) >= matrix.max(axis=0)).all())
