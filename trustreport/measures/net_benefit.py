"""What acting on a score at a threshold is worth: net benefit, standardised and weighted, and differences."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures import notes
from trustreport.measures.case_mean import MEAN, case_mean, case_ratio
from trustreport.measures.cluster import Clusters
from trustreport.measures.proportion import normal_quantile

Floats = NDArray[np.float64]

NO_POSITIVE = "no case has the condition"
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
    interval is the normal one of that mean, variance with divisor n as Riley has it.

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
        makes it -inf; at 0 everybody counts as treated and NB is the share of positives.

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


def treat_all(
    truth: NDArray[np.bool_], threshold: float, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Net benefit of acting on everybody: prevalence - w (1 - prevalence), w = t / (1 - t).

    >>> print(treat_all(np.arange(10) < 3, 0.2))
    0.12 (95% CI -0.23 to 0.48; n = 10)
    """
    return case_mean(_worth(truth, np.ones(truth.shape, dtype=np.bool_), _checked(threshold)), level, cluster)


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

    A ratio of means; its variance is that of (worth_i - WU r_i [condition]) / mean of r_i [condition].
    Relevance 1 and one threshold give `standardized_net_benefit`.

    Parameters
    ----------
    threshold, relevance : float array, shape (n_cases,)
        In [0, 1], and not negative; only ratios of relevances matter.

    Returns
    -------
    Estimate
        At most 1, no lower bound; NaN with a note when no case with the condition has any relevance.

    References
    ----------
    Campagner, Sternini, Cabitza (2022), Comput. Methods Programs Biomed. 221, 106930.

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> score = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.2, 0.1, 0.1])
    >>> print(weighted_utility(truth, score, np.full(8, 0.5), np.array([2, 1, 1, 1, 1, 1, 1, 1.0])))
    0.50 (95% CI -0.27 to 1.27; n = 8)
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
    return case_ratio(worth, relevance * truth, level, NO_RELEVANCE, cluster)


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
    0.25 (95% CI -0.05 to 0.55; n = 8)
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
    """`net_benefit` at many thresholds, sorting once; the limits hold at each threshold, not for the curve.

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
    z = normal_quantile(level)
    t = np.asarray(thresholds, dtype=np.float64)
    if not ((t >= 0) & (t < 1)).all():
        raise ValueError("thresholds of a decision curve must lie in [0, 1).")
    if not truth.size:
        raise ValueError("a decision curve needs cases, got none.")
    n, present = truth.size, int(np.count_nonzero(truth))
    positive, negative = np.sort(score[truth]), np.sort(score[~truth])
    tp = (present - np.searchsorted(positive, t, "left")) / n
    fp = (n - present - np.searchsorted(negative, t, "left")) / n
    weight = t / (1 - t)
    value = tp - weight * fp
    if cluster is None:
        half = z * np.sqrt(np.maximum(tp + weight**2 * fp - value**2, 0.0) / n)
    else:
        found = [case_mean(_worth(truth, score >= at, at), level, cluster) for at in t.tolist()]
        half = np.array([e.high - e.value for e in found])
    everybody = present / n - weight * (1 - present / n)
    return DecisionCurve(t, value, value - half, value + half, everybody, level, n)


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


def _checked(threshold: float) -> float:
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie in [0, 1], got {threshold:g}.")
    return threshold


def _first(values: Floats, most: float) -> int:
    return int(np.argmin((values >= 0) & (values <= most)))
