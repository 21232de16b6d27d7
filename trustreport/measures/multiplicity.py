"""Several tests of one family: p-values adjusted so that the family keeps its error rate."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Holm's adjusted p-values: reject where they are at most alpha.

    With m p-values, the smallest first::

        adjusted(k) = largest of (m - j + 1) p(j) over j <= k, at most 1

    The chance of any false rejection in the family is at most alpha, however the tests depend on each other.

    Parameters
    ----------
    p : array, shape (n,)
        In [0, 1]; NaN where a test could not be made: it stays NaN and does not count.

    Returns
    -------
    float array, shape (n,)
        In the order given.

    References
    ----------
    Holm (1979), Scand. J. Stat. 6, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, np.nan])
    array([0.03, 0.06, 0.06,  nan])
    """
    given = np.asarray(p, dtype=np.float64)
    if ((given < 0) | (given > 1)).any():
        raise ValueError(f"p-values must lie in [0, 1], got {given[(given < 0) | (given > 1)].tolist()}.")
    adjusted = np.full(given.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    steps = np.arange(len(order), 0, -1) * given[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
