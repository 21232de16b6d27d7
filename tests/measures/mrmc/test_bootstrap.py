"""Two-way bootstrap: reference standard errors, what is drawn, statistics written out, edges."""

import runpy
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.mrmc import bootstrap as module
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import reader_auc
from trustreport.measures.mrmc.bootstrap import (
    BEYOND,
    TOO_MANY_UNDEFINED,
    UNDEFINED_DRAWS,
    Draws,
    canonical_order,
    combined,
    ratio_difference,
    ratio_mean,
)
from trustreport.measures.mrmc.covariance import proportions

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
auc_difference = runpy.run_path(str(BENCHMARKS / "areas_of_draws.py"))["auc_difference"]
STRATA = np.arange(40) % 2
SECONDS = np.random.default_rng(17).normal(60, 10, (2, 5, 40))
ONES = np.ones_like(SECONDS)


def drawn(n_readers=5, strata=STRATA, seed=4, **more):
    return Draws.drawn(n_readers, strata, np.random.default_rng(seed), **more)


@pytest.mark.parametrize("resampled", ["both", "readers", "cases"])
def test_vandyke_agrees_with_the_reference(resampled, studies, expected):
    study = studies["vandyke"]
    leaf = expected["vandyke"]["auc"]["bootstrap_20000_seed20240101"][resampled]
    statistic = auc_difference(study.rating, study.truth, compared=0, baseline=1)
    got = drawn(5, study.truth, 1, draws=10000, resampled=resampled).estimate(statistic, 570)
    # Monte Carlo errors with B draws: of the SE about SE / sqrt(2 B), of a limit about 2.7 SE / sqrt(B).
    assert got.se == pytest.approx(leaf["se"]["value"], rel=4 * np.sqrt(1 / 20000 + 1 / 40000))
    for limit in ("low", "high"):
        wanted = leaf[f"ci_{limit.replace('low', 'lo').replace('high', 'hi')}"]["value"]
        assert getattr(got, limit) == pytest.approx(wanted, abs=4 * 2.7 * leaf["se"]["value"] / np.sqrt(8000))
    areas = reader_auc(study.rating, study.truth).mean(axis=1)
    assert got.value == pytest.approx(areas[0] - areas[1])


def test_strata_keep_their_size_and_readers_their_number():
    strata = np.array([0] * 7 + [1] * 3 + [2])
    both = drawn(4, strata, 5)
    assert (both.readers.sum(axis=1) == 4).all()
    for stratum, size in ((0, 7), (1, 3), (2, 1)):
        assert (both.cases[:, strata == stratum].sum(axis=1) == size).all()
    assert both.cases[:, :7].mean() == pytest.approx(1, abs=0.05)
    of_cases = drawn(4, strata, 5, resampled="cases")
    assert (of_cases.readers == 1).all()
    assert of_cases.cases.std() > 0


def test_the_same_seed_gives_the_same_result_however_much_is_computed_at_once(monkeypatch):
    statistic = ratio_difference(SECONDS, ONES)
    one = drawn(seed=9).estimate(statistic, 200)
    monkeypatch.setattr(module, "AT_ONCE", 700)
    other = drawn(seed=9).estimate(statistic, 200)
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12)
    assert drawn(seed=10).estimate(statistic, 200).low != one.low


def test_weights_are_repetitions():
    """A reader or case with weight 2 is the same as one that stands in the data twice."""
    rng = np.random.default_rng(2)
    rating, truth = rng.integers(0, 6, (2, 3, 12)).astype(float), np.arange(12) < 5
    readers, cases = rng.integers(0, 3, (1, 3)).astype(float), rng.integers(0, 3, (1, 12)).astype(float)
    readers[0, 0] = cases[0, 0] = cases[0, 11] = 2
    r, c = np.repeat(np.arange(3), readers[0].astype(int)), np.repeat(np.arange(12), cases[0].astype(int))
    repeated = rating[:, r][:, :, c]
    areas = reader_auc(repeated, truth[c]).mean(axis=1)
    assert auc_difference(rating, truth)(readers, cases)[0] == pytest.approx(areas[1] - areas[0])
    gaps = rating.copy()
    gaps[0, 1, 3] = gaps[1, 2, 7] = np.nan
    areas = reader_auc(gaps[:, r][:, :, c], truth[c]).mean(axis=1)
    assert auc_difference(gaps, truth)(readers, cases)[0] == pytest.approx(areas[1] - areas[0])
    called = (rating > 2).astype(float)
    both = called * truth
    ppv = both[:, r][:, :, c].sum(axis=(1, 2)) / called[:, r][:, :, c].sum(axis=(1, 2))
    assert ratio_difference(both, called)(readers, cases)[0] == pytest.approx(ppv[1] - ppv[0])
    assert ratio_mean(both, called, arm=1)(readers, cases)[0] == pytest.approx(ppv[1])


