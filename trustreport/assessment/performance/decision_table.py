"""Tables of decisions: of one candidate, of several on the same cases, published, and their differences.

Columns have the names and meanings of the R package dcurves, so that its users find what they know.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.measures import as_entries, pair
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.counts import ConfusionCounts, ThreeWayCounts
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.means import case_share
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.net_benefit import interventions_avoided, net_benefit_difference
from trustreport.measures.paired.difference import paired_shares
from trustreport.measures.roc.clustered import clustered_region_difference
from trustreport.measures.roc.difference import paired_difference, paired_region_difference
from trustreport.measures.standardized_net_benefit import snb_jackknife, snb_mover
from trustreport.study.plan import Confusion, Plan
from trustreport.study.study import Study
from trustreport.vocabulary import digits
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.quantity import DIFFERENCE
from trustreport.vocabulary.results import Result, within_range

ID = "advice_accuracy"
Strategy = Literal["all", "none", "device"]
PARAMETERS: dict[Strategy, dict[str, Any]] = {
    "all": {"strategy": "treat_all"},
    "none": {"strategy": "treat_none"},
    "device": {},
}


def decision_table_results(case: ScoredCases, thresholds: Sequence[float], level: float) -> list[Result]:
    """What the table needs beside net benefit: shares of positives, and the strategies that ask no device."""
    truth, score, cluster = case.acted_on
    results: list[Result] = []
    for threshold in thresholds:
        place = case.place.narrowed(threshold=threshold)

        def add(name: str, strategy: Strategy, found: Sequence[Estimate], place: Any = place) -> None:
            """Append the results of one quantity of a strategy at this threshold."""
            more: dict[str, Any] = {"parameters": PARAMETERS[strategy], "cases": case.key}
            results.extend(as_entries(f"{ID}.{name}", place, found, clustered=cluster is not None, **more))

        called = score >= threshold
        known = {"prevalence": float(truth.mean()) if truth.size else nan}
        for name, event in (
            ("true_positive_share", called & truth),
            ("false_positive_share", called & ~truth),
        ):
            alone = case_share(event, level=level)
            grouped = None if cluster is None else case_share(event, cluster=cluster, level=level)
            both = [replace(e, details={**e.details, **known}) for e in pair(alone, grouped)]
            add(name, "device", both)
        if threshold >= 1:
            continue
        for strategy, decision in (("device", called), ("none", np.zeros_like(called))):
            alone = interventions_avoided(truth, decision, threshold, level=level)
            grouped = None
            if cluster is not None:
                grouped = interventions_avoided(truth, decision, threshold, cluster=cluster, level=level)
            add("net_interventions_avoided", "none" if strategy == "none" else "device", pair(alone, grouped))
        everybody = np.full(truth.size, np.inf)
        alone = snb_mover(truth, everybody, threshold, level=level)
        grouped = (
            None if cluster is None else snb_jackknife(truth, everybody, threshold, cluster, level=level)
        )
        add("standardized_net_benefit", "all", pair(alone, grouped))
    return results


@dataclass(frozen=True)
class DecisionRow:
    """A strategy at a threshold on the cases of a data set that a candidate was given."""

    dataset: str
    candidate: str
    strategy: Strategy
    threshold: float
    n: int
    pos_rate: float
    tp_rate: float
    fp_rate: float
    net_benefit: Estimate
    standardized_net_benefit: float
    net_interventions_avoided: float


def decision_rows(results: Iterable[Result]) -> Iterator[DecisionRow]:
    """The rows of every data set, threshold after threshold within everybody, nobody and each candidate.

    Of candidates of one data set that were given the same cases, everybody and nobody come once.
    """
    found: dict[tuple[str, str, str], dict[float, dict[tuple[str, Strategy], Result]]] = {}
    for r in results:
        place = r.place
        whole = place.site is None and place.subgroup is None and place.dataset is not None
        if r.dimension == ID and r.primary and whole and place.threshold is not None:
            strategy = next((s for s, p in PARAMETERS.items() if p == dict(r.parameters)), None)
            if strategy is not None:
                there = found.setdefault((str(place.dataset), place.candidate or "", r.cases), {})
                there.setdefault(place.threshold, {})[r.name, strategy] = r
    asked: set[tuple[str, str]] = set()
    for (dataset, candidate, cases), by_threshold in found.items():
        strategies: tuple[Strategy, ...] = ("device",)
        if (dataset, cases) not in asked:
            strategies = ("all", "none", "device")
            asked.add((dataset, cases))
        for strategy in strategies:
            for threshold, of in by_threshold.items():
                if ("true_positive_share", "device") in of:
                    yield _row(dataset, candidate, strategy, threshold, of)


def _row(
    dataset: str,
    candidate: str,
    strategy: Strategy,
    threshold: float,
    of: dict[tuple[str, Strategy], Result],
) -> DecisionRow:
    def value(name: str) -> float:
        """The estimate of a quantity of this strategy; NaN where there is none."""
        r = of.get((name, strategy))
        return nan if r is None else r.estimate.value

    hits = of["true_positive_share", "device"].estimate
    share = float(hits.details.get("prevalence", nan))
    positives = round(share * hits.n) if hits.n else 0
    everybody = tuple(digits.share(k, hits.n) if hits.n else nan for k in (positives, hits.n - positives))
    rates: dict[Strategy, tuple[float, ...]] = {
        "all": everybody,
        "none": (0.0, 0.0),
        "device": (value("true_positive_share"), value("false_positive_share")),
    }
    benefit = of.get(("net_benefit", strategy))
    standardized = value("standardized_net_benefit")
    avoided = value("net_interventions_avoided")
    if strategy == "all":
        avoided = 0.0 if threshold else nan
    if strategy == "none" and share > 0:
        standardized = 0.0
    return DecisionRow(
        dataset,
        "" if strategy != "device" else candidate,
        strategy,
        threshold,
        hits.n,
        everybody[0],
        rates[strategy][0],
        rates[strategy][1],
        Estimate(nan, nan, nan, hits.n) if benefit is None else benefit.estimate,
        standardized,
        avoided,
    )


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions on cases whose truth is known: row and column of the utility of each case.

    Parameters
    ----------
    truth : (n_cases,)
    decision : (n_candidates, n_cases)
    """

    truth: NDArray[np.int64]
    decision: NDArray[np.int64]
    cluster: Clusters | None = None


