"""Weighted concordance (rho): agreement of raters, each agreement weighed by how much the raters know."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement import notes
from trustreport.measures.agreement.bootstrap import (
    OVER_CASES,
    OVER_RATERS_AND_CASES,
    drawn_rows,
    percentile,
    units,
)
from trustreport.measures.agreement.interval import SCORE, mean_interval
from trustreport.measures.agreement.labels import check_codes
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE, Note, note

Floats = NDArray[np.float64]
Interval = Literal["score", "cases", "raters"]

UNKNOWN_ACCURACY = note("accuracy_raters_not_known_and_taken")
UNSURE_COUNT_AS_SURE = note("labels_without_confidence_count_as_sure")
CELLS = 4_000_000  # numbers held at once while resampling raters


def weighted_concordance(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    confidence: Floats | None = None,
    accuracy: Floats | float | None = None,
    incoherence: Floats | None = None,
    rng: np.random.Generator,
    resamples: int = 2000,
    interval: Interval = "score",
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """How often raters agree, counting only as much of each agreement as they know.

    A confidence c is read as "knows with chance s, else guesses among k categories"; a is the rater's
    accuracy::

        s = c / (c + (1 - c) / k)
        C_ij = a_i a_j / (a_i a_j + (1 - a_i) (1 - a_j) / (k - 1))    chance that an agreement is on the truth
        rho = mean over cases of  mean over pairs i, j of  [same label] s_i s_j C_ij

    A case with one label adds that rater's accuracy.
    Estimand: the same for all cases of the population, and with interval "raters" for raters in general.

    Parameters
    ----------
    n_categories : int, at least 2
    confidence : float array in [0, 1], shape (n_cases, n_raters), optional
        NaN or absent: the label is taken as sure, and a note says so.
    accuracy : float or float array in [0, 1], shape (n_raters,), optional
        Of each rater, or of all. Unknown, it is set to 1, cases with one label are left out, and a note says
        that the value is an upper bound.
    incoherence : float array, shape (n_raters,), optional
        How far each rater's confidence may be off; `details` then holds the `least` and the `most`, rho with
        all confidences lowered or raised by it.
    interval : {"score", "cases", "raters"}
        Score interval of the mean over cases (`agreement.interval.mean_interval`), or percentiles with the
        cases drawn anew, and raters too (two draws of one rater are no pair).
    resamples : int
        How often they are drawn anew.

    Returns
    -------
    In [0, 1], at most the percent agreement; `n` counts the cases. NaN with a note when none counts.

    Notes
    -----
    With labels missing the value is of another quantity: a case with one label adds the accuracy of its
    rater, more than a pair that may disagree. A note says so.

    It has no floor for chance: two raters who toss coins and are sure, accuracy 1/2, reach 1/4. s_i s_j is a
    choice of its authors, not the chance that both know given that they agree.

    References
    ----------
    Cabitza et al. (2020), BMC Med. Inform. Decis. Mak. 20, 219 (k = 2).

    Examples
    --------
    >>> codes = np.array([[0, 0], [1, 1], [1, 0], [1, 1]] * 5)
    >>> sure = np.array([[1.0, 1.0], [0.5, 0.8], [0.9, 0.9], [1.0, 0.6]] * 5)
    >>> rng = np.random.default_rng(1)
    >>> print(weighted_concordance(codes, 2, confidence=sure, accuracy=0.9, rng=rng))
    0.58 (95% CI 0.40 to 0.73; n = 20)
    """
    check_level(level)
    labels = _labels(codes, n_categories, confidence, accuracy)
    method = {"score": SCORE, "cases": OVER_CASES, "raters": OVER_RATERS_AND_CASES}[interval]
    values = labels.values()
    counted = ~np.isnan(values)
    values, together = values[counted], None if cluster is None else cluster[counted]
    note = _note(labels, confidence, accuracy)
    if not len(values):
        return undefined(0, notes.NO_PAIR, level=level, method=method)
    value = float(values.mean())
    if interval == "score":
        est = mean_interval(value, values, n=len(values), cluster=together, level=level)
    elif interval == "raters":
        found = labels.resampled(rng, resamples, units(cluster, np.ones(len(codes), bool)))
        est = percentile(value, found, len(values), level=level, method=method)
    else:
        order = np.argsort(
            values, kind="stable"
        )  # so that the order of the cases does not decide what is drawn
        values, unit = values[order], units(together, order)
        found = np.array([values[drawn_rows(rng, len(values), unit)].mean() for _ in range(resamples)])
        est = percentile(value, found, len(values), level=level, method=method)
    details = dict(est.details)
    if incoherence is not None:
        sure = np.ones(codes.shape) if confidence is None else confidence
        for name, shift in (("least", -np.asarray(incoherence)), ("most", np.asarray(incoherence))):
            shifted = _labels(codes, n_categories, np.clip(sure + shift, 0, 1), accuracy)
            details[name] = float(np.nanmean(shifted.values()))
    note = note + est.note
    return replace(est, note=note, details=details)


def expected_agreement(accuracy: Floats, n_categories: int) -> float:
    """How often raters of these accuracies would agree, were their errors independent: the mean over pairs.

    ::

        a_i a_j + (1 - a_i) (1 - a_j) / (k - 1)
    """
    right, wrong = np.asarray(accuracy, float), 1 - np.asarray(accuracy, float)
    m = len(right)
    if m < 2:
        return nan
    same = right.sum() ** 2 - (right**2).sum() + (wrong.sum() ** 2 - (wrong**2).sum()) / (n_categories - 1)
    return float(same / (m * (m - 1)))


def chance_of_knowing(confidence: Floats, n_categories: int) -> Floats:
    """The chance of knowing behind a confidence, c / (c + (1 - c) / k): 1 stays 1, 0 stays 0."""
    guess = (1 - confidence) / n_categories
    return np.divide(confidence, confidence + guess, out=np.zeros_like(confidence), where=confidence > 0)


@dataclass(frozen=True, slots=True, eq=False)
class _KnownLabels:
    """Labels and knowledge (n_cases, n_raters), the chance behind agreements (n_raters, n_raters)."""

    codes: NDArray[np.integer[Any]]
    knows: Floats
    on_truth: Floats
    alone: Floats  # (n_raters,) what a single label adds; NaN: nothing

    def values(self) -> Floats:
        """What each case adds, (n_cases,); NaN where it adds nothing."""
        given = (self.codes >= 0).astype(float)
        total = np.zeros(len(self.codes))
        for k in range(int(self.codes.max(initial=-1)) + 1):
            known = self.knows * (self.codes == k)
            total += np.einsum("ij,ij->i", known @ self.on_truth, known)
        raters = given.sum(axis=1)
        pairs = raters * (raters - 1)
        found = np.full(len(total), nan)
        np.divide(total, pairs, out=found, where=pairs > 0)
        single = raters == 1
        found[single] = self.alone[given[single].argmax(axis=1)]
        return found

    def resampled(self, rng: np.random.Generator, resamples: int, unit: Clusters | None = None) -> Floats:
        """The mean of the cases with raters and cases drawn anew, (resamples,)."""
        n_cases, n_raters = self.codes.shape
        found = np.empty(resamples)
        block = max(1, min(resamples, CELLS // max(n_cases, 1)))
        fits = n_cases * n_raters * (n_raters - 1) // 2 <= 2 * CELLS
        chunks = list(self._pairs()) if fits else None
        for start in range(0, resamples, block):
            stop = min(start + block, resamples)
            drawn = rng.integers(n_raters, size=(stop - start, n_raters))
            times = np.stack([np.bincount(row, minlength=n_raters) for row in drawn]).astype(float)
            parts = [self._of_draws(times, *chunk) for chunk in chunks or self._pairs()]
            values = np.concatenate(parts, axis=1)
            for b, of_draw in enumerate(values):
                one = of_draw[drawn_rows(rng, n_cases, unit)]
                counted = one[~np.isnan(one)]
                found[start + b] = counted.mean() if len(counted) else nan
        return found

    def _pairs(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Some cases at a time: who labelled them (n_raters, n), which pairs, what each adds (n_pairs, n)."""
        first, second = np.triu_indices(self.codes.shape[1], 1)
        step = max(1, CELLS // max(len(first), 1))
        for start in range(0, len(self.codes), step):
            codes, knows = self.codes[start : start + step].T, self.knows[start : start + step].T
            given = (codes >= 0).astype(float)
            both = given[first] * given[second]
            weight = both * (codes[first] == codes[second])
            weight *= knows[first] * knows[second] * self.on_truth[first, second][:, None]
            yield given, both, weight

    def _of_draws(self, times: Floats, given: Floats, both: Floats, weight: Floats) -> Floats:
        """What each of some cases adds when raters count `times` (n_draws, n_raters): (n_draws, n)."""
        first, second = np.triu_indices(self.codes.shape[1], 1)
        of_pair = times[:, first] * times[:, second]
        pairs = of_pair @ both
        found = of_pair @ weight
        none = pairs == 0
        pairs[none] = nan
        found /= pairs
        if none.any() and not np.isnan(self.alone).any():
            drawn = times @ given
            np.divide((times * self.alone) @ given, drawn, out=found, where=none & (drawn > 0))
        return found


def _labels(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    confidence: Floats | None,
    accuracy: Floats | float | None,
) -> _KnownLabels:
    if n_categories < 2:
        raise ValueError(f"n_categories must be at least 2, got {n_categories}.")
    codes = check_codes(codes, n_categories)
    sure = np.ones(codes.shape) if confidence is None else np.asarray(confidence, float)
    if sure.shape != codes.shape:
        raise ValueError(f"confidence must have the shape of codes, {codes.shape}, got {sure.shape}.")
    given = np.ones(codes.shape[1]) if accuracy is None else np.asarray(accuracy, float)
    right = np.broadcast_to(given, codes.shape[1:])
    for name, numbers in (("confidence", sure[~np.isnan(sure)]), ("accuracy", right)):
        if numbers.size and not (numbers.min() >= 0 and numbers.max() <= 1):
            raise ValueError(f"{name} must lie in [0, 1], got {numbers.min():g} to {numbers.max():g}.")
    both_right = np.outer(right, right)
    same = both_right + np.outer(1 - right, 1 - right) / (n_categories - 1)
    on_truth = np.divide(both_right, same, out=np.zeros_like(same), where=same > 0)
    np.fill_diagonal(on_truth, 0.0)
    alone = np.full(len(right), nan) if accuracy is None else right
    return _KnownLabels(codes, chance_of_knowing(np.nan_to_num(sure, nan=1.0), n_categories), on_truth, alone)


def _note(labels: _KnownLabels, confidence: Floats | None, accuracy: Floats | float | None) -> Note:
    given = labels.codes >= 0
    unsure = confidence is None or bool(np.isnan(np.asarray(confidence, float)[given]).any())
    alone = accuracy is not None and bool((given.sum(axis=1) == 1).any())
    return (
        (UNKNOWN_ACCURACY if accuracy is None else NO_NOTE)
        + (UNSURE_COUNT_AS_SURE if unsure else NO_NOTE)
        + (notes.SINGLE_LABELS_ADD if alone else NO_NOTE)
    )
