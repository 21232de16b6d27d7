"""How far apart groups are in their rates of true and of false positives, as one number."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.subgroup_difference import clustered_share_difference
from trustreport.measures.two_arm.difference import newcombe

Flags = NDArray[np.bool_]

FEWER_THAN_TWO = "fewer than two groups with cases of both classes"
NOT_OF_ALL = "a difference between two groups has no interval"
METHOD, CLUSTERED = "equalised_odds_newcombe", "equalised_odds_clustered"


def equalised_odds_difference(
    truth: Flags,
    decision: Flags,
    group: NDArray[np.int64],
    cluster: NDArray[np.int64] | None = None,
    *,
    level: float = 0.95,
) -> Estimate:
    """Largest difference between any two groups in the true positive rate or the false positive rate.

    With TPR_g and FPR_g of group g::

        max(max TPR_g - min TPR_g, max FPR_g - min FPR_g)

    Estimand: the same of the rates in the populations of the groups. It is 0 only where all groups are alike,
    and its estimate is larger than 0 by chance alone.

    Parameters
    ----------
    truth, decision : bool arrays, shape (n_cases,)
    group : int array, shape (n_cases,)
        Which group a case belongs to, -1 where to none.
    cluster : int array, shape (n_cases,), optional
        Cases of one patient have the same number.

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts the cases of the groups compared; `details` hold the largest difference of
        either rate. NaN with a note where fewer than two groups have both classes.

    Notes
    -----
    Of G groups there are m = G (G - 1) differences, of two rates each pair. Each has an interval at the
    level 1 - (1 - level) / m: of Newcombe, clustered that of `clustered_share_difference`. With the given
    probability or more all m hold at once (Bonferroni, however they depend on each other), and then the
    largest absolute difference is between the largest of the lower and the largest of the upper limits of
    the absolute differences. So the interval errs on the side of width, most of all where there are many
    groups. A percentile bootstrap does not cover here: where groups are alike, a resampled maximum is above 0
    nearly always.

    References
    ----------
    Hardt, Price and Srebro (2016), NIPS 29, 3315-3323 (equalised odds).
    Newcombe (1998), Stat. Med. 17, 873-890, method 10.

    Examples
    --------
    >>> truth = np.tile(np.repeat([True, False], 50), 2)
    >>> decision = np.concatenate([np.arange(50) < k for k in (45, 5, 35, 10)])
    >>> print(equalised_odds_difference(truth, decision, np.repeat([0, 1], 100)))
    0.20 (95% CI 0.02 to 0.37; n = 200)
    """
    check_level(level)
    method = METHOD if cluster is None else CLUSTERED
    groups = [g for g in np.unique(group[group >= 0]) if np.unique(truth[group == g]).size == 2]
    n = int(np.isin(group, groups).sum())
    if len(groups) < 2:
        return undefined(n, FEWER_THAN_TWO, level=level, method=method)
    each = 1 - (1 - level) / (len(groups) * (len(groups) - 1))
    found: dict[bool, list[Estimate]] = {}
    for present in (True, False):
        for one, other in combinations(groups, 2):
            first, second = ((group == g) & (truth == present) for g in (one, other))
            found.setdefault(present, []).append(_difference(decision, first, second, cluster, each))
    largest = {present: max(abs(e.value) for e in own) for present, own in found.items()}
    every = [e for own in found.values() for e in own]
    low = max(max(e.low, -e.high, 0.0) for e in every)
    high = max(max(e.high, -e.low) for e in every)
    note = "" if all(np.isfinite([e.low, e.high]).all() for e in every) else NOT_OF_ALL
    if note:
        low = high = float("nan")
    details = {
        "true_positive_difference": largest[True],
        "false_positive_difference": largest[False],
        "groups": float(len(groups)),
        "level_of_each": each,
    }
    value = max(largest.values())
    return Estimate(value, low, high, n, level, method, note, details=details)


def _difference(
    decision: Flags, first: Flags, second: Flags, cluster: NDArray[np.int64] | None, level: float
) -> Estimate:
    if cluster is not None:
        return clustered_share_difference(decision, first, second, cluster, level=level)
    x1, x2 = (int((decision & of).sum()) for of in (first, second))
    return newcombe(x1, int(first.sum()), x2, int(second.sum()), level)
