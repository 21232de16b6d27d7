"""A weighted sum of shares: Newcombe's difference as a special case, hand counts, clusters, coverage."""

from math import isnan, sqrt

import numpy as np
import pytest

from trustreport.measures.proportion import wilson
from trustreport.measures.weighted import weighted_shares, weighted_shares_of_clusters


@pytest.mark.parametrize(
    "one, other, low, high",
    [  # Newcombe (1998), Stat. Med. 17, 873-890, Table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_weights_of_one_and_minus_one_are_newcombes_difference(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    e = weighted_shares([(1, *one), (-1, *other)])
    assert (e.low, e.high) == pytest.approx((low, high), abs=6e-5)


def test_one_share_is_wilsons() -> None:
    e, w = weighted_shares([(0.25, 81, 263)]), wilson(81, 263)
    assert (e.value, e.low, e.high) == pytest.approx((w.value / 4, w.low / 4, w.high / 4))


def test_alarms_at_another_prevalence_by_hand() -> None:
    # sensitivity 18/20, false alarms 30/100, 10% with the condition; Wilson limits .699 to .972, .219 to .396
    hit, alarm = wilson(18, 20), wilson(30, 100)
    assert (hit.low, alarm.high) == pytest.approx((0.6990, 0.3958), abs=1e-4)
    e = weighted_shares([(0.1, 18, 20), (0.9, 30, 100)])
    assert e.value == pytest.approx(0.36)
    assert e.low == pytest.approx(0.36 - sqrt((0.1 * (0.9 - hit.low)) ** 2 + (0.9 * (0.3 - alarm.low)) ** 2))
    assert e.high == pytest.approx(
        0.36 + sqrt((0.1 * (hit.high - 0.9)) ** 2 + (0.9 * (alarm.high - 0.3)) ** 2)
    )
    assert e.n == 120


def test_it_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    truth = 0.16 * 0.9 + 0.84 * 0.2
    hits, alarms = rng.binomial(60, 0.9, 2000), rng.binomial(300, 0.2, 2000)
    found = [weighted_shares([(0.16, int(a), 60), (0.84, int(b), 300)]) for a, b in zip(hits, alarms)]
    covered = np.mean([e.low <= truth <= e.high for e in found])
    assert 0.935 <= covered <= 0.97


def test_a_class_without_cases_is_undefined() -> None:
    e = weighted_shares([(0.1, 0, 0), (0.9, 30, 100)])
    assert isnan(e.value)
    assert e.note


def test_clusters_by_hand() -> None:
    # contributions by cluster: .1667, -.0556 three times; V = 4/3 x .03704, t(3) = 3.1824
    one = (0.5, np.array([True, True, False]), np.array([1, 2, 2]))
    other = (0.5, np.array([True, False, False]), np.array([1, 3, 4]))
    e = weighted_shares_of_clusters([one, other])
    assert (e.value, e.se, e.df) == pytest.approx((0.5, sqrt(4 / 3 * (0.5**2 / 9 + 3 / 18**2)), 3))
    # Score limits of .5 of n effective cases, .25 / V: .5 -+ t / 2 / sqrt(n + t^2).
    half = 3.1824463 / 2 / sqrt(0.25 / e.se**2 + 3.1824463**2)
    assert (e.low, e.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_clusters_with_a_loss_have_the_range_of_gain_and_loss() -> None:
    # 4 of 20 with weight .1, 2 of 20 with weight -.3: .1 x .2 - .3 x .1 = -.01, of -.3 to .1.
    events = np.arange(20) < 4, np.arange(20) < 2
    parts = [(0.1, events[0], np.arange(20)), (-0.3, events[1], np.arange(20, 40))]
    e = weighted_shares_of_clusters(parts)
    assert e.value == pytest.approx(-0.01)
    share, t = 0.29 / 0.4, 2.0226909  # Student's, 39 df
    n = share * (1 - share) / (e.se / 0.4) ** 2
    for limit in (e.low, e.high):
        p = (limit + 0.3) / 0.4
        assert abs(share - p) == pytest.approx(t * sqrt(p * (1 - p) / n), rel=1e-6)


def test_clusters_of_one_case_are_a_little_wider_than_independent_ones() -> None:
    events = np.arange(50) % 5 == 0
    e = weighted_shares_of_clusters([(1.0, events, np.arange(50))])
    assert e.se == pytest.approx(sqrt(0.2 * 0.8 / 49))


def test_fewer_than_two_clusters_give_no_interval() -> None:
    e = weighted_shares_of_clusters([(1.0, np.array([True, False]), np.array([3, 3]))])
    assert e.value == 0.5
    assert isnan(e.low)
    assert e.note
