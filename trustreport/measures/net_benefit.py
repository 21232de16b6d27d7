"""What acting on a score at a threshold is worth: net benefit, standardised and weighted, and differences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, isfinite, isnan, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures import notes
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import all_cells, cluster_cells
from trustreport.measures.means import MEAN, case_mean, case_ratio, cell_mean, mean_limits
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
SNB_MOVER, SNB_JACKKNIFE = "snb_mover", "snb_jackknife"
WU, CLUSTER_WU = "wu_log_t", "cluster_wu_log_t"
FEW_HELD = 40  # cases with the condition, or clusters that hold one
CLUSTERS_WITH_POSITIVE = 10  # with fewer, the spread between clusters is not known well enough
LOW, HIGH = 1, 2  # of `mean_limits`
UNBOUNDED = 1e9  # a lower limit this far off does not exist: the prevalence may be close to 0
NO_LOWER_LIMIT = "too few cases have the condition: the interval has no lower limit"

NO_POSITIVE = "no case has the condition"
FEW_CLUSTERS = "fewer than 10 clusters hold a case with the condition: no interval"
NO_LOSS = "no benefit is lost in these cases, or without one cluster: no interval that respects clusters"
NO_UTILITY_LOST = "no utility is lost in these cases: no interval"
TOO_FEW_RELEVANT = "one case with the condition, or one cluster of such cases, has relevance: no interval"
NO_RELEVANCE = "the cases with the condition have no relevance"
BY_DEFINITION = "nobody is treated: zero by definition"


def net_benefit(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    threshold: float,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """True positives per case, less false positives at the rate of exchange that the threshold implies.

    Whoever acts from probability t on holds one true positive worth w^-1 false positives::

        NB = TP / n - w FP / n,   w = t / (1 - t)

    which is the mean over cases of 1 for a true positive, -w for a false positive and 0 for the rest; the
    interval is the normal one of that mean, variance with divisor n as Riley has it. It covers too rarely
    with few positives: `net_benefit_mover` is the primary one.

    Estimand: the same in the population, cases sampled as they come. In true positives per case: .1 = ten
    more of 100 found without any unneeded treatment.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
        True = condition present.
    score : array of numbers, shape (n_cases,)
        On the scale of the threshold: the predicted risk. No NaN.
    threshold : float in [0, 1]
        Risk from which on one acts (score >= threshold); from the clinic, never from these data.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to: then the variance is that of the clusters' sums,
        and the interval Student's with as many degrees of freedom as there are clusters, less one.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        At most the prevalence, no lower bound; NaN with a note without cases. At threshold 1 a false positive
        makes it -inf; at 0 everybody is treated and NB is the prevalence.

    References
    ----------
    Vickers, Elkin (2006), Med. Decis. Making 26, 565-574.
    Riley et al. (2021), Stat. Med. 40, 4230-4251 (standard error).

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> score = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.2, 0.1, 0.1])
    >>> print(net_benefit(truth, score, 0.5))
    0.12 (95% CI -0.29 to 0.54; n = 8)
    """
    _check(truth, score)
    return case_mean(_worth(truth, score >= _checked(threshold), threshold), level, cluster)


def net_benefit_mover(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    threshold: float,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """`net_benefit` with limits from the Wilson limits of the four cells: the primary interval.

    Net benefit is the mean worth of a case, 1 in the cell of true positives, -t / (1 - t) in that of false
    ones and 0 in the others (`cell_mean.cell_mean`). Value, parameters and edges as in `net_benefit`.

    Returns
    -------
    Estimate
        ``yield_mover``; no limits at threshold 1.

    Notes
    -----
    The normal interval covers in .70 to .95 of samples of 100 cases at a prevalence of .02, and has no width
    where nobody is positive; this one in .96 to .98.

    References
    ----------
    Vickers, Elkin (2006), Med. Decis. Making 26, 565-574.
    Zou, Huang, Zhang (2009), Comput. Stat. Data Anal. 53, 1080-1085 (limits).

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> score = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.2, 0.1, 0.1])
    >>> print(net_benefit_mover(truth, score, 0.5))
    0.12 (95% CI -0.32 to 0.49; n = 8)
    """
    _check(truth, score)
    counts, cells = _cells(truth, score >= _checked(threshold), cluster)
    return of_cells(counts, threshold, clusters=cells, level=level)


def of_cells(
    counts: Counts, threshold: float, *, clusters: Counts | None = None, level: float = 0.95
) -> Estimate:
    """`net_benefit_mover` from tp, fp, fn, tn, of all cases and, optionally, of each cluster.

    >>> print(of_cells(np.array([2, 1, 1, 4]), 0.5))
    0.12 (95% CI -0.32 to 0.49; n = 8)
    """
    worth = np.array([1.0, -_odds(threshold), 0.0, 0.0])
    return cell_mean(counts, worth, np.array([1, 0, 1, 0]), clusters=clusters, level=level)


def treat_all(
    truth: NDArray[np.bool_], threshold: float, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Net benefit of acting on everybody: prevalence - w (1 - prevalence), w = t / (1 - t).

    >>> print(treat_all(np.arange(10) < 3, 0.2))
    0.12 (95% CI -0.12 to 0.50; n = 10)
    """
    counts, cells = _cells(truth, np.ones(truth.shape, dtype=np.bool_), cluster)
    return of_cells(counts, _checked(threshold), clusters=cells, level=level)


