"""Every number of decision benefit for one task: per reader, per endpoint, over all readers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate
from trustreport.measures.mrmc.auc import (
    COVARIANCE_METHODS,
    auc_ustatistic,
    fit_auc,
    reader_auc,
)
from trustreport.measures.mrmc.obuchowski_rockette import MODES, ObuchowskiRockette, fit_proportions, leading
from trustreport.measures.mrmc.reader_auc import reader_auc_benefit, reader_auc_estimate
from trustreport.measures.mrmc.reader_effects import (
    mean_benefit,
    reader_benefit,
    reader_changes,
    reader_estimate,
)
from trustreport.measures.mrmc.ustatistic import UStatistic, ustatistic
from trustreport.results import Result, Unit, answers
from trustreport.study import Floats, Readings

ID = "decision_benefit"
# Arrays of two arms hold the compared arm first, then its baseline.
AIDED, UNAIDED = 0, 1
# The covariance that leads where there are several.
FIRST_COVARIANCE = "jackknife"


@dataclass(frozen=True, eq=False)
class Endpoint:
    """One endpoint of the readers, with all that is estimated of it.

    `fits` holds an Obuchowski-Rockette fit per covariance where every reader read every case in both arms,
    and is empty elsewhere; `unbiased` serves any design. `by_reader` (2, n_readers) are the readers' own
    estimates, aided arm first, and `benefits` (n_readers,) their changes.
    """

    name: str
    unbiased: UStatistic
    by_reader: tuple[tuple[Estimate, ...], tuple[Estimate, ...]]
    benefits: tuple[Estimate, ...]
    changes: NDArray[np.float64]
    fits: Mapping[str, ObuchowskiRockette] = field(default_factory=dict)


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


def correct_decisions(readings: Readings, arms: tuple[str, str]) -> Floats:
    """1.0 where the decision is the truth, 0.0 where it is not, NaN where there is none of either."""
    truth = readings.truth
    assert readings.decision is not None
    judged = (readings.decision >= 0) & (truth >= 0)
    return readings.grid(np.where(judged, (readings.decision == truth).astype(float), np.nan), arms)


def proportion(name: str, correct: Floats, level: float) -> Endpoint:
    """A share of right decisions; `correct` (2, n_readers, n_cases) over the cases that count."""
    readers = range(correct.shape[1])
    complete = not np.isnan(correct).any()
    return Endpoint(
        name,
        ustatistic(correct),
        (
            tuple(reader_estimate(correct, AIDED, j, level=level) for j in readers),
            tuple(reader_estimate(correct, UNAIDED, j, level=level) for j in readers),
        ),
        tuple(reader_benefit(correct, j, compared=AIDED, baseline=UNAIDED, level=level) for j in readers),
        reader_changes(correct, compared=AIDED, baseline=UNAIDED),
        {FIRST_COVARIANCE: fit_proportions(correct)} if complete else {},
    )


def auc(rating: Floats, truth: NDArray[np.bool_], level: float) -> Endpoint:
    """The area under each reader's curve; `rating` (2, n_readers, n_cases)."""
    readers = range(rating.shape[1])
    complete = not np.isnan(rating).any()
    areas = reader_auc(rating, truth)
    return Endpoint(
        "auc",
        auc_ustatistic(rating, truth),
        (
            tuple(reader_auc_estimate(rating[AIDED, j], truth, level=level) for j in readers),
            tuple(reader_auc_estimate(rating[UNAIDED, j], truth, level=level) for j in readers),
        ),
        tuple(reader_auc_benefit(rating[AIDED, j], rating[UNAIDED, j], truth, level=level) for j in readers),
        areas[AIDED] - areas[UNAIDED],
        {method: fit_auc(rating, truth, method) for method in COVARIANCE_METHODS} if complete else {},
    )


def results_of(
    endpoint: Endpoint, readings: Readings, arms: tuple[str, str], level: float, scope: Mapping[str, Any]
) -> list[Result]:
    """Per reader, per arm, and over readers; what leads follows from the design of the data."""
    here = {**scope, "endpoint": endpoint.name}
    results = _per_reader(endpoint, readings, arms, here)
    for i, arm in enumerate(arms):
        by_analysis = {
            f"{mode}_{covariance}": fit.arm_mean(i, mode=mode, level=level)
            for covariance, fit in endpoint.fits.items()
            for mode in MODES
        }
        by_analysis["ustatistic_bdg"] = endpoint.unbiased.arm_mean(i, level=level)
        results += _analysed(f"{ID}.arm_mean", {**here, "arm": arm}, endpoint, by_analysis, "proportion")
    by_analysis = {
        f"{mode}_{covariance}": fit.difference(AIDED, UNAIDED, mode=mode, level=level)
        for covariance, fit in endpoint.fits.items()
        for mode in MODES
    }
    by_analysis["ustatistic_bdg"] = endpoint.unbiased.difference(AIDED, UNAIDED, level=level)
    here = {**here, "arms": list(arms)}
    results += _analysed(f"{ID}.arm_difference", here, endpoint, by_analysis, "difference")
    by_analysis["fixed_cases"] = mean_benefit(endpoint.changes, level=level)
    return results + _analysed(f"{ID}.mean_benefit", here, endpoint, by_analysis, "difference")


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


def _analysed(
    id: str,
    here: Mapping[str, Any],
    endpoint: Endpoint,
    by_analysis: Mapping[str, Estimate],
    unit: Unit,
) -> list[Result]:
    """An entry per analysis; under five readers the wider of random and fixed readers leads."""
    first = "ustatistic_bdg"
    if endpoint.fits:
        random, fixed = (by_analysis[f"{mode}_{FIRST_COVARIANCE}"] for mode in ("or_rrrc", "or_frrc"))
        first = f"{leading(random, fixed, len(endpoint.changes)).method}_{FIRST_COVARIANCE}"
    return [Result(id, {**here, "analysis": a}, e, unit, a == first) for a, e in by_analysis.items()]
