"""Measures of the four cells: the contract, exact fractions, published intervals, properties, edges."""

import csv
import json
from fractions import Fraction
from math import inf, isinf, isnan, nan, sqrt

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis.extra.numpy import arrays
from ruamel.yaml import YAML

from trustreport.measures.confusion import notes
from trustreport.measures.confusion.counts import ConfusionCounts, ThreeWayCounts
from trustreport.measures.confusion.independent import (
    at_prevalence,
    estimated,
    propagated,
    score_limit,
    weighed,
)
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.note import NO_NOTE
from trustreport.measures.proportion import wilson
from trustreport.measures.two_arm.ratios import koopman
from trustreport.vocabulary.quantities import quantity

RANGE = dict.fromkeys(MEASURES, (0.0, 1.0)) | {
    "mcc": (-1.0, 1.0),
    "youden_j": (-1.0, 1.0),
    "cohen_kappa": (-1.0, 1.0),
    "lr_positive": (0.0, inf),
    "lr_negative": (0.0, inf),
    "diagnostic_odds_ratio": (0.0, inf),
}
SWAPPED = {"sensitivity": "specificity", "ppv": "npv", "f1": "f1_negative"}
# What changes with the prevalence while sensitivity and specificity stay.
DEPEND_ON_PREVALENCE = "accuracy ppv npv f1 f1_negative mcc threat_score fowlkes_mallows cohen_kappa".split()
SAME = ("accuracy", "mcc", "balanced_accuracy", "youden_j", "cohen_kappa", "diagnostic_odds_ratio")
cell = st.integers(0, 60)
tables = st.builds(ConfusionCounts, cell, cell, cell, cell)
full_tables = st.builds(ConfusionCounts, *[st.integers(1, 60)] * 4)


def limits(estimate):
    return estimate.value, estimate.low, estimate.high


