"""Rates of rare events per case processed, and the middle of times, with exact limits."""

from math import inf, nan

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, chdtri

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring import notes


def event_rate(events: int, exposure: int, *, level: float = 0.95) -> Estimate:
    """Events per case processed; without any event, what rate is still compatible with that.

    Events are Poisson with mean rate x exposure. The limits are the rates with tail probability
    (1 - level) / 2 each, also without an event, so that either is a one-sided limit at (1 + level) / 2::

        chi2(lower tail; 2 events) / 2n, 0 without an event,  to  chi2(upper tail; 2 events + 2) / 2n

    Without an event the upper limit is -ln((1 - level) / 2) / n, 3.7 / n at 95 %; the rule of three (3 / n)
    is the one-sided limit at 95 %.

    Estimand: the rate of events per case, constant over the time counted.

    Parameters
    ----------
    events, exposure : int
        Events, and cases processed; a case may have several events.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        0 or more; `n` is the exposure; NaN with a note without exposure.

    References
    ----------
    Garwood (1936), Biometrika 28, 437-442.
    Hanley, Lippman-Hand (1983), JAMA 249, 1743-1745 (the rule of three).

    Examples
    --------
    >>> round(event_rate(0, 300).high, 4)
    0.0123
    >>> found = event_rate(10, 1)  # R: poisson.test(10)
    >>> round(found.low, 4), round(found.high, 4)
    (4.7954, 18.3904)
    """
    check_level(level)
    if events < 0 or exposure < 0:
        raise ValueError(f"events and exposure must be counts, got {events} and {exposure}.")
    if exposure == 0:
        return undefined(0, notes.NO_EXPOSURE, level=level, method="poisson_exact")
    tail = (1 - level) / 2
    low = float(chdtri(2 * events, 1 - tail)) / 2 / exposure if events else 0.0
    high = float(chdtri(2 * events + 2, tail)) / 2 / exposure
    note = "" if events else notes.NO_EVENT
    return Estimate(events / exposure, low, high, exposure, level, "poisson_exact", note)


def median(values: NDArray[np.float64], *, cluster: Clusters | None = None, level: float = 0.95) -> Estimate:
    """The middle value, with limits at order statistics that need no distribution.

    ::

        x(j) to x(n + 1 - j),   j the largest with P(Binomial(n, 1/2) < j) <= (1 - level) / 2

    Of values that belong together the limits are those of m = n / D values, D >= 1 the design effect of the
    share below the middle, at the same part of the order.

    Parameters
    ----------
    values : float array, shape (n,)
        No NaN.
    cluster : int array, shape (n,), optional
        Which values belong together; each is independent where absent.

    Returns
    -------
    Estimate
        Covers at least as often as it says; no limits with so few values that none would; NaN with a note
        without values.

    References
    ----------
    Conover (1999), Practical Nonparametric Statistics, 3rd ed., section 3.2.
    Woodruff (1952), J. Am. Stat. Assoc. 47, 635-646 (limits of a quantile from those of a share).

    Examples
    --------
    >>> print(median(np.arange(1.0, 21.0)))
    10.50 (95% CI 6.00 to 15.00; n = 20)
    """
    check_level(level)
    n = len(values)
    if not n:
        return undefined(0, notes.NO_VALUE, level=level, method="order_statistics")
    x = np.sort(values)
    middle = float(np.median(x))
    worth, details = n, {}
    if cluster is not None:
        below_middle = (values <= middle) - np.mean(values <= middle)
        variance, clusters = clustered_variance(below_middle / n, cluster)
        details["clusters"] = float(clusters)
        if clusters < 2:
            return Estimate(middle, nan, nan, n, level, "order_statistics", ONE_CLUSTER, details=details)
        alone = clustered_variance(below_middle / n, np.arange(n))[0]
        worth = int(n / max(1.0, variance / alone)) if alone > 0 else clusters
    ranks = np.arange(0, worth // 2 + 1)
    below = bdtr(ranks - 1, worth, 0.5)
    below = np.where(ranks == 0, 0.0, below)
    j = int(ranks[below <= (1 - level) / 2].max())
    if j == 0:
        return Estimate(
            middle, nan, nan, n, level, "order_statistics", notes.TOO_FEW_FOR_MEDIAN, details=details
        )
    from_end = (j - 1) * n // worth
    low, high = float(x[from_end]), float(x[n - 1 - from_end])
    return Estimate(middle, low, high, n, level, "order_statistics", details=details)


def any_false_alert(looks: int, each: float) -> float:
    """The chance of at least one false alert when every look is tested by itself, independently.

    ::

        1 - (1 - each) ^ looks

    >>> round(any_false_alert(8, 0.05), 3)
    0.337
    """
    if looks < 0 or not 0 <= each <= 1:
        raise ValueError(f"looks must be a count and each a share, got {looks} and {each:g}.")
    return 1 - (1 - each) ** looks if looks < inf else 1.0
