"""Accuracy against labels of known error: against the truth that made them, by hand and by simulation."""

import csv
from itertools import product
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.english import english
from trustreport.measures.confusion.label_error import (
    NAMES,
    LabelError,
    Name,
    area_corrected_for_labels,
    bounds,
    corrected_for_labels,
)
from trustreport.measures.estimate import Estimate

N = 1_000_000


def expected(p: float, se: float, sp: float, label: LabelError) -> tuple[np.ndarray, np.ndarray]:
    """Labels and decisions in the shares that are expected, by hand."""
    shares = {}
    for r in (1, 0):
        for t in (1, 0):
            ill = (label.sensitivity if r else 1 - label.sensitivity) * (se if t else 1 - se)
            well = (1 - label.specificity if r else label.specificity) * (1 - sp if t else sp)
            shares[r, t] = p * ill + (1 - p) * well
    counts = [round(N * share) for share in shares.values()]
    labels, decisions = (np.repeat([key[i] == 1 for key in shares], counts) for i in (0, 1))
    return labels, decisions


@pytest.mark.parametrize(("p", "se", "sp"), [(0.1, 0.8, 0.9), (0.3, 0.95, 0.7), (0.02, 0.9, 0.99)])
@pytest.mark.parametrize("error", [LabelError(0.95, 0.9), LabelError(0.8, 0.98), LabelError(1.0, 1.0)])
def test_the_truth_that_made_the_labels_is_found_again(
    p: float, se: float, sp: float, error: LabelError
) -> None:
    label, decision = expected(p, se, sp, error)
    truth = {
        "sensitivity": se,
        "specificity": sp,
        "ppv": p * se / (p * se + (1 - p) * (1 - sp)),
        "npv": (1 - p) * sp / ((1 - p) * sp + p * (1 - se)),
        "prevalence": p,
    }
    for name in NAMES:
        e = corrected_for_labels(name, label, decision, error)
        assert e.value == pytest.approx(truth[name], abs=2e-4), name
        assert e.low <= truth[name] + 1e-3
        assert e.high >= truth[name] - 1e-3


def test_exact_labels_leave_the_apparent_values() -> None:
    label = np.repeat([True, True, False, False], [80, 20, 10, 190])
    decision = np.repeat([True, False, True, False], [80, 20, 10, 190])
    assert corrected_for_labels("sensitivity", label, decision, LabelError(1, 1)).value == pytest.approx(0.8)
    assert corrected_for_labels("ppv", label, decision, LabelError(1, 1)).value == pytest.approx(80 / 90)


def test_a_perfect_device_against_labels_of_90_percent_specificity() -> None:
    """At 10% prevalence its apparent sensitivity is about a half; corrected it is 1."""
    error = LabelError(0.95, 0.9)
    label, decision = expected(0.1, 1.0, 1.0, error)
    apparent = decision[label].mean()
    assert apparent == pytest.approx(0.095 / 0.185, abs=1e-3)
    assert corrected_for_labels("sensitivity", label, decision, error).value == pytest.approx(1.0, abs=1e-4)


def test_the_error_of_the_error_widens_the_interval() -> None:
    label, decision = (x[::1000] for x in expected(0.2, 0.85, 0.9, LabelError(0.9, 0.95)))
    known, measured = (
        corrected_for_labels("sensitivity", label, decision, error)
        for error in (LabelError(0.9, 0.95), LabelError(0.9, 0.95, 100, 100))
    )
    assert measured.high - measured.low > known.high - known.low


def test_prevalence_as_epir_has_it(reference: Path) -> None:
    """Rogan and Gladen's estimate; one below 0 is set to 0, or not believed."""
    with (reference / "label_error.csv").open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert len(rows) == 6
    for row in rows:
        label = np.arange(int(row["n"])) < int(row["positive"])
        error = LabelError(float(row["sensitivity"]), float(row["specificity"]))
        e, theirs = corrected_for_labels("prevalence", label, label, error), float(row["prevalence"])
        if isnan(e.value):
            assert float(row["high"]) < 0
        else:
            assert e.value == pytest.approx(max(theirs, 0.0), rel=1e-12)
            assert e.high > 0.85 * float(row["high"])  # theirs is Wilson's of the labels, corrected


