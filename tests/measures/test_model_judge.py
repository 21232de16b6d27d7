"""A model that rates as people do: beside them, and corrected by them."""

import json
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trustreport.measures.cluster import ONE_CLUSTER
from trustreport.measures.measured import model_judge
from trustreport.measures.measured.model_judge import corrected_mean, corrected_share, judge_bias

# By ppi-python and scikit-learn: see the script beside it.
REFERENCE: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "reference" / "model_judge.json").read_text()
)
JUDGE = np.array(REFERENCE["judge"])
BOTH = np.array(REFERENCE["both"])
PEOPLE = np.full((3, len(JUDGE)), np.nan)
PEOPLE[:, BOTH] = REFERENCE["people"]


def accepted(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), np.nan, values >= 4)


@pytest.mark.parametrize("people", [1, 3])
def test_the_corrected_mean_is_that_of_prediction_powered_inference(people: int) -> None:
    name = "one" if people == 1 else "three"
    found = corrected_mean(PEOPLE[:people], JUDGE)
    expected = REFERENCE[f"mean of {name}"]
    assert found.value == pytest.approx(expected["value"], abs=1e-12)
    assert (found.n, found.details["both_rated"]) == (40, 14)
    share = corrected_share(accepted(PEOPLE[:people]), accepted(JUDGE))
    assert share.value == pytest.approx(REFERENCE[f"share of {name}"]["value"], abs=1e-12)
    if people == 1:  # theirs divides by n, ours by n - 1, and of the other 26 cases by 25
        assert expected["se"] * sqrt(26 / 25) < found.se < expected["se"] * sqrt(14 / 13)
        assert model_judge.ONE_PERSON in found.note


def test_people_are_a_further_source_of_variation() -> None:
    one = corrected_mean(PEOPLE.mean(axis=0)[None], JUDGE)
    three = corrected_mean(PEOPLE, JUDGE)
    assert one.value == pytest.approx(three.value)
    means = [corrected_mean(np.delete(PEOPLE, r, axis=0), JUDGE).value for r in range(3)]
    jackknife = 2 / 3 * sum((m - np.mean(means)) ** 2 for m in means)
    assert three.se**2 == pytest.approx(one.se**2 + jackknife)


def test_the_bias_of_a_judge_counted_by_hand() -> None:
    people = np.array([[1.0, 2, 3, np.nan], [3.0, 2, np.nan, np.nan]])
    found = judge_bias(people, np.array([3.0, 3, 3, 1]))
    assert found.value == pytest.approx((1 + 1 + 0) / 3)
    assert found.n == 3


def test_where_people_rated_all_the_judge_does_not_matter() -> None:
    people = np.array([[1.0, 2, 3, 4], [2.0, 2, 3, 5]])
    found = [corrected_mean(people, judge) for judge in (np.zeros(4), np.array([9.0, -3, 2, 7]))]
    assert found[0].value == found[1].value == pytest.approx(people.mean())
    assert found[0].se == found[1].se


def test_a_judge_shifted_by_a_constant_gives_the_same_corrected_mean() -> None:
    plain, shifted = corrected_mean(PEOPLE, JUDGE), corrected_mean(PEOPLE, JUDGE + 2)
    assert (shifted.value, shifted.low) == pytest.approx((plain.value, plain.low))
    assert judge_bias(PEOPLE, JUDGE + 2).value == pytest.approx(judge_bias(PEOPLE, JUDGE).value + 2)


def test_the_order_of_cases_and_clusters_of_one_do_not_matter() -> None:
    order = np.random.default_rng(1).permutation(len(JUDGE))
    for measure in (judge_bias, corrected_mean):
        plain = measure(PEOPLE, JUDGE)
        turned = measure(PEOPLE[:, order], JUDGE[order])
        alone = measure(PEOPLE, JUDGE, cluster=np.arange(len(JUDGE)) + 7)
        for other in (turned, alone):
            assert (other.value, other.low, other.high) == pytest.approx((plain.value, plain.low, plain.high))


def test_cases_that_are_there_twice_add_nothing_in_clusters() -> None:
    twice, judge = np.repeat(PEOPLE, 2, axis=1), np.repeat(JUDGE, 2)
    plain = corrected_mean(PEOPLE, JUDGE)
    clustered = corrected_mean(twice, judge, cluster=np.repeat(np.arange(len(JUDGE)), 2))
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high))
    assert corrected_mean(twice, judge).se < plain.se


def test_a_judge_without_a_fault_in_few_cases_is_not_taken_as_perfect() -> None:
    judge = np.tile([1.0, 1, 1, 0], 50)
    people = np.full((1, 200), np.nan)
    people[0, :10] = judge[:10]
    found = corrected_share(people, judge)
    assert found.value == pytest.approx(0.75)
    assert found.high - found.low > 0.3
    assert 0 <= found.low < found.value < found.high <= 1


def test_a_share_beyond_the_end_is_the_end() -> None:
    judge = np.r_[np.zeros(3), np.ones(37)]
    people = np.full((1, 40), np.nan)
    people[0, :4] = 1
    found = corrected_share(people, judge)
    assert found.value == found.high == 1
    assert model_judge.CUT in found.note


@pytest.mark.parametrize("rated", [0, 1])
def test_fewer_than_two_cases_of_people_are_undefined(rated: int) -> None:
    people = np.full((2, 9), np.nan)
    people[:, :rated] = 3.0
    for e in (
        judge_bias(people, np.arange(9.0)),
        corrected_mean(people, np.arange(9.0)),
        corrected_share(people * 0, np.ones(9)),
    ):
        assert isnan(e.value)
        assert model_judge.FEW_CASES in e.note


def test_no_interval_where_there_is_none() -> None:
    one = corrected_mean(PEOPLE, JUDGE, cluster=np.zeros(len(JUDGE), int))
    assert isnan(one.low)
    assert ONE_CLUSTER in one.note
    apart = np.full((2, 6), np.nan)  # each person alone: without either the value does not exist
    apart[0, :2] = 1
    alike = judge_bias(apart[:1], np.full(6, 3.0))
    assert (alike.value, isnan(alike.low)) == (2.0, True)
    assert model_judge.NO_SPREAD in alike.note
    with pytest.raises(ValueError, match="n_people"):
        judge_bias(np.ones((2, 3)), np.ones(4))
