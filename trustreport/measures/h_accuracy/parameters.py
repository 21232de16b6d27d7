"""The parameters of H-accuracy: as declared, and profiles over them.

Raters' arrays have shape (n_raters, n_cases), NaN where a rater did not judge a case.

References
----------
Cabitza, Campagner (2019), "Who wants accurate models?", arXiv:1910.09246, sections 2.1.1 and 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.h_accuracy.measure import CaseWeights, averaged, credits_of, h_accuracy
from trustreport.measures.h_accuracy.notes import FEW_CREDITED

Floats = NDArray[np.float64]


def from_scale(level: Floats, lowest: float, highest: float) -> Floats:
    """Levels of an ordinal scale on [0, 1], equally spaced."""
    if not highest > lowest:
        raise ValueError(f"the scale must run upwards, got {lowest:g} to {highest:g}.")
    if not ((level >= lowest) & (level <= highest) | np.isnan(level)).all():
        raise ValueError(f"levels must lie on the scale, {lowest:g} to {highest:g}.")
    return (level - lowest) / (highest - lowest)


def tau_from_share(confidence: Floats, right: Floats, share: float = 0.8) -> float:
    """The highest confidence at or above which lies at least this share of the raters' right answers.

    Parameters
    ----------
    confidence : float array, shape (n_raters, n_cases)
        In [0, 1].
    right : float array, shape (n_raters, n_cases)
        1.0 where the rater was right, 0.0 where wrong.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must lie in (0, 1], got {share:g}.")
    told = np.sort(confidence[(right == 1) & ~np.isnan(confidence)])
    if not len(told):
        raise ValueError("no right answer with a confidence.")
    needed = int(np.ceil(share * len(told) - 1e-9))
    return float(told[len(told) - needed])


def tau_from_mean(confidence: Floats) -> float:
    """Mean confidence over all answers, each rater weighing alike."""
    return float(np.mean([row[~np.isnan(row)].mean() for row in confidence if not np.isnan(row).all()]))


def tau_from_best_rater(confidence: Floats, right: Floats) -> float:
    """Mean confidence of the rater with the highest share of right answers; of several, their mean."""
    accuracy = _rater_means(right)
    return tau_from_mean(confidence[accuracy == np.nanmax(accuracy)])


def priority_from_raters(truth: NDArray[np.int64], decision: Floats, n_classes: int = 2) -> Floats:
    """Priorities in proportion to how well raters recognise each class.

    With two classes (formula 10)::

        p(0) = mean TNR / (mean TPR + mean TNR),   p(1) = mean TPR / (mean TPR + mean TNR)

    Parameters
    ----------
    truth : int array, shape (n_cases,)
    decision : float array, shape (n_raters, n_cases)
        Class that the rater named.
    """
    right = np.where(np.isnan(decision), np.nan, decision == truth)
    recognised = np.zeros(n_classes)
    for label in range(n_classes):
        shares = _rater_means(right[:, truth == label])
        if np.isnan(shares).all():
            raise ValueError(f"no rater judged a case of class {label}: no priority from raters.")
        recognised[label] = np.nanmean(shares)
    if not recognised.sum():
        raise ValueError("raters recognised no case of any class: no priority from raters.")
    priority: Floats = recognised / recognised.sum()
    return priority


def priority_from_prevalence(prevalence: Floats, *, rare_first: bool = False) -> Floats:
    """Priorities as the classes occur (Ha is then the accuracy), or the rarer the more."""
    if (prevalence < 0).any() or not np.isclose(prevalence.sum(), 1):
        raise ValueError(f"prevalences must not be negative and must sum to 1, got {prevalence.tolist()}.")
    return (1 - prevalence) / (len(prevalence) - 1) if rare_first else prevalence


def complexity_from_ratings(rating: Floats, *, proficiency: Floats | None = None) -> Floats:
    """Mean complexity that raters gave each case; with `proficiency` the better raters weigh more.

    Parameters
    ----------
    rating : float array, shape (n_raters, n_cases)
        On [0, 1] (`from_scale`).
    proficiency : float array, shape (n_raters,), optional
        For example each rater's share of right answers.
    """
    weight = np.ones(len(rating)) if proficiency is None else proficiency
    weights = np.where(np.isnan(rating), 0.0, weight[:, None])
    total = weights.sum(axis=0)
    if not (total > 0).all():
        raise ValueError(f"{int((total <= 0).sum())} cases have no rating of their complexity.")
    mean: Floats = (np.nan_to_num(rating) * weights).sum(axis=0) / total
    return mean