def joint_decisions(name: str, candidates: Sequence[str], plan: Plan) -> dict[tuple[int, int], Decisions]:
    """The joint tables of a set, case by case, by the places of both candidates, the earlier first."""
    found = {}
    for one in plan.joint_decisions:
        if one.set == name and set(one.candidates) <= set(candidates):
            cells = np.array(one.by_truth, np.int64)
            truth, *both = (np.repeat(axis.ravel(), cells.ravel()) for axis in np.indices(cells.shape))
            first, second = (candidates.index(c) for c in one.candidates)
            order = (0, 1) if first < second else (1, 0)
            found[min(first, second), max(first, second)] = Decisions(truth, np.stack(both)[list(order)])
    return found


def difference(compared: ScoredCases, baseline: ScoredCases, name: str, level: float) -> Estimate:
    """The primary difference, compared minus baseline."""
    return differences(compared, baseline, name, level)[0]


def differences(
    compared: ScoredCases,
    baseline: ScoredCases,
    name: str,
    level: float,
    *,
    threshold: float | None = None,
) -> tuple[Estimate, ...]:
    """Every estimate of a difference, the primary one first; computed once for these cases.

    Parameters
    ----------
    compared, baseline : the same cases by two candidates (`in_common`)
    name : accuracy, sensitivity, specificity, failure_rate, auc, or net_benefit with its ``threshold``

    Raises
    ------
    ValueError : they are not the same cases
    """
    if not np.array_equal(compared.rows, baseline.rows):
        raise ValueError("the candidates are compared on different cases")
    at = ("difference", id(baseline), name, level, threshold)
    if at not in compared.memo:
        # The baseline is kept beside its estimates, so that no other may take its identity.
        row = quantity(f"{name}{DIFFERENCE}")
        made = _differences(compared, baseline, name, level, threshold)
        found = tuple(difference_in_range(e) if i == 0 else within_range(e, row) for i, e in enumerate(made))
        compared.memo[at] = (baseline, found)
    return compared.memo[at][1]


