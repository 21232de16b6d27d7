"""Subgroups: differences of performance, of the change with the aid, and equalised odds."""

from dataclasses import replace
from itertools import combinations
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from trustreport.measures.cluster import ONE_CLUSTER, clustered_variance
from trustreport.measures.confusion.notes import CLUSTERS_AS_CASES
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile, two_sided_p
from trustreport.measures.mrmc.obuchowski_rockette import MODES, Mode, leading, obuchowski_rockette
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.proportion import check_counts
from trustreport.measures.roc.auc import area_and_variance, placements
from trustreport.measures.two_arm.difference import miettinen_nurminen, newcombe, score_limits, score_variance

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

EMPTY_GROUP = note("group_has_no_case_this_kind")
NO_SPREAD = note("nothing_varies_between_cases_groups_no")
FEWER_THAN_TWO = note("fewer_than_two_groups_in_which")
CLUSTERED = "miettinen_nurminen_clustered"
A_TEST = note("test_that_all_groups_alike_without")


def share_difference(x1: int, n1: int, x2: int, n2: int, *, level: float = 0.95) -> Estimate:
    """Difference of the shares in two groups of cases, with the test that its interval inverts.

    Value and limits are those of `miettinen_nurminen`. With p the share in both groups together and
    N = n1 + n2, the test of no difference is::

        chi2 = (p1 - p2)^2 / (p (1 - p) (1/n1 + 1/n2)) * (N - 1) / N,   1 degree of freedom

    Estimand: share of events in the first group minus that in the second, cases independent.

    Parameters
    ----------
    x1, n1, x2, n2 : int
        Events and cases of either group.

    Returns
    -------
    In [-1, 1]; `n` counts both groups; `p` is 1 where all cases are alike; NaN with a note when a group
    is empty.

    References
    ----------
    Miettinen and Nurminen (1985), Stat. Med. 4, 213-226. Campbell (2007), Stat. Med. 26, 3661-3675 (N - 1).

    Examples
    --------
    >>> est = share_difference(56, 70, 48, 80)
    >>> print(f"{est.value:.2f} ({est.low:.3f} to {est.high:.3f}), p = {est.p:.4f}")
    0.20 (0.053 to 0.338), p = 0.0083
    """
    (x1, n1), (x2, n2) = check_counts(x1, n1), check_counts(x2, n2)
    found = miettinen_nurminen(x1, n1, x2, n2, level)
    if not n1 or not n2:
        return replace(found, note=EMPTY_GROUP)
    n, events = n1 + n2, x1 + x2
    if events in (0, n):
        return replace(found, p=1.0)
    pooled = events / n
    chi2 = found.value**2 / (pooled * (1 - pooled) * (1 / n1 + 1 / n2)) * (n - 1) / n
    return replace(found, p=float(chdtrc(1, chi2)))


def clustered_share_difference(
    event: Flags, first: Flags, second: Flags, cluster: NDArray[np.int64], *, level: float = 0.95
) -> Estimate:
    """Difference of the shares in two groups of cases that come in clusters: images of a patient.

    A cluster may have cases in both groups. With I_k = (event - p1) / n1 for a case of the first group and
    -(event - p2) / n2 for one of the second, V is the clustered variance of their sum
    (`cluster.clustered_variance`), V_1 that with each case a cluster, and D = max(1, V / V_1). The limits are
    those of `miettinen_nurminen` with t sqrt(D) in place of z, and p is of the test that they invert, with as
    many degrees of freedom as the group found in fewer clusters has clusters, less one. Where nothing varies
    within either group D is n / G: a cluster is worth one case.

    Parameters
    ----------
    event, first, second : bool arrays, shape (n_cases,)
        What is counted; the two groups, which hold no case in common.
    cluster : int array, shape (n_cases,)

    Returns
    -------
    In [-1, 1], limits too; `n` counts the cases of both groups, `details` the clusters and D, `se` is
    sqrt(V); NaN with a note when a group is empty; no limits with one cluster.

    References
    ----------
    Miettinen and Nurminen (1985), Stat. Med. 4, 213-226. Rao and Scott (1992), Biometrics 48, 577-585.

    Examples
    --------
    >>> event = np.array([1, 1, 0, 1, 0, 0, 1, 0], bool)
    >>> first = np.array([1, 1, 1, 1, 0, 0, 0, 0], bool)
    >>> print(clustered_share_difference(event, first, ~first, np.array([1, 1, 2, 3, 4, 4, 5, 6])))
    0.50 (95% CI -0.73 to 0.97; n = 8)
    """
    check_level(level)
    n1, n2 = int(first.sum()), int(second.sum())
    n = n1 + n2
    if not n1 or not n2:
        return undefined(n, EMPTY_GROUP, level=level, method=CLUSTERED)
    x1, x2 = int(event[first].sum()), int(event[second].sum())
    influence = np.zeros(event.shape)
    influence[first] = (event[first] - x1 / n1) / n1
    influence[second] = -(event[second] - x2 / n2) / n2
    kept = first | second
    variance, clusters = clustered_variance(influence[kept], cluster[kept])
    alone, _ = clustered_variance(influence[kept], np.arange(n))
    value, details = x1 / n1 - x2 / n2, {"clusters": float(clusters)}
    least = min(len(np.unique(cluster[group])) for group in (first, second))
    if least < 2:
        return Estimate(value, nan, nan, n, level, CLUSTERED, ONE_CLUSTER, details=details)
    effect = max(1.0, variance / alone) if alone > NEGLIGIBLE else n / clusters
    df = float(least - 1)
    low, high = score_limits(x1, n1, x2, n2, quantile(df, level) * sqrt(effect))
    at_none = effect * score_variance(0.0, x1, n1, x2, n2)
    return Estimate(
        value, low, high, n, level, CLUSTERED, NO_NOTE if alone > NEGLIGIBLE else CLUSTERS_AS_CASES,
        se=sqrt(variance), df=df, p=two_sided_p(value / sqrt(at_none), df) if at_none > 0 else 1.0,
        details={**details, "design_effect": effect},
    )  # fmt: skip


