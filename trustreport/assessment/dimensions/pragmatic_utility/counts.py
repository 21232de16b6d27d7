"""Pragmatic utility from counts: two published groups, or the paired table of one reader."""

from typing import Any

from trustreport.assessment.dimensions.pragmatic_utility.comparison import ID, ArmComparison, contrast_results
from trustreport.measures import proportion
from trustreport.measures.estimate import Estimate
from trustreport.measures.paired import difference as paired_difference
from trustreport.measures.paired import ratios as paired_ratios
from trustreport.measures.paired.difference import PairedTable
from trustreport.measures.two_arm import difference, ratios
from trustreport.study.plan import PairedCounts
from trustreport.study.study import ArmCounts, CountsSet
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result, results_for

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
