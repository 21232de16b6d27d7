"""What changes in the course of reading: later against earlier readings, and the trend over them."""

import numpy as np
from numpy.typing import NDArray


def halves(order: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values of each reader's second half of readings, and of the first.

    Halves are by rank among the readings that have both an order and a value; the middle one of an odd number
    belongs to neither, nor do ties across the middle.

    Parameters
    ----------
    order, values : float arrays, shape (n_readers, n_cases)
        The place of each reading in the order in which the reader read, and what is compared; NaN: none.

    Returns
    -------
    float array, shape (2, n_readers, n_cases)
        Second half, first half; NaN elsewhere. For `ratio_difference` with compared 0 and baseline 1.

    Examples
    --------
    >>> halves(np.array([[3.0, 1.0, 2.0, 9.0]]), np.array([[1.0, 0.0, 0.0, 1.0]]))
    array([[[ 1., nan, nan,  1.]],
    <BLANKLINE>
           [[nan,  0.,  0., nan]]])
    """
    place = np.where(np.isnan(values), np.nan, order)
    n = (~np.isnan(place)).sum(axis=1, keepdims=True)
    ranked = np.sort(place, axis=1)  # NaN last
    row = np.arange(len(place))[:, None]
    last = max(place.shape[1] - 1, 0)
    low_end = ranked[row, np.clip(n // 2 - 1, 0, last)]
    high_start = ranked[row, np.clip((n + 1) // 2, 0, last)]
    tied = low_end == high_start
    second, first = (place >= high_start) & (n > 1), (place <= low_end) & (n > 1)
    second &= ~(tied & (place == high_start))
    first &= ~(tied & (place == low_end))
    return np.stack([np.where(second, values, np.nan), np.where(first, values, np.nan)])


def trend(
    order: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The parts of the least-squares slope of the values on the order, each reader about the own mean.

    With x the order and y the value of a reader's readings::

        slope = sum of (x - mean x)(y - mean y) / sum of (x - mean x)^2,   sums over readings of all readers

    Estimand: the change in the value from one reading of a reader to the next, the same for all readers.

    Parameters
    ----------
    order, values : float arrays, shape (n_readers, n_cases)
        As in `halves`.

    Returns
    -------
    numerator, denominator : float arrays, shape (1, n_readers, n_cases)
        For `ratio_mean`; NaN where a reading lacks order or value.

    Examples
    --------
    >>> above, below = trend(np.array([[1.0, 2.0, 3.0]]), np.array([[60.0, 50.0, 46.0]]))
    >>> print(above.sum() / below.sum())
    -7.0
    """
    known = ~np.isnan(order) & ~np.isnan(values)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)

    def centred(x: NDArray[np.float64]) -> NDArray[np.float64]:
        mean = np.where(known, x, 0.0).sum(axis=1, keepdims=True) / n
        return np.where(known, x - mean, np.nan)

    x, y = centred(order), centred(values)
    return (x * y)[None], (x * x)[None]
