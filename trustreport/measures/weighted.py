"""Estimates with sampling weights: for the population from which cases were drawn with unequal chances.

A weight is the number of cases of the population that a case represents, up to a common factor (the inverse
of its chance of being sampled). Standard errors are by linearisation, clusters (or cases) taken as sampled
with replacement, in one stratum.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from trustreport.measures import notes
from trustreport.measures.cluster import ONE_CLUSTER, Clusters, cluster_sums, clustered_variance
from trustreport.measures.confusion.independent import score_limit
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import df_by_kurtosis, quantile
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.proportion import wilson

SHARE, RATIO, MEAN, AREA = "weighted_logit", "weighted_log", "weighted_t", "weighted_auc"
NEGLIGIBLE = 1e-24
NO_WEIGHT = note("no_case_denominator_has_weight_above")
ONE_UNIT = note("fewer_than_two_cases_or_clusters")
NO_SPREAD = note("nothing_varies_between_cases_or_clusters")
NOTHING_EXPECTED = note("weighted_sum_scores_0_ratio_undefined")
ONE_CLASS = note("class_has_no_case_with_weight")
FEW_HEAVY = note("fewer_than_5_cases_class_carry")
LEAST_HEAVY, UNEVEN = 5, 10

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def weighted_share(
    values: NDArray[Any],
    of: Mask,
    weight: Floats,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """The weighted mean of numbers from 0 to 1 among some cases, with a logit interval.

    With w the weights, y the values, m the mean, over the cases of the denominator::

        m = sum w y / sum w,   z_i = w_i (y_i - m) / sum w  (0 outside the denominator)
        V = G / (G - 1) sum over clusters of (sum of z_i)^2
        logit m +- t sqrt(V) / (m (1 - m))

    with one degree of freedom less than cases or clusters of the denominator. Where weights are unequal by a
    factor of 10 or more a few heavy cases can make up nearly all of V: then at most what the kurtosis of z
    leaves (`mrmc.interval.df_by_kurtosis`). Where m is 0 or 1 the limits are Wilson's, with
    (sum w)^2 / sum w^2 as the number of cases, at most the number of clusters.

    Estimand: the share (or mean) in the population that the weights represent.

    Parameters
    ----------
    values : array, shape (n_cases,), within [0, 1]
    of : bool array, shape (n_cases,)
        The denominator.
    weight : float array, shape (n_cases,)
        0 or more.

    Returns
    -------
    `n` counts the cases of the denominator with a weight above 0; `details` holds `effective`, their
    number after Kish, and with `cluster` `clusters`. NaN with a note where there is none.

    References
    ----------
    Binder (1983), Int. Stat. Rev. 51, 279-292 (linearisation). Kish (1965), Survey Sampling. Lumley (2010),
    Complex Surveys, chapter 2. Shoemaker (2003), Am. Stat. 57, 243-249 (degrees of freedom).

    Examples
    --------
    >>> called, weight = np.array([1, 1, 1, 0, 0]), np.array([1.0, 1, 2, 2, 4])
    >>> print(weighted_share(called, np.ones(5, bool), weight))
    0.40 (95% CI 0.03 to 0.93; n = 5)
    """
    check_level(level)
    w, used, n = _entering(weight, values, of=of)
    if not n:
        return undefined(0, NO_WEIGHT, level=level, method=SHARE)
    mean = float(w @ values / w.sum())
    found = _bare(mean, w, used, cluster, SHARE, level)
    if mean in (0.0, 1.0):
        return _at_an_end(found, used, cluster)
    se, df, note = _spread(w * (values - mean) / w.sum(), w, used, cluster)
    if note:
        return replace(found, note=note)
    return _with_logit_limits(found, se, df)


def weighted_mean(
    values: Floats, weight: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """The weighted mean of any numbers, with a t interval; parameters and result as of `weighted_share`.

    Examples
    --------
    >>> print(weighted_mean(np.array([1.0, 0, 0, -1]), np.array([2.0, 1, 1, 1])))
    0.20 (95% CI -1.28 to 1.68; n = 4)
    """
    check_level(level)
    w, used, n = _entering(weight, values)
    if not n:
        return undefined(0, NO_WEIGHT, level=level, method=MEAN)
    mean = float(w @ values / w.sum())
    found = _bare(mean, w, used, cluster, MEAN, level)
    se, df, note = _spread(w * (values - mean) / w.sum(), w, used, cluster)
    if note:
        return replace(found, note=note)
    half = quantile(df, level) * se
    return replace(found, low=mean - half, high=mean + half, se=se, df=df)


def weighted_oe(
    truth: Mask, risk: Floats, weight: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Observed over expected events with weights, sum w y / sum w p, with a t interval of its logarithm.

    Parameters and result as of `weighted_share`; `risk` (n_cases,) within [0, 1].

    Examples
    --------
    >>> truth, risk = np.array([True, False, True, False]), np.array([0.8, 0.3, 0.6, 0.1])
    >>> print(weighted_oe(truth, risk, np.array([1.0, 1, 2, 2])))
    1.20 (95% CI 0.50 to 2.86; n = 4)
    """
    check_level(level)
    w, used, n = _entering(weight, risk)
    if not n:
        return undefined(0, NO_WEIGHT, level=level, method=RATIO)
    expected = float(w @ risk)
    if not expected > 0:
        return undefined(n, NOTHING_EXPECTED, level=level, method=RATIO)
    value = float(w @ truth) / expected
    found = _bare(value, w, used, cluster, RATIO, level)
    se, df, note = _spread(w * (truth - value * risk) / expected, w, used, cluster)
    if note or not value > 0:
        return replace(found, note=note or NO_SPREAD)
    half = quantile(df, level) * se / value
    return replace(found, low=value * exp(-half), high=value * exp(half), se=se, df=df)