def test_fewer_positive_labels_never_raise_the_upper_limit() -> None:
    """Of 6 positive labels it was 0.002, of 5 it was 0.037; epiR has 0.012 of 6."""
    limits = []
    for positive in range(3, 20):
        label = np.arange(151) < positive
        limits.append(corrected_for_labels("prevalence", label, label, LabelError(0.964, 0.927)).high)
    assert limits == sorted(limits)
    assert min(limits) > 0.012


def test_labels_that_cannot_have_that_error_are_said() -> None:
    label = np.repeat([True, False], [1, 999])
    e = corrected_for_labels("prevalence", label, label, LabelError(0.9, 0.8))
    assert isnan(e.value)
    assert e.note


def bounds_by_programming(
    label: np.ndarray, decision: np.ndarray, error: LabelError
) -> dict[str, tuple[float, float]]:
    """Bounds by linear programming over the shares of (condition, label, decision)."""
    cells = list(product((1, 0), repeat=3))
    p = (label.mean() + error.specificity - 1) / error.signal
    rows, sums = [], []
    for r, t in product((1, 0), repeat=2):
        rows.append([float((c[1], c[2]) == (r, t)) for c in cells])
        sums.append(float(((label == bool(r)) & (decision == bool(t))).mean()))
    for d, rate, share in ((1, error.sensitivity, p), (0, 1 - error.specificity, 1 - p)):
        rows.append([float(c[0] == d and c[1] == 1) for c in cells])
        sums.append(rate * share)
    rows.append([float(c[0] == 1) for c in cells])
    sums.append(p)
    t = decision.mean()
    found = {}
    for name, right, bottom in (
        ("sensitivity", (1, 1), p), ("specificity", (0, 0), 1 - p), ("ppv", (1, 1), t), ("npv", (0, 0), 1 - t)
    ):  # fmt: skip
        goal = np.array([float((c[0], c[2]) == right) for c in cells])
        ends = [sign * linprog(sign * goal, A_eq=rows, b_eq=sums, bounds=(0, 1)).fun for sign in (1, -1)]
        found[name] = (ends[0] / bottom, ends[1] / bottom)
    return found


@pytest.mark.parametrize("error", [LabelError(0.9, 0.95), LabelError(0.71, 0.71), LabelError(1.0, 1.0)])
@pytest.mark.parametrize(
    ("p", "se", "sp"), [(0.1, 0.9, 0.95), (0.55, 0.64, 0.77), (0.35, 0.99, 0.91), (0.5, 0.5, 0.5)]
)
def test_bounds_without_independence_are_those_of_linear_programming(
    p: float, se: float, sp: float, error: LabelError
) -> None:
    label, decision = expected(p, se, sp, error)
    wanted = bounds_by_programming(label, decision, error)
    for name in NAMES:
        e = corrected_for_labels(name, label, decision, error)
        if name == "prevalence":
            assert not e.details
            continue
        assert (e.details["lowest"], e.details["highest"]) == pytest.approx(wanted[name], abs=1e-7), name
        assert e.details["lowest"] - 1e-9 <= e.value <= e.details["highest"] + 1e-9


def test_bounds_of_a_device_that_calls_nobody_leave_out_what_rests_on_calls() -> None:
    label = np.repeat([True, False], [200, 800])
    never = np.zeros(1000, bool)
    error = LabelError(0.9, 0.95)
    assert bounds("ppv", label, never, error) is None
    assert bounds("sensitivity", label, never, error) == (0.0, 0.0)
    assert bounds("npv", label, ~never, error) is None
    assert bounds("prevalence", label, never, error) is None


