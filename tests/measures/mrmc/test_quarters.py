"""The gain of the lowest and highest quarter of readers: base R, ties by hand, and few readers."""

import csv
from pathlib import Path

import numpy as np
import pytest

from trustreport.measures.mrmc.bootstrap import Draws
from trustreport.measures.mrmc.quarters import quarter_gain

REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "reader_quarters.csv"
N_READERS, N_CASES = 12, 60


def correct() -> np.ndarray:
    j, k = np.arange(N_READERS)[:, None], np.arange(N_CASES)
    at = (31 * k + 17 * j + 7 * j * k) % 101 / 101
    return np.stack([at < 0.55 + 0.03 * j * (1 - 0.5 * arm) + 0.12 * arm for arm in (1, 0)]).astype(float)


def value(readings: np.ndarray, quarter: str) -> float:
    return float(quarter_gain(readings, quarter)(np.ones((1, readings.shape[1])), np.ones((1, N_CASES)))[0])


@pytest.mark.parametrize("row", list(csv.DictReader(REFERENCE.read_text().splitlines()[:3])))
def test_value_and_limits_are_those_of_r(row: dict[str, str]) -> None:
    draws = Draws.drawn(N_READERS, np.arange(N_CASES) % 3 == 0, np.random.default_rng(3), draws=8000)
    e = draws.estimate(quarter_gain(correct(), row["quarter"]), N_READERS * N_CASES)
    assert e.value == pytest.approx(float(row["value"]), abs=1e-11)
    assert [e.low, e.high] == pytest.approx([float(row["low"]), float(row["high"])], abs=0.008)


def test_readers_tied_for_the_last_place_share_it() -> None:
    """Of 9 readers two are lowest: the first has 10 of 60, three tie at 20 and gain 6, 12 and 24 cases."""
    unaided, aided = np.zeros((9, N_CASES)), np.zeros((9, N_CASES))
    for j, (before, after) in enumerate([(10, 16), (20, 26), (20, 32), (20, 44), *[(40, 40)] * 5]):
        unaided[j, :before], aided[j, :after] = 1, 1
    found = value(np.stack([aided, unaided]), "lowest")
    assert found == pytest.approx((6 + (6 + 12 + 24) / 3) / 2 / 60)


def test_the_order_of_readers_does_not_matter() -> None:
    turned = correct()[:, np.random.default_rng(1).permutation(N_READERS)]
    for quarter in ("lowest", "highest"):
        assert value(turned, quarter) == pytest.approx(value(correct(), quarter), abs=1e-12)


def test_seven_readers_have_no_quarter_of_two() -> None:
    assert np.isnan(value(correct()[:, :7], "lowest"))
    assert not np.isnan(value(correct()[:, :8], "lowest"))


def test_a_reader_of_one_arm_is_no_reader() -> None:
    readings = correct()[:, :8]
    readings[0, 3] = np.nan
    assert np.isnan(value(readings, "highest"))
