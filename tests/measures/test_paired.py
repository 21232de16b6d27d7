"""Paired tables: published values, R, the contract, hand-made delta method, properties, edges."""

import csv
import json
from dataclasses import astuple
from math import comb, inf, isnan, log, nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures import notes
from trustreport.measures.note import NO_NOTE
from trustreport.measures.paired.difference import PairedTable, newcombe_paired, tango, wald_paired
from trustreport.measures.paired.ratios import (
    matched_exact,
    matched_wald,
    mcnemar_exact,
    mcnemar_midp,
    or_delta,
    rr_delta,
)

DIFFERENCES = [wald_paired, tango, newcombe_paired]
RATIOS = [rr_delta, or_delta, matched_wald, matched_exact]
TESTS = [mcnemar_exact, mcnemar_midp]
ALL = DIFFERENCES + RATIOS + TESTS
REFERENCE = Path(__file__).parent.parent / "reference" / "twobytwo.csv"

cells = st.integers(0, 60) | st.integers(0, 3) | st.integers(0, 10**9)
tables = st.builds(PairedTable, cells, cells, cells, cells)

# Orientation: (both right, corrected, introduced, both wrong)
BENTUR = PairedTable(12, 7, 1, 1)  # Fagerland, Lydersen and Laake (2014), Stat. Med. 33, 2850-2875
CAVO = PairedTable(80, 16, 6, 59)  # the same (2017), Statistical Analysis of Contingency Tables, chapter 8
EZRA = PairedTable(0, 2, 25, 0)  # same book; the matched ratio does not use the concordant pairs


@pytest.mark.parametrize(("method", "table", "level", "low", "high", "digits"), [
    (wald_paired, BENTUR, 0.95, 0.052, 0.520, 3),
    (tango, BENTUR, 0.95, 0.026, 0.517, 3),
    (newcombe_paired, BENTUR, 0.95, 0.026, 0.507, 3),
    (matched_exact, BENTUR, 0.95, 0.003, 1.112, 3),
    (wald_paired, CAVO, 0.95, 0.0058, 0.1184, 4),
    (tango, CAVO, 0.95, 0.0054, 0.1240, 4),
    (newcombe_paired, CAVO, 0.95, 0.0046, 0.1186, 4),
    (rr_delta, CAVO, 0.95, 0.7597, 0.9886, 4),
    (matched_wald, EZRA, 0.95, 2.9608, 52.7731, 4),
    (matched_exact, EZRA, 0.95, 3.1169, 108.8892, 4),
    # Tango (1998), Stat. Med. 17, 891-908, both examples
    (tango, PairedTable(43, 0, 1, 0), 0.90, -0.096, 0.037, 3),
    (tango, PairedTable(4, 9, 3, 16), 0.95, -0.027, 0.390, 3),
    # Newcombe (1998), Stat. Med. 17, 2635-2650, method 10
    (newcombe_paired, PairedTable(20, 12, 2, 16), 0.95, 0.0562, 0.3292, 4),
    # Agresti and Min (2005), Stat. Med. 24, 729-740
    (tango, PairedTable(53, 16, 8, 9), 0.95, -0.020, 0.207, 3),
])  # fmt: skip
def test_published(method, table, level, low, high, digits):
    est = method(table, level)
    assert (est.low, est.high) == pytest.approx((low, high), abs=0.51 * 10**-digits)
    assert (est.level, est.method) == (level, method.__name__)


@pytest.mark.parametrize(("table", "exact", "midp"), [
    (BENTUR, 0.0703, 0.0391),  # Fagerland, Lydersen and Laake (2013), BMC Med. Res. Methodol. 13, 91
    (CAVO, 0.0525, 0.0347),
])  # fmt: skip
def test_published_p(table, exact, midp):
    assert (mcnemar_exact(table).p, mcnemar_midp(table).p) == pytest.approx((exact, midp), abs=5.1e-5)


