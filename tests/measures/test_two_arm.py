"""Difference, ratio and odds ratio of two groups: published values, R, the contract, properties, edges."""

import csv
import json
from math import inf, isnan, nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from trustreport.measures import notes
from trustreport.measures.note import NO_NOTE
from trustreport.measures.two_arm import difference, ratios

DIFFERENCES = [difference.wald, difference.newcombe, difference.miettinen_nurminen]
RATIOS = [ratios.katz, ratios.koopman]
ODDS_RATIOS = [ratios.woolf, ratios.exact_conditional, ratios.baptista_pike]
ALL = DIFFERENCES + RATIOS + ODDS_RATIOS
BY_NAME = {
    "pragmatic_utility.arr": {f.__name__: f for f in DIFFERENCES},
    "pragmatic_utility.rr": {f.__name__: f for f in RATIOS},
    "pragmatic_utility.odds_ratio": {f.__name__: f for f in ODDS_RATIOS},
}
REFERENCE = Path(__file__).parent.parent / "reference" / "twobytwo.csv"


@st.composite
def tables(draw, most=80):
    n1, n2 = draw(st.integers(1, most)), draw(st.integers(1, most))
    return draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2


@pytest.fixture(scope="module")
def cases(reference):
    """Reference tables by id, each with its counts as (aided errors, cases, unaided errors, cases)."""
    found = json.loads((reference / "twobytwo/expected.json").read_text())["unpaired"]
    for case in found:
        errors, right, errors0, right0 = (case["input"][k] for k in ("AIE", "AIN", "CE", "CN"))
        case["counts"] = (errors, errors + right, errors0, errors0 + right0)
    return {case["id"]: case for case in found}


@pytest.mark.parametrize(("table", "by_wald", "by_newcombe", "by_mn"), [
    # Newcombe (1998), Stat. Med. 17, 873-890, Table II, methods 1, 10 and 4
    ((56, 70, 48, 80), (0.0575, 0.3425), (0.0524, 0.3339), (0.0528, 0.3382)),
    ((9, 10, 3, 10), (0.2605, 0.9395), (0.1705, 0.8090), (0.1700, 0.8406)),
    ((6, 7, 2, 7), (0.1481, 0.9947), (0.0582, 0.8062), (0.0342, 0.8534)),
    ((5, 56, 0, 29), (0.0146, 0.1640), (-0.0381, 0.1926), (-0.0326, 0.1933)),
    ((0, 10, 0, 20), (0.0, 0.0), (-0.1611, 0.2775), (-0.1658, 0.2844)),
    ((0, 10, 0, 10), (0.0, 0.0), (-0.2775, 0.2775), (-0.2879, 0.2879)),
    ((10, 10, 0, 20), (1.0, 1.0), (0.6791, 1.0), (0.7156, 1.0)),
    ((10, 10, 0, 10), (1.0, 1.0), (0.6075, 1.0), (0.6636, 1.0)),
])  # fmt: skip
def test_differences_agree_with_newcombe(table, by_wald, by_newcombe, by_mn):
    for method, limits in zip(DIFFERENCES, (by_wald, by_newcombe, by_mn)):
        est = method(*table)
        assert (est.low, est.high) == pytest.approx(limits, abs=5.1e-5), method.__name__


