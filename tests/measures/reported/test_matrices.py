"""Tables that fit: published cases, every table tried one by one, edges, large counts."""

import json
from fractions import Fraction
from math import copysign, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.reported import matrices
from trustreport.measures.reported.matrices import consistent_matrices, fits
from trustreport.measures.reported.printed import CELLS, KNOWN, METRICS, CaseCounts, cases, enclose, printed

SHORT = {
    "ACC": "accuracy", "REC": "sensitivity", "SPEC": "specificity", "PREC": "ppv", "NPV": "npv",
    "F1": "f1", "TS": "threat_score", "MCC": "mcc",
}  # fmt: skip


def figures(rounding="rounded", **texts):
    return [printed(metric, text, rounding) for metric, text in texts.items()]


def test_seed_cases(reference):
    """The 19 sets of a published comparison, by brute force in other code."""
    seeds = json.loads((reference / "seeds/seed004_inference.json").read_text())["cases"]
    assert len(seeds) == 19
    for name, case in seeds.items():
        fit = consistent_matrices(
            [printed(SHORT[m], text) for m, text in case["reported"].items()], cases(case["P"], case["N"])
        )
        assert fit.count == case["n_solutions"], name
        if fit.count:
            assert {c: list(fit.cells[c]) for c in CELLS} == {c: case[c.upper()] for c in CELLS}, name
            found = {m: (fit.metrics[SHORT[m]].low, fit.metrics[SHORT[m]].high) for m in case["metrics"]}
            assert found == {m: pytest.approx(ends, abs=1e-12) for m, ends in case["metrics"].items()}, name
        else:
            assert not fit.cells
            assert not fit.metrics


def test_the_counts_of_a_published_table_print_as_recomputed(reference):
    """Each row's own counts must be among the tables that fit the rounded values recomputed from them."""
    rows = json.loads((reference / "seeds/seed004_table2.json").read_text())["rows"]
    checked = 0
    for row in rows:
        counts = {c: row["counts"][c.upper()] for c in CELLS}
        if None in counts.values() or "recomputed" not in row:
            continue
        given_ = [printed(SHORT[m], f"{v:.2f}") for m, v in row["recomputed"].items() if v is not None]
        n = cases(counts["tp"] + counts["fn"], counts["fp"] + counts["tn"])
        fit = consistent_matrices(given_, n)
        assert fit.count is None or fit.count > 0
        for cell, (low, high) in fit.cells.items():
            assert low <= counts[cell] <= high, (row["reported"], cell)
        exact = consistent_matrices([printed(c, str(v)) for c, v in counts.items()], n)
        assert exact.count == 1
        for short, value in row["recomputed"].items():
            range_ = exact.metrics.get(SHORT[short])
            assert (range_ is None) == (value is None), (row["reported"], short)
            if range_:
                assert (range_.low, range_.unique) == (pytest.approx(value, abs=1e-12), True)
        checked += 1
    assert checked > 10


def test_the_total_alone():
    """Study 3 of the same comparison: 106 cases leave 64, 65 or 66 positives, one table each."""
    given_ = figures(ppv="0.90", sensitivity="0.98", specificity="0.83", npv="0.97")
    fit = consistent_matrices(given_, cases(total=106))
    assert (fit.count, fit.positives) == (3, (64, 66))
    assert consistent_matrices(given_, cases(66, 40)).cells == {
        "tp": (65, 65), "fn": (1, 1), "fp": (7, 7), "tn": (33, 33),
    }  # fmt: skip


@st.composite
def problems(draw):
    """Figures, mostly of one table, sometimes of nothing; positives known or not."""
    total = draw(st.integers(0, 14))
    positives = draw(st.integers(0, total))
    tp, tn = draw(st.integers(0, positives)), draw(st.integers(0, total - positives))
    table = (tp, positives - tp, total - positives - tn, tn)
    rounding = draw(st.sampled_from(["rounded", "truncated"]))
    given_ = []
    for name in draw(st.lists(st.sampled_from(KNOWN), max_size=4)):
        if name in CELLS:
            text = str(draw(st.just(table[CELLS.index(name)]) | st.integers(0, 14)))
        else:
            least = -100 if name == "mcc" else 0
            hundredths = draw(st.just(_hundredths(name, table)) | st.integers(least, 100))
            text = draw(st.sampled_from(["{:.2f}", "{:.1f}"])).format(hundredths / 100)
        given_.append(printed(name, text, rounding))
    return given_, CaseCounts(total, draw(st.sampled_from([positives, None])))