def test_midp_limits_agree_with_published():
    # odds of 25 of 27: transformed mid-p interval of Fagerland et al. (2017), 3.4681 to 78.2972
    est = mcnemar_midp(PairedTable(0, 25, 2, 0))
    odds = (est.low / (1 - est.low), est.high / (1 - est.high))
    assert odds == pytest.approx((3.4681, 78.2972), abs=5.1e-5)
    # Newcombe (1998), Stat. Med. 17, 857-872, Table I, method 6
    for x, n, low, high in ((15, 148, 0.0601, 0.1581), (0, 20, 0.0, 0.1391), (1, 29, 0.0017, 0.1585)):
        est = mcnemar_midp(PairedTable(0, x, n - x, 0))
        assert (est.low, est.high) == pytest.approx((low, high), abs=5.1e-5)


def test_agrees_with_r():
    methods = {f.__name__: f for f in (mcnemar_exact, mcnemar_midp, matched_exact)}
    checked = 0
    for row in csv.DictReader(REFERENCE.read_text().splitlines()):
        if row["kind"] not in methods:
            continue
        est = methods[row["kind"]](PairedTable(7, int(row["a"]), int(row["b"]), 5), float(row["level"]))
        for name in ("value", "low", "high", "p"):
            if row[name] not in ("NA", "NaN"):
                assert getattr(est, name) == pytest.approx(float(row[name]), rel=1e-9, abs=1e-14), row
                checked += 1
    assert checked == 2 * 8 * (4 + 3 + 1)


def test_contract(reference):
    cases = json.loads((reference / "twobytwo/expected.json").read_text())["paired"]
    table = {case["id"]: PairedTable(**case["input"]) for case in cases}
    methods = {f.__name__: f for f in ALL}
    checked = 0
    for row in csv.DictReader((reference / "contract/counts/expected.csv").read_text().splitlines()):
        scope = json.loads(row["scope"])
        if scope["analysis"] != "paired":
            continue
        est = methods[row["method"]](table[scope["set"]])
        wanted = pytest.approx(float(row["value"]), rel=0, abs=float(row["tol"]))
        assert getattr(est, row["field"]) == wanted, row
        checked += 1
    assert checked > 100


def numerical_delta(table, function):
    """Standard error of function(shares of the four cells): central differences, multinomial covariance."""
    counts = np.array(astuple(table))
    n = counts.sum()
    p = counts / n
    step = 1e-6
    gradient = np.array([(function(p + step * e) - function(p - step * e)) / (2 * step) for e in np.eye(4)])
    return (gradient @ (np.diag(p) - np.outer(p, p)) @ gradient / n) ** 0.5


@pytest.mark.parametrize("table", [BENTUR, CAVO, PairedTable(30, 12, 4, 9), PairedTable(1050, 131, 146, 221)])
def test_delta_methods_agree_with_numerical_derivatives(table):
    def log_rr(p):
        return np.log((p[2] + p[3]) / (p[1] + p[3]))

    def log_or(p):
        return log_rr(p) - np.log((p[0] + p[1]) / (p[0] + p[2]))

    assert rr_delta(table).details["log_se"] == pytest.approx(numerical_delta(table, log_rr), rel=1e-6)
    assert or_delta(table).details["log_se"] == pytest.approx(numerical_delta(table, log_or), rel=1e-6)


def test_delta_methods_agree_with_the_bootstrap():
    # 200,000 multinomial samples: the spread of log OR and log RR is the delta-method one to some per cent
    table = PairedTable(1050, 131, 146, 221)
    rng = np.random.default_rng(20240506)
    d = rng.multinomial(1548, np.array([1050, 131, 146, 221]) / 1548, size=200_000).astype(float).T
    aided, unaided = d[2] + d[3], d[1] + d[3]
    assert rr_delta(table).details["log_se"] == pytest.approx(np.log(aided / unaided).std(), rel=0.01)
    spread = np.log(aided / (1548 - aided) / (unaided / (1548 - unaided))).std()
    assert or_delta(table).details["log_se"] == pytest.approx(spread, rel=0.01)


