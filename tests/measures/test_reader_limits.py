"""Limits of agreement between readers against sums over all pairs, and their coverage."""

from itertools import combinations

import numpy as np
import pytest

from trustreport.measures.measured.reader_limits import (
    between_readers,
    between_readers_and_arms,
    with_the_mean,
    within_reader_between_arms,
)

RNG = np.random.default_rng(4)
FIRST = RNG.normal(20, 5, 30) + RNG.normal(0, 1, (4, 1)) + RNG.normal(0, 2, (4, 30))
SECOND = FIRST + 1 + RNG.normal(0, 1, (4, 30))


def test_between_readers_is_the_mean_square_over_all_pairs() -> None:
    squares = [np.mean((FIRST[i] - FIRST[j]) ** 2) for i, j in combinations(range(4), 2)]
    assert between_readers(FIRST).value == pytest.approx(1.96 * np.sqrt(np.mean(squares)))


def test_gaps_count_only_pairs_that_are_there() -> None:
    values = FIRST.copy()
    values[0, :10] = np.nan
    pairs = [
        (FIRST[i, k] - FIRST[j, k]) ** 2
        for k in range(30)
        for i, j in combinations(range(4), 2)
        if i or k >= 10
    ]
    assert between_readers(values).value == pytest.approx(1.96 * np.sqrt(np.mean(pairs)))


def test_the_mean_of_readers_has_the_published_limits() -> None:
    """Christensen et al. (2020): 1.96 sqrt((SSB + SSE) / (a b)), from an analysis of variance by hand."""
    a, b = FIRST.shape
    of_readers = b * ((FIRST.mean(axis=1) - FIRST.mean()) ** 2).sum()
    of_cases = a * ((FIRST.mean(axis=0) - FIRST.mean()) ** 2).sum()
    rest = ((FIRST - FIRST.mean()) ** 2).sum() - of_readers - of_cases
    assert with_the_mean(FIRST).value == pytest.approx(1.96 * np.sqrt((of_readers + rest) / (a * b)))


def test_within_a_reader_between_arms() -> None:
    mean, half = within_reader_between_arms(FIRST, SECOND)
    change = SECOND - FIRST
    assert mean.value == pytest.approx(change.mean())
    apart = [
        change[i, k] * change[j, m]
        for i in range(4) for j in range(4) if i != j
        for k in range(30) for m in range(30) if k != m
    ]  # fmt: skip
    assert half.value == pytest.approx(1.96 * np.sqrt((change**2).mean() - np.mean(apart)))


def test_another_reader_in_the_other_arm_is_further_away() -> None:
    _, same = within_reader_between_arms(FIRST, SECOND)
    _, other = between_readers_and_arms(FIRST, SECOND)
    assert other.value > same.value


def test_one_reader_has_no_limits() -> None:
    e = between_readers(FIRST[:1])
    assert np.isnan(e.value)
    assert "reader" in str(e.note)


@pytest.mark.parametrize("readers", [3, 6])
def test_the_interval_covers(readers: int) -> None:
    rng = np.random.default_rng(readers)
    true, held, draws = 1.96 * np.sqrt(2 * (1.0 + 4.0)), 0, 300
    for _ in range(draws):
        values = rng.normal(0, 5, 40) + rng.normal(0, 1, (readers, 1)) + rng.normal(0, 2, (readers, 40))
        e = between_readers(values)
        held += e.low <= true <= e.high
    assert held / draws > 0.9
