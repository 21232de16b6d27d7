"""Accuracy of labels, and what is behind a measured one: published value, enumeration, properties, edges."""

import json
from fractions import Fraction
from itertools import product
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.estimate import Estimate
from trustreport.measures.label_accuracy import (
    BEYOND_PERFECT_LABELS,
    NO_INFORMATION,
    NO_LABEL,
    NO_SAMPLING_ERROR,
    ONLY_TWO_CLASSES,
    TAKEN_AS_KNOWN,
    actual_accuracy,
    least_reliability,
    majority_accuracy,
    nomogram_accuracy,
)
from trustreport.measures.note import note

SHARE = st.floats(0, 1)


def concordance(value: float, low: float = nan, high: float = nan, note: str = "") -> Estimate:
    return Estimate(value, low, high, 427, note=note)


def enumerated(accuracies: list[Fraction]) -> Fraction:
    """The chance that most are right, over every pattern of right and wrong raters."""
    total = Fraction(0)
    for pattern in product((True, False), repeat=len(accuracies)):
        chance = Fraction(1)
        for right, a in zip(pattern, accuracies):
            chance *= a if right else 1 - a
        margin = 2 * sum(pattern) - len(pattern)
        total += chance * (1 if margin > 0 else Fraction(1, 2) if margin == 0 else 0)
    return total


@pytest.mark.parametrize("m", [1, 2, 3, 4, 7])
def test_the_majority_is_enumerated(m: int) -> None:
    accuracies = [Fraction(60 + 5 * i, 100) for i in range(m)]
    est = majority_accuracy(np.array([float(a) for a in accuracies]), np.ones((3, m), bool))
    assert est.value == pytest.approx(float(enumerated(accuracies)), abs=1e-14)
    assert (est.n, est.method, est.note) == (3, "majority", TAKEN_AS_KNOWN)
    assert isnan(est.low)


def test_each_case_has_its_own_raters() -> None:
    rated = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]], bool)
    a = [Fraction(9, 10), Fraction(8, 10), Fraction(7, 10)]
    by_case = [enumerated(a), a[0], enumerated(a[1:]), enumerated(a)]
    est = majority_accuracy(np.array([0.9, 0.8, 0.7]), rated)
    assert est.value == pytest.approx(float(sum(by_case) / 4), abs=1e-14)
    assert est.n == 4


def test_a_hundred_able_raters_and_a_hundred_thousand_cases() -> None:
    rated = np.random.default_rng(1).random((100_000, 12)) < 0.7
    assert 0.9 < majority_accuracy(np.full(12, 0.8), rated).value < 1
    assert majority_accuracy(np.full(101, 0.8), np.ones((1, 101), bool)).value == pytest.approx(1)


@given(st.lists(st.floats(0.5, 1), min_size=1, max_size=6), st.data())
def test_raters_better_than_chance_help_and_order_does_not_matter(a: list[float], data: Any) -> None:
    rated = np.ones((1, len(a)), bool)
    value = majority_accuracy(np.array(a), rated).value
    other = majority_accuracy(np.array(data.draw(st.permutations(a))), rated).value
    assert other == pytest.approx(value)
    assert value >= 0.5 - 1e-12
    mirrored = majority_accuracy(1 - np.array(a), rated).value
    assert mirrored == pytest.approx(1 - value, abs=1e-9)


def test_majority_says_what_it_cannot() -> None:
    assert majority_accuracy(np.full(2, 0.8), np.zeros((3, 2), bool)).note == NO_LABEL
    assert majority_accuracy(np.full(2, 0.8), np.ones((3, 2), bool), n_categories=3).note == ONLY_TWO_CLASSES
    with pytest.raises(ValueError, match=r"accuracy must lie in \[0, 1\]"):
        majority_accuracy(np.array([81.0]), np.ones((1, 1), bool))


