"""Every number of decision benefit for one task: per reader, per endpoint, over all readers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate
from trustreport.measures.mrmc.auc import COVARIANCE_METHODS, auc_ustatistic, fit_auc, reader_auc, same_pair
from trustreport.measures.mrmc.obuchowski_rockette import MODES, ObuchowskiRockette, fit_proportions, leading
from trustreport.measures.mrmc.reader_auc import reader_auc_benefit, reader_auc_estimate
from trustreport.measures.mrmc.reader_effects import (
    mean_benefit,
    reader_benefit,
    reader_changes,
    reader_estimate,
)
from trustreport.measures.mrmc.ustatistic import UStatistic, ustatistic
from trustreport.results import Result, Unit, answers, possible
from trustreport.study import Floats, Readings

ID = "decision_benefit"
# Arrays of two arms hold the compared arm first, then its baseline.
AIDED, UNAIDED = 0, 1
# The covariance that leads where there are several.
FIRST_COVARIANCE = "jackknife"


@dataclass(frozen=True, eq=False)
class Analysis:
    """The readers of a study, or some of them, analysed together.

    `fits` holds an Obuchowski-Rockette fit per covariance where every reader read every case in both arms,
    and is empty elsewhere; `unbiased` serves any design.
    """

    unbiased: UStatistic
    fits: Mapping[str, ObuchowskiRockette] = field(default_factory=dict)

    def arm_means(self, arm: int, level: float) -> dict[str, Estimate]:
        """The mean of an arm by analysis."""
        found = {
            f"{mode}_{covariance}": fit.arm_mean(arm, mode=mode, level=level)
            for covariance, fit in self.fits.items()
            for mode in MODES
        }
        return {**found, "ustatistic_bdg": self.unbiased.arm_mean(arm, level=level)}

    def differences(self, level: float) -> dict[str, Estimate]:
        """Aided minus unaided by analysis."""
        found = {
            f"{mode}_{covariance}": fit.difference(AIDED, UNAIDED, mode=mode, level=level)
            for covariance, fit in self.fits.items()
            for mode in MODES
        }
        return {**found, "ustatistic_bdg": self.unbiased.difference(AIDED, UNAIDED, level=level)}

    def first(self, by_analysis: Mapping[str, Estimate]) -> str:
        """The analysis that leads: by design; under five readers the wider of random and fixed readers."""
        if not self.fits:
            return "ustatistic_bdg"
        random, fixed = (by_analysis[f"{mode}_{FIRST_COVARIANCE}"] for mode in ("or_rrrc", "or_frrc"))
        readers = self.fits[FIRST_COVARIANCE].n_readers
        return f"{leading(random, fixed, readers).method}_{FIRST_COVARIANCE}"


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One endpoint of the readers.

    `outcome` (2, n_readers, n_cases) is what `analyse` takes, aided arm first. `by_reader` holds the readers'
    own estimates in both arms, `benefits` and `changes` (n_readers,) what changed for each.
    """

    name: str
    outcome: Floats
    analyse: Callable[[Floats], Analysis]
    by_reader: tuple[tuple[Estimate, ...], tuple[Estimate, ...]]
    benefits: tuple[Estimate, ...]
    changes: NDArray[np.float64]


def endpoints(readings: Readings, arms: tuple[str, str], level: float) -> list[Endpoint]:
    """Accuracy, sensitivity and specificity of the decisions, the area under the curve of the scores."""
    truth = readings.cases.truth
    found = []
    if readings.decision is not None:
        correct = correct_decisions(readings, arms)
        cases = {"accuracy": truth >= 0, "sensitivity": truth == 1, "specificity": truth == 0}
        found = [proportion(name, correct[:, :, of], level) for name, of in cases.items() if of.any()]
    if readings.score is not None and (truth == 1).any() and (truth == 0).any():
        rating = readings.grid(readings.score, arms)[:, :, truth >= 0]
        if not np.isnan(rating).all(axis=(1, 2)).any():
            found.append(auc(rating, truth[truth >= 0] == 1, level))
    return found


