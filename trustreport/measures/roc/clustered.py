"""Area under the ROC curve, and its difference, when cases come in clusters."""

from dataclasses import replace
from math import isnan, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, cluster_sums
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.in_range import difference_by_region
from trustreport.measures.mrmc.interval import NEGLIGIBLE, df_by_kurtosis, quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.roc import notes
from trustreport.measures.roc.auc import (
    AUC_NEWCOMBE,
    Floats,
    check_scores,
    exponential_variance,
    newcombe_limits,
    on_logit_scale,
    placements,
)

METHOD, LARGER = "obuchowski_clustered", "auc_logit_obuchowski"
CLUSTERS_AS_CASES = note("scores_separate_classes_interval_counts_clusters")


def clustered_auc(
    truth: NDArray[np.bool_], score: NDArray[Any], cluster: Clusters, *, level: float = 0.95
) -> Estimate:
    """Area under the ROC curve with an interval that allows for cases of a cluster being alike.

    With X, Y of `delong`, X_g and Y_g their sums over the m_g positives and n_g negatives of cluster g, A the
    area, n1 positives, n0 negatives, G1 and G0 clusters that hold a positive and a negative, G clusters::

        S10 = G1 / ((G1 - 1) n1) sum (X_g - m_g A)^2,   S01 = G0 / ((G0 - 1) n0) sum (Y_g - n_g A)^2
        S11 = G / (G - 1) sum (X_g - m_g A)(Y_g - n_g A)
        V = S10 / n1 + S01 / n0 + 2 S11 / (n1 n0)

    and logit A +- t sqrt(V) / (A (1 - A)), turned back, with min(G1, G0) - 1 degrees of freedom.

    Estimand: as `delong`, clusters sampled independently, every pair of cases weighing alike.

    Parameters
    ----------
    cluster : int array, shape (n_cases,)
        Which cluster a case belongs to.

    Returns
    -------
    In [0, 1]; p of an area of .5 on the same scale; `details` holds positives, negatives, the clusters of
    the class that lies in fewer, and the design effect (V over DeLong's variance). NaN with a note when a
    class is absent; no limits when a class lies in one cluster or the area is 0 or 1.

    Notes
    -----
    With one case in each cluster V is DeLong's variance.

    References
    ----------
    Obuchowski (1997), Biometrics 53, 567-578.

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> print(
    ...     clustered_auc(truth, np.array([1, 2, 2, 3, 2, 3, 4, 5]), np.array([1, 1, 2, 3, 1, 2, 3, 4]))
    ... )
    0.84 (95% CI 0.32 to 0.98; n = 8)
    """
    check_level(level)
    check_scores(truth, score)
    n, n1 = truth.size, int(np.count_nonzero(truth))
    if n1 in (0, n):
        note = notes.NO_NEGATIVE if n1 else notes.NO_POSITIVE
        return undefined(n, note, level=level, method=METHOD)
    x, y = placements(truth, score)
    area = float(x.mean())
    spread = _Spread(truth, cluster)
    details = {"positives": float(n1), "negatives": float(n - n1), "clusters": float(spread.least)}
    variance = spread.variance(x - area, y - area)
    note = ONE_CLUSTER if spread.least < 2 else notes.PERFECT if area in (0.0, 1.0) else NO_NOTE
    if not note and not variance > NEGLIGIBLE:
        note = notes.ALL_PAIRS_ALIKE
    if note:
        return Estimate(area, nan, nan, n, level, METHOD, note, details=details)
    if min(n1, n - n1) > 1:
        independent = float(x.var(ddof=1)) / n1 + float(y.var(ddof=1)) / (n - n1)
        if independent > NEGLIGIBLE:
            details["design_effect"] = variance / independent
    df = float(spread.least - 1)
    low, high, p = on_logit_scale(area, sqrt(variance), df, level)
    return Estimate(area, low, high, n, level, METHOD, se=sqrt(variance), df=df, p=p, details=details)