def _hundredths(name, table):
    tp, fn, fp, tn = table
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    value = {
        "accuracy": (tp + tn, sum(table)), "sensitivity": (tp, tp + fn), "specificity": (tn, tn + fp),
        "ppv": (tp, tp + fp), "npv": (tn, tn + fn), "f1": (2 * tp, 2 * tp + fp + fn),
        "threat_score": (tp, tp + fp + fn), "prevalence": (tp + fn, sum(table)),
        "mcc": (tp * tn - fp * fn, sqrt(margins)),
    }[name]  # fmt: skip
    return round(100 * value[0] / value[1]) if value[1] else 0


def as_float(name, value):
    """A metric from the exact value of the fixture, which for MCC is MCC |MCC|."""
    return copysign(sqrt(abs(value)), value) if name == "mcc" else float(value)


@given(problems())
def test_agrees_with_trying_every_table(brute_force, exactly, problem):
    given_, n = problem
    expected = brute_force(given_, n)
    fit = consistent_matrices(given_, n)
    assert fit.count == len(expected)
    assert fits(given_, n) == bool(expected)
    if not expected:
        return
    by_cell = zip(CELLS, zip(*expected))
    assert fit.cells == {cell: (min(counts), max(counts)) for cell, counts in by_cell}
    assert fit.positives == (min(t[0] + t[1] for t in expected), max(t[0] + t[1] for t in expected))
    for name in METRICS:
        values = [exactly(name, t) for t in expected]
        there = [v for v in values if v is not None]
        assert (name in fit.metrics) == bool(there)
        if there:
            found = fit.metrics[name]
            ends = as_float(name, min(there)), as_float(name, max(there))
            assert (found.low, found.high) == pytest.approx(ends, abs=1e-12)
            assert found.unique == (min(there) == max(there))
            assert found.undefined == len(values) - len(there)


@given(problems())
def test_ranges_without_a_search_hold_every_table(brute_force, exactly, problem):
    given_, n = problem
    expected = brute_force(given_, n)
    found = enclose(given_, n)
    assert found is not None or not expected
    if found is None:
        return
    for table in expected:
        assert all(found.cells[c][0] <= x <= found.cells[c][1] for c, x in zip(CELLS, table))
        assert found.positives[0] <= table[0] + table[1] <= found.positives[1]
        for name in METRICS:
            value = exactly(name, table)
            if value is not None:
                low, high = found.metrics[name]
                assert low - 1e-12 <= as_float(name, value) <= high + 1e-12


@given(problems(), st.integers(1, 40))
def test_chunks_and_object_arrays_change_nothing(problem, size):
    given_, n = problem
    whole = consistent_matrices(given_, n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrices, "CHUNK", size)
        assert consistent_matrices(given_, n) == whole
        patch.setattr(matrices, "INT64_UP_TO", 0)
        assert consistent_matrices(given_, n) == whole


@given(problems(), st.integers(0, 30))
def test_with_few_rows_allowed_nothing_false_is_said(problem, rows):
    given_, n = problem
    whole, fast = consistent_matrices(given_, n), consistent_matrices(given_, n, rows=rows)
    assert fast.count in (None, whole.count)
    if fast.count is None:
        for cell, (low, high) in whole.cells.items():
            assert fast.cells[cell][0] <= low <= high <= fast.cells[cell][1]
        for name, range_ in whole.metrics.items():
            outer = fast.metrics[name]
            assert outer.low - 1e-12 <= range_.low <= range_.high <= outer.high + 1e-12


def test_mcc_rises_with_tn(exactly):
    """The monotonicity that the search rests on, over all tables of up to 8 and 8 cases."""
    for P in range(9):
        for N in range(9):
            for tp in range(P + 1):
                values = [exactly("mcc", (tp, P - tp, N - tn, tn)) for tn in range(N + 1)]
                there = [v for v in values if v is not None]
                assert there == sorted(there)


