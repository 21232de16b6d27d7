"""Weighted estimates against R survey and scikit-learn, counts by hand, and what must hold."""

import csv
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from trustreport.measures import weighted
from trustreport.measures.estimate import Estimate
from trustreport.measures.roc.auc import delong
from trustreport.measures.weighted import weighted_auc, weighted_mean, weighted_oe, weighted_share

REFERENCE = Path(__file__).resolve().parent.parent / "reference"


def table(name: str) -> list[dict[str, str]]:
    with (REFERENCE / name).open(newline="") as file:
        return list(csv.DictReader(file))


CASES = {key: np.array([float(r[key]) for r in table("weighted_cases.csv")]) for key in
         ("patient", "truth", "weight", "score", "decision")}  # fmt: skip
TRUTH, CALLED = CASES["truth"] == 1, CASES["decision"] == 1
SCORE, WEIGHT = CASES["score"], CASES["weight"]
ALL = np.ones(60, bool)


def estimate(name: str, cluster: Any = None) -> Estimate:
    more = {"cluster": cluster}
    shares = {
        "sensitivity": (CALLED, TRUTH),
        "specificity": (~CALLED, ~TRUTH),
        "ppv": (TRUTH, CALLED),
        "npv": (~TRUTH, ~CALLED),
        "accuracy": (CALLED == TRUTH, ALL),
        "prevalence": (TRUTH, ALL),
        "brier": ((SCORE - TRUTH) ** 2, ALL),
    }
    if name in shares:
        return weighted_share(*shares[name], WEIGHT, **more)
    if name == "oe_ratio":
        return weighted_oe(TRUTH, SCORE, WEIGHT, **more)
    return weighted_mean(CALLED * np.where(TRUTH, 1.0, -1.0), WEIGHT, **more)


@pytest.mark.parametrize("row", table("weighted.csv"), ids=lambda row: f"{row['design']} {row['name']}")
def test_values_errors_and_limits_are_those_of_survey(row: dict[str, str]) -> None:
    e = estimate(row["name"], CASES["patient"].astype(int) if row["design"] == "patients" else None)
    known = [float(row[key]) for key in ("value", "se", "low", "high")]
    assert [e.value, e.se, e.low, e.high] == pytest.approx(known, rel=1e-6)


def test_the_area_is_that_of_scikit_learn() -> None:
    # roc_auc_score(truth, score, sample_weight=weight) of scikit-learn 1.9.1, of weighted_cases.csv
    assert weighted_auc(TRUTH, SCORE, WEIGHT).value == pytest.approx(0.8236882716049383, abs=1e-12)


def test_of_equal_weights_the_area_is_that_of_delong_nearly() -> None:
    e, known = weighted_auc(TRUTH, SCORE, np.full(60, 3.0)), delong(TRUTH, SCORE)
    assert e.value == pytest.approx(known.value)
    assert e.se == pytest.approx(known.se, rel=0.03)  # divisors n and n - 1


def test_a_case_of_weight_two_is_two_cases_of_one_cluster() -> None:
    whole = np.array([1, 1, 2, 3, 2, 1] * 10)
    copies = np.repeat(np.arange(60), whole)
    e = weighted_auc(TRUTH, SCORE, whole.astype(float), cluster=np.arange(60))
    other = weighted_auc(TRUTH[copies], SCORE[copies], np.ones(len(copies)), cluster=copies)
    assert (other.value, other.se, other.df) == pytest.approx((e.value, e.se, e.df))
    share = weighted_share(CALLED, TRUTH, whole.astype(float))
    again = weighted_share(CALLED[copies], TRUTH[copies], np.ones(len(copies)), cluster=copies)
    assert (again.value, again.low, again.high) == pytest.approx((share.value, share.low, share.high))


def test_by_hand() -> None:
    # 2 of 3 sampled at one in ten, 1 of 4 of all: (20 + 1) / (30 + 4)
    called = np.array([1, 1, 0, 1, 0, 0, 0], bool)
    weight = np.array([10, 10, 10, 1, 1, 1, 1.0])
    e = weighted_share(called, np.ones(7, bool), weight)
    assert e.value == pytest.approx(21 / 34)
    assert e.details["effective"] == pytest.approx(34**2 / 304)


