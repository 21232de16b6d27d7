"""The marginal odds ratio: its equations matrix by matrix, the marginal table, data without an answer."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq

from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.clustered import gee_odds_ratio


def equations(outcome, logits, correlation):
    """Sum of the scores, sandwich standard error of the contrast and moment correlation, matrix by matrix."""
    p = 1 / (1 + np.exp(-np.asarray(logits)))
    total, bread, meat, products, squares = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)), 0.0, 0.0
    pairs = readings = 0
    for case in range(outcome.shape[2]):
        arm, reader = np.nonzero(~np.isnan(outcome[:, :, case]))
        mean, m = p[arm], len(arm)
        sd = np.sqrt(mean * (1 - mean))
        working = np.outer(sd, sd) * np.where(np.eye(m, dtype=bool), 1.0, correlation)
        slope = (sd**2)[:, None] * (arm[:, None] == [0, 1])
        rest = outcome[arm, reader, case] - mean
        score = slope.T @ np.linalg.inv(working) @ rest
        total, meat = total + score, meat + np.outer(score, score)
        bread += slope.T @ np.linalg.inv(working) @ slope
        z = rest / sd
        products, squares = products + (np.outer(z, z).sum() - z @ z) / 2, squares + z @ z
        pairs, readings = pairs + m * (m - 1) // 2, readings + m
    contrast = np.linalg.inv(bread) @ [-1, 1]
    moment = products / (squares / (readings - 2)) / (pairs - 2)
    return total, np.sqrt(contrast @ meat @ contrast), moment


def simulated(seed, readers, cases, spread, missing):
    rng = np.random.default_rng(seed)
    logit = rng.normal(0, spread, cases) + np.array([-0.5, 0.3])[:, None, None]
    outcome = (rng.random((2, readers, cases)) < 1 / (1 + np.exp(-logit))).astype(float)
    outcome[rng.random(outcome.shape) < missing] = np.nan
    return outcome


@pytest.mark.parametrize("seed, readers, cases, spread, missing", [
    (1, 5, 60, 1.0, 0.0), (2, 5, 60, 2.0, 0.3), (3, 1, 80, 1.0, 0.0),
    (4, 3, 12, 0.0, 0.2), (5, 8, 40, 0.0, 0.5),
])  # fmt: skip
def test_solves_the_equations_of_liang_and_zeger(seed, readers, cases, spread, missing):
    outcome = simulated(seed, readers, cases, spread, missing)
    got = gee_odds_ratio(outcome)
    change, correlation = np.log(got.value), got.details["correlation"]

    def summed(first):
        return equations(outcome, (first, first + change), correlation)[0].sum()

    first = brentq(summed, -5, 5, xtol=1e-14)
    total, se, moment = equations(outcome, (first, first + change), correlation)
    assert total == pytest.approx(0, abs=1e-8)
    assert (got.details["log_se"], correlation) == pytest.approx((se, moment), abs=1e-8)


def test_a_logit_on_its_way_to_infinity_is_no_solution():
    """Readings with so many gaps that the scores vanish only where a rate does."""
    baseline = ("-101----10-", "0111----0--", "10111-11-11", "-1--1-1-1-0")
    compared = ("----1----1-", "-1-1--1-1--", "-110----1--", "-11-1---1--")
    cell = {"-": np.nan, "0": 0.0, "1": 1.0}
    outcome = np.array([[[cell[c] for c in reader] for reader in arm] for arm in (baseline, compared)])
    assert gee_odds_ratio(outcome).note == notes.GEE_FAILED


def test_equals_the_marginal_table_when_all_read_all():
    outcome = simulated(6, 4, 50, 1.0, 0.0)
    p, q = outcome[1].mean(), outcome[0].mean()
    one, other = gee_odds_ratio(outcome), gee_odds_ratio(outcome, compared=0, baseline=1)
    assert one.value == pytest.approx(p / (1 - p) / (q / (1 - q)))
    assert (one.value, one.low) == pytest.approx((1 / other.value, 1 / other.high))


def test_without_an_answer():
    assert gee_odds_ratio(np.zeros((2, 3, 4))).note == notes.ZERO_CELL
    assert gee_odds_ratio(np.full((2, 3, 4), np.nan)).note == notes.NO_READING
    assert gee_odds_ratio(np.array([[[0.0], [1]], [[1], [0]]])).note == notes.ONE_CLUSTER


def test_arms_that_agree_in_every_reading_have_no_interval():
    same = gee_odds_ratio(np.repeat(simulated(7, 3, 20, 1.0, 0.0)[:1], 2, axis=0))
    assert (same.value, same.note) == (pytest.approx(1), notes.NO_LOG_VARIANCE)


def test_unpaired_single_readings_are_a_plain_two_by_two_table():
    """One reading a case: Woolf's variance."""
    outcome = np.full((2, 1, 40), np.nan)
    outcome[0, 0, :20] = np.arange(20) < 8
    outcome[1, 0, 20:] = np.arange(20) < 5
    got = gee_odds_ratio(outcome)
    assert got.value == pytest.approx((5 / 15) / (8 / 12))
    assert got.details["log_se"] ** 2 == pytest.approx(1 / 5 + 1 / 15 + 1 / 8 + 1 / 12)


@given(arrays(float, (2, 3, 5), elements=st.sampled_from([0.0, 1.0, np.nan])), st.permutations(range(5)))
def test_order_of_cases_does_not_matter_and_a_reason_stands_for_every_gap(outcome, cases):
    got, same = gee_odds_ratio(outcome), gee_odds_ratio(outcome[:, :, cases])
    assert (got.value, got.low, got.high) == pytest.approx(
        (same.value, same.low, same.high), rel=1e-6, nan_ok=True
    )
    assert isnan(got.low) == bool(got.note)
