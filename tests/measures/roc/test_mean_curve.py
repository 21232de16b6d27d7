"""The mean of ROC curves: its area is the mean of the areas, it never falls, one curve is its own mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.roc.curve import mean_curve, roc_curve

Curve = tuple[np.ndarray, np.ndarray]


def some_curves(seed: int) -> list[Curve]:
    """Curves of readers with ties and with cases of their own."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(int(rng.integers(1, 6))):
        truth = np.arange(int(rng.integers(4, 30))) % 3 == 0
        curve = roc_curve(truth, np.round(rng.normal(truth, 1), int(rng.integers(0, 3)))).corners()
        made.append((curve.fpr, curve.tpr))
    return made


@given(st.integers(0, 1000))
def test_the_area_is_the_mean_of_the_areas_and_the_curve_never_falls(seed: int) -> None:
    curves = some_curves(seed)
    fpr, tpr = mean_curve(curves)
    areas = [np.trapezoid(y, x) for x, y in curves]
    assert np.trapezoid(tpr, fpr) == pytest.approx(np.mean(areas), abs=1e-12)
    assert (fpr[0], tpr[0], fpr[-1]) == (0, 0, 1)
    assert tpr[-1] == pytest.approx(1)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= -1e-12).all()


def test_one_curve_is_its_own_mean() -> None:
    fpr, tpr = np.array([0, 0, 0.5, 0.5, 1.0]), np.array([0, 0.2, 0.4, 0.9, 1.0])
    mean = mean_curve([(fpr, tpr)] * 3)
    np.testing.assert_allclose(mean[0], fpr)
    np.testing.assert_allclose(mean[1], tpr)


def test_rises_of_one_curve_meet_slopes_of_another() -> None:
    step = np.array([0, 0.5, 0.5, 1.0]), np.array([0, 0.0, 1.0, 1.0])
    slope = np.array([0, 1.0]), np.array([0, 1.0])
    fpr, tpr = mean_curve([step, slope])
    np.testing.assert_allclose(fpr, [0, 0.5, 0.5, 1])
    np.testing.assert_allclose(tpr, [0, 0.25, 0.75, 1])