@pytest.mark.parametrize(("method", "table", "value", "low", "high", "digits"), [
    # Koopman (1984), Biometrics 40, 513-517
    (ratios.koopman, (36, 40, 16, 80), 4.5, 2.94, 7.15, 2),
    # Gart and Nam (1988), Biometrics 44, 323-338
    (ratios.koopman, (8, 15, 4, 15), 2.0, 0.815, 5.336, 3),
    (ratios.koopman, (6, 10, 6, 20), 2.0, 0.844, 4.594, 3),
    # Fagerland, Lydersen and Laake (2015), Stat. Methods Med. Res. 24, 224-254: trial of Perondi et al.,
    # gene study of Ritland et al.; to four decimals in their R package contingencytables (whose exact odds
    # ratio limits are left out: for 9/13 v 4/14 they are not those of R's fisher.test, .847 to 40.4)
    (difference.wald, (7, 34, 1, 34), 0.1765, 0.0292, 0.3238, 4),
    (difference.newcombe, (7, 34, 1, 34), 0.1765, 0.0189, 0.3404, 4),
    (difference.miettinen_nurminen, (0, 16, 15, 72), -0.2083, -0.3164, -0.0056, 4),
    (ratios.katz, (7, 34, 1, 34), 7.0, 0.9096, 53.8695, 4),
    (ratios.koopman, (7, 34, 1, 34), 7.0, 1.2209, 42.5757, 4),
    # Fay (2010), R Journal 2 (1), 53-58, fisher.test and exact2x2 with tsmethod "minlike"
    (ratios.exact_conditional, (6, 18, 12, 17), 0.2083, 0.0389, 1.0565, 4),
    (ratios.baptista_pike, (6, 18, 12, 17), 0.208, 0.0435, 0.917, 3),
    # Campagner, Angius and Cabitza (2023), HEALTHINF, Table 1: OR .947 [.80, 1.12]
    (ratios.woolf, (352, 1548, 367, 1548), 0.947, 0.802, 1.119, 3),
])  # fmt: skip
def test_published(method, table, value, low, high, digits):
    est = method(*table)
    assert (est.value, est.low, est.high) == pytest.approx((value, low, high), abs=0.51 * 10**-digits)
    assert (est.n, est.method, est.note) == (table[1] + table[3], method.__name__, NO_NOTE)


def test_exact_conditional_agrees_with_r():
    fisher = exact = 0
    for row in csv.DictReader(REFERENCE.read_text().splitlines()):
        if row["kind"] not in ("fisher.test", "exact_conditional"):
            continue
        table = [int(row[name]) for name in "abcd"]
        est = ratios.exact_conditional(*table, float(row["level"]))
        got = (est.details["conditional_mle"], est.low, est.high)
        wanted = tuple(float(row[name]) for name in ("value", "low", "high"))
        close = {"rel": 1e-9} if row["kind"] == "exact_conditional" else {"rel": 5e-3, "abs": 1e-3}
        assert got == pytest.approx(wanted, **close), row
        exact, fisher = exact + (row["kind"] == "exact_conditional"), fisher + (row["kind"] == "fisher.test")
    assert (exact, fisher) == (18, 18)


def test_contract(reference, cases):
    checked = 0
    for row in csv.DictReader((reference / "contract/counts/expected.csv").read_text().splitlines()):
        scope = json.loads(row["scope"])
        if row["id"] not in BY_NAME or scope["analysis"] != "two_sample":
            continue
        x1, n1, x2, n2 = cases[scope["set"]]["counts"]
        table = (x2, n2, x1, n1) if row["id"].endswith("arr") else (x1, n1, x2, n2)
        est = BY_NAME[row["id"]][row["method"]](*table)
        wanted = pytest.approx(float(row["value"]), rel=0, abs=float(row["tol"]))
        assert getattr(est, row["field"]) == wanted, row
        checked += 1
    assert checked > 400


def test_agrees_with_the_reference_tables(cases):
    for name, case in cases.items():
        x1, n1, x2, n2 = case["counts"]
        exact = (case["OR"].get("scipy_conditional") or {}).get("exact")
        close = {"rel": 1e-6, "abs": 1e-13} if max(n1, n2) >= 10**9 else {"rel": 1e-9, "abs": 1e-13}
        for method, wanted, table in (
            (difference.wald, case["ARR"]["wald"], (x2, n2, x1, n1)),
            (difference.newcombe, case["ARR"]["newcombe"], (x2, n2, x1, n1)),
            (difference.miettinen_nurminen, case["ARR"]["miettinen_nurminen"], (x2, n2, x1, n1)),
            (ratios.katz, case["RR"]["katz_log"], (x1, n1, x2, n2)),
            (ratios.koopman, case["RR"]["koopman"], (x1, n1, x2, n2)),
            (ratios.woolf, case["OR"]["woolf"], (x1, n1, x2, n2)),
            (ratios.exact_conditional, exact, (x1, n1, x2, n2)),
            (ratios.baptista_pike, case["OR"].get("baptista_pike_R_fisher_inversion"), (x1, n1, x2, n2)),
        ):
            est = method(*table)
            if wanted is not None:
                wanted = pytest.approx([float(limit) for limit in wanted], **close)
                assert (est.low, est.high) == wanted, (name, method.__name__)


def exact_p(x1, n1, x2, n2, odds):
    """Two-sided Fisher p at this odds ratio, straight from its definition."""
    m = x1 + x2
    t = np.arange(max(0, m - n2), min(n1, m) + 1)
    log_p = t * np.log(odds) - gammaln(t + 1) - gammaln(n1 - t + 1)
    log_p -= gammaln(m - t + 1) + gammaln(n2 - m + t + 1)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    return p[p <= p[t == x1] * (1 + 1e-7)].sum()


