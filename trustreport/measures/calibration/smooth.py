"""Integrated calibration index and its kin: distance of the scores from a smooth calibration curve."""

from dataclasses import dataclass, replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import check
from trustreport.measures.calibration.local_regression import loess, lowess
from trustreport.measures.cluster import Order, ascending
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.notes import OFTEN_ABOVE, OFTEN_BELOW

Floats = NDArray[np.float64]
SPAN = 2 / 3
LOESS_SPAN = 0.75  # R's
SKIP = 0.01  # share of the range within which the curve is interpolated, as R's lowess does
LEAST_CASES = 10
REPLICATES = 200
BIASED = 1000
FEW = 100  # and the largest distance, of fewer, too large
GROUPED, GROUPS = 200_000, 50_000  # with more cases the curve runs through means of so many groups
KEPT = 500  # cases of a resample, evenly spread over its scores, that stand for all
SIZES = np.concatenate([np.linspace(0, 2, 21), [2.5, 3, 4, 6]])
"""By how much the gaps found between scores and events are multiplied, to see what gaps might be there."""


@dataclass(frozen=True, slots=True)
class SmoothError:
    """Mean, median, 90th percentile and largest of the distances of the scores from the curve."""

    ici: Estimate
    e50: Estimate
    e90: Estimate
    emax: Estimate


def smooth_error(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    rng: np.random.Generator | None = None,
    replicates: int = REPLICATES,
    level: float = 0.95,
    order: Order | None = None,
) -> SmoothError:
    """How far the scores lie from the share of events that a smooth curve through the data finds for them.

    ::

        ICI = mean |curve(s) - s|,   E50, E90, Emax = median, 90th percentile, largest of the same

    The smoother is lowess: local lines over the nearest two thirds of the cases, tricube weights, no robust
    steps, cut at 0 and 1. Another smoother gives other values.

    Estimand: the same in the population, with a curve as smooth.

    Parameters
    ----------
    rng : numpy.random.Generator, optional
        Without it there are no intervals.
    replicates : int
        Resamples of cases; curves are fitted to each.
    order : optional
        `ascending(score)`, where it is at hand already.

    Returns
    -------
    Each in [0, 1], 0 = calibrated, with bootstrap intervals (`pivot_interval`). NaN with a note without
    cases of both classes and where the scores take too few values for a curve.

    Notes
    -----
    Two thirds smooth heavily: what happens among few extreme scores is seen less than in bins.

    References
    ----------
    Austin, Steyerberg (2019), Stat. Med. 38, 4051-4065.
    Cleveland (1979), J. Am. Stat. Assoc. 74, 829-836 (lowess).
    """
    check(truth, score)
    check_level(level)
    n = len(score)
    why = _no_curve(truth, score)
    curve = None if why else smooth_curve(score, truth.astype(np.float64), order=order)
    if curve is None:
        none = undefined(n, why or notes.FEW_SCORES, level=level, method="lowess")
        return SmoothError(none, none, none, none)
    seen = _Gaps(score, curve, curve - score)
    drawn = _resampled(truth, score, seen.shape, rng, replicates) if rng is not None else None
    if drawn is None:
        note = (notes.MANY_GROUPED if n > GROUPED else NO_NOTE) + notes.NO_RESAMPLING
        found = [Estimate(value, nan, nan, n, level, "lowess", note) for value in seen.summaries(1).tolist()]
        return SmoothError(*found)
    measured, resampled = (np.array([of.summaries(k) for k in SIZES.tolist()]) for of in (seen, drawn))
    found = [_estimate(measured[:, i], resampled[:, i], n, level) for i in range(4)]
    # The mean and the median distance: those of few cases are too small on average.
    found[:2] = [replace(e, note=OFTEN_BELOW) if n < BIASED else e for e in found[:2]]
    found[3] = replace(found[3], note=OFTEN_ABOVE) if n < FEW else found[3]  # the largest: too large
    return SmoothError(*found)


