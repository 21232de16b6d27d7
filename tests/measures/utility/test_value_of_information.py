"""Value of information: other software through sensitivity, published net benefit, hand counts, edges."""

import csv
import json
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.api import read_study
from trustreport.measures import notes
from trustreport.measures.means import CLASS_ABSENT
from trustreport.measures.utility.information import voi_of_advice, voi_of_readings

ERRORS = [[0, -1], [-1, 0]]
RNG = np.random.default_rng(4)
TRUTH = np.arange(60) % 3 == 0
DECISIONS = (RNG.random((2, 6, 60)) < np.where(TRUTH, 0.8, 0.2)).astype(float)


def vandyke(reference: Path) -> tuple[Any, Any]:
    """Decisions (aided, unaided) and truth of the contract case."""
    study, plan = read_study(reference / "contract" / "vandyke")
    (readings,) = study.readings
    assert readings.decision is not None
    return readings.grid(readings.decision.astype(float), plan.contrasts[0]), readings.cases.truth == 1


def expected(reference: Path, id: str, **scope: Any) -> dict[str, float]:
    """Rows of the contract case, by field."""
    with (reference / "contract" / "vandyke" / "expected.csv").open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["id"] == id]
    return {r["field"]: float(r["value"]) for r in rows if json.loads(r["scope"]).items() >= scope.items()}


def test_a_utility_of_found_cases_alone_is_the_change_of_sensitivity(reference: Path) -> None:
    there = expected(
        reference,
        "decision_benefit.arm_difference",
        analysis="or_rrrc_jackknife",
        endpoint="sensitivity",
    )
    found = voi_of_readings(*vandyke(reference), [[0, 0], [0, 2]], prevalence=0.5)
    e = {e.method: e for e in found}["or_rrrc"]  # MRMCaov: sensitivity, readers and cases random
    for field in ("value", "se", "low", "high", "df"):
        assert getattr(e, field) == pytest.approx(there[field], abs=1e-6)


def test_a_cost_of_one_for_each_error_is_the_absolute_risk_reduction(reference: Path) -> None:
    found = voi_of_readings(*vandyke(reference), ERRORS)
    assert found[0].method == "or_rrrc"
    assert {e.method for e in found} == {"or_rrrc", "or_frrc", "or_rrfc", "ustatistic_bdg"}
    assert all(e.value == pytest.approx(0.029824561403508865, abs=1e-12) for e in found)  # expected.csv


def test_at_a_threshold_it_is_net_benefit_over_the_better_of_all_and_nobody() -> None:
    # Vickers and Elkin (2006): TP/n - FP/n x t/(1 - t); treat all: prevalence - (1 - prevalence) x t/(1 - t)
    tp, fp, fn, tn, t = 15, 10, 5, 70, 0.2
    benefit = tp / 100 - fp / 100 * t / (1 - t)
    of_all = 0.2 - 0.8 * t / (1 - t)
    e = voi_of_advice([[tn, fn], [fp, tp]], [[0, 0], [-t / (1 - t), 1]])
    assert e.value == pytest.approx(benefit - max(of_all, 0), abs=1e-12)
    assert (e.details["advice"], e.details["rule"]) == pytest.approx((benefit, 0.0), abs=1e-12)