@given(tables(30), st.floats(0.5, 0.99))
@settings(max_examples=60)
def test_baptista_pike_is_where_the_two_sided_test_accepts(table, level):
    est = ratios.baptista_pike(*table, level)
    grid = np.exp(np.linspace(-12, 12, 1501))
    accepted = grid[[exact_p(*table, odds) >= 1 - level for odds in grid]]
    assert ((est.low * (1 - 1e-9) <= accepted) & (accepted <= est.high * (1 + 1e-9))).all()
    for limit, inwards in ((est.low, 1 + 1e-9), (est.high, 1 - 1e-9)):
        if 0 < limit < inf:
            assert exact_p(*table, limit * inwards) >= 1 - level - 1e-6
            assert exact_p(*table, limit / inwards**2) < 1 - level + 1e-6


@pytest.mark.parametrize("method", [f for f in ALL if f not in (difference.wald,)])
@given(table=tables() | tables(10**9), level=st.floats(0.5, 0.995))
@settings(max_examples=40)
def test_interval_holds_the_estimate_and_grows_with_level(method, table, level):
    if method in (ratios.exact_conditional, ratios.baptista_pike):
        assume(max(table) <= 80)
        level = max(level, 0.9)  # two one-sided tests: at low levels one tail alone can exclude the estimate
    est, wider = method(*table, level), method(*table, level + (1 - level) / 2)
    if not isnan(est.low):
        assert wider.low <= est.low + 1e-9 * abs(est.low)
        assert wider.high >= est.high - 1e-9 * min(abs(est.high), 1e300)
    if not isnan(est.value) and not isnan(est.low):
        slack = 1e-12 if est.value == inf else 1e-12 * abs(est.value) + 1e-15
        assert est.low - slack <= est.value <= est.high + slack