def treat_none(truth: NDArray[np.bool_], *, level: float = 0.95) -> Estimate:
    """Net benefit of acting on nobody: 0, by definition and without uncertainty.

    >>> print(treat_none(np.arange(10) < 3))
    0.00 (95% CI 0.00 to 0.00; n = 10)
    """
    check_level(level)
    if not truth.size:
        return undefined(0, notes.NO_CASE, level=level, method=MEAN)
    return Estimate(0.0, 0.0, 0.0, truth.size, level, MEAN, BY_DEFINITION, se=0.0)


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
    Estimate
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
    _check(truth, score)
    worth = _worth(truth, score >= _checked(threshold), threshold)
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
    Estimate
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
    counts, _ = _cells(truth, score >= threshold, None)
    n, odds, z = int(counts.sum()), _odds(threshold), quantile(inf, level)
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
    return replace(plain, low=low, high=high, method=SNB_MOVER, note="", se=plain.se or nan)


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
    Estimate
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
    plain = replace(plain, details=details, note="")
    if held < CLUSTERS_WITH_POSITIVE:
        return replace(plain, note=FEW_CLUSTERS)
    left = cells.sum(axis=0) - cells
    loss = (left[:, 2] + _odds(threshold) * left[:, 1]) / (left[:, 0] + left[:, 2])
    if plain.value == 1 or not (loss > 0).all():
        return replace(plain, note=NO_LOSS)
    logs = np.log(loss)
    variance = (n_clusters - 1) / n_clusters * float(((logs - logs.mean()) ** 2).sum())
    if not variance > NEGLIGIBLE:
        return replace(plain, note=notes.NO_WIDTH)
    df, se = float(held - 1), sqrt(variance)
    factor = exp(quantile(df, level) * se)
    low, high = 1 - (1 - plain.value) * factor, 1 - (1 - plain.value) / factor
    note = notes.OFTEN_BELOW if held < FEW_HELD else ""
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
    Estimate
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
    _check(truth, score)
    for name, values, most in (("threshold", threshold, 1.0), ("relevance", relevance, inf)):
        if values.shape != truth.shape:
            raise ValueError(f"{name} must have one entry per case, got shape {values.shape}.")
        if not ((values >= 0) & (values <= most)).all():
            raise ValueError(
                f"{name} must lie in [0, {most:g}]; {name} of case {_first(values, most)} does not."
            )
    worth = relevance * _worth(truth, (score >= threshold) & (relevance > 0), threshold)
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
    return replace(bare, low=low, high=high, df=df, note=notes.OFTEN_BELOW if held < FEW_HELD else "")


