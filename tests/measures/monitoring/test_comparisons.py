"""Funnel, standardised change, drift, rates and changes against other software, printed and hand counts."""

import csv
from math import nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from trustreport.measures.estimate import Estimate
from trustreport.measures.monitoring import change, drift, notes, rates
from trustreport.measures.monitoring.standardisation import standardised_change
from trustreport.measures.roc.difference import unpaired_difference

REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "monitoring.csv"
with REFERENCE.open(newline="") as file:
    R = {(row["what"], row["arguments"]): float(row["value"]) for row in csv.DictReader(file)}

EVENTS, CASES = (12, 8, 30, 9, 22, 15), (100, 120, 100, 90, 150, 80)
UNITS = "12 8 30 9 22 15 | 100 120 100 90 150 80"


def test_between_unit_variance_is_that_of_metafor() -> None:
    """metafor's method DL weighs by the variances given, so it estimates the pooled share as its mean."""
    pooled = sum(EVENTS) / sum(CASES)
    n = np.array(CASES)
    variance = pooled * (1 - pooled) / n
    q = float((((np.array(EVENTS) / n - pooled) ** 2) / variance).sum())
    assert q == pytest.approx(R["dersimonian_laird_q", UNITS])
    assert rates.between(q, variance) == pytest.approx(R["dersimonian_laird_tau2", UNITS])


def test_funnel_scores_counted_by_hand() -> None:
    found = rates.funnel([10, 30], [100, 100], target=0.2)
    assert [z.value for z in found.z["funnel_naive"]] == pytest.approx([-2.5, 2.5])
    assert [z.note for z in found.z["funnel_additive"]] == [notes.FEW_UNITS] * 2
    (low,), (high,) = found.limits(np.array([100.0]), 0.95, "funnel_naive")
    assert (low, high) == pytest.approx((0.2 - 1.959964 * 0.04, 0.2 + 1.959964 * 0.04))


def test_over_dispersion_widens_and_equal_units_do_not() -> None:
    spread = rates.funnel(EVENTS, CASES)
    naive, multiplicative, additive = (spread.z[m][2].value for m in rates.METHODS)
    assert naive > multiplicative > 1
    assert naive > additive > 1
    z = np.array([e.value for e in spread.z["funnel_naive"]])
    clipped = np.clip(z, *np.quantile(z, (0.1, 0.9)))
    assert spread.phi == pytest.approx((clipped**2).mean())
    assert multiplicative == pytest.approx(naive / np.sqrt(spread.phi))
    alike = rates.funnel([10, 11, 9, 10], [100] * 4)
    assert alike.tau == 0
    assert [e.value for e in alike.z["funnel_additive"]] == [e.value for e in alike.z["funnel_naive"]]


@pytest.mark.parametrize(
    "events, n, target, why",
    [
        ([], [], None, None),
        ([3], [10], None, notes.ONE_UNIT),
        ([0, 0, 0], [10, 10, 10], None, notes.NO_SPREAD),
        ([3, 0, 2, 4], [10, 0, 10, 10], None, notes.NO_CASE),
    ],
)
def test_funnels_without_scores_say_why(events: list, n: list, target: float | None, why: str | None) -> None:
    found = rates.funnel(events, n, target=target)
    undefined = [z for z in found.z["funnel_naive"] if np.isnan(z.value)]
    assert (undefined[0].note if undefined else None) == why


def test_few_expected_events_are_said() -> None:
    assert notes.FEW_EXPECTED in rates.funnel([1, 2, 1], [20, 20, 20]).z["funnel_naive"][0].note


def test_standardised_change_counted_by_hand() -> None:
    # Baseline 100 easy (90 right), 100 hard (60 right); period 40 easy (36 right), 160 hard (88 right).
    found = standardised_change([36, 88], [40, 160], [90, 60], [100, 100])
    assert found.details["crude"] == pytest.approx(124 / 200 - 150 / 200)
    assert found.value == pytest.approx(0.5 * (0.9 - 0.9) + 0.5 * (0.55 - 0.6))
    s = [(36.5 / 41, 40), (88.5 / 161, 160), (90.5 / 101, 100), (60.5 / 101, 100)]
    se = np.sqrt(sum(0.25 * p * (1 - p) / n for p, n in s))
    assert found.se == pytest.approx(se)
    assert (found.low, found.high) == pytest.approx(
        (found.value - 1.959964 * se, found.value + 1.959964 * se)
    )