@pytest.mark.parametrize("method", ALL)
@given(table=tables())
def test_swapping_the_groups_mirrors(method, table):
    x1, n1, x2, n2 = table
    est, swapped = method(x1, n1, x2, n2), method(x2, n2, x1, n1)
    if method in DIFFERENCES:
        wanted = (-est.value, -est.high, -est.low)
    else:
        wanted = tuple(1 / v if v else inf for v in (est.value, est.high, est.low))
    assert (swapped.value, swapped.low, swapped.high) == pytest.approx(
        wanted, rel=1e-9, abs=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("method", DIFFERENCES + ODDS_RATIOS)
@given(table=tables())
def test_counting_right_decisions_mirrors(method, table):
    x1, n1, x2, n2 = table
    est, rest = method(x1, n1, x2, n2), method(n1 - x1, n1, n2 - x2, n2)
    if method in DIFFERENCES:
        wanted = (-est.value, -est.high, -est.low)
    else:
        wanted = tuple(1 / v if v else inf for v in (est.value, est.high, est.low))
    assert (rest.value, rest.low, rest.high) == pytest.approx(wanted, rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(("method", "value", "low", "high", "note"), [
    (difference.wald, -0.12, -0.2101, -0.0299, NO_NOTE),
    (difference.newcombe, -0.12, -0.2380, -0.0243, NO_NOTE),
    (difference.miettinen_nurminen, -0.12, -0.2388, -0.0438, NO_NOTE),
    (ratios.katz, 0.0, nan, nan, notes.ZERO_CELL),
    (ratios.koopman, 0.0, 0.0, 0.6108, NO_NOTE),
    (ratios.woolf, 0.0, nan, nan, notes.ZERO_CELL),
    (ratios.exact_conditional, 0.0, 0.0, 0.8016, NO_NOTE),
    (ratios.baptista_pike, 0.0, 0.0, 0.6843, NO_NOTE),
])  # fmt: skip
def test_no_error_in_the_compared_arm(method, value, low, high, note):
    est = method(0, 50, 6, 50)
    assert (est.value, est.low, est.high) == pytest.approx((value, low, high), abs=5.1e-5, nan_ok=True)
    assert est.note == note


@pytest.mark.parametrize(("method", "low", "note"), [
    (ratios.katz, nan, notes.RATIO_INFINITE_NO_INTERVAL),
    (ratios.koopman, 1.3596, notes.RATIO_INFINITE),
    (ratios.woolf, nan, notes.ODDS_INFINITE_NO_INTERVAL),
    (ratios.exact_conditional, 0.9542, notes.ODDS_INFINITE),
    (ratios.baptista_pike, 1.0, notes.ODDS_INFINITE),
])  # fmt: skip
def test_no_error_in_the_baseline_arm(method, low, note):
    est = method(5, 50, 0, 50)
    assert est.value == inf
    assert (est.low, est.high) == pytest.approx((low, nan if isnan(low) else inf), abs=5.1e-5, nan_ok=True)
    assert est.note == note


@pytest.mark.parametrize(("table", "note"), [
    ((0, 40, 0, 40), notes.NO_ERROR_IN_EITHER_ARM), ((25, 25, 25, 25), notes.ONLY_ERRORS_IN_BOTH_ARMS),
])  # fmt: skip
def test_nothing_and_everything_wrong(table, note):
    woolf, exact, baptista_pike = (method(*table) for method in ODDS_RATIOS)
    assert isnan(woolf.value)
    assert isnan(woolf.low)
    assert woolf.note == note
    for est in (exact, baptista_pike):
        assert isnan(est.value)
        assert (est.low, est.high, est.note) == (0, inf, note)
    katz, koopman = ratios.katz(*table), ratios.koopman(*table)
    if table[0]:
        assert (katz.value, katz.low, katz.high, katz.note) == (1, 1, 1, notes.NO_WIDTH)
        assert (koopman.value, koopman.low) == (1, pytest.approx(0.86680774906))
    else:
        assert isnan(katz.value)
        assert isnan(koopman.value)
        assert (koopman.low, koopman.high, koopman.note) == (0, inf, note)
    assert difference.wald(*table).note == notes.NO_WIDTH
    assert difference.miettinen_nurminen(*table).low < 0 < difference.miettinen_nurminen(*table).high


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("table", [(0, 0, 3, 10), (3, 10, 0, 0), (0, 0, 0, 0)])
def test_an_empty_arm_is_undefined(method, table):
    est = method(*table)
    assert isnan(est.value)
    assert isnan(est.low)
    assert isnan(est.high)
    assert (est.note, est.n) == (notes.NO_CASE_IN_AN_ARM, table[1] + table[3])


@pytest.mark.parametrize("method", ALL)
def test_what_is_no_count_is_refused(method):
    for table in ((-1, 5, 1, 5), (1, 5, 6, 5), (1.5, 5, 1, 5), (1, 5, 1, 5.2)):
        with pytest.raises(ValueError, match="must"):
            method(*table)
    with pytest.raises(ValueError, match="level"):
        method(1, 5, 1, 5, 95)


def test_whole_numbers_of_numpy_do_not_overflow():
    table = [np.int64(v) for v in (10**11, 10**12, 10**11 + 10**6, 10**12)]
    assert ratios.katz(*table).value == pytest.approx(0.99999000009999)
    assert difference.newcombe(*table).value == pytest.approx(-1e-6)
    assert ratios.woolf(*table).low == pytest.approx(0.9999796498)


def test_very_large_counts():
    rare, common = (3, 10**12, 10, 10**12), (10**11, 10**12, 10**11 + 10**6, 10**12)
    # Poisson limit: given 13 errors the ratio is p / (1 - p) of 3 in 13, Clopper-Pearson [.0503811, .5381315]
    est = ratios.exact_conditional(*rare)
    assert (est.low, est.high) == pytest.approx((0.0530540, 1.1651186), abs=1e-6)
    for method in (ratios.exact_conditional, ratios.baptista_pike):
        est = method(*common)
        assert est.value == pytest.approx(0.99998888899)
        assert isnan(est.low)
        assert est.note == notes.TOO_MANY_TABLES
    # with 1e9 cases a side the exact limits are those of Woolf to the sixth decimal
    billion = (123_456_789, 10**9, 123_556_789, 10**9)
    woolf, exact = ratios.woolf(*billion), ratios.exact_conditional(*billion)
    assert (exact.low, exact.high) == pytest.approx((woolf.low, woolf.high), abs=1e-7)
    assert ratios.koopman(*rare).low == pytest.approx(0.0890818, abs=1e-6)  # score limit of 3 in 13, odds
    assert difference.miettinen_nurminen(0, 10**12, 0, 10**12).high == pytest.approx(3.8414588e-12)
