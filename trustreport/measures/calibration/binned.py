"""Calibration in bins: the curve, the expected error, the interpretable index, and bounds of both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, nan, pi, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import (
    Bins,
    Place,
    check,
    equal_mass,
    equal_mass_and_places,
    equal_width,
    equal_width_and_places,
)
from trustreport.measures.cluster import (
    ONE_CLUSTER,
    ONE_OF_A_CLASS,
    Clusters,
    Order,
    clusters_of_scarcer_class,
)
from trustreport.measures.cluster import filled as filled_in
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.note import Note
from trustreport.measures.proportion import wilson

BOUNDS = "gap_bounds"

Floats = NDArray[np.float64]
Counts = NDArray[np.int64] | Floats
OfBins = Callable[..., Floats]
"""From number of cases, events and sum of scores, each (..., bins), to the measure, (...).

Sums of further columns of the cases, each (..., bins), follow where there are any.
"""


def gap_bounds(
    measure: OfBins,
    within: Bins,
    place: Place,
    truth: NDArray[np.bool_],
    score: Floats,
    cluster: Clusters | None = None,
    *,
    further: tuple[Floats, ...] = (),
    level: float = 0.95,
    details: Mapping[str, float] | None = None,
) -> Estimate:
    """Interval of a measure of absolute gaps that allows for the most that chance can add to them.

    With M the measure, dM/dn_b, dM/de_b and dM/dt_b its derivatives by the cases, the events and the summed
    scores of bin b, v_b the variance of e_b - t_b, and IF what a case of bin b with truth y and score s
    contributes, the standard error S of M is::

        IF = dM/dn_b + y dM/de_b + s dM/dt_b
        S^2 = sum over cases of IF^2 + sum over b of (dM/de_b)^2 max(0, v_b - e_b (1 - e_b / n_b))

    Whatever the true gaps are, chance moves the expected M in the direction of larger gaps, by no more than
    B::

        B = sum over b of |dM/de_b| sqrt(2 v_b / pi)
        M - B - z S to M + z S   where M rises with the gaps,   M - z S to M + B + z S   where it falls

    v_b = n_b q (1 - q) with q = (e_b + 1) / (n_b + 2), so that a bin in which all or none were events varies
    too. In clusters, with D >= 1 the variance of the clusters' sums of IF over that of single cases, counts
    are worth n_b / D in q and v_b, S^2 is times D; both are at least those of the clusters' sums, and z is
    Student's t with as many degrees of freedom as clusters hold a case of the class found in fewer, less one.

    Estimand: the measure in the population, limits of the bins fixed.

    Parameters
    ----------
    place : int array, shape (n_cases,)
        The bin of each case (`ece.binned`).
    further : float arrays, shape (n_cases,) each
        Columns whose sums in each bin the measure takes as well; they enter IF as the score does.

    Returns
    -------
    ``gap_bounds``, cut at 0 and 1, which are the ends of M; the value is always within. `details` hold B.
    No limits, and a note, where a class lies in fewer than two clusters, and of one case.

    Notes
    -----
    Conservative: covers in .98 to 1.00 of samples of 50 to 1,000 cases, scores right or wrong by various
    amounts, and of 20 and 50 clusters of 3 and 10. An interval by resampled cases (`smooth.pivot_interval`)
    covers in .77 to .97, a jackknife over clusters, where scores are right, in .15 to .74.

    References
    ----------
    Own construction. For a normal X of mean m and standard deviation s, |m| <= E|X| <= |m| + s sqrt(2 / pi)
    (Leone, Nelson, Nottingham 1961, Technometrics 3, 543-550: the folded normal distribution).

    Examples
    --------
    >>> from trustreport.measures.calibration.bins import equal_width_and_places
    >>> from trustreport.measures.calibration.binned import of_bins
    >>> truth, score = np.arange(80) % 3 == 0, np.linspace(0.1, 0.8, 80)
    >>> print(gap_bounds(of_bins, *equal_width_and_places(truth, score, 2), truth, score))
    0.17 (95% CI 0.00 to 0.28; n = 80)
    """
    n, bins = len(score), len(within.n)
    cases, events, total = (np.asarray(x, np.float64) for x in (within.n, within.events, within.total))
    more = [np.bincount(place, column, bins) for column in further]
    value, found = float(measure(cases, events, total, *more)), dict(details or {})
    held = n if cluster is None else clusters_of_scarcer_class(truth, cluster)
    if cluster is not None:
        found["clusters"] = float(held)
    if held < 2:
        note = notes.ONE_CASE if cluster is None else ONE_OF_A_CLASS
        if cluster is not None and len(np.unique(cluster)) < 2:
            note = ONE_CLUSTER
        return Estimate(value, nan, nan, n, level, BOUNDS, note, details=found)
    step = _step(cases)
    # At a gap of nothing the measure has a kink: beside it the derivative is that of a gap.
    beside = events + np.where(np.abs(events - total) < 3 * step, 3 * step, 0.0)
    sums = np.array([cases, beside, total, *more])
    of_cases, of_events, of_total, *of_more = _derivatives(measure, sums, step)
    filled = cases > 0
    of_events = np.where(filled, of_events, 0.0)

    def contribution(of: slice) -> Floats:
        at = place[of]
        made: Floats = of_cases[at] + truth[of] * of_events[at] + score[of] * of_total[at]
        for column, by in zip(further, of_more):
            made += column[of] * by[at]
        return made

    influence = filled_in(n, contribution)
    squares, df, effect = float(influence @ influence), inf, 1.0
    if cluster is not None:
        df = float(held - 1)
        _, of = np.unique(cluster, return_inverse=True)
        n_clusters = int(of.max()) + 1
        times = n_clusters / (n_clusters - 1)
        by_cluster = np.bincount(of, influence, n_clusters)
        effect = max(1.0, times * float(by_cluster @ by_cluster) / squares) if squares > 0 else 1.0
    rate = (events / effect + 1) / (cases / effect + 2)
    noise = effect * cases * rate * (1 - rate)
    plain = np.where(filled, effect * events * (1 - events / np.maximum(cases, 1)), 0.0)
    variance = float(effect * squares + of_events**2 @ np.maximum(noise - plain, 0.0))
    if cluster is not None:
        away = truth - score - ((events - total) / np.maximum(cases, 1))[place]
        by_bin = np.bincount(of * bins + place, away, n_clusters * bins).reshape(n_clusters, bins)
        noise = np.maximum(noise, times * (by_bin**2).sum(axis=0))
    bias = float(np.abs(of_events) @ np.sqrt(2 * noise / pi))
    half = quantile(df, level) * sqrt(variance)
    doubled = float(measure(cases, 2 * beside - total, total, *more))
    below, above = (half + bias, half) if doubled >= value else (half, half + bias)
    found["bias_bound"] = bias
    low, high = max(0.0, value - below), min(1.0, value + above)
    return Estimate(
        value, low, high, n, level, BOUNDS,
        se=sqrt(variance), df=df if df < inf else nan, details=found,
    )  # fmt: skip


def _step(cases: Floats) -> float:
    return 1e-5 * max(float(cases.sum()) / len(cases), 1.0)


def _derivatives(measure: OfBins, sums: Floats, step: float) -> Floats:
    """By each of the sums, shape (n_sums, bins), of each bin: from central differences.

    The measure is smooth but where a gap is nothing.
    """
    shift = step * np.eye(sums.size).reshape(sums.size, *sums.shape)
    up, down = (measure(*np.moveaxis(sums + sign * shift, 1, 0)) for sign in (1, -1))
    found: Floats = ((up - down) / (2 * step)).reshape(sums.shape)
    return found


Binning = Literal["equal_width", "equal_mass"]


def binned(
    truth: NDArray[np.bool_],
    score: Floats,
    binning: Binning = "equal_width",
    bins: int = 10,
    *,
    order: Order | None = None,
) -> tuple[Bins, Place]:
    """The bins of one case or more, and the bin of each case; `order` is `ascending(score)`, if at hand."""
    if binning == "equal_mass":
        return equal_mass_and_places(truth, score, bins, order=order)
    return equal_width_and_places(truth, score, bins)


def ece(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    binning: Binning = "equal_width",
    bins: int = 10,
    cluster: Clusters | None = None,
    level: float = 0.95,
    known: tuple[Bins, Place] | None = None,
) -> Estimate:
    """How far, on average over cases, the observed share of events lies from the mean score of their bin.

    Over bins b with mean score c_b and share of events o_b, both of the positive class::

        ECE = sum_b n_b / n |o_b - c_b|

    Estimand: the same in the population, with these bins; smaller than the error without bins.

    Parameters
    ----------
    binning : {"equal_width", "equal_mass"}
        Bins of [low, high), the last closed, or of equal numbers of cases (`bins.equal_mass`).
    known : optional
        `binned` of these cases, where it is at hand already.

    Returns
    -------
    In [0, 1], 0 = calibrated in every bin, with the interval of `gap_bounds`; `details` hold the largest
    gap of a bin. NaN with a note without cases.

    Notes
    -----
    Too large in small samples even when the scores are right. The interval allows for that, the value does
    not: it may lie near the upper limit.

    References
    ----------
    Huang et al. (2020), J. Am. Med. Inform. Assoc. 27, 621-633. The interval is our own (`gap_bounds`).

    Examples
    --------
    >>> truth, score = np.array([False, True, True, True]), np.array([0.1, 0.15, 0.8, 0.85])
    >>> round(ece(truth, score).value, 3)
    0.275
    """
    check(truth, score)
    check_level(level)
    if not score.size:
        return undefined(0, notes.NO_CASE, level=level, method=BOUNDS)
    within, place = known or binned(truth, score, binning, bins)
    gap = np.abs(within.observed - within.mean_score)
    details = {"largest_gap": float(np.nanmax(gap)), "filled_bins": float((within.n > 0).sum())}
    return gap_bounds(of_bins, within, place, truth, score, cluster, level=level, details=details)


def of_bins(n: Counts, events: Counts, total: Floats) -> Floats:
    """The error from what bins hold, over the last axis."""
    error: Floats = np.abs(events - total).sum(axis=-1) / n.sum(axis=-1)
    return error


@dataclass(frozen=True, slots=True)
class Gici:
    """The index over all bins, over those that overestimate and over those that underestimate."""

    overall: Estimate
    over: Estimate
    under: Estimate


def gici(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    binning: Binning = "equal_width",
    bins: int = 10,
    cluster: Clusters | None = None,
    level: float = 0.95,
    known: tuple[Bins, Place] | None = None,
) -> Gici:
    """How well observed shares of events match the scores, on a scale on which each bin could reach 0 and 1.

    Over bins b with mean score c_b and share of events o_b::

        local_b = 1 - |o_b - c_b| / max(c_b, 1 - c_b)
        GICI = sum_b n_b / n local_b

    and the same mean over the bins with o_b < c_b (over: more promised than observed) and o_b > c_b (under).

    Estimand: the same in the population, with these bins.

    Parameters
    ----------
    truth, score, binning, bins, cluster, level, known
        As in `ece`.

    Returns
    -------
    Each in [0, 1], 1 = calibrated; `n` counts the cases in the bins. The overall index has the interval
    of `gap_bounds`; the `direction` among its details is the mean distance of the overestimating less
    that of the underestimating bins. `over` or `under` is NaN with a note when no bin is of that kind,
    all are without cases.

    Notes
    -----
    Too small in small samples even when the scores are right, as `ece` is too large.

    References
    ----------
    Cabitza, Campagner, Famiglini (2022), CD-MAKE, LNCS 13480, "Global interpretable calibration index".
    The interval is our own (`gap_bounds`).
    """
    check(truth, score)
    check_level(level)
    if not score.size:
        none = undefined(0, notes.NO_CASE, level=level, method=BOUNDS)
        return Gici(none, none, none)
    within, place = known or binned(truth, score, binning, bins)
    held = within.n, within.events, within.total
    over, under = float(over_of_bins(*held)), float(under_of_bins(*held))
    direction = (0 if np.isnan(over) else 1 - over) - (0 if np.isnan(under) else 1 - under)
    details = {"direction": direction, "filled_bins": float((within.n > 0).sum())}
    overall = gap_bounds(gici_of_bins, within, place, truth, score, cluster, level=level, details=details)
    return Gici(
        overall,
        _side(over, within.n[within.events < within.total], notes.NO_OVER, level),
        _side(under, within.n[within.events > within.total], notes.NO_UNDER, level),
    )


def gici_of_bins(n: Counts, events: Counts, total: Floats) -> Floats:
    """The index from what bins hold, over the last axis."""
    return _mean(_local(n, events, total), n)


def over_of_bins(n: Counts, events: Counts, total: Floats) -> Floats:
    """The index of the bins in which fewer events were observed than the scores promised."""
    return _mean(_local(n, events, total), np.where(events < total, n, 0))


def under_of_bins(n: Counts, events: Counts, total: Floats) -> Floats:
    """The index of the bins in which more events were observed than the scores promised."""
    return _mean(_local(n, events, total), np.where(events > total, n, 0))


def local_index(observed: Floats, mean_score: Floats) -> Floats:
    """The index of single bins from their share of events and mean score."""
    index: Floats = 1 - np.abs(observed - mean_score) / np.maximum(mean_score, 1 - mean_score)
    return index


def _local(n: Counts, events: Counts, total: Floats) -> Floats:
    held = np.maximum(n, 1)
    return local_index(events / held, total / held)


def _mean(local: Floats, weight: Counts) -> Floats:
    sums = np.asarray(weight.sum(axis=-1), dtype=np.float64)
    mean: Floats = np.divide((local * weight).sum(axis=-1), sums, out=np.full_like(sums, nan), where=sums > 0)
    return mean


def _side(value: float, n: NDArray[np.int64], none: Note, level: float) -> Estimate:
    if not n.size:
        return undefined(0, none, level=level, method="bins")
    details = {"bins": float(n.size)}
    return Estimate(value, nan, nan, int(n.sum()), level, "bins", notes.SIDE, details=details)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Cases with scores from `low` to `high`: their mean score, observed share of events, local index."""

    low: float
    high: float
    mean_score: float
    observed: Estimate
    local_gici: float


def calibration_curve(
    truth: NDArray[np.bool_],
    score: NDArray[np.float64],
    *,
    binning: Binning = "equal_width",
    bins: int = 10,
    level: float = 0.95,
) -> tuple[CurvePoint, ...]:
    """Share of events observed in each bin of the scores, with its Wilson interval, beside the mean score.

    Estimand: in each bin, P(event | score in the bin).

    Parameters
    ----------
    truth, score, binning, bins, level
        As in `ece`.

    Returns
    -------
    tuple of CurvePoint
        For the bins that hold cases, the lowest scores first; empty without cases.

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.
    """
    check(truth, score)
    check_level(level)
    within = equal_mass(truth, score, bins) if binning == "equal_mass" else equal_width(truth, score, bins)
    return curve_of(within, level)


def curve_of(within: Bins, level: float = 0.95) -> tuple[CurvePoint, ...]:
    """Share of events observed in each of these bins, as `calibration_curve` has it."""
    return tuple(
        CurvePoint(
            float(within.low[b]),
            float(within.high[b]),
            float(within.mean_score[b]),
            wilson(int(within.events[b]), int(within.n[b]), level),
            float(local_index(within.observed[b], within.mean_score[b])),
        )
        for b in np.flatnonzero(within.n)
    )
