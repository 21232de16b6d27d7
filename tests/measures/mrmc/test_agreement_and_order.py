"""Agreement of the readers as a statistic of resampled readers, and what changes in the course of reading."""

from math import isnan

import numpy as np
import pytest

from trustreport.measures.agreement.kappa import fleiss_kappa, percent_agreement
from trustreport.measures.mrmc.bootstrap import Draws
from trustreport.measures.mrmc.each_reader import agreement_difference
from trustreport.measures.mrmc.period import halves, trend

MEASURES = {"percent_agreement": percent_agreement, "fleiss_kappa": fleiss_kappa}


def decisions(seed: int, gaps: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    made = (rng.random((2, 5, 30)) < 0.6).astype(float)
    made[rng.random(made.shape) < gaps] = np.nan
    return made


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_agreement_is_that_of_the_measure_for_any_draw(name, gaps):
    made = decisions(1, gaps)
    codes = np.where(np.isnan(made), -1, made).astype(int)
    statistic = agreement_difference(made, name)
    own = Draws.drawn(5, np.zeros(30, int), np.random.default_rng(4))
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