def auc_logit_obuchowski(
    truth: NDArray[np.bool_], score: NDArray[Any], cluster: Clusters, *, level: float = 0.95
) -> Estimate:
    """Area under the ROC curve of cases in clusters, with the larger of two variances: the primary interval.

    As `clustered_auc`, with the larger of its variance V and that of exponential scores, H of
    `auc_logit_larger`, times the design effect D of V where that is above 1::

        logit A +- t sqrt(max(V, D H)) / (A (1 - A)),   turned back

    with min(G1, G0) - 1 degrees of freedom. Where the area is 0 or 1 nothing varies between clusters; the
    limits are then those of `newcombe_auc` with G1 and G0, the clusters that hold a positive and a negative,
    in place of n1 and n0, and the same t.

    Estimand, parameters and edges: as `clustered_auc`.

    Returns
    -------
    In [0, 1], limits too: ``auc_logit_obuchowski``, or ``auc_newcombe`` with a note at 0 and 1; p of an
    area of .5 by the test that the interval inverts.

    References
    ----------
    Obuchowski (1997), Biometrics 53, 567-578. Hanley, McNeil (1982), Radiology 143, 29-36.
    Newcombe (2006), Stat. Med. 25, 559-573, method 5. Rao, Scott (1992), Biometrics 48, 577-585.

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> group = np.array([1, 1, 2, 3, 1, 2, 3, 4])
    >>> print(auc_logit_obuchowski(truth, np.array([1, 2, 2, 3, 2, 3, 4, 5]), group))
    0.84 (95% CI 0.04 to 1.00; n = 8)
    """
    plain = clustered_auc(truth, score, cluster, level=level)
    area, n1 = plain.value, int(np.count_nonzero(truth))
    if plain.note == notes.PERFECT:
        with_positive, with_negative = (len(np.unique(cluster[own])) for own in (truth, ~truth))
        df = float(min(with_positive, with_negative) - 1)
        low, high, p = newcombe_limits(area, with_positive, with_negative, df, level)
        return replace(plain, low=low, high=high, method=AUC_NEWCOMBE, note=CLUSTERS_AS_CASES, df=df, p=p)
    if isnan(plain.se):
        return replace(plain, method=LARGER)
    effect = max(1.0, plain.details.get("design_effect", 1.0))
    se = max(plain.se, sqrt(effect * exponential_variance(area, n1, truth.size - n1)))
    low, high, p = on_logit_scale(area, se, plain.df, level)
    return replace(plain, low=low, high=high, method=LARGER, se=se, p=p)


def clustered_difference(
    truth: NDArray[np.bool_],
    compared: NDArray[Any],
    baseline: NDArray[Any],
    cluster: Clusters,
    *,
    level: float = 0.95,
) -> Estimate:
    """Difference of two scores' areas on the same cases, which come in clusters.

    The variance of `clustered_auc` with the differences of X and of Y in their place; t interval.

    Returns
    -------
    Compared minus baseline, in [-1, 1]; `p` tests 0; edges as `clustered_auc`.

    References
    ----------
    Obuchowski (1997), Biometrics 53, 567-578, section 3.

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> one, other = np.array([1, 2, 2, 3, 2, 3, 4, 5]), np.array([1, 3, 2, 2, 2, 1, 4, 3])
    >>> print(clustered_difference(truth, one, other, np.array([1, 1, 2, 3, 1, 2, 3, 4])))
    0.22 (95% CI -0.68 to 1.12; n = 8)
    """
    check_level(level)
    check_scores(truth, compared, baseline)
    n, n1 = truth.size, int(np.count_nonzero(truth))
    if n1 in (0, n):
        note = notes.NO_NEGATIVE if n1 else notes.NO_POSITIVE
        return undefined(n, note, level=level, method=METHOD)
    x, y = (one - other for one, other in zip(placements(truth, compared), placements(truth, baseline)))
    value, spread = float(x.mean()), _Spread(truth, cluster)
    variance = spread.variance(x - value, y - value)
    if spread.least < 2 or not variance > NEGLIGIBLE:
        note = ONE_CLUSTER if spread.least < 2 else notes.NO_VARIATION
        return Estimate(value, nan, nan, n, level, METHOD, note)
    df, se = float(spread.least - 1), sqrt(variance)
    half = quantile(df, level) * se
    p = two_sided_p(value / se, df)
    details = {"clusters": float(spread.least)}
    return Estimate(value, value - half, value + half, n, level, METHOD, se=se, df=df, p=p, details=details)


def clustered_region_difference(
    truth: NDArray[np.bool_],
    compared: NDArray[Any],
    baseline: NDArray[Any],
    cluster: Clusters,
    *,
    level: float = 0.95,
) -> Estimate:
    """The difference of `clustered_difference` with limits from the logits of both areas.

    Those of `mrmc.in_range.difference_by_region`, with at most the degrees of freedom that the kurtosis of
    what each cluster contributes leaves (`mrmc.interval.df_by_kurtosis`).

    Returns
    -------
    ``obuchowski_clustered_region``; ``obuchowski_clustered``, symmetric, where an area is 0 or 1.

    References
    ----------
    Obuchowski (1997), Biometrics 53, 567-578, section 3. Venzon, Moolgavkar (1988), Appl. Stat. 37, 87-94.

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> one, other = np.array([1, 2, 2, 3, 2, 3, 4, 5]), np.array([1, 3, 2, 2, 2, 1, 4, 3])
    >>> group = np.array([1, 1, 2, 3, 1, 2, 3, 4])
    >>> print(clustered_region_difference(truth, one, other, group))
    0.22 (95% CI -0.51 to 0.88; n = 8)
    """
    plain = clustered_difference(truth, compared, baseline, cluster, level=level)
    if isnan(plain.se):
        return plain
    gaps = zip(placements(truth, compared), placements(truth, baseline))
    influence = np.empty(truth.size)
    for of, (one, other) in zip((truth, ~truth), gaps):
        influence[of] = (one - other - plain.value) / np.count_nonzero(of)
    df = min(plain.df, df_by_kurtosis(cluster_sums(influence, cluster)))
    half = quantile(df, level) * plain.se
    p = two_sided_p(plain.value / plain.se, df)
    found = replace(plain, low=plain.value - half, high=plain.value + half, df=df, p=p)
    areas = (clustered_auc(truth, score, cluster, level=level) for score in (compared, baseline))
    return difference_by_region(found, *areas)


