"""Global interpretable calibration index: calibration in [0, 1], also of the bins that promise too much."""

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import Bins, Place, check
from trustreport.measures.calibration.ece import Binning, binned
from trustreport.measures.calibration.gap_bounds import BOUNDS, Counts, gap_bounds
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined

Floats = NDArray[np.float64]


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


def _side(value: float, n: NDArray[np.int64], none: str, level: float) -> Estimate:
    if not n.size:
        return undefined(0, none, level=level, method="bins")
    details = {"bins": float(n.size)}
    return Estimate(value, nan, nan, int(n.sum()), level, "bins", notes.SIDE, details=details)
