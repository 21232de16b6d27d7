"""More than 200,000 cases: intervals by formula, curves through groups, beside what they stand for."""

import numpy as np
import pytest

from trustreport.measures.calibration import notes, resample, smooth
from trustreport.measures.calibration.advice import advisory_value
from trustreport.measures.calibration.bins import equal_width, places
from trustreport.measures.calibration.ece import ece
from trustreport.measures.calibration.ece import of_bins as ece_of_bins
from trustreport.measures.calibration.gici import gici


def sample(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    score = rng.beta(2, 3, n)
    return rng.random(n) < score**1.3, score


MEASURES = {
    "ece": lambda truth, score: ece(truth, score, rng=np.random.default_rng(2)),
    "gici": lambda truth, score: gici(truth, score, rng=np.random.default_rng(2)).overall,
    "equal_mass": lambda truth, score: ece(truth, score, binning="equal_mass", rng=np.random.default_rng(2)),
    "advisory": lambda truth, score: advisory_value(truth, score, rng=np.random.default_rng(2)),
}


@pytest.mark.parametrize("name", MEASURES)
def test_the_formula_says_what_resampling_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, score = sample(40_000)
    drawn = MEASURES[name](truth, score)
    monkeypatch.setattr(resample, "LARGE", 1_000)
    formula = MEASURES[name](truth, score)
    assert formula.value == drawn.value
    assert formula.se == pytest.approx(drawn.se, rel=0.08)
    assert (formula.low, formula.high) == pytest.approx((drawn.low, drawn.high), abs=0.4 * drawn.se)
    assert (formula.method, formula.note) == (resample.FORMULA, notes.MANY)
    assert drawn.method == resample.METHOD


def test_the_error_of_bins_is_a_mean_of_signed_gaps() -> None:
    """With signs known the error is the mean of sign x (score - truth): its standard error by hand."""
    truth, score = sample(3_000)
    bins = equal_width(truth, score, 10)
    place = places(score, bins, mass=False)
    sign = np.sign(bins.total - bins.events)[place]
    by_hand = (sign * (score - truth)).std() / np.sqrt(3_000)
    assert resample.bins_se(ece_of_bins, place, truth, score, 10) == pytest.approx(by_hand, rel=1e-6)


def test_a_curve_through_groups_is_the_curve_through_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, score = sample(60_000)
    whole = smooth.smooth_curve(score, truth.astype(float))
    monkeypatch.setattr(smooth, "GROUPED", 50_000)
    monkeypatch.setattr(smooth, "GROUPS", 6_000)
    grouped = smooth.smooth_curve(score, truth.astype(float))
    assert whole is not None
    assert grouped is not None
    assert np.abs(whole - grouped).max() < 1e-3
    assert notes.MANY_GROUPED in smooth.smooth_error(truth, score).ici.note