def test_ten_cases_by_hand() -> None:
    # Utilities 0 and 1 for right, -4 a missed case, -1 a false alarm; 4 positive and 6 negative cases.
    utility = [[0, -4], [-1, 1]]
    e = voi_of_advice([[5, 1], [1, 3]], utility)
    # advice: (5 x 0 - 4 - 1 + 3 x 1) / 10 = -.2; nobody -1.6; everybody (-6 + 4) / 10 = -.2
    assert (e.value, e.n, e.details["rule"], e.details["decision"]) == pytest.approx((0.0, 10, -0.2, 1))
    # gains over "everybody": 5 x 1 and 1 x -5, else 0: mean square 30 / 10
    assert e.se == pytest.approx((3.0 / 10) ** 0.5)
    truth = np.array([True] * 4 + [False] * 6)
    unaided = np.array([[1, 1, 1, 0] + [0] * 5 + [1], [1, 1, 0, 0] + [0] * 6], float)
    aided = np.array([[1, 1, 1, 1] + [0] * 6, [1, 1, 1, 0] + [1] + [0] * 5], float)
    first = voi_of_readings(np.stack([aided, unaided]), truth, utility)[0]
    # aided: 4/10 and (3 - 4 - 1)/10; unaided: (3 - 4 - 1)/10 and (2 - 8)/10
    assert (first.details["aided"], first.details["unaided"]) == pytest.approx((0.1, -0.4))
    assert first.value == pytest.approx(0.5)
    at = voi_of_readings(np.stack([aided, unaided]), truth, utility, prevalence=0.1)[0]
    # positives, mean of both readers: aided (1 + (-1/4)) / 2, unaided (-1/4 - 6/4) / 2; negatives -1/12 each
    assert at.value == pytest.approx(0.1 * (0.375 + 0.875) + 0.9 * (-1 / 12 + 1 / 12))


def test_readings_may_be_missing() -> None:
    gaps = DECISIONS.copy()
    gaps[RNG.random(gaps.shape) < 0.1] = np.nan
    e, published = voi_of_readings(gaps, TRUTH, ERRORS)
    assert (e.method, published.method) == ("ustatistic_centred", "ustatistic_bdg")
    assert e.value == published.value
    moved = voi_of_readings(gaps, TRUTH, np.asarray(ERRORS) + 3.0)[0]
    assert (moved.low, moved.high) == pytest.approx((e.low, e.high), rel=1e-9)
    read = ~np.isnan(gaps)
    wrong = np.where(read, gaps != TRUTH, 0).sum(axis=(1, 2)) / read.sum(axis=(1, 2))
    assert e.value == pytest.approx(wrong[1] - wrong[0])
    assert e.low < e.value < e.high


@given(st.floats(0.1, 10), st.floats(-5, 5), st.sampled_from([None, 0.05, 0.5]))
def test_the_zero_of_the_utilities_does_not_matter_and_their_unit_is_that_of_the_result(
    unit: float, zero: float, prevalence: float | None
) -> None:
    base = np.array([[0.0, -5.0], [-1.0, 2.0]])
    one, other = (
        voi_of_readings(DECISIONS, TRUTH, u, prevalence=prevalence)[0] for u in (base, unit * base + zero)
    )
    assert (other.value, other.high) == pytest.approx((unit * one.value, unit * one.high), abs=1e-9)
    one, other = (voi_of_advice([[30, 4], [9, 17]], u) for u in (base, unit * base + zero))
    assert (other.value, other.high) == pytest.approx((unit * one.value, unit * one.high), abs=1e-9)


def test_what_cannot_be_computed_says_why() -> None:
    none = voi_of_advice(np.zeros((2, 2)), ERRORS)
    assert isnan(none.value)
    assert none.note == notes.NO_CASE
    alike = voi_of_advice([[10, 0], [0, 0]], ERRORS)
    assert alike.value == 0
    assert alike.low < 0 < alike.high or notes.NO_WIDTH in alike.note
    (absent,) = voi_of_readings(DECISIONS, np.zeros(60, bool), ERRORS, prevalence=0.2)
    assert absent.note == CLASS_ABSENT
    (unread,) = voi_of_readings(np.full((2, 3, 4), np.nan), np.ones(4, bool), ERRORS)
    assert unread.note == notes.NO_CASE


@pytest.mark.parametrize("utility", [np.eye(3), [[1, 2]], [[0, float("nan")], [0, 1]]])
def test_a_utility_is_a_matrix_of_two_classes(utility: Any) -> None:
    with pytest.raises(ValueError, match=r"two classes|a number in each cell"):
        voi_of_advice(np.zeros((2, 2)), utility)
    with pytest.raises(ValueError, match=r"two classes|a number in each cell"):
        voi_of_readings(DECISIONS, TRUTH, utility)


def test_counts_are_whole() -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        voi_of_advice([[1.5, 0], [0, 1]], ERRORS)
