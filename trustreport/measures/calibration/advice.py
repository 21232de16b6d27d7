"""Advice value: how sure the advice is, times how far its certainty can be trusted."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures.blocks import filled
from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import Bins, Place, check, equal_width_and_places
from trustreport.measures.calibration.gap_bounds import BOUNDS, Counts, gap_bounds
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.proportion import wilson

Floats = NDArray[np.float64]
Local = Literal["absolute_gap", "gici"]


@dataclass(frozen=True, slots=True)
class AdviceBin:
    """Advice given with a confidence from `low` up to `high`: its value, and what that is made of."""

    low: float
    high: float
    confidence: float
    share_right: Estimate
    local_calibration: Estimate
    advice_value: Estimate


@dataclass(frozen=True, slots=True)
class Advised:
    """What was advised for each case, right or not, how confidently, and the bins of the confidence."""

    right: NDArray[np.bool_]
    confidence: Floats
    within: Bins
    place: Place


def advised(truth: NDArray[np.bool_], score: Floats, bins: int = 10) -> Advised:
    """What all measures of advice start from.

    >>> advised(np.array([True, False]), np.array([0.9, 0.6])).right
    array([ True, False])
    """
    check(truth, score)
    positive = score >= 0.5
    right, confidence = positive == truth, np.where(positive, score, 1 - score)
    return Advised(right, confidence, *equal_width_and_places(right, confidence, bins, low=0.5))


def advisory_value(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    bins: int = 10,
    local: Local = "absolute_gap",
    cluster: Clusters | None = None,
    level: float = 0.95,
    known: Advised | None = None,
) -> Estimate:
    """Mean over cases of the advice's confidence, discounted by how badly such confidence was calibrated.

    The advised class is positive from a score of .5 on; its confidence is the score or 1 - score. Over
    equal-width bins b of the confidence on [.5, 1] with mean confidence c_b and share of right advice r_b::

        local_b = 1 - |r_b - c_b|            absolute_gap
        local_b = 1 - |r_b - c_b| / c_b      gici: by the largest gap that such confidence could have
        AdV = mean over cases of confidence x local_b = sum_b n_b / n c_b local_b

    Estimand: the same in the population, with these bins.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
        True = condition present.
    score : float array, shape (n_cases,)
        Probability of the condition.
    bins : int
    local : {"absolute_gap", "gici"}
        How a gap is turned into a calibration.
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to.
    level : float in (0, 1)
    known : optional
        `advised` of these cases, where it is at hand already.

    Returns
    -------
    Estimate
        In [0, 1], 1 = always sure and always right, with the interval of `gap_bounds`; `details` hold the
        least, the median and the greatest value of a piece of advice. NaN with a note without cases.

    Notes
    -----
    Sure and wrong, or unsure and right by as much, is discounted alike; read it beside the advice accuracy.

    References
    ----------
    Cabitza, Campagner et al. (2023), HEALTHINF 2023, section 2.4 (advice value, advisory value).
    Cabitza, Campagner, Famiglini (2022), CD-MAKE, LNCS 13480 (local calibration of the GICI).
    The interval is our own (`gap_bounds`).

    Examples
    --------
    >>> truth, score = np.array([True, True, False, False]), np.array([0.9, 0.9, 0.4, 0.3])
    >>> round(advisory_value(truth, score).value, 4)
    0.6175
    """
    known = known or advised(truth, score, bins)
    check_level(level)
    if not score.size:
        return undefined(0, notes.NO_CASE, level=level, method=BOUNDS)
    right, confidence, within = known.right, known.confidence, known.within
    each = _values(known, local)
    details = {
        "mean_confidence": float(within.total.sum() / within.n.sum()),
        "share_right": float(within.events.sum() / within.n.sum()),
        "least": float(each.min()),
        "median": float(np.median(each)),
        "greatest": float(each.max()),
    }
    measure = _of_bins_gici if local == "gici" else _of_bins
    return gap_bounds(measure, within, known.place, right, confidence, cluster, level=level, details=details)


def advice_of_cases(
    truth: NDArray[np.bool_], score: Floats, *, bins: int = 10, local: Local = "absolute_gap"
) -> Floats:
    """The value of each piece of advice: its own confidence x the local calibration of its bin.

    Parameters
    ----------
    truth, score, bins, local
        As in `advisory_value`, which is the mean of what is returned.

    Returns
    -------
    float array, shape (n_cases,)
        In [0, 1]; empty without cases.

    Examples
    --------
    >>> truth, score = np.array([True, True, False, False]), np.array([0.9, 0.9, 0.4, 0.3])
    >>> advice_of_cases(truth, score).round(2)
    array([0.81, 0.81, 0.36, 0.49])
    """
    return _values(advised(truth, score, bins), local)


def advice_values(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    bins: int = 10,
    local: Local = "absolute_gap",
    cluster: Clusters | None = None,
    level: float = 0.95,
    known: Advised | None = None,
) -> tuple[AdviceBin, ...]:
    """The value of advice given with a certain confidence: confidence x local calibration, per bin.

    Parameters
    ----------
    truth, score, bins, local, cluster, level, known
        As in `advisory_value`.

    Returns
    -------
    tuple of AdviceBin
        For the bins that hold cases, the least sure first. The intervals follow from the Wilson interval of
        the share of right advice (with clusters, that of `clustered`), the mean confidence taken as it is;
        `n` counts the bin's cases.

    Examples
    --------
    >>> truth, score = np.array([True, True, False, False]), np.array([0.9, 0.9, 0.4, 0.3])
    >>> [(round(one.low, 2), round(one.advice_value.value, 2)) for one in advice_values(truth, score)]
    [(0.6, 0.36), (0.7, 0.49), (0.9, 0.81)]
    """
    known = known or advised(truth, score, bins)
    right, within, found = known.right, known.within, []
    for i, (n, events, mean, low, high) in enumerate(
        zip(within.n, within.events, within.mean_score, within.low, within.high)
    ):
        if not n:
            continue
        if cluster is None:
            share = wilson(int(events), int(n), level)
        else:
            inside = known.place == i
            cells = cluster_cells(np.ones(int(n), bool), right[inside], cluster[inside])
            share = clustered("sensitivity", cells, level=level)
        gaps = abs(share.low - float(mean)), abs(share.high - float(mean))
        least = 0.0 if share.low <= mean <= share.high else min(gaps)
        most = float(mean) if local == "gici" else 1.0
        trust, worst, best = (1 - gap / most for gap in (abs(share.value - float(mean)), max(gaps), least))
        calibration, value = (
            Estimate(by * trust, by * worst, by * best, int(n), level, share.method, share.note)
            for by in (1.0, float(mean))
        )
        found.append(AdviceBin(float(low), float(high), float(mean), share, calibration, value))
    return tuple(found)


def _values(known: Advised, local: Local) -> Floats:
    trust = _local_of(known.within, local)
    return filled(len(known.place), lambda of: known.confidence[of] * trust[known.place[of]])


def _local_of(within: Bins, local: Local) -> Floats:
    """Local calibration of each bin, 1 in those without cases."""
    held = np.maximum(within.n, 1)
    gap = np.abs(within.events - within.total) / held
    if local == "gici":
        gap = gap / np.where(within.n > 0, within.total / held, 1.0)
    return np.asarray(1 - gap, np.float64)


def _of_bins(n: Counts, events: Counts, total: Floats) -> Floats:
    held = np.maximum(n, 1)
    local = 1 - np.abs(events - total) / held
    value: Floats = (total * local).sum(axis=-1) / n.sum(axis=-1)
    return value


def _of_bins_gici(n: Counts, events: Counts, total: Floats) -> Floats:
    # confidence x (1 - gap / confidence) is the confidence less the gap
    value: Floats = (total - np.abs(events - total)).sum(axis=-1) / n.sum(axis=-1)
    return value