@pytest.mark.parametrize("case", ["confusion-counts"])
def test_contract(case, reference):
    folder = reference / "contract" / case
    given_sets = YAML(typ="safe").load(folder / "study.yaml")["confusion"]
    sets = {row.pop("set"): ConfusionCounts(**row) for row in given_sets}
    with (folder / "expected.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) >= 130
    for row in rows:
        counts = sets[json.loads(row["scope"])["set"]]
        got = estimated(MEASURES[row["id"].removeprefix("advice_accuracy.")], counts)
        if row["value"] == "":
            assert isnan(got.value), row
            assert got.note, row
        else:
            assert getattr(got, row["field"]) == pytest.approx(float(row["value"]), abs=float(row["tol"])), (
                row
            )


@given(tables)
def test_values_are_the_exact_fractions_rounded_once(c):
    tp, fp, fn, tn, n = c.tp, c.fp, c.fn, c.tn, c.n
    p, q = c.positives, c.negatives
    exact = {
        "prevalence": (p, n),
        "accuracy": (tp + tn, n),
        "sensitivity": (tp, p),
        "specificity": (tn, q),
        "ppv": (tp, tp + fp),
        "npv": (tn, tn + fn),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "f1_negative": (2 * tn, 2 * tn + fp + fn),
        "threat_score": (tp, tp + fp + fn),
        "youden_j": (tp * q + tn * p - p * q, p * q),
        "balanced_accuracy": (tp * q + tn * p, 2 * p * q),
        "lr_positive": (tp * q, fp * p),
        "lr_negative": (fn * q, tn * p),
        "diagnostic_odds_ratio": (tp * tn, fp * fn),
    }
    for name, (above, below) in exact.items():
        got = estimated(MEASURES[name], c).value
        wanted = float(Fraction(above, below)) if below else inf if above else nan
        assert got == wanted or (isnan(got) and (isnan(wanted) or not (p and q))), name


def test_counted_by_hand():
    c = ConfusionCounts(tp=6, fp=1, fn=2, tn=11)
    assert estimated(MEASURES["mcc"], c).value == pytest.approx(64 / sqrt(7 * 8 * 12 * 13))
    assert estimated(MEASURES["fowlkes_mallows"], c).value == pytest.approx(6 / sqrt(7 * 8))
    agreement, chance = 17 / 20, (7 * 8 + 12 * 13) / 400
    assert estimated(MEASURES["cohen_kappa"], c).value == pytest.approx((agreement - chance) / (1 - chance))
    assert estimated(MEASURES["lr_positive"], c).value == 9.0
    assert estimated(MEASURES["lr_negative"], c).value == pytest.approx(0.25 / (11 / 12))


def test_known_identities():
    c = ConfusionCounts(97, 12, 46, 55)
    f1, threat = estimated(MEASURES["f1"], c), estimated(MEASURES["threat_score"], c)
    for one, other in zip(limits(f1), limits(threat)):
        assert other == pytest.approx(one / (2 - one), rel=1e-12)
    j, q, p = estimated(MEASURES["youden_j"], c).value, c.called_positive / c.n, c.positives / c.n
    assert estimated(MEASURES["mcc"], c).value == pytest.approx(
        j * sqrt(p * (1 - p) / (q * (1 - q))), rel=1e-12
    )


@pytest.mark.parametrize("table", [(15, 5, 10, 20), (1, 7, 30, 900), (3, 2, 2, 1)])
def test_score_limits_of_the_odds_ratio_meet_their_definition(table):
    c = ConfusionCounts(*table)
    est = estimated(MEASURES["diagnostic_odds_ratio"], c)
    for end in (est.low, est.high):
        p1, p2 = restricted(c, end)
        inverse = 1 / (c.positives * p1 * (1 - p1)) + 1 / (c.negatives * p2 * (1 - p2))
        statistic = (c.positives * (c.tp / c.positives - p1)) ** 2 * inverse * (c.n - 1) / c.n
        assert statistic == pytest.approx(1.959963984540054**2, rel=1e-9)


def restricted(c, odds_ratio):
    """The most likely rates at an odds ratio, by bisection on the second."""
    low, high = 0.0, 1.0
    for _ in range(200):
        p2 = (low + high) / 2
        p1 = odds_ratio * p2 / (1 + p2 * (odds_ratio - 1))
        if c.positives * p1 + c.negatives * p2 > c.called_positive:
            high = p2
        else:
            low = p2
    return p1, p2


def test_likelihood_ratios_are_koopman_ratios():
    c = ConfusionCounts(36, 16, 4, 64)  # Koopman's example: 36/40 against 16/80
    est = estimated(MEASURES["lr_positive"], c)
    assert limits(est) == limits(koopman(36, 40, 16, 80))
    assert (est.low, est.high) == pytest.approx((2.94, 7.15), abs=0.005)


def test_wilson_limits_are_scores():
    z = np.array([-1.959963984540054, 1.959963984540054])
    est = wilson(81, 263)
    assert score_limit(81, 263, z) == pytest.approx([est.low, est.high], rel=1e-12)
    assert score_limit(0, 20, z) == pytest.approx([0, wilson(0, 20).high], rel=1e-12)
    assert score_limit(20, 20, z) == pytest.approx([wilson(20, 20).low, 1], rel=1e-12)
    assert score_limit(5, 10**12, z)[0] == pytest.approx(wilson(5, 10**12).low, rel=1e-9)


def test_a_measure_of_one_part_gets_its_wilson_interval():
    # propagation has nothing to combine when the measure is sensitivity or specificity alone
    c = ConfusionCounts(97, 12, 46, 55)
    for name in ("sensitivity", "specificity"):
        assert limits(propagated(MEASURES[name], c)) == pytest.approx(
            limits(estimated(MEASURES[name], c)), abs=1e-9
        )
        assert limits(propagated(MEASURES[name], c, prevalence=0.3)) == pytest.approx(
            limits(estimated(MEASURES[name], c)), abs=1e-9
        )


def test_propagation_agrees_with_a_fine_grid():
    c = ConfusionCounts(7, 3, 2, 30)
    polar, turn = np.meshgrid(np.linspace(0, np.pi, 801), np.linspace(-np.pi, np.pi, 1601), indexing="ij")
    z = 1.959963984540054
    u = z * np.sin(polar) * np.cos(turn), z * np.sin(polar) * np.sin(turn), z * np.cos(polar)
    s, t, q = score_limit(7, 9, u[0]), score_limit(30, 33, u[1]), score_limit(9, 42, u[2])
    for name in ("mcc", "cohen_kappa", "fowlkes_mallows"):
        values = MEASURES[name].formula(q * s, (1 - q) * (1 - t), q * (1 - s), (1 - q) * t)
        est = propagated(MEASURES[name], c)
        assert (est.low, est.high) == pytest.approx((values.min(), values.max()), abs=2e-5)
        assert est.low <= values.min() + 1e-12
        assert est.high >= values.max() - 1e-12


@settings(max_examples=40)
@given(tables)
def test_intervals_hold_the_value_and_stay_in_range(c):
    for name, measure in MEASURES.items():
        est, wider = estimated(measure, c), estimated(measure, c, level=0.99)
        if isnan(est.value):
            assert est.note
            continue
        least, greatest = RANGE[name]
        assert least <= wider.low <= est.low + 1e-9, name
        assert est.low <= est.value + 1e-12, name
        assert est.value <= est.high + 1e-12, name
        assert est.high - 1e-9 <= wider.high <= greatest + 1e-12, name
        assert isinf(est.value) == bool(est.note), name


@settings(max_examples=40)
@given(tables)
@example(ConfusionCounts(tp=1, fp=0, fn=20, tn=0))  # a limit beside a pole of the sphere that is searched
def test_swapping_the_classes_swaps_the_measures(c):
    for name in (*SWAPPED, *SAME):
        one, other = estimated(MEASURES[name], c), estimated(MEASURES[SWAPPED.get(name, name)], c.swapped())
        assert limits(one) == pytest.approx(limits(other), rel=1e-6, abs=1e-9, nan_ok=True), name


@settings(max_examples=25)
@given(full_tables, st.floats(0.02, 0.98))
def test_at_a_prevalence_what_depends_on_it_moves_and_the_rest_stays(c, prevalence):
    for name in MEASURES:
        if name == "prevalence":
            continue
        est = at_prevalence(name, c, prevalence)
        assert est.value == pytest.approx(MEASURES[name].formula(*weighed(c, prevalence)), rel=1e-9), name
        assert est.low <= est.value + 1e-12, name
        assert est.value <= est.high + 1e-12, name
        if name not in DEPEND_ON_PREVALENCE:
            assert limits(est) == limits(estimated(MEASURES[name], c))


def test_the_quantities_say_what_depends_on_the_prevalence():
    assert {name for name in MEASURES if quantity(name).by_prevalence} == set(DEPEND_ON_PREVALENCE)


@given(full_tables)
def test_at_the_own_prevalence_the_values_are_the_samples(c):
    for name in DEPEND_ON_PREVALENCE:
        est = at_prevalence(name, c, c.positives / c.n)
        assert est.value == pytest.approx(estimated(MEASURES[name], c).value, rel=1e-9, abs=1e-12)


def test_predictive_values_move_the_right_way():
    c = ConfusionCounts(90, 20, 10, 80)
    found = [at_prevalence("ppv", c, q) for q in (0.01, 0.1, 0.5, 0.9)]
    assert [e.value for e in found] == sorted(e.value for e in found)
    assert found[1].value == pytest.approx(0.09 / (0.09 + 0.18))
    assert at_prevalence("npv", c, 0.1).value == pytest.approx(0.72 / (0.72 + 0.01))
    perfect = at_prevalence("ppv", ConfusionCounts(20, 0, 0, 30), 0.1)
    assert (perfect.value, perfect.high, perfect.note) == (1.0, 1.0, NO_NOTE)
    assert 0.3 < perfect.low < 0.7


@pytest.mark.parametrize(("table", "name", "note"), [
    ((0, 0, 0, 0), "accuracy", notes.NO_CASE),
    ((0, 0, 0, 0), "mcc", notes.NO_CASE),
    ((0, 3, 0, 5), "sensitivity", notes.NO_POSITIVE),
    ((3, 0, 5, 0), "specificity", notes.NO_NEGATIVE),
    ((0, 0, 3, 5), "ppv", notes.NONE_CALLED_POSITIVE),
    ((3, 5, 0, 0), "npv", notes.NONE_CALLED_NEGATIVE),
    ((0, 0, 0, 5), "f1", notes.NOTHING_POSITIVE),
    ((5, 0, 0, 0), "f1_negative", notes.NOTHING_NEGATIVE),
    ((0, 0, 0, 5), "threat_score", notes.NOTHING_POSITIVE),
    ((0, 0, 3, 5), "fowlkes_mallows", notes.NONE_CALLED_POSITIVE),
    ((3, 5, 0, 0), "mcc", notes.NONE_CALLED_NEGATIVE),
    ((0, 3, 0, 5), "youden_j", notes.NO_POSITIVE),
    ((3, 0, 5, 0), "balanced_accuracy", notes.NO_NEGATIVE),
    ((0, 0, 3, 5), "lr_positive", notes.NONE_CALLED_POSITIVE),
    ((3, 5, 0, 0), "lr_negative", notes.NONE_CALLED_NEGATIVE),
    ((0, 0, 3, 5), "diagnostic_odds_ratio", notes.ONE_CLASS_ALL_RIGHT),
    ((5, 0, 0, 0), "cohen_kappa", notes.ALL_ALIKE),
])  # fmt: skip
def test_undefined_says_why(table, name, note):
    est = estimated(MEASURES[name], ConfusionCounts(*table))
    assert isnan(est.value)
    assert est.note == note


def test_at_a_prevalence_an_absent_class_is_said():
    for name in DEPEND_ON_PREVALENCE:
        assert at_prevalence(name, ConfusionCounts(0, 3, 0, 5), 0.2).note == notes.NO_POSITIVE
    assert at_prevalence("ppv", ConfusionCounts(0, 0, 3, 5), 0.2).note == notes.NONE_CALLED_POSITIVE


def test_infinite_ratios_keep_a_lower_limit():
    c = ConfusionCounts(20, 0, 5, 30)
    plus, odds = estimated(MEASURES["lr_positive"], c), estimated(MEASURES["diagnostic_odds_ratio"], c)
    assert plus.value == plus.high == inf
    assert plus.note == notes.NO_FALSE_POSITIVE
    assert plus.low > 5
    assert odds.value == odds.high == inf
    assert odds.low > 5
    assert odds.note == notes.NO_ERROR_IN_A_CLASS


def test_counts_of_a_million_million_are_exact():
    c = ConfusionCounts(10**12, 3, 10**6, 10**12)
    tp, fp, fn, tn = c.tp, c.fp, c.fn, c.tn
    squared = Fraction((tp * tn - fp * fn) ** 2, (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert estimated(MEASURES["mcc"], c).value == pytest.approx(sqrt(squared), rel=1e-15)
    for measure in MEASURES.values():
        est = estimated(measure, c)
        assert est.low <= est.value <= est.high
    lr = estimated(MEASURES["lr_positive"], c)  # nearly Poisson for 3 events: Koopman 3 (.34, 2.94)
    assert (lr.low / lr.value, lr.high / lr.value) == pytest.approx((0.340, 2.940), abs=2e-3)


@given(arrays(bool, (2, 15)))
def test_counting_arrays(both):
    truth, decision = both
    c = ConfusionCounts.of_decisions(truth, decision)
    wanted = [
        sum(t == a and d == b for t, d in zip(truth, decision))
        for a, b in ((True, True), (False, True), (True, False), (False, False))
    ]
    assert [c.tp, c.fp, c.fn, c.tn] == wanted


def test_indeterminate_outputs_stay_in_the_denominators():
    three = ThreeWayCounts(90, 10, 5, 80, indeterminate_positives=5, indeterminate_negatives=10)
    worst = three.counted_as("wrong")
    assert estimated(MEASURES["sensitivity"], worst).n == 100
    assert estimated(MEASURES["sensitivity"], worst).value == 0.9
    assert estimated(MEASURES["specificity"], worst).value == 0.8
    assert estimated(MEASURES["accuracy"], worst).n == 200
    assert estimated(MEASURES["accuracy"], three.counted_as("excluded")).n == 185
    assert three.counted_as("positive") == ConfusionCounts(95, 20, 5, 80)
    assert three.counted_as("negative") == ConfusionCounts(90, 10, 10, 90)
    share = three.indeterminate()
    assert limits(share) == limits(wilson(15, 200))


@given(st.lists(cell, min_size=6, max_size=6))
def test_counting_indeterminate_as_wrong_never_flatters(six):
    three = ThreeWayCounts(*six)
    assume(three.tp + three.fn and three.fp + three.tn)
    for name in ("sensitivity", "specificity", "accuracy", "ppv", "npv", "f1"):
        worst, excluded = (
            estimated(MEASURES[name], three.counted_as(how)).value for how in ("wrong", "excluded")
        )
        assert isnan(excluded) or worst <= excluded + 1e-12


@pytest.mark.parametrize("bad", [(-1, 0, 0, 0), (0.5, 0, 0, 0), (nan, 0, 0, 0)])
def test_what_is_no_count_is_refused(bad):
    with pytest.raises(ValueError, match="tp must be a count"):
        ConfusionCounts(*bad)


def test_wrong_use_is_refused():
    c = ConfusionCounts(1, 2, 3, 4)
    with pytest.raises(ValueError, match=r"prevalence must lie in \(0, 1\), got 2"):
        at_prevalence("ppv", c, 2)
    with pytest.raises(ValueError, match="name must be one of accuracy"):
        at_prevalence("precision", c, 0.2)
    with pytest.raises(ValueError, match=r"Did you mean 0\.95"):
        estimated(MEASURES["mcc"], c, level=95)
    with pytest.raises(ValueError, match="one entry per case"):
        ConfusionCounts.of_decisions(np.zeros(3, bool), np.zeros(4, bool))
    with pytest.raises(ValueError, match="treatment must be one of wrong"):
        ThreeWayCounts(1, 1, 1, 1).counted_as("ignored")
