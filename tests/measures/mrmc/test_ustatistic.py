"""U-statistic: sums written out, crossed designs, what must not matter, data without an interval."""

from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions, obuchowski_rockette
from trustreport.measures.mrmc.ustatistic import rounded_down, ustatistic

crossed = arrays(float, (2, 4, 7), elements=st.sampled_from([0.0, 1.0]))
gappy = arrays(float, (2, 3, 5), elements=st.sampled_from([0.0, 1.0, np.nan]))


def written_out(first, second):
    """mean x mean' less the mean product over readings that share neither reader nor case."""
    pairs = [
        first[j, k] * second[m, n]
        for j, k, m, n in product(*(range(size) for size in (*first.shape, *second.shape)))
        if j != m and k != n and not np.isnan(first[j, k]) and not np.isnan(second[m, n])
    ]
    return np.nanmean(first) * np.nanmean(second) - np.mean(pairs) if pairs else np.nan


@settings(max_examples=60)
@given(gappy)
def test_covariance_equals_the_sums_written_out(outcome):
    if np.isnan(outcome).all(axis=(1, 2)).any():
        return
    fit = ustatistic(outcome)
    for i, k in product(range(2), repeat=2):
        want = written_out(outcome[i], outcome[k])
        assert fit.covariance[i, k] == pytest.approx(want, abs=1e-12, nan_ok=True)


@given(crossed)
def test_crossed_designs_equal_obuchowski_rockette_unclipped(outcome):
    fit, u = fit_proportions(outcome), ustatistic(outcome)
    r = fit.n_readers
    between = fit.ms_arm_reader + r * (fit.cov2 - fit.cov3)
    variance = u.covariance[0, 0] + u.covariance[1, 1] - 2 * u.covariance[0, 1]
    assert variance == pytest.approx(2 * between / r, abs=1e-12)
    alone = np.var(fit.theta[0], ddof=1) / r + fit.other_reader[0, 0]
    assert u.covariance[0, 0] == pytest.approx(alone, abs=1e-12)
    assert u.means == pytest.approx(fit.means)


@given(gappy, st.permutations(range(3)), st.permutations(range(5)))
def test_order_of_readers_and_cases_does_not_matter(outcome, readers, cases):
    one, other = ustatistic(outcome), ustatistic(outcome[:, readers][:, :, cases])
    assert one.covariance == pytest.approx(other.covariance, abs=1e-12, nan_ok=True)
    a, b = one.difference(), other.difference()
    assert (a.value, a.low, a.df) == pytest.approx((b.value, b.low, b.df), abs=1e-6, rel=1e-6, nan_ok=True)


@given(gappy)
def test_swapping_the_arms_turns_the_sign(outcome):
    a, b = ustatistic(outcome).difference(1, 0), ustatistic(outcome[::-1]).difference(1, 0)
    assert (a.value, a.low, a.p, a.df) == pytest.approx((-b.value, -b.high, b.p, b.df), nan_ok=True)


@given(gappy)
def test_no_number_is_missing_without_a_reason(outcome):
    fit = ustatistic(outcome)
    for estimate in (fit.difference(), fit.arm_mean(0), fit.arm_mean(1)):
        assert isnan(estimate.low) == isnan(estimate.high) == isnan(estimate.se)
        assert estimate.note or not isnan(estimate.low)


def test_negative_variance_keeps_the_value():
    """Two readers who disagree on every case: only their readings of different cases go together."""
    outcome = np.array([[[1.0, 0, 1, 0], [0, 1, 0, 1]], [[1, 1, 1, 1], [0, 0, 0, 0]]])
    fit = ustatistic(outcome)
    assert fit.covariance[0, 0] < 0
    got = fit.arm_mean(0)
    assert (got.value, got.note) == (0.5, notes.NOT_POSITIVE)
    assert all(isnan(x) for x in (got.se, got.df, got.low, got.high, got.p))
    assert got.details["variance"] == pytest.approx(fit.covariance[0, 0])
    assert isnan(ustatistic(outcome[[0, 0]]).reference_df())


def test_one_reader():
    got = ustatistic(np.array([[[1.0, 0, 1]], [[1, 1, 1]]])).difference()
    assert (got.note, isnan(got.low)) == (notes.ONE_READER, True)
    assert got.value == pytest.approx(1 / 3)


def test_perfect_readers():
    got = ustatistic(np.ones((2, 4, 9))).difference()
    assert (got.value, got.note, isnan(got.low)) == (0.0, notes.NO_VARIATION, True)


def test_an_arm_that_nobody_read():
    outcome = np.ones((2, 3, 4))
    outcome[1] = np.nan
    fit = ustatistic(outcome)
    assert isnan(fit.difference().value)
    assert fit.difference().note == fit.arm_mean(1).note == notes.NO_READING


def test_nobody_in_both_arms():
    """Unlinked readers and cases: no covariance, and one term of the degrees of freedom an arm."""
    rng = np.random.default_rng(4)
    outcome = np.full((2, 10, 60), np.nan)
    outcome[0, :5, :30] = rng.random((5, 30)) < 0.6
    outcome[1, 5:, 30:] = rng.random((5, 30)) < 0.8
    fit = ustatistic(outcome)
    got = fit.difference()
    assert fit.covariance[0, 1] == pytest.approx(0, abs=1e-15)
    assert got.se**2 == pytest.approx(fit.covariance[0, 0] + fit.covariance[1, 1])
    total = sum((fit.sources[s, arm, arm] / m) ** 2 / m for s, m in ((0, 4), (1, 29)) for arm in (0, 1))
    assert got.df == pytest.approx(max(got.se**4 / total, 4))


