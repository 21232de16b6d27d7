"""Repeats of a case, two groups of cases and ranks of candidates, against R and by what must hold."""

import csv
from itertools import product
from math import isnan, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.english import english
from trustreport.measures.measured.ranks import mean_rank, rank_of_mean, ranks
from trustreport.measures.measured.two_groups import difference_of_means
from trustreport.measures.repeatability import helmert, repeated, within_case

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "measured_groups.csv"
# Cardiac ejection by two methods in 12 subjects (Bland and Altman 2007, J. Biopharm. Stat. 17, table 1).
RV = (
    "7.83 7.42 7.89 7.12 7.88|6.16 7.26 6.71 6.54|4.75 5.24 4.86 4.78 6.05 5.42|4.21 3.61 3.72 3.87 3.92|"
    "3.13 2.98 2.85 3.17 3.09 3.12|5.92 6.42 5.92 6.27|7.13 6.62 6.58 6.93|4.54 4.81 5.11 5.29 5.39 5.57|"
    "4.48 4.92 3.97|4.22 4.65 4.74 4.44 4.50|6.78 6.07 6.52 6.42 6.41 5.76|5.06 4.72 4.90 4.80 4.90 5.10"
)
IC = (
    "6.57 5.62 6.90 6.57 6.35|4.06 4.29 4.26 4.09|4.71 5.50 5.08 5.02 6.01 5.67|4.14 4.20 4.61 4.68 5.04|"
    "3.03 2.86 2.77 2.46 2.32 2.43|5.90 5.81 5.70 5.76|5.09 4.63 4.61 5.09|4.72 4.61 4.36 4.20 4.36 4.20|"
    "3.17 3.12 2.96|4.35 4.62 3.16 3.53 3.53|7.20 6.09 7.00 7.10 7.40 6.80|4.50 4.20 3.80 3.80 4.20 4.50"
)
METERS = np.array(
    [-18.0, -35, -4, 6, -24, -43, 49, 62, -8, -12, -15, 30, 7, 1, -81, 73, -24]
)  # differences of the two peak flow meters of Bland and Altman (1986)
CLUSTER = np.array([1, 1, 2, 3, 3, 4, 5, 1, 2, 6, 6, 7, 8, 8, 9, 10, 10])


def laid_out(text):
    rows = [[float(x) for x in row.split()] for row in text.split("|")]
    return np.array([row + [np.nan] * (6 - len(row)) for row in rows])


def expected():
    with REFERENCE.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {r.pop("name"): {k: float(v) for k, v in r.items() if v != "NA"} for r in rows}


def scores():
    i = np.arange(1, 21)
    made = [0.80 + i * 7 % 13 / 100, 0.81 + i * 5 % 11 / 90, 0.80 + i * 3 % 7 / 60]
    return np.array(made).round(2)


def of_r():
    first, second = METERS[:7], METERS[7:]
    means = mean_rank(scores(), better="up")
    return {
        "within_rv": within_case("within_case_sd", laid_out(RV)),
        "within_ic": within_case("within_case_sd", laid_out(IC)),
        "groups": difference_of_means(first, second),
        "groups_in_clusters": difference_of_means(first, second, cluster=(CLUSTER[:7], CLUSTER[7:])),
        **{f"mean_rank_{name}": e for name, e in zip("ABC", means)},
    }


@pytest.mark.parametrize("name", [name for name in expected() if not name.startswith("first")])
def test_as_r_has_it(name):
    found = of_r()[name]
    for field, value in expected()[name].items():
        assert getattr(found, field) == pytest.approx(value, rel=1e-9), field


@pytest.mark.parametrize(("text", "variance"), [(RV, 0.1072), (IC, 0.1379)])
def test_the_published_variances_within_subjects(text, variance):
    """Bland and Altman (1999), Stat. Methods Med. Res. 8, 135-160, section 5."""
    e = within_case("within_case_sd", laid_out(text))
    assert e.value**2 == pytest.approx(variance, abs=5e-5)
    assert e.n == 12
    repeatability = within_case("repeatability_coefficient", laid_out(text))
    for end in ("value", "low", "high"):
        assert getattr(repeatability, end) == pytest.approx(1.96 * sqrt(2) * getattr(e, end))


def test_two_measurements_a_case_are_the_differences_that_they_were():
    rng = np.random.default_rng(1)
    value = rng.normal(0, 1, (15, 2))
    difference = value[:, 1] - value[:, 0]
    patient = np.arange(15) // 2
    for cluster in (None, patient):
        for name in ("within_case_sd", "repeatability_coefficient"):
            assert within_case(name, value, cluster=cluster) == repeated(name, difference, cluster=cluster)