def correct_decisions(readings: Readings, arms: Sequence[str]) -> Floats:
    """1.0 where the decision is the truth, 0.0 where it is not, NaN where there is none of either."""
    truth = readings.truth
    assert readings.decision is not None
    judged = (readings.decision >= 0) & (truth >= 0)
    return readings.grid(np.where(judged, (readings.decision == truth).astype(float), np.nan), arms)


def proportion(name: str, correct: Floats, level: float) -> Endpoint:
    """A share of right decisions; `correct` (2, n_readers, n_cases) over the cases that count."""
    readers = range(correct.shape[1])

    def analyse(part: Floats) -> Analysis:
        complete = not np.isnan(part).any()
        return Analysis(ustatistic(part), {FIRST_COVARIANCE: fit_proportions(part)} if complete else {})

    def of(arm: int) -> tuple[Estimate, ...]:
        return tuple(reader_estimate(correct, arm, j, level=level) for j in readers)

    return Endpoint(
        name,
        correct,
        analyse,
        (of(AIDED), of(UNAIDED)),
        tuple(reader_benefit(correct, j, compared=AIDED, baseline=UNAIDED, level=level) for j in readers),
        reader_changes(correct, compared=AIDED, baseline=UNAIDED),
    )


def auc(rating: Floats, truth: NDArray[np.bool_], level: float) -> Endpoint:
    """The area under each reader's curve; `rating` (2, n_readers, n_cases)."""
    readers = range(rating.shape[1])
    areas = reader_auc(rating, truth)

    def analyse(part: Floats) -> Analysis:
        complete = not np.isnan(part).any()
        methods = COVARIANCE_METHODS if complete else ()
        alike = same_pair(part, truth)
        fits: dict[str, ObuchowskiRockette] = {m: fit_auc(part, truth, m, alike=alike) for m in methods}
        return Analysis(auc_ustatistic(part, truth, alike=alike), fits)

    def of(arm: int) -> tuple[Estimate, ...]:
        return tuple(reader_auc_estimate(rating[arm, j], truth, level=level) for j in readers)

    return Endpoint(
        "auc",
        rating,
        analyse,
        (of(AIDED), of(UNAIDED)),
        tuple(reader_auc_benefit(rating[AIDED, j], rating[UNAIDED, j], truth, level=level) for j in readers),
        areas[AIDED] - areas[UNAIDED],
    )


def results_of(
    endpoint: Endpoint, readings: Readings, arms: tuple[str, str], level: float, scope: Mapping[str, Any]
) -> list[Result]:
    """Per reader, per arm, and over readers; what leads follows from the design of the data."""
    analysis = endpoint.analyse(endpoint.outcome)
    here = {**scope, "endpoint": endpoint.name}
    results = _per_reader(endpoint, readings, arms, here)
    for i, arm in enumerate(arms):
        means = analysis.arm_means(i, level)
        results += by_analysis(f"{ID}.arm_mean", {**here, "arm": arm}, means, analysis.first(means))
    differences = analysis.differences(level)
    first = analysis.first(differences)
    here = {**here, "arms": list(arms)}
    results += by_analysis(f"{ID}.arm_difference", here, differences, first, unit="difference")
    differences["fixed_cases"] = mean_benefit(endpoint.changes, level=level)
    return results + by_analysis(f"{ID}.mean_benefit", here, differences, first, unit="difference")


def by_analysis(
    id: str, here: Mapping[str, Any], estimates: Mapping[str, Estimate], first: str, unit: Unit = "proportion"
) -> list[Result]:
    """An entry per analysis, the one named `first` leading."""
    return [
        Result(id, {**here, "analysis": a}, possible(e, unit), unit, a == first) for a, e in estimates.items()
    ]


def _per_reader(
    endpoint: Endpoint, readings: Readings, arms: tuple[str, str], here: Mapping[str, Any]
) -> list[Result]:
    results = []
    for j, reader in enumerate(readings.readers.labels):
        own = {**here, "reader": reader}
        for arm, of_arm in zip(arms, endpoint.by_reader, strict=True):
            one = of_arm[j]
            results += answers(f"{ID}.reader_estimate", {**own, "arm": arm}, [one], leads=one.method)
        change = endpoint.benefits[j]
        contrast = {**own, "arms": list(arms)}
        results += answers(f"{ID}.benefit", contrast, [change], leads=change.method, unit="difference")
    return results
