"""Power of the next study: values of RJafroc, limits, components that are negative, grids and sizes."""

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.mrmc.auc import fit_auc
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions, obuchowski_rockette
from trustreport.measures.mrmc.power import (
    CLIPPED,
    NEGATIVE_COMPONENT,
    NO_COMPONENT,
    TOO_FEW,
    UNREACHABLE,
    Components,
    cases_needed,
    components,
    power,
    power_grid,
)

PILOT = Components(arm_reader=2e-4, own=4.5e-4, shared=1e-4, n_cases=114)
OBSERVED = -0.043800322


@pytest.fixture(scope="module")
def vandyke(studies):
    study = studies["vandyke"]
    return fit_auc(study.rating, study.truth)


@pytest.mark.parametrize(  # RJafroc, tests/testthat/test-SsSampleSizeRoc.R, dataset02 (VanDyke)
    "mode, n_readers, n_cases, expected, tol",
    [
        ("or_rrrc", 10, 165, 0.80541995, 1e-7),
        ("or_rrrc", 6, 111, 0.5526116, 1e-7),
        ("or_frrc", 10, 131, 0.80091813, 1e-7),
        ("or_rrfc", 10, 53, 0.80496663, 1e-7),
    ],
)
def test_power_agrees_with_rjafroc(vandyke, mode, n_readers, n_cases, expected, tol):
    found = power(components(vandyke), OBSERVED, n_readers, n_cases, mode=mode)
    assert found.value == pytest.approx(expected, abs=tol)
    assert found.n == n_readers * n_cases


def test_size_agrees_with_rjafroc(vandyke):
    found = cases_needed(components(vandyke), OBSERVED, 6)
    assert found.value == 251
    assert found.details["power"] == pytest.approx(0.801, abs=5e-4)


def test_at_the_size_and_effect_of_the_study_lambda_is_its_f(vandyke):
    """With t = 2, MS(T) = r d^2 / 2 and D as fitted, so lambda = F and df are those of the test itself."""
    test = vandyke.omnibus("or_rrrc")
    effect = float(vandyke.means[1] - vandyke.means[0])
    found = power(components(vandyke), effect, vandyke.n_readers, vandyke.n_cases)
    assert found.details["lambda"] == pytest.approx(test.statistic)
    assert found.details["df"] == pytest.approx(test.df2)


@given(
    st.integers(2, 30),
    st.integers(5, 2000),
    st.floats(0, 0.2),
    st.sampled_from(["or_rrrc", "or_frrc", "or_rrfc"]),
)
def test_power_is_a_probability_not_below_alpha_and_does_not_ask_for_the_sign(readers, cases, d, mode):
    found = power(PILOT, d, readers, cases, mode=mode).value
    assert 0.05 - 1e-6 <= found <= 1
    assert found == pytest.approx(power(PILOT, -d, readers, cases, mode=mode).value)
    assert found <= power(PILOT, d, readers + 1, cases, mode=mode).value + 1e-9
    assert found <= power(PILOT, 1.1 * d, readers, cases, mode=mode).value + 1e-9


@pytest.mark.parametrize("mode", ["or_rrrc", "or_frrc", "or_rrfc"])
def test_no_effect_is_found_with_chance_alpha(mode):
    assert power(PILOT, 0.0, 6, 200, mode=mode).value == pytest.approx(0.05)
    assert power(PILOT, 0.0, 6, 200, mode=mode, alpha=0.01).value == pytest.approx(0.01)
    at_margin = power(PILOT, -0.05, 6, 200, mode=mode, margin=0.05)
    assert at_margin.value == pytest.approx(0.025)


def test_the_margin_acts_like_a_difference():
    """The two-sided test of d = m almost never rejects on the wrong side, so both powers agree."""
    one, two = power(PILOT, 0.0, 10, 400, margin=0.05).value, power(PILOT, 0.05, 10, 400).value
    assert one == pytest.approx(two, abs=1e-4)
    assert power(PILOT, 0.01, 10, 400, margin=0.05).value > one


def test_negative_components_are_not_planned_with():
    rng = np.random.default_rng(0)
    theta, covariance = np.array([[0.7, 0.8, 0.75], [0.75, 0.85, 0.8]]), np.zeros((6, 6))
    factor = rng.normal(size=(6, 20))
    covariance = factor @ factor.T / 2e4
    fit = obuchowski_rockette(theta, covariance, 50)
    assert fit.ms_arm_reader == pytest.approx(0, abs=1e-12)
    planned = components(fit)
    assert (planned.arm_reader, bool(planned.note)) == (0.0, True)
    assert NEGATIVE_COMPONENT in power(planned, 0.05, 5, 100).note
    swapped = np.kron(np.array([[1.0, 0.8], [0.8, 1.0]]), np.eye(3)) + np.kron(
        1 - np.eye(2), np.ones((3, 3)) * 0.2
    )
    fit = obuchowski_rockette(theta, swapped / 1e3, 50)
    assert fit.cov2 < fit.cov3
    planned = components(fit)
    assert planned.shared == 0
    assert CLIPPED in planned.note


def test_more_cases_cannot_make_up_for_readers_who_differ():
    found = cases_needed(Components(0.01, 4e-4, 1e-4, 100), 0.03, 3)
    assert isnan(found.value)
    assert found.note == UNREACHABLE


@pytest.mark.parametrize("margin", [None, 0.05])
def test_the_size_is_the_smallest(margin):
    found = cases_needed(PILOT, 0.04, 8, margin=margin)
    cases = int(found.value)
    assert power(PILOT, 0.04, 8, cases, margin=margin).value >= 0.8
    assert power(PILOT, 0.04, 8, cases - 1, margin=margin).value < 0.8


def test_a_grid_has_a_row_for_each_number_of_readers():
    grid = power_grid(PILOT, 0.04, (4, 8, 12), (100, 200))
    assert [len(row) for row in grid] == [2, 2, 2]
    assert grid[1][1] == power(PILOT, 0.04, 8, 200)


def test_what_cannot_be_planned_says_why():
    assert power(PILOT, 0.05, 1, 100).note == TOO_FEW
    assert power(PILOT, 0.05, 1, 100, mode="or_frrc").value > 0.05
    one_reader = fit_proportions((np.random.default_rng(1).random((2, 1, 40)) < 0.7).astype(float))
    assert power(components(one_reader), 0.05, 5, 100).note == NO_COMPONENT
    assert isnan(cases_needed(components(one_reader), 0.05, 5).value)
    assert isnan(power(Components(nan, 4e-4, 1e-4, 50), 0.05, 5, 100).value)


@pytest.mark.parametrize("wrong", [{"alpha": 5}, {"n_cases": 0}, {"n_readers": 0}, {"margin": -0.1}])
def test_wrong_input_is_refused(wrong):
    with pytest.raises(ValueError, match=r"must be|must lie|largest acceptable"):
        power(**{"pilot": PILOT, "difference": 0.05, "n_readers": 5, "n_cases": 100} | wrong)
    with pytest.raises(ValueError, match="target"):
        cases_needed(PILOT, 0.05, 5, target=80)


@pytest.mark.parametrize(("readers", "cases", "d"), [(23, 408, 0.1953125), (19, 409, 0.219140625)])
def test_an_effect_far_beyond_the_spread_is_found_for_certain(readers, cases, d):
    # scipy.stats.ncf.sf, another implementation, has 1.0 for both.
    assert power(PILOT, d, readers, cases, mode="or_rrfc").value == 1.0
    assert power(PILOT, d, readers, cases, mode="or_rrfc", margin=0.01).value == 1.0
