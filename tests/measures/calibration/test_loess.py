"""Loess, against values of R's."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.english import english
from trustreport.measures.calibration.local_regression import loess
from trustreport.measures.calibration.smooth import GROUPED, loess_error

HERE = Path(__file__).parent


def test_the_curve_is_that_of_r() -> None:
    """Curves that loess_reference.R fitted to scores with and without ties."""
    with (HERE / "loess_reference.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    sets = {row["set"] for row in rows}
    assert len(sets) == 6
    for name in sets:
        x, y, fitted = np.array(
            [[float(row[key]) for key in ("x", "y", "fitted")] for row in rows if row["set"] == name]
        ).T
        assert loess(x, y, span=0.75) == pytest.approx(fitted, abs=1e-9), name


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(20, 200), st.sampled_from([3, 20, 10**6]))
def test_a_parabola_stays_a_parabola(seed: int, n: int, levels: int) -> None:
    x = np.sort(np.random.default_rng(seed).integers(0, levels, n) / levels)
    if x[0] == x[-1]:
        return
    y = 1 - 2 * x + 3 * x * x
    assert loess(x, y, span=1.0) == pytest.approx(y, abs=1e-4)


def test_most_cases_of_one_score() -> None:
    """Where the nearest cases all share a score, the curve passes through their mean."""
    x = np.r_[np.zeros(80), np.linspace(0.9, 1, 20)]
    y = np.r_[np.tile([0.0, 1.0], 40), np.ones(20)]
    assert loess(x, y, span=0.75)[:80] == pytest.approx(0.5)


def test_what_has_no_curve_has_its_reason() -> None:
    for truth, score, why in (
        ([], [], "no case"),
        ([True] * 20, np.linspace(0, 1, 20), "both classes"),
        ([True, False] * 10, [0.5] * 20, "too few different scores"),
        ([True, False] * (GROUPED // 2 + 1), np.linspace(0, 1, GROUPED + 2), "200,000"),
    ):
        for one in loess_error(np.array(truth, bool), np.array(score, float)):
            assert why in english(one.note)
            assert np.isnan(one.value)


def test_the_measures_are_those_of_r(reference: Path) -> None:
    """The seven sets of the reference, by R 4.2.2."""
    entries = json.loads((reference / "external" / "expected.json").read_text())["entries"]
    wanted = {(e["dataset"], e["metric"]): e["value"] for e in entries}
    names = [dataset for dataset, metric in wanted if metric == "ici_loess"]
    assert len(names) == 7
    for name in names:
        with (reference / "contract" / name.split("_")[0] / f"{name}.csv").open() as lines:
            rows = list(csv.DictReader(lines))
        truth = np.array([row["label"] == "1" for row in rows])
        ici, eci = loess_error(truth, np.array([float(row["score"]) for row in rows]))
        assert ici.value == pytest.approx(wanted[name, "ici_loess"], abs=1e-9)
        assert eci.value == pytest.approx(wanted[name, "eci_loess_x100"], abs=1e-9)
