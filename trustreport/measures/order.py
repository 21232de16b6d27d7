"""The order of scores, found once where many measures need it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
