"""Direct standardisation: what a share would have changed by if the mix of cases had stayed as it was."""

from dataclasses import replace
from math import inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.monitoring.shared import shared
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.mrmc.notes import join
from trustreport.measures.proportion import normal_quantile

METHOD, CLUSTERED = "direct_standardisation", "cluster_standardisation"


def standardised_change(
    events: ArrayLike,
    n: ArrayLike,
    baseline_events: ArrayLike,
    baseline_n: ArrayLike,
    *,
    level: float = 0.95,
) -> Estimate:
    """Change of a share since the baseline with the case mix held at that of the baseline.

    Over the strata j that hold cases of both sets, with W_j the stratum's share of these baseline cases::

        change = sum W_j (p_j - b_j),   V = sum W_j^2 (p~_j (1 - p~_j) / n_j + b~_j (1 - b~_j) / m_j)
        change +- z sqrt(V)

    where p~ and b~ are the shares with one half added to events and non-events, so that a stratum without
    events does not count as certain.

    Estimand: the change in a population with the case mix of the baseline, cases independent.

    Parameters
    ----------
    events, n : int arrays, shape (n_strata,)
        Of the period.
    baseline_events, baseline_n : int arrays, shape (n_strata,)
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [-1, 1]; `n` counts both sets; `details` hold the crude change, both standardised shares and the
        shares of baseline and of present cases in the strata compared. NaN with a note where no stratum holds
        cases of both.

    References
    ----------
    Fleiss, Levin, Paik (2003), Statistical Methods for Rates and Proportions, 3rd ed., chapter 19.

    Examples
    --------
    Half as many hard cases, the same share right in either stratum: nothing has changed.

    >>> found = standardised_change([30, 40], [100, 50], [15, 80], [50, 100])
    >>> abs(round(found.value, 12)), round(found.details["crude"], 4)
    (0.0, -0.1667)
    """
    x, m = np.asarray(events, np.float64), np.asarray(n, np.float64)
    y, k = np.asarray(baseline_events, np.float64), np.asarray(baseline_n, np.float64)
    if not x.shape == m.shape == y.shape == k.shape:
        raise ValueError("events and cases of both sets must have one entry for each stratum.")
    z = normal_quantile(level)
    total = int(m.sum() + k.sum())
    both = (m > 0) & (k > 0)
    if not both.any():
        return undefined(total, notes.NO_COMMON_STRATUM, level=level, method=METHOD)
    crude = float(x.sum() / m.sum() - y.sum() / k.sum())
    covered = float(k[both].sum() / k.sum())
    covered_now = float(m[both].sum() / m.sum())
    note = "" if both.sum() == ((m > 0) | (k > 0)).sum() else notes.NOT_ALL_STRATA
    x, m, y, k = (column[both] for column in (x, m, y, k))
    weight = k / k.sum()
    now, then = x / m, y / k
    smooth = [(events + 0.5) / (cases + 1) for events, cases in ((x, m), (y, k))]
    variance = sum(
        float((weight**2 * share * (1 - share) / cases).sum()) for share, cases in zip(smooth, (m, k))
    )
    value, se = float(weight @ (now - then)), sqrt(variance)
    details = {
        "crude": crude,
        "standardised": float(weight @ now),
        "baseline": float(weight @ then),
        "strata": float(both.sum()),
        "covered": covered,
        "covered_now": covered_now,
    }
    p = two_sided_p(value / se) if se else nan
    low, high = max(-1.0, value - z * se), min(1.0, value + z * se)
    return Estimate(value, low, high, total, level, METHOD, note, se=se, p=p, details=details)


def clustered_standardised_change(
    event: NDArray[np.bool_],
    stratum: NDArray[np.int64],
    cluster: Clusters,
    baseline_event: NDArray[np.bool_],
    baseline_stratum: NDArray[np.int64],
    baseline_cluster: Clusters,
    *,
    level: float = 0.95,
) -> Estimate:
    """`standardised_change` where cases come in clusters, with the t interval from what each cluster adds.

    The variance of either set is that of its sum over cases of W_j (event - p_j) / n_j, clusters sampled
    (`measures.cluster`), both together at least that of independent cases. Clusters in both sets take off
    twice the covariance of the sums, as a share of it (`measures.monitoring.shared`). Degrees of freedom are
    those of the set of fewer clusters.

    Parameters
    ----------
    event : bool array, shape (n_cases,)
        Of the cases that count.
    stratum : int array, shape (n_cases,)
        The same numbers for the same strata in both sets.
    cluster : int array, shape (n_cases,)
        The same number for the same cluster in both sets.

    Returns
    -------
    Estimate
        ``cluster_standardisation``; no interval, with a note, where a set has fewer than two clusters.

    References
    ----------
    Rao, Scott (1992), Biometrics 48, 577-585.

    Examples
    --------
    Each case a cluster of its own:

    >>> hard = np.repeat([0, 1, 0, 1], [100, 50, 50, 100])
    >>> right = np.concatenate(
    ...     [np.arange(n) < x for x, n in ((30, 100), (40, 50), (15, 50), (80, 100))]
    ... )
    >>> alone = np.arange(300)
    >>> found = clustered_standardised_change(
    ...     right[:150], hard[:150], alone[:150], right[150:], hard[150:], alone[150:]
    ... )
    >>> abs(round(found.value, 12)), round(found.se, 3)
    (0.0, 0.054)
    """
    sets = ((event, stratum, cluster), (baseline_event, baseline_stratum, baseline_cluster))
    n_strata = 1 + max((int(codes.max()) for _, codes, _ in sets if codes.size), default=0)
    tallies = [
        (np.bincount(codes, weights=happened, minlength=n_strata), np.bincount(codes, minlength=n_strata))
        for happened, codes, _ in sets
    ]
    found = standardised_change(*tallies[0], *tallies[1], level=level)
    found = replace(found, method=CLUSTERED)
    if isnan(found.value):
        return found
    both = (tallies[0][1] > 0) & (tallies[1][1] > 0)
    weight = np.where(both, tallies[1][1], 0) / tallies[1][1][both].sum()
    variances, fewest, sums = [], inf, []
    for (happened, codes, groups), (x, n) in zip(sets, tallies):
        held = both[codes]
        share = x / np.maximum(n, 1)
        influence = (weight / np.maximum(n, 1))[codes] * (happened - share[codes])
        of_set, clusters = clustered_variance(influence[held], groups[held])
        variances.append(of_set)
        sums += [influence[held], groups[held]]
        fewest = min(fewest, clusters)
    if fewest < 2:
        return replace(found, low=nan, high=nan, se=nan, p=nan, note=join(found.note, ONE_CLUSTER))
    both_sets = shared(sums[0], sums[1], sums[2], sums[3])
    covariance = both_sets.correlation * sqrt(variances[0] * variances[1])
    independent = sum(variances)
    kept = max(0.0, 1 - 2 * covariance / independent) if both_sets.both and independent > 0 else 1.0
    se, df = sqrt(max(independent, found.se**2) * kept), fewest - 1.0
    if not se > 0:
        return replace(found, low=nan, high=nan, se=nan, p=nan, note=join(found.note, notes.NO_INTERVAL))
    if both_sets.both:
        details = {"shared_clusters": float(both_sets.both), "correlation": both_sets.correlation}
        found = replace(found, note=join(found.note, notes.SHARED), details={**found.details, **details})
    half = quantile(df, level) * se
    low, high = max(-1.0, found.value - half), min(1.0, found.value + half)
    return replace(found, low=low, high=high, se=se, df=df, p=two_sided_p(found.value / se, df))
