"""Calibration curve: the share of events observed among cases of similar score."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.calibration.bins import check, equal_mass, equal_width
from trustreport.measures.calibration.ece import Binning, local_index
from trustreport.measures.estimate import Estimate, check_level
from trustreport.measures.proportion import wilson


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

    Examples
    --------
    >>> truth, score = np.array([False, True, True, True]), np.array([0.1, 0.15, 0.8, 0.85])
    >>> [
    ...     (round(point.mean_score, 3), point.observed.value)
    ...     for point in calibration_curve(truth, score)
    ... ]
    [(0.125, 0.5), (0.825, 1.0)]
    """
    check(truth, score)
    check_level(level)
    within = equal_mass(truth, score, bins) if binning == "equal_mass" else equal_width(truth, score, bins)
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


Floats = NDArray[np.float64]
