"""CUSUM and SPRT: exact run lengths against printed and independent values, and the edges."""

import csv
from math import comb
from pathlib import Path

import numpy as np
import pytest
from scipy.special import pdtr

from trustreport.measures.monitoring import charts, notes, run_length, standardisation

REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "monitoring.csv"


def made_by_r(what: str) -> list[tuple[list[str], float]]:
    with REFERENCE.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["what"] == what]
    return [(row["arguments"].split(), float(row["value"])) for row in rows]


@pytest.mark.parametrize("arguments, expected", made_by_r("poisson_cusum_arl"))
def test_run_lengths_are_those_of_spc(arguments: list[str], expected: float) -> None:
    """R package spc: an upper Poisson CUSUM in whole steps, alert above hm."""
    mean = float(arguments[0])
    km, hm, m = (int(a) for a in arguments[1:])
    step = {m * x - km: float(pdtr(x, mean) - (pdtr(x - 1, mean) if x else 0)) for x in range(100)}
    found = run_length.average_run_length(run_length.cusum_moves(step, hm + 1))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("arguments, expected", made_by_r("binomial_cusum_arl"))
def test_run_lengths_are_near_those_of_surveillance(arguments: list[str], expected: float) -> None:
    """R package surveillance approximates the states by 2,000 intervals: it agrees to a few per cent."""
    n, rate, in_control, to_detect, limit = (float(a) for a in arguments)
    found = standardisation.weights(in_control, to_detect)
    step = run_length.binomial(int(n), rate, found.up, found.down)
    states = int(np.ceil(limit / found.unit))
    length = run_length.average_run_length(run_length.cusum_moves(step, states))
    assert length == pytest.approx(expected, rel=0.03)


def test_a_limit_of_two_events_in_a_row_counted_by_hand() -> None:
    # Up 1, down 1, limit 2: from 0 an event leads to 1, from there another one alerts.
    p = 0.3
    length = run_length.average_run_length(run_length.cusum_moves(run_length.bernoulli(p, 1, 1), 2))
    assert length == pytest.approx((1 + p) / p**2)
    moves = run_length.cusum_moves(run_length.bernoulli(p, 1, 1), 2)
    # Four cases without two events in a row, and without an event after an event: 0000, one event (4),
    # two events apart (3 patterns).
    q = 1 - p
    assert run_length.probability_of_no_end([moves] * 4) == pytest.approx(
        q**4 + 4 * p * q**3 + 3 * p**2 * q**2
    )


def test_many_looks_are_extrapolated_without_error() -> None:
    found = standardisation.weights(0.1, 0.2)
    moves = run_length.cusum_moves(run_length.bernoulli(0.1, found.up, found.down), 150)
    standing = np.zeros(150)
    standing[0] = 1
    for _ in range(5000):
        standing = moves.T @ standing
    assert run_length.probability_of_no_end([moves] * 5000) == pytest.approx(standing.sum(), rel=1e-9)


@pytest.mark.parametrize(
    "states, up", [(40, 9), (run_length.DENSE, 64), (run_length.DENSE + 1, 64), (700, 175)]
)
@pytest.mark.parametrize("looks", [1, 63, 64, 127, 128, 129, 640, 1000])
def test_powers_of_a_matrix_are_its_looks_one_by_one(looks: int, states: int, up: int) -> None:
    moves = run_length.cusum_moves(run_length.bernoulli(0.1, up, 1), states)
    standing, matrix = np.eye(states)[0], moves.T
    for _ in range(looks):
        standing = matrix @ standing
    assert run_length.probability_of_no_end([moves] * looks) == pytest.approx(standing.sum(), rel=1e-12)


def test_a_chart_that_hardly_ever_ends_has_no_chance_above_one() -> None:
    moves = run_length.cusum_moves(run_length.bernoulli(0.1, 9, 1), 700)
    assert run_length.probability_of_no_end([moves] * 1000) <= 1