def proficiency(right: Floats) -> Floats:
    """Share of right answers of each rater, shape (n_raters,); 0 for a rater without any answer."""
    return np.nan_to_num(_rater_means(right))


def complexity_from_errors(right: Floats, *, proficiency: Floats | None = None) -> Floats:
    """Share of raters that judged the case wrong; with `proficiency` the better raters weigh more."""
    return 1 - complexity_from_ratings(right, proficiency=proficiency)


def complexity_from_confidence(confidence: Floats, *, proficiency: Floats | None = None) -> Floats:
    """One less the raters' mean confidence in the case, whether right or wrong; confidence on [0, 1]."""
    return 1 - complexity_from_ratings(confidence, proficiency=proficiency)


def hardest(complexity: Floats, share: float, *, rest: float = 0.0) -> Floats:
    """1 for the most complex cases, `rest` for the others; at least this share, equal ones together."""
    if not 0 < share <= 1:
        raise ValueError(f"share must lie in (0, 1], got {share:g}.")
    needed = int(np.ceil(share * len(complexity) - 1e-9))
    return np.where(complexity >= np.sort(complexity)[len(complexity) - needed], 1.0, rest)


def two_levels(complexity: Floats, threshold: float, *, rest: float = 0.5) -> Floats:
    """1 for cases more complex than the threshold, `rest` for the others."""
    return np.where(complexity > threshold, 1.0, rest)


def mixed(parts: Floats, weights: Floats) -> Floats:
    """Complexity together with other reasons why a case matters (relevance, rarity, severity), linearly.

    Parameters
    ----------
    parts : float array, shape (n_parts, n_cases)
        Each on [0, 1].
    weights : float array, shape (n_parts,)
        Not negative, sum 1.
    """
    if len(weights) != len(parts) or (weights < 0).any() or not np.isclose(weights.sum(), 1):
        raise ValueError(f"weights must be {len(parts)} numbers, none negative, that sum to 1.")
    total: Floats = weights @ parts
    return total