def test_strata_of_one_set_are_left_out_and_none_in_common_is_undefined() -> None:
    found = standardised_change([5, 3, 0], [10, 10, 0], [5, 0, 4], [10, 0, 10])
    assert found.note == notes.NOT_ALL_STRATA
    assert found.details["covered"] == 0.5
    assert standardised_change([5, 0], [10, 0], [0, 4], [0, 10]).note == notes.NO_COMMON_STRATUM
    with pytest.raises(ValueError, match="one entry for each stratum"):
        standardised_change([1], [2], [1, 1], [2, 2])


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=1, max_size=5))
def test_an_unchanged_mix_leaves_the_crude_change(sizes: list[tuple[int, int]]) -> None:
    right, wrong = (np.array(column) for column in zip(*sizes))
    n = right + wrong
    found = standardised_change(2 * wrong, 2 * n, right, n)
    assert found.value == pytest.approx(found.details["crude"])


def test_ks_is_that_of_r_and_energy_that_of_scipy() -> None:
    a, b = np.arange(1, 51) / 7, np.arange(1, 41) / 5.3 + 1
    found = drift.kolmogorov_smirnov(a, b)
    assert found.value == pytest.approx(R["ks", "(1:50)/7 | (1:40)/5.3+1"])
    assert found.p == pytest.approx(R["ks_p", "(1:50)/7 | (1:40)/5.3+1"], rel=1e-4)  # R sums to 1e-6
    assert drift.energy(a, b).details["distance"] == pytest.approx(stats.energy_distance(a, b))


def test_mix_is_that_of_r() -> None:
    found = drift.mix_change(np.array([30, 50, 20, 0]), np.array([45, 35, 20, 0]))
    assert found.details["statistic"] == pytest.approx(R["chi_square", "30 50 20 | 45 35 20"])
    assert found.p == pytest.approx(R["chi_square_p", "30 50 20 | 45 35 20"])
    assert found.value == pytest.approx(0.15)


def test_psi_counted_by_hand() -> None:
    # Edges at the quartiles 2.5, 4.5, 6.5 of 1 ... 8 by linear interpolation: 2.75, 4.5, 6.25.
    baseline, current = np.arange(1.0, 9.0), np.array([1.0, 2, 2, 3, 5, 7, 8, 8])
    a, b = np.array([3, 1, 1, 3]) / 8, np.array([2, 2, 2, 2]) / 8
    found = drift.psi(baseline, current, bins=4)
    assert found.value == pytest.approx(((a - b) * np.log(a / b)).sum())
    assert found.p == pytest.approx(stats.chi2.sf(found.value * 4, 3))


def test_psi_of_one_source_is_below_its_limit_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    p = [drift.psi(rng.random(400), rng.random(300)).p for _ in range(400)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.035)


@pytest.mark.parametrize("measure", [drift.psi, drift.kolmogorov_smirnov, drift.energy])
def test_scores_without_drift_to_measure_say_why(measure) -> None:
    same = np.full(5, 0.3)
    assert measure(same, same).note == notes.ONE_VALUE
    assert measure(same, np.zeros(1)).note == notes.TOO_FEW


@pytest.mark.parametrize("x", [1, 3, 10, 42])
def test_rates_are_those_of_poisson_test(x: int) -> None:
    found = rates.event_rate(x, 1000)
    assert (found.low, found.high) == pytest.approx((R["poisson_low", str(x)], R["poisson_high", str(x)]))


def test_without_an_event_the_upper_limit_is_that_of_a_test_at_half_of_alpha() -> None:
    found = rates.event_rate(0, 1000)
    assert found.high == pytest.approx(R["poisson_none", "0"])
    assert rates.event_rate(0, 1000, level=0.9).high == pytest.approx(R["poisson_upper", "0"])
    assert (found.value, found.low, found.note) == (0, 0, notes.NO_EVENT)
    assert rates.event_rate(0, 0).note == notes.NO_EXPOSURE
    with pytest.raises(ValueError, match="must be counts"):
        rates.event_rate(-1, 5)