@pytest.mark.parametrize("n, texts, count", [  # counted by hand
    (cases(0, 5), {}, 6), (cases(0, 5), {"specificity": "0.80"}, 1),
    (cases(0, 5), {"sensitivity": "0.80"}, 0),
    (cases(0, 5), {"mcc": "0.00"}, 0), (cases(5, 0), {"specificity": "1.00"}, 0),
    (cases(5, 0), {"ppv": "1.00"}, 5),
    (cases(5, 0), {"accuracy": "1.00"}, 1), (cases(0, 0), {}, 1), (cases(0, 0), {"accuracy": "1.00"}, 0),
    (cases(3, 4), {"accuracy": "1.00"}, 1), (cases(3, 4), {"accuracy": "0.00"}, 1),
    (cases(3, 4), {"mcc": "-1.00"}, 1),
    (cases(3, 4), {"mcc": "1.00"}, 1), (cases(3, 4), {"ppv": "0.00"}, 4), (cases(3, 4), {"f1": "0.00"}, 5),
    (cases(3, 4), {"tp": "2", "tn": "3"}, 1), (cases(3, 4), {"tp": "4"}, 0),
    (cases(total=7), {"tp": "3", "fn": "0"}, 5),
    (cases(3, 4, 8), {}, 0), (cases(total=7), {"prevalence": "0.43"}, 20),
    (cases(3, 4), {"prevalence": "0.44"}, 0),
    (cases(2, 8), {"sensitivity": "0.5"}, 9), (cases(1, 0), {"sensitivity": "0"}, 1),
])  # fmt: skip
def test_edges(n, texts, count):
    assert consistent_matrices(figures(**texts), n).count == count


def test_both_ends_of_a_half_unit_belong_to_a_figure():
    """5 of 8 is 0.625: printed 0.63 by some and 0.62 by others; truncated it is 0.62 only."""
    n = cases(8, 0)
    rounded = [figures(sensitivity=text) for text in ("0.62", "0.63", "0.64")]
    assert [consistent_matrices(f, n).count for f in rounded] == [1, 1, 0]
    truncated = [figures("truncated", sensitivity=text) for text in ("0.62", "0.63")]
    assert [consistent_matrices(f, n).count for f in truncated] == [1, 0]


def test_a_metric_that_is_undefined_somewhere_says_so():
    fit = consistent_matrices([], cases(1, 1))
    assert fit.count == 4
    assert [fit.metrics[m].undefined for m in ("ppv", "mcc", "accuracy")] == [1, 2, 0]
    assert "sensitivity" not in consistent_matrices([], cases(0, 3)).metrics
    assert "mcc" not in consistent_matrices([], cases(0, 3)).metrics


def test_counts_of_a_million_million_are_exact():
    """MCC of about 1e15 cases, decided where floats cannot: the count next to the end of the interval."""
    n = cases(10**15, 10**15)
    tp, level = 6 * 10**14, Fraction("0.5")
    fit = consistent_matrices([*figures(tp=str(tp)), printed("mcc", "0.5", "truncated")], n)
    tn = fit.cells["tn"][0]
    reached = [matrices._mcc_reaches_exactly(n.total, n.positives, tp, x, level, False) for x in (tn - 1, tn)]
    assert reached == [False, True]
    assert fit.count == fit.cells["tn"][1] - tn + 1


def test_too_many_rows_give_bounds_and_no_count():
    fit = consistent_matrices(figures(sensitivity="0.80", specificity="0.95"), cases(10**9, 10**9))
    assert fit.count is None
    assert fit.cells["tp"] == (795_000_000, 805_000_000)
    assert (fit.metrics["accuracy"].low, fit.metrics["accuracy"].high) == pytest.approx((0.87, 0.88))
    assert fit.metrics["accuracy"].undefined is None
    impossible = figures(sensitivity="0.80", specificity="0.95", accuracy="0.91")
    assert consistent_matrices(impossible, cases(10**9, 10**9)).count == 0
    assert consistent_matrices(figures(mcc="0.5", accuracy="0.01"), cases(10**9, 10**9)).count in (0, None)


def test_swapping_the_classes_swaps_the_answer():
    one = consistent_matrices(figures(sensitivity="0.8", ppv="0.9", mcc="0.4"), cases(40, 13))
    other = consistent_matrices(figures(specificity="0.8", npv="0.9", mcc="0.4"), cases(13, 40))
    assert one.count == other.count > 0
    assert [one.cells[c] for c in CELLS] == [other.cells[c] for c in reversed(CELLS)]
    assert one.metrics["npv"] == other.metrics["ppv"]