def loess_error(
    truth: NDArray[np.bool_], score: Floats, *, level: float = 0.95, order: Order | None = None
) -> tuple[Estimate, Estimate]:
    """The same mean distance by another smoother, and the mean squared one, the estimated calibration index.

    ::

        ICI = mean |curve(s) - s|,   ECI = 100 mean (curve(s) - s)^2

    The smoother is loess: local parabolas over the nearest three quarters of the cases, tricube weights, not
    cut at 0 and 1, as R's ``loess`` does by default.

    Parameters
    ----------
    truth, score, level, order
        As in `smooth_error`.

    Returns
    -------
    tuple of Estimate
        ICI and ECI (0 to 100), 0 = calibrated, without limits. NaN with a note where `smooth_error` is, and
        with more than 200,000 cases.

    Notes
    -----
    How far this ICI lies from that of `smooth_error` shows what the choice of the smoother does.

    References
    ----------
    Van Hoorde, Van Huffel, Timmerman, Bourne, Van Calster (2015), J. Biomed. Inform. 54, 283-293 (ECI).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> score = rng.random(500)
    >>> ici, eci = loess_error(rng.random(500) < score**2, score)
    >>> ici.value > 0.1, eci.value > 1
    (True, True)
    """
    check(truth, score)
    check_level(level)
    n = len(score)
    why = _no_curve(truth, score) or (notes.MANY_LOESS if n > GROUPED else NO_NOTE)
    if why:
        none = undefined(n, why, level=level, method="loess")
        return none, none
    order = ascending(score) if order is None else order
    x = score[order]
    gap = loess(x, truth[order].astype(np.float64), span=LOESS_SPAN) - x
    ici, eci = float(np.abs(gap).mean()), float(100 * (gap @ gap) / n)
    return (
        Estimate(ici, nan, nan, n, level, "loess", notes.NO_INTERVAL),
        Estimate(eci, nan, nan, n, level, "loess", notes.NO_INTERVAL),
    )


def _no_curve(truth: NDArray[np.bool_], score: Floats) -> Note:
    """Why no curve can be drawn through these cases, or nothing."""
    if not score.size:
        return notes.NO_CASE
    if not truth.any() or truth.all():
        return notes.ONE_CLASS
    return notes.FEW_SCORES if len(score) < LEAST_CASES or score.min() == score.max() else NO_NOTE


def smooth_curve(score: Floats, outcome: Floats, *, order: Order | None = None) -> Floats | None:
    """The mean of the outcome that lowess finds at each case's score; None with too few different scores.

    Several outcomes of the same scores, (n_cases, n_outcomes), cost little more than one.
    With more than 200,000 cases it is fitted to the means of 50,000 groups of neighbours by score: the two
    thirds that a line is fitted to hold thousands of them. `order` is `ascending(score)`, where at hand.
    """
    if len(score) < LEAST_CASES or score.min() == score.max():
        return None
    if len(score) > GROUPED:
        return _through_groups(score, outcome)
    order = ascending(score) if order is None else order
    x = score[order]
    curve = np.empty(outcome.shape)
    curve[order] = lowess(x, outcome[order], span=SPAN, skip=SKIP * (x[-1] - x[0]))
    return curve