@pytest.mark.parametrize("rates", [(0.1, 0.2), (0.02, 0.05), (0.9, 0.8), (0.6, 0.8)])
def test_scores_are_the_likelihood_ratio_of_the_tuned_rate(rates: tuple[float, float]) -> None:
    found = standardisation.weights(*rates)
    p0, p1 = (found.event_rate(r) for r in (found.in_control, found.tuned))
    up, down = standardisation.log_ratios(p0, p1)
    assert found.up * found.unit == pytest.approx(up, rel=1e-9)
    assert found.down * found.unit == pytest.approx(down, rel=1e-9)
    assert found.tuned == pytest.approx(rates[1], rel=0.02)


def test_the_budget_is_kept_and_not_by_much() -> None:
    designed = charts.design(0.1, 0.2, budget=0.05, sizes=[1] * 400)
    assert 0.04 < designed.false_alert <= 0.05
    lower = charts.false_alert(designed.weights, designed.limit - 1, [1] * 400)
    assert lower > 0.05


def test_simulated_charts_give_the_planned_share_of_false_alerts() -> None:
    designed = charts.design(0.1, 0.2, budget=0.1, sizes=[40] * 8)
    rng = np.random.default_rng(5)
    sizes = np.full(8, 40)
    runs = [cusum_alerts(designed, rng.binomial(40, 0.1, 8), sizes) for _ in range(3000)]
    assert np.mean(runs) == pytest.approx(designed.false_alert, abs=4 * np.sqrt(0.1 * 0.9 / 3000))


