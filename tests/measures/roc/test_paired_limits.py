"""Differences of areas on the same cases with limits from the logits of both: by SciPy, properties, edges."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import expit, logit

from trustreport.measures.mrmc.interval import df_by_kurtosis
from trustreport.measures.roc import notes
from trustreport.measures.roc.difference import paired_difference, paired_region_difference


def wins(truth: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Every positive against every negative, ties a half."""
    up, down = score[truth][:, None], score[~truth]
    return (up > down) + (up == down) / 2


def by_hand(truth: np.ndarray, one: np.ndarray, other: np.ndarray) -> tuple[float, float, float]:
    """DeLong's variances from tables of pairs, SciPy's kurtosis and t, limits by constrained search."""
    tables = [wins(truth, score) for score in (one, other)]

    def of_both(table: np.ndarray) -> tuple[float, float]:
        x, y = table.mean(axis=1), table.mean(axis=0)
        return float(np.var(x, ddof=1)) / len(x), float(np.var(y, ddof=1)) / len(y)

    areas = np.array([float(table.mean()) for table in tables])
    v1, v2 = (sum(of_both(table)) for table in tables)
    parts = of_both(tables[0] - tables[1])
    gaps = [(tables[0] - tables[1]).mean(axis=axis) for axis in (1, 0)]
    own = [
        min(len(x) - 1, 2 * len(x) / (stats.kurtosis(x, fisher=False) - (len(x) - 3) / (len(x) - 1)))
        for x in gaps
    ]
    df = sum(parts) ** 2 / sum(v * v / f for v, f in zip(parts, own))
    covariance = np.array([[v1, (v1 + v2 - sum(parts)) / 2], [(v1 + v2 - sum(parts)) / 2, v2]])
    slope = areas * (1 - areas)
    weight, t = np.linalg.inv(covariance / np.outer(slope, slope)), stats.t.ppf(0.975, df)

    def away(step: np.ndarray) -> float:
        return float(t**2 - step @ weight @ step)

    def limit(side: int) -> float:
        found = [
            optimize.minimize(
                lambda step: -side * float(np.subtract(*expit(logit(areas) + step))),
                start,
                constraints={"type": "ineq", "fun": away},
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 500},
            )
            for start in (np.array([0.1, -0.1]) * side, np.array([0.01, 0.0]) * side)
        ]
        return side * max(-float(of.fun) for of in found)

    return df, limit(-1), limit(1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_limits_are_those_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = np.arange(60) < 14
    seen = rng.normal(1.8 * truth, 1)
    one, other = seen, np.round(seen + rng.normal(0, 0.6, 60), 1)
    e = paired_region_difference(truth, one, other)
    assert e.method == "delong_t_region"
    assert (e.df, e.low, e.high) == pytest.approx(by_hand(truth, one, other), abs=1e-6)
    plain = paired_difference(truth, one, other)
    assert (e.value, e.se, e.n) == (plain.value, plain.se, plain.n)


@given(
    truth=st.lists(st.booleans(), min_size=8, max_size=30),
    scores=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=30, max_size=30),
)
def test_limits_hold_the_value_and_turn_with_the_candidates(
    truth: list[bool], scores: list[tuple[int, int]]
) -> None:
    labels, (one, other) = np.array(truth), np.array(scores[: len(truth)]).T
    e, back = paired_region_difference(labels, one, other), paired_region_difference(labels, other, one)
    if isnan(e.low):
        assert e.note
        return
    assert e.low <= e.value <= e.high
    assert (back.low, back.high) == pytest.approx((-e.high, -e.low))
    if e.method == "delong_t_region":
        assert e.low >= -1
        assert e.high <= 1
        assert (e.p < 0.05) == (e.low > 0 or e.high < 0) or e.p == pytest.approx(0.05, abs=1e-3)


def test_a_perfect_score_leaves_the_symmetric_limits() -> None:
    truth = np.arange(12) < 5
    e = paired_region_difference(truth, truth.astype(float), np.arange(12) % 5 + 2.0 * truth)
    assert e.method == "delong_t"
    assert e.high - e.value == pytest.approx(e.value - e.low)
    same = paired_region_difference(truth, np.arange(12), np.arange(12))
    assert (isnan(same.low), same.note) == (True, notes.NO_VARIATION)


def test_degrees_of_freedom_by_kurtosis() -> None:
    rng = np.random.default_rng(4)
    part = rng.standard_t(4, 40)
    n, k = 40, stats.kurtosis(part, fisher=False)
    assert df_by_kurtosis(part) == pytest.approx(2 * n / (k - (n - 3) / (n - 1)))
    one_alone = np.r_[100.0, rng.normal(0, 1, 99)]
    assert df_by_kurtosis(one_alone) < 3
    assert df_by_kurtosis(np.array([1.0, -1.0] * 20)) == 39


def test_scores_that_are_nearly_one_have_nearly_symmetric_limits() -> None:
    rng = np.random.default_rng(8)
    truth = np.arange(300) < 60
    seen = rng.normal(2.5 * truth, 1)
    one, other = (seen + rng.normal(0, 0.05, 300) for _ in range(2))
    e, plain = paired_region_difference(truth, one, other), paired_difference(truth, one, other)
    assert e.high - e.low < 1.5 * (plain.high - plain.low)
