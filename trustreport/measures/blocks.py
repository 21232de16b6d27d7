"""Sums over many cases, made block by block in little memory: to the last digit numpy's own of the whole."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 15  # cases worked on at once, few enough for a processor's cache


def sums(n: int, terms: Callable[[slice], Sequence[NDArray[Any]]]) -> list[np.float64]:
    """The sums over n cases of several terms, each made for some of the cases at a time.

    numpy adds halves, halves of these and so on; so do the blocks, and no digit tells the difference.

    Parameters
    ----------
    terms : function of a slice of cases, to the float arrays of those cases that are to be summed

    Examples
    --------
    >>> x = np.random.default_rng(1).random(100_000)
    >>> total, of_squares = sums(len(x), lambda of: (x[of], x[of] ** 2))
    >>> bool(total == x.sum()), bool(of_squares == (x**2).sum())
    (True, True)
    """

    def within(start: int, stop: int) -> list[np.float64]:
        size = stop - start
        if size <= BLOCK:
            return [term.sum() for term in terms(slice(start, stop))]
        half = size // 2
        half -= half % 8
        return [a + b for a, b in zip(within(start, start + half), within(start + half, stop))]

    return within(0, n)


def filled(n: int, values: Callable[[slice], NDArray[Any]]) -> NDArray[np.float64]:
    """What is made for some of n cases at a time, of all of them.

    >>> filled(3, lambda of: np.arange(3)[of] ** 2)
    array([0., 1., 4.])
    """
    found = np.empty(n)
    for start in range(0, n, BLOCK):
        of = slice(start, min(start + BLOCK, n))
        found[of] = values(of)
    return found


Order = NDArray[np.intp] | NDArray[np.int32]
MOST_TIED = 0.1  # share of tied values up to which their order is put right afterwards


def ascending(values: NDArray[Any]) -> Order:
    """The order of values without NaN, the lowest first, equal ones as they stand.

    That of numpy's stable sort, at less than half of its time where few values are equal.

    Examples
    --------
    >>> ascending(np.array([0.3, 0.1, 0.3, 0.2]))
    array([1, 3, 0, 2])
    """
    order = np.argsort(values)
    ranked = values[order]
    like_next = ranked[1:] == ranked[:-1]
    if np.count_nonzero(like_next) > MOST_TIED * len(values):
        return np.argsort(values, kind="stable")
    before = np.flatnonzero(like_next)
    if before.size:
        tied = np.union1d(before, before + 1)
        rows = order[tied]
        order[tied] = rows[np.lexsort((rows, ranked[tied]))]
    return order
