"""Every number of decision benefit for one task: per reader, per endpoint, over all readers."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import nan
from typing import Any

from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED, Analysis, ReaderEndpoint
from trustreport.assessment.performance.readers import reading_key
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.each_reader import mean_benefit
from trustreport.measures.note import note
from trustreport.study.study import Readings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

ID = "decision_benefit"
COMPONENT = note("component_variance_has_no_interval")
NO_COMPONENT = note("too_few_readers_arms_or_cases")


def results_of(
    endpoint: ReaderEndpoint, readings: Readings, arms: tuple[str, str], level: float, place: Place
) -> list[Result]:
    """Per reader, per arm, and over readers; what is primary follows from the design of the data."""
    analysis = endpoint.whole
    of: dict[str, Any] = {"endpoint": endpoint.name, "cases": reading_key(readings)}
    results = list(_per_reader(endpoint, readings, arms, place, of))
    for i, arm in enumerate(arms):
        means = analysis.arm_means(i, level)
        results += by_analysis(f"{ID}.arm_mean", place.at(arm=arm), means, analysis.first(means), **of)
    differences, contrast = analysis.differences(level), place.at(arms=arms)
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
        own = place.at(reader=reader)
        for arm, of_arm in zip(arms, endpoint.by_reader, strict=True):
            yield Result(f"{ID}.reader_estimate", own.at(arm=arm), of_arm[j], primary=True, **of)
        yield Result(f"{ID}.benefit", own.at(arms=arms), endpoint.benefits[j], primary=True, **of)