def test_hand_counted():
    # 4 pairs, one of each kind: error rates 1/2, covariance 1/4 - 1/4 = 0, var(log OR) = (4 + 4) / 4
    est = or_delta(PairedTable(1, 1, 1, 1))
    assert (est.value, est.details["log_se"]) == pytest.approx((1, 2**0.5))
    assert rr_delta(PairedTable(1, 1, 1, 1)).details["log_se"] == pytest.approx(0.5**0.5)  # (1 + 1) / (2 * 2)
    assert wald_paired(PairedTable(1, 1, 1, 1)).se == pytest.approx(2**0.5 / 4)
    assert matched_wald(PairedTable(0, 12, 4, 0)).details["log_se"] == pytest.approx((1 / 3) ** 0.5)
    assert mcnemar_exact(PairedTable(0, 6, 0, 0)).p == 2 / 64
    assert mcnemar_midp(PairedTable(0, 6, 0, 0)).p == pytest.approx(1 / 64)
    assert mcnemar_midp(PairedTable(0, 2, 2, 0)).p == pytest.approx(1 - 6 / 16 / 2)


@pytest.mark.parametrize(("each", "p"), [
    (1, 1 - 2 / 4 / 2),
    (5, 1 - 252 / 1024 / 2),
    (10, 1 - 184756 / 2**20 / 2),
])  # fmt: skip
def test_midp_of_as_many_corrected_as_introduced(each, p):
    """Half of the probability of the outcome itself, and all of the rest: .75, .877, .912."""
    assert mcnemar_midp(PairedTable(3, each, each, 4)).p == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 9, 10, 25])
def test_midp_is_one_half_in_the_mean_without_an_effect(n):
    mean = sum(comb(n, b) * mcnemar_midp(PairedTable(0, b, n - b, 0)).p for b in range(n + 1)) / 2**n
    assert mean == pytest.approx(0.5, abs=1e-12)


def test_table_counts():
    table = PairedTable(30, 12, 4, 9)
    assert (table.n, table.discordant, table.errors_aided, table.errors_unaided) == (55, 16, 13, 21)


@pytest.mark.parametrize("method", ALL)
@given(table=tables, level=st.floats(0.5, 0.999))
def test_interval_holds_the_estimate_and_grows_with_level(method, table, level):
    est, wider = method(table, level), method(table, level + (1 - level) / 2)
    if isnan(est.value) or isnan(est.low):
        assert est.note
        return
    slack = 1e-12 if est.value == inf else 1e-12 * (1 + abs(est.value))
    assert est.low - slack <= est.value <= est.high + slack
    assert wider.low <= est.low + slack
    assert wider.high >= est.high - slack


@pytest.mark.parametrize("method", ALL)
@given(table=tables)
def test_swapping_the_arms_mirrors(method, table):
    both_right, corrected, introduced, both_wrong = astuple(table)
    est, swapped = method(table), method(PairedTable(both_right, introduced, corrected, both_wrong))
    if method in DIFFERENCES:
        wanted = (-est.value, -est.high, -est.low)
    elif method in TESTS:
        wanted = (1 - est.value, 1 - est.high, 1 - est.low)
        assert swapped.p == pytest.approx(est.p, rel=1e-9)
    else:
        wanted = tuple(1 / v if v else inf for v in (est.value, est.high, est.low))
    wanted = pytest.approx(wanted, rel=1e-7, abs=1e-9, nan_ok=True)
    assert (swapped.value, swapped.low, swapped.high) == wanted


@given(tables)
def test_tests_and_intervals_agree(table):
    exact, matched, midp = mcnemar_exact(table), matched_exact(table), mcnemar_midp(table)
    assert midp.p <= exact.p
    if table.discordant and abs(exact.p - 0.05) > 1e-6:
        assert (exact.p < 0.05) == (not matched.low <= 1 <= matched.high)
        assert (exact.p < 0.05) == (not exact.low <= 0.5 <= exact.high)


@pytest.mark.parametrize("cells", [(40, 0, 0, 10), (40, 0, 0, 0), (0, 0, 0, 10)])
def test_no_discordant_pair(cells):
    table = PairedTable(*cells)
    wald, by_tango = wald_paired(table), tango(table)
    assert (wald.value, wald.low, wald.high, wald.note) == (0, 0, 0, notes.NO_WIDTH)
    half = 1.959963984540054**2 / (table.n + 1.959963984540054**2)
    assert (by_tango.low, by_tango.high) == pytest.approx((-half, half))
    for method in (matched_wald, matched_exact):
        assert isnan(method(table).value)
        assert method(table).note == notes.NO_DISCORDANT_PAIR
    assert (matched_exact(table).low, matched_exact(table).high) == (0, inf)
    for method in TESTS:
        assert (method(table).p, method(table).n, method(table).note) == (1, 0, notes.NO_DISCORDANT_PAIR)
        assert isnan(method(table).value)


