"""Several tests of one family: p-values adjusted so that its error rate is kept, and alpha handed on.

Holm's adjustment is three lines; statsmodels' takes half a second to import and knows no missing p-value.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# A share of alpha below this is none: it is what rounding leaves.
NO_SHARE = 1e-9


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


def handed_on(
    shares: NDArray[np.float64], transitions: NDArray[np.float64], gone: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A graph of tests after one of them was rejected, and has handed its alpha on.

    With w the shares of alpha, g the transitions, and i the test that leaves, for all others j and k::

        w(j) = w(j) + w(i) g(i, j)
        g(j, k) = (g(j, k) + g(j, i) g(i, k)) / (1 - g(j, i) g(i, j)), 0 where that is divided by 0

    Testing each hypothesis that is left at w(j) alpha, until none is rejected, keeps the chance of any false
    rejection at most alpha, however the tests depend on each other; which are rejected does not depend on the
    order in which they leave.

    Parameters
    ----------
    shares : array, shape (n,)
        At least 0, with a sum of at most 1.
    transitions : array, shape (n, n)
        At least 0; each row has a sum of at most 1, and 0 in its own column.
    gone : which test leaves

    Returns
    -------
    float arrays, shapes (n,) and (n, n)
        Those of the test that left are 0.

    References
    ----------
    Bretz, Maurer, Brannath, Posch (2009), Stat. Med. 28, 586-604, algorithm 1.

    Examples
    --------
    >>> shares, transitions = handed_on(np.array([0.5, 0.5]), np.array([[0.0, 1.0], [1.0, 0.0]]), 0)
    >>> shares
    array([0., 1.])
    """
    to, back = transitions[gone], transitions[:, gone]
    kept = 1 - back * to
    through = (transitions + np.outer(back, to)) / np.where(kept > NO_SHARE, kept, np.inf)[:, np.newaxis]
    through[gone], through[:, gone] = 0.0, 0.0
    np.fill_diagonal(through, 0.0)
    after = shares + shares[gone] * to
    after[gone] = 0.0
    return after, through
