"""Obuchowski-Rockette: counts by hand, what must not matter, and data that yield no interval."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.clustered import clustered_difference
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.obuchowski_rockette import (
    MODES,
    fit_proportions,
    leading,
    obuchowski_rockette,
)

crossed = arrays(float, (2, 4, 7), elements=st.sampled_from([0.0, 1.0]))


def same(a: Estimate, b: Estimate, sign: int = 1) -> None:
    low, high = (b.low, b.high) if sign == 1 else (-b.high, -b.low)
    for got, want in zip(
        (a.value, a.low, a.high, a.se, a.df, a.p), (sign * b.value, low, high, b.se, b.df, b.p)
    ):
        assert got == pytest.approx(want, abs=1e-9, rel=1e-6, nan_ok=True)
    assert a.note == b.note


def test_by_hand():
    """Two readers, four cases; by hand: theta, MS, covariances with divisor n (n-1) = 12."""
    unaided = [[1, 1, 0, 0], [1, 0, 0, 0]]
    aided = [[1, 1, 1, 0], [1, 1, 0, 0]]
    fit = fit_proportions(np.array([unaided, aided], float))
    assert fit.theta.tolist() == [[0.5, 0.25], [0.75, 0.5]]
    assert fit.var == pytest.approx((1 + 3 / 4 + 3 / 4 + 1) / 12 / 4)
    assert fit.cov1 == pytest.approx((0.5 + 0.5) / 12 / 2)  # 2 - 4/2 x 3/4; 1 - 4/4 x 1/2
    assert fit.cov2 == pytest.approx((0.5 + 0.5) / 12 / 2)
    assert fit.cov3 == pytest.approx((1.0 + 0.25) / 12 / 2)
    assert fit.ms_arm == pytest.approx(2 * 0.03125)
    assert fit.ms_reader == pytest.approx(2 * 0.03125)
    assert fit.ms_arm_reader == pytest.approx(0, abs=1e-15)
    got = fit.difference(1, 0)
    assert got.value == 0.25
    assert isnan(got.se)
    assert notes.NO_VARIATION in got.note


@given(crossed, st.permutations(range(4)), st.permutations(range(7)), st.sampled_from(MODES))
def test_order_of_readers_and_cases_does_not_matter(outcome, readers, cases, mode):
    shuffled = outcome[:, readers][:, :, cases]
    same(fit_proportions(outcome).difference(mode=mode), fit_proportions(shuffled).difference(mode=mode))
    same(fit_proportions(outcome).arm_mean(0, mode=mode), fit_proportions(shuffled).arm_mean(0, mode=mode))


@given(crossed, st.sampled_from(MODES))
def test_swapping_the_arms_turns_the_sign(outcome, mode):
    fit = fit_proportions(outcome)
    same(fit.difference(1, 0, mode=mode), fit.difference(0, 1, mode=mode), -1)
    same(fit.difference(1, 0, mode=mode), fit_proportions(outcome[::-1]).difference(0, 1, mode=mode))


@given(crossed, st.sampled_from(MODES))
def test_errors_mirror_correct_decisions(outcome, mode):
    same(
        fit_proportions(outcome).difference(mode=mode), fit_proportions(1 - outcome).difference(mode=mode), -1
    )


@given(crossed)
def test_two_arms_and_fixed_readers_equal_clustering_by_case(outcome):
    """The fixed-reader variance, not clipped, is the clustered one of the complete table."""
    ours, theirs = fit_proportions(outcome).difference(mode="or_frrc"), clustered_difference(outcome)
    assert ours.se == pytest.approx(theirs.se, nan_ok=True)


@given(crossed)
def test_no_number_is_missing_without_a_reason(outcome):
    fit = fit_proportions(outcome)
    for mode in MODES:
        for estimate in (fit.difference(mode=mode), fit.arm_mean(0, mode=mode), fit.reader_difference(0)):
            assert isnan(estimate.low) == isnan(estimate.high) == isnan(estimate.se)
            assert estimate.note or not isnan(estimate.low)


@given(crossed)
def test_covariance_of_the_means_gives_the_variance_of_the_difference(outcome):
    fit = fit_proportions(outcome)
    for mode in MODES:
        matrix = fit.mean_covariance(mode=mode)
        contrast = np.array([1, -1])
        d, arm = fit.difference(mode=mode), fit.arm_mean(1, mode=mode)
        if not isnan(d.se):
            assert contrast @ matrix @ contrast == pytest.approx(d.se**2)
        if not isnan(arm.se):
            assert matrix[0, 0] == pytest.approx(arm.se**2)


def test_covariance_of_the_means_is_that_of_readers_plus_that_of_cases(studies):
    """With two arms and nothing clipped: S / r + [[cov2_1, cov3], [cov3, cov2_0]]."""
    fit = fit_proportions(studies["vandyke"].outcome("accuracy"))
    over_readers = np.cov(fit.theta[::-1]) / fit.n_readers
    assert fit.mean_covariance() == pytest.approx(over_readers + fit.other_reader[::-1, ::-1])


def test_one_reader_is_judged_over_cases_only():
    outcome = np.array([[[1, 0, 0, 1, 0, 1]], [[1, 1, 0, 1, 1, 1]]], float)
    fit = fit_proportions(outcome)
    random, fixed = fit.difference(), fit.difference(mode="or_frrc")
    assert (isnan(random.low), random.note) == (True, notes.ONE_READER)
    assert fit.difference(mode="or_rrfc").note == notes.ONE_READER
    assert fit.arm_mean(1).note == notes.ONE_READER
    d = outcome[1, 0] - outcome[0, 0]
    assert fixed.se == pytest.approx(np.std(d, ddof=1) / np.sqrt(6))
    assert fit.arm_mean(1, mode="or_frrc").se == pytest.approx(np.std(outcome[1], ddof=1) / np.sqrt(6))
    lead = leading(random, fixed, 1)
    assert (lead.low, lead.high, lead.method) == (fixed.low, fixed.high, "or_frrc")
    assert notes.ONLY_FIXED in lead.note


@pytest.mark.parametrize("mode", MODES)
def test_perfect_readers_have_no_standard_error(mode):
    fit = fit_proportions(np.ones((2, 5, 30)))
    for estimate in (fit.difference(mode=mode), fit.arm_mean(0, mode=mode), fit.reader_difference(2)):
        assert isnan(estimate.low)
        assert isnan(estimate.p)
        assert estimate.note == (notes.NO_SPREAD if estimate.method == "or_rrfc" else notes.NO_VARIATION)
    assert fit.difference(mode=mode).value == 0
    assert isnan(fit.omnibus(mode).p)


def test_one_case():
    fit = fit_proportions(np.array([[[1.0], [0.0]], [[1.0], [1.0]]]))
    assert fit.difference().note == notes.ONE_CASE
    assert fit.arm_mean(0, mode="or_frrc").note == notes.ONE_CASE
    assert fit.reader_difference(1).note == notes.ONE_CASE


def test_a_perfect_arm_does_not_hide_the_other():
    rng = np.random.default_rng(5)
    outcome = np.stack([(rng.random((6, 40)) < 0.7).astype(float), np.ones((6, 40))])
    fit = fit_proportions(outcome)
    assert fit.difference().low > 0
    assert fit.arm_mean(1).note == notes.NO_VARIATION


def test_missing_readings_are_refused_with_the_way_out():
    outcome = np.ones((2, 3, 4))
    outcome[0, 1, 2] = np.nan
    with pytest.raises(ValueError, match=r"1 of 24 readings are missing\. Use the U-statistic\."):
        fit_proportions(outcome)


def test_same_change_for_every_reader_leaves_the_cases():
    """MS(TR) = 0: infinite degrees of freedom, the normal quantile, and a note."""
    outcome = np.zeros((2, 3, 60))
    for reader in range(3):
        outcome[0, reader, : 30 + reader] = 1
        outcome[1, reader, : 40 + reader] = 1
    got = fit_proportions(outcome).difference()
    assert notes.SAME_FOR_ALL in got.note
    assert (got.high - got.low) / got.se == pytest.approx(2 * 1.959964, abs=1e-6)
    assert isnan(got.df)


def test_cov2_below_cov3_is_clipped_for_random_readers_only():
    rng = np.random.default_rng(2)
    theta = rng.normal(0.8, 0.05, (2, 4))
    covariance = np.full((8, 8), 2e-4) + np.eye(8) * 8e-4
    covariance[:4, 4:] = covariance[4:, :4] = 3e-4
    fit = obuchowski_rockette(theta, covariance, 50)
    random, fixed = fit.difference(), fit.difference(mode="or_frrc")
    assert random.se**2 == pytest.approx(2 * fit.ms_arm_reader / 4)
    assert random.df == pytest.approx(3)
    assert notes.CLIPPED in random.note
    assert fixed.se**2 == pytest.approx(2 * (1e-3 - 3e-4 + 3 * (2e-4 - 3e-4)) / 4)
    assert notes.NOT_CLIPPED in fixed.note
    covariance[:4, 4:] = covariance[4:, :4] = 6e-4
    negative = obuchowski_rockette(theta, covariance, 50).difference(mode="or_frrc")
    assert isnan(negative.low)
    assert notes.NEGATIVE_FIXED in negative.note


def test_three_arms_share_one_error_term():
    rng = np.random.default_rng(8)
    fit = fit_proportions((rng.random((3, 5, 40)) < 0.75).astype(float))
    pairs = [fit.difference(i, k) for i, k in ((1, 0), (2, 0), (2, 1))]
    assert len({round(pair.se, 12) for pair in pairs}) == 1
    test = fit.omnibus()
    assert (test.df1, test.df2) == (2, pytest.approx(pairs[0].df))
    mean_square = sum((pair.value / pair.se) ** 2 for pair in pairs) / 3
    assert test.statistic == pytest.approx(mean_square)


def est(low, high):
    return Estimate((low + high) / 2, low, high, 9)


def test_the_wider_leads_under_five_readers():
    narrow, wide = est(-0.1, 0.1), est(-0.2, 0.2)
    assert leading(narrow, wide, 5) is narrow
    assert leading(wide, narrow, 3) is wide
    assert leading(narrow, wide, 4).high == 0.2
    assert leading(narrow, wide, 4).note == notes.FIXED_LEADS
    nothing = Estimate(0.0, np.nan, np.nan, 9, note=notes.ONE_READER)
    assert leading(nothing, nothing, 2) is nothing
    assert leading(narrow, nothing, 2) is narrow


def test_proportions_of_a_reader_without_readings():
    outcome = np.array([[[1.0, 0.0, np.nan], [np.nan, np.nan, np.nan]]])
    assert proportions(outcome) == pytest.approx(np.array([[0.5, np.nan]]), nan_ok=True)


@given(arrays(float, (1, 3, 6), elements=st.sampled_from([0.0, 1.0])))
def test_covariance_is_the_jackknife_over_cases(outcome):
    n = outcome.shape[-1]
    without = np.stack([np.delete(outcome[0], k, axis=1).mean(axis=1) for k in range(n)])
    centred = without - without.mean(axis=0)
    assert proportion_covariance(outcome) == pytest.approx((n - 1) / n * centred.T @ centred)
