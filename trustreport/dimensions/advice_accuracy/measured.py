"""Every number of advice accuracy: of published counts, and of the scores and decisions of a data set."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.advice_accuracy.clusters import clustering
from trustreport.dimensions.ripe import ripe
from trustreport.estimate import Estimate
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.at_prevalence import DEPEND_ON_PREVALENCE, at_prevalence
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.counts import ConfusionCounts, ThreeWayCounts
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.net_benefit import (
    net_benefit,
    standardized_net_benefit,
    treat_all,
    treat_none,
    weighted_utility,
)
from trustreport.measures.roc.auc import delong, logit_delong, newcombe_auc
from trustreport.measures.roc.average_precision import logit_influence
from trustreport.measures.roc.clustered import clustered_auc
from trustreport.measures.roc.group import auc_group
from trustreport.plan import Confusion, Plan
from trustreport.results import Result, Unit, answers, possible
from trustreport.seeds import generator
from trustreport.study import Dataset, Floats, Scores, Study

ID = "advice_accuracy"
CELLS = ("tp", "fp", "fn", "tn")
RATIOS = ("lr_positive", "lr_negative", "diagnostic_odds_ratio")
SCORES = ("mcc", "youden_j", "cohen_kappa")
# A class with fewer cases than this gives the interval on the logit scale the lead.
FEW_OF_A_CLASS = 30
# Thresholds of net benefit at each site of a set, where more are declared.
FEW_THRESHOLDS = 3
# Resamples behind the interval of a part of the ROC curve.
RESAMPLES = 2_000
SCENARIOS = ("all_positive", "all_negative")
SCENARIO_MEASURES = ("accuracy", "ppv", "npv", "f1", "threat_score", "mcc")


@dataclass(frozen=True, eq=False)
class Undecided:
    """Cases of known truth without an output: their truth, their clusters, and how the rule counts them."""

    truth: NDArray[np.bool_]
    cluster: Clusters | None
    counted: Literal["wrong", "positive", "negative"]

    @property
    def decision(self) -> NDArray[np.bool_]:
        """What each counts as."""
        if self.counted == "wrong":
            return ~self.truth
        return np.full(self.truth.shape, self.counted == "positive")


@dataclass(frozen=True, eq=False)
class Judged:
    """What a candidate said of the cases of a data set whose truth is known, (n_cases,) each.

    `known` (all cases of the set,) says which those are; `cluster` which of them belong together, None where
    each stands alone. `undecided` are cases without an output that the declared rule counts. `unripe` (all
    cases of the set,) are those too young for their truth to count, None where nothing is left out.
    """

    scope: Mapping[str, Any]
    dataset: Dataset
    truth: NDArray[np.bool_]
    score: Floats | None
    decision: NDArray[np.bool_] | None
    threshold: float | None
    known: NDArray[np.bool_]
    by_threshold: bool = False
    reversed: bool = False
    cluster: Clusters | None = None
    undecided: Undecided | None = None
    unripe: NDArray[np.bool_] | None = None

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Cases of a truth that counts without an output, (all cases of the set,)."""
        of_truth = self.dataset.cases.truth >= 0
        return np.asarray((of_truth if self.unripe is None else of_truth & ~self.unripe) & ~self.known)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The cases of the set that the four cells count, in the order of `with_undecided`."""
        known = np.flatnonzero(self.known)
        return known if self.undecided is None else np.concatenate([known, np.flatnonzero(self.silent)])

    @property
    def suspicion(self) -> Floats | None:
        """The score turned so that higher speaks for the condition."""
        return -self.score if self.reversed and self.score is not None else self.score

    def number(self, word: str) -> Floats | None:
        """What else was said of the judged cases under a word (relevance ...), NaN where nothing was."""
        found = self.dataset.cases.numbers.get(word)
        return None if found is None else found[self.known]

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        candidate = self.scope.get("candidate")
        return f"{self.scope['dataset']}, {candidate}" if candidate else str(self.scope["dataset"])


def judged(dataset: Dataset, study: Study, plan: Plan) -> Iterator[Judged]:
    """Each candidate's scores and decisions; a decision is a score of at least the declared threshold.

    Where a lower score speaks for the condition it is a score of at most that. Cases of a period that are too
    young for their truth are left out.
    """
    if len(dataset.cases.classes) != 2:
        return
    cluster = clustering(dataset, plan).of_case
    old_enough = ripe(dataset, study, plan)
    for candidate, scores in dataset.scores.items():
        scope = {"dataset": dataset.name, **({"candidate": candidate} if len(dataset.scores) > 1 else {})}
        has_truth = (dataset.cases.truth >= 0) & old_enough
        known = has_truth
        score = _binary_score(scores)
        if score is not None:
            known = known & ~np.isnan(score)
        elif scores.decision is not None:
            known = known & (scores.decision >= 0)
        if score is None and scores.decision is None:
            continue
        threshold = plan.operating_point.threshold
        below = plan.operating_point.score_direction == "lower_is_positive"
        decision, by_threshold = None, False
        if scores.decision is not None:
            known = known & (scores.decision >= 0)
            decision = scores.decision[known] == 1
        elif score is not None and threshold is not None:
            decision, by_threshold = score[known] <= threshold if below else score[known] >= threshold, True
        silent, rule = has_truth & ~known, plan.operating_point.indeterminate_as
        yield Judged(
            scope,
            dataset,
            dataset.cases.truth[known] == 1,
            score[known] if score is not None else None,
            decision,
            threshold,
            known,
            by_threshold,
            below,
            None if cluster is None else cluster[known],
            Undecided(dataset.cases.truth[silent] == 1, None if cluster is None else cluster[silent], rule)
            if rule and silent.any()
            else None,
            None if old_enough.all() else ~old_enough,
        )


def _binary_score(scores: Scores) -> Floats | None:
    if scores.score is None and scores.class_scores is not None and scores.class_scores.shape[1] == 2:
        return scores.class_scores[:, 1]
    return scores.score


def counts_of(case: Judged) -> ConfusionCounts | None:
    """The four cells, where there are decisions; undecided cases as the declared rule counts them."""
    if case.decision is None:
        return None
    truth, decision, _ = with_undecided(case)
    cells = np.bincount(2 * truth + decision, minlength=4)
    return ConfusionCounts(tp=int(cells[3]), fp=int(cells[1]), fn=int(cells[2]), tn=int(cells[0]))


def lead_of(name: str, case: Judged, plan: Plan) -> Estimate | None:
    """A measure of the confusion matrix with the interval that leads; None where there are no decisions."""
    counts, cells, level = counts_of(case), cells_of_clusters(case), plan.report.confidence_level
    if counts is None:
        return None
    e = _clustered(name, cells, level) or MEASURES[name](counts, level=level)
    return possible(e, unit_of(name))


def cells_of_clusters(case: Judged, *, decided: bool = False) -> NDArray[np.int64] | None:
    """The four cells of each cluster, (n_clusters, 4), where there are any; `decided`: of decided cases."""
    truth, decision, cluster = with_undecided(replace(case, undecided=None) if decided else case)
    return None if cluster is None or case.decision is None else cluster_cells(truth, decision, cluster)


def with_undecided(case: Judged) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Clusters | None]:
    """Truth, decision and cluster of each case in the four cells; undecided ones last, by the rule."""
    decision = case.truth if case.decision is None else case.decision
    more = case.undecided
    if more is None:
        return case.truth, decision, case.cluster
    cluster = case.cluster
    if cluster is not None and more.cluster is not None:
        cluster = np.concatenate([cluster, more.cluster])
    return np.concatenate([case.truth, more.truth]), np.concatenate([decision, more.decision]), cluster


def three_way(counts: Confusion) -> ThreeWayCounts:
    """A published table with its indeterminate outputs as a third column."""
    return ThreeWayCounts(
        counts.tp,
        counts.fp,
        counts.fn,
        counts.tn,
        counts.indeterminate_positives or 0,
        counts.indeterminate_negatives or 0,
    )


def three_way_of(case: Judged) -> ThreeWayCounts | None:
    """The cells of a data set with undecided cases as a third column, where a rule counts them."""
    if case.undecided is None or case.decision is None:
        return None
    decided = ConfusionCounts.of(case.truth, case.decision)
    present = int(case.undecided.truth.sum())
    return ThreeWayCounts(
        decided.tp, decided.fp, decided.fn, decided.tn, present, case.undecided.truth.size - present
    )


def counted_as_wrong(counts: Confusion, plan: Plan | None = None) -> ConfusionCounts:
    """A published table; indeterminate outputs count in every denominator: as declared, else as wrong."""
    rule = plan.operating_point.indeterminate_as if plan else None
    return three_way(counts).counted_as(rule or "wrong")


PER_FRAME = "every finding is taken as seen in the same number of frames, all decided alike: no interval"


def published(counts: Confusion, plan: Plan) -> Iterator[tuple[str, ConfusionCounts, list[Result]]]:
    """A published table with its results; and per frame, where it is declared how many a finding has.

    Then tp and fn counted findings, each as one frame among all; now each has its frames, taken from the
    negative ones.
    """
    cells = counted_as_wrong(counts, plan)
    results = matrix_results(cells, {"set": counts.set}, plan)
    yield counts.set, cells, results + indeterminate_results(three_way(counts), {"set": counts.set}, plan)
    k = counts.frames_per_finding
    if k:
        more = (k - 1) * cells.positives
        frames = ConfusionCounts(cells.tp * k, cells.fp, cells.fn * k, cells.tn - more)
        name = f"{counts.set}, per frame"
        found = matrix_results(frames, {"set": name}, plan)
        yield name, frames, [replace(r, estimate=_without_interval(r.estimate)) for r in found]


def _without_interval(e: Estimate) -> Estimate:
    if e.method == "count" or isnan(e.value):
        return e
    return replace(e, low=nan, high=nan, se=nan, note="; ".join(filter(None, (e.note, PER_FRAME))))


def indeterminate_results(
    counts: ThreeWayCounts, scope: Mapping[str, Any], plan: Plan, cells: NDArray[np.int64] | None = None
) -> list[Result]:
    """The third column: how many cases of either class had no clear output, and what share that is.

    Beside it what the measures would be without them; `cells` are those of clusters, without them too.
    """
    level, present, absent = (
        plan.report.confidence_level,
        counts.indeterminate_positives,
        counts.indeterminate_negatives,
    )
    if not present + absent:
        return []
    share = counts.indeterminate(level=level)
    results = answers(f"{ID}.indeterminate", scope, [share], leads=share.method)
    for name, x in (("indeterminate_positives", present), ("indeterminate_negatives", absent)):
        one = Estimate(x, x, x, share.n, level, "count")
        results += answers(f"{ID}.{name}", scope, [one], leads="count", unit="count")
    without = counts.counted_as("excluded")
    here = {**scope, "parameters": {"indeterminate": "left out"}}
    for name in ("accuracy", "sensitivity", "specificity"):
        one = MEASURES[name](without, level=level)
        results += both(name, here, one, _clustered(name, cells, level))
    return results


def matrix_results(
    counts: ConfusionCounts,
    scope: Mapping[str, Any],
    plan: Plan,
    cells: NDArray[np.int64] | None = None,
) -> list[Result]:
    """The cells, every measure with its interval, and those that depend on it at declared prevalences.

    With `cells` of clusters, (n_clusters, 4), the interval that leads respects them, and that of independent
    cases stands beside it.
    """
    level = plan.report.confidence_level
    results = []
    for cell in CELLS:
        n = getattr(counts, cell)
        one = Estimate(n, n, n, counts.n, level, "count")
        results += answers(f"{ID}.{cell}", scope, [one], leads="count", unit="count")
    for name, measure in MEASURES.items():
        results += both(name, scope, measure(counts, level=level), _clustered(name, cells, level))
    results += _scenarios(counts, scope, level, cells)
    for share in declared_prevalences(plan):
        here = {**scope, "parameters": {"prevalence": share}}
        for name in DEPEND_ON_PREVALENCE:
            one = at_prevalence(name, counts, share, level=level)
            results += both(name, here, one, _clustered(name, cells, level, share))
    return results


def both(
    name: str,
    scope: Mapping[str, Any],
    independent: Estimate,
    clustered: Estimate | None,
    unit: Unit | None = None,
) -> list[Result]:
    """The interval that respects clusters, which leads where there are any, and that of independent cases."""
    kind = unit or unit_of(name)
    beside = answers(f"{ID}.{name}", scope, [independent], unit=kind)
    if clustered is None:
        return [replace(one, primary=True) for one in beside]
    here = {**scope, "analysis": "clustered"}
    return [*answers(f"{ID}.{name}", here, [clustered], leads=clustered.method, unit=kind), *beside]


def _clustered(
    name: str, cells: NDArray[np.int64] | None, level: float, prevalence: float | None = None
) -> Estimate | None:
    return None if cells is None else clustered(name, cells, prevalence=prevalence, level=level)


def _scenarios(
    counts: ConfusionCounts,
    scope: Mapping[str, Any],
    level: float,
    cells: NDArray[np.int64] | None,
) -> list[Result]:
    """What a rule would reach that gives every case the same answer; nothing where the decisions do that."""
    if not counts.called_positive or not counts.called_negative:
        return []
    rules = (
        ConfusionCounts(tp=counts.positives, fp=counts.negatives, fn=0, tn=0),
        ConfusionCounts(tp=0, fp=0, fn=counts.positives, tn=counts.negatives),
    )
    results = []
    for scenario, table in zip(SCENARIOS, rules):
        here = {**scope, "parameters": {"scenario": scenario}}
        of_rule = None
        if cells is not None:
            present, absent = cells[:, 0] + cells[:, 2], cells[:, 1] + cells[:, 3]
            none = np.zeros_like(present)
            called = (present, absent, none, none)
            columns = called if scenario == SCENARIOS[0] else (called[2:] + called[:2])
            of_rule = np.stack(columns, axis=1)
        for name in SCENARIO_MEASURES:
            one = MEASURES[name](table, level=level)
            results += both(name, here, one, _clustered(name, of_rule, level))
    return results


def declared_prevalences(plan: Plan) -> list[float]:
    """Shares of positives at which the measures are wanted: the expected one, and the ends of a range."""
    found = [plan.expected_prevalence, *(plan.utility.prevalence_range or ())]
    if plan.site_context is not None:
        found.append(plan.site_context.local_prevalence)
    return sorted({share for share in found if share is not None and 0 < share < 1})


def unit_of(name: str) -> Unit:
    """What kind of number a measure is."""
    return "ratio" if name in RATIOS else "score" if name in SCORES else "proportion"


def score_results(
    case: Judged, plan: Plan, *, at: Sequence[float] | None = None, resamples: int = RESAMPLES
) -> list[Result]:
    """Areas under the curves and net benefit of the scores of one data set.

    Net benefit at the declared thresholds, or `at` others; of parts of the curve by so many `resamples`.
    """
    if case.score is None or case.suspicion is None:
        return []
    level, cluster = plan.report.confidence_level, case.cluster
    truth, score = case.truth, case.suspicion
    few = min(int(truth.sum()), int((~truth).sum())) < FEW_OF_A_CLASS
    areas = [f(truth, score, level=level) for f in (delong, logit_delong, newcombe_auc)]
    alone = "" if cluster is not None else "logit_delong" if few else "delong"
    results = answers(f"{ID}.auc", case.scope, areas, leads=alone)
    if cluster is not None:
        one = clustered_auc(truth, score, cluster, level=level)
        here = {**case.scope, "analysis": "clustered"}
        results = [*answers(f"{ID}.auc", here, [one], leads=one.method), *results]
    results += both(
        "average_precision",
        case.scope,
        logit_influence(truth, score, level=level),
        None if cluster is None else logit_influence(truth, score, cluster=cluster, level=level),
    )
    for group in plan.operating_point.fpr_groups or ():
        here = {**case.scope, "parameters": {"fpr": list(group)}}
        rng = generator(plan.similarity.seed, ID, "auc_group", str(case.scope), str(group))
        drawn: dict[str, Any] = {"rng": rng, "resamples": resamples, "level": level}
        part = auc_group(truth, score, group, **drawn)
        grouped = None
        if cluster is not None:
            grouped = auc_group(truth, score, group, cluster=cluster, **drawn)
        results += both("auc_group", here, part, grouped)
    wanted = thresholds(plan) if at is None else at
    for threshold in wanted if are_risks(case) else ():
        results += _at_threshold(case, threshold, level)
    return results


def _at_threshold(case: Judged, threshold: float, level: float) -> list[Result]:
    """Net benefit of the scores and of acting on everybody and nobody; with weights of the cases too."""
    assert case.score is not None
    here = {**case.scope, "threshold": threshold}
    truth, score, cluster = case.truth, case.score, case.cluster
    results = []

    def of(measure: Callable[..., Estimate], *given: Any) -> tuple[Estimate, Estimate | None]:
        alone = measure(*given, level=level)
        return alone, None if cluster is None else measure(*given, cluster=cluster, level=level)

    for name, measure in (
        ("net_benefit", net_benefit),
        ("standardized_net_benefit", standardized_net_benefit),
    ):
        results += both(name, here, *of(measure, truth, score, threshold), "utility")
    if threshold < 1:
        there = {**here, "parameters": {"strategy": "treat_all"}}
        results += both("net_benefit", there, *of(treat_all, truth, threshold), "utility")
        nobody = treat_none(truth, level=level)
        there = {**here, "parameters": {"strategy": "treat_none"}}
        results += both("net_benefit", there, nobody, None, "utility")
    relevance, own = case.number("relevance"), case.number("case_threshold")
    if relevance is not None or own is not None:
        weight = np.ones(len(truth)) if relevance is None else np.nan_to_num(relevance, nan=0.0)
        at = np.full(len(truth), threshold) if own is None else np.where(np.isnan(own), threshold, own)
        weighted = of(weighted_utility, truth, score, at, weight)
        given = {"relevance": relevance, "case_threshold": own}
        weights = [word for word, column in given.items() if column is not None]
        there = {**here, "parameters": {"weights": weights}}
        results += both("weighted_utility", there, *weighted, "utility")
    return results


def are_risks(case: Judged) -> bool:
    """Whether net benefit can be told of the scores: it weighs errors by the risk at which one acts."""
    score = case.score
    return (
        score is not None
        and not case.reversed
        and (not score.size or bool(0 <= score.min() <= score.max() <= 1))
    )


def thresholds(plan: Plan) -> Sequence[float]:
    """Where net benefit is wanted: the declared list, else the operating point and the ends of a range."""
    if plan.utility.thresholds:
        return plan.utility.thresholds
    point = plan.operating_point.threshold
    ends = plan.utility.threshold_range or ()
    return sorted({*ends, *(() if point is None else (point,))})


def few_thresholds(plan: Plan) -> Sequence[float]:
    """Where net benefit of a site is wanted: as declared; of many the ends and the operating point."""
    declared = thresholds(plan)
    if len(declared) <= FEW_THRESHOLDS:
        return declared
    point = plan.operating_point.threshold
    return sorted({min(declared), max(declared), *(() if point is None else (point,))})
