"""Clustered variances and test: counts by hand, what must not matter, and data without an interval."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import stdtrit

from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.clustered import CLUSTERINGS, clustered_difference, mcnemar_clustered_case

gappy = arrays(float, (2, 3, 5), elements=st.sampled_from([0.0, 1.0, np.nan]))
SMALL = np.array([[[0.0, 0, 1], [0, 1, 1]], [[1.0, 0, 1], [1, 1, 0]]])


def test_by_hand():
    """d = [[1, 0, 0], [1, 0, -1]], mean 1/6; residual sums by case 5/3, -1/3, -4/3, by reader 1/2, -1/2."""
    by_case, by_reader = 42 / 9 / 36 * 3 / 2, 0.5 / 36 * 2
    by_pair = (25 + 1 + 1 + 25 + 1 + 49) / 36 / 36 * 6 / 5
    twoway = by_case + by_reader - by_pair
    got = {word: clustered_difference(SMALL, word) for word in CLUSTERINGS}
    assert all(e.value == pytest.approx(1 / 6) and e.n == 6 for e in got.values())
    assert got["cluster_case"].se ** 2 == pytest.approx(by_case)
    assert got["cluster_reader"].se ** 2 == pytest.approx(by_reader)
    assert got["cluster_twoway_z"].se ** 2 == pytest.approx(twoway)
    assert got["cluster_twoway_t"].se ** 2 == pytest.approx(twoway)
    assert got["cluster_twoway_t"].df == 1
    half = got["cluster_twoway_t"].high - 1 / 6
    assert half == pytest.approx(stdtrit(1, 0.975) * twoway**0.5)


def test_mcnemar_by_hand():
    """S = 2, 0, -1: chi-square = 1 / 5 x 2 / 3."""
    got = mcnemar_clustered_case(SMALL)
    assert (got.value, got.df, got.n) == (pytest.approx(2 / 15), 1, 6)
    assert got.note == notes.TEST_ONLY


@given(gappy, st.sampled_from(CLUSTERINGS), st.permutations(range(3)), st.permutations(range(5)))
def test_order_does_not_matter_and_arms_turn_the_sign(outcome, word, readers, cases):
    one = clustered_difference(outcome, word)
    other = clustered_difference(outcome[::-1, readers][:, :, cases], word)
    assert (one.value, one.low) == pytest.approx((-other.value, -other.high), abs=1e-9, nan_ok=True)
    test, same = mcnemar_clustered_case(outcome), mcnemar_clustered_case(outcome[::-1, readers][:, :, cases])
    assert (test.value, test.p) == pytest.approx((same.value, same.p), abs=1e-9, nan_ok=True)


@given(gappy, st.sampled_from(CLUSTERINGS))
def test_no_number_is_missing_without_a_reason(outcome, word):
    got = clustered_difference(outcome, word)
    assert isnan(got.low) == isnan(got.high) == isnan(got.se)
    assert got.note or not isnan(got.low)


def test_readings_without_a_partner_do_not_count():
    outcome = np.concatenate([SMALL, np.full((2, 1, 3), np.nan)], axis=1)
    outcome[0, 2] = 1
    assert clustered_difference(outcome).se == clustered_difference(SMALL).se
    assert clustered_difference(outcome, "cluster_twoway_t").df == 1


@pytest.mark.parametrize("word", CLUSTERINGS)
def test_nobody_in_both_arms(word):
    outcome = SMALL.copy()
    outcome[0, 0] = outcome[1, 1] = np.nan
    assert clustered_difference(outcome, word).note == notes.NO_PAIR
    assert mcnemar_clustered_case(outcome).note == notes.NO_PAIR


def test_one_reader_and_one_case():
    assert clustered_difference(SMALL[:, :1], "cluster_reader").note == notes.ONE_CLUSTER
    assert clustered_difference(SMALL[:, :1], "cluster_twoway_z").note == notes.ONE_CLUSTER
    assert not isnan(clustered_difference(SMALL[:, :1], "cluster_case").low)
    assert clustered_difference(SMALL[..., :1]).note == notes.ONE_CLUSTER
    assert mcnemar_clustered_case(SMALL[..., :1]).note == notes.ONE_CLUSTER


def test_nothing_changes():
    same = SMALL[[0, 0]]
    assert clustered_difference(same).note == notes.NO_VARIATION
    test = mcnemar_clustered_case(same)
    assert (test.value, test.p, test.note) == (0, 1, notes.NO_DISCORDANT)


def test_negative_twoway_variance():
    """Changes that cancel in every case and for every reader."""
    change = np.array([[1.0, -1, 1, -1], [-1, 1, -1, 1]])
    outcome = np.stack([np.maximum(-change, 0), np.maximum(change, 0)])
    got = clustered_difference(outcome, "cluster_twoway_z")
    assert (got.value, got.note) == (0, notes.TWOWAY_NOT_POSITIVE)
    assert got.details["variance"] == pytest.approx(-8 / 64 * 8 / 7)
