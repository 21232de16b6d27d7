"""The accuracy behind a measured one: of stated pairs, and of advice on cases that the raters labelled."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.dimensions.advice_accuracy.measured import Judged
from trustreport.dimensions.advice_value.advised import advised
from trustreport.dimensions.source_reliability.panel import Panel
from trustreport.dimensions.source_reliability.raters import ID
from trustreport.estimate import Estimate
from trustreport.measures.label_accuracy import (
    NO_SAMPLING_ERROR,
    ActualAccuracy,
    actual_accuracy,
    nomogram_accuracy,
)
from trustreport.measures.proportion import wilson
from trustreport.messages import Message
from trustreport.plan import Nomogram, Plan
from trustreport.results import Result, answers
from trustreport.study import Study


@dataclass(frozen=True, slots=True)
class Behind:
    """A measured accuracy, and what is behind it for each way to know how many labels are right.

    `labels` and `actual` stand in one order, the leading way first; `concordance` is rho.
    """

    name: Message | str
    measured: Estimate
    concordance: float
    labels: tuple[Estimate, ...]
    actual: tuple[ActualAccuracy, ...]
    results: tuple[Result, ...]


def of_stated(sets: Iterable[Nomogram], level: float) -> list[Behind]:
    """Label accuracy, actual accuracy and its bounds for each stated pair."""
    found = []
    for stated in sets:
        rho = Estimate(stated.weighted_concordance, nan, nan, 0, level, note=NO_SAMPLING_ERROR)
        label = nomogram_accuracy(rho)
        scope = {"set": stated.set}
        named = answers(f"{ID}.label_accuracy", scope, [label], leads=label.method)
        measured = Estimate(stated.accuracy, nan, nan, 0, level)
        found.append(_behind(stated.set, scope, measured, rho.value, [label], named, level))
    return found


def of_advice(panel: Panel, results: Sequence[Result], study: Study, plan: Plan) -> Iterator[Behind]:
    """Every set of advice on cases that these raters labelled, all of them; two classes only."""
    labels = [r for r in results if r.id == f"{ID}.label_accuracy" and not isnan(r.estimate.value)]
    if panel.n_categories != 2 or not labels:
        return
    labels.sort(key=lambda r: not r.primary)
    rho = next(r.estimate.value for r in results if r.id == f"{ID}.weighted_concordance")
    for name, case in advised(study, plan):
        names = case.dataset.cases.labels
        labelled = not names.counted and set(names) <= panel.rated_cases
        if labelled and case.decision is not None and len(case.truth):
            measured = _measured(case, plan.report.confidence_level)
            ways = [r.estimate for r in labels]
            yield _behind(name, {**panel.scope, **case.scope}, measured, rho, ways, [], measured.level)


def _measured(case: Judged, level: float) -> Estimate:
    right = int(np.count_nonzero(case.decision == case.truth))
    return wilson(right, len(case.truth), level)


def _behind(
    name: Message | str,
    scope: Mapping[str, Any],
    measured: Estimate,
    concordance: float,
    labels: Sequence[Estimate],
    results: list[Result],
    level: float,
) -> Behind:
    actual = [actual_accuracy(measured, label, level=level) for label in labels]
    leads = labels[0].method
    for quantity, estimates in (
        ("actual_accuracy", [a.value for a in actual]),
        ("actual_accuracy_low_bound", [a.low_bound for a in actual]),
        ("actual_accuracy_high_bound", [a.high_bound for a in actual]),
    ):
        results = results + answers(f"{ID}.{quantity}", scope, estimates, leads=leads)
    return Behind(name, measured, concordance, tuple(labels), tuple(actual), tuple(results))