def _through_groups(score: Floats, outcome: Floats) -> Floats | None:
    # Numpy's faster sort: which of two equal scores comes first shows in the tenth digit of a curve.
    order = np.argsort(score)
    ranked = score[order]
    starts = np.linspace(0, len(score), GROUPS, endpoint=False).astype(np.intp)
    sizes = np.diff(starts, append=len(score))
    x, y = (np.add.reduceat(column, starts) / sizes for column in (ranked, outcome[order]))
    curve = smooth_curve(x, y)
    if curve is None:
        return None
    # Beyond the outermost means the curve goes on straight, as the line fitted there does.
    inner, ends = max(1, len(x) // 100), ranked[[0, -1]]
    slopes = [(curve[a] - curve[b]) / max(x[a] - x[b], 1e-300) for a, b in ((inner, 0), (-1, -1 - inner))]
    outside = curve[[0, -1]] + np.array(slopes) * (ends - x[[0, -1]])
    found = np.empty(len(score))
    # Neighbours are found where the one before was, which takes a tenth of the time.
    found[order] = np.interp(ranked, [ends[0], *x, ends[1]], [outside[0], *curve, outside[1]])
    return found


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Scores, the curve through the outcomes, and the curve through the gaps (`shape`) of the whole set.

    Shape (n_cases,), or (replicates, n_cases) for resamples.
    """

    score: Floats
    curve: Floats
    shape: Floats

    def distance(self, k: float) -> Floats:
        """Distances of the curve from the scores, had the gaps been k times as large: lowess is linear."""
        distance: Floats = np.abs(np.clip(self.curve + (k - 1) * self.shape, 0.0, 1.0) - self.score)
        return distance

    def summaries(self, k: float) -> Floats:
        """ICI, E50, E90 and Emax of those distances, shape (4,) or (4, replicates)."""
        distance = self.distance(k)
        middle, high = np.quantile(distance, [0.5, 0.9], axis=-1)
        return np.array([distance.mean(axis=-1), middle, high, distance.max(axis=-1)])


def _resampled(
    truth: NDArray[np.bool_], score: Floats, gap: Floats, rng: np.random.Generator, replicates: int
) -> _Gaps | None:
    n = len(score)
    some = np.linspace(0, n - 1, min(n, KEPT)).astype(np.intp)
    found = []
    for _ in range(replicates):
        cases = np.sort(rng.integers(0, n, n))
        cases = cases[np.argsort(score[cases], kind="stable")]
        both = smooth_curve(score[cases], np.column_stack([truth[cases], gap[cases]]))
        if both is not None:
            found.append((score[cases][some], *both[some].T))
    return _Gaps(*(np.array(part) for part in zip(*found))) if len(found) > 1 else None


def _estimate(measured: Floats, resampled: Floats, n: int, level: float) -> Estimate:
    """Of one summary, by SIZES: in the set itself (n_sizes,), in the resamples (n_sizes, replicates)."""
    as_it_is = int(np.flatnonzero(SIZES == 1)[0])
    value, drawn = float(measured[as_it_is]), resampled[as_it_is]
    low, high = pivot_interval(value, measured, resampled, level)
    details = {"replicates": float(len(drawn))}
    return Estimate(value, low, high, n, level, "lowess", se=float(drawn.std(ddof=1)), details=details)


def pivot_interval(value: float, measured: Floats, resampled: Floats, level: float) -> tuple[float, float]:
    """Interval of a measure of absolute gaps, which is biased, the more so the smaller the gaps are.

    Where scores are right, chance still makes gaps, and resampling makes them twice: percentiles of the
    resamples then lie beyond the truth every time. So the gaps are multiplied by k, from 0 to 6; for each k
    under which the value found is not surprising, and for k = 1::

        low  = value - (upper quantile of the resampled measure - measure itself)
        high = value - (lower quantile of the resampled measure - measure itself)

    and the interval holds them all. Coverage of the 95 % interval of ECE, GICI and advisory value in
    simulated sets, scores right or wrong by various amounts: .87 to .94 with 100 cases, .89 to .99 with 400
    and 2,000; of percentiles 0 to .94, of the basic bootstrap .39 to .94.

    Parameters
    ----------
    value : float
        The measure found, in [0, 1].
    measured, resampled : float arrays, shapes (n_sizes,) and (n_sizes, replicates)
        The measure with gaps k times as large in the set, and in each resample, for each k of `SIZES`.

    References
    ----------
    Davison, Hinkley (1997), Bootstrap Methods and their Application, section 5.2 (k = 1 alone is the basic
    bootstrap). The range of k is our own.
    """
    lows, highs = [], []
    for k, itself, drawn in zip(SIZES, measured.tolist(), resampled):
        lower, upper = _tails(drawn, level)
        if lower <= value <= upper or k == 1:
            lows.append(value - upper + itself)
            highs.append(value - lower + itself)
    return min(1.0, max(0.0, min(lows))), max(0.0, min(1.0, max(highs)))


def _tails(drawn: Floats, level: float) -> tuple[float, float]:
    """What numpy.quantile finds, at a fifth of its cost for a thousand values."""
    ranked, last = np.sort(drawn), len(drawn) - 1

    def predicted(share: float) -> float:
        below = min(int(share * last), last - 1)
        part = share * last - below
        return float(ranked[below] * (1 - part) + ranked[below + 1] * part)

    return predicted((1 - level) / 2), predicted((1 + level) / 2)
