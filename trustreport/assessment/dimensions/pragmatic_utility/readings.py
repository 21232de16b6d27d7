"""Pragmatic utility from a table of readings: linked decisions, readers and cases as they arose."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from trustreport.assessment.case_mix import PARTIAL_DESIGNS
from trustreport.assessment.dimensions.pragmatic_utility.comparison import ID, ArmComparison, contrast_results
from trustreport.assessment.dimensions.pragmatic_utility.counts import missing_bounds, paired, two_sample
from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED
from trustreport.assessment.performance.reader_errors import reader_errors
from trustreport.assessment.performance.readers import (
    at_prevalence,
    correct_decisions,
    patients_of,
    reading_key,
    share_positive,
)
from trustreport.measures.cluster import Clusters
from trustreport.measures.mrmc.clustered import (
    CLUSTERINGS,
    clustered_difference,
    gee_odds_ratio,
    mcnemar_clustered_case,
)
from trustreport.measures.paired.difference import PairedTable
from trustreport.study.plan import Plan
from trustreport.study.study import ArmCounts, Floats, Readings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result


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
        results += clustered(place.narrowed(arms=arms), grid, patients_of(readings), level, cases=key)
    results += mrmc(readings, arms, place, level)
    results += at_prevalences(place.narrowed(arms=arms), readings, arms, plan, cases=key)
    if plan.reading.design not in PARTIAL_DESIGNS:
        aided, unaided = counts_of(grid[AIDED]), counts_of(grid[UNAIDED])
        results += missing_bounds(place, arms, aided, unaided, grid[0].size, level)
    return ArmComparison(place, *arms, tuple(results), share_positive(readings))


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
        Result(f"{ID}.error_rate", place.narrowed(arm=arm), e, primary=i == 0, **of)
        for arm, rates in zip(arms, found.rates)
        for i, e in enumerate(rates)
    ]
    return results + contrast_results(
        place.narrowed(arms=arms),
        arr=found.arr,
        rr=[found.rr],
        odds_ratio=[found.odds_ratio],
        leads={"arr": found.arr[0].method, "rr": "rr_delta", "odds_ratio": "or_delta"},
        **of,
    )


def at_prevalences(
    contrast: Place, readings: Readings, arms: tuple[str, str], plan: Plan, **of: Any
) -> Iterator[Result]:
    """ARR and NND if the prevalence were the declared one: p x change in sensitivity + (1 - p) x change in
    specificity, readers and cases sampled."""
    level = plan.report.confidence_level
    for prevalence in plan.prevalences:
        accuracy = at_prevalence(readings, arms, level, prevalence)
        if accuracy is not None:
            changes = {e.method: e for e in reversed(accuracy.whole.differences(level).values())}
            arr = [*reversed(changes.values())]
            of |= {"analysis": "mrmc", "parameters": {"prevalence": prevalence}}
            yield from contrast_results(contrast, arr=arr, leads={"arr": arr[0].method}, **of)
