"""Net benefit as a part of the greatest possible one, and weighted by the relevance of cases."""

from dataclasses import replace
from math import exp, inf, isfinite, isnan, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from trustreport.measures import notes
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import cluster_cells
from trustreport.measures.estimate import Estimate
from trustreport.measures.means import case_ratio, mean_limits
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile
from trustreport.measures.net_benefit import (
    Floats,
    check_scores,
    checked_threshold,
    decision_cells,
    odds_of_threshold,
    worth_of_decisions,
)
from trustreport.measures.note import NO_NOTE, note

SNB_MOVER, SNB_JACKKNIFE = "snb_mover", "snb_jackknife"
WU, CLUSTER_WU = "wu_log_t", "cluster_wu_log_t"
FEW_HELD = 40  # cases with the condition, or clusters that hold one
CLUSTERS_WITH_POSITIVE = 10  # with fewer, the spread between clusters is not known well enough
LOW, HIGH = 1, 2  # of `mean_limits`
UNBOUNDED = 1e9  # a lower limit this far off does not exist: the prevalence may be close to 0
NO_LOWER_LIMIT = note("too_few_cases_have_condition_interval")
NO_POSITIVE = note("no_case_has_condition")
FEW_CLUSTERS = note("fewer_than_10_clusters_hold_case")
NO_LOSS = note("no_benefit_lost_in_these_cases")
NO_UTILITY_LOST = note("no_utility_lost_in_these_cases")
TOO_FEW_RELEVANT = note("one_case_with_condition_or_one")
NO_RELEVANCE = note("cases_with_condition_have_no_relevance")


