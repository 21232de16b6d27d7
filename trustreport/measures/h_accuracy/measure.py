"""H-accuracy of a scoring model, with two classes or more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isclose, nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.h_accuracy import notes
from trustreport.measures.note import NO_NOTE, Note

Floats = NDArray[np.float64]
METHOD, CLUSTERED = "bootstrap_percentile", "bootstrap_clusters"
FEWEST = 10  # cases or clusters of each class that earn credit, for an interval
BLOCK = 4_000_000  # cases drawn at once


def h_accuracy(
    truth: NDArray[np.int64],
    scores: Floats,
    *,
    rng: np.random.Generator,
    tau: float | None = None,
    priority: Sequence[float] | None = None,
    complexity: Floats | None = None,
    called: NDArray[np.int64] | None = None,
    cluster: Clusters | None = None,
    resamples: int = 2000,
    level: float = 0.95,
) -> Estimate:
    """Share of right answers, less credit for unsure ones, more weight for classes and cases that matter.

    With k classes, p(l) the priority of class l, d(x) the complexity of case x, c(x) its credit::

        Ha = sum over classes l of p(l) * (sum of d(x) c(x) / sum of d(x), over cases x of class l)

    and with s the score of the true class, in this order::

        c = 0                          if the answer is another class
        c = 1                          if s > tau, or tau = 1/k
        c = (s - 1/k) / (tau - 1/k)    otherwise, not below 0

    The answer is the class with the highest score, as in the source, or `called` where it is given. Classes
    that tie for the highest score are all credited. Ha(1/k, equal priorities, equal complexity) is the
    balanced accuracy of the answers; Ha does not rise with tau, and is linear in p.

    Estimand: the same in the population, cases of each class sampled independently, parameters fixed.

    Parameters
    ----------
    truth : int array, shape (n_cases,)
        Class of each case, 0 to k - 1.
    scores : float array, shape (n_cases, k)
        Score of each class, in [0, 1]; for two classes ``two_class_scores(score)``.
    tau : float in [1/k, 1], optional
        Confidence below which a right answer counts only in part; 1/k when not given (no penalty).
    priority : k floats, optional
        Not negative, sum 1; equal when not given.
    complexity : float array, shape (n_cases,), optional
        Not negative; equal when not given. Its scale does not matter.
    called : int array, shape (n_cases,), optional
        The class that the device called, by a threshold of its own.
    resamples : int
        Cases are drawn again within each class, or whole clusters, this many times; percentile interval.

    Returns
    -------
    In [0, 1]; `details` holds the credit of each class as class_0, class_1 ...; NaN with a note when a
    class with priority has no case or no complexity. No limits where fewer than 10 cases (or clusters)
    of such a class earn credit.

    Notes
    -----
    Resamples of a few cases that earn credit (a rare class, a high tau) know no others: the percentiles of
    fewer than 10 cover in .59 to .89 of samples, of more in .96 to .97.

    References
    ----------
    Cabitza, Campagner (2019), "Who wants accurate models?", arXiv:1910.09246, eqs 3 and 4. Of its overlapping
    cases the first applies here.

    Examples
    --------
    >>> truth, score = np.repeat([0, 1], 15), np.r_[np.linspace(0, 0.7, 15), np.linspace(0.4, 1, 15)]
    >>> print(h_accuracy(truth, two_class_scores(score), tau=0.8, rng=np.random.default_rng(1)))
    0.54 (95% CI 0.39 to 0.69; n = 30)
    """
    credit = credits_of(truth, scores, tau, called)
    given = CaseWeights.of_classes(truth, scores.shape[1], priority, complexity, cluster)
    return averaged(credit, given, notes.FEW_CREDITED, resamples, rng, level)


def h_accuracy_difference(
    truth: NDArray[np.int64],
    scores: Floats,
    other: Floats,
    *,
    rng: np.random.Generator,
    tau: float | None = None,
    priority: Sequence[float] | None = None,
    complexity: Floats | None = None,
    called: NDArray[np.int64] | None = None,
    other_called: NDArray[np.int64] | None = None,
    cluster: Clusters | None = None,
    resamples: int = 2000,
    level: float = 0.95,
) -> Estimate:
    """H-accuracy of a model minus that of another on the same cases, paired case by case.

    ::

        sum over classes l of p(l) * (sum of d(x) (c(x) - c'(x)) / sum of d(x), over cases x of class l)

    with c and c' the credits of the two answers to case x. Both models answer a resampled case together.

    Parameters
    ----------
    scores, other : float arrays, shape (n_cases, k)
        Of the model and of the one that it is compared with.
    called, other_called : int arrays, shape (n_cases,), optional
        The classes that they called.

    Other parameters as in `h_accuracy`.

    Returns
    -------
    In [-1, 1]; `details` as there, differences by class. No limits where the credits differ in fewer
    than 10 cases (or clusters) of a class with priority.

    Notes
    -----
    Of 400 samples of 100 to 400 cases a class of which 5 to 25% differed, the percentiles covered the
    difference in .93 to .98.

    Examples
    --------
    >>> truth, score = np.repeat([0, 1], 15), np.r_[np.linspace(0, 0.3, 15), np.linspace(0.7, 1, 15)]
    >>> sure, unsure = two_class_scores(score), two_class_scores(0.5 + (score - 0.5) / 2)
    >>> print(h_accuracy_difference(truth, unsure, sure, tau=0.8, rng=np.random.default_rng(1)))
    -0.35 (95% CI -0.39 to -0.32; n = 30)
    """
    gap = credits_of(truth, scores, tau, called) - credits_of(truth, other, tau, other_called)
    given = CaseWeights.of_classes(truth, scores.shape[1], priority, complexity, cluster)
    return averaged(gap, given, notes.FEW_DIFFER, resamples, rng, level)


@dataclass(frozen=True, eq=False)
class CaseWeights:
    """What cases and classes weigh: truth and complexity (n_cases,), priority (k,), and the clusters."""

    truth: NDArray[np.int64]
    priority: Floats
    complexity: Floats
    cluster: Clusters | None

    @classmethod
    def of_classes(
        cls,
        truth: NDArray[np.int64],
        n_classes: int,
        priority: Sequence[float] | None,
        complexity: Floats | None,
        cluster: Clusters | None,
    ) -> "CaseWeights":
        """Equal weights where none are given.

        Raises
        ------
        ValueError : priorities that are not one for each class or do not sum to 1, a negative complexity
        """
        of_class = np.full(n_classes, 1 / n_classes) if priority is None else np.asarray(priority, float)
        of_case = np.ones(len(truth)) if complexity is None else np.asarray(complexity, float)
        if len(of_class) != n_classes or (of_class < 0).any() or not isclose(of_class.sum(), 1, rel_tol=1e-9):
            raise ValueError(f"priority must be {n_classes} numbers, none negative, that sum to 1.")
        if len(of_case) != len(truth) or not (of_case >= 0).all():
            raise ValueError("complexity must be one number per case, none negative.")
        return cls(truth, of_class, of_case, cluster)


def averaged(
    earned: Floats, given: CaseWeights, few: Note, resamples: int, rng: np.random.Generator, level: float
) -> Estimate:
    """Weighted mean of what each case earns, with percentile limits; `few` says why there are none."""
    check_level(level)
    truth, complexity, cluster = given.truth, given.complexity, given.cluster
    method = METHOD if cluster is None else CLUSTERED
    details, total = {}, 0.0
    drawn, fewest = np.zeros(resamples), len(truth)
    counts = None if cluster is None else _cluster_draws(cluster, resamples, rng)
    for label, weight in enumerate(given.priority.tolist()):
        own = truth == label
        if not weight:
            continue
        missing = (
            NO_NOTE if complexity[own].any() else notes.NO_COMPLEXITY if own.any() else notes.CLASS_ABSENT
        )
        if missing:
            return undefined(len(truth), missing, level=level, method=method)
        got, most = complexity[own] * earned[own], complexity[own]
        details[f"class_{label}"] = float(got.sum() / most.sum())
        total += weight * details[f"class_{label}"]
        counted = own & (complexity * earned != 0)
        fewest = min(fewest, int(counted.sum()) if cluster is None else np.unique(cluster[counted]).size)
        if counts is None:
            drawn += weight * _resampled(got, most, resamples, rng)
        else:
            drawn += weight * counts(own * complexity * earned, own * complexity)
    low, high, note = (nan, nan, few) if fewest < FEWEST else _percentiles(drawn, level)
    return Estimate(total, low, high, len(truth), level, method, note, details=details)


def two_class_scores(score: NDArray[np.float64]) -> Floats:
    """Scores of both classes from that of the positive class, shape (n_cases, 2), negative class first."""
    return np.stack([1 - score, score], axis=1)


def credits_of(
    truth: NDArray[np.int64],
    scores: Floats,
    tau: float | None = None,
    called: NDArray[np.int64] | None = None,
) -> Floats:
    """What each case's answer is worth, in [0, 1]; the rule and the parameters are those of `h_accuracy`.

    >>> credits_of(
    ...     np.array([0, 1, 2]), np.array([[0.40, 0.55, 0.05], [0.1, 0.8, 0.1], [0, 0, 1]]), 0.35
    ... )
    array([0., 1., 1.])

    A device that calls from .3 on is right about a positive with .4, and without any confidence:

    >>> score, called = np.array([0.4, 0.65]), np.array([1, 1])
    >>> [
    ...     credits_of(np.array([1, 1]), two_class_scores(score), tau, called).tolist()
    ...     for tau in (0.5, 0.8)
    ... ]
    [[1.0, 1.0], [0.0, 0.5]]
    """
    _check(truth, scores, called)
    guess = 1 / scores.shape[1]
    if tau is None or isclose(tau, guess, rel_tol=1e-12):
        tau = guess
    if not guess <= tau <= 1:
        raise ValueError(f"tau must lie in [1/{scores.shape[1]}, 1], got {tau:g}: below that is chance.")
    own = scores[np.arange(len(truth)), truth]
    wrong = own < scores.max(axis=1) if called is None else called != truth
    partly = np.maximum(own - guess, 0) / (tau - guess) if tau > guess else np.ones_like(own)
    return np.where(wrong, 0.0, np.where(own > tau, 1.0, partly))


def _resampled(earned: Floats, most: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Sum of earned over sum of most in resamples of a class; NaN where nothing could be earned."""
    n = len(earned)
    found = np.empty(resamples)
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        chosen = rng.integers(0, n, (min(step, resamples - start), n))
        above, below = earned[chosen].sum(axis=1), most[chosen].sum(axis=1)
        found[start : start + step] = np.where(below > 0, above / np.where(below > 0, below, 1), nan)
    return found


def _cluster_draws(
    cluster: Clusters, resamples: int, rng: np.random.Generator
) -> Callable[[Floats, Floats], Floats]:
    """The same resamples of whole clusters for every class: from per-case sums to their ratio."""
    names, index = np.unique(cluster, return_inverse=True)
    g = len(names)
    times = rng.multinomial(g, np.full(g, 1 / g), resamples).astype(np.float64)

    def ratio(earned: Floats, most: Floats) -> Floats:
        above, below = (times @ np.bincount(index, weights=part) for part in (earned, most))
        return np.where(below > 0, above / np.where(below > 0, below, 1), nan)

    return ratio


def _percentiles(drawn: Floats, level: float) -> tuple[float, float, Note]:
    there = drawn[~np.isnan(drawn)]
    low, high = (float(q) for q in np.quantile(there, [(1 - level) / 2, (1 + level) / 2]))
    return low, high, NO_NOTE if there.min() < there.max() else notes.NO_WIDTH


def _check(truth: NDArray[np.int64], scores: Floats, called: NDArray[np.int64] | None) -> None:
    if scores.ndim != 2 or len(truth) != len(scores) or scores.shape[1] < 2:
        raise ValueError(
            f"scores must have one row per case and one column per class, got shape {scores.shape} "
            f"for {len(truth)} cases."
        )
    n_classes = scores.shape[1]
    if truth.size and not (truth.min() >= 0 and truth.max() < n_classes):
        raise ValueError(f"truth must name classes 0 to {n_classes - 1}, got {truth.min()} to {truth.max()}.")
    if not ((scores >= 0) & (scores <= 1)).all():
        raise ValueError("scores must lie in [0, 1].")
    if called is not None and len(called) != len(truth):
        raise ValueError(f"called must be one class per case, got {len(called)} for {len(truth)} cases.")


def risk_priority(tau: float, prevalence: float) -> tuple[float, float]:
    """Priorities of the negative and the positive class that go with a risk threshold.

    ::

        p = (tau (1 - q), (1 - tau) q) / alpha,   alpha = tau (1 - q) + (1 - tau) q,   q the prevalence
    """
    alpha = _alpha(tau, prevalence)
    return tau * (1 - prevalence) / alpha, (1 - tau) * prevalence / alpha


def risk_accuracy_of(net_benefit: float, tau: float, prevalence: float) -> float:
    """H-accuracy with tau a risk threshold, from the net benefit NB at that threshold, with q the prevalence.

    Right is a positive at or above tau and a negative below it::

        Ha = p(0) specificity + p(1) sensitivity,   p of `risk_priority`
        NB = (alpha Ha - tau (1 - q)) / (1 - tau)

    The source divides tau (1 - q) by (1 - tau) once more inside, which is wrong: for tau .2, prevalence .3,
    sensitivity .8, specificity .7 net benefit is .1875, as here, not .14375.

    References
    ----------
    Cabitza, Campagner (2019), "Who wants accurate models?", arXiv:1910.09246, theorem 1.
    """
    return ((1 - tau) * net_benefit + tau * (1 - prevalence)) / _alpha(tau, prevalence)


def _alpha(tau: float, prevalence: float) -> float:
    if not (0 < prevalence < 1 and 0 <= tau <= 1):
        raise ValueError(f"tau must lie in [0, 1] and prevalence in (0, 1), got {tau:g} and {prevalence:g}.")
    return tau * (1 - prevalence) + (1 - tau) * prevalence