def cusum_alerts(designed: charts.CusumDesign, events: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether the statistic, run by a plain loop, reaches the limit."""
    found, at = designed.weights, 0
    for x, n in zip(events.tolist(), sizes.tolist()):
        at = max(0, at + x * found.up - (n - x) * found.down)
        if at >= designed.limit:
            return True
    return False


def test_a_falling_rate_is_charted_as_its_complement() -> None:
    rng = np.random.default_rng(3)
    wrong = (rng.random(300) < 0.15).astype(np.int64)
    ones = np.ones(300, np.int64)
    one, _ = charts.cusum(wrong, ones, 0.10, 0.20, budget=0.05)
    other, _ = charts.cusum(1 - wrong, ones, 0.90, 0.80, budget=0.05)
    assert one.value == pytest.approx(other.value)
    assert one.details["limit"] == pytest.approx(other.details["limit"])
    assert one.details["first_alert_case"] == other.details["first_alert_case"]


def test_the_chart_starts_again_after_an_alert() -> None:
    designed = charts.design(0.1, 0.3, budget=0.05, sizes=[1] * 100)
    run = charts.chart(designed, np.ones(30, np.int64), np.ones(30, np.int64))
    needed = -(-designed.limit // designed.weights.up)
    assert run.alerts == tuple(range(needed - 1, 30, needed))


def test_planned_looks_beyond_those_seen_leave_budget_unspent() -> None:
    seen = np.zeros(100, np.int64)
    ones = np.ones(100, np.int64)
    found, _ = charts.cusum(seen, ones, 0.1, 0.2, budget=0.05, planned=[1] * 400)
    assert found.details["false_alert_spent"] < found.details["false_alert_planned"] <= 0.05
    assert found.details["planned_looks"] == 400


@pytest.mark.parametrize(
    "rates, budget, why",
    [
        ((0.1, 0.1), 0.05, notes.EQUAL_RATES),
        ((0.0, 0.1), 0.05, notes.RATE_AT_END),
        ((0.9, 1.0), 0.05, notes.RATE_AT_END),
        ((0.1, 0.2), 0.0, notes.BUDGET_AT_END),
    ],
)
def test_rates_without_a_chart_say_why(rates: tuple[float, float], budget: float, why: str) -> None:
    events = np.ones(5, np.int64)
    for one, run in (
        charts.cusum(events, events, *rates, budget=budget),
        charts.sprt(events, *rates, budget=budget),
    ):
        assert np.isnan(one.value)
        assert one.note == why
        assert run is None


def test_no_case_gives_no_statistic() -> None:
    none = np.zeros(0, np.int64)
    assert charts.cusum(none, none, 0.1, 0.2, budget=0.05)[0].note == notes.NO_LOOK
    assert charts.sprt(none, 0.1, 0.2, budget=0.05)[0].note == notes.NO_LOOK


def test_limits_are_those_of_the_handbook() -> None:
    """NIST/SEMATECH e-Handbook of Statistical Methods, 6.2.8: p1 .01, p2 .10, alpha .05, beta .10.

    Acceptance line -0.939 + 0.0397 n, rejection line 1.205 + 0.0397 n.
    """
    up, down = standardisation.log_ratios(0.01, 0.10)
    low, high = charts.wald_limits(0.05, 0.10)
    assert low / (up + down) == pytest.approx(-0.939, abs=5e-4)
    assert high / (up + down) == pytest.approx(1.205, abs=5e-4)
    assert down / (up + down) == pytest.approx(0.0397, abs=5e-5)


def test_the_handbook_plan_ends_where_its_lines_say() -> None:
    """The same source: -0.939 + 0.0397 n is above 0 from 24 cases without an event on, not at 23."""
    for n, ended in ((23, ()), (24, (23,))):
        _, run = charts.sprt(np.zeros(n, np.int64), 0.01, 0.10, budget=0.05, missed=0.10)
        assert run is not None
        assert run.accepted == ended
    _, run = charts.sprt(np.array([0, 1, 1]), 0.01, 0.10, budget=0.05, missed=0.10)
    assert run is not None
    assert (run.alerts, run.accepted) == ((2,), ())


def test_error_probabilities_of_a_small_test_counted_by_hand() -> None:
    # Up 1, down 1, ends at +2 or -2: gambler's ruin with p = .3.
    ratio = 0.7 / 0.3
    found = run_length.reaches_high(run_length.bernoulli(0.3, 1, 1), -2, 2)
    assert found == pytest.approx((1 - ratio**2) / (1 - ratio**4))


def test_wald_limits_keep_about_what_they_promise() -> None:
    one, _ = charts.sprt(np.zeros(3, np.int64), 0.1, 0.2, budget=0.05, missed=0.1)
    assert 0.03 < one.details["false_alert_exact"] <= 0.055
    assert 0.06 < one.details["missed_exact"] <= 0.105


def test_tests_begin_again_and_their_false_alerts_add_up() -> None:
    _, run = charts.sprt(np.array([0] * 30 + [1, 1] + [0] * 30), 0.01, 0.10, budget=0.05, missed=0.10)
    assert run is not None
    assert run.accepted[0] == 23
    assert run.alerts == (31,)
    # Ends at +1 or -1: each case is a test of its own.
    moves = run_length.restarting_moves(run_length.bernoulli(0.1, 1, 1), -1, 1)
    assert run_length.probability_of_no_end([moves] * 7) == pytest.approx(0.9**7)
    rng = np.random.default_rng(4)
    drawn = [charts.sprt((rng.random(60) < 0.1) * 1, 0.1, 0.3, budget=0.1) for _ in range(800)]
    share = np.mean([bool(run.alerts) for _, run in drawn if run is not None])
    spent = drawn[0][0].details["false_alert_spent"]
    assert share == pytest.approx(spent, abs=4 * np.sqrt(spent * (1 - spent) / 800))


def test_a_binomial_look_sums_its_cases() -> None:
    step = run_length.binomial(3, 0.2, 2, 1)
    assert step[-3] == pytest.approx(0.8**3)
    assert step[3] == pytest.approx(comb(3, 2) * 0.2**2 * 0.8)
    assert sum(step.values()) == pytest.approx(1)
