"""What acting on a score at a threshold is worth: net benefit, standardised and weighted, and differences."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures import notes
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import all_cells, cluster_cells
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.means import MEAN, case_mean, cell_mean
from trustreport.measures.note import note

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

BY_DEFINITION = note("nobody_treated_zero_by_definition")


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
    score : array of numbers, shape (n_cases,)
        On the scale of the threshold: the predicted risk. No NaN.
    threshold : float in [0, 1]
        Risk from which on one acts (score >= threshold); from the clinic, never from these data.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to: then the variance is that of the clusters' sums,
        and the interval Student's with as many degrees of freedom as there are clusters, less one.

    Returns
    -------
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
    check_scores(truth, score)
    return case_mean(
        worth_of_decisions(truth, score >= checked_threshold(threshold), threshold), level, cluster
    )


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
    check_scores(truth, score)
    counts, cells = decision_cells(truth, score >= checked_threshold(threshold), cluster)
    return of_cells(counts, threshold, clusters=cells, level=level)


def of_cells(
    counts: Counts, threshold: float, *, clusters: Counts | None = None, level: float = 0.95
) -> Estimate:
    """`net_benefit_mover` from tp, fp, fn, tn, of all cases and, optionally, of each cluster.

    >>> print(of_cells(np.array([2, 1, 1, 4]), 0.5))
    0.12 (95% CI -0.32 to 0.49; n = 8)
    """
    worth = np.array([1.0, -odds_of_threshold(threshold), 0.0, 0.0])
    return cell_mean(counts, worth, np.array([1, 0, 1, 0]), clusters=clusters, level=level)


def treat_all(
    truth: NDArray[np.bool_], threshold: float, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Net benefit of acting on everybody: prevalence - w (1 - prevalence), w = t / (1 - t).

    >>> print(treat_all(np.arange(10) < 3, 0.2))
    0.12 (95% CI -0.12 to 0.50; n = 10)
    """
    counts, cells = decision_cells(truth, np.ones(truth.shape, dtype=np.bool_), cluster)
    return of_cells(counts, checked_threshold(threshold), clusters=cells, level=level)


def treat_none(truth: NDArray[np.bool_], *, level: float = 0.95) -> Estimate:
    """Net benefit of acting on nobody: 0, by definition and without uncertainty.

    >>> print(treat_none(np.arange(10) < 3))
    0.00 (95% CI 0.00 to 0.00; n = 10)
    """
    check_level(level)
    if not truth.size:
        return undefined(0, notes.NO_CASE, level=level, method=MEAN)
    return Estimate(0.0, 0.0, 0.0, truth.size, level, MEAN, BY_DEFINITION, se=0.0)


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
    check_scores(truth, compared)
    check_scores(truth, baseline)
    checked_threshold(threshold)
    same = (compared >= threshold) == (baseline >= threshold)
    ours, theirs = (
        worth_of_decisions(truth, score >= threshold, threshold) for score in (compared, baseline)
    )
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
    """
    check_scores(truth, score)
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


def worth_of_decisions(
    truth: NDArray[np.bool_], decision: NDArray[np.bool_], threshold: float | Floats
) -> Floats:
    """What each case earns: 1 true positive, -t / (1 - t) false positive, 0 otherwise."""
    with np.errstate(divide="ignore"):
        weight = np.asarray(threshold, dtype=np.float64) / (1 - np.asarray(threshold, dtype=np.float64))
    return np.where(decision, np.where(truth, 1.0, -weight), 0.0)


def check_scores(truth: NDArray[np.bool_], score: NDArray[Any]) -> None:
    """Raise where truth and score, (n_cases,), differ in shape, or a score is missing."""
    if truth.ndim != 1 or score.shape != truth.shape:
        raise ValueError(
            f"truth and score must have one entry per case each, got shapes {truth.shape} and {score.shape}."
        )
    missing = int(np.isnan(score).sum()) if score.dtype.kind == "f" else 0
    if missing:
        raise ValueError(f"{missing} of {score.size} scores are missing: leave these cases out, and say so.")


def odds_of_threshold(threshold: float) -> float:
    """How many true positives a false positive costs at this threshold; infinite at 1."""
    return threshold / (1 - threshold) if threshold < 1 else inf


def decision_cells(
    truth: NDArray[np.bool_], decision: NDArray[np.bool_], cluster: Clusters | None
) -> tuple[Counts, Counts | None]:
    """tp, fp, fn, tn, of all cases and of each cluster."""
    whole = all_cells(truth, decision)
    return whole, None if cluster is None else cluster_cells(truth, decision, cluster)


def checked_threshold(threshold: float) -> float:
    """The threshold, if it is in [0, 1]; otherwise raise."""
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie in [0, 1], got {threshold:g}.")
    return threshold


LEAST = 1e-100  # 0 to any digit that is printed; what harm would be worth has no square below
AT_ZERO = note("at_threshold_0_everybody_treated_whatever")
METHOD = "yield_mover"


def interventions_avoided(
    truth: NDArray[np.bool_],
    decision: NDArray[np.bool_],
    threshold: float,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Interventions avoided per case, less those that a missed case would have been worth.

    With w = t / (1 - t), the net benefit beyond that of treating everybody, counted in interventions::

        (NB - NB of treating all) / w = TN / n - FN / (w n)

    Estimand: the same in the population, cases sampled as they come.

    Parameters
    ----------
    truth, decision : bool array, shape (n_cases,)
    threshold : float in [0, 1)
        Risk from which on one acts.

    Returns
    -------
    At most the share of cases without the condition; NaN with a note at threshold 0 and without cases.

    References
    ----------
    Vickers, Cronin, Elkin, Gonen (2008), BMC Med. Inform. Decis. Mak. 8, 53.
    Zou, Huang, Zhang (2009), Comput. Stat. Data Anal. 53, 1080-1085 (limits).

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> decision = np.array([True, True, False, True, False, False, False, False])
    >>> print(interventions_avoided(truth, decision, 0.5))
    0.38 (95% CI -0.20 to 0.68; n = 8)
    """
    if threshold <= LEAST:
        return undefined(truth.size, AT_ZERO, level=level, method=METHOD)
    weight = threshold / (1 - threshold)
    worth = np.array([0.0, 0.0, -1 / weight, 1.0])
    cells = None if cluster is None else cluster_cells(truth, decision, cluster)
    return cell_mean(all_cells(truth, decision), worth, np.array([1, 0, 1, 0]), clusters=cells, level=level)
