"""Each quantity of scored cases, estimated once: the one place where its primary interval is chosen.

The first estimate of a quantity is the primary one. Where cases come in clusters it respects them, and the
interval that takes cases as independent is beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Any

import numpy as np

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.measures import notes
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import cluster_cells, clustered, korn_graubard
from trustreport.measures.confusion.independent import at_prevalence, estimated
from trustreport.measures.confusion.measure import CaseShare
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.monitoring import change
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.proportion import clopper_pearson, wilson
from trustreport.measures.score_measure import SCORES, ScoreMeasure
from trustreport.measures.sites.shared import CLUSTERS_NOT_SHARED, NOT_SHARED, SharedScores
from trustreport.study.clusters import clusters_of, clusters_over
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Floats
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result, estimate_of, within_range

NO_DECISION = note("no_decisions_and_no_operating_point")
NO_SCORE = note("no_scores")
NO_SCORE_OF_CASES = note("no_case_has_score")
NO_THRESHOLD = note("no_operating_point_declared")
NOT_RISKS = note("scores_not_all_within_0_and")
NO_PROBABILITIES = note("scores_declared_to_be_no_probabilities")
NO_WEIGHTS = note("no_column_relevance_or_case_threshold")
# The cases of a measure of scores, by what it needs.
PARTS = {"scores": "ranked", "risks": "with_scores", "threshold": "acted_on", "relevance": "acted_on"}
REVERSED = note("lower_score_speaks_for_condition_no")


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
    if right := quantity(name).left_of:
        return [complement(e) for e in estimates(case, right, level)]
    if name == "failure_rate":
        return [_failures(case, level)]
    if name in SCORES:
        return _of_scores(case, SCORES[name], level, **chosen)
    raise LookupError(f"scored cases have no {name}")


def complement(e: Estimate) -> Estimate:
    """One minus a share."""
    return replace(e, value=1 - e.value, low=1 - e.high, high=1 - e.low, note=notes.mirrored(e.note))


def why_no_risk(case: ScoredCases) -> Note:
    """Why the scores cannot be read as probabilities, or nothing."""
    if "why_no_risk" not in case.memo:
        case.memo["why_no_risk"] = _why_no_risk(case)
    found: Note = case.memo["why_no_risk"]
    return found


def _why_no_risk(case: ScoredCases) -> Note:
    if case.score is None:
        return NO_SCORE
    if case.reversed:
        return REVERSED
    if case.risk is None:
        return NO_PROBABILITIES
    used = case.with_scores[1]
    return NOT_RISKS if used.size and (used.min() < 0 or used.max() > 1) else NO_NOTE


def _of_cells(case: ScoredCases, name: str, level: float, prevalence: float | None = None) -> list[Estimate]:
    counts, cells = case.counts, case.cells
    if case.shared is not None and case.shared.clusters:
        return _of_shared_clusters(case, case.shared, name, level, prevalence)
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


def _of_scores(
    case: ScoredCases, measure: ScoreMeasure, level: float, threshold: float | None = None
) -> Sequence[Estimate]:
    at = case.risk_threshold if threshold is None else threshold
    if case.score is None and case.shared is not None:
        return _of_shared(case, case.shared, measure, level, at)
    needs, n = measure.needs, len(case)
    more: tuple[Any, ...] = ()
    if needs == "scores":
        why = NO_NOTE if case.score is not None else NO_SCORE
        if not why and not case.ranked[0].size:
            why, n = NO_SCORE_OF_CASES, 0
    else:
        why = why_no_risk(case) or (NO_THRESHOLD if needs != "risks" and at is None else NO_NOTE)
        if needs == "threshold":
            more = (at,)
        elif needs == "relevance" and not why:
            assert at is not None
            more = relevance_and_thresholds(case, at) or ()
            why = NO_NOTE if more else NO_WEIGHTS
    if why:
        n = int(np.count_nonzero(case.scored)) if needs == "risks" else n
        return [undefined(n, why, level=level, method=measure.primary)]
    truth, score, cluster = getattr(case, PARTS[needs])
    given: dict[str, Any] = {"cluster": cluster, "intervals": measure.intervals, "level": level}
    if needs == "scores":
        given["order"] = case.ranked_order
    return measure.function()(truth, score, *more, **given)


def _of_shared_clusters(
    case: ScoredCases, shared: SharedScores, name: str, level: float, prevalence: float | None
) -> list[Estimate]:
    """A measure of the four cells where the clusters of the cases stay at their sites.

    Of a site it is its own; of all sites, or of another prevalence, nothing tells the interval.
    """
    if prevalence is None and not shared.whole:
        return list(shared.estimate(name, len(case), level))
    if case.counts is None:
        return [undefined(len(case), NO_DECISION, level=level, method="wilson")]
    if prevalence is None:
        e = estimated(MEASURES[name], case.counts, level=level)
    else:
        e = at_prevalence(name, case.counts, prevalence, level=level)
    return [without_interval(e, CLUSTERS_NOT_SHARED)]


def _of_shared(
    case: ScoredCases, shared: SharedScores, measure: ScoreMeasure, level: float, at: float | None
) -> Sequence[Estimate]:
    """A measure of scores that stay at their sites, of what these hand over."""
    if measure.needs != "threshold" or (shared.clusters and at == case.risk_threshold):
        return shared.estimate(measure.id, len(case), level)
    acted = None if at is None else case.acted_at(at)
    if at is None or acted is None:
        why = NO_THRESHOLD if at is None else NOT_SHARED
        return [undefined(len(case), why, level=level, method=measure.primary)]
    truth, called, _ = acted
    return measure.function()(truth, called, at, cluster=None, intervals=measure.intervals, level=level)


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


def without_interval(e: Estimate, why: Note) -> Estimate:
    """An estimate whose interval is left out, and why."""
    return replace(e, low=nan, high=nan, se=nan, p=nan, note=e.note + why)


CLUSTERED = "clustered"


def entries(id: str, case: ScoredCases, name: str, level: float, **more: Any) -> list[Result]:
    """Every estimate of a quantity as an entry; `more`: ``prevalence`` or ``threshold``, and its fields."""
    chosen = {key: more.pop(key) for key in ("prevalence", "threshold") if key in more}
    place = more.pop("place", case.place)
    if "threshold" in chosen:
        place = place.narrowed(threshold=chosen["threshold"])
    if "prevalence" in chosen:
        more["parameters"] = {**more.get("parameters", {}), "prevalence": chosen["prevalence"]}
    found = estimates(case, name, level, **chosen)
    return as_entries(id, place, found, clustered=case.cluster is not None, cases=case.key, **more)


def as_entries(
    id: str, place: Place, found: Sequence[Estimate], *, clustered: bool, **more: Any
) -> list[Result]:
    """Estimates as entries, the first one primary; of clustered cases each says whether it respects them."""
    grouped = clustered and len(found) > 1
    return [
        Result(
            id, place, e, primary=i == 0,
            analysis=CLUSTERED if grouped and (i == 0 or "clusters" in e.details) else "", **more,
        )
        for i, e in enumerate(found)
    ]  # fmt: skip


def each_alone(case: ScoredCases, part: ScoredCases) -> dict[str, bool]:
    """That every case of a part is a cluster of its own, where cases of the whole are not."""
    return {"each_case_a_cluster": True} if case.cluster is not None and part.cluster is None else {}


def pair(alone: Estimate, in_clusters: Estimate | None) -> list[Estimate]:
    """The estimate that respects clusters, where there are any, before that of independent cases."""
    return [alone] if in_clusters is None else [in_clusters, alone]


@dataclass(frozen=True, eq=False)
class Matched:
    """The clusters of two data sets, (n_cases,) each: the same number for the same cluster in both.

    `known` is False where a set has clusters by a key that the other set lacks, so that nobody knows which
    clusters are in both.
    """

    one: Clusters
    other: Clusters
    known: bool = True

    @property
    def any(self) -> bool:
        """Whether a cluster is in both sets."""
        return bool(np.intersect1d(self.one, self.other).size)


def matched(one: Dataset, other: Dataset, plan: Plan) -> Matched:
    """The clusters of two data sets, which are matched by their names in the keys that both have."""
    first, second = clusters_over((one, other), plan)
    ours, theirs = (set(clusters_of(dataset, plan).keys) for dataset in (one, other))
    return Matched(first, second, known=bool(ours & theirs) or not (ours or theirs))


def influence(case: ScoredCases, name: str) -> Floats | None:
    """What each case adds to a quantity, (n,), up to a factor of the set; None where that is not known."""
    name = quantity(name).left_of or name
    if name == "failure_rate":
        return change.of_share(case.failed)
    if name in MEASURES:
        return None if case.decision is None else change.of_cells(name, case.truth, case.decision)
    measure = SCORES.get(name)
    of = measure.influence_of() if measure else None
    if measure is None or of is None or case.score is None:
        return None
    at = (case.risk_threshold,) if measure.needs == "threshold" else ()
    if None in at or (measure.needs != "scores" and case.risk is None):
        return None
    truth, score, _ = getattr(case, PARTS[measure.needs])
    found = np.zeros(len(case))
    found[case.scored if measure.needs == "risks" else case.scored | case.failed] = of(truth, score, *at)
    return found


def worst_of(
    parts: Sequence[tuple[str, ScoredCases]], name: str, level: float
) -> tuple[str, ScoredCases, Estimate] | None:
    """The part in which a measure is worst; None where fewer than two have a value.

    The primary method of the measure, the exact one for a share (the score interval of one share falls short
    where the worst of several small parts is chosen), each of the k parts at the level of Sidak::

        level ^ (1 / k)

    so that with the given probability all k intervals hold their values, the one of the worst among them,
    whichever that is. Of normal estimates it is at least that, however they are correlated (groups overlap).

    Returns
    -------
    name, cases, Estimate
        `details` hold the number of parts and the level of each; `level` is that of all together.

    References
    ----------
    Sidak (1967), J. Am. Stat. Assoc. 62, 626-633.
    """
    known = [
        (e.value, label, case) for label, case in parts if isfinite((e := lead(case, name, level)).value)
    ]
    if len(known) < 2:
        return None
    k, down = len(known), quantity(name).better == "down"
    _, label, case = min(known, key=lambda one: (-one[0] if down else one[0], one[1]))
    each = level ** (1 / k)
    e = lead(case, name, each)
    if e.method == "wilson":
        e = clopper_pearson(round(e.value * e.n), e.n, level=each)
    elif e.method == CaseShare.word:
        e = korn_graubard(e)
    said = e.note + note("limits_hold_for_all_at_once", k=k)
    details = {**e.details, "of": float(k), "level_of_each": each}
    found = replace(e, level=level, p=nan, note=said, details=details)
    return label, case, within_range(found, quantity(name))
