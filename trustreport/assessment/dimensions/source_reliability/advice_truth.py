"""The actual accuracy behind a measured one: of stated pairs, and of advice on cases that raters labelled."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

from trustreport.assessment.dimensions.source_reliability.rater_panel import Panel
from trustreport.assessment.dimensions.source_reliability.raters import ID
from trustreport.assessment.narrative.advice import advised
from trustreport.assessment.performance.measures import lead
from trustreport.measures.estimate import Estimate
from trustreport.measures.label_accuracy import (
    NO_SAMPLING_ERROR,
    ActualAccuracy,
    actual_accuracy,
    nomogram_accuracy,
)
from trustreport.study.plan import Nomogram, Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result, estimate_of, results_for


@dataclass(frozen=True, slots=True)
class AdviceAccuracies:
    """A measured accuracy, and what is behind it for each way to know how many labels are right.

    `labels` and `actual` are in one order, the primary way first; `concordance` is rho.
    """

    name: Message | str
    measured: Estimate
    concordance: float
    labels: tuple[Estimate, ...]
    actual: tuple[ActualAccuracy, ...]
    results: tuple[Result, ...]


def of_stated(sets: Iterable[Nomogram], level: float) -> list[AdviceAccuracies]:
    """Label accuracy, actual accuracy and its bounds for each stated pair."""
    found = []
    for stated in sets:
        rho = Estimate(stated.weighted_concordance, nan, nan, 0, level, note=NO_SAMPLING_ERROR)
        label = nomogram_accuracy(rho)
        place = Place(set=stated.set)
        named = results_for(f"{ID}.label_accuracy", place, [label], leads=label.method)
        measured = Estimate(stated.accuracy, nan, nan, 0, level)
        found.append(_accuracies(stated.set, place, measured, rho.value, [label], named, level))
    return found


def of_advice(
    panel: Panel, results: Sequence[Result], study: Study, plan: Plan
) -> Iterator[AdviceAccuracies]:
    """Every set of advice on cases that these raters labelled, all of them; two classes only."""
    labels = [r for r in results if r.id == f"{ID}.label_accuracy" and not isnan(r.estimate.value)]
    if panel.n_categories != 2 or not labels:
        return
    labels.sort(key=lambda r: not r.primary)
    rho = next(r.estimate.value for r in results if r.id == f"{ID}.weighted_concordance")
    for name, case in advised(study, plan):
        names = case.dataset.cases.labels
        labelled = not names.counted and set(names) <= panel.rated_cases
        if labelled and case.decision is not None and len(case):
            measured = lead(case, "accuracy", plan.report.confidence_level)
            ways = [r.estimate for r in labels]
            place = case.place.at(panel=panel.place.panel)
            yield _accuracies(name, place, measured, rho, ways, [], measured.level)


def _accuracies(
    name: Message | str,
    place: Place,
    measured: Estimate,
    concordance: float,
    labels: Sequence[Estimate],
    results: list[Result],
    level: float,
) -> AdviceAccuracies:
    labels = [estimate_of(label, quantity("label_accuracy")) for label in labels]
    actual = [_written(actual_accuracy(measured, label, level=level)) for label in labels]
    leads = labels[0].method
    for named, estimates in (
        ("actual_accuracy", [a.value for a in actual]),
        ("actual_accuracy_low_bound", [a.low_bound for a in actual]),
        ("actual_accuracy_high_bound", [a.high_bound for a in actual]),
    ):
        results = results + results_for(f"{ID}.{named}", place, estimates, leads=leads)
    return AdviceAccuracies(name, measured, concordance, tuple(labels), tuple(actual), tuple(results))


def _written(actual: ActualAccuracy) -> ActualAccuracy:
    """With the decimals that its results are written with."""
    row = quantity("actual_accuracy")
    value, low, high = (estimate_of(e, row) for e in (actual.value, actual.low_bound, actual.high_bound))
    return replace(actual, value=value, low_bound=low, high_bound=high)