def clustered_unpaired_difference(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    cluster: Clusters,
    baseline_truth: NDArray[np.bool_],
    baseline_score: NDArray[Any],
    baseline_cluster: Clusters,
    *,
    level: float = 0.95,
) -> Estimate:
    """How much better a score separates the classes in one set of cases than in another, both in clusters.

    With V, V' of `clustered_auc` and d, d' its degrees of freedom::

        AUC - AUC' +- t sqrt(V + V'),   df = (V + V')^2 / (V^2 / d + V'^2 / d')

    Estimand: as `unpaired_difference`, clusters sampled independently, none in both sets.

    Parameters
    ----------
    truth, baseline_truth : bool arrays, shapes (n_cases,) and (n_baseline,)
    score, baseline_score : arrays of numbers, of the same shapes
        Higher = more suspicious; no NaN.
    cluster, baseline_cluster : int arrays, of the same shapes
        Which cluster a case belongs to; each case its own where they stand alone.

    Returns
    -------
    First set minus baseline set, in [-1, 1]; `n` counts both; `p` tests a difference of 0; NaN with a
    note when a class is absent from a set; no limits when a class of a set lies in one cluster or an area
    is 0 or 1.

    References
    ----------
    Obuchowski (1997), Biometrics 53, 567-578.
    Satterthwaite (1946), Biom. Bull. 2, 110-114 (degrees of freedom).

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> one, other = np.array([1, 2, 2, 3, 2, 3, 4, 5]), np.array([1, 3, 2, 2, 2, 1, 4, 3])
    >>> group = np.array([1, 1, 2, 3, 1, 2, 3, 4])
    >>> print(clustered_unpaired_difference(truth, one, group, truth, other, group))
    0.22 (95% CI -0.52 to 0.96; n = 16)
    """
    method = "obuchowski_clustered_unpaired"
    one = clustered_auc(truth, score, cluster, level=level)
    other = clustered_auc(baseline_truth, baseline_score, baseline_cluster, level=level)
    n, value, note = one.n + other.n, one.value - other.value, one.note or other.note
    if isnan(value):
        return undefined(n, note, level=level, method=method)
    if isnan(one.se) or isnan(other.se):
        return Estimate(value, nan, nan, n, level, method, note)
    v, w = one.se**2, other.se**2
    df, se = (v + w) ** 2 / (v * v / one.df + w * w / other.df), sqrt(v + w)
    half = quantile(df, level) * se
    p = two_sided_p(value / se, df)
    details = {"clusters": min(one.details["clusters"], other.details["clusters"])}
    return Estimate(value, value - half, value + half, n, level, method, se=se, df=df, p=p, details=details)


class _Spread:
    """Which clusters hold which cases, and the variance that follows."""

    def __init__(self, truth: NDArray[np.bool_], cluster: Clusters) -> None:
        if cluster.shape != truth.shape:
            raise ValueError(
                f"cluster must have one entry per case, got shape {cluster.shape} for {truth.shape}."
            )
        self.truth, self.cluster = truth, cluster
        self.n_clusters = len(np.unique(cluster))
        self.with_positive, self.with_negative = (len(np.unique(cluster[own])) for own in (truth, ~truth))
        self.least = min(self.with_positive, self.with_negative)

    def variance(self, of_positive: Floats, of_negative: Floats) -> float:
        """V from the centred placements of positives and of negatives."""
        if self.least < 2:
            return nan
        n1, n0 = len(of_positive), len(of_negative)
        up, down = np.zeros(self.truth.size), np.zeros(self.truth.size)
        up[self.truth], down[~self.truth] = of_positive, of_negative
        positive, negative = (cluster_sums(part, self.cluster) for part in (up, down))
        g1, g0, g = self.with_positive, self.with_negative, self.n_clusters
        return float(
            g1 / (g1 - 1) * (positive @ positive) / n1**2
            + g0 / (g0 - 1) * (negative @ negative) / n0**2
            + 2 * g / (g - 1) * (positive @ negative) / (n1 * n0)
        )