def clustered_auc_difference(
    truth: Flags,
    score: NDArray[Any],
    first: Flags,
    second: Flags,
    cluster: NDArray[np.int64],
    *,
    level: float = 0.95,
) -> Estimate:
    """Difference of the areas under the ROC curve in two groups of cases that come in clusters.

    With (X - A) / n1 of each positive and (Y - A) / n0 of each negative (X, Y of `delong`) as what a case
    contributes to the area A of its group, V is the clustered variance of the sum, of opposite sign in the
    second group, and the interval A1 - A2 +- t sqrt(V), with as many degrees of freedom as the class of a
    group that is found in fewest clusters has clusters, less one.

    Returns
    -------
    In [-1, 1]; `n` counts the cases of both groups; NaN with a note when a class is absent from a group.

    References
    ----------
    Obuchowski (1997), Biometrics 53, 567-578.

    Examples
    --------
    >>> truth = np.array([0, 1, 0, 1, 0, 1, 0, 1], bool)
    >>> score, first = np.array([1, 2, 2, 2, 3, 2, 1, 3]), np.arange(8) < 4
    >>> est = clustered_auc_difference(truth, score, first, ~first, np.array([1, 1, 2, 2, 3, 3, 4, 4]))
    >>> print(f"{est.value:.3f}")
    0.125
    """
    check_level(level)
    method = "cluster_linear"
    areas, influence, held = [], np.zeros(truth.shape), []
    for group, sign in ((first, 1.0), (second, -1.0)):
        own = truth[group]
        if own.all() or not own.any():
            n = int(first.sum() + second.sum())
            return undefined(n, EMPTY_GROUP, level=level, method=method)
        x, y = placements(own, score[group])
        area = float(x.mean())
        part = np.empty(own.shape)
        part[own], part[~own] = (x - area) / len(x), (y - area) / len(y)
        influence[group] = sign * part
        areas.append(area)
        held += [len(np.unique(cluster[group][of])) for of in (own, ~own)]
    kept = first | second
    return _linear(areas[0] - areas[1], influence[kept], cluster[kept], min(held), level, method)


def _linear(
    value: float, influence: Floats, cluster: NDArray[np.int64], least: int, level: float, method: str
) -> Estimate:
    """The t interval of a value from what each case contributes to it."""
    n = len(influence)
    variance, clusters = clustered_variance(influence, cluster)
    details = {"clusters": float(clusters)}
    note = ONE_CLUSTER if least < 2 else NO_NOTE if variance > NEGLIGIBLE else NO_SPREAD
    if note:
        return Estimate(value, nan, nan, n, level, method, note, details=details)
    se, df = sqrt(variance), float(least - 1)
    half = quantile(df, level) * se
    p = two_sided_p(value / se, df)
    return Estimate(value, value - half, value + half, n, level, method, se=se, df=df, p=p, details=details)


def areas_alike(
    truth: Flags, score: NDArray[Any], group: NDArray[np.int64], *, level: float = 0.95
) -> Estimate:
    """Test that the areas under the ROC curve are the same in several groups of cases.

    With A_g the area of group g, V_g DeLong's variance, w = 1/V and A their weighted mean::

        Q = sum over g of w_g (A_g - A)^2,   groups - 1 degrees of freedom

    Estimand: largest area minus smallest area, the groups independent.

    Parameters
    ----------
    score : array of numbers, shape (n_cases,)
        Higher = more suspicious; no NaN.
    group : int array, shape (n_cases,)
        Which group a case belongs to, -1 where to none.

    Returns
    -------
    Largest minus smallest area, and `p`; a group without an area or its variance does not count. NaN with
    a note when fewer than two remain.

    References
    ----------
    Cochran (1954), Biometrics 10, 101-129.

    Examples
    --------
    >>> truth = np.tile(np.array([0, 0, 0, 0, 1, 1, 1, 1], bool), 2)
    >>> score = np.array([1, 2, 2, 3, 2, 3, 4, 5, 1, 3, 2, 2, 2, 1, 4, 3])
    >>> test = areas_alike(truth, score, np.repeat([0, 1], 8))
    >>> print(f"{test.value:.2f}, p = {test.p:.3f}")
    0.22, p = 0.407
    """
    check_level(level)
    found = []
    for g in np.unique(group[group >= 0]):
        area, variance, *_ = area_and_variance(truth[group == g], score[group == g])
        if variance > NEGLIGIBLE:
            found.append((area, variance, int(np.count_nonzero(group == g))))
    n = sum(size for *_, size in found)
    if len(found) < 2:
        return undefined(n, FEWER_THAN_TWO, level=level, method="cochran_q")
    areas, variances = (np.array(column) for column in list(zip(*found))[:2])
    mean = float((areas / variances).sum() / (1 / variances).sum())
    q = float(((areas - mean) ** 2 / variances).sum())
    df = float(len(found) - 1)
    p = float(chdtrc(df, q))
    spread = float(areas.max() - areas.min())
    return Estimate(spread, nan, nan, n, level, "cochran_q", A_TEST, df=df, p=p, details={"statistic": q})


