"""Intervals of one proportion: published values, R, the contract, properties, edges."""

import csv
import json
from math import isnan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.english import english
from trustreport.measures.note import note
from trustreport.measures.proportion import clopper_pearson, wald, wilson

METHODS = {"wald": wald, "wilson": wilson, "clopper_pearson": clopper_pearson}
REFERENCE = Path(__file__).parent.parent / "reference" / "twobytwo.csv"


@st.composite
def counts(draw):
    n = draw(st.integers(1, 10**9) | st.integers(1, 60))
    return draw(st.integers(0, n) | st.integers(0, min(n, 3))), n


@pytest.mark.parametrize(("method", "x", "n", "low", "high"), [
    # Newcombe (1998), Stat. Med. 17, 857-872, Table I
    (wald, 81, 263, 0.2522, 0.3638), (wald, 15, 148, 0.0527, 0.1500), (wald, 0, 20, 0.0, 0.0),
    (wald, 1, 29, -0.0319, 0.1009),
    (wilson, 81, 263, 0.2553, 0.3662), (wilson, 15, 148, 0.0624, 0.1605), (wilson, 0, 20, 0.0, 0.1611),
    (wilson, 1, 29, 0.0061, 0.1718),
    (clopper_pearson, 81, 263, 0.2527, 0.3676), (clopper_pearson, 15, 148, 0.0578, 0.1617),
    (clopper_pearson, 0, 20, 0.0, 0.1684), (clopper_pearson, 1, 29, 0.0009, 0.1776),
])  # fmt: skip
def test_agrees_with_newcombe(method, x, n, low, high):
    est = method(x, n)
    assert (est.value, est.low, est.high) == pytest.approx((x / n, low, high), abs=5.1e-5)
    assert (est.n, est.level, est.method) == (n, 0.95, method.__name__)


def test_agrees_with_r():
    rows = [r for r in csv.DictReader(REFERENCE.read_text().splitlines()) if r["kind"] in METHODS]
    assert len(rows) == 36
    for row in rows:
        est = METHODS[row["kind"]](int(row["a"]), int(row["b"]), float(row["level"]))
        wanted = [float(row[name]) for name in ("value", "low", "high")]
        assert [est.value, est.low, est.high] == pytest.approx(wanted, rel=1e-9, abs=1e-12), row


def test_contract(reference):
    cases = json.loads((reference / "twobytwo/expected.json").read_text())["unpaired"]
    counts_of = {c["id"]: {"aided": ("AIE", "AIN"), "unaided": ("CE", "CN")} for c in cases}
    inputs = {c["id"]: c["input"] for c in cases}
    checked = 0
    for row in csv.DictReader((reference / "contract/counts/expected.csv").read_text().splitlines()):
        if row["id"] != "pragmatic_utility.error_rate":
            continue
        scope = json.loads(row["scope"])
        errors, right = (inputs[scope["set"]][k] for k in counts_of[scope["set"]][scope["arm"]])
        est = METHODS[row["method"]](errors, errors + right)
        wanted = pytest.approx(float(row["value"]), rel=0, abs=float(row["tol"]))
        assert getattr(est, row["field"]) == wanted, row
        checked += 1
    assert checked > 300


def test_hand_counted():
    est = clopper_pearson(1, 2)
    assert (est.low, est.high) == pytest.approx((1 - 0.975**0.5, 0.975**0.5))
    none = clopper_pearson(0, 10)
    assert (none.low, none.high) == pytest.approx((0, 1 - 0.025**0.1))
    assert wilson(0, 20).high == pytest.approx(1.959963984540054**2 / (20 + 1.959963984540054**2))


@pytest.mark.parametrize("method", [wilson, clopper_pearson])
@given(xn=counts(), level=st.floats(0.5, 0.999))
def test_interval_holds_the_estimate_and_grows_with_level(method, xn, level):
    est, wider = method(*xn, level), method(*xn, level + (1 - level) / 2)
    assert 0 <= wider.low <= est.low <= est.value <= est.high <= wider.high <= 1


@pytest.mark.parametrize("method", METHODS.values())
@given(xn=counts())
def test_counting_the_rest_mirrors(method, xn):
    x, n = xn
    est, rest = method(x, n), method(n - x, n)
    wanted = (1 - est.value, 1 - est.high, 1 - est.low)
    assert (rest.value, rest.low, rest.high) == pytest.approx(wanted, abs=1e-12)


def test_rare_events_among_very_many_keep_their_digits():
    # 1,000 of 1e9 is nearly Poisson: qchisq(.025, 2000) / 2e9 and qchisq(.975, 2002) / 2e9
    est = clopper_pearson(1000, 10**9)
    assert (est.low, est.high) == pytest.approx((9.3897302e-07, 1.06395213e-06), rel=1e-6)
    assert clopper_pearson(0, 10**12).high == pytest.approx(3.6888794541e-12, rel=1e-9)  # -log(.025) / n
    assert wilson(5, 10**12).low == pytest.approx(2.1357011e-12, rel=1e-6)


@pytest.mark.parametrize("method", METHODS.values())
def test_no_case_is_undefined(method):
    est = method(0, 0)
    assert isnan(est.value)
    assert isnan(est.low)
    assert isnan(est.high)
    assert est.note == note("no_case")
    assert str(est) == "not estimable (no_case)"


def test_wald_says_that_a_width_of_zero_means_nothing():
    assert "no width" in english(wald(0, 20).note)
    assert not wald(1, 20).note
    assert wald(5, 20).se == pytest.approx((0.25 * 0.75 / 20) ** 0.5)


@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize(("x", "n"), [(-1, 5), (6, 5), (1.5, 5), (1, 5.5), (0, -1), (float("nan"), 5)])
def test_what_is_no_count_is_refused(method, x, n):
    with pytest.raises(ValueError, match="must"):
        method(x, n)


@pytest.mark.parametrize("method", METHODS.values())
def test_level_in_percent_is_refused_with_the_mend(method):
    with pytest.raises(ValueError, match=r"Did you mean 0\.95"):
        method(1, 5, 95)
