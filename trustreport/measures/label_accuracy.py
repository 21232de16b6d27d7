"""Accuracy of a reference standard made by several raters, and of majorities that judge their own members."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, pdtr

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE, note

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Consensus:
    """How the truth of cases goes with the majority of the readers.

    Parameters
    ----------
    n : cases that the majority decides
    contested : those of them in which the readers disagree
    against : cases whose truth is not what the majority decided
    expected : how many there would be, at least, were the truth not made of these decisions
    p : chance of so few, adjusted for the ways to decide a tie
    """

    n: int
    contested: int
    against: int
    expected: float
    p: float


def consensus(truth: Mask, votes: NDArray[np.float64]) -> Consensus:
    """How often the majority of the readers is right, and how often it would be by chance.

    The readers' sensitivity and specificity give the odds of the truth behind each row of votes (Bayes'
    rule), and so the chance that a majority is wrong. Readers are taken to err independently of each other.
    Readers who err on the same cases, as they do, are wrong together more often, and sensitivities that are
    measured against their own majority are too high: the expected number is a lower bound, p an upper one.

    Where votes are tied, the tie is left out, or taken as positive, or as negative, whichever is least like
    chance.

    Parameters
    ----------
    votes : float array, shape (n_readers, n_cases)
        Decisions 0 and 1, NaN where a reader did not decide.

    References
    ----------
    Dawid, Skene (1979), Appl. Stat. 28, 20-28: the model of independent errors.
    """
    made = ~np.isnan(votes)
    positive, n = np.nansum(votes, axis=0), made.sum(axis=0)
    tied = 2 * positive == n
    odds = _log_odds(truth, votes, made)
    disagree = (positive > 0) & (positive < n)
    rules = [(2 * positive > n, ~tied)]
    if tied.any():
        every = np.ones(len(truth), bool)
        rules += [(2 * positive >= n, every), (2 * positive > n, every)]
    found = []
    for decided, of in rules:
        against = int(np.count_nonzero((decided != truth) & of))
        expected = float(expit(np.where(decided, -odds, odds))[of].sum())
        p = min(1.0, len(rules) * float(pdtr(against, expected)))
        contested = int(np.count_nonzero(disagree & of))
        found.append(Consensus(int(np.count_nonzero(of)), contested, against, expected, p))
    return min(found, key=lambda one: one.p)


def _log_odds(truth: Mask, votes: NDArray[np.float64], made: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Log odds that each case is positive, (n_cases,), given the votes and how able the readers are."""
    odds = np.full(truth.shape, np.log((truth.sum() + 0.5) / ((~truth).sum() + 0.5)))
    right = np.where(made, votes == truth, False)
    hit, rejected = (
        (right[:, of].sum(axis=1) + 0.5) / (made[:, of].sum(axis=1) + 1) for of in (truth, ~truth)
    )
    yes, no = np.log(hit / (1 - rejected))[:, None], np.log((1 - hit) / rejected)[:, None]
    found: NDArray[np.float64] = odds + np.where(made, np.where(votes == 1, yes, no), 0.0).sum(axis=0)
    return found


Floats = NDArray[np.float64]

MAJORITY, NOMOGRAM = "majority", "nomogram"

NO_LABEL = note("no_case_has_label")
ONLY_TWO_CLASSES = note("exact_probability_majority_computed_for_two")
TAKEN_AS_KNOWN = note("computed_from_accuracy_raters_taken_as")
LABELS_AS_KNOWN = note("accuracy_labels_taken_as_known_interval")
NO_SAMPLING_ERROR = note("computed_from_figures_stated_without_their")
BEYOND_PERFECT_LABELS = note("not_even_labels_that_always_right")
NO_INFORMATION = note("measured_accuracy_one_half_or_less")


