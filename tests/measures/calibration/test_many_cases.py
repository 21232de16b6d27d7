"""Many cases: the standard error of bins by hand, curves through groups beside those through cases."""

import numpy as np
import pytest

from trustreport.measures.calibration import notes, smooth
from trustreport.measures.calibration.binned import ece
from trustreport.measures.calibration.bins import equal_width_and_places


def sample(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    score = rng.beta(2, 3, n)
    return rng.random(n) < score**1.3, score


def test_the_error_of_bins_is_a_mean_of_signed_gaps() -> None:
    """With signs known the error is the mean of sign x (score - truth): its standard error by hand.

    One event and one case without are added to each bin for its rate: with so many cases of no account.
    """
    truth, score = sample(30_000)
    bins, place = equal_width_and_places(truth, score, 10)
    sign = np.sign(bins.total - bins.events)[place]
    by_hand = (sign * (score - truth)).std() / np.sqrt(30_000)
    assert ece(truth, score).se == pytest.approx(by_hand, rel=1e-3)


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
