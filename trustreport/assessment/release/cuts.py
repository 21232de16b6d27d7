"""The thresholds at which a public report may show a curve of a data set."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.keys import closed
from trustreport.measures.calibration.bins import Bins
from trustreport.measures.disclosure.cuts import kept_cuts
from trustreport.study.plan import Plan
from trustreport.study.study import Floats

MOST = 400  # cut points that are tried
HUNDREDTHS = np.arange(1, 100) / 100


def declared_thresholds(plan: Plan) -> Sequence[float]:
    """Where net benefit is wanted: the declared list, else the operating point and the ends of a range."""
    if plan.utility.thresholds:
        return plan.utility.thresholds
    point = plan.risk_threshold
    return sorted({*(plan.utility.threshold_range or ()), *(() if point is None else (point,))})


def public_cuts(case: ScoredCases, plan: Plan, least: int) -> Floats:
    """Return thresholds of which all counts may be published together, ascending; no others may be shown.

    Of risks they are hundredths, and the thresholds declared where that is possible; of other scores some of
    the scores. Between two of them, and between one and the operating point, each class has no case or at
    least `least`.
    """
    truth, score = ordered(case)
    at = HUNDREDTHS if case.risk is not None else np.unique(score[np.isfinite(score)])
    if len(at) > MOST:
        at = np.unique(np.quantile(at, np.linspace(0, 1, MOST), method="nearest"))
    wished = list(declared_thresholds(plan)) if case.risk is not None else []
    own = plan.threshold_of(case.candidate) if case.by_threshold else None
    if own is not None and case.risk is not None and case.risk_range is not None:
        low, high = case.risk_range
        own = (own - low) / (high - low)
    if own is not None and case.reversed and case.risk is None:
        own = -own
    wished = [own, *wished] if own is not None else wished
    at = np.unique(np.concatenate((at, wished)))
    counts = [_at_or_above(score[truth == present], at) for present in (True, False)]
    totals = int(truth.sum()), int((~truth).sum())
    must = [int(np.searchsorted(at, t)) for t in wished]
    found = kept_cuts(counts[0], counts[1], least, must, totals=totals)
    kept = [
        i
        for i in found.kept
        if own is None or at[i] == own or _fits_operating_point(i, must[0], counts, totals, least)
    ]
    return np.asarray(at[kept])


def ordered(case: ScoredCases) -> tuple[NDArray[np.bool_], Floats]:
    """Truth and score of the cases, as thresholds meet them: risks where scores are such."""
    truth, score, _ = case.ranked if case.risk is None else case.acted_on
    return truth, score


def _at_or_above(score: Floats, at: Floats) -> NDArray[np.intp]:
    return len(score) - np.searchsorted(np.sort(score), at, side="left")


def _fits_operating_point(
    i: int, own: int, counts: Sequence[NDArray[np.intp]], totals: Sequence[int], least: int
) -> bool:
    """Whether a cut may be shown beside the classes of the operating point whose cells are published."""
    return all(
        closed((count[own], total - count[own]), least) or not 0 < abs(int(count[i] - count[own])) < least
        for count, total in zip(counts, totals)
    )


def public_roc(case: ScoredCases, plan: Plan, least: int) -> tuple[Floats, Floats]:
    """Return false and true positive rate at the thresholds that may be shown, from (0, 0) to (1, 1)."""
    truth, score = ordered(case)
    at = public_cuts(case, plan, least)[::-1]
    fpr, tpr = (
        _at_or_above(score[truth == present], at) / (truth == present).sum() for present in (False, True)
    )
    return np.concatenate(([0.0], fpr, [1.0])), np.concatenate(([0.0], tpr, [1.0]))


def public_bins(case: ScoredCases, plan: Plan, least: int) -> Bins:
    """Return bins of the probabilities between the thresholds that may be shown.

    Other curves show the same thresholds, so no point of theirs parts a bin. No bin is returned where cases
    failed or one of them would be small.
    """
    truth, score, _ = case.with_scores
    kept = public_cuts(case, plan, least) if case.complete else np.array([])
    edges = np.unique(np.concatenate(([0.0], kept, [1.0])))
    of = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
    n, events = (np.bincount(some, minlength=len(edges) - 1) for some in (of, of[truth]))
    total = np.bincount(of, weights=score, minlength=len(edges) - 1).astype(np.float64)
    few_failed = closed((int((case.truth == t).sum() - (truth == t).sum()) for t in (True, False)), least)
    if few_failed or any(
        closed((int(present), int(cases - present)), least) for cases, present in zip(n, events)
    ):
        return Bins(n[:0], events[:0], total[:0], edges[:0], edges[:0])
    return Bins(n, events, total, edges[:-1], edges[1:])
