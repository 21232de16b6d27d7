"""Pragmatic utility from a table of readings: linked decisions, readers and cases as they arose."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.flow import PARTIAL_DESIGNS
from trustreport.dimensions.pragmatic_utility.comparison import ID, ArmComparison, contrast_results
from trustreport.dimensions.pragmatic_utility.counts import missing_bounds, paired, two_sample
from trustreport.estimate import Estimate
from trustreport.measures.cluster import Clusters
from trustreport.measures.mrmc.clustered import CLUSTERINGS, clustered_difference, mcnemar_clustered_case
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.crossed_clusters import means_of_patients
from trustreport.measures.mrmc.gee import gee_odds_ratio
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.mrmc.obuchowski_rockette import MODES, leading, obuchowski_rockette
from trustreport.measures.mrmc.one_reader import OneReader, OneReaderYouden
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.paired.table import PairedTable
from trustreport.performance.reader_errors import reader_errors
from trustreport.performance.readers import AIDED, UNAIDED, correct_decisions, patients_of, reading_key
from trustreport.place import Place
from trustreport.plan import Plan
from trustreport.results import Result
from trustreport.study import ArmCounts, Floats, Readings


def counts_of(grid: Floats) -> ArmCounts:
    """Errors and right decisions of the readings of one arm."""
    wrong = int(np.nansum(grid))
    return ArmCounts(wrong, int(np.count_nonzero(~np.isnan(grid))) - wrong)


def pairs_of(grid: Floats) -> PairedTable:
    """The pairs of one reader and case read in both arms, by whether each decision was right."""
    aided, unaided = (arm[~np.isnan(grid).any(axis=0)] for arm in grid)
    both_wrong = int(np.count_nonzero((aided == 1) & (unaided == 1)))
    mended = int(np.count_nonzero((aided == 0) & (unaided == 1)))
    spoiled = int(np.count_nonzero((aided == 1) & (unaided == 0)))
    return PairedTable(len(aided) - both_wrong - mended - spoiled, mended, spoiled, both_wrong)


def from_readings(readings: Readings, arms: tuple[str, str], plan: Plan, *, place: Place) -> ArmComparison:
    """Every analysis of the readings of one task; which is primary follows from the design of the data."""
    level, key = plan.report.confidence_level, reading_key(readings)
    grid = 1 - correct_decisions(readings, arms)
    table = pairs_of(grid)
    results = two_sample(
        place, arms, counts_of(grid[AIDED]), counts_of(grid[UNAIDED]), level, leads=False, cases=key
    )
    if table.n:
        results += paired(place, arms, table, level, leads=False, cases=key)
        results += clustered(place.at(arms=arms), grid, patients_of(readings), level, cases=key)
    results += mrmc(readings, arms, place, level)
    if plan.expected_prevalence is not None:
        truth, contrast, cluster = readings.cases.truth, place.at(arms=arms), patients_of(readings)
        results += at_prevalence(contrast, grid, truth, cluster, plan.expected_prevalence, level, cases=key)
    if plan.reading.design not in PARTIAL_DESIGNS:
        aided, unaided = counts_of(grid[AIDED]), counts_of(grid[UNAIDED])
        results += missing_bounds(place, arms, aided, unaided, grid[0].size, level)
    return ArmComparison(place, *arms, tuple(results))


def clustered(
    contrast: Place, grid: Floats, cluster: Clusters | None, level: float, **of: Any
) -> list[Result]:
    """ARR and McNemar's test with cases (or patients), readers or both as clusters, and the odds ratio of
    generalised estimating equations, cases as clusters."""
    arr = [
        clustered_difference(grid, clustering, compared=UNAIDED, baseline=AIDED, cluster=cluster, level=level)
        for clustering in CLUSTERINGS
    ]
    odds_ratio = gee_odds_ratio(grid, compared=AIDED, baseline=UNAIDED, level=level)
    test = mcnemar_clustered_case(grid, compared=UNAIDED, baseline=AIDED, cluster=cluster, level=level)
    of = {**of, "analysis": "clustered"}
    found = contrast_results(contrast, arr=arr, odds_ratio=[odds_ratio], **of)
    return [*found, Result(f"{ID}.mcnemar", contrast, test, primary=True, **of)]


def mrmc(readings: Readings, arms: tuple[str, str], place: Place, level: float) -> list[Result]:
    """Readers and cases sampled, from the accuracy of the same readings."""
    found = reader_errors(readings, arms, level)
    of: dict[str, Any] = {"analysis": "mrmc", "cases": reading_key(readings)}
    results = [
        Result(f"{ID}.error_rate", place.at(arm=arm), e, primary=i == 0, **of)
        for arm, rates in zip(arms, found.rates)
        for i, e in enumerate(rates)
    ]
    return results + contrast_results(
        place.at(arms=arms),
        arr=found.arr,
        rr=[found.rr],
        odds_ratio=[found.odds_ratio],
        leads={"arr": found.arr[0].method, "rr": "rr_delta", "odds_ratio": "or_delta"},
        **of,
    )


def at_prevalence(
    contrast: Place,
    grid: Floats,
    truth: NDArray[np.int8],
    cluster: Clusters | None,
    prevalence: float,
    level: float,
    **of: Any,
) -> list[Result]:
    """ARR and NND if the prevalence were `prevalence`: pi x change in sensitivity + (1 - pi) x change
    in specificity, readers and cases sampled."""
    of = {**of, "analysis": "mrmc", "parameters": {"prevalence": prevalence}}
    positive, negative = grid[:, :, truth == 1], grid[:, :, truth == 0]
    if not positive.size or not negative.size:
        return []
    judged = grid[:, :, truth >= 0]
    if cluster is not None:
        gaps = bool(np.isnan(judged).any())
        classes = means_of_patients(_by_class(grid, truth), cluster, gaps=gaps)
        arr = [difference_in_range(classes.contrast(_at(prevalence), level=level))]
        return contrast_results(contrast, arr=arr, leads={"arr": arr[0].method}, **of)
    if judged.shape[1] == 1:
        alone = OneReaderYouden(OneReader(positive), OneReader(negative))
        arr = [alone.weighted((prevalence, 1 - prevalence), UNAIDED, AIDED, level=level)]
        return contrast_results(contrast, arr=arr, leads={"arr": arr[0].method}, **of)
    if np.isnan(judged).any():
        arr = [_incomplete_at_prevalence(grid, truth, prevalence, level)]
        return contrast_results(contrast, arr=arr, leads={"arr": arr[0].method}, **of)
    theta = prevalence * proportions(positive) + (1 - prevalence) * proportions(negative)
    covariance = prevalence**2 * proportion_covariance(positive)
    covariance += (1 - prevalence) ** 2 * proportion_covariance(negative)
    fit = obuchowski_rockette(theta, covariance, judged.shape[-1])
    arr = [fit.difference(UNAIDED, AIDED, mode=mode, level=level) for mode in MODES]
    by_method = {e.method: e for e in arr}
    lead = difference_in_range(leading(by_method["or_rrrc"], by_method["or_frrc"], fit.n_readers))
    arr = [lead, *(e for e in arr if e.method != lead.method)]
    return contrast_results(contrast, arr=arr, leads={"arr": lead.method}, **of)


def _incomplete_at_prevalence(
    grid: Floats, truth: NDArray[np.int8], prevalence: float, level: float
) -> Estimate:
    """The same with readings missing: each class of each arm is an arm of the U-statistic."""
    statistic = ustatistic(_by_class(grid, truth), centred=True)
    return difference_in_range(statistic.contrast(_at(prevalence), level=level))


def _by_class(grid: Floats, truth: NDArray[np.int8]) -> Floats:
    """Positive and negative cases of each arm as arms of their own, (4, n_readers, n_cases)."""
    return np.stack([np.where(truth == c, grid[arm], np.nan) for arm in (UNAIDED, AIDED) for c in (1, 0)])


def _at(prevalence: float) -> Floats:
    """What each of these arms weighs in the change at a prevalence."""
    shares = np.array([prevalence, 1 - prevalence])
    return np.concatenate([shares, -shares])
