"""Values of readers beside a reference value: concordance, the line, sizes of the error."""

from math import isfinite, isnan, sqrt
from pathlib import Path

import numpy as np
import pytest

from tests.english import english
from tests.studies import with_table
from trustreport.api import Assessment, assess, read_study
from trustreport.measures.estimate import Estimate
from trustreport.measures.measured.measurement import (
    concordance_correlation,
    deming_line,
    linearity,
    passing_bablok_line,
    root_mean_square_error,
    total_deviation_index,
)

TOGETHER = (
    "root_mean_square_error",
    "total_deviation_index",
    "concordance_correlation",
    "deming_slope",
    "deming_intercept",
)
ALONE = (*TOGETHER, "passing_bablok_slope", "passing_bablok_intercept", "linearity", "acceptable_share")


def measured(
    folder: Path, grid: np.ndarray, truth: np.ndarray, patient: np.ndarray | None = None
) -> Assessment:
    """A study of readers (n_readers, n_cases) in one arm, gaps where NaN."""
    folder.mkdir(exist_ok=True)
    rows = [
        (f"R{j}", k, value, truth[k], k if patient is None else patient[k])
        for j, of_reader in enumerate(grid)
        for k, value in enumerate(of_reader)
        if not np.isnan(value)
    ]
    manifest = "measurements: [{measurement: value, acceptable: 4}]\ntables: {values: {file: table.csv}}\n"
    return assess(*read_study(with_table(folder, manifest, "reader case measured reference patient", rows)))


def drawn(readers: int, cases: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.uniform(10, 60, cases).round(2)
    grid = truth * 1.04 + rng.normal(0, 1, (readers, 1)) + rng.normal(0, 2, (readers, cases))
    return grid.round(2), truth


def of(found: Assessment, quantity: str, reader: str | None = None) -> Estimate:
    (one,) = [
        r for r in found.results if r.id == f"reader_measurement.{quantity}" and r.place.reader == reader
    ]
    return one.estimate


def test_values_are_those_of_all_readings(tmp_path: Path) -> None:
    grid, truth = drawn(5, 60)
    found = measured(tmp_path, grid, truth)
    x, y = np.tile(truth, 5), grid.ravel()
    line = deming_line(x, y)
    for quantity, alone in {
        "root_mean_square_error": root_mean_square_error(y - x),
        "total_deviation_index": total_deviation_index(y - x),
        "concordance_correlation": concordance_correlation(y, x),
        "deming_slope": line.slope,
        "deming_intercept": line.intercept,
    }.items():
        e = of(found, quantity)
        assert (e.value, e.n) == (pytest.approx(alone.value), 300)
        assert e.low < e.value < e.high


def test_readers_who_differ_widen_the_interval(tmp_path: Path) -> None:
    """Each reader has an own scale, so that readings treated as independent say too much of the slope."""
    rng = np.random.default_rng(8)
    truth = rng.uniform(10, 60, 60)
    grid = truth * rng.normal(1, 0.1, (6, 1)) + rng.normal(0, 1, (6, 60))
    found = measured(tmp_path, grid, truth)
    x, y = np.tile(truth, 6), grid.ravel()
    for quantity, alone in (
        ("deming_slope", deming_line(x, y).slope),
        ("concordance_correlation", concordance_correlation(y, x)),
    ):
        e = of(found, quantity)
        assert e.high - e.low > 1.5 * (alone.high - alone.low)
    left_out = [
        deming_line(np.tile(truth, 5), np.delete(grid, j, axis=0).ravel()).slope.value for j in range(6)
    ]
    jackknife = sqrt(5 / 6 * float(np.square(left_out - np.mean(left_out)).sum()))
    assert of(found, "deming_slope").se == pytest.approx(jackknife, rel=0.1)


def test_the_same_reading_by_every_reader_adds_nothing(tmp_path: Path) -> None:
    """Readers who all say the same have the interval of one of them: cases are what varies."""
    grid, truth = drawn(1, 80)
    found = measured(tmp_path, np.tile(grid, (5, 1)), truth)
    alone = deming_line(truth, grid[0]).slope
    e = of(found, "deming_slope")
    assert e.value == pytest.approx(alone.value)
    assert e.se == pytest.approx(alone.se, rel=0.05)


def test_patients_with_several_cases_are_counted_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    truth, patient = rng.uniform(10, 60, 60), np.arange(60) // 6
    grid = truth + rng.normal(0, 3, 10)[patient] + rng.normal(0, 1, (4, 60))
    apart, together = (
        of(measured(tmp_path / name, grid, truth, own), "root_mean_square_error")
        for name, own in (("apart", None), ("together", patient))
    )
    assert apart.value == together.value
    assert together.high - together.low > apart.high - apart.low


def test_gaps_leave_out_readings_only(tmp_path: Path) -> None:
    grid, truth = drawn(4, 60)
    grid[0, :15] = np.nan
    there = ~np.isnan(grid)
    x = np.broadcast_to(truth, grid.shape)[there]
    e = of(measured(tmp_path, grid, truth), "concordance_correlation")
    assert e.value == pytest.approx(concordance_correlation(grid[there], x).value)
    assert (e.n, isfinite(e.low)) == (225, True)


def test_one_reader_has_no_interval_for_readers_in_general(tmp_path: Path) -> None:
    found = measured(tmp_path, *drawn(1, 60))
    for quantity in TOGETHER:
        e = of(found, quantity)
        assert isfinite(e.value)
        assert isnan(e.low)
        assert "one reader" in english(e.note)
        assert isfinite(of(found, quantity, "R0").low)


def test_each_reader_has_what_a_device_has(tmp_path: Path) -> None:
    grid, truth = drawn(3, 60)
    found = measured(tmp_path, grid, truth)
    for j in range(3):
        for quantity in ALONE:
            assert isfinite(of(found, quantity, f"R{j}").value), quantity
        ranked = passing_bablok_line(truth, grid[j])
        assert of(found, "passing_bablok_slope", f"R{j}").low == pytest.approx(ranked.slope.low)
        assert of(found, "linearity", f"R{j}").value == pytest.approx(linearity(truth, grid[j], ranked))
    assert not [r for r in found.results if r.name == "linearity" and r.place.reader is None]


def test_the_unit_of_the_values_changes_no_interval(tmp_path: Path) -> None:
    grid, truth = drawn(4, 60)
    small = 2.0**-33
    found = [measured(tmp_path / str(k), k * grid, k * truth) for k in (1, small)]
    for quantity in TOGETHER:
        unit = 1 if quantity in ("concordance_correlation", "deming_slope") else small
        one, other = (of(study, quantity) for study in found)
        assert (other.low, other.high) == pytest.approx((unit * one.low, unit * one.high), rel=1e-6, abs=0)


def test_cases_that_belong_together_have_no_test_of_linearity(tmp_path: Path) -> None:
    grid, truth = drawn(3, 60)
    found = measured(tmp_path, grid, truth, np.arange(60) // 2)
    assert isnan(of(found, "passing_bablok_slope", "R0").low)
    assert not [r for r in found.results if r.name == "linearity"]


def test_few_cases_are_noted(tmp_path: Path) -> None:
    notes = [english(of(measured(tmp_path / str(n), *drawn(5, n)), "deming_slope").note) for n in (40, 60)]
    assert ["in simulated studies of this size" in note for note in notes] == [True, False]
