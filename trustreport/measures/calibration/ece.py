"""Expected calibration error: how far, on average, promised and observed rates lie apart."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import (
    Bins,
    Place,
    check,
    equal_mass_and_places,
    equal_width_and_places,
)
from trustreport.measures.calibration.gap_bounds import BOUNDS, Counts, gap_bounds
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.order import Order

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
        return undefined(0, notes.NO_CASE, level=level, method=BOUNDS)
    within, place = known or binned(truth, score, binning, bins)
    gap = np.abs(within.observed - within.mean_score)
    details = {"largest_gap": float(np.nanmax(gap)), "filled_bins": float((within.n > 0).sum())}
    return gap_bounds(ece_of_bins, within, place, truth, score, cluster, level=level, details=details)


def ece_of_bins(n: Counts, events: Counts, total: Floats) -> Floats:
    """The error from what bins hold, over the last axis."""
    error: Floats = np.abs(events - total).sum(axis=-1) / n.sum(axis=-1)
    return error