def weighted_auc(
    truth: Mask, score: Floats, weight: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """The area under the ROC curve of the population that the weights represent, with a logit interval.

    With x_i the weighted share of negatives that positive i outranks (ties a half), y_j that of positives
    that outrank negative j, and A the area::

        A = sum over positives of w_i x_i / sum w_i
        z_i = w_i (x_i - A) / sum of w over its class  (negatives: y_j)

    Parameters and result as of `weighted_share`; `df` is that of the kurtosis, at most one less than the
    clusters of the class found in fewer.

    References
    ----------
    Binder (1983), Int. Stat. Rev. 51, 279-292. DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.

    Examples
    --------
    >>> truth, score = np.array([1, 1, 1, 0, 0, 0], bool), np.array([0.9, 0.8, 0.3, 0.4, 0.2, 0.1])
    >>> print(weighted_auc(truth, score, np.array([1.0, 1, 2, 2, 1, 1])))
    0.75 (95% CI 0.01 to 1.00; n = 6)
    """
    check_level(level)
    w, used, n = _entering(weight, score)
    ones, zeros = w * truth, w * ~truth
    if not ones.sum() or not zeros.sum():
        return undefined(n, ONE_CLASS, level=level, method=AREA)
    above = _outranked(score, zeros) / zeros.sum()
    below = 1 - _outranked(score, ones) / ones.sum()
    area = min(max(float(ones @ above / ones.sum()), 0.0), 1.0)
    found = _bare(area, w, used, cluster, AREA, level)
    influence = ones * (above - area) / ones.sum() + zeros * (below - area) / zeros.sum()
    if area in (0.0, 1.0):
        return replace(found, note=NO_SPREAD)
    scarcer = min((used & truth, used & ~truth), key=lambda of: _units(of, cluster))
    if cluster is not None:
        found = replace(found, details={**found.details, "clusters": float(_units(scarcer, cluster))})
    se, df, note = _spread(influence, w, scarcer, cluster, always=True)
    if note:
        return replace(found, note=note)
    return _with_logit_limits(found, se, df)


def few_heavy(weight: Floats, *classes: Mask) -> bool:
    """Whether a class holds fewer than 5 of the cases with at least half of the largest weight of all.

    Only where weights are unequal by a factor of 10 or more. How many of them were drawn then decides the
    value, and a standard error does not show that more could have been.

    Parameters
    ----------
    weight : float array, shape (n_cases,)
        Of all cases, also those that were drawn with certainty.
    classes : bool arrays, shape (n_cases,)

    Notes
    -----
    Simulated, 2,000 cases of which those with a low score, .04 to .08 of them with the condition, are drawn 1
    in 50, some 4 positives among them: the area covers .90, sensitivity .91 to .94; with 10 positives .94 and
    .96.
    """
    known = weight[np.isfinite(weight) & (weight > 0)]
    if not len(known) or known.max() < UNEVEN * known.min():
        return False
    heavy = weight >= known.max() / 2
    return any(np.count_nonzero(heavy & of) < LEAST_HEAVY for of in classes)


def _entering(weight: Floats, column: NDArray[Any], of: Mask | None = None) -> tuple[Floats, Mask, int]:
    """Weights of at most 1, 0 for cases that do not enter; which cases do, (n_cases,); and how many."""
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("weights must be finite numbers, 0 or more.")
    if column.shape != weight.shape:
        raise ValueError(f"weights must have one entry per case, got shape {weight.shape}.")
    used = weight > 0 if of is None else of & (weight > 0)
    n = int(np.count_nonzero(used))
    if not n:
        return weight, used, n
    # Weights of other cases may be too large for the greatest one of these.
    return np.divide(weight, weight[used].max(), out=np.zeros(len(weight)), where=used), used, n


def _with_logit_limits(found: Estimate, se: float, df: float) -> Estimate:
    share = found.value
    centre, half = log(share / (1 - share)), quantile(df, found.level) * se / (share * (1 - share))
    return replace(found, low=float(expit(centre - half)), high=float(expit(centre + half)), se=se, df=df)


def _bare(
    value: float, w: Floats, used: Mask, cluster: Clusters | None, method: str, level: float
) -> Estimate:
    details = {"effective": float(w.sum() ** 2 / (w @ w))}
    if cluster is not None:
        details["clusters"] = float(_units(used, cluster))
    return Estimate(value, nan, nan, int(np.count_nonzero(used)), level, method, details=details)


def _units(of: Mask, cluster: Clusters | None) -> int:
    """Cases, or the clusters that hold one."""
    return int(np.count_nonzero(of)) if cluster is None else len(np.unique(cluster[of]))


def _spread(
    influence: Floats, weight: Floats, of: Mask, cluster: Clusters | None, *, always: bool = False
) -> tuple[float, float, Note]:
    """Standard error and degrees of freedom, or why there are none."""
    units = _units(of, cluster)
    if units < 2:
        return nan, nan, ONE_UNIT
    summed = influence if cluster is None else cluster_sums(influence, cluster)
    variance = float(summed @ summed) * len(summed) / (len(summed) - 1)
    if not variance > NEGLIGIBLE:
        return nan, nan, NO_SPREAD
    df, drawn = units - 1.0, weight[weight > 0]
    if always or drawn.max() >= UNEVEN * drawn.min():
        df = min(df, df_by_kurtosis(summed[summed != 0]))
    return sqrt(variance), df, NO_NOTE


def _at_an_end(e: Estimate, used: Mask, cluster: Clusters | None) -> Estimate:
    """Wilson's limits of a share of 0 or 1 of so many cases as count."""
    units = _units(used, cluster)
    if units < 2:
        return replace(e, note=ONE_UNIT)
    n = min(e.details["effective"], float(units))
    t = quantile(units - 1.0, e.level)
    width = t * t / (n + t * t)
    return replace(e, low=e.value * (1 - width), high=e.value + (1 - e.value) * width, df=units - 1.0)


def _outranked(score: Floats, weight: Floats) -> Floats:
    """The summed weight of the cases below each case, those of the same score by half, (n_cases,)."""
    levels, at = np.unique(score, return_inverse=True)
    of_level = np.bincount(at, weights=weight, minlength=len(levels))
    below = np.cumsum(of_level) - of_level / 2
    return np.asarray(below[at], np.float64)


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

    Returns
    -------
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
