"""Association of two series, and Holm's adjustment and closed tests of several hypotheses.

Holm's adjustment is three lines; statsmodels' takes half a second to import and knows no missing p-value.
"""

from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, gammaln

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import note
from trustreport.measures.proportion import check_counts

A_TEST = note("test_association_without_interval")
EMPTY_GROUP = note("group_empty")
FEW_EXPECTED = 5.0  # the smallest expected count at which chi-square is trusted


def fisher_exact(x1: int, n1: int, x2: int, n2: int, *, level: float = 0.95) -> Estimate:
    """Test that events are equally frequent in two groups, exactly.

    Given both margins, X1 is hypergeometric::

        p = sum of P(X1 = k) over all k with P(X1 = k) <= P(X1 = x1)

    Estimand: x1 / n1 - x2 / n2, the observations independent.

    Parameters
    ----------
    x1, n1, x2, n2 : int
        Events and observations of each group.
    level : float in (0, 1)
        Carried along; there is no interval.

    Returns
    -------
    Difference of the shares and `p`; NaN with a note when a group is empty.

    Notes
    -----
    Rejects less often than it may.

    References
    ----------
    Fisher (1935), J. R. Stat. Soc. 98, 39-82.

    Examples
    --------
    >>> round(fisher_exact(8, 10, 1, 6).p, 4)  # R: fisher.test(matrix(c(8, 2, 1, 5), 2))
    0.035
    """
    check_level(level)
    x1, n1 = check_counts(x1, n1)
    x2, n2 = check_counts(x2, n2)
    if not n1 or not n2:
        return undefined(n1 + n2, EMPTY_GROUP, level=level, method="fisher_exact")
    events = x1 + x2
    k = np.arange(max(0, events - n2), min(n1, events) + 1)
    logs = -(gammaln(k + 1) + gammaln(n1 - k + 1) + gammaln(events - k + 1) + gammaln(n2 - events + k + 1))
    share = np.exp(logs - logs.max())
    here = share[x1 - k[0]]
    p = float(share[share <= here * (1 + 1e-7)].sum() / share.sum())
    return Estimate(x1 / n1 - x2 / n2, nan, nan, n1 + n2, level, "fisher_exact", A_TEST, p=min(p, 1.0))


def equal_shares(x: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Test that events are equally frequent in several groups.

    With p the share in all groups together::

        chi2 = sum of (x - n p)^2 / (n p (1 - p)),   groups - 1 degrees of freedom

    Where an expected count is below 5, each group is compared with all others by Fisher's exact test, and
    the smallest p is multiplied by the number of groups.

    Estimand: largest share minus smallest share, the observations independent.

    Parameters
    ----------
    x, n : int array, shape (n_groups,)
        Events and observations of each group; a group without observations does not count.
    level : float in (0, 1)
        Carried along; there is no interval.

    Returns
    -------
    Difference of the largest and the smallest share, and `p`; NaN with a note when fewer than two groups
    hold an observation.

    References
    ----------
    Pearson (1900), Philos. Mag. 50, 157-175. Cochran (1954), Biometrics 10, 417-451 (expected counts).

    Examples
    --------
    >>> test = equal_shares([10, 20, 30], [100, 100, 100])  # R: prop.test(c(10, 20, 30), rep(100, 3))
    >>> print(f"{test.value:.2f}, {test.method}, p = {test.p:.5f}")
    0.20, chi_square, p = 0.00193
    """
    check_level(level)
    events, size = np.asarray(x, np.float64), np.asarray(n, np.float64)
    events, size = events[size > 0], size[size > 0]
    total, all_events = int(size.sum()), int(events.sum())
    if len(size) < 2:
        return undefined(total, EMPTY_GROUP, level=level, method="chi_square")
    shares = events / size
    spread = float(shares.max() - shares.min())
    p = all_events / total
    if float(size.min()) * min(p, 1 - p) < FEW_EXPECTED:
        each = (
            fisher_exact(int(a), int(b), all_events - int(a), total - int(b)) for a, b in zip(events, size)
        )
        smallest = min(1.0, len(size) * min(test.p for test in each))
        return Estimate(spread, nan, nan, total, level, "fisher_exact", A_TEST, p=smallest)
    chi2 = float((((events - size * p) ** 2) / (size * p * (1 - p))).sum())
    df = len(size) - 1
    details = {"statistic": chi2}
    tail = float(chdtrc(df, chi2))
    return Estimate(spread, nan, nan, total, level, "chi_square", A_TEST, df=df, p=tail, details=details)


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
    """
    to, back = transitions[gone], transitions[:, gone]
    kept = 1 - back * to
    through = (transitions + np.outer(back, to)) / np.where(kept > NO_SHARE, kept, np.inf)[:, np.newaxis]
    through[gone], through[:, gone] = 0.0, 0.0
    np.fill_diagonal(through, 0.0)
    after = shares + shares[gone] * to
    after[gone] = 0.0
    return after, through
