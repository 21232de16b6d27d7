"""Advice value: how sure the advice is, times how far its certainty can be trusted."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.binned import BOUNDS, Counts, gap_bounds
from trustreport.measures.calibration.bins import Bins, Place, check, equal_width_and_places
from trustreport.measures.cluster import Clusters, filled
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import note
from trustreport.measures.proportion import wilson

Floats = NDArray[np.float64]
Local = Literal["absolute_gap", "gici"]


# The threshold of the papers, at which the confidence of advice is the score of the advised class.
MIDDLE = 0.5
AT_AN_END = note("threshold_not_between_0_and_1")
DIGITS = 12  # of a confidence: as many as keep a score on a limit of the bins in the bin that it opens


@dataclass(frozen=True, slots=True)
class AdviceBin:
    """Advice given with a confidence from `low` up to `high`: its value, and what that is made of.

    `predicted` is the share right that the scores predict; the mean confidence itself at a threshold of .5.
    """

    low: float
    high: float
    confidence: float
    predicted: float
    share_right: Estimate
    local_calibration: Estimate
    advice_value: Estimate


@dataclass(frozen=True, slots=True)
class Advised:
    """What was advised for each case: right or not, how confidently, how often right by its score.

    `within` are bins of the confidence, whose sums are those of `predicted`; at a threshold of .5
    `confidence` and `predicted` are one array.
    """

    right: NDArray[np.bool_]
    confidence: Floats
    predicted: Floats
    within: Bins
    place: Place

    @property
    def further(self) -> tuple[Floats, ...]:
        """The confidence, where it is not what the score predicts."""
        return () if self.confidence is self.predicted else (self.confidence,)

    @property
    def mean_confidence(self) -> Floats:
        """The mean confidence of each bin, NaN in one without cases."""
        if not self.further:
            return self.within.mean_score
        held = self.within.n
        total = np.bincount(self.place, self.confidence, len(held))
        mean: Floats = np.full(len(held), np.nan)
        return np.divide(total, held, out=mean, where=held > 0)


def advised(truth: NDArray[np.bool_], score: Floats, bins: int = 10, *, threshold: float = MIDDLE) -> Advised:
    """What all measures of advice start from (`advisory_value`).

    >>> advised(np.array([True, False]), np.array([0.9, 0.6])).right
    array([ True, False])
    >>> advised(np.array([True, False]), np.array([0.6, 0.1]), threshold=0.2).confidence
    array([0.75, 0.75])
    """
    check(truth, score)
    if not 0 < threshold < 1:
        raise ValueError(f"threshold must lie in (0, 1), got {threshold:g}.")
    positive = score >= threshold
    right, predicted = positive == truth, np.where(positive, score, 1 - score)
    confidence = predicted
    if threshold != MIDDLE:
        room = np.where(positive, 1 - threshold, threshold)
        confidence = np.round(0.5 + 0.5 * np.abs(score - threshold) / room, DIGITS)
    within, place = equal_width_and_places(right, confidence, bins, low=0.5)
    if confidence is not predicted:
        within = replace(within, total=np.asarray(np.bincount(place, predicted, bins), np.float64))
    return Advised(right, confidence, predicted, within, place)


def advisory_value(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    bins: int = 10,
    local: Local = "absolute_gap",
    threshold: float = MIDDLE,
    cluster: Clusters | None = None,
    level: float = 0.95,
    known: Advised | None = None,
) -> Estimate:
    """Mean over cases of the advice's confidence, discounted by how badly its scores were calibrated.

    The advice is the decision at the operating point: positive from a score s of the threshold t on. Its
    confidence, the papers' diagnosticity, is where s lies between t (.5) and the end of the scale (1)::

        confidence = .5 + .5 (s - t) / (1 - t)    of positive advice
        confidence = .5 + .5 (t - s) / t          of negative advice

    Its local calibration, their credibility, compares like with like, on the scale of probabilities: over
    equal-width bins b of the confidence on [.5, 1], the share of right advice r_b with the share that the
    scores predict, p_b, the mean of s where the advice is positive and of 1 - s where it is negative::

        local_b = 1 - |r_b - p_b|                       absolute_gap
        local_b = 1 - |r_b - p_b| / max(p_b, 1 - p_b)   gici: by the largest gap that there could be
        AdV = mean over cases of confidence x local_b = sum_b n_b / n c_b local_b,  c_b the mean confidence

    At t = .5, the only case that the papers have, the confidence is s or 1 - s, and p_b is c_b. At any t,
    advice is worth .5 at most where the score is at the threshold and 1 at most where it is 0 or 1; with
    calibrated scores AdV is the mean confidence.

    Estimand: the same in the population, with these bins.

    Parameters
    ----------
    local : {"absolute_gap", "gici"}
        How a gap is turned into a calibration.
    threshold : float in (0, 1)
        The score from which the advice is positive.
    known : optional
        `advised` of these cases at this threshold, where it is at hand already.

    Returns
    -------
    In [0, 1], 1 = always sure and always right, with the interval of `gap_bounds`; `details` hold the
    threshold and the least, the median and the greatest value of a piece of advice. NaN with a note
    without cases.

    Raises
    ------
    ValueError
        At a threshold that is not in (0, 1), where all advice is the same.

    Notes
    -----
    Sure and wrong, or unsure and right by as much, is discounted alike; read it beside the advice accuracy.
    Assumes that distance from the threshold counts in proportion on each side of it. As in the papers, advice
    of both classes shares the bins, so that errors of opposite sign may cancel. At a threshold other than .5
    a confidence is no probability of being right: positive advice at s = t = .2 has confidence .5 and is
    right in one case of five if the scores are calibrated.

    References
    ----------
    Cabitza, Campagner et al. (2023), HEALTHINF 2023, section 2.4 (advice value, advisory value).
    Cabitza, Campagner, Famiglini (2022), CD-MAKE, LNCS 13480 (local calibration of the GICI).
    Thresholds other than .5 and the interval (`gap_bounds`) are our own.

    Examples
    --------
    >>> truth, score = np.array([True, True, False, False]), np.array([0.9, 0.9, 0.4, 0.3])
    >>> round(advisory_value(truth, score).value, 4)
    0.6175
    >>> round(advisory_value(truth, score, threshold=0.2).value, 4)
    0.6141
    """
    known = known or advised(truth, score, bins, threshold=threshold)
    check_level(level)
    if not score.size:
        return undefined(0, notes.NO_CASE, level=level, method=BOUNDS)
    within, each = known.within, _values(known, local)
    total = known.confidence if known.further else within.total
    details = {
        "threshold": threshold,
        "mean_confidence": float(total.sum() / within.n.sum()),
        "share_right": float(within.events.sum() / within.n.sum()),
        "least": float(each.min()),
        "median": float(np.median(each)),
        "greatest": float(each.max()),
    }
    measure = _of_bins_gici if local == "gici" else _of_bins
    return gap_bounds(
        measure, within, known.place, known.right, known.predicted, cluster,
        further=known.further, level=level, details=details,
    )  # fmt: skip


def advice_values(
    truth: NDArray[np.bool_],
    score: Floats,
    *,
    bins: int = 10,
    local: Local = "absolute_gap",
    threshold: float = MIDDLE,
    cluster: Clusters | None = None,
    level: float = 0.95,
    known: Advised | None = None,
) -> tuple[AdviceBin, ...]:
    """The value of advice given with a certain confidence: confidence x local calibration, per bin.

    Parameters
    ----------
    truth, score, bins, local, threshold, cluster, level, known
        As in `advisory_value`.

    Returns
    -------
    tuple of AdviceBin
        For the bins that hold cases, the least sure first. The intervals follow from the Wilson interval of
        the share of right advice (with clusters, that of `clustered`), the mean confidence taken as it is;
        `n` counts the bin's cases.
    """
    known = known or advised(truth, score, bins, threshold=threshold)
    right, within, found = known.right, known.within, []
    for i, (n, events, confidence, predicted, low, high) in enumerate(
        zip(within.n, within.events, known.mean_confidence, within.mean_score, within.low, within.high)
    ):
        if not n:
            continue
        if cluster is None:
            share = wilson(int(events), int(n), level)
        else:
            inside = known.place == i
            cells = cluster_cells(np.ones(int(n), bool), right[inside], cluster[inside])
            share = clustered("sensitivity", cells, level=level)
        gaps = abs(share.low - float(predicted)), abs(share.high - float(predicted))
        least = 0.0 if share.low <= predicted <= share.high else min(gaps)
        most = max(float(predicted), float(1 - predicted)) if local == "gici" else 1.0
        trust, worst, best = (
            1 - gap / most for gap in (abs(share.value - float(predicted)), max(gaps), least)
        )
        calibration, value = (
            Estimate(by * trust, by * worst, by * best, int(n), level, share.method, share.note)
            for by in (1.0, float(confidence))
        )
        found.append(
            AdviceBin(float(low), float(high), float(confidence), float(predicted), share, calibration, value)
        )
    return tuple(found)


def _values(known: Advised, local: Local) -> Floats:
    trust = _local_of(known.within, local)
    return filled(len(known.place), lambda of: known.confidence[of] * trust[known.place[of]])


def _local_of(within: Bins, local: Local) -> Floats:
    """Local calibration of each bin, 1 in those without cases."""
    held = np.maximum(within.n, 1)
    gap = np.abs(within.events - within.total) / held
    if local == "gici":
        predicted = within.total / held
        gap = gap / np.where(within.n > 0, np.maximum(predicted, 1 - predicted), 1.0)
    return np.asarray(1 - gap, np.float64)


def _of_bins(n: Counts, events: Counts, total: Floats, confidence: Floats | None = None) -> Floats:
    held = np.maximum(n, 1)
    local = 1 - np.abs(events - total) / held
    value: Floats = ((total if confidence is None else confidence) * local).sum(axis=-1) / n.sum(axis=-1)
    return value


def _of_bins_gici(n: Counts, events: Counts, total: Floats, confidence: Floats | None = None) -> Floats:
    if confidence is None:  # confidence x (1 - gap / confidence) is the confidence less the gap
        worth = total - np.abs(events - total)
    else:
        most = np.maximum(np.maximum(total, n - total), np.finfo(np.float64).tiny)  # 0 in empty bins
        worth = confidence * (1 - np.abs(events - total) / most)
    value: Floats = worth.sum(axis=-1) / n.sum(axis=-1)
    return value
