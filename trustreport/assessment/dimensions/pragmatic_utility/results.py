"""Comparisons of two arms: published counts, the paired table of one reader, readings by their design."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Any

import numpy as np

from trustreport.assessment.case_mix import PARTIAL_DESIGNS
from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED
from trustreport.assessment.performance.reader_errors import reader_errors
from trustreport.assessment.performance.readers import (
    at_prevalence,
    correct_decisions,
    patients_of,
    reading_key,
    share_positive,
)
from trustreport.measures import proportion
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.clustered import (
    CLUSTERINGS,
    clustered_difference,
    gee_odds_ratio,
    mcnemar_clustered_case,
)
from trustreport.measures.paired import difference as paired_difference
from trustreport.measures.paired import ratios as paired_ratios
from trustreport.measures.paired.difference import PairedTable
from trustreport.measures.two_arm import difference, ratios
from trustreport.measures.two_arm.difference import number_needed
from trustreport.study.plan import PairedCounts, Plan
from trustreport.study.study import ArmCounts, CountsSet, Floats, Readings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result, leading, results_for

ID = "pragmatic_utility"


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """An arm against its baseline in one set or task, with every result about the pair.

    `place` names the set or task; `aided` and `unaided` are the names of the compared and the baseline arm.
    """

    place: Place
    aided: str
    unaided: str
    results: tuple[Result, ...]
    prevalence: float = nan  # among the cases of the readings

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        return self.place.set or self.place.task or ""

    def lead(self, quantity: str, arm: str | None = None) -> Result:
        """The primary entry of a quantity, of one arm or of the contrast."""
        place = self.place.narrowed(arm=arm) if arm else self.place.narrowed(arms=(self.aided, self.unaided))
        found = leading(self.results, f"{ID}.{quantity}", **place.scope)
        if found is None:
            raise LookupError(f"no primary entry of {quantity} in {place.scope}")
        return found

    def entries(self, quantity: str) -> list[Result]:
        """Every entry of a quantity of the contrast, in the order of computing."""
        return [r for r in self.results if r.id == f"{ID}.{quantity}" and r.place.arms]


def contrast_results(
    place: Place,
    *,
    arr: Iterable[Estimate] = (),
    rr: Iterable[Estimate] = (),
    odds_ratio: Iterable[Estimate] = (),
    leads: Mapping[str, str] | None = None,
    **of: Any,
) -> list[Result]:
    """Entries of a contrast, with NND after every ARR and RRR after every RR; `leads` names methods."""
    first = leads or {}
    arr, rr = list(arr), list(rr)

    def add(name: str, estimates: Iterable[Estimate], like: str) -> Iterator[Result]:
        """The results of one quantity, primary by the method that leads."""
        yield from results_for(f"{ID}.{name}", place, estimates, leads=first.get(like, ""), **of)

    return [
        *add("arr", arr, "arr"),
        *add("nnd", map(number_needed, arr), "arr"),
        *add("rr", rr, "rr"),
        *add("rrr", map(relative_reduction, rr), "rr"),
        *add("odds_ratio", odds_ratio, "odds_ratio"),
    ]


def relative_reduction(rr: Estimate) -> Estimate:
    """Relative risk reduction, 1 - RR, with the limits of the relative risk turned about."""
    return replace(rr, value=1 - rr.value, low=1 - rr.high, high=1 - rr.low, se=rr.se, details={})


def crosses(estimate: Estimate, null: float) -> bool | None:
    """Whether the interval includes the value of no effect; None where there is no interval to ask."""
    if not (isfinite(estimate.low) or isfinite(estimate.high)):
        return None
    return bool(estimate.low <= null <= estimate.high)


# Above this count the exact odds-ratio interval no longer differs from Woolf's to any printed digit.
EXACT_UP_TO = 2500

MISSING_BOUNDS = "missing_bounds"


def two_sample(
    place: Place,
    arms: tuple[str, str],
    aided: ArmCounts,
    unaided: ArmCounts,
    level: float,
    *,
    leads: bool = True,
    cases: str = "",
) -> list[Result]:
    """Every two-sample entry; `leads` says whether one of them is primary or one of a paired analysis."""
    of: dict[str, Any] = {"analysis": "two_sample", "cases": cases}
    table = (aided.errors, aided.n, unaided.errors, unaided.n)
    turned = (unaided.errors, unaided.n, aided.errors, aided.n)
    large = max(aided.errors, aided.correct, unaided.errors, unaided.correct) > EXACT_UP_TO
    first = {"arr": "newcombe", "rr": "koopman", "odds_ratio": "woolf" if large else "baptista_pike"}
    results = []
    for name, arm in zip(arms, (aided, unaided), strict=True):
        results += error_rates(place.narrowed(arm=name), arm, level, leads="wilson" if leads else "", **of)
    return results + contrast_results(
        place.narrowed(arms=arms),
        arr=[
            f(*turned, level) for f in (difference.wald, difference.newcombe, difference.miettinen_nurminen)
        ],
        rr=[f(*table, level) for f in (ratios.katz, ratios.koopman)],
        odds_ratio=[f(*table, level) for f in (ratios.woolf, ratios.exact_conditional, ratios.baptista_pike)],
        leads=first if leads else None,
        **of,
    )


def error_rates(place: Place, arm: ArmCounts, level: float, *, leads: str, **of: Any) -> list[Result]:
    """The error rate of one arm with its three intervals."""
    methods = (proportion.wald, proportion.wilson, proportion.clopper_pearson)
    found = [f(arm.errors, arm.n, level) for f in methods]
    return results_for(f"{ID}.error_rate", place, found, leads=leads, **of)


def paired(
    place: Place,
    arms: tuple[str, str],
    table: PairedTable,
    level: float,
    *,
    leads: bool = True,
    cases: str = "",
) -> list[Result]:
    """Every entry of a paired table: differences, ratios, McNemar's tests."""
    contrast, of = place.narrowed(arms=arms), {"analysis": "paired", "cases": cases}
    results = contrast_results(
        contrast,
        arr=[
            f(table, level)
            for f in (
                paired_difference.wald_paired,
                paired_difference.tango,
                paired_difference.newcombe_paired,
            )
        ],
        rr=[paired_ratios.rr_delta(table, level)] if leads else [],
        odds_ratio=[
            *([paired_ratios.or_delta(table, level)] if leads else []),
            paired_ratios.matched_wald(table, level),
            paired_ratios.matched_exact(table, level),
        ],
        leads={"arr": "tango", "rr": "rr_delta", "odds_ratio": "or_delta"} if leads else None,
        **of,
    )
    tests = [paired_ratios.mcnemar_exact(table, level), paired_ratios.mcnemar_midp(table, level)]
    first = "mcnemar_exact" if leads else ""
    return results + results_for(f"{ID}.mcnemar", contrast, tests, leads=first, **of)


