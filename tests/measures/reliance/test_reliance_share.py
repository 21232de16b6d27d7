"""The pooled share with readers and cases sampled: sums written out, properties, edges, coverage."""

from itertools import pairwise
from math import exp, isnan, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import stdtrit

from examples.sequential_reading import sequential_reading
from trustreport.measures.mrmc import notes as mrmc_notes
from trustreport.measures.mrmc.clustered import clustered_difference
from trustreport.measures.proportion import wilson
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.clustered import clustered_share
from trustreport.measures.reliance.patterns import RATES, patterns, tertiles

gappy = arrays(float, (4, 7), elements=st.sampled_from([0.0, 1.0, np.nan]))


def test_the_interval_written_out():
    outcome = np.array([[1, 0, 1, np.nan], [1, 1, 1, 1], [0, 0, 1, np.nan]])
    p, n = 7 / 10, 10
    e = (outcome - p) / n
    by_case = sum(np.nansum(e[:, k]) ** 2 for k in range(4)) * 4 / 3
    by_reader = sum(np.nansum(e[j]) ** 2 for j in range(3)) * 3 / 2
    variance = by_case + by_reader - np.nansum(e**2) * 10 / 9
    assert variance > 0
    half = -stdtrit(2, 0.025) * sqrt(variance) / (p * (1 - p))
    got = clustered_share(outcome)
    assert (got.value, got.n, got.df) == (pytest.approx(p), n, 2)
    assert got.se == pytest.approx(sqrt(variance))
    for limit, side in ((got.low, -half), (got.high, half)):
        assert limit == pytest.approx(1 / (1 + exp(-log(p / (1 - p)) - side)))


@given(gappy)
def test_standard_error_is_that_of_the_clustered_mean(outcome):
    """With a baseline arm of zeros the clustered difference has the same variance."""
    both = np.stack([np.where(np.isnan(outcome), np.nan, 0.0), outcome])
    theirs, ours = clustered_difference(both, "cluster_twoway_t"), clustered_share(outcome)
    assert ours.value == pytest.approx(theirs.value, nan_ok=True)
    if not (isnan(theirs.se) or isnan(ours.se) or notes.LARGER_ONE_WAY in ours.note):
        assert ours.se == pytest.approx(theirs.se)
        assert ours.df == theirs.df


@given(gappy, st.permutations(range(4)), st.permutations(range(7)))
def test_order_does_not_matter_and_limits_stay_within_0_and_1(outcome, readers, cases):
    got, turned = clustered_share(outcome), clustered_share(outcome[readers][:, cases])
    for field in ("value", "low", "high", "n"):
        assert getattr(got, field) == pytest.approx(getattr(turned, field), nan_ok=True)
    if not isnan(got.low):
        assert 0 <= got.low <= got.value <= got.high <= 1


@given(gappy)
def test_the_complement_has_the_mirrored_interval(outcome):
    got, other = clustered_share(outcome), clustered_share(1 - outcome)
    assert got.low == pytest.approx(1 - other.high, nan_ok=True)
    assert got.high == pytest.approx(1 - other.low, nan_ok=True)


def test_an_empty_base_is_undefined():
    got = clustered_share(np.full((2, 3), np.nan), lacking=notes.NO_ADVICE)
    assert isnan(got.value)
    assert (got.n, got.note) == (0, notes.NO_ADVICE)


@pytest.mark.parametrize("shape", [(1, 9), (9, 1)])
def test_one_reader_or_one_case_gives_no_interval(shape):
    got = clustered_share((np.arange(9) % 2.0).reshape(shape))
    assert isnan(got.low)
    assert got.note == mrmc_notes.ONE_CLUSTER


def test_all_alike_gets_exact_limits_for_fewer_readings():
    got = clustered_share(np.zeros((3, 40)))
    n = 120 * (stdtrit(119, 0.025) / stdtrit(2, 0.025)) ** 2
    assert (got.value, got.low) == (0, 0)
    assert got.high == pytest.approx(1 - 0.025 ** (1 / n))
    assert 3 < n < 120
    assert got.note == notes.ALL_ALIKE
    assert clustered_share(np.ones((3, 40))).low == pytest.approx(0.025 ** (1 / n))


def test_a_variance_that_is_not_positive_is_replaced_and_said():
    latin = np.array([[0.0, 1], [1, 0]])  # rows and columns alike, all spread within
    got = clustered_share(latin)
    assert notes.LARGER_ONE_WAY in got.note
    assert 0 <= got.low <= got.high <= 1


@given(gappy)
def test_never_narrower_than_independent_readings(outcome):
    got = clustered_share(outcome)
    if not isnan(got.low):
        independent = wilson(int(np.nansum(outcome)), got.n)
        assert got.low <= independent.low
        assert got.high >= independent.high


@pytest.mark.slow
def test_coverage():
    """Ten readers who differ, 120 cases: between .92 and .98 for the share of right advice taken up."""
    rng = np.random.default_rng(20240501)

    def outcome(n_readers: int, n_cases: int, name: str) -> np.ndarray:
        truth = rng.random(n_cases) < 0.5
        study = sequential_reading(truth, np.clip(rng.normal(0.8, 0.3, n_readers), 0, None), rng=rng)
        right = (study.advice == truth) * np.ones((n_readers, 1))
        codes = patterns(study.initial_decision == truth, right, study.decision == truth)
        return RATES[name].indicator(codes)

    for name in ("rair", "rsr"):
        truth = np.nanmean([np.nanmean(outcome(100, 400, name)) for _ in range(60)])
        inside = []
        for _ in range(600):
            got = clustered_share(outcome(10, 120, name))
            inside.append(got.low <= truth <= got.high)
        assert 0.92 <= np.mean(inside) <= 0.98


def test_tertiles_part_evenly_and_keep_ties_together():
    codes, ranges = tertiles(np.array([[5.0, 1, 4], [2, 3, 6]]))
    assert codes.tolist() == [[2, 0, 1], [0, 1, 2]]
    assert ranges == ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))
    codes, ranges = tertiles(np.array([1.0] * 8 + [2.0, 3.0]))
    assert ranges == ((1.0, 1.0), (2.0, 3.0))
    assert codes.tolist() == [0] * 8 + [1, 1]


@given(arrays(float, 12, elements=st.one_of(st.integers(1, 5).map(float), st.just(np.nan))))
def test_every_value_has_a_band_that_holds_it(values):
    codes, ranges = tertiles(values)
    assert len(ranges) <= 3
    for value, code in zip(values, codes):
        if isnan(value):
            assert code == -1
        else:
            assert ranges[code][0] <= value <= ranges[code][1]
    assert all(a[1] < b[0] for a, b in pairwise(ranges))
