"""Every number of advice accuracy: of published counts, and of the scores and decisions of a data set."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.narrative.texts import set_label
from trustreport.assessment.performance import weighted
from trustreport.assessment.performance.cases import ScoredCases, by_set, in_common
from trustreport.assessment.performance.decision_table import (
    counted_as_wrong,
    differences,
    place_of_counts,
    three_way,
)
from trustreport.assessment.performance.labels import corrected_measures, disagreement, latent_of
from trustreport.assessment.performance.measures import (
    as_entries,
    entries,
    lead,
    pair,
    relevance_and_thresholds,
    why_no_risk,
    without_interval,
)
from trustreport.assessment.performance.weighted import MEASURES as VERIFIED_MEASURES
from trustreport.assessment.performance.weighted import partly_verified
from trustreport.assessment.release.cuts import declared_thresholds as thresholds
from trustreport.measures.confusion.clustered import clustered
from trustreport.measures.confusion.counts import ConfusionCounts, ThreeWayCounts
from trustreport.measures.confusion.independent import at_prevalence, estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.net_benefit import treat_all, treat_none
from trustreport.measures.note import note
from trustreport.measures.roc.difference import auc_group, unpaired_difference
from trustreport.measures.seeds import generator
from trustreport.measures.standardized_net_benefit import weighted_utility
from trustreport.study.plan import Confusion, Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Study
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result, leading

ID = "advice_accuracy"
CELLS = ("tp", "fp", "fn", "tn")
# Thresholds of net benefit at each site of a set, where more are declared.
FEW_THRESHOLDS = 3
# Resamples behind the interval of a part of the ROC curve.
RESAMPLES = 2_000
SCENARIOS = ("all_positive", "all_negative")
SCENARIO_MEASURES = ("accuracy", "ppv", "npv", "f1", "threat_score", "mcc")
WITHOUT = {"indeterminate": "left out"}
PER_FRAME = note("every_finding_taken_as_seen_in")

ClusterCells = NDArray[np.int64]


def published(counts: Confusion, plan: Plan) -> Iterator[tuple[Place, ConfusionCounts, list[Result]]]:
    """A published table with its results; and per frame, where it is declared how many a finding has.

    Then tp and fn counted findings, each as one frame among all; now each has its frames, taken from the
    negative ones.
    """
    cells, place = counted_as_wrong(counts, plan), place_of_counts(counts)
    results = matrix_results(cells, place, plan)
    yield place, cells, results + indeterminate_results(three_way(counts), place, plan)
    k = counts.frames_per_finding
    if k:
        more = (k - 1) * cells.positives
        frames = ConfusionCounts(cells.tp * k, cells.fp, cells.fn * k, cells.tn - more)
        there = place.narrowed(set=f"{counts.set}, per frame")
        yield there, frames, matrix_results(frames, there, plan, shown=_of_frames)


def _of_frames(e: Estimate) -> Estimate:
    return e if e.method == "count" or np.isnan(e.value) else without_interval(e, PER_FRAME)


def matrix_results(
    counts: ConfusionCounts, place: Place, plan: Plan, shown: Callable[[Estimate], Estimate] = lambda e: e
) -> list[Result]:
    """The cells, every measure with its interval, and those that depend on it at declared prevalences."""
    level = plan.report.confidence_level

    def result(name: str, e: Estimate, **more: Any) -> Result:
        """A primary result of this table, its estimate written as `shown` has it."""
        return Result(f"{ID}.{name}", place, shown(e), primary=True, **more)

    results = [result(cell, e) for cell, e in cells_of(counts, level)]
    results += [result(name, estimated(measure, counts, level=level)) for name, measure in MEASURES.items()]
    for scenario, table, _ in _rules(counts, None):
        for name in SCENARIO_MEASURES:
            results.append(
                result(name, estimated(MEASURES[name], table, level=level), parameters={"scenario": scenario})
            )
    for share in declared_prevalences(plan):
        for name in by_prevalence():
            e = at_prevalence(name, counts, share, level=level)
            results.append(result(name, e, parameters={"prevalence": share}))
    return results


def cells_of(counts: ConfusionCounts, level: float) -> Iterator[tuple[str, Estimate]]:
    for cell in CELLS:
        n = getattr(counts, cell)
        yield cell, Estimate(n, n, n, counts.n, level, "count")


def by_prevalence() -> list[str]:
    """The measures of the four cells that depend on the prevalence."""
    return [name for name in MEASURES if quantity(name).by_prevalence]


def indeterminate_results(
    counts: ThreeWayCounts, place: Place, plan: Plan, cases: str = "", share: Estimate | None = None
) -> list[Result]:
    """The third column: how many cases of either class had no clear output, and what share that is.

    Of a published table also what the measures would be without them; of cases the `share` is given.
    """
    level = plan.report.confidence_level
    third = {name: getattr(counts, name) for name in ("indeterminate_positives", "indeterminate_negatives")}
    if not any(third.values()):
        return []
    share = share or counts.indeterminate(level=level)
    results = [Result(f"{ID}.indeterminate", place, share, primary=True, cases=cases)]
    for name, x in third.items():
        one = Estimate(x, x, x, share.n, level, "count")
        results.append(Result(f"{ID}.{name}", place, one, primary=True, cases=cases))
    if not cases:
        without = counts.counted_as("excluded")
        for name in ("accuracy", "sensitivity", "specificity"):
            e = estimated(MEASURES[name], without, level=level)
            results.append(Result(f"{ID}.{name}", place, e, parameters=WITHOUT, primary=True))
    return results


def declared_prevalences(plan: Plan) -> list[float]:
    """Prevalences at which the measures are wanted: the expected one, and the ends of a range."""
    found = [plan.expected_prevalence, *(plan.utility.prevalence_range or ())]
    if plan.site_context is not None:
        found.append(plan.site_context.local_prevalence)
    return sorted({share for share in found if share is not None and 0 < share < 1})


def _rules(
    counts: ConfusionCounts, cells: ClusterCells | None
) -> Iterator[tuple[str, ConfusionCounts, ClusterCells | None]]:
    """Rules that give every case the same answer, with their cells; none where the decisions do that."""
    if not counts.called_positive or not counts.called_negative:
        return
    tables = (
        ConfusionCounts(tp=counts.positives, fp=counts.negatives, fn=0, tn=0),
        ConfusionCounts(tp=0, fp=0, fn=counts.positives, tn=counts.negatives),
    )
    for scenario, table in zip(SCENARIOS, tables):
        of_rule = None
        if cells is not None:
            present, absent = cells[:, 0] + cells[:, 2], cells[:, 1] + cells[:, 3]
            none = np.zeros_like(present)
            called = (present, absent, none, none)
            of_rule = np.stack(called if scenario == SCENARIOS[0] else (called[2:] + called[:2]), axis=1)
        yield scenario, table, of_rule


def decision_results(case: ScoredCases, plan: Plan) -> list[Result]:
    """What the decisions of a data set, or of a site within one, come to: nothing where there are none."""
    counts, level = case.counts, plan.report.confidence_level
    if counts is None:
        return []
    results = [
        Result(f"{ID}.{cell}", case.place, e, primary=True, cases=case.key)
        for cell, e in cells_of(counts, level)
    ]
    for name in MEASURES:
        results += entries(f"{ID}.{name}", case, name, level)
    for scenario, table, cells in _rules(counts, case.cells):
        for name in SCENARIO_MEASURES:
            of_rule = None if cells is None else clustered(name, cells, level=level)
            results += as_entries(
                f"{ID}.{name}",
                case.place,
                pair(estimated(MEASURES[name], table, level=level), of_rule),
                clustered=cells is not None,
                parameters={"scenario": scenario},
                cases=case.key,
            )
    for share in declared_prevalences(plan):
        for name in by_prevalence():
            results += entries(f"{ID}.{name}", case, name, level, prevalence=share)
    third = case.three_way
    if third is not None:
        failures = lead(case, "failure_rate", level)
        results += indeterminate_results(third, case.place, plan, case.key, failures)
        for name in ("accuracy", "sensitivity", "specificity", *(("auc",) if case.score is not None else ())):
            results += entries(f"{ID}.{name}", case.decided, name, level, parameters=WITHOUT)
    return results


def corrected_results(case: ScoredCases, study: Study, plan: Plan) -> list[Result]:
    """Sensitivity and specificity of all decided cases, where verification depends on the decision."""
    found = partly_verified(case, study, plan)
    if found is None or not found.depends_on_decision:
        return []
    return [
        r
        for name in VERIFIED_MEASURES
        for r in as_entries(
            f"{ID}.corrected_{name}",
            case.place,
            found.corrected(name, plan.report.confidence_level),
            clustered=found.cluster is not None,
            cases=found.key,
        )
    ]


def weighted_results(case: ScoredCases, plan: Plan) -> list[Result]:
    """What the declared sampling weights are used for; nothing without a column of weights."""
    level = plan.report.confidence_level
    results = [
        Result(f"{ID}.weighted_{name}", case.place, e, primary=True, cases=case.key)
        for name, e in (*weighted.of_decisions(case, level), *weighted.of_ranks(case, level))
    ]
    for threshold in thresholds(plan):
        found = weighted.of_net_benefit(case, threshold, level)
        if found is not None:
            place = case.place.narrowed(threshold=threshold)
            results.append(Result(f"{ID}.weighted_net_benefit", place, found, primary=True, cases=case.key))
    return results


def label_results(case: ScoredCases, plan: Plan) -> list[Result]:
    """The measures corrected for the error of the labels, and what is known of the tests that make them."""
    found: list[tuple[str, Estimate, dict[str, Any]]] = [
        (f"label_corrected_{name}", e, {}) for name, e in corrected_measures(case, plan)
    ]
    apart, latent = disagreement(case, plan.report.confidence_level), latent_of(case, plan)
    if apart is not None:
        found.append(("reference_disagreement", apart, {}))
    for test, rates in zip(case.dataset.cases.tests, latent.references if latent else ()):
        for name, e in zip(("sensitivity", "specificity"), rates):
            found.append((f"reference_{name}", e, {"parameters": {"test": test}}))
    return [
        Result(f"{ID}.{name}", case.place, e, primary=True, cases=case.key, **at) for name, e, at in found
    ]


def score_results(
    case: ScoredCases, plan: Plan, *, at: Sequence[float] | None = None, resamples: int = RESAMPLES
) -> list[Result]:
    """Areas under the curves and net benefit of the scores of one data set.

    Net benefit at the declared thresholds, or `at` others; of parts of the curve by so many `resamples`.
    """
    if case.score is None:
        return _shared_results(case, plan)
    level, (truth, score, cluster) = plan.report.confidence_level, case.ranked
    results = entries(f"{ID}.auc", case, "auc", level)
    results += entries(f"{ID}.average_precision", case, "average_precision", level)
    for group in plan.operating_point.fpr_groups or ():
        drawn: dict[str, Any] = {
            "rng": generator(plan.similarity.seed, ID, "auc_group", str(case.place.scope), str(group)),
            "resamples": resamples,
            "level": level,
        }
        alone = auc_group(truth, score, group, **drawn)
        grouped = None if cluster is None else auc_group(truth, score, group, cluster=cluster, **drawn)
        results += as_entries(
            f"{ID}.auc_group",
            case.place,
            pair(alone, grouped),
            clustered=cluster is not None,
            parameters={"fpr": list(group)},
            cases=case.key,
        )
    wanted = thresholds(plan) if at is None else at
    for threshold in wanted if are_risks(case) else ():
        results += _at_threshold(case, threshold, level)
    return results


def _shared_results(case: ScoredCases, plan: Plan) -> list[Result]:
    """The same of what sites hand over: the area, and net benefit where their cells are known."""
    if case.shared is None:
        return []
    level = plan.report.confidence_level
    known = [threshold for threshold in thresholds(plan) if case.acted_at(threshold) is not None]
    at_each = [r for threshold in known for r in _at_threshold(case, threshold, level)]
    return [*entries(f"{ID}.auc", case, "auc", level), *at_each]


def _at_threshold(case: ScoredCases, threshold: float, level: float) -> list[Result]:
    """Net benefit of the scores and of acting on everybody and nobody; with weights of the cases too."""
    results = []
    for name in ("net_benefit", "standardized_net_benefit"):
        results += entries(f"{ID}.{name}", case, name, level, threshold=threshold)
    acted = case.acted_at(threshold)
    assert acted is not None
    truth, score, cluster = acted
    place = case.place.narrowed(threshold=threshold)

    def add(name: str, measure: Callable[..., Estimate], *given: Any, parameters: dict[str, Any]) -> None:
        """Results of a strategy at this threshold, with and without the clusters."""
        grouped = None if cluster is None else measure(*given, cluster=cluster, level=level)
        found = pair(measure(*given, level=level), grouped)
        more: dict[str, Any] = {"parameters": parameters, "cases": case.key}
        results.extend(as_entries(f"{ID}.{name}", place, found, clustered=cluster is not None, **more))

    if threshold < 1:
        add("net_benefit", treat_all, truth, threshold, parameters={"strategy": "treat_all"})
        nobody = treat_none(truth, level=level)
        strategy = {"strategy": "treat_none"}
        results.append(
            Result(f"{ID}.net_benefit", place, nobody, parameters=strategy, primary=True, cases=case.key)
        )
    weighing = None if case.score is None else relevance_and_thresholds(case, threshold)
    if weighing is not None:
        weights = [word for word in ("relevance", "case_threshold") if case.number(word) is not None]
        add("weighted_utility", weighted_utility, truth, score, *weighing, parameters={"weights": weights})
    return results


def are_risks(case: ScoredCases) -> bool:
    """Whether net benefit makes sense for the scores: it weighs errors by the risk at which one acts."""
    return case.score is not None and not why_no_risk(case)


def few_thresholds(plan: Plan) -> Sequence[float]:
    """Where net benefit of a site is wanted: as declared; of many the ends and the operating point."""
    declared = thresholds(plan)
    if len(declared) <= FEW_THRESHOLDS:
        return declared
    point = plan.risk_threshold
    return sorted({min(declared), max(declared), *(() if point is None else (point,))})


# With more candidates than this each is compared with the first only.
ALL_PAIRS_UP_TO = 5


def pairs(cases: Sequence[ScoredCases]) -> Iterator[tuple[ScoredCases, ScoredCases]]:
    """Candidates of one data set two by two, the later one compared with the earlier one."""
    for candidates in by_set(cases).values():
        every = len(candidates) <= ALL_PAIRS_UP_TO
        for baseline, compared in combinations(candidates, 2):
            if every or baseline is candidates[0]:
                yield compared, baseline


def place_of_pair(compared: ScoredCases, baseline: ScoredCases) -> Place:
    """Where the differences of two candidates belong."""
    names = (str(compared.place.candidate), str(baseline.place.candidate))
    return Place(dataset=compared.dataset.name, candidates=names)


def difference_results(compared: ScoredCases, baseline: ScoredCases, plan: Plan) -> list[Result]:
    """AUC difference, paired and as if of two groups, and net benefit difference at each threshold."""
    if compared.score is None or baseline.score is None:
        return []
    level, place = plan.report.confidence_level, place_of_pair(compared, baseline)
    ours, theirs = in_common((compared, baseline))
    id, cases = f"{ID}.auc_difference", ours.key
    found = differences(ours, theirs, "auc", level)
    analyses = ("paired", "delong") if ours.cluster is None else ("clustered", "paired")
    results = [
        Result(id, place, e, analysis=analysis, primary=i == 0, cases=cases)
        for i, (analysis, e) in enumerate(zip(analyses, found))
    ]
    apart = unpaired_difference(*compared.ranked[:2], *baseline.ranked[:2], level=level)
    results.append(Result(id, place, apart, analysis="two_sample", cases=cases))
    if are_risks(compared) and are_risks(baseline):
        for threshold in thresholds(plan):
            results += as_entries(
                f"{ID}.net_benefit_difference",
                place.narrowed(threshold=threshold),
                differences(ours, theirs, "net_benefit", level, threshold=threshold),
                clustered=ours.cluster is not None,
                cases=cases,
            )
    return results


@dataclass(frozen=True, slots=True)
class ResultView:
    """A published table, or a data set and candidate, with its results.

    `remarks` are printed with them, `role` is that of the data set; `labels_err` says that the truth is a
    label that is wrong at times.
    """

    name: str
    place: Place
    results: tuple[Result, ...]
    remarks: tuple[Message, ...] = ()
    role: str = ""
    labels_err: bool = False

    @property
    def label(self) -> Message | str:
        """How tables and figures name it."""
        return set_label(self.name, self.role)

    @property
    def developed_on(self) -> bool:
        """Whether the model was made with these cases."""
        return self.role in DEVELOPMENT_ROLES

    def lead(self, quantity: str) -> Result | None:
        """The primary entry of a quantity at the prevalence of the data."""
        return leading(self.results, f"{ID}.{quantity}", parameters=None, threshold=None)

    def estimate(self, quantity: str, **scope: Any) -> Estimate | None:
        """Its estimate; in another scope where one is named."""
        found = leading(self.results, f"{ID}.{quantity}", **scope) if scope else self.lead(quantity)
        return found.estimate if found else None
