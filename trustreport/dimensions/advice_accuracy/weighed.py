"""Accuracy that weighs confidence, priority and complexity, and the utility of the decisions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from trustreport.dimensions.advice_accuracy.measured import ID
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.h_accuracy.measure import h_accuracy, two_class_scores
from trustreport.measures.utility.utility_yield import utility_yield
from trustreport.plan import HAccuracy, Plan
from trustreport.results import Result, answers
from trustreport.seeds import generator
from trustreport.study import Dataset, Floats, Scores


def h_accuracy_results(dataset: Dataset, plan: Plan) -> list[Result]:
    """H-accuracy of every candidate with each declared choice of tau, priority and complexity."""
    declared = next((d.h_accuracy for d in plan.datasets if d.dataset == dataset.name), ())
    results = []
    for candidate, scores in dataset.scores.items():
        scope = {"dataset": dataset.name, **({"candidate": candidate} if len(dataset.scores) > 1 else {})}
        of_classes = class_scores(scores)
        if of_classes is not None:
            for choice in declared:
                results += _chosen(dataset, of_classes, choice, scope, plan)
    return results


def class_scores(scores: Scores) -> Floats | None:
    """Scores of all classes, negative class first; from one score they are it and what it leaves."""
    if scores.class_scores is not None:
        return scores.class_scores
    if scores.score is None or np.nanmin(scores.score) < 0 or np.nanmax(scores.score) > 1:
        return None
    return two_class_scores(scores.score)


def _chosen(
    dataset: Dataset, scores: Floats, choice: HAccuracy, scope: Mapping[str, Any], plan: Plan
) -> list[Result]:
    known = (dataset.cases.truth >= 0) & ~np.isnan(scores).any(axis=1)
    complexity = None
    if choice.complexity and dataset.cases.complexity is not None:
        complexity = dataset.cases.complexity[known]
    n_classes = scores.shape[1]
    tau = 1 / n_classes if choice.tau is None else choice.tau
    priority = list(choice.priority) if choice.priority else [1 / n_classes] * n_classes
    parameters = {"tau": tau, "priority": priority, "complexity": complexity is not None}
    estimate = h_accuracy(
        dataset.cases.truth[known].astype(np.int64),
        scores[known],
        rng=generator(plan.similarity.seed, ID, "h_accuracy", str(scope), str(parameters)),
        tau=tau,
        priority=priority,
        complexity=complexity,
        level=plan.report.confidence_level,
    )
    here = {**scope, "parameters": parameters}
    return answers(f"{ID}.h_accuracy", here, [estimate], leads=estimate.method)


def utility_results(counts: ConfusionCounts, scope: Mapping[str, Any], plan: Plan) -> list[Result]:
    """The mean utility of a case under every declared matrix of two classes."""
    results = []
    cells = [[counts.tn, counts.fn], [counts.fp, counts.tp]]
    for utility in plan.utility.matrices:
        if len(utility.matrix) == 2:
            one = utility_yield(cells, utility.matrix, level=plan.report.confidence_level)
            here = {**scope, "parameters": {"utility": utility.name}}
            results += answers(f"{ID}.utility_yield", here, [one], leads=one.method, unit="utility")
    return results
