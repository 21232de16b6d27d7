"""What sites hand over of scores gives back what the scores give, or bounds that hold it."""

from itertools import pairwise

import numpy as np
import pytest

from trustreport.measures.calibration.overall import brier, oe_ratio
from trustreport.measures.estimate import Estimate
from trustreport.measures.roc.auc import area_and_variance, auc_logit_larger, delong
from trustreport.measures.sites.shared import ScoreSums, SharedEstimate, area_bounds


def drawn(seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    return truth, 1 / (1 + np.exp(-rng.normal(size=n) - truth))


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.973, 0.999])
@pytest.mark.parametrize("interval", [auc_logit_larger, delong])
def test_limits_of_an_area_are_made_again_at_any_level(interval, level: float) -> None:
    truth, score = drawn(1)
    again = SharedEstimate.from_estimates(lambda at: interval(truth, score, level=at)).estimate(level)
    own = interval(truth, score, level=level)
    assert (again.low, again.high) == pytest.approx((own.low, own.high), rel=1e-12)
    assert (again.value, again.n, again.method, again.se) == (own.value, own.n, own.method, own.se)


def test_a_perfect_area_keeps_its_limits() -> None:
    truth = np.arange(20) > 12
    shared = SharedEstimate.from_estimates(lambda at: auc_logit_larger(truth, np.arange(20.0), level=at))
    assert shared.form == "newcombe"
    assert shared.estimate(0.97).low == pytest.approx(
        auc_logit_larger(truth, np.arange(20.0), level=0.97).low
    )


def test_limits_that_no_formula_gives_back_are_known_at_some_levels_only() -> None:
    shared = SharedEstimate.from_estimates(lambda at: Estimate(0.5, 0.5 - at**3, 0.5 + at, 9, at, "odd"))
    assert shared.form == ""
    assert shared.estimate(0.95).high == 1.45
    other = shared.estimate(0.96)
    assert np.isnan(other.low)
    assert other.note.has("limits_not_shared_at_this_level")


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_sites_are_those_of_all_cases(seed: int) -> None:
    truth, risk = drawn(seed)
    parts = np.split(np.arange(200), [30, 100, 104])
    sums = [ScoreSums.of_cases(truth[of], risk[of]) for of in parts]
    total = sums[0] + sums[1] + sums[2] + sums[3]
    for ours, theirs in (
        (total.brier(0.9), brier(truth, risk, interval="logit_t", level=0.9)),
        (total.oe_ratio(0.9), oe_ratio(truth, risk, interval="oe_delta", level=0.9)),
    ):
        numbers = [(e.value, e.low, e.high, e.se, e.df) for e in (ours, theirs)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-11)
        assert (ours.n, ours.method) == (theirs.n, theirs.method)


def test_sums_without_cases_or_events_are_undefined() -> None:
    none = ScoreSums.of_cases(np.zeros(0, bool), np.zeros(0))
    assert np.isnan(none.brier(0.95).value)
    assert np.isnan(none.oe_ratio(0.95).value)
    quiet = ScoreSums.of_cases(np.zeros(4, bool), np.array([0.1, 0.2, 0.3, 0.1]))
    assert np.isnan(quiet.oe_ratio(0.95).low)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_of_the_area_hold_it(seed: int) -> None:
    truth, score = drawn(seed)
    inner = np.round(np.quantile(score, [0.2, 0.5, 0.7]), 2).tolist()

    def bins(own: np.ndarray, ends: list[float]) -> list[tuple[float, float, int]]:
        return [(a, b, int(((own >= a) & (own < b)).sum())) for a, b in pairwise([0.0, *ends, 1.0])]

    low, high = area_bounds(bins(score[truth], inner), bins(score[~truth], inner[1:]))
    area = area_and_variance(truth, score)[0]
    assert low <= area <= high
    assert high - low < 1
