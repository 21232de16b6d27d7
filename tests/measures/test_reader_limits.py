"""Limits of agreement between readers against sums over all pairs, and their coverage."""

import csv
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.english import english
from trustreport.measures.estimate import Estimate
from trustreport.measures.measured.reader_limits import (
    between_readers,
    between_readers_and_arms,
    from_the_reference,
    with_the_mean,
    within_reader_between_arms,
)


def limits(e: Estimate) -> tuple[float, float, float]:
    return e.value, e.low, e.high


RNG = np.random.default_rng(4)
FIRST = RNG.normal(20, 5, 30) + RNG.normal(0, 1, (4, 1)) + RNG.normal(0, 2, (4, 30))
SECOND = FIRST + 1 + RNG.normal(0, 1, (4, 30))


REFERENCE = Path(__file__).resolve().parents[1] / "reference"
OBSERVERS = np.loadtxt(REFERENCE / "observers.csv", delimiter=",").T


def expected(name: str) -> tuple[float, ...]:
    with (REFERENCE / "reader_limits.csv").open() as file:
        rows = {r["name"]: r for r in csv.DictReader(line for line in file if not line.startswith("#"))}
    return tuple(float(rows[name][field]) for field in ("value", "low", "high") if rows[name][field] != "NA")


def test_limits_with_the_mean_as_their_authors_print_them() -> None:
    """The package of Christensen et al. prints 2.722 (2.364 to 3.544) of these 18 observers of 50 aortas."""
    found = with_the_mean(OBSERVERS)
    assert round(found.value, 3) == 2.722
    _, low, high = expected("with_the_mean")  # their limits, with degrees of freedom of normal values
    assert (low, high) == pytest.approx((2.364, 3.544), abs=0.002)
    assert 0.97 * low < found.low < low
    assert high < found.high < 1.03 * high
    assert found.value == pytest.approx(expected("with_the_mean")[0] * 1.96 / 1.959964, rel=1e-7)


def test_limits_of_two_arms_are_those_of_mean_squares_by_r() -> None:
    """By the formulas behind laBRWM, laWRBM and laBRBM of iMRMC (reader_limits.R says how they were made)."""
    first, second = OBSERVERS[:6], OBSERVERS[6:12]
    mean, within = within_reader_between_arms(first, second)
    assert mean.value == pytest.approx(expected("within_reader_mean")[0])
    for half, name in (
        (between_readers(first), "between_readers_variance"),
        (within, "within_reader_variance"),
        (between_readers_and_arms(first, second)[1], "between_arms_variance"),
    ):
        assert (half.value / 1.96) ** 2 == pytest.approx(expected(name)[0], rel=1e-9), name


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


def test_between_two_readers_of_different_arms() -> None:
    """Variance of either arm less twice the covariance of two readers of a case, moment by moment."""
    readers = [(i, j) for i in range(4) for j in range(4) if i != j]
    cases = [(k, m) for k in range(30) for m in range(30) if k != m]

    def apart(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.mean([a[i, k] * b[j, m] for i, j in readers for k, m in cases]))

    variance = sum(float((arm**2).mean()) - apart(arm, arm) for arm in (FIRST, SECOND))
    shared = np.mean([FIRST[i, k] * SECOND[j, k] for i, j in readers for k in range(30)])
    _, half = between_readers_and_arms(FIRST, SECOND)
    assert half.value == pytest.approx(1.96 * np.sqrt(variance - 2 * (shared - apart(FIRST, SECOND))))
    assert half.low < half.value < half.high


def test_one_reader_has_no_limits() -> None:
    e = between_readers(FIRST[:1])
    assert np.isnan(e.value)
    assert "reader" in str(e.note)


ABSENT = np.full((1, 30), np.nan)


@pytest.mark.parametrize("limit", [between_readers, with_the_mean])
def test_cases_without_any_value_change_nothing(limit: Callable[..., Estimate]) -> None:
    found = limit(np.hstack([FIRST, np.full((4, 5), np.nan)]))
    assert limits(found) == pytest.approx(limits(limit(FIRST)))


def test_a_reader_of_one_arm_alone_changes_nothing() -> None:
    more = np.vstack([FIRST, FIRST[:1]]), np.vstack([SECOND, ABSENT])
    for limit in (within_reader_between_arms, between_readers_and_arms):
        for found, without in zip(limit(*more), limit(FIRST, SECOND)):
            assert limits(found) == pytest.approx(limits(without))
    assert limits(between_readers(np.vstack([FIRST, ABSENT]))) == pytest.approx(
        limits(between_readers(FIRST))
    )


@pytest.mark.parametrize("shift", [0.1, 0.3, 1.0])
def test_a_constant_change_has_no_limits_whatever_its_rounding(shift: float) -> None:
    mean, half = within_reader_between_arms(FIRST, FIRST + shift)
    assert mean.value == pytest.approx(shift)
    assert half.value == 0
    for e in (mean, half):
        assert np.isnan([e.low, e.high]).all()
        assert "are all the same" in english(e.note)


def test_differences_of_one_size_leave_an_interval() -> None:
    e = between_readers(np.array([[0.0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]]))
    assert e.value == pytest.approx(1.96)
    assert e.low < e.value < e.high


def test_two_cases_say_why_there_are_no_limits() -> None:
    _, half = within_reader_between_arms(FIRST[:, :2], SECOND[:, :2])
    assert np.isnan(half.low)
    assert "without one" in english(half.note)


@pytest.mark.parametrize("readers", [3, 6])
def test_the_interval_covers(readers: int) -> None:
    rng = np.random.default_rng(readers)
    true, held, draws = 1.96 * np.sqrt(2 * (1.0 + 4.0)), 0, 300
    for _ in range(draws):
        values = rng.normal(0, 5, 40) + rng.normal(0, 1, (readers, 1)) + rng.normal(0, 2, (readers, 40))
        e = between_readers(values)
        held += e.low <= true <= e.high
    assert held / draws > 0.9


def test_limits_from_the_reference_are_those_between_it_and_a_reader() -> None:
    reference = np.tile(FIRST.mean(axis=0), (4, 1))
    low, high = from_the_reference(SECOND - reference)
    mean, half = within_reader_between_arms(reference, SECOND)
    assert (low.value, high.value) == pytest.approx((mean.value - half.value, mean.value + half.value))
    assert low.low < low.value < low.high < high.low < high.value < high.high


@pytest.mark.parametrize("readers", [3, 6])
def test_intervals_of_limits_from_the_reference_cover_on_both_sides(readers: int) -> None:
    rng = np.random.default_rng(readers)
    true, beyond, draws = 1.96 * np.sqrt(1.0 + 2.25 + 4.0), np.zeros(4), 300
    for _ in range(draws):
        shared = rng.normal(0, 1, (readers, 1)) + rng.normal(0, 1.5, 40)
        low, high = from_the_reference(shared + rng.normal(0, 2, (readers, 40)))
        beyond += [low.low > -true, low.high < -true, high.low > true, high.high < true]
    assert (beyond / draws < 0.05).all()
