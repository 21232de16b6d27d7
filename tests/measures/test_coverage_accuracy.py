"""Accuracy on the most certain cases: base R, ties, cases without a result, clusters."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.english import english
from trustreport.measures.protocols import accuracy_at_coverage

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "coverage_accuracy.csv"
CASE = np.arange(90)
SCORE = np.where(CASE % 15 == 7, np.nan, (37 * CASE % 83) / 100)
TRUTH = (11 * CASE % 17) / 20 + 0.15 * ((37 * CASE % 83) / 100) > 0.5
RIGHT, CERTAINTY = (SCORE >= 0.4) == TRUTH, np.round(np.abs(SCORE - 0.4), 12)


@pytest.mark.parametrize("row", list(csv.DictReader(REFERENCE.read_text().splitlines()[:5])))
def test_counts_and_limits_are_those_of_r(row: dict[str, str]) -> None:
    e = accuracy_at_coverage(RIGHT, CERTAINTY, float(row["coverage"]))
    assert (e.n, round(e.value * e.n)) == (int(row["decided"]), int(row["right"]))
    assert [e.value, e.low, e.high] == pytest.approx([float(row[k]) for k in ("value", "low", "high")])


def test_cases_without_a_result_are_never_decided_but_count() -> None:
    e = accuracy_at_coverage(RIGHT, CERTAINTY, 84 / 90)
    assert (e.n, e.details["coverage"]) == (84, 84 / 90)
    more = accuracy_at_coverage(RIGHT, CERTAINTY, 1.0)
    assert english(more.note) == "84 of 90 cases have a result: fewer than would have to be decided"
    assert np.isnan(more.value)


def test_cases_as_certain_as_the_last_are_decided_with_it() -> None:
    e = accuracy_at_coverage(np.array([True, False, True, False]), np.array([0.3, 0.2, 0.2, 0.1]), 0.5)
    assert (e.n, e.value, e.details["coverage"]) == (3, 2 / 3, 0.75)


def test_cases_that_are_copies_are_no_more_cases() -> None:
    right, certainty, cluster = (np.repeat(x, 3) for x in (RIGHT, CERTAINTY, CASE))
    once, copied = accuracy_at_coverage(RIGHT, CERTAINTY, 0.5), accuracy_at_coverage(right, certainty, 0.5)
    grouped = accuracy_at_coverage(right, certainty, 0.5, cluster=cluster)
    assert grouped.value == once.value
    assert grouped.high - grouped.low == pytest.approx(once.high - once.low, rel=0.05)
    assert copied.high - copied.low < 0.7 * (grouped.high - grouped.low)


@pytest.mark.parametrize("coverage", [0.0, 1.2])
def test_a_coverage_that_is_no_share_is_refused(coverage: float) -> None:
    with pytest.raises(ValueError, match="coverage must lie in"):
        accuracy_at_coverage(RIGHT, CERTAINTY, coverage)