def test_none_wrong_is_no_certainty() -> None:
    e = weighted_share(np.ones(20, bool), np.ones(20, bool), np.repeat([1.0, 9.0], 10))
    assert (e.value, e.high) == (1.0, 1.0)
    assert e.low == pytest.approx(1 - 2.093024**2 / (100**2 / 820 + 2.093024**2), rel=1e-6)


def test_undefined_or_without_limits_with_the_reason() -> None:
    none = weighted_share(CALLED, np.zeros(60, bool), WEIGHT)
    assert (isnan(none.value), none.note) == (True, weighted.NO_WEIGHT)
    zero = weighted_share(CALLED, ALL, np.zeros(60))
    assert (isnan(zero.value), zero.note) == (True, weighted.NO_WEIGHT)
    one = weighted_share(CALLED, ALL, WEIGHT, cluster=np.zeros(60, int))
    assert (isnan(one.low), one.note) == (True, weighted.ONE_UNIT)
    absent = weighted_auc(np.zeros(60, bool), SCORE, WEIGHT)
    assert (isnan(absent.value), absent.note) == (True, weighted.ONE_CLASS)
    nothing = weighted_oe(TRUTH, np.zeros(60), WEIGHT)
    assert (isnan(nothing.value), nothing.note) == (True, weighted.NOTHING_EXPECTED)
    with pytest.raises(ValueError, match="0 or more"):
        weighted_share(CALLED, ALL, -WEIGHT)


@given(arrays(float, 60, elements=st.floats(0, 1e9)), st.floats(1e-6, 1e6))
@example(np.where(TRUTH, 5e-324, 1.0), 1.0)
def test_only_the_ratio_of_weights_matters(weight: Any, factor: float) -> None:
    for e, other in (
        (weighted_share(CALLED, TRUTH, weight), weighted_share(CALLED, TRUTH, weight * factor)),
        (weighted_auc(TRUTH, SCORE, weight), weighted_auc(TRUTH, SCORE, weight * factor)),
    ):
        if weight[weight > 0].min(initial=1.0) < 1e-3:
            continue
        assert other.value == pytest.approx(e.value, nan_ok=True)
        assert (other.low, other.high) == pytest.approx((e.low, e.high), nan_ok=True, abs=1e-6)
        if not isnan(e.low):
            assert 0 <= e.low <= e.value <= e.high <= 1


def test_a_few_heavy_cases_leave_few_degrees_of_freedom() -> None:
    # 60 light cases, 3 heavy ones: their contributions z = w (y - m) / sum w by hand, kurtosis by SciPy.
    y, w = np.r_[np.arange(60) % 3 == 0, True, False, True], np.r_[np.ones(60), 40.0, 40.0, 40.0]
    e = weighted_share(y, np.ones(63, bool), w)
    z = w * (y - (w @ y) / w.sum()) / w.sum()
    k = stats.kurtosis(z, fisher=False)
    assert e.df == pytest.approx(2 * 63 / (k - 60 / 62))
    assert e.df < 10
    level = weighted_share(y, np.ones(63, bool), np.r_[np.ones(60), 9.0, 9.0, 9.0])
    assert level.df == 62


def test_few_heavy_cases_of_a_class_are_too_few() -> None:
    weight, of = np.repeat([1.0, 50.0], [90, 5]), np.ones(95, bool)
    assert not weighted.few_heavy(weight, of)
    assert weighted.few_heavy(weight, of & (np.arange(95) != 94))
    assert weighted.few_heavy(weight, of, np.arange(95) < 90)  # a class without any
    assert not weighted.few_heavy(np.repeat([1.0, 9.0], [90, 1]), of[:91])
    assert not weighted.few_heavy(np.full(95, np.nan), of)
    assert not weighted.few_heavy(weight)
