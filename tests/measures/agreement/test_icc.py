"""Intraclass correlations against R psych, the published table, and what limits them."""

import csv
import json
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trustreport.measures.agreement import labels, notes
from trustreport.measures.agreement.coefficients import Form, icc
from trustreport.measures.agreement.kappa import cohen_kappa, light_kappa
from trustreport.measures.notes import OFTEN_ABOVE

REFERENCE = Path(__file__).resolve().parents[2] / "reference"
KAPPA = json.loads((REFERENCE / "weighted_kappa.json").read_text())
ANXIETY = np.array(KAPPA["anxiety"], float).T
TARGETS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)
DRAWN = np.fromfunction(lambda i, j: (i + 1) * 7 % 11 + (i + 1) * (j + 1) % 3 + (j + 1) % 2, (30, 5))
TABLES = {"targets": TARGETS, "anxiety": ANXIETY, "drawn": DRAWN}
FORMS: tuple[Form, ...] = ("1", "A,1", "C,1")


def by_psych() -> list[dict[str, str]]:
    with (REFERENCE / "icc.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", by_psych(), ids=lambda row: f"{row['table']} {row['form']}")
def test_values_and_limits_are_those_of_psych(row: dict[str, str]) -> None:
    e = icc(TABLES[row["table"]], form=row["form"])
    known = [float(row[key]) for key in ("value", "low", "high")]
    assert [e.value, e.low, e.high] == pytest.approx(known, abs=1e-9)


def test_shrout_and_fleiss_1979_table_4() -> None:
    assert [round(icc(TARGETS, form=form).value, 2) for form in FORMS] == [0.17, 0.29, 0.71]


def test_anxiety_as_irr_prints_it() -> None:
    e = icc(ANXIETY)  # icc(anxiety, model = "twoway", type = "agreement") of irr 0.84.1
    assert (round(e.value, 3), round(e.low, 3), round(e.high, 3)) == (0.198, -0.039, 0.494)


@pytest.mark.parametrize("name", ["linear", "quadratic"])
def test_weighted_kappas_are_those_of_scikit_learn(name: str) -> None:
    codes, way = ANXIETY.astype(int) - 1, getattr(labels, name)(6)
    for pair, value in KAPPA["kappa"][name].items():
        g, h = map(int, pair.split())
        found = cohen_kappa(codes[:, g], codes[:, h], 6, weights=way)
        assert found.value == pytest.approx(value, abs=1e-12)
    mean = np.mean(list(KAPPA["kappa"][name].values()))
    assert light_kappa(codes, 6, weights=way).value == pytest.approx(mean, abs=1e-12)


def test_quadratic_kappa_is_nearly_the_agreement_of_two_raters() -> None:
    # Fleiss and Cohen (1973): with divisor n both are one, so that they differ by less than 1 / n
    pair = np.repeat(ANXIETY[:, :2], 40, axis=0)
    codes = pair.astype(int) - 1
    kappa = cohen_kappa(codes[:, 0], codes[:, 1], 6, weights=labels.quadratic(6))
    assert icc(pair).value == pytest.approx(kappa.value, abs=1 / len(pair))


def test_a_rater_who_always_gives_more_lowers_agreement_alone() -> None:
    values = np.arange(1.0, 11)[:, None] + np.array([0, 0, 3.0])
    assert icc(values, form="C,1").value == 1
    # MSR 27.5, MSC 30, MSE 0: 27.5 / (27.5 + 3 * 30 / 10)
    assert icc(values).value == pytest.approx(27.5 / 36.5)


def test_cases_that_a_rater_did_not_label_are_left_out_and_said() -> None:
    gaps = np.vstack([ANXIETY, [[1, np.nan, 2], [np.nan, np.nan, 4]]])
    e, whole = icc(gaps), icc(ANXIETY)
    assert (e.value, e.low, e.n) == (whole.value, whole.low, 20)
    assert e.note == notes.INCOMPLETE_LEFT_OUT + OFTEN_ABOVE
    assert e.details == {"raters": 3.0, "left_out": 2.0}
    nobody = np.column_stack([gaps, np.full(len(gaps), np.nan)])  # a rater without any label is none
    assert icc(nobody) == e


@pytest.mark.parametrize(
    ("values", "note"),
    [
        (np.empty((0, 3)), notes.NO_PAIR),
        (np.ones((5, 1)), notes.NO_PAIR),
        (np.array([[1.0, 2], [3, np.nan]]), notes.NO_WHOLE_CASES),
        (np.full((5, 3), 2.0), notes.ONE_CATEGORY),
    ],
)
def test_undefined_with_its_reason(values: np.ndarray, note: str) -> None:
    e = icc(values)
    assert isnan(e.value)
    assert e.note == note


def test_labels_that_all_agree_say_nothing_of_precision() -> None:
    e = icc(np.repeat(np.arange(4.0)[:, None], 3, axis=1))
    assert e.value == 1
    assert isnan(e.low)
    assert e.note == notes.NO_VARIATION


@given(arrays(int, st.tuples(st.integers(2, 7), st.integers(2, 4)), elements=st.integers(1, 5)))
def test_limits_enclose_the_value_or_are_not_given(table: np.ndarray) -> None:
    for form in FORMS:
        e = icc(table.astype(float), form=form)
        if isnan(e.low):
            assert e.note
        else:
            assert e.low <= e.value <= e.high <= 1


def test_cases_that_do_not_differ_have_no_limits() -> None:
    """Rows of one mean: the limits would have no width, at the least value that four raters allow."""
    table = np.array([[1, 2, 3, 4], [4, 3, 2, 1], [2, 1, 4, 3.0]])
    e = icc(table, form="1")
    assert e.value == pytest.approx(-1 / 3)
    assert isnan(e.low)
    assert e.note


def test_units_and_order_do_not_matter() -> None:
    e = icc(ANXIETY)
    for other in (10 * ANXIETY + 3, ANXIETY[::-1], ANXIETY[:, ::-1], ANXIETY + 1e9):
        assert icc(other).value == pytest.approx(e.value, abs=1e-6)
