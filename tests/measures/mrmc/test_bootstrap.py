"""Two-way bootstrap: reference standard errors, what is drawn, statistics written out, endpoints, speed."""

from math import isnan
from time import perf_counter

import numpy as np
import pytest

from trustreport.measures.mrmc import bootstrap as module
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import reader_auc
from trustreport.measures.mrmc.bootstrap import (
    TOO_MANY_UNDEFINED,
    UNDEFINED_DRAWS,
    auc_difference,
    bootstrap,
    ratio_difference,
    ratio_mean,
    resamples,
)
from trustreport.measures.mrmc.covariance import proportions


@pytest.mark.parametrize("resampled", ["both", "readers", "cases"])
def test_vandyke_agrees_with_the_reference(resampled, studies, expected):
    study = studies["vandyke"]
    leaf = expected["vandyke"]["auc"]["bootstrap_20000_seed20240101"][resampled]
    statistic = auc_difference(study.rating, study.truth, compared=0, baseline=1)
    rng = np.random.default_rng(1)
    got = bootstrap(statistic, 5, study.truth, rng, draws=10000, resampled=resampled, n=570)
    # Monte Carlo errors with B draws: of the SE about SE / sqrt(2 B), of a limit about 2.7 SE / sqrt(B).
    assert got.se == pytest.approx(leaf["se"]["value"], rel=4 * np.sqrt(1 / 20000 + 1 / 40000))
    for limit in ("low", "high"):
        wanted = leaf[f"ci_{limit.replace('low', 'lo').replace('high', 'hi')}"]["value"]
        assert getattr(got, limit) == pytest.approx(wanted, abs=4 * 2.7 * leaf["se"]["value"] / np.sqrt(8000))
    areas = reader_auc(study.rating, study.truth).mean(axis=1)
    assert got.value == pytest.approx(areas[0] - areas[1])


def test_two_thousand_draws_take_less_than_two_seconds(studies):
    study = studies["vandyke"]
    start = perf_counter()
    bootstrap(auc_difference(study.rating, study.truth), 5, study.truth, np.random.default_rng(1))
    assert perf_counter() - start < 2


def test_strata_keep_their_size_and_readers_their_number():
    strata = np.array([0] * 7 + [1] * 3 + [2])
    readers, cases = resamples(4, strata, np.random.default_rng(5), draws=2000)
    assert (readers.sum(axis=1) == 4).all()
    for stratum, size in ((0, 7), (1, 3), (2, 1)):
        assert (cases[:, strata == stratum].sum(axis=1) == size).all()
    assert cases[:, :7].mean() == pytest.approx(1, abs=0.05)
    readers, cases = resamples(4, strata, np.random.default_rng(5), resampled="cases")
    assert (readers == 1).all()
    assert cases.std() > 0


def test_the_same_seed_gives_the_same_result_whatever_the_block(studies, monkeypatch):
    study = studies["vandyke"]
    statistic = auc_difference(study.rating, study.truth)
    one = bootstrap(statistic, 5, study.truth, np.random.default_rng(9))
    monkeypatch.setattr(module, "BLOCK", 333)
    other = bootstrap(statistic, 5, study.truth, np.random.default_rng(9))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12)
    assert bootstrap(statistic, 5, study.truth, np.random.default_rng(10)).low != one.low


def test_weights_are_repetitions():
    """A reader or case with weight 2 is the same as one that stands in the data twice."""
    rng = np.random.default_rng(2)
    rating, truth = rng.normal(size=(2, 3, 12)), np.arange(12) < 5
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
    called = (rating > 0).astype(float)
    both = called * truth
    ppv = both[:, r][:, :, c].sum(axis=(1, 2)) / called[:, r][:, :, c].sum(axis=(1, 2))
    assert ratio_difference(both, called)(readers, cases)[0] == pytest.approx(ppv[1] - ppv[0])
    assert ratio_mean(both, called, arm=1)(readers, cases)[0] == pytest.approx(ppv[1])


def test_ppv_and_seconds():
    rng = np.random.default_rng(6)
    truth = np.arange(100) % 2 == 0
    called = (rng.random((2, 6, 100)) < np.where(truth, 0.8, 0.3)).astype(float)
    got = bootstrap(ratio_difference(called * truth, called), 6, truth, rng, n=int(called.sum()))
    assert got.low < got.value < got.high
    assert got.method == "bootstrap"
    assert abs(got.details["bias"]) < got.se / 3
    seconds = rng.normal(60, 5, (2, 6, 100))
    seconds[1] -= 10
    seconds[0, 0, 0] = np.nan
    got = bootstrap(ratio_difference(seconds, np.ones_like(seconds)), 6, truth, rng)
    assert got.value == pytest.approx(np.nanmean(seconds[1]) - np.nanmean(seconds[0]))
    assert got.high < 0


def test_a_proportion_has_about_the_standard_error_of_its_sources():
    """One reader's cases resampled: the SE is that of a proportion."""
    outcome = (np.random.default_rng(3).random((1, 1, 200)) < 0.7).astype(float)
    share = float(proportions(outcome)[0, 0])
    statistic = ratio_mean(outcome, np.ones_like(outcome))
    got = bootstrap(statistic, 1, np.zeros(200, int), np.random.default_rng(4), draws=8000, resampled="cases")
    assert got.se == pytest.approx(np.sqrt(share * (1 - share) / 200), rel=0.04)


def test_undefined_draws_are_left_out_and_said():
    truth = np.zeros(40, int)
    called = np.zeros((1, 8, 40))
    called[0, :2] = 1  # two of eight readers ever call positive: about one draw in ten has neither
    statistic = ratio_mean(called * 0.5, called)
    got = bootstrap(statistic, 8, truth, np.random.default_rng(1))
    assert got.note == TOO_MANY_UNDEFINED
    assert isnan(got.low)
    called[0, :4, 1:] = 1
    called[0, 2:4] *= np.arange(40) % 2
    numerator = called * np.array([0.2, 0.4, 0.6, 0.8, 0, 0, 0, 0])[:, None]
    got = bootstrap(ratio_mean(numerator, called), 8, truth, np.random.default_rng(1))
    assert got.note == UNDEFINED_DRAWS
    assert 0 < got.details["undefined_draws"] < 100
    assert 0.2 <= got.low < got.high <= 0.8


def test_what_has_no_interval_says_why():
    ones = np.ones((2, 3, 10))
    strata, rng = np.zeros(10, int), np.random.default_rng(1)
    assert bootstrap(ratio_difference(ones, ones), 3, strata, rng).note == notes.NO_VARIATION
    assert bootstrap(ratio_difference(ones[:, :1], ones[:, :1]), 1, strata, rng).note == notes.ONE_READER
    assert isnan(bootstrap(ratio_difference(ones, 0 * ones), 3, strata, rng).value)
    with pytest.raises(ValueError, match="at least 2000"):
        bootstrap(ratio_difference(ones, ones), 3, strata, rng, draws=200)
