"""The marginal odds ratio: against statsmodels, the marginal table, and data without an answer."""

import warnings
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.gee import gee_odds_ratio


def peer(outcome):
    """Difference of the logits, its sandwich standard error and the correlation, by statsmodels."""
    from statsmodels.genmod.cov_struct import Exchangeable
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_estimating_equations import GEE

    arm, _, case = np.nonzero(~np.isnan(outcome))
    design = np.column_stack([np.ones(len(arm)), arm == 1])
    event = outcome[~np.isnan(outcome)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GEE(event, design, groups=case, family=Binomial(), cov_struct=Exchangeable())
        fit = model.fit(ctol=1e-13)
    return fit.params[1], fit.bse[1], fit.cov_struct.dep_params


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
def test_agrees_with_statsmodels(seed, readers, cases, spread, missing):
    outcome = simulated(seed, readers, cases, spread, missing)
    got = gee_odds_ratio(outcome)
    mine = (np.log(got.value), got.details["log_se"], got.details["correlation"])
    assert mine == pytest.approx(peer(outcome), abs=1e-8)


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
