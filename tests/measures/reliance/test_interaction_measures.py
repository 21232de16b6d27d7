"""Odds of bias, appropriate reliance, persuasion and spread: hand counts, other software, edges, coverage."""

from math import exp, isnan, log, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.stats.inter_rater import cohens_kappa

from tests.english import english
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.bootstrap import Draws
from trustreport.measures.mrmc.clustered import clustered_difference
from trustreport.measures.note import Note
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.clustered import Linearised
from trustreport.measures.reliance.odds import (
    adjusted_odds,
    as_direction,
    as_odds,
    inverse,
    odds_of_counts,
    odds_ratio,
    persuasion,
    share_difference,
    spread_ratio,
)
from trustreport.measures.reliance.patterns import (
    PATTERNS,
    appropriate,
    chance_corrected,
    pattern_counts,
    rate,
)

codes = st.lists(st.sampled_from([0.0, 1, 2, 3, 4, 5, 6, 7, nan]), min_size=24, max_size=24).map(
    lambda given: np.array(given).reshape(4, 6)
)


@given(codes)
def test_published_odds_of_counts_and_of_readings_agree(found):
    counts = pattern_counts(found)
    from_counts = odds_of_counts(counts, "100", "101")
    known = np.isnan(found)
    both = (np.where(known, nan, found == p) for p in (4, 5))
    from_readings = odds_ratio(*both)
    if isinstance(from_readings, Note):
        assert isnan(from_counts.value)
        return
    assert from_readings.value == pytest.approx(from_counts.value)
    n = from_counts.n
    independent = from_readings.independent()
    assert independent.details["log_se"] == pytest.approx(from_counts.details["log_se"] * sqrt(n / (n - 1)))


def test_the_published_odds_of_counts_by_hand():
    """22 and 74 of 600: log odds -3.268 and -1.962; variance of a multinomial by the delta method."""
    counts = dict(zip(PATTERNS, (31, 4, 52, 61, 22, 74, 5, 351)))
    got = odds_of_counts(counts, "100", "101")
    p, q, n = 22 / 600, 74 / 600, 600
    gradient = np.array([1 / (p * (1 - p)), -1 / (q * (1 - q))])
    covariance = np.array([[p * (1 - p), -p * q], [-p * q, q * (1 - q)]]) / n
    se = sqrt(gradient @ covariance @ gradient)
    assert got.value == pytest.approx(p / (1 - p) / (q / (1 - q)))
    assert log(got.high / got.value) == pytest.approx(1.959963984540054 * se)


@pytest.mark.parametrize("counts", [(0, 5), (5, 0), (0, 0)])
def test_a_zero_cell_is_undefined_and_never_zero(counts):
    found = dict.fromkeys(PATTERNS, 3) | {"100": counts[0], "101": counts[1]}
    for e in (odds_of_counts(found, "100", "101"), as_odds(rate(found, "harmful_switch_rate"))):
        assert isnan(e.value)
        assert isnan(e.low)
        assert e.note
    assert isnan(inverse(Estimate(0.0, nan, nan, 9)).value)
    assert inverse(Estimate(0.0, nan, nan, 9)).note == notes.ZERO_CELL


def test_directions_and_odds_turn_the_limits_with_the_share():
    share = rate(dict.fromkeys(PATTERNS, 0) | {"011": 15, "100": 5}, "deference_helpful")
    direction, odds = as_direction(share), as_odds(share)
    assert direction.value == pytest.approx((15 - 5) / 20)
    assert (direction.low, direction.high) == pytest.approx((2 * share.low - 1, 2 * share.high - 1))
    assert odds.value == pytest.approx(3)
    assert odds.low == pytest.approx(share.low / (1 - share.low))


def test_the_clustered_interval_written_out():
    u = np.array([[0.05, -0.02, 0.01, nan], [0.03, -0.04, 0.02, 0.01], [-0.06, 0.02, 0.01, -0.03]])
    zero = np.nan_to_num(u)
    v_case, v_reader = (zero.sum(axis=0) ** 2).sum() * 4 / 3, (zero.sum(axis=1) ** 2).sum() * 3 / 2
    variance = v_case + v_reader - (zero**2).sum() * 11 / 10
    got = Linearised(2.0, u, "log", 11).clustered()
    floor = (zero**2).sum() * 11 / 10 * (1.959963984540054 / stdtrit(2, 0.975)) ** 2
    half = stdtrit(2, 0.975) * sqrt(max(variance, floor))
    assert (got.low, got.high) == pytest.approx((2 * exp(-half), 2 * exp(half)))
    assert got.df == 2


def test_a_difference_of_disjoint_readings_has_the_clustered_variance_of_its_arms():
    """Two types on the same readers and cases, as if paired: the variance is that of the difference."""
    rng = np.random.default_rng(3)
    outcome = rng.integers(0, 2, (2, 6, 30)).astype(float)
    ours = share_difference(outcome[0], outcome[1])
    assert not isinstance(ours, Note)
    theirs = clustered_difference(outcome, "cluster_twoway_t", compared=0, baseline=1)
    assert ours.value == pytest.approx(theirs.value)
    got = ours.clustered()
    if notes.NO_NARROWER not in got.note:
        assert got.se == pytest.approx(theirs.se)