def standardized_net_benefit(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    threshold: float,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Net benefit as a share of the best possible, that of finding every case without a false alarm.

    With q the prevalence and w = (1 - q) / q t / (1 - t)::

        sNB = NB / q = sensitivity - w (1 - specificity)
        SE^2 = (sens (1 - sens) / q + w^2 spec (1 - spec) / (1 - q) + w^2 (1 - spec)^2 / (q (1 - q))) / n

    Estimand: the same in the population, the prevalence estimated from these cases. Parameters as in
    `net_benefit`.

    Returns
    -------
    At most 1, no lower bound; NaN with a note when no case has the condition.

    References
    ----------
    Baker, Cook, Vickers, Kramer (2009), J. R. Stat. Soc. A 172, 729-748 (relative utility).
    Riley et al. (2021), Stat. Med. 40, 4230-4251 (standard error).

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> score = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.2, 0.1, 0.1])
    >>> print(standardized_net_benefit(truth, score, 0.5))
    0.33 (95% CI -0.59 to 1.26; n = 8)
    """
    check_scores(truth, score)
    worth = worth_of_decisions(truth, score >= checked_threshold(threshold), threshold)
    return case_ratio(worth, truth.astype(np.float64), level, NO_POSITIVE, cluster)


def snb_mover(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    threshold: float,
    *,
    level: float = 0.95,
    known: Estimate | None = None,
) -> Estimate:
    """`standardized_net_benefit` with limits from those of the four cells: the primary interval.

    With w = t / (1 - t), a value L is in the interval while the limits of the mean worth at L include 0::

        worth at L: 1 - L true positive, -w false positive, -L false negative, 0 true negative

    which is NB - L x prevalence (Fieller's argument with the limits of `cell_mean.mean_limits`).

    Estimand: as `standardized_net_benefit`.

    Parameters
    ----------
    truth, score, threshold, level
        As in `net_benefit`.
    known : optional
        `standardized_net_benefit` of these cases, where it is at hand already.

    Returns
    -------
    ``snb_mover``, at most 1, limits too; NaN with a note when no case has the condition; no limits at
    threshold 1, nor where so few cases have the condition that there is no lower one.

    Notes
    -----
    The delta method covers in .58 to .95 of samples (prevalence .01 to .35, 100 to 500 cases) and its limits
    exceed 1 in up to 98 % of them; this one covers in .95 to 1.00.

    References
    ----------
    Fieller (1954), J. R. Stat. Soc. B 16, 175-185. Zou, Huang, Zhang (2009), Comput. Stat. Data Anal. 53,
    1080-1085.

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> score = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.2, 0.1, 0.1])
    >>> print(snb_mover(truth, score, 0.5))
    0.33 (95% CI -1.97 to 0.82; n = 8)
    """
    plain = known or standardized_net_benefit(truth, score, threshold, level=level)
    if not isfinite(plain.value) or threshold == 1:
        return replace(plain, low=nan, high=nan, se=nan, method=SNB_MOVER)
    counts, _ = decision_cells(truth, score >= threshold, None)
    n, odds, z = int(counts.sum()), odds_of_threshold(threshold), quantile(inf, level)
    share = counts / n

    def limit(at: float, side: int) -> float:
        return mean_limits(share, n, np.array([1 - at, -odds, -at, 0.0]), z)[side]

    below = 1.0
    while below < UNBOUNDED and limit(plain.value - below, LOW) <= 0:
        below *= 2
    if below >= UNBOUNDED:
        return replace(plain, low=nan, high=nan, se=nan, method=SNB_MOVER, note=NO_LOWER_LIMIT)
    low = float(brentq(limit, plain.value - below, plain.value, args=(LOW,), xtol=1e-13, rtol=1e-13))
    high = 1.0
    if plain.value < 1 and limit(1.0, HIGH) < 0:
        high = float(brentq(limit, plain.value, 1.0, args=(HIGH,), xtol=1e-13, rtol=1e-13))
    return replace(plain, low=low, high=high, method=SNB_MOVER, note=NO_NOTE, se=plain.se or nan)


def snb_jackknife(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    threshold: float,
    cluster: Clusters,
    *,
    level: float = 0.95,
) -> Estimate:
    """`standardized_net_benefit` of cases in clusters by leaving out one cluster after the other.

    With B = log(1 - sNB), the logarithm of the loss, B_g that without cluster g, G clusters of which G1 hold
    a positive::

        V = (G - 1) / G sum over g of (B_g - mean B_g)^2
        1 - exp(B +- t(G1 - 1) sqrt(V))

    Estimand: as `standardized_net_benefit`, clusters sampled independently.

    Returns
    -------
    ``snb_jackknife``, at most 1, limits too; `se` is that of the value by the delta method. NaN with a
    note when no case has the condition; no limits, and a note, where fewer than 10 clusters hold a
    positive, where the value, or that without a cluster, is 1, and at threshold 1.

    Notes
    -----
    With fewer clusters that hold a positive the spread between them is not known: it covered in .57 to .88 of
    samples. With 10 or more it covers in .94 to .98, in place of .57 to .94 of the delta method.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> truth, score = np.arange(60) % 3 == 0, (np.arange(60) * 7 % 20) / 20
    >>> print(snb_jackknife(truth, score, 0.2, np.arange(60) // 4))
    0.40 (95% CI -0.01 to 0.64; n = 60)
    """
    plain = standardized_net_benefit(truth, score, threshold, cluster=cluster, level=level)
    plain = replace(plain, low=nan, high=nan, se=nan, method=SNB_JACKKNIFE)
    if not isfinite(plain.value) or threshold == 1:
        return plain
    cells = cluster_cells(truth, score >= threshold, cluster)
    n_clusters, held = len(cells), int(cells[:, [0, 2]].any(axis=1).sum())
    details = {"clusters": float(n_clusters), "clusters_with_positive": float(held)}
    plain = replace(plain, details=details, note=NO_NOTE)
    if held < CLUSTERS_WITH_POSITIVE:
        return replace(plain, note=FEW_CLUSTERS)
    left = cells.sum(axis=0) - cells
    loss = (left[:, 2] + odds_of_threshold(threshold) * left[:, 1]) / (left[:, 0] + left[:, 2])
    if plain.value == 1 or not (loss > 0).all():
        return replace(plain, note=NO_LOSS)
    logs = np.log(loss)
    variance = (n_clusters - 1) / n_clusters * float(((logs - logs.mean()) ** 2).sum())
    if not variance > NEGLIGIBLE:
        return replace(plain, note=notes.NO_WIDTH)
    df, se = float(held - 1), sqrt(variance)
    factor = exp(quantile(df, level) * se)
    low, high = 1 - (1 - plain.value) * factor, 1 - (1 - plain.value) / factor
    note = notes.OFTEN_BELOW if held < FEW_HELD else NO_NOTE
    return replace(plain, low=low, high=high, se=(1 - plain.value) * se, df=df, note=note)


def weighted_utility(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    threshold: Floats,
    relevance: Floats,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Standardised net benefit in which each case has its own threshold and its own relevance.

    With t_i, r_i those of case i, positive when s_i >= t_i::

        WU = (sum of r_i over true positives - sum of r_i t_i / (1 - t_i) over false positives)
             / sum of r_i over cases with the condition

    A ratio of means; its variance is that of (worth_i - WU r_i [condition]) / mean of r_i [condition]. The
    limits are those of the logarithm of the loss 1 - WU, with m cases that have the condition and relevance::

        1 - (1 - WU) exp(+- t(m - 1) SE / (1 - WU))

    Relevance 1 and one threshold give the value of `standardized_net_benefit`.

    Parameters
    ----------
    threshold, relevance : float array, shape (n_cases,)
        In [0, 1], and not negative; only ratios of relevances matter.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to: then m counts clusters, and the variance is that of
        their sums.

    Returns
    -------
    ``wu_log_t``, with clusters ``cluster_wu_log_t``; at most 1, limits too; `se` is that of the value by
    the delta method. NaN with a note when no case with the condition has any relevance; no limits, and a
    note, where only one has, where the value is 1, and, of cases in clusters, where fewer than 10
    clusters hold a relevant case with the condition.

    Notes
    -----
    Limits symmetric about the value covered in .91 of samples with 10 cases that have the condition, and
    exceeded 1; these cover in .93 to .95.

    References
    ----------
    Campagner, Sternini, Cabitza (2022), Comput. Methods Programs Biomed. 221, 106930.

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> score = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.2, 0.1, 0.1])
    >>> print(weighted_utility(truth, score, np.full(8, 0.5), np.array([2, 1, 1, 1, 1, 1, 1, 1.0])))
    0.50 (95% CI -14.01 to 0.98; n = 8)
    """
    check_scores(truth, score)
    for name, values, most in (("threshold", threshold, 1.0), ("relevance", relevance, inf)):
        if values.shape != truth.shape:
            raise ValueError(f"{name} must have one entry per case, got shape {values.shape}.")
        if not ((values >= 0) & (values <= most)).all():
            raise ValueError(
                f"{name} must lie in [0, {most:g}]; {name} of case {_first(values, most)} does not."
            )
    worth = relevance * worth_of_decisions(truth, (score >= threshold) & (relevance > 0), threshold)
    plain = case_ratio(worth, relevance * truth, level, NO_RELEVANCE, cluster)
    counts = truth & (relevance > 0)
    held = int(counts.sum()) if cluster is None else len(np.unique(cluster[counts]))
    return _by_log_of_loss(plain, held, clustered=cluster is not None)


def _by_log_of_loss(plain: Estimate, held: int, *, clustered: bool) -> Estimate:
    """A utility with limits on the scale of log(1 - utility), Student's t with `held` less one df."""
    method, loss, df = CLUSTER_WU if clustered else WU, 1 - plain.value, float(held - 1)
    bare = replace(plain, low=nan, high=nan, method=method)
    if not isfinite(plain.value) or isnan(plain.low):
        return bare
    if held < 2:
        return replace(bare, note=TOO_FEW_RELEVANT)
    if clustered and held < CLUSTERS_WITH_POSITIVE:
        return replace(bare, note=FEW_CLUSTERS)
    if not loss > NEGLIGIBLE:
        return replace(bare, note=NO_UTILITY_LOST)
    if not plain.se > NEGLIGIBLE:
        return replace(bare, note=notes.NO_WIDTH)
    half = quantile(df, plain.level) * plain.se / loss
    if half > log(UNBOUNDED):
        return replace(bare, note=NO_LOWER_LIMIT)
    low, high = 1 - loss * exp(half), 1 - loss / exp(half)
    return replace(bare, low=low, high=high, df=df, note=notes.OFTEN_BELOW if held < FEW_HELD else NO_NOTE)


def _first(values: Floats, most: float) -> int:
    return int(np.argmin((values >= 0) & (values <= most)))
