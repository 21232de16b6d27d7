"""Advice value: how sure the advice is, times how far its certainty can be trusted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import check, equal_width
from trustreport.measures.calibration.resample import METHOD, REPLICATES, Counts, with_interval
from trustreport.measures.proportion import wilson

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AdviceBin:
    """Advice given with a confidence from `low` up to `high`: its value, and what that is made of."""

    low: float
    high: float
    confidence: float
    share_right: Estimate
    local_calibration: Estimate
    advice_value: Estimate


def advisory_value(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    bins: int = 10,
    rng: np.random.Generator | None = None,
    replicates: int = REPLICATES,
    level: float = 0.95,
) -> Estimate:
    """Mean over cases of the advice's confidence, discounted by how badly such confidence was calibrated.

    The advised class is positive from a score of .5 on; its confidence is the score or 1 - score. Over
    equal-width bins b of the confidence on [.5, 1] with mean confidence c_b and share of right advice r_b::

        local_b = 1 - |r_b - c_b|
        AdV = mean over cases of confidence x local_b = sum_b n_b / n c_b local_b

    Estimand: the same in the population, with these bins.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
        True = condition present.
    score : float array, shape (n_cases,)
        Probability of the condition.
    bins : int
    rng : numpy.random.Generator, optional
        Without it there is no interval.
    replicates : int
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [0, 1], 1 = always sure and always right. Bootstrap interval (`pivot_interval`). NaN with a note
        without cases.

    Notes
    -----
    Sure and wrong, or unsure and right by as much, is discounted alike; read it beside the advice accuracy.

    References
    ----------
    Cabitza, Campagner et al. (2023), HEALTHINF 2023, section 2.4 (advice value, advisory value).

    Examples
    --------
    >>> truth, score = np.array([True, True, False, False]), np.array([0.9, 0.9, 0.4, 0.3])
    >>> round(advisory_value(truth, score).value, 4)
    0.6175
    """
    right, confidence = _advice(truth, score)
    check_level(level)
    if not score.size:
        return undefined(0, notes.NO_CASE, level=level, method=METHOD)
    within = equal_width(right, confidence, bins, low=0.5)
    details = {
        "mean_confidence": float(within.total.sum() / within.n.sum()),
        "share_right": float(within.events.sum() / within.n.sum()),
    }
    return with_interval(
        _of_bins,
        within,
        right,
        confidence,
        rng,
        replicates=replicates,
        level=level,
        details=details,
    )


def advice_values(
    truth: NDArray[np.bool_], score: Floats, *, bins: int = 10, level: float = 0.95
) -> tuple[AdviceBin, ...]:
    """The value of advice given with a certain confidence: confidence x local calibration, per bin.

    Parameters
    ----------
    truth, score, bins, level
        As in `advisory_value`.

    Returns
    -------
    tuple of AdviceBin
        For the bins that hold cases, the least sure first. The intervals follow from the Wilson interval of
        the share of right advice, with the mean confidence as it is; `n` counts the bin's cases.

    Examples
    --------
    >>> truth, score = np.array([True, True, False, False]), np.array([0.9, 0.9, 0.4, 0.3])
    >>> [(round(one.low, 2), round(one.advice_value.value, 2)) for one in advice_values(truth, score)]
    [(0.6, 0.36), (0.7, 0.49), (0.9, 0.81)]
    """
    right, confidence = _advice(truth, score)
    within = equal_width(right, confidence, bins, low=0.5)
    found = []
    for n, events, mean, low, high in zip(
        within.n, within.events, within.mean_score, within.low, within.high
    ):
        if not n:
            continue
        share = wilson(int(events), int(n), level)
        gaps = abs(share.low - mean), abs(share.high - mean)
        least = 0.0 if share.low <= mean <= share.high else min(gaps)
        local = 1 - abs(share.value - mean), 1 - max(gaps), 1 - least
        calibration, value = (
            Estimate(
                float(by * local[0]), float(by * local[1]), float(by * local[2]), int(n), level, "wilson"
            )
            for by in (1.0, mean)
        )
        found.append(AdviceBin(float(low), float(high), float(mean), share, calibration, value))
    return tuple(found)


def _advice(truth: NDArray[np.bool_], score: Floats) -> tuple[NDArray[np.bool_], Floats]:
    check(truth, score)
    positive = score >= 0.5
    return positive == truth, np.where(positive, score, 1 - score)


def _of_bins(n: Counts, events: Counts, total: Floats) -> Floats:
    held = np.maximum(n, 1)
    local = 1 - np.abs(events - total) / held
    value: Floats = (total * local).sum(axis=-1) / n.sum(axis=-1)
    return value
