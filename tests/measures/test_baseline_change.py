"""Change against baseline: by hand, against statsmodels, and what it does to pure noise."""

import numpy as np
import pytest
import statsmodels.regression.linear_model as linear

from tests.english import english
from trustreport.measures.mrmc.quarters import oldham_slope


def test_agrees_with_least_squares_of_statsmodels() -> None:
    rng = np.random.default_rng(11)
    before, after = rng.uniform(0.5, 0.9, 12), rng.uniform(0.5, 0.9, 12)
    design = np.column_stack([np.ones(12), (before + after) / 2])
    fit = linear.OLS(after - before, design).fit()
    low, high = fit.conf_int()[1]
    e = oldham_slope(before, after)
    want = (fit.params[1], low, high, fit.pvalues[1])
    assert (e.value, e.low, e.high, e.p) == pytest.approx(want, rel=1e-10)


def test_noise_alone_gives_a_naive_slope_but_no_corrected_one() -> None:
    rng = np.random.default_rng(5)
    skill = rng.normal(0.8, 0.03, 20_000)
    before, after = skill + rng.normal(0, 0.03, 20_000), skill + rng.normal(0, 0.03, 20_000)
    e = oldham_slope(before, after)
    assert e.details["slope_on_baseline"] == pytest.approx(-0.5, abs=0.02)
    assert e.value == pytest.approx(0, abs=0.03)


def test_too_few_readers_and_readers_all_alike_have_no_slope() -> None:
    assert english(oldham_slope(np.array([0.7, 0.8]), np.array([0.7, 0.9])).note).startswith(
        "fewer than three"
    )
    assert english(oldham_slope(np.full(4, 0.7), np.full(4, 0.8)).note).startswith("all readers")
    line = oldham_slope(np.array([0.6, 0.7, 0.8, 0.9]), np.array([0.7, 0.77, 0.84, 0.91]))
    assert line.value == pytest.approx(-0.3 / 0.85)  # after = .28 + .7 before, hence change on mean
    assert np.isnan([line.low, line.high, line.p]).all()
    assert "are on one line" in english(line.note)
    assert oldham_slope(np.array([0.7, np.nan, 0.8, 0.9]), np.array([0.7, 0.8, 0.8, 0.95])).n == 3
