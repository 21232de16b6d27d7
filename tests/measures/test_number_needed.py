"""Number needed: published values, the contract, properties, edges."""

import csv
import json
from math import inf, isnan, nan

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE
from trustreport.measures.two_arm import difference
from trustreport.measures.two_arm.difference import number_needed


def arr(value, low, high):
    return Estimate(value, low, high, 100, 0.9, "newcombe")


@pytest.mark.parametrize(("value", "low", "high", "benefit_from", "harm_from"), [
    # Altman (1998), BMJ 317, 1309-1312: ARR 12.8 % [3.6 %, 22.0 %] is NNT 7.8 [4.5, 27.8];
    # ARR 5.0 % [-3.9 %, 14.0 %] is NNTB 20 (NNTH 25.6 through infinity to NNTB 7.1)
    (0.128, 0.036, 0.22, None, None), (0.05, -0.039, 0.14, 7.1, 25.6),
])  # fmt: skip
def test_agrees_with_altman(value, low, high, benefit_from, harm_from):
    est = number_needed(arr(value, low, high))
    if benefit_from is None:
        assert (est.value, est.low, est.high) == pytest.approx((7.8, 4.5, 27.8), abs=0.05)
        assert (est.note, est.details) == (NO_NOTE, {})
    else:
        assert est.value == pytest.approx(20)
        assert isnan(est.low)
        assert isnan(est.high)
        assert est.details == pytest.approx({"benefit_from": benefit_from, "harm_from": harm_from}, abs=0.05)
    assert (est.n, est.level, est.method) == (100, 0.9, "newcombe")


def test_contract(reference):
    cases = json.loads((reference / "twobytwo/expected.json").read_text())["unpaired"]
    estimates, pieces = {}, {}
    for case in cases:
        errors, right, errors0, right0 = (case["input"][k] for k in ("AIE", "AIN", "CE", "CN"))
        arr_of_case = difference.newcombe(errors0, errors0 + right0, errors, errors + right)
        estimates[case["id"]] = number_needed(arr_of_case)
        pieces[case["id"]] = case["NND"]["newcombe"]
    checked = 0
    for row in csv.DictReader((reference / "contract/counts/expected.csv").read_text().splitlines()):
        if row["id"] != "pragmatic_utility.nnd":
            continue
        est = estimates[json.loads(row["scope"])["set"]]
        got = getattr(est, row["field"])
        if row["value"] == "":
            assert isnan(got), row
            assert est.note
        else:
            assert got == pytest.approx(float(row["value"]), rel=0, abs=float(row["tol"])), row
        checked += 1
    assert checked > 80
    for name, piece in pieces.items():
        if piece["kind"] == "crosses_infinity":
            assert estimates[name].details["benefit_from"] == pytest.approx(float(piece["nnd_benefit"][0]))
            assert estimates[name].details["harm_from"] == pytest.approx(float(piece["nnd_harm"][0]))
        else:
            assert estimates[name].details == {}


@given(st.integers(1, 500), st.integers(1, 500), st.data())
def test_holds_the_estimate_and_mirrors(n1, n2, data):
    x1, x2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    assume(x1 * n2 != x2 * n1)
    est = number_needed(difference.newcombe(x1, n1, x2, n2))
    swapped = number_needed(difference.newcombe(x2, n2, x1, n1))
    assert swapped.value == pytest.approx(-est.value)
    if est.details:
        assert min(est.details.values()) >= 1
        assert swapped.details["benefit_from"] == pytest.approx(est.details["harm_from"])
        assert est.details["benefit_from" if est.value > 0 else "harm_from"] <= abs(est.value) * (1 + 1e-12)
    else:
        assert est.low <= est.value <= est.high
        assert est.low * est.high > 0
        assert (swapped.low, swapped.high) == pytest.approx((-est.high, -est.low))


@pytest.mark.parametrize(("low", "high", "pieces"), [
    (-0.1, 0.2, {"benefit_from": 5.0, "harm_from": 10.0}), (0.0, 0.0, {}), (nan, nan, {}),
])  # fmt: skip
def test_equal_rates_have_no_number(low, high, pieces):
    est = number_needed(arr(0.0, low, high))
    assert isnan(est.value)
    assert isnan(est.low)
    assert isnan(est.high)
    assert est.note == notes.DIFFERENCE_ZERO
    assert est.details == pieces


def test_a_limit_of_zero_leaves_one_side_without_bound():
    benefit, harm = number_needed(arr(0.1, 0.0, 0.2)), number_needed(arr(-0.1, -0.2, 0.0))
    assert (benefit.value, benefit.low, benefit.high, benefit.note) == (10, 5, inf, notes.LIMIT_ZERO)
    assert (harm.value, harm.low, harm.high, harm.note) == (-10, -inf, -5, notes.LIMIT_ZERO)


def test_undefined_differences_keep_their_reason():
    est = number_needed(difference.newcombe(0, 0, 3, 10))
    assert isnan(est.value)
    assert est.note == notes.NO_CASE_IN_AN_ARM
    assert number_needed(arr(nan, nan, nan)).note == notes.DIFFERENCE_UNDEFINED
    unbounded = number_needed(Estimate(0.1, nan, nan, 10, note=notes.NO_PAIR))
    assert (unbounded.value, unbounded.note) == (10, notes.NO_PAIR)
    assert isnan(unbounded.low)
