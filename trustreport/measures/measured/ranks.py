"""Ranks of candidates on the same cases: the mean of the ranks, and the rank of the mean."""

from dataclasses import replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement.bootstrap import drawn_rows, units
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.means import case_mean
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.notes import NO_CASE

Floats = NDArray[np.float64]
BOOTSTRAP = "bootstrap_rank"
RESAMPLES = 2000
ONE_UNIT = note("one_case_or_cluster_no_order")


def ranks(value: Floats, *, better: str) -> Floats:
    """The rank of each candidate in each case, 1 the best; candidates that tie share the mean rank.

    Parameters
    ----------
    value : float array, shape (n_candidates, ...)
        No NaN.
    better : "up" or "down"
    """
    from scipy.stats import rankdata  # takes a quarter of a second to import

    found: Floats = rankdata(-value if better == "up" else value, axis=0)
    return found


def mean_rank(
    value: Floats, *, better: str, cluster: Clusters | None = None, level: float = 0.95
) -> list[Estimate]:
    """Mean over cases of the rank of each candidate, with Student's t.

    Degrees of freedom by the kurtosis of the ranks, or of the clusters' sums (`case_mean`); limits within 1
    and the number of candidates.

    Estimand: of a case drawn at random, the expected rank among these candidates.

    Parameters
    ----------
    value : float array, shape (n_candidates, n_cases)
        No NaN.
    better : "up" or "down"

    Returns
    -------
    list of Estimate, one a candidate
        Between 1 and n_candidates; NaN with a note without cases.

    References
    ----------
    Wiesenfarth et al. (2021), Sci. Rep. 11, 2369 (rank then aggregate). Friedman (1937), J. Am. Stat. Assoc.
    32, 675-701.

    Examples
    --------
    >>> value = np.array([[9, 8, 7, 9, 6], [8, 7, 8, 7, 5], [6, 6, 6, 8, 7]], float)
    >>> [round(e.value, 2) for e in mean_rank(value, better="up")]
    [1.4, 2.2, 2.4]
    """
    found = []
    for own in ranks(value, better=better):
        e = case_mean(own, level, cluster, tested=True)
        found.append(replace(e, p=nan, low=max(e.low, 1.0), high=min(e.high, float(len(value)))))
    return found


def rank_of_mean(
    value: Floats,
    *,
    better: str,
    rng: np.random.Generator,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> list[Estimate]:
    """The rank of each candidate by its mean over cases, with the ranks of resampled cases.

    Cases, or clusters of them, are drawn anew 2,000 times; the limits are the ranks between which the middle
    `level` of the resamples lies, not interpolated.

    Estimand: the rank by the mean over all cases of the population.

    Parameters
    ----------
    value : float array, shape (n_candidates, n_cases)
        No NaN.
    better : "up" or "down"

    Returns
    -------
    list of Estimate, one a candidate
        `details.first` is the share of resamples in which the candidate was first, alone or tied. NaN with a
        note without cases; no limits with a note of a single case or cluster.

    References
    ----------
    Wiesenfarth et al. (2021), Sci. Rep. 11, 2369 (aggregate then rank; bootstrap).

    Examples
    --------
    >>> value = np.array([[9, 8, 7, 9, 6], [8, 7, 8, 7, 5], [6, 6, 6, 8, 7]], float)
    >>> print(rank_of_mean(value, better="up", rng=np.random.default_rng(1))[0])
    1.00 (95% CI 1.00 to 2.00; n = 5)
    """
    check_level(level)
    k, n = value.shape
    if not n:
        return [undefined(0, NO_CASE, level=level, method=BOOTSTRAP)] * k
    value = value[:, (order := np.lexsort(value))]  # so that the order of the cases does not decide
    unit = units(cluster, order)
    own = ranks(value.mean(axis=1), better=better)
    if n < 2 or (unit is not None and unit.max() < 1):
        return [Estimate(float(r), nan, nan, n, level, BOOTSTRAP, ONE_UNIT) for r in own]
    means = np.stack([value[:, drawn_rows(rng, n, unit)].mean(axis=1) for _ in range(RESAMPLES)], axis=1)
    drawn = ranks(means, better=better)
    low = np.quantile(drawn, (1 - level) / 2, axis=1, method="lower")
    high = np.quantile(drawn, (1 + level) / 2, axis=1, method="higher")
    first = (drawn == drawn.min(axis=0)).mean(axis=1)
    return [
        Estimate(
            float(r), float(a), float(b), n, level, BOOTSTRAP, NO_NOTE,
            details={"resamples": float(RESAMPLES), "first": float(share)},
        )
        for r, a, b, share in zip(own, low, high, first)
    ]  # fmt: skip
