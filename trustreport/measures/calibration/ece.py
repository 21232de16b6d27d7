"""Expected calibration error: how far, on average, promised and observed rates lie apart."""

from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.blocks import Order
from trustreport.measures.calibration.bins import (
    NO_CASE,
    NO_OVER,
    NO_UNDER,
    SIDE,
    Bins,
    Counts,
    Place,
    check,
    equal_mass_and_places,
    equal_width_and_places,
)
from trustreport.measures.calibration.gap_bounds import BOUNDS, gap_bounds
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined

Binning = Literal["equal_width", "equal_mass"]
Floats = NDArray[np.float64]


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
    truth : bool array, shape (n_cases,)
        True = condition present.
    score : float array, shape (n_cases,)
        Probability of the condition.
    binning : {"equal_width", "equal_mass"}
        Bins of [low, high), the last closed, or of equal numbers of cases (`bins.equal_mass`).
    bins : int
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to.
    level : float in (0, 1)
    known : optional
        `binned` of these cases, where it is at hand already.

    Returns
    -------
    Estimate
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
        return undefined(0, NO_CASE, level=level, method=BOUNDS)
    within, place = known or binned(truth, score, binning, bins)
    gap = np.abs(within.observed - within.mean_score)
    details = {"largest_gap": float(np.nanmax(gap)), "filled_bins": float((within.n > 0).sum())}
    return gap_bounds(ece_of_bins, within, place, truth, score, cluster, level=level, details=details)


def ece_of_bins(n: Counts, events: Counts, total: Floats) -> Floats:
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
    Gici
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

    Examples
    --------
    >>> truth, score = np.array([False, True, True, True]), np.array([0.1, 0.15, 0.8, 0.85])
    >>> found = gici(truth, score)
    >>> round(found.overall.value, 3), found.over.note
    (0.68, 'no bin overestimates')
    """
    check(truth, score)
    check_level(level)
    if not score.size:
        none = undefined(0, NO_CASE, level=level, method=BOUNDS)
        return Gici(none, none, none)
    within, place = known or binned(truth, score, binning, bins)
    held = within.n, within.events, within.total
    over, under = float(over_of_bins(*held)), float(under_of_bins(*held))
    direction = (0 if np.isnan(over) else 1 - over) - (0 if np.isnan(under) else 1 - under)
    details = {"direction": direction, "filled_bins": float((within.n > 0).sum())}
    overall = gap_bounds(gici_of_bins, within, place, truth, score, cluster, level=level, details=details)
    return Gici(
        overall,
        _side(over, within.n[within.events < within.total], NO_OVER, level),
        _side(under, within.n[within.events > within.total], NO_UNDER, level),
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


def _side(value: float, n: NDArray[np.int64], none: str, level: float) -> Estimate:
    if not n.size:
        return undefined(0, none, level=level, method="bins")
    details = {"bins": float(n.size)}
    return Estimate(value, nan, nan, int(n.sum()), level, "bins", SIDE, details=details)