def test_clusters_that_agree_throughout_leave_an_interval() -> None:
    label, patient = np.repeat([True, False], [20, 80]), np.arange(100) // 2
    for name in ("sensitivity", "specificity", "ppv", "npv"):
        e = corrected_for_labels(name, label, label, LabelError(1, 1), cluster=patient)
        assert e.value == 1
        assert e.low < corrected_for_labels(name, label, label, LabelError(1, 1)).low
        assert "each cluster" in english(e.note)


@pytest.mark.parametrize(
    ("name", "label", "decision", "note"),
    [
        ("ppv", [1, 0, 0], [0, 0, 0], "no case was called positive"),
        ("npv", [1, 0, 0], [1, 1, 1], "no case was called negative"),
        ("sensitivity", [], [], "no case"),
        ("sensitivity", [1], [1], "one case"),
        ("sensitivity", [0] * 20, [0] * 20, "too little about the condition: no corrected value"),
        ("sensitivity", [1, 0, 0, 0], [1, 0, 0, 0], "too little about the condition: no interval"),
    ],
)
def test_why_there_is_no_value_or_no_interval(
    name: Name, label: list[int], decision: list[int], note: str
) -> None:
    e = corrected_for_labels(name, np.array(label, bool), np.array(decision, bool), LabelError(0.9, 0.9))
    assert isnan(e.low)
    assert note in english(e.note)
    assert isnan(e.value) == (note.startswith("no case") or "no corrected value" in note)


def test_an_area_beyond_its_range_has_limits_within() -> None:
    label, error = np.repeat([True, False], [100, 900]), LabelError(0.9, 0.95)
    e = area_corrected_for_labels(Estimate(0.78, 0.76, 0.80, 1000), label, error)
    assert (e.value, e.high) == (1, 1)
    assert 0.5 < e.low < 1
    assert e.note
    far = area_corrected_for_labels(Estimate(0.97, 0.96, 0.98, 1000), label, error)
    assert isnan(far.value)
    assert "not compatible" in english(far.note)


def test_labels_that_tell_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        LabelError(0.5, 0.5)


def test_the_area_is_that_of_scores_against_the_condition() -> None:
    rng = np.random.default_rng(1)
    ill = rng.random(60_000) < 0.2
    score = rng.normal(ill * 1.2, 1)
    label = np.where(ill, rng.random(60_000) < 0.9, rng.random(60_000) < 0.08)

    def area(positive: np.ndarray) -> float:
        ranks = np.empty(len(score))
        ranks[np.argsort(score)] = np.arange(1, len(score) + 1)
        n = positive.sum()
        return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(score) - n)))

    apparent = area(label)
    e = area_corrected_for_labels(
        Estimate(apparent, apparent - 0.01, apparent + 0.01, len(score)), label, LabelError(0.9, 0.92)
    )
    assert e.value == pytest.approx(area(ill), abs=0.01)


@pytest.mark.parametrize(
    ("n", "p", "error", "measured"),
    [(500, 0.3, LabelError(0.95, 0.95), None), (1000, 0.1, LabelError(0.95, 0.98), 200)],
)
def test_intervals_cover(n: int, p: float, error: LabelError, measured: int | None) -> None:
    rng, held, draws = np.random.default_rng(n), dict.fromkeys(NAMES, 0), 300
    truth = {"sensitivity": 0.85, "specificity": 0.92, "prevalence": p}
    truth["ppv"] = p * 0.85 / (p * 0.85 + (1 - p) * 0.08)
    truth["npv"] = (1 - p) * 0.92 / ((1 - p) * 0.92 + p * 0.15)
    for _ in range(draws):
        ill = rng.random(n) < p
        decision = np.where(ill, rng.random(n) < 0.85, rng.random(n) < 0.08)
        label = np.where(ill, rng.random(n) < error.sensitivity, rng.random(n) >= error.specificity)
        own = error
        if measured:
            rates = (rng.binomial(measured, x) / measured for x in (error.sensitivity, error.specificity))
            own = LabelError(*rates, measured, measured)
        for name in NAMES:
            e = corrected_for_labels(name, label, decision, own)
            held[name] += e.low <= truth[name] <= e.high
    assert min(held.values()) / draws > 0.9