def majority_accuracy(
    accuracy: Floats,
    rated: NDArray[np.bool_],
    *,
    n_categories: int = 2,
    level: float = 0.95,
) -> Estimate:
    """Share of right labels when each case gets the label of most of its raters, ties split evenly.

    ::

        mean over cases of  P(R > m / 2) + P(R = m / 2) / 2,  R of the m raters of a case being right

    R is Poisson-binomial: rater i is right with probability a_i, whatever the truth and the other raters.
    Estimand: chance that a label is right, cases as they were given to raters, before the votes are seen.

    Parameters
    ----------
    accuracy : float array in [0, 1], shape (n_raters,)
    rated : bool array, shape (n_cases, n_raters)
        Who labelled which case.

    Returns
    -------
    In [0, 1], without limits: the accuracies are taken as known. `n` counts cases with a label. NaN with
    a note when there is none, or for more than two categories.

    Notes
    -----
    Raters who err on the same cases make it too high, by an unknown amount.

    References
    ----------
    Chen and Liu (1997), Stat. Sin. 7, 875-892 (Poisson-binomial by recursion).

    Examples
    --------
    >>> est = majority_accuracy(np.full(3, 0.8), np.ones((1, 3), bool))
    >>> round(est.value, 12)  # 0.8^3 + 3 x 0.8^2 x 0.2
    0.896
    """
    check_level(level)
    accuracy = _shares("accuracy", accuracy)
    rated = np.asarray(rated, bool)[np.asarray(rated, bool).any(axis=1)]
    if n_categories != 2:
        return undefined(len(rated), ONLY_TWO_CLASSES, level=level, method=MAJORITY)
    if not len(rated):
        return undefined(0, NO_LABEL, level=level, method=MAJORITY)
    panels, cases = _panels(rated)
    chance = np.zeros((len(panels), rated.shape[1] + 1))
    chance[:, 0] = 1.0
    for i, right in enumerate(accuracy):
        took = panels[:, i]
        before = chance[took]
        chance[took] = before * (1 - right)
        chance[took, 1:] += before[:, :-1] * right
    margin = 2 * np.arange(chance.shape[1]) - panels.sum(axis=1)[:, None]
    of_panel = (chance * np.where(margin > 0, 1.0, np.where(margin == 0, 0.5, 0.0))).sum(axis=1)
    value = min(float(of_panel @ cases / cases.sum()), 1.0)
    return Estimate(value, nan, nan, len(rated), level, MAJORITY, TAKEN_AS_KNOWN)