@given(arrays(float, (5, 4), elements=st.floats(-100, 100).map(lambda x: round(x, 2))), st.randoms())
def test_contrasts_have_twice_the_sum_of_squares_of_the_case_in_any_order(value, random):
    value[0, 2:] = np.nan
    contrasts, case = helmert(value)
    means = np.nanmean(value, axis=1, keepdims=True)
    squares = np.nansum((value - means) ** 2, axis=1)
    assert np.bincount(case, contrasts**2, 5) == pytest.approx(2 * squares, rel=1e-9, abs=1e-6)
    order = list(range(4))
    random.shuffle(order)
    again = helmert(value[:, order])[0]
    assert float(again @ again) == pytest.approx(float(contrasts @ contrasts), rel=1e-9, abs=1e-6)


def test_what_cannot_be_estimated_says_why():
    nothing = difference_of_means(np.array([]), METERS)
    assert isnan(nothing.value)
    assert "no case of this kind" in english(nothing.note)
    single = difference_of_means(METERS[:1], METERS[1:])
    assert isnan(single.low)
    assert "a single case" in english(single.note)
    alike = difference_of_means(np.ones(4), np.zeros(5))
    assert (alike.value, isnan(alike.low)) == (1.0, True)
    together = difference_of_means(METERS[:3], METERS[3:], cluster=(np.zeros(3), np.arange(14)))
    assert isnan(together.low)
    assert "cluster" in english(together.note)
    no_order = rank_of_mean(np.array([[1.0], [2.0]]), better="up", rng=np.random.default_rng(1))
    assert [e.value for e in no_order] == [2, 1]
    assert all(isnan(e.low) and "how sure the order is" in english(e.note) for e in no_order)
    assert all(isnan(e.value) for e in mean_rank(np.zeros((3, 0)), better="up"))


def test_normal_groups_have_welchs_interval():
    """Evenly spaced values are flatter than normal ones: each group keeps n - 1, and df is Welch's."""
    e = difference_of_means(np.arange(1.0, 6), np.arange(2.0, 11, 2))
    assert e.df == pytest.approx(6.25 / 1.0625)
    assert (e.value, e.se) == pytest.approx((-3, sqrt(2.5)))


def test_exchanging_the_groups_changes_the_sign():
    there, back = difference_of_means(METERS[:7], METERS[7:]), difference_of_means(METERS[7:], METERS[:7])
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))
    assert there.p == pytest.approx(back.p)


def test_ranks_counted_by_hand():
    value = np.array([[3.0, 1.0, 2.0], [3.0, 2.0, 1.0], [1.0, 3.0, 3.0]])
    assert ranks(value, better="up").tolist() == [[1.5, 3, 2], [1.5, 2, 3], [3, 1, 1]]
    assert ranks(value, better="down").tolist() == [[2.5, 1, 2], [2.5, 2, 1], [1, 3, 3]]
    assert [e.value for e in mean_rank(value, better="up")] == pytest.approx([6.5 / 3, 6.5 / 3, 5 / 3])


def test_resampled_ranks_are_those_of_all_resamples_of_four_cases():
    found = rank_of_mean(scores()[:, :4], better="up", rng=np.random.default_rng(3))
    for name, e in zip("ABC", found):
        exact = expected()[f"first_{name}"]
        assert e.details["first"] == pytest.approx(exact["value"], abs=0.03)
        assert (e.low, e.high) == (exact["low"], exact["high"])


def test_the_order_of_the_cases_does_not_decide_the_ranks():
    value, order = scores(), np.random.default_rng(4).permutation(20)
    cluster = np.arange(20) // 3
    for of in (None, cluster):
        again = rank_of_mean(
            value[:, order],
            better="up",
            rng=np.random.default_rng(5),
            cluster=None if of is None else of[order],
        )
        assert again == rank_of_mean(value, better="up", rng=np.random.default_rng(5), cluster=of)


def test_clusters_make_the_order_less_sure():
    rng = np.random.default_rng(6)
    own = rng.normal(0, 1, (3, 10)) + np.array([[0.5], [0.2], [0.0]])
    value, cluster = np.repeat(own, 8, axis=1), np.repeat(np.arange(10), 8)
    wide, narrow = (
        rank_of_mean(value, better="up", rng=np.random.default_rng(1), cluster=of) for of in (cluster, None)
    )
    assert sum(e.high - e.low for e in wide) > sum(e.high - e.low for e in narrow)


@pytest.mark.parametrize(("k", "better"), [*product((3, 5), ("up", "down"))])
def test_mean_ranks_add_up_and_stay_in_range(k, better):
    value = np.random.default_rng(k).integers(0, 4, (k, 30)).astype(float)
    found = mean_rank(value, better=better)
    assert sum(e.value for e in found) == pytest.approx(k * (k + 1) / 2)
    assert all(1 <= e.low <= e.high <= k for e in found)