def _differences(
    compared: ScoredCases, baseline: ScoredCases, name: str, level: float, threshold: float | None
) -> Iterator[Estimate]:
    if name == "auc":
        yield from _areas(compared, baseline, level)
    elif name == "net_benefit":
        assert threshold is not None
        ours, theirs = _both_scored(compared, baseline)
        truth, one, cluster = ours.acted_on
        given = truth, one, theirs.acted_on[1], threshold
        if cluster is not None:
            yield net_benefit_difference(*given, cluster=cluster, level=level)
        yield net_benefit_difference(*given, level=level)
    else:
        yield _shares(compared, baseline, name, level)


def _both_scored(compared: ScoredCases, baseline: ScoredCases) -> tuple[ScoredCases, ScoredCases]:
    """The cases that have a score, or failed, by either."""
    both = (compared.scored | compared.failed) & (baseline.scored | baseline.failed)
    return compared.part(both), baseline.part(both)


def _areas(compared: ScoredCases, baseline: ScoredCases, level: float) -> Iterator[Estimate]:
    ours, theirs = _both_scored(compared, baseline)
    truth, one, cluster = ours.ranked
    other = theirs.ranked[1]
    if cluster is not None:
        yield clustered_region_difference(truth, one, other, cluster, level=level)
    else:
        yield paired_region_difference(truth, one, other, level=level)
    yield paired_difference(truth, one, other, level=level)


def _shares(compared: ScoredCases, baseline: ScoredCases, name: str, level: float) -> Estimate:
    truth = compared.truth
    of = MEASURES[name].cases(truth) if name in MEASURES else np.ones_like(truth)
    if name == "failure_rate":
        ours, theirs = compared.failed[of], baseline.failed[of]
    else:
        assert compared.decision is not None
        assert baseline.decision is not None
        ours, theirs = (compared.decision == truth)[of], (baseline.decision == truth)[of]
    cluster = None if compared.cluster is None else compared.cluster[of]
    return paired_shares(ours, theirs, cluster=cluster, level=level)


def counted_as_wrong(counts: Confusion, plan: Plan | None = None) -> ConfusionCounts:
    """A published table; indeterminate outputs count in every denominator: as declared, else as wrong."""
    rule = plan.operating_point.indeterminate_as if plan else None
    return three_way(counts).counted_as(rule or "wrong")


def place_of_counts(counts: Confusion) -> Place:
    """Where the numbers of a published table belong."""
    return Place(set=counts.set, candidate=counts.candidate)


def counts_of_candidates(study: Study, plan: Plan) -> Mapping[str, Mapping[str, ConfusionCounts]]:
    """The published tables that name a candidate, by set and candidate."""
    found: dict[str, dict[str, ConfusionCounts]] = {}
    for one in study.confusion:
        if one.candidate is not None:
            found.setdefault(one.set, {})[one.candidate] = counted_as_wrong(one, plan)
    return found


def three_way(counts: Confusion) -> ThreeWayCounts:
    """A published table with its indeterminate outputs as a third column."""
    third = counts.indeterminate_positives or 0, counts.indeterminate_negatives or 0
    return ThreeWayCounts(counts.tp, counts.fp, counts.fn, counts.tn, *third)
