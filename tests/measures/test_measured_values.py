"""Agreement of a measurement with a reference, against R and by what must hold of every pair of series."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import theilslopes

from tests.english import english
from trustreport.measures.measured.measurement import (
    concordance_correlation,
    deming_line,
    linearity,
    mean_absolute_error,
    passing_bablok_line,
    rate_ratio,
    root_mean_square_error,
    total_deviation_index,
)

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "measurement.csv"
LARGE = np.array([494.0, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427])
MINI = np.array([512.0, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451])


def expected() -> dict[str, dict[str, float]]:
    with REFERENCE.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {r.pop("name"): {k: float(v) for k, v in r.items() if v != "NA"} for r in rows}


def of_r():
    errors = LARGE - MINI
    line = {ratio: deming_line(LARGE, MINI, ratio=ratio) for ratio in (1, 0.25, 4)}
    ranks = passing_bablok_line(LARGE, MINI)
    more = np.concatenate([errors, 7 * np.sin(np.arange(1, 104))])
    return {
        "concordance": concordance_correlation(LARGE, MINI),
        "mean_absolute_error": mean_absolute_error(errors),
        "root_mean_square_error": root_mean_square_error(errors),
        **{f"deming_slope_{ratio:g}": found.slope for ratio, found in line.items()},
        **{f"deming_intercept_{ratio:g}": found.intercept for ratio, found in line.items()},
        "ranks_slope": ranks.slope,
        "ranks_intercept": ranks.intercept,
        "deviation_95": total_deviation_index(more, 0.95),
        "deviation_50": total_deviation_index(more, 0.5),
    }


@pytest.mark.parametrize("name", expected())
def test_as_r_has_it(name):
    found = of_r()[name]
    for field, value in expected()[name].items():
        if field == "se" and name == "mean_absolute_error":
            assert found.se == pytest.approx(value, rel=1e-12)
        else:
            assert getattr(found, field) == pytest.approx(value, rel=1e-9), field


STUDIES = json.loads((REFERENCE.parent / "method_comparison.json").read_text())


@pytest.mark.parametrize(
    ("study", "line"), [(s, line) for s in STUDIES for line in s["deming"]], ids=lambda v: v.get("ratio", "")
)
def test_deming_as_other_software_has_it(study, line):
    """Values and limits of Analyse-it in the test data of mcr; coefficients and standard errors of NCSS."""
    found = deming_line(np.array(study["x"]), np.array(study["y"]), ratio=line["ratio"])
    for name, e in (("slope", found.slope), ("intercept", found.intercept)):
        if "se" in line:
            rounded = (round(e.value, line["decimals"]), round(e.se, line["decimals"]))
            assert rounded == (line[name], line["se"][name])
        else:
            assert e.value == pytest.approx(line[name][0], rel=1e-12)
            assert (e.low, e.high) == pytest.approx(line[name][1:], rel=1e-6)


@pytest.mark.parametrize("study", [s for s in STUDIES if "passing_bablok" in s], ids=["Calanas", "mcr"])
def test_passing_and_bablok_as_other_software_has_it(study):
    """Calanas and mcr do not round the rank of a limit as the paper does: theirs is next to ours."""
    x, y, theirs = np.array(study["x"]), np.array(study["y"]), study["passing_bablok"]
    found = passing_bablok_line(x, y)
    for name, e in (("slope", found.slope), ("intercept", found.intercept)):
        assert e.value == pytest.approx(theirs[name][0], rel=theirs["tolerance"])
    i, j = np.triu_indices(len(x), 1)
    slopes = np.sort((y[j] - y[i]) / (x[j] - x[i]))
    for ours, limit in zip((found.slope.low, found.slope.high), theirs["slope"][1:]):
        rank = int(np.argmin(np.abs(slopes - ours)))
        assert slopes[rank] == ours
        assert slopes[rank - 1] <= limit + 1e-6
        assert limit - 1e-6 <= slopes[rank + 1]


def test_mean_difference_and_sd_of_the_published_meters():
    """Bland and Altman (1986): mean difference -2.1, SD 38.8, so that RMSE^2 = 38.8^2 (16/17) + 2.1^2."""
    assert root_mean_square_error(LARGE - MINI).value == pytest.approx(
        np.sqrt(38.8**2 * 16 / 17 + 2.1**2), abs=0.05
    )


series = st.lists(st.floats(-100, 100).map(lambda v: round(v, 3)), min_size=6, max_size=25, unique=True)


@given(series, st.floats(0.1, 10), st.floats(-50, 50), st.integers(0, 1000))
def test_exchanging_the_sides_inverts_the_line(values, slope, shift, seed):
    x = np.array(values)
    y = shift + slope * x + np.random.default_rng(seed).normal(0, 0.05 * (1 + np.ptp(x) * slope), x.size)
    if np.ptp(x) < 1:
        return
    there, back = deming_line(x, y).slope.value, deming_line(y, x).slope.value
    if np.isfinite(there) and np.isfinite(back) and there > 0:
        assert there * back == pytest.approx(1, rel=1e-6)


def test_without_falling_pairs_the_ranks_are_those_of_theil_and_sen():
    x = np.arange(12.0)
    y = 3 + 0.5 * x + 0.2 * np.sin(x * 2.3)
    assert passing_bablok_line(x, y).slope.value == pytest.approx(theilslopes(y, x)[0], rel=1e-12)


@given(series, st.integers(0, 1000))
def test_concordance_is_symmetric_and_no_larger_than_the_correlation(values, seed):
    x = np.array(values)
    y = x + np.random.default_rng(seed).normal(1, 5, x.size)
    if np.ptp(x) < 1e-6:
        return
    found = concordance_correlation(x, y)
    assert found.value == pytest.approx(concordance_correlation(y, x).value, abs=1e-12)
    assert abs(found.value) <= abs(np.corrcoef(x, y)[0, 1]) + 1e-12
    assert -1 <= found.low <= found.value <= found.high <= 1


MEASURES = (
    mean_absolute_error,
    root_mean_square_error,
    total_deviation_index,
    lambda d, **k: concordance_correlation(LARGE[: len(d)], LARGE[: len(d)] + d, **k),
    lambda d, **k: deming_line(LARGE[: len(d)], LARGE[: len(d)] + d, **k).slope,
)


@pytest.mark.parametrize("measure", MEASURES)
def test_one_case_in_each_cluster_is_as_without(measure):
    d, own = MINI - LARGE, np.arange(17)
    alone, apart = measure(d), measure(d, cluster=own)
    assert apart.value == pytest.approx(alone.value)
    if measure is not total_deviation_index:  # whose upper limit 17 cases do not give
        assert (apart.low, apart.high) == pytest.approx((alone.low, alone.high), rel=0.12)


@pytest.mark.parametrize("measure", MEASURES[:2])
def test_copies_of_cases_in_their_cluster_make_nothing_narrower(measure):
    d = MINI - LARGE
    alone = measure(d, cluster=np.arange(17))
    copied = measure(np.tile(d, 2), cluster=np.tile(np.arange(17), 2))
    assert copied.high - copied.low >= (alone.high - alone.low) * 0.95


@pytest.mark.parametrize("measure", MEASURES[:3])
@pytest.mark.parametrize("difference", [[], [0.0, 0.0, 0.0], [2.0]])
def test_what_is_undefined_says_why(measure, difference):
    found = measure(np.array(difference))
    assert found.note
    assert np.isnan(found.value) == (not difference)


@pytest.mark.parametrize(
    ("x", "y", "note"),
    [
        ([], [], "no case has both values"),
        ([1, 2, 3], [1, 2, 3], "fewer than 5 cases"),
        ([1, 1, 1, 1, 1], [1, 2, 3, 4, 5], "are all the same"),
        ([1, -1, 1, -1, 0], [1, 1, -1, -1, 0], "not correlated"),
    ],
)
def test_no_line_is_said(x, y, note):
    for line in (deming_line, passing_bablok_line):
        found = line(np.array(x, float), np.array(y, float))
        assert np.isnan(found.slope.value)
        assert note in english(found.slope.note)
        assert note in english(found.intercept.note)


def test_a_line_without_error_has_no_width():
    x = np.arange(10.0)
    assert deming_line(x, 2 * x + 1).slope.note
    assert passing_bablok_line(x, 2 * x + 1).slope.value == 2


def test_gross_errors_move_the_ranks_little():
    x = np.arange(40.0)
    y = x + 0.3 * np.sin(3 * x)
    y[[5, 30]] += 500
    assert passing_bablok_line(x, y).slope.value == pytest.approx(1, abs=0.05)
    assert abs(deming_line(x, y).slope.value - 1) > 0.3


def test_departure_from_a_line():
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0, 10, 80))
    p = [linearity(x, y, passing_bablok_line(x, y)) for y in (x + rng.normal(0, 1, 80), x + x**2 / 4)]
    assert p[0] > 0.05 > p[1]


def regimes():
    rng = np.random.default_rng(20261127)
    for _ in range(400):
        truth = rng.normal(100, 20, 60)
        error = rng.normal(1, 4, 60)
        yield truth, truth + error, error, None


def test_intervals_hold_the_truth_often_enough():
    """A catch, not a benchmark: 400 studies of 60 cases, normal errors of mean 1 and SD 4."""
    from scipy.stats import foldnorm

    sd = np.hypot(20, 0)
    truth = {
        "mae": foldnorm.mean(0.25, scale=4),
        "rmse": np.sqrt(17),
        "ccc": 2 * sd**2 / (sd**2 + sd**2 + 16 + 1),
        "tdi": foldnorm.ppf(0.8, 0.25, scale=4),
    }
    held = dict.fromkeys(truth, 0)
    for x, y, d, _ in regimes():
        found = {
            "mae": mean_absolute_error(d),
            "rmse": root_mean_square_error(d),
            "ccc": concordance_correlation(x, y),
            "tdi": total_deviation_index(d, 0.8),
        }
        for name, e in found.items():
            held[name] += e.low <= truth[name] <= e.high
    assert {name: n / 400 for name, n in held.items() if not 0.92 <= n / 400 <= 0.985} == {}


@pytest.mark.parametrize("patients", [None, 40], ids=["cases alone", "cases of patients"])
def test_intervals_cover_what_made_the_values(patients):
    """Errors normal with SD 2 and bias 1 on values of SD 5: true values of a million cases."""

    def all_of(x, y, **how):
        d = y - x
        yield "mae", mean_absolute_error(d, **how)
        yield "rmse", root_mean_square_error(d, **how)
        yield "tdi", total_deviation_index(d, 0.8, **how)
        yield "ccc", concordance_correlation(y, x, **how)
        yield "slope", deming_line(x, y, **how).slope

    rng = np.random.default_rng(5)
    x = rng.normal(50, 5, 1_000_000)
    y = x + 1 + rng.normal(0, np.hypot(1.2, 1.6), x.size)
    d = np.abs(y - x)
    u, w, p = x.var(), y.var(), np.cov(x, y)[0, 1]
    true = {
        "mae": d.mean(),
        "rmse": np.sqrt((d**2).mean()),
        "tdi": np.quantile(d, 0.8),
        "ccc": 2 * p / (u + w + 1),
        "slope": (w - u + np.hypot(w - u, 2 * p)) / (2 * p),
    }
    held, draws = dict.fromkeys(true, 0), 200
    for _ in range(draws):
        n = 120
        patient = rng.integers(0, patients, n) if patients else np.arange(n)
        shared = rng.normal(0, 1.2, n)[patient]
        x = rng.normal(50, 5, n)
        y = x + 1 + shared + rng.normal(0, 1.6, n)
        how = {"cluster": patient} if patients else {}
        for name, e in all_of(x, y, **how):
            held[name] += e.low <= true[name] <= e.high
    assert min(held.values()) / draws > 0.88, held


ROWS = np.arange(10.0)


@pytest.mark.parametrize(
    ("found", "note"),
    [
        (mean_absolute_error(np.ones(10)), "nothing varies"),
        (mean_absolute_error(np.array([0.3, -0.1 - 0.2, 0.3])), "nothing varies"),
        (concordance_correlation(ROWS, np.full(10, 3.0)), "nothing varies"),
        (concordance_correlation(ROWS, ROWS), "equals its reference"),
        (rate_ratio(ROWS, ROWS), "nothing varies"),
        (rate_ratio(np.array([2.0]), np.array([1.0])), "one case"),
        (deming_line(np.tile(LARGE, 2), np.tile(MINI, 2), cluster=np.repeat([0, 1], 17)).slope, "varies"),
        (passing_bablok_line(ROWS[:5], ROWS[:5] ** 2, level=0.99).slope, "too few"),
        (passing_bablok_line(np.repeat([1.0, 2], 5), np.arange(10.0)).intercept, "too few"),
    ],
)
def test_a_value_without_limits_says_the_true_reason(found, note):
    assert np.isfinite(found.value)
    assert np.isnan([found.low, found.high]).all()
    assert note in english(found.note)


def test_whether_pairs_rise_decides_whether_ranks_have_a_line():
    gross = np.array([*ROWS[:-1], -500.0])
    assert np.corrcoef(ROWS, gross)[0, 1] < 0
    assert passing_bablok_line(ROWS, gross).slope.value == 1
    falling = passing_bablok_line(ROWS, -gross).slope
    assert "falls as the other rises" in english(falling.note)
    assert np.isnan(falling.value)


def test_a_line_of_equal_slopes_says_that_its_interval_has_no_width():
    line = passing_bablok_line(ROWS, 2 * ROWS + 1)
    assert "no width" in english(line.slope.note)
    assert "no width" in english(line.intercept.note)


@pytest.mark.parametrize(("n", "bounded"), [(71, False), (72, True)])
def test_as_few_cases_as_the_95_percent_quantile_has_an_upper_limit_of(n, bounded):
    assert np.isfinite(total_deviation_index(np.arange(1.0, n + 1)).high) == bounded
