"""Pragmatic utility from a table of readings: linked decisions, readers and cases as they arose."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.flow import PARTIAL_DESIGNS
from trustreport.dimensions.pragmatic_utility.comparison import ID, Comparison, contrast_results
from trustreport.dimensions.pragmatic_utility.counts import missing_bounds, paired, two_sample
from trustreport.estimate import Estimate
from trustreport.measures.mrmc.clustered import CLUSTERINGS, clustered_difference, mcnemar_clustered_case
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.gee import gee_odds_ratio
from trustreport.measures.mrmc.marginal_ratio import or_delta, rr_delta
from trustreport.measures.mrmc.obuchowski_rockette import (
    MODES,
    Mode,
    ObuchowskiRockette,
    fit_proportions,
    leading,
    obuchowski_rockette,
)
from trustreport.measures.mrmc.ustatistic import UStatistic, ustatistic
from trustreport.measures.paired.table import PairedTable
from trustreport.plan import Plan
from trustreport.results import Result, answers
from trustreport.study import ArmCounts, Floats, Readings

# The grid of errors holds the compared arm first, then its baseline.
AIDED, UNAIDED = 0, 1


def errors(readings: Readings, arms: tuple[str, str]) -> Floats:
    """1.0 where a decision is unlike the truth, 0.0 where it is like it: (2, n_readers, n_cases)."""
    truth = readings.truth
    assert readings.decision is not None
    judged = (readings.decision >= 0) & (truth >= 0)
    return readings.grid(np.where(judged, (readings.decision != truth).astype(float), np.nan), arms)


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


def from_readings(
    readings: Readings, arms: tuple[str, str], plan: Plan, *, scope: Mapping[str, Any]
) -> Comparison:
    """Every analysis of the readings of one task; which leads follows from the design of the data."""
    level = plan.report.confidence_level
    grid = errors(readings, arms)
    table = pairs_of(grid)
    results = two_sample(scope, arms, counts_of(grid[AIDED]), counts_of(grid[UNAIDED]), level, leads=False)
    if table.n:
        results += paired(scope, arms, table, level, leads=False)
        results += clustered(scope, arms, grid, level)
        results += marginal(scope, arms, grid, level)
    results += mrmc(scope, arms, grid, level)
    if plan.expected_prevalence is not None:
        results += at_prevalence(scope, arms, grid, readings.cases.truth, plan.expected_prevalence, level)
    if plan.reading.design not in PARTIAL_DESIGNS:
        aided, unaided = counts_of(grid[AIDED]), counts_of(grid[UNAIDED])
        results += missing_bounds(scope, arms, aided, unaided, grid[0].size, level)
    return Comparison(scope, *arms, tuple(results))


def clustered(scope: Mapping[str, Any], arms: tuple[str, str], grid: Floats, level: float) -> list[Result]:
    """ARR and McNemar's test with cases, readers or both as clusters."""
    here = {**scope, "arms": list(arms), "analysis": "clustered"}
    arr = [
        clustered_difference(grid, clustering, compared=UNAIDED, baseline=AIDED, level=level)
        for clustering in CLUSTERINGS
    ]
    test = mcnemar_clustered_case(grid, compared=UNAIDED, baseline=AIDED, level=level)
    tests = answers(f"{ID}.mcnemar", here, [test], leads="mcnemar_clustered_case", unit="p")
    return contrast_results(here, arr=arr) + tests


def marginal(scope: Mapping[str, Any], arms: tuple[str, str], grid: Floats, level: float) -> list[Result]:
    """The odds ratio of generalised estimating equations, cases as clusters."""
    here = {**scope, "arms": list(arms), "analysis": "clustered"}
    odds_ratio = gee_odds_ratio(grid, compared=AIDED, baseline=UNAIDED, level=level)
    return contrast_results(here, odds_ratio=[odds_ratio])


