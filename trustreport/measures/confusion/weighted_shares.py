"""A weighted sum of independent shares: what a population with another mix of classes can expect."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures import notes
from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.confusion.independent import score_limit
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.proportion import wilson

METHOD, CLUSTERED = "mover_wilson", "cluster_score"


def weighted_shares(parts: Sequence[tuple[float, int, int]], *, level: float = 0.95) -> Estimate:
    """A weighted sum of shares, with limits put together from the Wilson limits of each.

    With weights c, shares p = x / n and their Wilson limits l, u (exchanged for a negative weight)::

        low  = sum c p - sqrt(sum c^2 (p - l)^2)
        high = sum c p + sqrt(sum c^2 (u - p)^2)

    With the weights q and 1 - q of the classes this is a rate per case at the prevalence q, for instance that
    of alarms from sensitivity and the share of false alarms.

    Estimand: the same in a population whose classes are those sampled, mixed as the weights say.

    Parameters
    ----------
    parts : (weight, x, n) of each share, 0 <= x <= n
    level : float in (0, 1)

    Returns
    -------
    Estimate
        `n` counts all cases; NaN with a note where a share has none.

    References
    ----------
    Zou, Huang, Zhang (2009), Comput. Stat. Data Anal. 53, 1080-1085.
    Newcombe (1998), Stat. Med. 17, 873-890, method 10 (weights 1 and -1).

    Examples
    --------
    >>> print(weighted_shares([(0.02, 97, 143), (0.98, 12, 67)]))  # alarms at 2% with the condition
    0.19 (95% CI 0.12 to 0.30; n = 210)
    """
    check_level(level)
    n = sum(size for _, _, size in parts)
    if not all(size for _, _, size in parts):
        return undefined(n, notes.NO_CASE, level=level, method=METHOD)
    value, below, above = 0.0, 0.0, 0.0
    for weight, x, size in parts:
        share = wilson(x, size, level)
        down, up = share.value - share.low, share.high - share.value
        if weight < 0:
            down, up = up, down
        value += weight * share.value
        below += (weight * down) ** 2
        above += (weight * up) ** 2
    return Estimate(value, value - sqrt(below), value + sqrt(above), n, level, METHOD)


def weighted_shares_of_clusters(
    parts: Sequence[tuple[float, NDArray[np.bool_], Clusters]], *, level: float = 0.95
) -> Estimate:
    """The same where cases come in clusters, which may hold cases of several parts.

    With what each case adds to the sum, c (v - p) / n, the variance V is that of the clusters' sums. With s
    the share of the way from the least that is possible, the sum of the negative c, to the most, w above it,
    it has the score limits of as many cases as would give it V, with Student's t of the clusters less one::

        effective n = s (1 - s) / (V / w^2)

    Parameters
    ----------
    parts : (weight, events, clusters) of each share; bool and int arrays, shape (n_cases of the part,)

    Returns
    -------
    Estimate
        Without limits, and with a note, with fewer than two clusters; NaN where a share has no case.

    References
    ----------
    Rao, Scott (1992), Biometrics 48, 577-585. Korn, Graubard (1998), Surv. Methodol. 24, 193-201.

    Examples
    --------
    >>> one = (0.5, np.array([True, True, False]), np.array([1, 2, 2]))
    >>> other = (0.5, np.array([True, False, False]), np.array([1, 3, 4]))
    >>> print(weighted_shares_of_clusters([one, other]))
    0.50 (95% CI 0.09 to 0.91; n = 6)
    """
    check_level(level)
    n = sum(events.size for _, events, _ in parts)
    if not all(events.size for _, events, _ in parts):
        return undefined(n, notes.NO_CASE, level=level, method=CLUSTERED)
    value = sum(weight * float(events.mean()) for weight, events, _ in parts)
    influence = [weight * (events - events.mean()) / events.size for weight, events, _ in parts]
    cluster = np.concatenate([clusters for _, _, clusters in parts])
    variance, n_clusters = clustered_variance(np.concatenate(influence), cluster)
    if n_clusters < 2:
        return Estimate(value, np.nan, np.nan, n, level, CLUSTERED, ONE_CLUSTER)
    df, se = float(n_clusters - 1), sqrt(variance)
    if not se:
        return Estimate(value, value, value, n, level, CLUSTERED, notes.NO_WIDTH, se=se, df=df)
    least = sum(min(weight, 0.0) for weight, _, _ in parts)
    wide = sum(abs(weight) for weight, _, _ in parts)
    share, t = (value - least) / wide, quantile(df, level)
    effective = share * (1 - share) / (se / wide) ** 2
    low, high = least + wide * score_limit(share * effective, effective, np.array([-t, t]))
    return Estimate(value, float(low), float(high), n, level, CLUSTERED, se=se, df=df)