def effect_differences(
    theta: tuple[Floats, Floats],
    covariance: tuple[Floats, Floats],
    n_cases: tuple[int, int],
    *,
    level: float = 0.95,
) -> dict[Mode, Estimate]:
    """How much more readers gain from the aid in one group of cases than in another, by who is sampled.

    The same readers judge both groups, no case belongs to both. With e_j the gain of reader j (compared arm
    minus baseline) in the first group minus that in the second::

        e_j = (theta_1j - theta_0j in the first group) - (theta_1j - theta_0j in the second)
        Cov(e) = L (C + C') L',   L = compared arm minus baseline, C and C' the covariances over cases

    and e is analysed as the endpoint of one arm (Obuchowski-Rockette, `arm_mean`): this is the interaction of
    group and aid.

    Parameters
    ----------
    theta : two float arrays, shape (2, n_readers)
        Endpoint of each reader in the compared arm and in the baseline, by group of cases; no NaN.
    covariance : two float arrays, shape (2 n_readers, 2 n_readers)
        Covariance of these over the cases of the group, readers of the compared arm first.
    n_cases : two int
        Cases of either group that define the endpoint.

    Returns
    -------
    dict of Estimate by mode
        ``or_rrrc`` readers and cases random, ``or_frrc`` these readers, ``or_rrfc`` these cases. `n` counts
        readings of one arm, `p` tests a difference of 0; limits not cut.

    References
    ----------
    Hillis (2014), Stat. Med. 33, 330-360 (one arm). Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput.
    24, 285-308.

    Examples
    --------
    >>> from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
    >>> rng = np.random.default_rng(4)
    >>> groups = [(rng.random((2, 5, n)) < 0.8).astype(float) for n in (60, 40)]
    >>> found = effect_differences(
    ...     (proportions(groups[0]), proportions(groups[1])),
    ...     (proportion_covariance(groups[0]), proportion_covariance(groups[1])),
    ...     (60, 40),
    ... )
    >>> print(found["or_rrrc"])
    -0.08 (95% CI -0.33 to 0.17; n = 500)
    """
    readers = theta[0].shape[1]
    gains = [t[0] - t[1] for t in theta]
    contrast = np.hstack([np.eye(readers), -np.eye(readers)])
    spread = contrast @ (covariance[0] + covariance[1]) @ contrast.T
    fit = obuchowski_rockette((gains[0] - gains[1])[None, :], spread, sum(n_cases))
    return {mode: _tested(fit.arm_mean(0, mode=mode, level=level)) for mode in MODES}


def leading_mode(found: dict[Mode, Estimate], n_readers: int) -> Mode:
    """The mode that leads, as for the effect itself (`obuchowski_rockette.leading`)."""
    lead = leading(found["or_rrrc"], found["or_frrc"], n_readers)
    return "or_frrc" if lead.method == "or_frrc" else "or_rrrc"


def _tested(e: Estimate) -> Estimate:
    """With the p-value of no difference; an infinite number of degrees of freedom is not reported."""
    if isnan(e.low) or isnan(e.se):
        return e
    return replace(e, p=two_sided_p(e.value / e.se, inf if isnan(e.df) else e.df))


FEWER_THAN_TWO_WITH_BOTH_CLASSES = note("fewer_than_two_groups_with_cases")
NOT_OF_ALL = note("difference_between_two_groups_has_no")
METHOD, CLUSTERED_ODDS = "equalised_odds_newcombe", "equalised_odds_clustered"


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
    method = METHOD if cluster is None else CLUSTERED_ODDS
    groups = [g for g in np.unique(group[group >= 0]) if np.unique(truth[group == g]).size == 2]
    n = int(np.isin(group, groups).sum())
    if len(groups) < 2:
        return undefined(n, FEWER_THAN_TWO_WITH_BOTH_CLASSES, level=level, method=method)
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
    note = NO_NOTE if all(np.isfinite([e.low, e.high]).all() for e in every) else NOT_OF_ALL
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