def net_benefit_difference(
    truth: NDArray[np.bool_],
    compared: NDArray[Any],
    baseline: NDArray[Any],
    threshold: float,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """How much more net benefit one score brings than another on the same cases.

    The mean over cases of the difference of what each score earns on the case, normal interval; paired, so
    cases on which both decide alike add nothing. Pass a constant score to compare with treating all (1.0).

    Returns
    -------
    Estimate
        Compared minus baseline; `p` tests 0; no width, and a note, when both decide every case alike.

    References
    ----------
    Vickers, Cronin, Elkin, Gonen (2008), BMC Med. Inform. Decis. Mak. 8, 53 (differences, by resampling).

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> score = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.2, 0.1, 0.1])
    >>> other = np.array([0.4, 0.6, 0.2, 0.7, 0.6, 0.2, 0.1, 0.1])
    >>> print(net_benefit_difference(truth, score, other, 0.5))
    0.25 (95% CI -0.11 to 0.61; n = 8)
    """
    _check(truth, compared)
    _check(truth, baseline)
    _checked(threshold)
    same = (compared >= threshold) == (baseline >= threshold)
    ours, theirs = (_worth(truth, score >= threshold, threshold) for score in (compared, baseline))
    with np.errstate(invalid="ignore"):
        return case_mean(np.where(same, 0.0, ours - theirs), level, cluster, tested=True)


@dataclass(frozen=True, slots=True)
class DecisionCurve:
    """Net benefit over thresholds, with pointwise limits, and that of treating all; treating none is 0."""

    threshold: Floats
    value: Floats
    low: Floats
    high: Floats
    treat_all: Floats
    level: float
    n: int


def decision_curve(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    thresholds: Sequence[float] | Floats,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> DecisionCurve:
    """`net_benefit_mover` at many thresholds, sorting once; limits are of each threshold, not of the curve.

    Parameters
    ----------
    thresholds : floats in [0, 1)

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> score = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.2, 0.1, 0.1])
    >>> decision_curve(truth, score, [0.2, 0.5]).value
    array([0.28125, 0.125  ])
    """
    _check(truth, score)
    check_level(level)
    t = np.asarray(thresholds, dtype=np.float64)
    if not ((t >= 0) & (t < 1)).all():
        raise ValueError("thresholds of a decision curve must lie in [0, 1).")
    if not truth.size:
        raise ValueError("a decision curve needs cases, got none.")
    n, present = truth.size, int(np.count_nonzero(truth))
    positive, negative = np.sort(score[truth]), np.sort(score[~truth])
    tp = present - np.searchsorted(positive, t, "left")
    fp = n - present - np.searchsorted(negative, t, "left")
    weight = t / (1 - t)
    found = []
    for at, hits, alarms in zip(t.tolist(), tp.tolist(), fp.tolist()):
        if cluster is None:
            counts = np.array([hits, alarms, present - hits, n - present - alarms])
            found.append(of_cells(counts, at, level=level))
        else:
            cells = cluster_cells(truth, score >= at, cluster)
            found.append(of_cells(cells.sum(axis=0), at, clusters=cells, level=level))
    low, high = (np.array([getattr(e, end) for e in found]) for end in ("low", "high"))
    everybody = present / n - weight * (1 - present / n)
    return DecisionCurve(t, tp / n - weight * fp / n, low, high, everybody, level, n)


def _worth(truth: NDArray[np.bool_], decision: NDArray[np.bool_], threshold: float | Floats) -> Floats:
    """What each case earns: 1 true positive, -t / (1 - t) false positive, 0 otherwise."""
    with np.errstate(divide="ignore"):
        weight = np.asarray(threshold, dtype=np.float64) / (1 - np.asarray(threshold, dtype=np.float64))
    return np.where(decision, np.where(truth, 1.0, -weight), 0.0)


def _check(truth: NDArray[np.bool_], score: NDArray[Any]) -> None:
    if truth.ndim != 1 or score.shape != truth.shape:
        raise ValueError(
            f"truth and score must have one entry per case each, got shapes {truth.shape} and {score.shape}."
        )
    missing = int(np.isnan(score).sum()) if score.dtype.kind == "f" else 0
    if missing:
        raise ValueError(f"{missing} of {score.size} scores are missing: leave these cases out, and say so.")


def _odds(threshold: float) -> float:
    return threshold / (1 - threshold) if threshold < 1 else inf


def _cells(
    truth: NDArray[np.bool_], decision: NDArray[np.bool_], cluster: Clusters | None
) -> tuple[Counts, Counts | None]:
    """tp, fp, fn, tn, of all cases and of each cluster."""
    whole = all_cells(truth, decision)
    return whole, None if cluster is None else cluster_cells(truth, decision, cluster)


def _checked(threshold: float) -> float:
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie in [0, 1], got {threshold:g}.")
    return threshold


def _first(values: Floats, most: float) -> int:
    return int(np.argmin((values >= 0) & (values <= most)))
