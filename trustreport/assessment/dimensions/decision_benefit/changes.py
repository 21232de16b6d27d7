"""What became of decisions with the aid, and the benefit within groups of readers."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.decision_benefit.entries import ID, by_analysis
from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED, ReaderEndpoint
from trustreport.assessment.performance.readers import at_prevalence, correct_decisions, reading_key
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.interval import no_interval
from trustreport.measures.mrmc.notes import ONE_ORDER
from trustreport.measures.mrmc.period import one_order
from trustreport.measures.mrmc.quarters import oldham_slope
from trustreport.study.plan import Plan
from trustreport.study.study import Coded, Readings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

CHANGES = {
    "confirmed_right": (1, 1),
    "confirmed_wrong": (0, 0),
    "wrong_to_right": (1, 0),
    "right_to_wrong": (0, 1),
}
# A column of the readers with more levels than this does not divide them into groups.
MOST_LEVELS = 6


def change_counts(readings: Readings, arms: tuple[str, str], level: float, place: Place) -> list[Result]:
    """Pairs of one reader and case by what became of the decision: confirmed or changed, to what effect."""
    if readings.decision is None:
        return []
    correct = correct_decisions(readings, arms)
    pairs = int(np.count_nonzero(~np.isnan(correct).any(axis=0)))
    results = []
    for name, (aided, unaided) in CHANGES.items():
        n = int(np.count_nonzero((correct[AIDED] == aided) & (correct[UNAIDED] == unaided)))
        count, key = Estimate(n, n, n, pairs, level, "count"), reading_key(readings)
        id, chosen = f"{ID}.decision_count", {"change": name}
        results.append(Result(id, place.at(arms=arms), count, parameters=chosen, primary=True, cases=key))
    return results


def baseline_slope(
    endpoint: ReaderEndpoint, arms: tuple[str, str], level: float, place: Place
) -> list[Result]:
    """Whether low starters gain more, freed of the term that change and baseline share."""
    aided, unaided = (np.array([e.value for e in of_arm]) for of_arm in endpoint.by_reader)
    slope = oldham_slope(unaided, aided, level=level)
    contrast = place.at(arms=arms)
    return [Result(f"{ID}.baseline_slope", contrast, slope, endpoint=endpoint.name, primary=True)]


def strata(readings: Readings) -> dict[str, Coded]:
    """The characteristics that divide the readers into groups worth reporting, fewest groups first."""
    sizes = {
        name: len(np.unique(column.codes[column.codes >= 0]))
        for name, column in readings.readers.strata.items()
    }
    kept = sorted((n, name) for name, n in sizes.items() if 2 <= n <= MOST_LEVELS)
    return {name: readings.readers.strata[name] for _, name in kept}


def strata_results(
    endpoint: ReaderEndpoint,
    readings: Readings,
    arms: tuple[str, str],
    level: float,
    place: Place,
    **more: Any,
) -> list[Result]:
    """The mean benefit of the readers of each group, analysed as for all readers."""
    results: list[Result] = []
    for name, column in strata(readings).items():
        for code in np.unique(column.codes[column.codes >= 0]):
            readers = np.flatnonzero(column.codes == code)
            analysis = endpoint.of_readers(readers)
            differences = analysis.differences(level)
            if endpoint.later is not None and one_order(endpoint.later[readers]):
                differences = {
                    name: no_interval(e.value, e.n, ONE_ORDER, level=level, method=e.method)
                    for name, e in differences.items()
                }
            group = place.at(arms=arms, subgroup=f"{name}: {column.labels[int(code)]}")
            of = {"endpoint": endpoint.name, "cases": reading_key(readings), **more}
            results += by_analysis(
                f"{ID}.mean_benefit", group, differences, analysis.first(differences), **of
            )
    return results


def at_prevalences(readings: Readings, arms: tuple[str, str], plan: Plan, place: Place) -> Iterator[Result]:
    """Accuracy of the arms and its change at the declared prevalence, also of the readers of each group."""
    level = plan.report.confidence_level
    for prevalence in plan.prevalences:
        accuracy = at_prevalence(readings, arms, level, prevalence)
        if accuracy is None:
            continue
        more: dict[str, Any] = {"parameters": {"prevalence": prevalence}}
        of = {"endpoint": accuracy.name, "cases": reading_key(readings), **more}
        for i, arm in enumerate(arms):
            means = accuracy.whole.arm_means(i, level)
            yield from by_analysis(f"{ID}.arm_mean", place.at(arm=arm), means, next(iter(means)), **of)
        changes, contrast = accuracy.whole.differences(level), place.at(arms=arms)
        for name in ("arm_difference", "mean_benefit"):
            yield from by_analysis(f"{ID}.{name}", contrast, changes, next(iter(changes)), **of)
        yield from strata_results(accuracy, readings, arms, level, place, **more)
