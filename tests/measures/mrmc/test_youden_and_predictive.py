"""Youden's index and predictive values of readers: other routes to the same numbers, and their edges."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import stdtrit

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import fit_auc
from trustreport.measures.mrmc.obuchowski_rockette import MODES, fit_proportions
from trustreport.measures.mrmc.quarters import fit_ratio
from trustreport.measures.mrmc.youden import fit_youden, sum_of, youden_ustatistic
from trustreport.measures.proportion import wilson

TRUTH = np.arange(60) % 3 == 0
RIGHT = (np.random.default_rng(3).random((2, 6, 60)) < np.array([0.7, 0.8])[:, None, None]).astype(float)
gappy = arrays(float, (2, 3, 8), elements=st.sampled_from([0.0, 1.0, np.nan]))


def test_youden_is_twice_the_area_of_the_decisions_less_one():
    """The empirical area under the ROC curve of 0/1 ratings is (sensitivity + specificity) / 2."""
    called = np.where(TRUTH, RIGHT, 1 - RIGHT)
    index, area = fit_youden(RIGHT, TRUTH), fit_auc(called, TRUTH, "delong")
    for mode in MODES:
        one, other = index.difference(1, 0, mode=mode), area.difference(1, 0, mode=mode)
        assert (one.value, one.low, one.high) == pytest.approx(
            (2 * other.value, 2 * other.low, 2 * other.high)
        )
        mean = index.arm_mean(1, mode=mode)
        of_area = area.arm_mean(1, mode=mode)
        assert (mean.value, mean.low) == pytest.approx((2 * of_area.value - 1, 2 * of_area.low - 1))


def test_the_ustatistic_of_a_crossed_study_is_obuchowski_rockette_unclipped():
    u, fit = youden_ustatistic(RIGHT, TRUTH), fit_youden(RIGHT, TRUTH)
    parts = [RIGHT[:, :, of] for of in (TRUTH, ~TRUTH)]
    theta = sum(part.mean(axis=2) for part in parts) - 1
    assert [u.arm_mean(a).value for a in (0, 1)] == pytest.approx(theta.mean(axis=1))
    # D without clipping over r; the arms' own covariance terms cov2 and cov3
    variance = 2 * (fit.ms_arm_reader + fit.n_readers * (fit.cov2 - fit.cov3)) / fit.n_readers
    assert u.components(1, 0)["variance"] == pytest.approx(variance)


@given(gappy, st.permutations(range(8)))
def test_order_does_not_matter_and_every_gap_has_a_reason(right, cases):
    truth = np.arange(8) < 4
    for centred in (False, True):
        one = youden_ustatistic(right, truth, centred=centred).difference(1, 0)
        other = youden_ustatistic(right[:, :, cases], truth[list(cases)], centred=centred).difference(1, 0)
        assert (one.value, one.low) == pytest.approx((other.value, other.low), abs=1e-9, nan_ok=True)
        assert one.note or not isnan(one.low)


def test_mover_by_hand():
    one, other = wilson(40, 50), wilson(45, 50)
    got = sum_of(one, other, less=1)
    assert got.low == pytest.approx(0.7 - np.hypot(0.8 - one.low, 0.9 - other.low))
    assert got.high == pytest.approx(0.7 + np.hypot(one.high - 0.8, other.high - 0.9))
    lost = sum_of(one, Estimate(0.5, np.nan, np.nan, 1, note=notes.ONE_CASE))
    assert (lost.value, lost.note) == (pytest.approx(1.3), notes.ONE_CASE)
    assert isnan(lost.low)


def test_a_ratio_with_a_fixed_denominator_is_a_proportion():
    ones = np.ones_like(RIGHT)
    ratio, share = fit_ratio(RIGHT, ones), fit_proportions(RIGHT)
    assert ratio is not None
    for mode in MODES:
        one, other = ratio.difference(1, 0, mode=mode), share.difference(1, 0, mode=mode)
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_a_predictive_value_leaves_each_case_out():
    called = np.where(TRUTH, RIGHT, 1 - RIGHT)
    fit = fit_ratio(called * TRUTH, called)
    assert fit is not None

    def ppv(keep):
        return (called * TRUTH)[..., keep].sum(axis=2) / called[..., keep].sum(axis=2)

    without = np.stack([ppv(np.arange(60) != k).ravel() for k in range(60)], axis=1)
    centred = without - without.mean(axis=1, keepdims=True)
    own = (59 / 60 * centred @ centred.T)[0, 0]
    assert fit.theta == pytest.approx(ppv(np.ones(60, bool)))
    assert fit.per_reader[0, 0, 0] == pytest.approx(own)
    e = fit.difference(1, 0)
    assert e.high - e.value == pytest.approx(stdtrit(e.df, 0.975) * e.se)


def test_a_reader_who_calls_nobody_or_one_case_positive_has_no_ratio_to_jackknife():
    called = np.ones((2, 3, 10))
    called[1, 2] = 0
    assert fit_ratio(called, called) is None
    called[1, 2, 4] = 1
    assert fit_ratio(called, called) is None
    called[1, 2, 5] = 1
    assert fit_ratio(called, called) is not None
