"""Whether shares differ between groups: Fisher's exact test for two, chi-square for several."""

from math import nan

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, gammaln

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.proportion import check_counts

A_TEST = "a test of association, without an interval"
EMPTY_GROUP = "a group is empty"
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
    Estimate
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
    Estimate
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
