"""Shared draws: the same interval as draws of one's own, edges; agreement and order as statistics of them."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.agreement.fleiss import fleiss_kappa
from trustreport.measures.agreement.percent import percent_agreement
from trustreport.measures.mrmc import draws as module
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.bootstrap import TOO_MANY_UNDEFINED, bootstrap, ratio_difference, ratio_mean
from trustreport.measures.mrmc.draws import BEYOND, Draws, canonical_order, combined
from trustreport.measures.mrmc.reader_agreement import agreement_difference
from trustreport.measures.mrmc.reading_order import halves, trend

RNG = np.random.default_rng(17)
STRATA = np.arange(40) % 2
SECONDS = RNG.normal(60, 10, (2, 5, 40))
ONES = np.ones_like(SECONDS)
MEASURES = {"percent_agreement": percent_agreement, "fleiss_kappa": fleiss_kappa}


def shared(n_readers: int = 5, strata=STRATA, seed: int = 4) -> Draws:
    return Draws.of(n_readers, strata, np.random.default_rng(seed))


def decisions(seed: int, gaps: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    made = (rng.random((2, 5, 30)) < 0.6).astype(float)
    made[rng.random(made.shape) < gaps] = np.nan
    return made


def test_shared_draws_give_what_bootstrap_gives():
    statistic = ratio_difference(SECONDS, ONES)
    one = bootstrap(statistic, 5, STRATA, np.random.default_rng(4), n=200, level=0.9)
    other = shared().estimate(statistic, 200, level=0.9)
    assert (other.value, other.low, other.high, other.se) == (one.value, one.low, one.high, one.se)
    assert (other.n, other.level, other.method) == (one.n, one.level, one.method)


def test_the_result_does_not_depend_on_how_much_is_computed_at_once(monkeypatch):
    one = shared().estimate(ratio_difference(SECONDS, ONES), 200)
    monkeypatch.setattr(module, "AT_ONCE", 700)
    other = shared().estimate(ratio_difference(SECONDS, ONES), 200)
    assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-12)


def test_what_has_no_interval_says_why():
    nothing = shared().estimate(ratio_mean(SECONDS * np.nan, ONES), 0, why_undefined="not recorded")
    assert isnan(nothing.value)
    assert nothing.note == "not recorded"
    alone = shared(1).estimate(ratio_mean(SECONDS[:, :1], ONES[:, :1]), 40)
    assert alone.value == pytest.approx(SECONDS[0, 0].mean())
    assert alone.note == notes.ONE_READER
    assert shared().estimate(ratio_mean(ONES, ONES), 200).note == notes.NO_VARIATION
    rare = np.where((np.arange(5) == 0)[:, None], SECONDS, np.nan)
    assert shared().estimate(ratio_mean(rare, ONES), 40).note == TOO_MANY_UNDEFINED


def test_an_interval_of_skewed_draws_holds_the_value_and_says_that_it_was_widened():
    def skewed(readers, cases):
        return np.where(readers.max(axis=1) > 1, 1.0 + readers[:, 0], 0.0)

    got = shared().estimate(skewed, 200, level=0.9)
    assert got.low == got.value == 0
    assert BEYOND in got.note


def test_statistics_add_up():
    of_arm = [ratio_mean(SECONDS, ONES, arm) for arm in (0, 1)]
    both = combined((2.0, of_arm[1]), (-1.0, of_arm[0]), constant=5.0)
    value = shared().estimate(both, 200).value
    assert value == pytest.approx(5 + 2 * SECONDS[1].mean() - SECONDS[0].mean())


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


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_agreement_is_that_of_the_measure_for_any_draw(name, gaps):
    made = decisions(1, gaps)
    codes = np.where(np.isnan(made), -1, made).astype(int)
    statistic = agreement_difference(made, name)
    own = shared(5, np.zeros(30, int))
    got = statistic(own.readers[:20], own.cases[:20])
    for k in range(20):
        rows = np.repeat(np.arange(30), own.cases[k].astype(int))
        arms = [MEASURES[name](codes[a].T[rows], 2, multiplicity=own.readers[k]).value for a in (0, 1)]
        assert got[k] == pytest.approx(arms[1] - arms[0], abs=1e-12)


def test_agreement_without_a_pair_or_with_one_answer_is_undefined():
    one = np.ones((1, 1)), np.ones((1, 4))
    assert isnan(agreement_difference(np.ones((2, 1, 4)), "percent_agreement")(*one)[0])
    same = np.ones((1, 3)), np.ones((1, 4))
    assert isnan(agreement_difference(np.ones((2, 3, 4)), "fleiss_kappa")(*same)[0])
    assert agreement_difference(np.ones((2, 3, 4)), "percent_agreement")(*same)[0] == 0


def test_halves_are_each_readers_own_and_leave_out_the_middle_ties_and_gaps():
    order = np.array([[5.0, 1, 3, 2, 4], [1, 2, 2, 3, np.nan], [7, 8, np.nan, 9, 10], [1, np.nan, 3, 2, 4]])
    values = np.arange(20.0).reshape(4, 5)
    values[2, 0] = np.nan
    second, first = halves(order, values)
    assert [list(row[~np.isnan(row)]) for row in second] == [[0, 4], [8], [14], [17, 19]]
    assert [list(row[~np.isnan(row)]) for row in first] == [[1, 3], [5], [11], [15, 18]]
    assert np.isnan(halves(order[:1, :1], values[:1, :1])).all()


def test_the_trend_is_the_slope_of_a_model_with_a_mean_for_each_reader():
    rng = np.random.default_rng(6)
    order = np.stack([rng.permutation(30) + 1.0 for _ in range(4)])
    seconds = rng.normal(60, 10, (4, 1)) - 0.7 * order + rng.normal(0, 3, (4, 30))
    seconds[0, :5] = np.nan
    above, below = trend(order, seconds)
    known = ~np.isnan(seconds)
    reader = np.repeat(np.arange(4), 30).reshape(4, 30)[known]
    design = np.column_stack([order[known], *(reader == j for j in range(4))])
    slope = np.linalg.lstsq(design, seconds[known], rcond=None)[0][0]
    assert np.nansum(above) / np.nansum(below) == pytest.approx(slope)
    assert np.isnan(above[0, 0, :5]).all()