def _rater_means(values: Floats) -> Floats:
    """Mean of each rater over the cases judged; NaN for none."""
    there = ~np.isnan(values)
    n = there.sum(axis=1)
    means: Floats = np.where(n > 0, np.where(there, values, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)
    return means


Classes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Profile:
    """Values with pointwise limits along one parameter, (n_points,) each; NaN where undefined."""

    at: Floats
    value: Floats
    low: Floats
    high: Floats


def over_tau(
    truth: Classes,
    scores: Floats,
    taus: Sequence[float] | Floats,
    *,
    priority: Sequence[float] | None = None,
    complexity: Floats | None = None,
    called: Classes | None = None,
) -> Floats:
    """Ha at each confidence threshold, everything else fixed; does not rise.

    Parameters as in `h_accuracy`; NaN where a class with priority has no case or no complexity.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.2, 0.8]])
    >>> over_tau(np.array([0, 0, 1, 1]), scores, [0.5, 0.8, 0.9])
    array([0.75 , 0.75 , 0.625])
    """
    of_class = [class_credits(truth, scores, tau, complexity, called) for tau in taus]
    k = scores.shape[1]
    weights = np.full(k, 1 / k) if priority is None else np.asarray(priority, float)
    used = weights > 0
    return np.array([float(credit[used] @ weights[used]) for credit in of_class])


def class_credits(
    truth: Classes,
    scores: Floats,
    tau: float | None,
    complexity: Floats | None = None,
    called: Classes | None = None,
) -> Floats:
    """What is earned in each class, in [0, 1], shape (n_classes,); Ha weighs these by the priorities.

    >>> class_credits(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]), 0.5)
    array([1. , 0.5])
    """
    credit = credits_of(truth, scores, tau, called)
    difficulty = np.ones(len(truth)) if complexity is None else complexity
    k = scores.shape[1]
    earned = np.bincount(truth, weights=difficulty * credit, minlength=k)
    most = np.bincount(truth, weights=difficulty, minlength=k)
    return np.where(most > 0, earned / np.where(most > 0, most, 1), np.nan)


def over_priority(
    truth: Classes,
    scores: Floats,
    priorities: Sequence[float] | Floats,
    *,
    rng: np.random.Generator,
    tau: float | None = None,
    complexity: Floats | None = None,
    called: Classes | None = None,
    cluster: Clusters | None = None,
    resamples: int = 1000,
    level: float = 0.95,
) -> Profile:
    """Ha of two classes at each priority of the positive one, with its bootstrap interval; a straight line.

    Parameters
    ----------
    priorities : floats in [0, 1]
        Priority of the positive class; that of the negative one is what it leaves.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.2, 0.8]])
    >>> over_priority(np.array([0, 0, 1, 1]), scores, [0, 1], rng=np.random.default_rng(1)).value
    array([0.5, 1. ])
    """
    rows = []
    for p in priorities:
        one = h_accuracy(
            truth, scores, rng=rng, tau=tau, priority=[1 - p, p], complexity=complexity,
            called=called, cluster=cluster, resamples=resamples, level=level,
        )  # fmt: skip
        rows.append((one.value, one.low, one.high))
    value, low, high = np.array(rows).T
    return Profile(np.asarray(priorities, float), value, low, high)


def over_complex_mix(
    truth: Classes,
    scores: Floats,
    hard: NDArray[np.bool_],
    shares: Sequence[float] | Floats,
    *,
    rng: np.random.Generator,
    tau: float | None = None,
    priority: Sequence[float] | None = None,
    called: Classes | None = None,
    cluster: Clusters | None = None,
    resamples: int = 500,
    level: float = 0.95,
) -> Profile:
    """Ha that is expected of a mix in which a share of the cases of each class is complex, drawn at random.

    With C(l) and S(l) the mean credit of the complex and of the other cases of class l, q the share::

        sum over classes l of p(l) * (q C(l) + (1 - q) S(l))

    which is what the mean over random draws tends to. A straight line in q.

    Parameters
    ----------
    hard : bool array, shape (n_cases,)
        Which cases are complex.
    shares : floats in [0, 1]

    Other parameters as in `h_accuracy`. Cases are drawn again within class and complexity.

    References
    ----------
    Cabitza, Campagner (2019), "Who wants accurate models?", arXiv:1910.09246, figures 2 and 3. How the draws
    of the source were made is not said; its curve is not straight.
    """
    k = scores.shape[1]
    of_class = np.full(k, 1 / k) if priority is None else np.asarray(priority, float)
    credit = credits_of(truth, scores, tau, called)
    stratum, equal = 2 * truth + hard, np.ones(len(truth))
    rows = []
    for share in shares:
        weights = np.stack([(1 - share) * of_class, share * of_class], axis=1).ravel()
        given = CaseWeights(stratum, weights, equal, cluster)
        one = averaged(credit, given, FEW_CREDITED, resamples, rng, level)
        rows.append((one.value, one.low, one.high))
    value, low, high = np.array(rows).T
    return Profile(np.asarray(shares, float), value, low, high)


def mix_surface(
    truth: Classes,
    scores: Floats,
    hard: NDArray[np.bool_],
    shares: Sequence[float] | Floats,
    priorities: Sequence[float] | Floats,
    *,
    tau: float | None = None,
    called: Classes | None = None,
) -> Floats:
    """`over_complex_mix` of two classes at each priority of the positive one, shape (n_shares, n_priorities).

    NaN where a class with priority has no case of a complexity that the mix has.
    """
    q, p = np.asarray(shares, float)[:, None], np.asarray(priorities, float)[None, :]
    simple, complex_ = (
        class_credits(truth, scores, tau, of.astype(np.float64), called) for of in (~hard, hard)
    )

    def of_class(label: int) -> Floats:
        mixed: Floats = np.where(q < 1, (1 - q) * simple[label], 0) + np.where(q > 0, q * complex_[label], 0)
        return mixed

    with np.errstate(invalid="ignore"):
        return np.where(p < 1, (1 - p) * of_class(0), 0) + np.where(p > 0, p * of_class(1), 0)