def _panels(rated: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The different sets of raters, and how many cases each labelled."""
    _, index, cases = np.unique(np.packbits(rated, axis=1), axis=0, return_index=True, return_counts=True)
    return rated[index], cases


def nomogram_accuracy(concordance: Estimate, *, n_categories: int = 2) -> Estimate:
    """Share of right labels read off a weighted concordance, as its authors' nomogram does.

    Two raters of equal accuracy a, errors independent and spread evenly, k classes that are equally common,
    agree beyond chance by ((k a - 1) / (k - 1))^2. Taking rho for that::

        a = (1 + (k - 1) sqrt(rho)) / k,  for two classes (1 + sqrt(rho)) / 2

    Estimand: accuracy of the labels, if they were made so.

    Parameters
    ----------
    concordance : Estimate
        rho in [0, 1] with its interval; see `trustreport.measures.agreement.weighted_concordance`.
    n_categories : int, at least 2

    Returns
    -------
    In [1/k, 1], the limits turned the same way.

    Notes
    -----
    The authors give a figure and one example (rho .57 and 90 % measured: about 80 %), which this formula
    meets; others do too. Raters who toss coins reach rho = 1/4, hence a = 3/4 although they know nothing.

    References
    ----------
    Cabitza et al. (2020), BMC Med. Inform. Decis. Mak. 20, 219 (the nomogram, k = 2; formula derived).

    Examples
    --------
    >>> round(nomogram_accuracy(Estimate(0.57, 0.55, 0.6, 427)).value, 4)
    0.8775
    """
    e = concordance
    if e.value != e.value:
        return undefined(e.n, e.note, level=e.level, method=NOMOGRAM)
    value, low, high = (_from_concordance(x, n_categories) for x in (e.value, e.low, e.high))
    note = e.note or (NO_NOTE if e.low == e.low else NO_SAMPLING_ERROR)
    return Estimate(value, low, high, e.n, e.level, NOMOGRAM, note)


def _from_concordance(rho: float, k: int) -> float:
    return (1 + (k - 1) * sqrt(rho)) / k if rho == rho else nan


@dataclass(frozen=True, slots=True)
class ActualAccuracy:
    """The accuracy behind a measured one: if errors of labels and device are unrelated, and in any case."""

    value: Estimate
    low_bound: Estimate
    high_bound: Estimate


def actual_accuracy(
    measured: Estimate | float, label: Estimate | float, *, n_categories: int = 2, level: float = 0.95
) -> ActualAccuracy:
    """The accuracy of a device whose agreement with imperfect labels was measured.

    ::

        value      = x a + (1 - x) (1 - a) / (k - 1)
        low_bound  = |x + a - 1|  for two classes, max(0, x + a - 1) for more
        high_bound = 1 - |x - a|

    with x the measured accuracy, a the accuracy of the labels, k classes. The value assumes that the device
    agrees with a label equally often whether that label is right or wrong (and, for k > 2, that a device that
    disagrees with a wrong label is right as often as chance has it). The bounds assume nothing.

    Estimand: share of the same cases that the device gets right.

    Parameters
    ----------
    measured : Estimate or float in [0, 1]
        Accuracy against the labels.
    label : Estimate or float in [0, 1]
        Accuracy of the labels.
    n_categories : int, at least 2

    Returns
    -------
    Each in [0, 1]. The value has limits where `measured` has; label accuracy is taken as known.
    NaN with a note when `label` has no value.

    Notes
    -----
    It is no correction for errors that are independent given the truth: then a measured .90 against labels
    right in .8775 would mean (.90 + .8775 - 1) / (2 x .8775 - 1) = 1.03, which cannot be.

    References
    ----------
    Cabitza et al. (2020), BMC Med. Inform. Decis. Mak. 20, 219. Bounds: Frechet (1951), Ann. Univ. Lyon A
    14, 53-77.
    """
    seen = measured if isinstance(measured, Estimate) else Estimate(measured, nan, nan, 0)
    named = (
        label if isinstance(label, Estimate) else Estimate(label, nan, nan, 0, method=NOMOGRAM, note=NO_LABEL)
    )
    n, method = seen.n or named.n, named.method
    if named.value != named.value:
        none = undefined(n, named.note, level=level, method=method)
        return ActualAccuracy(none, none, none)
    x, a = float(_shares("measured", seen.value)), float(_shares("label", named.value))
    details: Mapping[str, float] = {"measured": x, "label_accuracy": a}

    def actual(share: float) -> float:
        return share * a + (1 - share) * (1 - a) / (n_categories - 1)

    low, high = sorted((actual(seen.low), actual(seen.high)))
    note = NO_SAMPLING_ERROR if low != low else LABELS_AS_KNOWN
    bounds = abs(x + a - 1) if n_categories == 2 else max(0.0, x + a - 1), 1 - abs(x - a)
    return ActualAccuracy(
        Estimate(actual(x), low, high, n, level, method, note, details=details),
        *(Estimate(v, nan, nan, n, level, method, NO_SAMPLING_ERROR, details=details) for v in bounds),
    )


@dataclass(frozen=True, slots=True)
class LeastReliability:
    """The least accuracy of labels, and the weighted concordance that stands for it."""

    label_accuracy: Estimate
    weighted_concordance: Estimate


def least_reliability(measured: float, desired: float, *, level: float = 0.95) -> LeastReliability:
    """How reliable labels must be for a measured accuracy to stand for a desired one: the nomogram backwards.

    ::

        a = (desired + measured - 1) / (2 measured - 1),   rho = (2 a - 1)^2

    Estimand: as in `actual_accuracy` and `nomogram_accuracy`, solved for a and rho; two classes.

    Parameters
    ----------
    measured, desired : float in [0, 1]
        Accuracy against the labels, at least 1/2 to be of use; accuracy it is to stand for.

    Returns
    -------
    a in [1/2, 1], rho in [0, 1]. NaN with a note when no labels suffice; 1/2 and 0 when any do.

    References
    ----------
    Cabitza et al. (2020), BMC Med. Inform. Decis. Mak. 20, 219.
    """
    x, t = float(_shares("measured", measured)), float(_shares("desired", desired))
    note = NO_INFORMATION if x <= 0.5 < t else BEYOND_PERFECT_LABELS if t > max(x, 0.5) else NO_NOTE
    if note:
        none = undefined(0, note, level=level, method=NOMOGRAM)
        return LeastReliability(none, none)
    a = max((t + x - 1) / (2 * x - 1), 0.5) if x > 0.5 else 0.5
    numbers = (a, (2 * a - 1) ** 2)
    return LeastReliability(*(Estimate(v, nan, nan, 0, level, NOMOGRAM, NO_SAMPLING_ERROR) for v in numbers))


def _shares(name: str, numbers: Any) -> Floats:
    found = np.asarray(numbers, float)
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"{name} must lie in [0, 1], got {numbers}.")
    return found