@pytest.mark.parametrize(("method", "table", "value", "note"), [
    (rr_delta, (40, 0, 0, 10), 1.0, notes.NO_WIDTH),
    (or_delta, (40, 0, 0, 10), 1.0, notes.NO_WIDTH),
    (rr_delta, (40, 0, 0, 0), nan, notes.NO_ERROR_IN_EITHER_ARM),
    (or_delta, (40, 0, 0, 0), nan, notes.NO_ERROR_IN_EITHER_ARM),
    (or_delta, (0, 0, 0, 9), nan, notes.ONLY_ERRORS_IN_BOTH_ARMS),
    (rr_delta, (20, 6, 0, 0), 0.0, notes.ZERO_CELL),
    (or_delta, (20, 6, 0, 0), 0.0, notes.ZERO_CELL),
    (or_delta, (0, 6, 0, 4), 0.0, notes.ZERO_CELL),
    (rr_delta, (20, 0, 5, 0), inf, notes.RATIO_INFINITE_NO_INTERVAL),
    (or_delta, (20, 0, 5, 0), inf, notes.ODDS_INFINITE_NO_INTERVAL),
    (or_delta, (0, 0, 5, 4), inf, notes.ODDS_INFINITE_NO_INTERVAL),
    (matched_wald, (20, 6, 0, 4), 0.0, notes.ZERO_CELL),
    (matched_wald, (20, 0, 5, 4), inf, notes.NO_ERROR_CORRECTED_NO_INTERVAL),
])  # fmt: skip
def test_what_has_no_interval(method, table, value, note):
    est = method(PairedTable(*table))
    assert est.value == pytest.approx(value, nan_ok=True)
    assert est.note == note
    if note == notes.NO_WIDTH:
        assert (est.low, est.high) == (1, 1)
    else:
        assert isnan(est.low)
        assert isnan(est.high)


def test_exact_matched_ratio_at_its_ends():
    none, only = matched_exact(PairedTable(20, 6, 0, 4)), matched_exact(PairedTable(20, 0, 5, 4))
    assert (none.value, none.low, none.note) == (0, 0, NO_NOTE)
    assert none.high == pytest.approx((1 - 0.025 ** (1 / 6)) / 0.025 ** (1 / 6))
    assert (only.value, only.high, only.note) == (inf, inf, notes.NO_ERROR_CORRECTED)
    assert log(only.low) == pytest.approx(log(0.025**0.2 / (1 - 0.025**0.2)))


@pytest.mark.parametrize("method", [*DIFFERENCES, rr_delta, or_delta])
def test_no_pair(method):
    est = method(PairedTable(0, 0, 0, 0))
    assert isnan(est.value)
    assert isnan(est.low)
    assert (est.n, est.note) == (0, notes.NO_PAIR)


def test_very_large_counts():
    table = PairedTable(*(np.int64(v) for v in (10**12, 10**6, 10**6 + 1000, 10**9)))
    limits = {f.__name__: (f(table).low, f(table).high) for f in DIFFERENCES}
    assert limits["tango"] == pytest.approx(limits["wald_paired"], rel=1e-4)
    assert limits["newcombe_paired"] == pytest.approx(limits["wald_paired"], rel=1e-3)
    assert mcnemar_exact(table).p == pytest.approx(0.48004939, abs=1e-7)  # 2 Phi(-(1000 - 1) / sqrt(2001000))


@pytest.mark.parametrize("wrong", [(-1, 0, 0, 0), (1, 2.5, 0, 0), (0, 0, float("nan"), 0)])
def test_what_is_no_count_is_refused(wrong):
    with pytest.raises(ValueError, match="must be a count"):
        PairedTable(*wrong)


@pytest.mark.parametrize("method", ALL)
def test_level_in_percent_is_refused_with_the_mend(method):
    with pytest.raises(ValueError, match=r"Did you mean 0\.95"):
        method(BENTUR, 95)
