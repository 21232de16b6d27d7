"""Repeatability against base R, published peak flow meters, and counts by hand."""

import csv
from pathlib import Path

import numpy as np
import pytest

from trustreport.measures.means import case_share
from trustreport.measures.note import note
from trustreport.measures.repeatability import OF_DIFFERENCES, repeat_kappa, repeated

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
# Two readings of 17 subjects with each peak flow meter, l/min: Bland and Altman (1986), Lancet 327, 307-310.
METERS = {
    "wright": (
        [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427],
        [490, 397, 512, 401, 470, 611, 415, 431, 638, 429, 420, 633, 275, 492, 165, 372, 421],
    ),
    "mini": (
        [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451],
        [525, 415, 508, 444, 500, 625, 460, 390, 642, 432, 420, 605, 227, 467, 268, 370, 443],
    ),
}


def of_r() -> list[list[str]]:
    lines = (REFERENCE / "repeatability.csv").read_text().splitlines()
    return list(csv.reader(line for line in lines[1:] if not line.startswith("#")))


def videos() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    i = np.arange(60)
    first = (i * 37) % 60 / 60
    return first, first + ((i * 7) % 11 - 5) / 80 + ((i // 5) % 4 - 1) / 50, i // 5


@pytest.mark.parametrize(("name", "quantity", "value", "low", "high"), of_r())
def test_values_and_limits_are_those_of_r(name: str, quantity: str, value: str, low: str, high: str) -> None:
    if name == "videos":
        first, second, cluster = videos()
        if quantity == "repeat_kappa":
            e = repeat_kappa(first >= 0.5, second >= 0.5, cluster=cluster)
        else:
            e = repeated(quantity, second - first, cluster=cluster)
    else:
        first, second = (np.array(column, float) for column in METERS[name])
        e = repeated(quantity, second - first)
    assert [e.value, e.low, e.high] == pytest.approx([float(x) for x in (value, low, high)], rel=1e-7)


@pytest.mark.parametrize(("meter", "coefficient"), [("wright", 43.2), ("mini", 56.4)])
def test_the_coefficient_is_the_published_one(meter: str, coefficient: float) -> None:
    """Printed in the paper of 1986, with 2 in place of 1.96."""
    first, second = (np.array(column, float) for column in METERS[meter])
    assert 2 / 1.96 * repeated("repeatability_coefficient", second - first).value == pytest.approx(
        coefficient, abs=0.15
    )


def test_the_meters_compared_have_the_published_limits() -> None:
    """Mini less Wright, first readings: mean -2.1 (SD 38.8), turned round here; interval -22.0 to 17.8."""
    difference = np.array(METERS["wright"][0], float) - np.array(METERS["mini"][0], float)
    mean = repeated("repeat_bias", difference)
    assert (round(mean.value, 1), round(mean.low, 1), round(mean.high, 1)) == (-2.1, -22.0, 17.8)
    low, high = (repeated(f"agreement_limit_{side}", difference).value for side in ("low", "high"))
    assert (high - low) / (2 * 1.96) == pytest.approx(38.8, abs=0.05)


def test_one_case_in_each_cluster_is_like_no_clusters() -> None:
    first, second, _ = videos()
    apart = repeated("repeat_bias", second - first, cluster=np.arange(60))
    alone = repeated("repeat_bias", second - first)
    assert (apart.low, apart.high) == pytest.approx((alone.low, alone.high), rel=1e-12)


@pytest.mark.parametrize("name", OF_DIFFERENCES)
def test_nothing_is_made_of_nothing(name: str) -> None:
    none, same = repeated(name, np.empty(0)), repeated(name, np.zeros(5))
    assert np.isnan(none.value)
    assert none.note == note("no_case_has_result_both_runs")
    assert same.value == 0
    assert np.isnan(same.low)
    assert same.note == note("both_runs_gave_same_scores_no")


def test_a_single_case_has_a_within_case_sd_but_no_limits() -> None:
    one = np.array([0.2])
    assert repeated("within_case_sd", one).value == pytest.approx(0.2 / np.sqrt(2))
    assert repeated("agreement_limit_low", one).note == note("one_case_has_result_both_runs")


def test_a_share_without_cases_says_why() -> None:
    none = note("no_case_has_label")
    assert case_share(np.empty(0, bool), lacking=none).note == none