@pytest.mark.parametrize("n, rank", [(6, 1), (10, 2), (20, 6), (25, 8), (40, 14)])
def test_median_limits_stand_at_the_printed_ranks(n: int, rank: int) -> None:
    """Ranks of a median's 95 % limits: Altman et al. 2000, Statistics with Confidence, table 18.4."""
    found = rates.median(np.arange(1.0, n + 1))
    assert (found.low, found.high) == (rank, n + 1 - rank)


def test_few_times_have_a_median_without_limits() -> None:
    found = rates.median(np.array([1.0, 4, 9]))
    assert found.value == 4
    assert np.isnan(found.low)
    assert found.note == notes.TOO_FEW_FOR_MEDIAN
    assert rates.median(np.zeros(0)).note == notes.NO_VALUE


def test_chance_of_a_false_alert_over_looks() -> None:
    assert rates.any_false_alert(2, 0.25) == 1 - 0.75 * 0.75
    assert rates.any_false_alert(0, 0.05) == 0
    with pytest.raises(ValueError, match="must be a count"):
        rates.any_false_alert(-1, 0.05)


def test_changes_by_standard_errors() -> None:
    now, then = Estimate(0.8, nan, nan, 100, se=0.04), Estimate(0.9, nan, nan, 200, se=0.03)
    found = change.wald_change(now, then)
    assert (found.value, found.se, found.n) == pytest.approx((-0.1, 0.05, 300))
    assert found.p == pytest.approx(2 * stats.norm.sf(2))
    clusters = change.wald_change(
        Estimate(0.8, nan, nan, 100, se=0.04, df=9), Estimate(0.9, nan, nan, 200, se=0.03, df=19)
    )
    welch = stats.ttest_ind_from_stats(0.8, 0.04 * np.sqrt(10), 10, 0.9, 0.03 * np.sqrt(20), 20, False)
    assert clusters.p == pytest.approx(welch.pvalue)
    ratio = change.ratio_change(Estimate(1.2, nan, nan, 10, se=0.1), Estimate(0.8, nan, nan, 10, se=0.2))
    assert ratio.value == pytest.approx(1.5)
    assert ratio.high / ratio.value == pytest.approx(np.exp(1.959964 * np.hypot(0.1, 0.2)))
    # Logarithms of ratios by the same test: one set in 12 clusters, the other without any (df endless).
    logs = stats.ttest_ind_from_stats(
        np.log(1.2), 0.1 * np.sqrt(12), 12, np.log(0.8), 0.2 * np.sqrt(1e9), 10**9, False
    )
    grouped = change.ratio_change(
        Estimate(1.2, nan, nan, 10, se=0.1, df=11), Estimate(0.8, nan, nan, 10, se=0.2)
    )
    assert grouped.p == pytest.approx(logs.pvalue, rel=1e-6)
    assert grouped.df == pytest.approx((0.01 + 0.04) ** 2 / (0.01**2 / 11))
    assert grouped.high / grouped.value == pytest.approx(
        np.exp(stats.t.ppf(0.975, grouped.df) * np.hypot(0.1, 0.2))
    )


def test_changes_that_are_undefined_say_why() -> None:
    known, unknown = Estimate(1.0, nan, nan, 5), Estimate(nan, nan, nan, 0, note=notes.NO_VALUE)
    assert change.wald_change(known, unknown).note == notes.NO_VALUE
    assert change.wald_change(known, known).note == notes.NO_INTERVAL
    assert change.ratio_change(unknown, known).note == notes.NO_VALUE
    assert change.ratio_change(Estimate(0.0, nan, nan, 5), known).note == notes.INFINITE_RATIO
    one_class = np.ones(4, bool)
    assert np.isnan(unpaired_difference(one_class, np.arange(4), one_class, np.arange(4)).value)
