"""What a site hands over of the scores of a candidate: estimates, sums, cells and bins."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.measures import estimates, why_no_risk
from trustreport.assessment.release.cuts import declared_thresholds
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.disclosure.cuts import class_bins, kept_cuts
from trustreport.measures.estimate import Estimate
from trustreport.measures.sites.shared import ScoreSums, SharedEstimate
from trustreport.study.plan import Plan
from trustreport.study.pooled.site_file import (
    ActedCells,
    CandidateScores,
    KeptAtSite,
    SharedBin,
    SharedSums,
    shared_number,
)

AT_THRESHOLD = ("net_benefit", "standardized_net_benefit")
OF_RISKS = ("brier", "oe_ratio", "calibration_intercept", "calibration_slope")
BESIDES = {"auc": ("delong", "obuchowski_clustered")}  # methods on which tests between sites rest
BINS, DIGITS = 60, 2  # bins of a class at most, decimals of their ends
FEW_VALUES = 50  # scores with fewer values than this are a table of their values


def scores_of(
    case: ScoredCases, plan: Plan, least: int, *, shares: bool
) -> tuple[CandidateScores, list[KeptAtSite]]:
    """What is handed over of the scores of one candidate on a data set, and which cuts are not.

    Where cases come in clusters, with the measures of the four cells unless these are withheld (`shares`).
    """
    clustered = case.cluster is not None
    named = [*(MEASURES if clustered and shares else ()), *(("auc",) if case.score is not None else ())]
    risks = case.score is not None and not why_no_risk(case)
    named += OF_RISKS if risks else ()
    named += AT_THRESHOLD if risks and clustered and shares and case.risk_threshold is not None else ()
    found = {name: shared for name in named if (shared := _shared(case, name))}
    sums = None
    if risks and not clustered:
        truth, risk, _ = case.with_scores
        sums = SharedSums(**_fields(ScoreSums.of_cases(truth, risk.astype(np.float64))))
    kept: list[float] = []
    withheld: list[KeptAtSite] = []
    acted: tuple[ActedCells, ...] = ()
    if risks and not clustered:  # cells without the clusters would make too narrow intervals
        kept, acted, withheld = _acted(case, plan, least)
    positives, negatives = _bins(case, kept, least) if case.score is not None else ((), ())
    scores = CandidateScores(
        estimates={name: tuple(map(shared_number, own)) for name, own in found.items()},
        sums=sums, acted=acted, positives=positives, negatives=negatives,
    )  # fmt: skip
    return scores, withheld


def _fields(sums: ScoreSums) -> dict[str, float]:
    return {name: getattr(sums, name) for name in sums.__dataclass_fields__}


def _shared(case: ScoredCases, name: str) -> tuple[SharedEstimate, ...]:
    """The primary estimate of a measure, and those on which tests rest."""

    def shared(place: int) -> SharedEstimate:
        """What is handed over of one of the estimates."""
        return SharedEstimate.from_estimates(lambda level: _made(case, name, level)[place])

    found = _made(case, name, 0.95)
    wanted = [0, *(i for i, e in enumerate(found) if i and e.method in BESIDES.get(name, ()))]
    return tuple(map(shared, wanted))


def _made(case: ScoredCases, name: str, level: float) -> Sequence[Estimate]:
    return estimates(case, name, level)


def wanted_thresholds(plan: Plan) -> list[float]:
    """The probabilities at which the four cells are wanted: those declared, and the operating point."""
    point = plan.risk_threshold
    return sorted({*declared_thresholds(plan), *(() if point is None else (point,))})


def _acted(
    case: ScoredCases, plan: Plan, least: int
) -> tuple[list[float], tuple[ActedCells, ...], list[KeptAtSite]]:
    """The four cells at each wanted probability that leaves no few cases between it and the next."""
    truth, risk, _ = case.acted_on
    wanted = [t for t in wanted_thresholds(plan) if 0 <= t <= 1]
    above = {
        k: np.array([int(np.count_nonzero(risk[truth == k] >= t)) for t in wanted]) for k in (True, False)
    }
    n1, n0 = int(truth.sum()), int((~truth).sum())
    must = [wanted.index(plan.risk_threshold)] if plan.risk_threshold in wanted else []
    chosen = kept_cuts(above[True], above[False], least, must, totals=(n1, n0))
    cells = tuple(
        ActedCells(threshold=wanted[i], cells=(tp, fp, n1 - tp, n0 - fp))
        for i in chosen.kept
        for tp, fp in [(int(above[True][i]), int(above[False][i]))]
    )
    left = [
        KeptAtSite(
            dataset=case.dataset.name, what="cut", name=f"{t:g}", candidate=case.candidate, reason="few_cases"
        )
        for i, t in enumerate(wanted)
        if i not in chosen.kept
    ]
    return [wanted[i] for i in chosen.kept], cells, left


def _bins(
    case: ScoredCases, cuts: Sequence[float], least: int
) -> tuple[tuple[SharedBin, ...], tuple[SharedBin, ...]]:
    """Bins of the scores of each class, in the direction that speaks for the condition.

    The cuts that are handed over are ends of bins, so that no two of these numbers part a few cases.
    """
    truth, score, _ = case.ranked
    low, high = case.risk_range or (0.0, 1.0)
    fixed = (
        [low + t * (high - low) for t in cuts] if case.risk_range is not None and not case.reversed else []
    )
    if case.threshold is not None:
        fixed.append(-case.threshold if case.reversed else case.threshold)
    positives, negatives = (
        _binned(np.sort(score[truth == k]), sorted(set(fixed)), least) for k in (True, False)
    )
    return positives, negatives


def _binned(score: NDArray[np.float64], fixed: Sequence[float], least: int) -> tuple[SharedBin, ...]:
    """Bins of ascending scores with at least `least` cases each; the fixed cuts are ends of bins."""
    n = len(score)
    if n < max(least, 1):
        return ()
    size = max(least, -(-n // BINS), 1)
    spread = float(score[-1] - score[0]) or 1.0
    digits = DIGITS - int(np.floor(np.log10(spread)))
    low, high = float(score[0]), float(score[-1])
    edges = [_outer(low, digits, 0)]
    for start, end in pairwise((-inf, *fixed, inf)):
        segment = score[np.searchsorted(score, start) : np.searchsorted(score, end)]
        edges += class_bins(segment, size, digits)[1:-1].tolist()
        edges += [end] if edges[0] < end < high else []
    edges.append(_outer(high, digits, 1))
    counts = np.diff(np.searchsorted(score, edges))
    return tuple(SharedBin(low=a, high=b, n=int(k)) for (a, b), k in zip(pairwise(edges), counts) if k)


def _outer(value: float, digits: int, side: int) -> float:
    """An end beyond all scores, coarse enough to say none of them."""
    step = 10.0 ** (1 - digits)
    return float(round((np.floor(value / step) + side) * step, max(digits, 0)))


def shows_values(case: ScoredCases, least: int) -> bool:
    """Whether the scores have so few values that sums of them would tell how many cases have one."""
    if case.score is None:
        return False
    truth, score, _ = case.ranked
    values, at = np.unique(score, return_inverse=True)
    if len(values) > FEW_VALUES:
        return False
    counts = np.bincount(2 * at.ravel() + truth, minlength=2 * len(values))
    return bool(((counts > 0) & (counts < least)).any())


def consistent_cells(scores: CandidateScores, cells: Mapping[str, int], threshold: float | None) -> bool:
    """Whether other cells than these agree with the area and the sums, so that they do not tell them.

    Only cells with the same classes are tried, one case more or less that is missed, or that is an alarm.

    Parameters
    ----------
    cells : tp, fp, fn, tn
    threshold : the probability from which cases are called positive; None where it is none
    """
    tp, fp, fn, tn = (cells[name] for name in ("tp", "fp", "fn", "tn"))
    others = [(tp + d, fp, fn - d, tn) for d in (1, -1)], [(tp, fp + d, fn, tn - d) for d in (1, -1)]
    return all(any(_agrees(scores, one, threshold) for one in some) for some in others)


def _agrees(scores: CandidateScores, cells: tuple[int, int, int, int], threshold: float | None) -> bool:
    tp, fp, fn, tn = cells
    if min(cells) < 0:
        return False
    area = scores.estimates.get("auc")
    if area and isfinite(area[0].value):
        pairs = (tp + fn) * (fp + tn)
        if area[0].value * pairs < tp * tn - 1e-6 or (1 - area[0].value) * pairs < fn * fp - 1e-6:
            return False
    s, t = scores.sums, threshold
    if s is None or t is None:
        return True
    least, most = fn * (1 - t) ** 2 + fp * t * t, fn + tp * (1 - t) ** 2 + fp + tn * t * t
    return (
        least <= s.squares <= most
        and t * tp <= s.hits <= tp + t * fn
        and (t * (tp + fp) <= s.expected <= tp + fp + t * (fn + tn))
    )