def mrmc(scope: Mapping[str, Any], arms: tuple[str, str], grid: Floats, level: float) -> list[Result]:
    """Readers and cases sampled: Obuchowski-Rockette where every reader read all, and the U-statistic."""
    fit = fit_proportions(grid) if not np.isnan(grid).any() else None
    unbiased = ustatistic(grid)
    here = {**scope, "analysis": "mrmc"}
    results: list[Result] = []
    for i, name in enumerate(arms):
        rates = [unbiased.arm_mean(i, level=level)]
        if fit:
            rates = _led(fit, [fit.arm_mean(i, mode=mode, level=level) for mode in MODES]) + rates
        results += answers(f"{ID}.error_rate", {**here, "arm": name}, rates, leads=_leader(fit, rates))
    arr = [unbiased.difference(UNAIDED, AIDED, level=level)]
    if fit:
        arr = _led(fit, [fit.difference(UNAIDED, AIDED, mode=mode, level=level) for mode in MODES]) + arr
    first = _leader(fit, arr)
    note = next(e.note for e in arr if e.method == first)
    ratios = _ratios(fit, unbiased, first, level, note)
    return results + contrast_results(
        {**here, "arms": list(arms)},
        arr=arr,
        rr=[ratios[0]],
        odds_ratio=[ratios[1]],
        leads={"arr": first, "rr": "rr_delta", "odds_ratio": "or_delta"},
    )


def _leader(fit: ObuchowskiRockette | None, estimates: list[Estimate]) -> str:
    """The method that leads: by design of the data, and under five readers the wider interval."""
    if fit is None:
        return "ustatistic_bdg"
    return _lead(fit, estimates).method


def _lead(fit: ObuchowskiRockette, estimates: list[Estimate]) -> Estimate:
    by_method = {e.method: e for e in estimates}
    return leading(by_method["or_rrrc"], by_method["or_frrc"], fit.n_readers)


def _led(fit: ObuchowskiRockette, estimates: list[Estimate]) -> list[Estimate]:
    """The estimates, the one that leads with why it does, where that is not the design alone."""
    lead = _lead(fit, estimates)
    return [lead if e.method == lead.method else e for e in estimates]


def _ratios(
    fit: ObuchowskiRockette | None, unbiased: UStatistic, method: str, level: float, note: str
) -> tuple[Estimate, Estimate]:
    """Relative risk and odds ratio of errors from the covariance behind the leading difference."""
    n = int(unbiased.n.min())
    if fit is None:
        covariance, df = unbiased.mean_covariance(AIDED, UNAIDED), unbiased.reference_df(AIDED, UNAIDED)
        means = unbiased.means
    else:
        mode: Mode = "or_frrc" if method == "or_frrc" else "or_rrrc"
        covariance, df = fit.mean_covariance(AIDED, UNAIDED, mode=mode), fit.reference_df(mode)
        means = fit.means
    rates = float(means[AIDED]), float(means[UNAIDED])
    return (
        rr_delta(*rates, covariance, n, df=df, level=level, note=note),
        or_delta(*rates, covariance, n, df=df, level=level, note=note),
    )


def at_prevalence(
    scope: Mapping[str, Any],
    arms: tuple[str, str],
    grid: Floats,
    truth: NDArray[np.int8],
    prevalence: float,
    level: float,
) -> list[Result]:
    """ARR and NND if the share of positives were `prevalence`: pi x change in sensitivity + (1 - pi) x change
    in specificity, readers and cases sampled."""
    here = {**scope, "arms": list(arms), "analysis": "mrmc", "parameters": {"prevalence": prevalence}}
    positive, negative = grid[:, :, truth == 1], grid[:, :, truth == 0]
    if not positive.size or not negative.size:
        return []
    judged = grid[:, :, truth >= 0]
    if np.isnan(judged).any():
        arr = [_incomplete_at_prevalence(grid, truth, prevalence, level)]
        return contrast_results(here, arr=arr, leads={"arr": "ustatistic_bdg"})
    theta = prevalence * proportions(positive) + (1 - prevalence) * proportions(negative)
    covariance = prevalence**2 * proportion_covariance(positive)
    covariance += (1 - prevalence) ** 2 * proportion_covariance(negative)
    fit = obuchowski_rockette(theta, covariance, judged.shape[-1])
    arr = [fit.difference(UNAIDED, AIDED, mode=mode, level=level) for mode in MODES]
    return contrast_results(here, arr=arr, leads={"arr": _leader(fit, arr)})


def _incomplete_at_prevalence(
    grid: Floats, truth: NDArray[np.int8], prevalence: float, level: float
) -> Estimate:
    """The same with readings missing: each class of each arm is an arm of the U-statistic."""
    classes = [np.where(truth == c, grid[arm], np.nan) for arm in (UNAIDED, AIDED) for c in (1, 0)]
    shares = np.array([prevalence, 1 - prevalence])
    return ustatistic(np.stack(classes)).contrast(np.concatenate([shares, -shares]), level=level)