def test_one_reader_who_reads_nearly_all():
    outcome = np.full((1, 2, 40), np.nan)
    outcome[0, 0] = np.arange(40) % 2
    outcome[0, 1, :2] = [1, 1]
    got = ustatistic(outcome).arm_mean(0)
    assert isnan(got.low)
    assert got.note in (notes.ONE_DOMINATES, notes.NOT_POSITIVE)


def test_quantiles_use_whole_degrees_of_freedom_up_to_fifty():
    assert rounded_down(7.9) == 7
    assert rounded_down(50.0) == 50
    assert rounded_down(50.01) == np.inf


def test_degrees_of_freedom_below_their_minimum_are_raised_and_said():
    """Readers far apart, and an unbiased variance far below the plug-in one."""
    got = ustatistic(np.array([[[1.0, 1, 1, 1], [0, 0, 1, 0], [1, 0, 0, 1]]])).arm_mean(0)
    assert (got.df, got.note) == (2, notes.LOW_DF)


def test_a_variance_of_zero_is_not_certainty():
    got = ustatistic(np.array([[[1.0, 1, 1, 0], [1, 1, 0, 0], [0, 1, 1, 1]]])).arm_mean(0)
    assert got.details["variance"] == pytest.approx(0, abs=1e-15)
    assert (isnan(got.se), got.note) == (True, notes.NOT_POSITIVE)


def test_effective_counts_of_unequal_readers():
    """Readings 8, 2: effective number of readers 100 / 68 = 1.47, less one and rounded: 0."""
    outcome = np.full((1, 2, 8), np.nan)
    outcome[0, 0] = [1, 0, 1, 0, 1, 0, 1, 1]
    outcome[0, 1, :2] = [1, 0]
    counts = ustatistic(outcome).counts
    assert counts[0, 0] == 0
    assert counts[1, 0] == round(100 / (4 + 4 + 6) - 1)


@given(crossed)
def test_accuracy_at_another_share_of_positives(outcome):
    """Classes as arms of their own: readers are shared, cases are not; as Obuchowski-Rockette, unclipped."""
    share, positive = 0.1, np.arange(7) < 3
    arms = np.full((4, 4, 7), np.nan)
    arms[:2, :, positive], arms[2:, :, ~positive] = outcome[..., positive], outcome[..., ~positive]
    weights = np.array([-share, share, share - 1, 1 - share])
    got = ustatistic(arms)
    theta, covariance = np.zeros((2, 4)), np.zeros((8, 8))
    for part, weight in ((outcome[..., positive], share), (outcome[..., ~positive], 1 - share)):
        theta += weight * proportions(part)
        covariance += weight**2 * proportion_covariance(part)
    fit = obuchowski_rockette(theta, covariance, 7)
    want = 2 * (fit.ms_arm_reader / 4 + fit.cov2 - fit.cov3)
    assert weights @ got.covariance @ weights == pytest.approx(want, abs=1e-12)
    assert got.contrast(weights).value == pytest.approx(fit.means[1] - fit.means[0])


def test_two_arms_without_common_cases_but_common_readers():
    """One term for the readers, one for the cases of each arm."""
    rng = np.random.default_rng(6)
    outcome = np.full((2, 6, 80), np.nan)
    outcome[0, :, :40] = rng.random((6, 40)) < 0.6
    outcome[1, :, 40:] = rng.random((6, 40)) < 0.8
    fit = ustatistic(outcome)
    readers = fit.sources[0, 0, 0] + fit.sources[0, 1, 1] - 2 * fit.sources[0, 0, 1]
    total = (readers / 5) ** 2 / 5 + sum((fit.sources[1, i, i] / 39) ** 2 / 39 for i in (0, 1))
    got = fit.difference()
    assert got.df == pytest.approx(max(got.se**4 / total, 5))


def test_about_the_means_a_constant_changes_nothing_and_a_crossed_study_is_as_before():
    rng = np.random.default_rng(8)
    right = (rng.random((2, 4, 30)) < 0.8).astype(float)
    one, other = ustatistic(right), ustatistic(right, centred=True)
    np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-15)
    assert other.difference(1, 0).method == "ustatistic_centred"
    right[rng.random(right.shape) < 0.2] = np.nan
    counted, missed = (ustatistic(x, centred=True).difference(1, 0) for x in (right, 1 - right))
    assert (counted.value, counted.low, counted.high) == pytest.approx(
        (-missed.value, -missed.high, -missed.low)
    )
    plain = [ustatistic(x).difference(1, 0) for x in (right, 1 - right)]
    assert plain[0].se != pytest.approx(plain[1].se, rel=0.01)  # what taking the means away removes


def test_about_the_means_the_variance_is_that_of_repeated_studies_with_gaps():
    """500 null studies: the mean estimated variance against that of the differences, SE of the ratio .06."""
    rng, found = np.random.default_rng(9), []
    for _ in range(500):
        ease, skill = rng.normal(0, 0.7, 40), rng.normal(0, 0.3, (2, 5, 1))
        chance = 1 / (1 + np.exp(-1.4 - ease - skill))
        right = (rng.random((2, 5, 40)) < chance).astype(float)
        right[rng.random(right.shape) < 0.15] = np.nan
        u = ustatistic(right, centred=True)
        found.append((u.components(1, 0)["variance"], u.difference(1, 0).value))
    variance, value = np.array(found).T
    assert variance.mean() / value.var() == pytest.approx(1, abs=0.2)