def test_a_reader_who_rated_nothing_has_no_area():
    rating = np.full((2, 2, 6), np.nan)
    rating[:, 0] = np.arange(6)
    statistic, truth = auc_difference(rating, np.arange(6) > 2), np.ones((1, 6))
    assert isnan(statistic(np.ones((1, 2)), truth)[0])
    assert statistic(np.array([[2.0, 0]]), truth)[0] == 0


def test_ppv_and_seconds():
    rng = np.random.default_rng(6)
    truth = np.arange(100) % 2 == 0
    called = (rng.random((2, 6, 100)) < np.where(truth, 0.8, 0.3)).astype(float)
    own = drawn(6, truth)
    got = own.estimate(ratio_difference(called * truth, called), int(called.sum()))
    assert got.low < got.value < got.high
    assert got.method == "bootstrap"
    assert got.details["draws"] == 2000
    assert abs(got.details["bias"]) < got.se / 3
    seconds = rng.normal(60, 5, (2, 6, 100))
    seconds[1] -= 10
    seconds[0, 0, 0] = np.nan
    got = own.estimate(ratio_difference(seconds, np.ones_like(seconds)), 599)
    assert got.value == pytest.approx(np.nanmean(seconds[1]) - np.nanmean(seconds[0]))
    assert got.high < 0


def test_a_proportion_has_about_the_standard_error_of_its_sources():
    """One reader's cases resampled: the SE is that of a proportion."""
    outcome = (np.random.default_rng(3).random((1, 1, 200)) < 0.7).astype(float)
    share = float(proportions(outcome)[0, 0])
    statistic = ratio_mean(outcome, np.ones_like(outcome))
    got = drawn(1, np.zeros(200, int), draws=8000, resampled="cases").estimate(statistic, 200)
    assert got.se == pytest.approx(np.sqrt(share * (1 - share) / 200), rel=0.04)


def test_statistics_add_up():
    of_arm = [ratio_mean(SECONDS, ONES, arm) for arm in (0, 1)]
    both = combined((2.0, of_arm[1]), (-1.0, of_arm[0]), constant=5.0)
    value = drawn().estimate(both, 200).value
    assert value == pytest.approx(5 + 2 * SECONDS[1].mean() - SECONDS[0].mean())


def test_undefined_draws_are_left_out_and_said():
    truth = np.zeros(40, int)
    called = np.zeros((1, 8, 40))
    called[0, :2] = 1  # two of eight readers ever call positive: about one draw in ten has neither
    got = drawn(8, truth, 1).estimate(ratio_mean(called * 0.5, called), 80)
    assert got.note == TOO_MANY_UNDEFINED
    assert isnan(got.low)
    called[0, :4, 1:] = 1
    called[0, 2:4] *= np.arange(40) % 2
    numerator = called * np.array([0.2, 0.4, 0.6, 0.8, 0, 0, 0, 0])[:, None]
    got = drawn(8, truth, 1).estimate(ratio_mean(numerator, called), 80)
    assert got.note == UNDEFINED_DRAWS
    assert 0 < got.details["undefined_draws"] < 100
    assert 0.2 <= got.low < got.high <= 0.8


def test_what_has_no_interval_says_why():
    nothing = drawn().estimate(ratio_mean(SECONDS * np.nan, ONES), 0, why_undefined=notes.NO_READING)
    assert isnan(nothing.value)
    assert nothing.note == notes.NO_READING
    alone = drawn(1).estimate(ratio_mean(SECONDS[:, :1], ONES[:, :1]), 40)
    assert alone.value == pytest.approx(SECONDS[0, 0].mean())
    assert alone.note == notes.ONE_READER
    assert drawn().estimate(ratio_difference(ONES, ONES), 200).note == notes.NO_VARIATION
    assert isnan(drawn().estimate(ratio_difference(ONES, 0 * ONES), 0).value)
    with pytest.raises(ValueError, match="at least 2000"):
        drawn(draws=200)


def test_an_interval_of_skewed_draws_holds_the_value_and_says_that_it_was_widened():
    def skewed(readers, cases):
        return np.where(readers.max(axis=1) > 1, 1.0 + readers[:, 0], 0.0)

    got = drawn().estimate(skewed, 200, level=0.9)
    assert got.low == got.value == 0
    assert BEYOND in got.note


@given(st.permutations(range(4)), st.permutations(range(8)))
def test_a_canonical_order_undoes_any_other(readers, cases):
    values = np.random.default_rng(2).integers(0, 3, (3, 4, 8)).astype(float)
    values[0, 1, 2:5] = np.nan
    names = ["b", "a", "d", "c"]
    first = canonical_order(names, values)
    mixed = values[:, readers][:, :, cases]
    second = canonical_order([names[j] for j in readers], mixed)
    one, other = values[:, first[0]][:, :, first[1]], mixed[:, second[0]][:, :, second[1]]
    np.testing.assert_array_equal(one, other)