def test_adjusted_odds_against_a_regression_standardised_by_hand():
    """Logistic regression with a term for each level, predicted for all readings (g-formula)."""
    rng = np.random.default_rng(5)
    outcome = (rng.random((8, 40)) < np.linspace(0.2, 0.7, 40)).astype(float)
    outcome[rng.random(outcome.shape) < 0.5] = nan
    levels = np.repeat([0, 1, 2, 3], 10).astype(np.int8)
    known = np.ones(outcome.shape, bool)
    found = adjusted_odds(outcome, known, levels, ("1", "2", "3", "4"))
    assert not isinstance(found, Note)
    based = ~np.isnan(outcome)
    of_level = np.broadcast_to(levels, outcome.shape)
    design = np.eye(4)[of_level[based]]
    fit = GLM(outcome[based], design, family=Binomial()).fit()
    p = fit.predict(np.eye(4)[of_level.ravel()]).mean()
    assert found.value == pytest.approx(p / (1 - p))
    assert found.n == based.sum()


def test_an_empty_level_is_left_out_and_named():
    outcome = np.array([[1.0, 0, nan, nan, nan, nan]])
    levels = np.array([0, 0, 1, 1, 2, -1], np.int8)
    found = adjusted_odds(outcome, np.ones((1, 6), bool), levels, ("easy", "fair", "hard"))
    assert not isinstance(found, Note)
    assert found.value == pytest.approx(1)
    assert "fair, hard" in english(found.note)
    assert found.details == {"levels": 3, "empty_levels": 2}
    assert adjusted_odds(outcome, np.ones((1, 6), bool), np.full(6, -1, np.int8), ("easy",)) == (
        notes.NO_COMPLEXITY
    )
    ones = np.where(np.isnan(outcome), nan, 1.0)
    assert adjusted_odds(ones, np.ones((1, 6), bool), levels, ("a", "b", "c")) == notes.ZERO_CELL


def test_appropriate_reliance_counted_by_hand():
    """Of ten: 011, 101; 000 twice, once falling; 111 four times, rising twice; 100; 010: 5 of 10."""
    found = np.array([[3.0, 5, 0, 0, 7, 7, 7, 7, 4, 2]])
    before = np.full((1, 10), 0.5)
    after = np.array([[0.4, 0.6, 0.4, 0.5, 0.6, 0.7, 0.5, 0.4, 0.5, 0.5]])
    outcome = appropriate(found, before, after)
    assert outcome.mean() == 0.5
    corrected = chance_corrected(found, before, after)
    assert not isinstance(corrected, Note)
    # right afterwards 6 of 10; wrong and falling 1; right and rising 3 (one of them pattern 101)
    first = {"01": 2, "10": 2, "00": 2, "11": 4}
    expected = (
        (first["01"] + first["10"]) / 10 * 6 / 10 + first["00"] / 10 * 1 / 10 + first["11"] / 10 * 3 / 10
    )
    assert corrected.details["expected"] == pytest.approx(expected)
    assert corrected.value == pytest.approx(1 - 0.5 / (1 - expected))


def test_a_missing_confidence_leaves_the_reading_out():
    found, before = np.array([[3.0, 5, 4]]), np.array([[0.5, nan, 0.5]])
    assert np.isnan(appropriate(found, before, np.full((1, 3), 0.5))).tolist() == [[False, True, False]]
    assert chance_corrected(found, np.full((1, 3), nan), before) == notes.NO_CONFIDENCE


def test_the_influence_of_chance_correction_is_the_derivative():
    """Weighing one reading a little more moves the value by its influence."""
    rng = np.random.default_rng(8)
    found = rng.integers(0, 8, (1, 60)).astype(float)
    before, after = rng.random((1, 60)), rng.random((1, 60))
    base = chance_corrected(found, before, after)
    assert not isinstance(base, Note)
    for k in range(0, 60, 13):
        many = [
            np.repeat(part, np.where(np.arange(60) == k, 201, 200), axis=1) for part in (found, before, after)
        ]
        heavier = chance_corrected(*many)
        assert not isinstance(heavier, Note)
        assert (heavier.value - base.value) * 200 == pytest.approx(base.influence[0, k], abs=2e-4)


def kappa(one: np.ndarray, other: np.ndarray) -> float:
    """Cohen's kappa by statsmodels."""
    table = np.histogram2d(one, other, bins=2, range=[[0, 1]] * 2)[0]
    return float(cohens_kappa(table, return_results=False))


def test_persuasion_is_the_mean_gain_of_kappa_by_statsmodels():
    rng = np.random.default_rng(2)
    first, advice, final = (rng.integers(0, 2, (5, 40)).astype(float) for _ in range(3))
    got = persuasion(first, advice, final)(np.ones((1, 5)), np.ones((1, 40)))[0]
    gain = [kappa(final[j], advice[j]) - kappa(first[j], advice[j]) for j in range(5)]
    assert got == pytest.approx(np.mean(gain))
    alike = first.copy()
    alike[0], advice[0] = 1, 1  # no kappa for this reader
    final[0] = 1
    rest = persuasion(alike, advice, final)(np.ones((1, 5)), np.ones((1, 40)))[0]
    assert rest == pytest.approx(np.mean(gain[1:]))


def test_the_spread_ratio_is_that_of_the_standard_deviations():
    rng = np.random.default_rng(4)
    correct = (rng.random((2, 7, 50)) < 0.7).astype(float)
    sd = correct.mean(axis=2).std(axis=1, ddof=1)
    assert spread_ratio(correct)(np.ones((1, 7)), np.ones((1, 50)))[0] == pytest.approx(sd[0] / sd[1])
    same = np.ones((2, 7, 50))
    assert isnan(spread_ratio(same)(np.ones((1, 7)), np.ones((1, 50)))[0])
    drawn = Draws.drawn(7, np.zeros(50), np.random.default_rng(1)).estimate(spread_ratio(correct), 350)
    assert drawn.low < drawn.value < drawn.high
