"""Lowess, against statsmodels, whose values are those of R."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.nonparametric.smoothers_lowess import lowess as peer

from trustreport.measures.calibration.local_regression import lowess


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(10, 300),
    st.sampled_from([0, 3, 20, 1000]),
    st.sampled_from([0.2, 2 / 3, 1]),
)
def test_the_curve_is_that_of_statsmodels(seed: int, n: int, levels: int, span: float) -> None:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(n) if not levels else rng.integers(0, levels, n) / levels)
    y = (rng.random(n) < x).astype(float)
    skip = 0.01 * (x[-1] - x[0])
    with np.errstate(all="ignore"):
        expected = peer(y, x, frac=span, it=0, delta=skip, is_sorted=True, return_sorted=False)
    found = lowess(x, np.column_stack([y, y - x]), span=span, skip=skip)
    assert found[:, 0] == pytest.approx(expected, abs=1e-9)
    assert lowess(x, y, span=span, skip=skip) == pytest.approx(found[:, 0], abs=1e-12)


def test_a_line_stays_a_line() -> None:
    x = np.sort(np.random.default_rng(1).random(200))
    assert lowess(x, 3 * x - 1, span=0.5, skip=0.02) == pytest.approx(3 * x - 1)


def test_blocks_give_the_same_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    x = np.sort(rng.random(400))
    y = rng.random(400)
    whole = lowess(x, y, span=0.3, skip=0.0)
    monkeypatch.setattr("trustreport.measures.calibration.local_regression.AT_ONCE", 1000)
    assert np.array_equal(lowess(x, y, span=0.3, skip=0.0), whole)
