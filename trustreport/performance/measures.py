"""Each quantity of scored cases, estimated once: the one place where its primary interval is chosen.

The first estimate of a quantity is the primary one. Where cases come in clusters it respects them, and the
interval that takes cases as independent is beside it.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from trustreport.estimate import Estimate, undefined
from trustreport.measures import notes
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.independent import at_prevalence, estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.proportion import wilson
from trustreport.measures.score_measure import SCORES, ScoreMeasure
from trustreport.performance.cases import ScoredCases
from trustreport.quantities import quantity
from trustreport.results import estimate_of
from trustreport.study import Floats

NO_DECISION = "no decisions, and no operating point that would make them"
NO_SCORE = "no scores"
NO_SCORE_OF_CASES = "no case has a score"
NO_THRESHOLD = "no operating point is declared"
NOT_RISKS = "the scores are not all within 0 and 1: they are no probabilities"
NO_PROBABILITIES = "the scores are declared to be no probabilities"
NO_WEIGHTS = "no column relevance or case_threshold is declared"
REVERSED = "a lower score speaks for the condition: it is no probability of it"


def lead(case: ScoredCases, name: str, level: float, **chosen: Any) -> Estimate:
    """The primary estimate of a quantity; undefined with its reason where these cases do not yield it.

    Parameters
    ----------
    name : a quantity of these cases: any of the four cells, or of the scores
    chosen : ``prevalence`` of a measure of the four cells, ``threshold`` of net benefit
    """
    return estimates(case, name, level, **chosen)[0]


def estimates(case: ScoredCases, name: str, level: float, **chosen: Any) -> tuple[Estimate, ...]:
    """Every estimate of a quantity, the primary one first; computed once for these cases.

    Raises
    ------
    LookupError : scored cases have no such quantity
    """
    at = (name, level, *sorted(chosen.items()))
    if at not in case.memo:
        row = quantity(name)
        case.memo[at] = tuple(estimate_of(e, row) for e in _estimates(case, name, level, **chosen))
    return case.memo[at]


def _estimates(case: ScoredCases, name: str, level: float, **chosen: Any) -> Sequence[Estimate]:
    if name in MEASURES:
        return _of_cells(case, name, level, **chosen)
    if name == "error_rate":
        return [complement(e) for e in estimates(case, "accuracy", level)]
    if name == "failure_rate":
        return [_failures(case, level)]
    if name in SCORES:
        return _of_scores(case, SCORES[name], level, **chosen)
    raise LookupError(f"scored cases have no {name}")


def complement(e: Estimate) -> Estimate:
    """One minus a share."""
    return replace(e, value=1 - e.value, low=1 - e.high, high=1 - e.low, note=notes.mirrored(e.note))


def why_no_risk(case: ScoredCases) -> str:
    """Why the scores cannot be read as probabilities, or nothing."""
    if "why_no_risk" not in case.memo:
        case.memo["why_no_risk"] = _why_no_risk(case)
    return str(case.memo["why_no_risk"])


def _why_no_risk(case: ScoredCases) -> str:
    if case.score is None:
        return NO_SCORE
    if case.reversed:
        return REVERSED
    if case.risk is None:
        return NO_PROBABILITIES
    used = case.with_scores[1]
    return NOT_RISKS if used.size and (used.min() < 0 or used.max() > 1) else ""


# ---------------------------------------------------------------- the four cells


def _of_cells(case: ScoredCases, name: str, level: float, prevalence: float | None = None) -> list[Estimate]:
    counts, cells = case.counts, case.cells
    if counts is None:
        return [undefined(len(case), NO_DECISION, level=level, method="wilson")]
    if prevalence is None:
        alone = estimated(MEASURES[name], counts, level=level)
    else:
        alone = at_prevalence(name, counts, prevalence, level=level)
    if cells is None:
        return [alone]
    return [clustered(name, cells, prevalence=prevalence, level=level), alone]


def _failures(case: ScoredCases, level: float) -> Estimate:
    """The share of cases without a usable output, with the counts on which a comparison rests."""
    if case.cluster is None:
        e = wilson(case.n_failed, len(case), level)
    else:
        cells = cluster_cells(np.ones(len(case), bool), case.failed, case.cluster)
        e = clustered("sensitivity", cells, level=level)
    counted = {"failed": case.n_failed, "not_run": case.n_not_given, "known": case.n_counted}
    return replace(e, details={**e.details, **{k: float(n) for k, n in counted.items()}})


# ---------------------------------------------------------------- scores


def _of_scores(
    case: ScoredCases, measure: ScoreMeasure, level: float, threshold: float | None = None
) -> Sequence[Estimate]:
    at = case.risk_threshold if threshold is None else threshold
    needs, n = measure.needs, len(case)
    more: tuple[Any, ...] = ()
    if needs == "scores":
        why = "" if case.score is not None else NO_SCORE
        if not why and not case.ranked[0].size:
            why, n = NO_SCORE_OF_CASES, 0
    else:
        why = why_no_risk(case) or (NO_THRESHOLD if needs != "risks" and at is None else "")
        if needs == "threshold":
            more = (at,)
        elif needs == "relevance" and not why:
            assert at is not None
            more = relevance_and_thresholds(case, at) or ()
            why = "" if more else NO_WEIGHTS
    if why:
        n = int(np.count_nonzero(case.scored)) if needs == "risks" else n
        return [undefined(n, why, level=level, method=measure.primary)]
    part = {"scores": "ranked", "risks": "with_scores"}.get(needs, "acted_on")
    truth, score, cluster = getattr(case, part)
    given: dict[str, Any] = {"cluster": cluster, "intervals": measure.intervals, "level": level}
    if needs == "scores":
        given["order"] = case.ranked_order
    return measure.function()(truth, score, *more, **given)


def relevance_and_thresholds(case: ScoredCases, threshold: float) -> tuple[Floats, Floats] | None:
    """The threshold and the relevance of each case that a threshold meets; None where neither is declared.

    A case without a threshold of its own has this one; one without a relevance, none where others have one.
    """
    relevance, own = case.number("relevance"), case.number("case_threshold")
    if relevance is None and own is None:
        return None
    of = case.scored | case.failed
    n = int(np.count_nonzero(of))
    weight = np.ones(n) if relevance is None else np.nan_to_num(relevance[of], nan=0.0)
    at = np.full(n, threshold)
    if own is not None:
        at = np.where(np.isnan(own[of]), threshold, own[of])
    return at, weight


def without_interval(e: Estimate, why: str) -> Estimate:
    """An estimate whose interval is left out, and why."""
    return replace(e, low=nan, high=nan, se=nan, p=nan, note="; ".join(filter(None, (e.note, why))))
