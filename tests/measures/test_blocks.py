"""Sums by blocks and orders found otherwise are numpy's own, to the last digit and place."""

import numpy as np
import pytest

from trustreport.measures.calibration.bins import equal_width_and_places, width_edges
from trustreport.measures.cluster import BLOCK, ascending, filled, sums


@pytest.mark.parametrize("n", [0, 1, 7, 1000, BLOCK, BLOCK + 1, 2 * BLOCK + 9, 300_001])
def test_sums_by_blocks_are_those_of_the_whole(n: int) -> None:
    x = np.random.default_rng(n).normal(size=n) * 1e3
    total, squared = sums(n, lambda of: (x[of], np.square(x[of])))
    assert total == x.sum()
    assert squared == np.square(x).sum()
    assert np.array_equal(filled(n, lambda of: x[of] / 3), x / 3)


@pytest.mark.parametrize("digits", [1, 3, 4, 16])
def test_equal_scores_stay_in_their_order(digits: int) -> None:
    scores = np.random.default_rng(digits).random(5000).round(digits)
    assert np.array_equal(ascending(scores), np.argsort(scores, kind="stable"))


@pytest.mark.parametrize("bins", [1, 3, 10, 15, 300])
@pytest.mark.parametrize("low", [0.0, 0.5])
def test_the_bin_of_a_case_is_that_of_the_edges(bins: int, low: float) -> None:
    edges = width_edges(bins, low)
    beside = np.concatenate([np.nextafter(edges, 0), edges, np.nextafter(edges, 1)]).clip(low, 1)
    score = np.concatenate([beside, low + (1 - low) * np.random.default_rng(bins).random(500)])
    within, place = equal_width_and_places(score > 0.7, score, bins, low=low)
    assert np.array_equal(place, np.searchsorted(edges[1:-1], score, side="right"))
    assert np.array_equal(within.n, np.bincount(place, minlength=bins))
    assert np.array_equal(within.events, np.bincount(place[score > 0.7], minlength=bins))
