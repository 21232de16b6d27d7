"""Every number of decision benefit for one task: per reader, per endpoint, over all, in groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED, Analysis, ReaderEndpoint
from trustreport.assessment.performance.readers import at_prevalence, correct_decisions, reading_key
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.each_reader import mean_benefit
from trustreport.measures.mrmc.interval import no_interval
from trustreport.measures.mrmc.notes import ONE_ORDER
from trustreport.measures.mrmc.period import one_order
from trustreport.measures.mrmc.quarters import oldham_slope
from trustreport.measures.note import note
from trustreport.study.plan import Plan
from trustreport.study.study import Coded, Readings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result, leading

ID = "decision_benefit"
COMPONENT = note("component_variance_has_no_interval")
NO_COMPONENT = note("too_few_readers_arms_or_cases")
CHANGES = {
    "confirmed_right": (1, 1),
    "confirmed_wrong": (0, 0),
    "wrong_to_right": (1, 0),
    "right_to_wrong": (0, 1),
}
# A column of the readers with more levels than this does not divide them into groups.
MOST_LEVELS = 6


@dataclass(frozen=True)
class TaskBenefit:
    """What was found of one task and contrast; `number` ends the ids of its tables and figures."""

    results: Sequence[Result]
    endpoints: Sequence[ReaderEndpoint]
    readings: Readings
    arms: tuple[str, str]
    number: int

    @property
    def main(self) -> ReaderEndpoint:
        """The first endpoint."""
        return self.endpoints[0]

    def find(self, quantity: str, **scope: Any) -> Result | None:
        """The primary entry of a quantity."""
        return leading(self.results, f"{ID}.{quantity}", **scope)

    def change(self, quantity: str, **scope: Any) -> Result | None:
        """The primary entry of a quantity of both arms."""
        return self.find(quantity, arms=list(self.arms), **scope)

    def mean_benefit(self, endpoint: str) -> Result | None:
        """The change of an endpoint over all readers."""
        return self.change("mean_benefit", endpoint=endpoint, subgroup=None)

    def at_prevalence(self, endpoint: str) -> Result | None:
        """The change of an endpoint at the declared prevalence; None where it does not depend on that."""
        for r in self.results:
            of_all = r.id == f"{ID}.mean_benefit" and r.within(arms=list(self.arms), subgroup=None)
            if of_all and r.primary and r.endpoint == endpoint and "prevalence" in r.parameters:
                return None if isnan(r.estimate.low) else r
        return None


def results_of(
    endpoint: ReaderEndpoint, readings: Readings, arms: tuple[str, str], level: float, place: Place
) -> list[Result]:
    """Per reader, per arm, and over readers; what is primary follows from the design of the data."""
    analysis = endpoint.whole
    of: dict[str, Any] = {"endpoint": endpoint.name, "cases": reading_key(readings)}
    results = list(_per_reader(endpoint, readings, arms, place, of))
    for i, arm in enumerate(arms):
        means = analysis.arm_means(i, level)
        results += by_analysis(f"{ID}.arm_mean", place.narrowed(arm=arm), means, analysis.first(means), **of)
    differences, contrast = analysis.differences(level), place.narrowed(arms=arms)
    first = analysis.first(differences)
    results += components(analysis, contrast, level, **of)
    results += by_analysis(f"{ID}.arm_difference", contrast, differences, first, **of)
    differences["fixed_cases"] = mean_benefit(endpoint.changes, level=level)
    return results + by_analysis(f"{ID}.mean_benefit", contrast, differences, first, **of)


def components(analysis: Analysis, place: Place, level: float, **of: Any) -> Iterator[Result]:
    """What the readers say of each source of variation, negative values as they are.

    Of Obuchowski-Rockette where every reader read every case; else the plug-in components of the difference
    that the degrees of freedom of the primary U-statistic come from, and its variance.
    """
    sources: list[tuple[str, str, int, Mapping[str, float]]] = [
        ("or_components", covariance, fit.n, asdict(fit.components()))
        for covariance, fit in analysis.fits.items()
    ]
    if not sources:
        found = analysis.centred or analysis.unbiased
        n = found.difference(AIDED, UNAIDED).n
        sources = [("ustatistic_components", "", n, found.components(AIDED, UNAIDED))]
    for method, covariance, n, values in sources:
        for name, value in values.items():
            chosen = {"component": name} | ({"covariance": covariance} if covariance else {})
            note = COMPONENT if value == value else NO_COMPONENT
            e = Estimate(value, nan, nan, n, level, method, note)
            yield Result(f"{ID}.variance_component", place, e, parameters=chosen, primary=True, **of)


def by_analysis(
    id: str, place: Place, estimates: Mapping[str, Estimate], first: str, **of: Any
) -> list[Result]:
    """An entry per analysis, the one named `first` primary."""
    return [Result(id, place, e, analysis=a, primary=a == first, **of) for a, e in estimates.items()]


def _per_reader(
    endpoint: ReaderEndpoint, readings: Readings, arms: tuple[str, str], place: Place, of: Mapping[str, Any]
) -> Iterator[Result]:
    for j, reader in enumerate(readings.readers.labels):
        own = place.narrowed(reader=reader)
        for arm, of_arm in zip(arms, endpoint.by_reader, strict=True):
            yield Result(f"{ID}.reader_estimate", own.narrowed(arm=arm), of_arm[j], primary=True, **of)
        yield Result(f"{ID}.benefit", own.narrowed(arms=arms), endpoint.benefits[j], primary=True, **of)


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
        results.append(
            Result(id, place.narrowed(arms=arms), count, parameters=chosen, primary=True, cases=key)
        )
    return results


def baseline_slope(
    endpoint: ReaderEndpoint, arms: tuple[str, str], level: float, place: Place
) -> list[Result]:
    """Whether low starters gain more, freed of the term that change and baseline share."""
    aided, unaided = (np.array([e.value for e in of_arm]) for of_arm in endpoint.by_reader)
    slope = oldham_slope(unaided, aided, level=level)
    contrast = place.narrowed(arms=arms)
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
            group = place.narrowed(arms=arms, subgroup=f"{name}: {column.labels[int(code)]}")
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
            yield from by_analysis(f"{ID}.arm_mean", place.narrowed(arm=arm), means, next(iter(means)), **of)
        changes, contrast = accuracy.whole.differences(level), place.narrowed(arms=arms)
        for name in ("arm_difference", "mean_benefit"):
            yield from by_analysis(f"{ID}.{name}", contrast, changes, next(iter(changes)), **of)
        yield from strata_results(accuracy, readings, arms, level, place, **more)
