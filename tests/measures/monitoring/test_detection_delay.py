"""How late a chart alerts: means and medians against spc, printed tables, dense chains, counts by hand."""

import csv
from math import ceil, inf, log
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from trustreport.measures.monitoring import charts, notes, run_length
from trustreport.measures.monitoring.detection_delay import cusum_delay, sprt_delay

REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "detection_delay.csv"
STATES = 160


def made_by_r(what: str) -> list[tuple[list[float], float]]:
    with REFERENCE.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["what"] == what]
    return [([float(a) for a in row["arguments"].split()], float(row["value"])) for row in rows]


def normal(k: float, h: float, mean: float):
    """The chain of Brook and Evans for a CUSUM of normal values, its continuous states in steps."""
    width = h / (STATES - 0.5)
    by = np.arange(-3 * STATES, 3 * STATES)
    edges = (np.append(by, by[-1] + 1) - 0.5) * width + k - mean
    return run_length.cusum_moves(dict(zip(by.tolist(), np.diff(ndtr(edges)).tolist())), STATES)


@pytest.mark.parametrize("arguments, expected", made_by_r("normal_median"))
def test_medians_are_those_of_spc(arguments: list[float], expected: float) -> None:
    assert run_length.median_run_length(normal(*arguments)) == expected


@pytest.mark.parametrize("arguments, expected", made_by_r("normal_arl"))
def test_means_are_those_of_spc(arguments: list[float], expected: float) -> None:
    assert run_length.average_run_length(normal(*arguments)) == pytest.approx(expected, rel=2e-3)


# Montgomery, Introduction to Statistical Quality Control, table of ARLs of the tabular CUSUM with k = 1/2.
@pytest.mark.parametrize("h, printed", [(4, 8.38), (5, 10.4)])
def test_the_delay_of_a_shift_of_one_is_the_printed_one(h: float, printed: float) -> None:
    assert run_length.average_run_length(normal(0.5, h, 1)) == pytest.approx(printed, abs=0.03)


@pytest.mark.parametrize("of", ["mean", "median"])
def test_bernoulli_charts_are_those_of_dense_matrices_in_r(of: str) -> None:
    measure = {"mean": run_length.average_run_length, "median": run_length.median_run_length}[of]
    for (up, down, limit, rate), expected in made_by_r(f"bernoulli_cusum_{of}"):
        step = run_length.bernoulli(rate, int(up), int(down))
        assert measure(run_length.cusum_moves(step, int(limit))) == pytest.approx(expected, rel=1e-9)
    for (up, down, low, high, rate), expected in made_by_r(f"bernoulli_sprt_{of}"):
        step = run_length.bernoulli(rate, int(up), int(down))
        moves = run_length.restarting_moves(step, int(low), int(high))
        assert measure(moves, -int(low) - 1) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("p", [0.3, 0.01, 1e-4, 1e-6])
def test_the_median_of_a_first_event_is_geometric_however_rare(p: float) -> None:
    moves = run_length.cusum_moves(run_length.bernoulli(p, 5, 1), 5)
    assert run_length.median_run_length(moves) == pytest.approx(ceil(log(0.5) / np.log1p(-p)), abs=p < 1e-5)


def test_two_events_in_a_row_by_hand() -> None:
    # Of 16 equally likely sequences of four cases 8 have no two events in a row, of 8 sequences of three 5.
    moves = run_length.cusum_moves(run_length.bernoulli(0.5, 1, 1), 2)
    assert run_length.probability_of_no_end([moves] * 4) == pytest.approx(0.5)
    assert run_length.median_run_length(moves) == 4


def test_a_chart_that_never_ends_has_no_median() -> None:
    moves = run_length.cusum_moves(run_length.bernoulli(0.0, 1, 1), 3)
    assert run_length.median_run_length(moves) == inf


def test_delays_are_those_of_simulated_charts() -> None:
    designed = charts.design(0.9, 0.75, budget=0.05, sizes=[20] * 10)
    found = cusum_delay(designed, cases=20)
    rng, lengths = np.random.default_rng(3), []
    for _ in range(2000):
        at = look = 0
        while at < designed.limit:
            right = int(rng.binomial(20, 0.75))
            at = max(0, at + (20 - right) * designed.weights.up - right * designed.weights.down)
            look += 1
        lengths.append(20 * look)
    four_errors = 4 * np.std(lengths) / np.sqrt(2000)
    assert found["mean"].value == pytest.approx(np.mean(lengths), abs=four_errors)
    assert found["median"].value == np.median(lengths)
    assert found["mean"].value == 20 * designed.arl_to_detect


def test_an_sprt_that_accepts_is_late_by_its_next_tests() -> None:
    events = np.zeros(9, np.int64)
    estimate, run = charts.sprt(events, 0.1, 0.2, budget=0.05, missed=0.3)
    assert run is not None
    found = sprt_delay(run)
    # A share 1 - m of tests alerts, the others begin again: the mean is that of a test, over this share.
    of_one, missed = estimate.details["cases_needed_to_detect"], estimate.details["missed_exact"]
    assert found["mean"].value == pytest.approx(of_one / (1 - missed), rel=1e-9)
    assert found["median"].value < found["mean"].value
    assert notes.DELAY in found["median"].note