def from_counts(counts: CountsSet, arms: tuple[str, str], level: float) -> ArmComparison:
    """A published table of two arms."""
    place = Place(set=counts.name)
    aided, unaided = (counts.arms[name] for name in arms)
    results = two_sample(place, arms, aided, unaided, level)
    if counts.readers and counts.cases:
        expected = counts.readers * counts.cases
        results += missing_bounds(place, arms, aided, unaided, expected, level)
    return ArmComparison(place, *arms, tuple(results))


def from_paired_counts(counts: PairedCounts, arms: tuple[str, str], level: float) -> ArmComparison:
    """The paired table of two arms on the same cases; the marginal comparison is beside it."""
    place = Place(set=counts.set)
    table = PairedTable(
        counts.both_right,
        counts.aided_right_unaided_wrong,
        counts.aided_wrong_unaided_right,
        counts.both_wrong,
    )
    aided = ArmCounts(
        table.aided_wrong_unaided_right + table.both_wrong, table.both_right + table.aided_right_unaided_wrong
    )
    unaided = ArmCounts(
        table.aided_right_unaided_wrong + table.both_wrong, table.both_right + table.aided_wrong_unaided_right
    )
    results = two_sample(place, arms, aided, unaided, level, leads=False)
    for name, arm in zip(arms, (aided, unaided), strict=True):
        results += error_rates(place.narrowed(arm=name), arm, level, leads="wilson", analysis="paired")
    return ArmComparison(place, *arms, (*results, *paired(place, arms, table, level)))


def missing_bounds(
    place: Place,
    arms: tuple[str, str],
    aided: ArmCounts,
    unaided: ArmCounts,
    expected: int,
    level: float,
) -> list[Result]:
    """ARR if every missing reading had gone against the aid (low), and for it (high)."""
    absent_aided, absent_unaided = expected - aided.n, expected - unaided.n
    if (
        min(absent_aided, absent_unaided) < 0
        or not absent_aided + absent_unaided
        or not aided.n
        or not unaided.n
    ):
        return []
    value = unaided.errors / unaided.n - aided.errors / aided.n
    low = (unaided.errors - aided.errors - absent_aided) / expected
    high = (unaided.errors + absent_unaided - aided.errors) / expected
    details = {"expected": expected, "missing_aided": absent_aided, "missing_unaided": absent_unaided}
    estimate = Estimate(value, low, high, 2 * expected, level, MISSING_BOUNDS, details=details)
    return [Result(f"{ID}.arr_missing_bounds", place.narrowed(arms=arms), estimate, primary=True)]


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
