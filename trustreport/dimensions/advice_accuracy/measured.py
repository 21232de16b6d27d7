"""Every number of advice accuracy: of published counts, and of the scores and decisions of a data set."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate
from trustreport.measures.confusion.at_prevalence import DEPEND_ON_PREVALENCE, at_prevalence
from trustreport.measures.confusion.counts import ConfusionCounts, ThreeWayCounts
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.net_benefit import net_benefit, standardized_net_benefit, treat_all, treat_none
from trustreport.measures.roc.auc import delong, logit_delong
from trustreport.measures.roc.average_precision import logit_influence
from trustreport.plan import Confusion, Plan
from trustreport.results import Result, Unit, answers
from trustreport.study import Dataset, Floats, Scores

ID = "advice_accuracy"
CELLS = ("tp", "fp", "fn", "tn")
RATIOS = ("lr_positive", "lr_negative", "diagnostic_odds_ratio")
SCORES = ("mcc", "youden_j", "cohen_kappa")
# A class with fewer cases than this gives the interval on the logit scale the lead.
FEW_OF_A_CLASS = 30
SCENARIOS = ("all_positive", "all_negative")
SCENARIO_MEASURES = ("accuracy", "ppv", "npv", "f1", "threat_score", "mcc")


@dataclass(frozen=True, eq=False)
class Judged:
    """What a candidate said of the cases of a data set whose truth is known, (n_cases,) each.

    `known` (all cases of the set,) says which those are.
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

    @property
    def suspicion(self) -> Floats | None:
        """The score turned so that higher speaks for the condition."""
        return -self.score if self.reversed and self.score is not None else self.score

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        candidate = self.scope.get("candidate")
        return f"{self.scope['dataset']}, {candidate}" if candidate else str(self.scope["dataset"])


def judged(dataset: Dataset, plan: Plan) -> Iterator[Judged]:
    """Each candidate's scores and decisions; a decision is a score of at least the declared threshold.

    Where a lower score speaks for the condition it is a score of at most that.
    """
    if len(dataset.cases.classes) != 2:
        return
    for candidate, scores in dataset.scores.items():
        scope = {"dataset": dataset.name, **({"candidate": candidate} if len(dataset.scores) > 1 else {})}
        known = dataset.cases.truth >= 0
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
        )


def _binary_score(scores: Scores) -> Floats | None:
    if scores.score is None and scores.class_scores is not None and scores.class_scores.shape[1] == 2:
        return scores.class_scores[:, 1]
    return scores.score


def counts_of(case: Judged) -> ConfusionCounts | None:
    """The four cells, where there are decisions."""
    if case.decision is None:
        return None
    cells = np.bincount(2 * case.truth + case.decision, minlength=4)
    return ConfusionCounts(tp=int(cells[3]), fp=int(cells[1]), fn=int(cells[2]), tn=int(cells[0]))


def counted_as_wrong(counts: Confusion) -> ConfusionCounts:
    """A published table; indeterminate outputs count as wrong, in every denominator."""
    return ThreeWayCounts(
        counts.tp,
        counts.fp,
        counts.fn,
        counts.tn,
        counts.indeterminate_positives or 0,
        counts.indeterminate_negatives or 0,
    ).counted_as("wrong")


def matrix_results(counts: ConfusionCounts, scope: Mapping[str, Any], plan: Plan) -> list[Result]:
    """The cells, every measure with its interval, and those that depend on it at declared prevalences."""
    level = plan.report.confidence_level
    results = []
    for cell in CELLS:
        n = getattr(counts, cell)
        one = Estimate(n, n, n, counts.n, level, "count")
        results += answers(f"{ID}.{cell}", scope, [one], leads="count", unit="count")
    for name, measure in MEASURES.items():
        one = measure(counts, level=level)
        results += answers(f"{ID}.{name}", scope, [one], leads=one.method, unit=unit_of(name))
    results += _scenarios(counts, scope, level)
    for share in declared_prevalences(plan):
        here = {**scope, "parameters": {"prevalence": share}}
        for name in DEPEND_ON_PREVALENCE:
            one = at_prevalence(name, counts, share, level=level)
            results += answers(f"{ID}.{name}", here, [one], leads=one.method, unit=unit_of(name))
    return results


def _scenarios(counts: ConfusionCounts, scope: Mapping[str, Any], level: float) -> list[Result]:
    """What a rule would reach that gives every case the same answer; nothing where the decisions do that."""
    if not counts.called_positive or not counts.called_negative:
        return []
    rules = (
        ConfusionCounts(tp=counts.positives, fp=counts.negatives, fn=0, tn=0),
        ConfusionCounts(tp=0, fp=0, fn=counts.positives, tn=counts.negatives),
    )
    results = []
    for scenario, cells in zip(SCENARIOS, rules):
        here = {**scope, "parameters": {"scenario": scenario}}
        for name in SCENARIO_MEASURES:
            one = MEASURES[name](cells, level=level)
            results += answers(f"{ID}.{name}", here, [one], leads=one.method, unit=unit_of(name))
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


def score_results(case: Judged, plan: Plan) -> list[Result]:
    """Areas under the curves and net benefit of the scores of one data set."""
    if case.score is None or case.suspicion is None:
        return []
    level = plan.report.confidence_level
    truth, score = case.truth, case.suspicion
    few = min(int(truth.sum()), int((~truth).sum())) < FEW_OF_A_CLASS
    areas = [delong(truth, score, level=level), logit_delong(truth, score, level=level)]
    results = answers(f"{ID}.auc", case.scope, areas, leads="logit_delong" if few else "delong")
    precision = logit_influence(truth, score, level=level)
    results += answers(f"{ID}.average_precision", case.scope, [precision], leads=precision.method)
    for threshold in thresholds(plan) if are_risks(case) else ():
        here = {**case.scope, "threshold": threshold}
        for name, measure in (
            ("net_benefit", net_benefit),
            ("standardized_net_benefit", standardized_net_benefit),
        ):
            one = measure(truth, score, threshold, level=level)
            results += answers(f"{ID}.{name}", here, [one], leads=one.method, unit="utility")
        if threshold < 1:
            everybody, nobody = treat_all(truth, threshold, level=level), treat_none(truth, level=level)
            for strategy, one in (("treat_all", everybody), ("treat_none", nobody)):
                there = {**here, "parameters": {"strategy": strategy}}
                results += answers(f"{ID}.net_benefit", there, [one], leads=one.method, unit="utility")
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
    """Thresholds at which net benefit is wanted: the declared list, or the operating point."""
    if plan.utility.thresholds:
        return plan.utility.thresholds
    return () if plan.operating_point.threshold is None else (plan.operating_point.threshold,)
