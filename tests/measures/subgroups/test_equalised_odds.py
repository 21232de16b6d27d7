"""Equalised-odds difference: values of fairlearn, an interval by hand, and how often the interval covers."""

import json
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from trustreport.measures.subgroups import (
    FEWER_THAN_TWO_WITH_BOTH_CLASSES,
    NOT_OF_ALL,
    equalised_odds_difference,
)

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "equalised_odds.json").read_text())


def numbers(text: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([int(c) for c in text])


def counted(*groups: tuple[int, int, int, int]) -> tuple[Any, Any, Any]:
    """Truth, decision and group of groups of tp, fn, fp, tn cases."""
    truth = np.concatenate([np.repeat([True, True, False, False], cells) for cells in groups])
    decision = np.concatenate([np.repeat([True, False, True, False], cells) for cells in groups])
    return truth, decision, np.repeat(np.arange(len(groups)), [sum(cells) for cells in groups])


@pytest.mark.parametrize("case", REFERENCE["sets"])
def test_values_are_those_of_fairlearn(case: dict[str, Any]) -> None:
    truth, decision, group = (numbers(case[name]) for name in ("truth", "decision", "group"))
    found = equalised_odds_difference(truth == 1, decision == 1, group)
    assert found.value == pytest.approx(case["equalised_odds"])
    assert found.details["true_positive_difference"] == pytest.approx(case["true_positive"])
    assert found.details["false_positive_difference"] == pytest.approx(case["false_positive"])


def test_two_groups_have_the_limits_of_the_wider_of_two_newcombe_intervals_of_half_the_error() -> None:
    found = equalised_odds_difference(*counted((90, 10, 20, 180), (60, 40, 30, 170)))
    # Sensitivity .9 and .6, false alarms .10 and .15; each at 97.5%, by statsmodels.
    low, high = confint_proportions_2indep(90, 100, 60, 100, method="newcomb", compare="diff", alpha=0.025)
    assert found.value == pytest.approx(0.3)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_groups_alike_have_a_lower_limit_of_0() -> None:
    found = equalised_odds_difference(*counted((80, 20, 20, 80), (80, 20, 20, 80)))
    assert (found.value, found.low) == (0, 0)
    assert 0.1 < found.high < 0.2


def test_a_group_without_a_class_is_left_out() -> None:
    two, three = counted((8, 2, 2, 8), (6, 4, 2, 8)), counted((8, 2, 2, 8), (6, 4, 2, 8), (0, 0, 9, 1))
    assert equalised_odds_difference(*three).value == equalised_odds_difference(*two).value
    assert equalised_odds_difference(*three).n == 40
    alone = equalised_odds_difference(*counted((8, 2, 2, 8), (0, 0, 9, 1)))
    assert isnan(alone.value)
    assert alone.note == FEWER_THAN_TWO_WITH_BOTH_CLASSES


def test_patients_with_several_images_widen_the_interval_and_one_patient_has_none() -> None:
    truth, decision, group = counted((30, 10, 8, 32), (20, 20, 12, 28))
    # Four images of each patient, in order, so that images of a patient are mostly decided alike.
    found = equalised_odds_difference(truth, decision, group, np.arange(len(truth)) // 4)
    plain = equalised_odds_difference(truth, decision, group)
    assert found.value == plain.value
    assert found.high - found.low > plain.high - plain.low
    one = equalised_odds_difference(truth, decision, group, np.zeros(len(truth), np.int64))
    assert one.note == NOT_OF_ALL
    assert isnan(one.low)


@pytest.mark.parametrize("rates", [(0.8, 0.8, 0.8), (0.9, 0.8, 0.6)])
def test_the_interval_covers_also_where_groups_are_alike(rates: tuple[float, ...]) -> None:
    rng, runs, true = np.random.default_rng(5), 300, max(rates) - min(rates)
    sizes = np.array([25, 40, 60])
    covered = 0
    for _ in range(runs):
        tp, fp = rng.binomial(sizes, rates), rng.binomial(sizes, 0.2)
        found = equalised_odds_difference(
            *counted(*zip(tp.tolist(), (sizes - tp).tolist(), fp.tolist(), (sizes - fp).tolist()))
        )
        covered += found.low <= true <= found.high
    assert covered / runs >= 0.95 - 2 * (0.95 * 0.05 / runs) ** 0.5
