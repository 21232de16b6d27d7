"""Readings parted by the reader's own confidence."""

import numpy as np
from numpy.typing import NDArray


def tertiles(values: NDArray[np.float64]) -> tuple[NDArray[np.int8], tuple[tuple[float, float], ...]]:
    """Bands of about equal size, lowest first; equal values stay together.

    ::

        cuts = smallest values that at least a third, at least two thirds of all do not exceed

    Returns
    -------
    codes : int array of the shape of `values`
        Band of each value, -1 where it is NaN.
    ranges : (lowest, highest) value of each band
        Three bands; fewer where many values are equal, none without values.

    Examples
    --------
    >>> codes, ranges = tertiles(np.array([1.0, 2, 2, 3, 5, np.nan, 4]))
    >>> codes.tolist(), ranges
    ([0, 0, 0, 1, 2, -1, 2], ((1.0, 2.0), (3.0, 3.0), (4.0, 5.0)))
    """
    codes = np.full(values.shape, -1, np.int8)
    known = ~np.isnan(values)
    given = values[known]
    if not given.size:
        return codes, ()
    cuts = np.quantile(given, [1 / 3, 2 / 3], method="inverted_cdf")
    place = np.searchsorted(cuts, given, side="left")
    bands, codes[known] = np.unique(place, return_inverse=True)
    ranges = tuple((float(given[place == b].min()), float(given[place == b].max())) for b in bands)
    return codes, ranges