def test_the_printed_example() -> None:
    # Cabitza et al. (2020): concordance .57, accuracy .90 measured, "approximately 80%".
    label = nomogram_accuracy(concordance(0.57, 0.55, 0.6))
    assert label.value == pytest.approx(0.8775, abs=5e-5)
    found = actual_accuracy(0.9, label)
    assert found.value.value == pytest.approx(0.802, abs=5e-4)
    assert (found.low_bound.value, found.high_bound.value) == pytest.approx((0.7775, 0.9775), abs=5e-5)
    assert found.value.method == "nomogram"


def test_forty_two_pairs(reference: Path) -> None:
    rows = json.loads((reference / "seeds" / "trust_scalars.json").read_text())["actual_accuracy"]
    assert len(rows) == 42
    for row in rows:
        label = nomogram_accuracy(concordance(row["rho"]))
        found = actual_accuracy(row["x"], label)
        assert label.value == pytest.approx(row["label_accuracy"], abs=1e-12)
        assert found.value.value == pytest.approx(row["actual"], abs=1e-12)
        bounds = [found.low_bound.value, found.high_bound.value]
        assert bounds == pytest.approx(row["frechet"], abs=1e-12)
        assert found.value.note == label.note == NO_SAMPLING_ERROR


@pytest.mark.parametrize("k", [2, 3, 5])
def test_two_alike_raters_agree_beyond_chance_by_what_the_nomogram_inverts(k: int) -> None:
    a = Fraction(4, 5)
    agree = a**2 + (1 - a) ** 2 / (k - 1)
    rho = (agree - Fraction(1, k)) / (1 - Fraction(1, k))
    assert nomogram_accuracy(concordance(float(rho)), n_categories=k).value == pytest.approx(0.8)


@given(SHARE, SHARE, st.integers(2, 5))
def test_the_value_lies_within_the_bounds_and_they_are_reached(x: float, a: float, k: int) -> None:
    found = actual_accuracy(x, a, n_categories=k)
    low, value, high = (e.value for e in (found.low_bound, found.value, found.high_bound))
    assert -1e-12 <= low <= value + 1e-12
    assert value <= high + 1e-12
    assert high <= 1 + 1e-12
    if k == 2:  # as little and as much overlap of right labels and agreement as there can be
        for overlap, bound in ((max(0.0, x + a - 1), low), (min(x, a), high)):
            assert 1 - x - a + 2 * overlap == pytest.approx(bound, abs=1e-12)


@given(SHARE)
def test_right_labels_leave_the_accuracy_and_a_right_device_measures_that_of_the_labels(x: float) -> None:
    assert actual_accuracy(x, 1.0).value.value == pytest.approx(x)
    assert actual_accuracy(x, 1.0).low_bound.value == pytest.approx(x)
    best = actual_accuracy(1.0, x)  # a device that always agrees with the labels is as right as they are
    assert [e.value for e in (best.value, best.low_bound, best.high_bound)] == pytest.approx([x] * 3)


@given(st.floats(0.51, 1), st.floats(0.5, 1))
def test_backwards_undoes_forwards(x: float, a: float) -> None:
    actual = actual_accuracy(x, a).value.value
    least = least_reliability(x, min(actual, x))
    assert least.label_accuracy.value == pytest.approx(a, abs=1e-6)
    rho = least.weighted_concordance.value
    assert nomogram_accuracy(concordance(rho)).value == pytest.approx(a, abs=1e-6)


def test_backwards_says_what_cannot_be() -> None:
    assert least_reliability(0.8, 0.9).label_accuracy.note == BEYOND_PERFECT_LABELS
    assert least_reliability(0.5, 0.6).weighted_concordance.note == NO_INFORMATION
    assert least_reliability(0.9, 0.4).weighted_concordance.value == 0
    assert least_reliability(0.3, 0.4).label_accuracy.value == 0.5


def test_what_has_no_value_passes_its_reason_on() -> None:
    none = nomogram_accuracy(concordance(nan, note=note("no_case_was_labelled_by_two")))
    found = actual_accuracy(0.9, none)
    assert isnan(found.value.value)
    assert found.high_bound.note == none.note == note("no_case_was_labelled_by_two")
    with pytest.raises(ValueError, match="measured must lie"):
        actual_accuracy(90, 0.8)
