"""H-accuracy: the contract, exact fractions, the published relations, invariances, parameters, edges."""

import csv
import json
from fractions import Fraction
from itertools import pairwise
from math import isnan

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis.extra.numpy import arrays
from ruamel.yaml import YAML

from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.h_accuracy import notes
from trustreport.measures.h_accuracy import parameters as from_raters
from trustreport.measures.h_accuracy.measure import (
    credits_of,
    h_accuracy,
    h_accuracy_difference,
    risk_accuracy_of,
    risk_priority,
    two_class_scores,
)
from trustreport.measures.h_accuracy.parameters import mix_surface, over_complex_mix
from trustreport.measures.net_benefit import net_benefit
from trustreport.measures.standardized_net_benefit import standardized_net_benefit

nan = float("nan")
cell = st.integers(1, 30)
counts = st.builds(ConfusionCounts, cell, cell, cell, cell)


def net_benefit_of(risk_accuracy: float, tau: float, prevalence: float) -> float:
    """Net benefit at threshold tau from the accuracy of risk there: `risk_accuracy_of` turned round."""
    none, one = (risk_accuracy_of(x, tau, prevalence) for x in (0.0, 1.0))
    return (risk_accuracy - none) / (one - none)


def rng():
    return np.random.default_rng(20)


def risk_accuracy(truth, score, tau):
    """H-accuracy with the priorities of a risk threshold, by its definition."""
    share = float(truth.mean())
    priority = (0.5, 0.5) if share in (0.0, 1.0) else risk_priority(tau, share)
    return h_accuracy(truth.astype(int), two_class_scores(1.0 * (score >= tau)), priority=priority, rng=rng())


def value(truth, scores, **parameters):
    return h_accuracy(
        np.asarray(truth), np.asarray(scores, float), rng=rng(), resamples=2, **parameters
    ).value


def cases_of(c):
    """Cases with these counts, scores sure enough for any tau."""
    truth = np.repeat([1, 0, 1, 0], [c.tp, c.fp, c.fn, c.tn])
    called = np.repeat([1.0, 1, 0, 0], [c.tp, c.fp, c.fn, c.tn])
    return truth, two_class_scores(called)


@st.composite
def scored(draw, n_classes=None):
    k = n_classes or draw(st.integers(2, 4))
    n = draw(st.integers(k, 20))
    truth = np.concatenate([np.arange(k), draw(arrays(np.int64, n - k, elements=st.integers(0, k - 1)))])
    raw = draw(arrays(np.int64, (n, k), elements=st.integers(0, 6))) + np.eye(k, dtype=int)[truth]
    return truth, raw / raw.sum(axis=1, keepdims=True)


def test_contract(reference):
    folder = reference / "contract" / "h-accuracy"
    study = YAML(typ="safe").load(folder / "study.yaml")
    rows = {}
    with (folder / "expected.csv").open() as lines:
        for row in csv.DictReader(lines):
            rows[json.loads(row["scope"])["dataset"]] = row
    assert len(rows) >= 17
    for dataset in study["datasets"]:
        with (folder / dataset["file"]).open() as lines:
            cases = list(csv.DictReader(lines))
        scores = np.array([[float(c[name]) for name in dataset["columns"]["class_scores"]] for c in cases])
        asked = dataset["h_accuracy"][0]
        est = h_accuracy(
            np.array([int(c["truth"]) for c in cases]),
            scores,
            tau=asked["tau"],
            priority=asked["priority"],
            complexity=np.array([float(c["complexity"]) for c in cases]),
            rng=rng(),
            resamples=50,
        )
        row = rows[dataset["dataset"]]
        if row["value"] == "":
            assert isnan(est.value)
            assert est.note
        else:
            assert est.value == pytest.approx(float(row["value"]), abs=float(row["tol"])), row


def test_exact_fractions(reference):
    known = json.loads((reference / "seeds" / "ha_cases.json").read_text())
    assert len(known["cases"]) >= 20
    for case in known["cases"]:
        scores = np.array([[float(Fraction(s)) for s in row] for row in case["scores"]])
        given_values = {
            "tau": float(Fraction(case["tau"])),
            "priority": [float(Fraction(p)) for p in case["p"]],
            "complexity": np.array([float(Fraction(d)) for d in case["d"]]),
        }
        got = value(case["y"], scores, **given_values)
        wanted = nan if case["Ha"] is None else float(Fraction(case["Ha"]))
        assert got == pytest.approx(wanted, abs=1e-13, nan_ok=True), case["id"]


def test_net_benefit_counterexample(reference):
    seed = json.loads((reference / "seeds" / "seed000.json").read_text())
    known = seed["theorem1"]["counterexample"]
    p0, p1 = risk_priority(known["tau"], known["pi"])
    ha = p0 * known["TNR"] + p1 * known["TPR"]
    assert ha == pytest.approx(known["Ha"], rel=1e-14)
    assert net_benefit_of(ha, known["tau"], known["pi"]) == pytest.approx(known["NB"], rel=1e-14)
    assert net_benefit_of(ha, known["tau"], known["pi"]) != pytest.approx(known["printed_form"], abs=0.01)


def test_counted_by_hand():
    truth, scores = [0, 0, 1, 1], two_class_scores(np.array([0.1, 0.7, 0.6, 0.9]))
    assert value(truth, scores) == 0.75
    # at tau .8 the positive with .6 earns .1 / .3, the others all or nothing
    assert value(truth, scores, tau=0.8) == pytest.approx((1 + 0) / 4 + (1 / 3 + 1) / 4)
    assert value(truth, scores, priority=[0.2, 0.8]) == pytest.approx(0.2 / 2 + 0.8)
    assert value(truth, scores, complexity=np.array([1, 3, 1, 1.0])) == pytest.approx(0.25 / 2 + 0.5)


def test_a_score_above_tau_that_is_not_the_highest_earns_nothing():
    scores = np.array([[0.4, 0.55, 0.05]])
    assert credits_of(np.array([0]), scores, 0.35)[0] == 0
    assert credits_of(np.array([1]), scores, 0.35)[0] == 1


def test_ties_credit_every_tied_class():
    third = np.full((3, 3), 1 / 3)
    assert value([0, 1, 2], third) == 1
    assert value([0, 1, 2], third, tau=0.5) == pytest.approx(0, abs=1e-15)
    tied = np.array([[0.4, 0.4, 0.2]] * 3)
    assert list(credits_of(np.array([0, 1, 2]), tied, 0.5)) == pytest.approx([0.4, 0.4, 0])


@given(counts)
def test_balanced_accuracy_sensitivity_and_specificity_are_special_cases(c):
    truth, scores = cases_of(c)
    assert value(truth, scores) == pytest.approx(estimated(MEASURES["balanced_accuracy"], c).value)
    assert value(truth, scores, priority=[0, 1]) == pytest.approx(c.tp / c.positives)
    assert value(truth, scores, priority=[1, 0]) == pytest.approx(c.tn / c.negatives)
    share = c.positives / c.n
    assert value(truth, scores, priority=[1 - share, share]) == pytest.approx((c.tp + c.tn) / c.n)


@given(scored(), st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_does_not_rise_with_tau(both, steps):
    truth, scores = both
    k = scores.shape[1]
    found = [value(truth, scores, tau=1 / k + step * (1 - 1 / k)) for step in sorted(steps)]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(found))
    assert all(-1e-12 <= v <= 1 + 1e-12 for v in found)


@given(scored(2), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0.5, 1))
def test_linear_in_priority(both, one, other, share, tau):
    truth, scores = both
    mix = share * one + (1 - share) * other
    a, b, c = (value(truth, scores, tau=tau, priority=[1 - p, p]) for p in (one, other, mix))
    assert c == pytest.approx(share * a + (1 - share) * b, abs=1e-12)


@given(scored(), st.floats(0.01, 100), st.floats(0.5, 1))
def test_scale_of_complexity_does_not_matter(both, factor, tau):
    truth, scores = both
    complexity = 0.1 + np.arange(len(truth)) % 3
    one, other = (value(truth, scores, tau=tau, complexity=d) for d in (complexity, factor * complexity))
    assert one == pytest.approx(other)


@given(scored(), st.floats(0.5, 1))
def test_order_of_cases_and_names_of_classes_do_not_matter(both, tau):
    truth, scores = both
    k = scores.shape[1]
    priority = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    turned = value(k - 1 - truth, scores[:, ::-1], tau=tau, priority=priority[::-1])
    assert turned == pytest.approx(value(truth, scores, tau=tau, priority=priority))
    assert value(truth[::-1], scores[::-1], tau=tau) == pytest.approx(value(truth, scores, tau=tau))


# Invariances of Sokolova, Lapalme (2009), Inf. Process. Manag. 45, 427-437; tau 1/2, equal complexity.


@given(counts)
def test_i1_exchange_of_the_classes(c):
    share = c.positives / c.n
    one = value(*cases_of(c), priority=[1 - share, share])
    assert value(*cases_of(c.swapped()), priority=[share, 1 - share]) == pytest.approx(one)


@given(counts, cell, cell)
def test_i2_and_i5_true_negatives_and_false_positives_when_only_positives_have_priority(c, tn, fp):
    other = ConfusionCounts(c.tp, fp, c.fn, tn)
    assert value(*cases_of(other), priority=[0, 1]) == value(*cases_of(c), priority=[0, 1])


@given(counts, cell, cell)
def test_i3_and_i4_true_positives_and_false_negatives_when_only_negatives_have_priority(c, tp, fn):
    other = ConfusionCounts(tp, c.fp, fn, c.tn)
    assert value(*cases_of(other), priority=[1, 0]) == value(*cases_of(c), priority=[1, 0])


@given(counts, st.integers(2, 5), st.floats(0, 1))
def test_i6_all_counts_multiplied(c, factor, p):
    other = ConfusionCounts(factor * c.tp, factor * c.fp, factor * c.fn, factor * c.tn)
    priority = [1 - p, p]
    assert value(*cases_of(other), priority=priority) == pytest.approx(value(*cases_of(c), priority=priority))


def test_not_i7_counts_of_one_decision_multiplied():
    one, other = ConfusionCounts(6, 2, 4, 8), ConfusionCounts(12, 4, 4, 8)
    assert value(*cases_of(one)) == pytest.approx(0.7)
    assert value(*cases_of(other)) == pytest.approx((12 / 16 + 8 / 12) / 2)


@given(counts, st.integers(1, 5), st.integers(1, 5), st.floats(0, 1))
def test_i8_counts_of_either_class_multiplied(c, k1, k2, p):
    other = ConfusionCounts(k1 * c.tp, k2 * c.fp, k1 * c.fn, k2 * c.tn)
    priority = [1 - p, p]
    assert value(*cases_of(other), priority=priority) == pytest.approx(value(*cases_of(c), priority=priority))


@given(
    arrays(bool, 12),
    arrays(float, 12, elements=st.sampled_from([0, 0.1, 0.3, 0.5, 0.8, 1])),
    st.floats(0.05, 0.9),
)
def test_net_benefit_is_a_risk_accuracy(truth, score, tau):
    assume(truth.any() and not truth.all())
    q = float(truth.mean())
    ha = risk_accuracy(truth, score, tau).value
    assert net_benefit_of(ha, tau, q) == pytest.approx(net_benefit(truth, score, tau).value, abs=1e-12)
    if q == 0.5:
        snb = standardized_net_benefit(truth, score, tau).value
        assert (1 - tau) * snb == pytest.approx(ha - tau, abs=1e-12)


def test_at_half_and_half_net_benefit_is_half_of_youdens_j():
    c = ConfusionCounts(7, 2, 3, 8)
    truth, scores = cases_of(c)
    ha = risk_accuracy(truth == 1, scores[:, 1], 0.5).value
    assert ha == pytest.approx(estimated(MEASURES["balanced_accuracy"], c).value)
    assert net_benefit_of(ha, 0.5, 0.5) == pytest.approx(estimated(MEASURES["youden_j"], c).value / 2)


def test_interval_is_that_of_cases_drawn_within_classes():
    generator = np.random.default_rng(3)
    truth = np.repeat([0, 1], [120, 80])
    scores = two_class_scores(np.clip(0.35 + 0.3 * truth + generator.normal(0, 0.2, 200), 0, 1))
    est = h_accuracy(truth, scores, tau=0.7, priority=[0.3, 0.7], rng=rng())
    credit = credits_of(truth, scores, 0.7)
    se = np.sqrt(sum(p**2 * credit[truth == i].var() / n for i, (p, n) in enumerate([(0.3, 120), (0.7, 80)])))
    assert (est.low, est.high) == pytest.approx((est.value - 1.96 * se, est.value + 1.96 * se), abs=0.01)
    assert est == h_accuracy(truth, scores, tau=0.7, priority=[0.3, 0.7], rng=rng())
    assert est.details == pytest.approx({f"class_{i}": credit[truth == i].mean() for i in (0, 1)})
    wider = h_accuracy(truth, scores, tau=0.7, priority=[0.3, 0.7], rng=rng(), level=0.99)
    assert wider.low < est.low < est.high < wider.high


# Cabitza, Campagner (2019), table 2; Ha(tau 1) is .69 in the later version of the text. The curve of Ha over
# tau fixes which part of the cases was called right with which score: (tau - 1/2)(a - Ha(tau)) is convex,
# its slope at tau the part of right answers with lower scores.
PRINTED = {0.6: 0.82, 0.75: 0.78, 0.8: 0.77, 1.0: 0.69}
ACCURACY, PREFERS_SPECIFICITY, PREFERS_SENSITIVITY = 0.84, 0.85, 0.83


def test_the_printed_accuracies_are_those_of_one_model():
    lacking = {0.5: 0.0} | {tau: (tau - 0.5) * (ACCURACY - ha) for tau, ha in PRINTED.items()}
    taus = list(lacking)
    slopes = [(lacking[b] - lacking[a]) / (b - a) for a, b in pairwise(taus)]
    parts = np.diff([0, *slopes, ACCURACY])
    assert (parts > 0).all()  # no printed value contradicts another
    # Sensitivity and specificity from the two priorities: .25 and .75 of the one, and of the other.
    difference = 2 * (PREFERS_SPECIFICITY - PREFERS_SENSITIVITY)
    rates = ACCURACY + difference / 2, ACCURACY - difference / 2
    assert rates == pytest.approx((0.86, 0.82))
    n = 300_000
    truth, scores = [], []
    for label, rate in enumerate(rates):
        counts = np.round(parts / ACCURACY * rate * n).astype(int)
        own = np.repeat([0.5 + 1e-9, *PRINTED], counts)
        own = np.concatenate([own, np.full(n - len(own), 0.2)])
        truth += [label] * n
        scores += [np.stack([own, 1 - own] if label == 0 else [1 - own, own], axis=1)]
    scores = np.concatenate(scores)
    for tau, printed in PRINTED.items():
        assert value(truth, scores, tau=tau) == pytest.approx(printed, abs=1e-5)
    assert value(truth, scores) == pytest.approx(ACCURACY, abs=1e-5)
    assert value(truth, scores, priority=[0.75, 0.25]) == pytest.approx(PREFERS_SPECIFICITY, abs=1e-5)
    assert value(truth, scores, priority=[0.25, 0.75]) == pytest.approx(PREFERS_SENSITIVITY, abs=1e-5)


def test_the_printed_practical_accuracies_are_not_both_of_two_levels():
    """Ha(d) .77 with 1 for a third and 1/2 for the rest, Ha(d0) .73 with 1 for a half: no model has both."""
    # a = t/3 + 2r/3 and Ha(d) = (t + r)/2 for the third and the rest; a = (h + o)/2 with Ha(d0) = h.
    third = (0.77 - 0.75 * ACCURACY) / 0.25
    assert third == pytest.approx(0.56)
    between = 6 * (0.73 / 2 - third / 3)  # the cases of the half that are not in the third
    assert between > 1


def test_a_threshold_of_the_device_decides_what_is_right():
    truth, scores = np.array([0, 0, 1, 1]), two_class_scores(np.array([0.1, 0.4, 0.35, 0.9]))
    called = np.array([0, 1, 1, 1])  # from .3 on
    assert value(truth, scores) == 0.75
    assert value(truth, scores, called=called) == 0.75
    assert value(truth, scores, called=called, priority=[0, 1]) == 1
    # At tau .8 the positive with .35 is right without any confidence in it.
    assert value(truth, scores, called=called, tau=0.8) == pytest.approx(0.5 * 0.5 + 0.5 * 0.5)
    with pytest.raises(ValueError, match="one class per case"):
        value(truth, scores, called=called[:2])


@given(scored(2), st.floats(0.5, 1))
def test_what_the_highest_score_calls_is_the_answer_without_a_threshold(both, tau):
    truth, scores = both
    assume((scores[:, 0] != scores[:, 1]).all())
    called = scores.argmax(axis=1)
    assert value(truth, scores, tau=tau, called=called) == pytest.approx(value(truth, scores, tau=tau))


@given(scored(2), st.floats(0.5, 1), st.floats(0, 1))
def test_a_difference_is_that_of_the_two(both, tau, p):
    truth, scores = both
    other, given_values = scores[::-1], {"tau": tau, "priority": [1 - p, p]}
    gap = h_accuracy_difference(truth, scores, other, rng=rng(), resamples=2, **given_values).value
    expected = value(truth, scores, **given_values) - value(truth, other, **given_values)
    assert gap == pytest.approx(expected, abs=1e-12)


def test_a_difference_is_paired_case_by_case():
    """Equal decisions, the one model less sure: its interval is that of the gaps of the credits alone."""
    generator = np.random.default_rng(4)
    truth = np.repeat([0, 1], [120, 80])
    sure = np.clip(0.2 + 0.6 * truth + generator.normal(0, 0.3, 200), 0, 1)
    one, other = two_class_scores(0.5 + 0.4 * (sure - 0.5)), two_class_scores(sure)
    est = h_accuracy_difference(truth, one, other, tau=0.8, rng=rng())
    gap = credits_of(truth, one, 0.8) - credits_of(truth, other, 0.8)
    assert est.value == pytest.approx((gap[:120].mean() + gap[120:].mean()) / 2)
    se = np.sqrt(sum(0.25 * gap[truth == k].var() / n for k, n in ((0, 120), (1, 80))))
    assert (est.low, est.high) == pytest.approx((est.value - 1.96 * se, est.value + 1.96 * se), abs=0.01)
    alone = h_accuracy(truth, one, tau=0.8, rng=rng())
    assert est.high - est.low < alone.high - alone.low
    same = h_accuracy_difference(truth, one, other, rng=rng())
    assert (same.value, same.note) == (0.0, notes.FEW_DIFFER)
    assert isnan(same.low)


def test_a_mix_of_complex_cases_is_what_random_mixes_tend_to():
    generator = np.random.default_rng(5)
    truth = np.repeat([0, 1], 200)
    hard = generator.random(400) < 0.4
    score = np.clip(0.3 + 0.4 * truth + generator.normal(0, 0.15 + 0.25 * hard, 400), 0, 1)
    scores = two_class_scores(score)
    found = over_complex_mix(truth, scores, hard, [0, 0.25, 1], tau=0.7, priority=[0.3, 0.7], rng=rng())
    drawn = []
    for _ in range(4000):
        rows = []
        for label in (0, 1):
            for of, n in ((hard, 10), (~hard, 30)):
                rows.append(generator.choice(np.flatnonzero((truth == label) & of), n))
        at = np.concatenate(rows)
        drawn.append(value(truth[at], scores[at], tau=0.7, priority=[0.3, 0.7]))
    assert found.value[1] == pytest.approx(np.mean(drawn), abs=0.005)
    assert found.value[1] == pytest.approx(0.75 * found.value[0] + 0.25 * found.value[2])
    only = {"tau": 0.7, "priority": [0.3, 0.7]}
    assert found.value[2] == pytest.approx(value(truth[hard], scores[hard], **only))
    assert (found.low < found.value).all()
    surface = mix_surface(truth, scores, hard, [0, 0.25, 1], [0.5, 0.7], tau=0.7)
    assert surface[:, 1] == pytest.approx(found.value)
    lost = mix_surface(truth, scores, truth == 1, [0.0, 0.5], [0.0, 0.5])
    assert not isnan(lost[0, 0])  # negatives that are simple, and no other cases asked for
    assert isnan(lost[1, 1])


def test_undefined_says_why():
    scores = two_class_scores(np.array([0.9, 0.8]))
    absent = h_accuracy(np.array([1, 1]), scores, rng=rng())
    assert isnan(absent.value)
    assert absent.note == notes.CLASS_ABSENT
    assert value([1, 1], scores, priority=[0, 1]) == 1.0
    empty = h_accuracy(np.array([0, 1]), scores, complexity=np.array([0.0, 1]), rng=rng())
    assert empty.note == notes.NO_COMPLEXITY
    truth = np.repeat([0, 1], 12)
    certain = two_class_scores(truth * 1.0)
    assert h_accuracy(truth, certain, rng=rng()).note == notes.NO_WIDTH
    nine = np.where(np.arange(24) % 12 < 9, 1.0, 0.0)
    for few in (
        h_accuracy(truth, certain, complexity=nine, rng=rng()),  # others count for nothing
        h_accuracy(truth, certain, cluster=np.arange(24) % 9, rng=rng()),
    ):
        assert (few.value, few.note) == (1.0, notes.FEW_CREDITED)
        assert isnan(few.low)
        assert isnan(few.high)
    assert risk_accuracy(np.zeros(3, bool), np.ones(3), 0.5).note == notes.CLASS_ABSENT


@pytest.mark.parametrize(("change", "words"), [
    ({"tau": 0.4}, r"tau must lie in \[1/2, 1\], got 0.4"),
    ({"tau": 1.1}, "tau must lie"),
    ({"priority": [0.5, 0.6]}, "sum to 1"),
    ({"priority": [1.5, -0.5]}, "none negative"),
    ({"priority": [1.0]}, "2 numbers"),
    ({"complexity": np.array([1.0, -1])}, "none negative"),
    ({"complexity": np.array([1.0])}, "one number per case"),
    ({"scores": np.array([[0.5, 1.5], [0, 1]])}, r"scores must lie in \[0, 1\]"),
    ({"scores": np.array([0.5, 1.5])}, "one row per case"),
    ({"truth": np.array([0, 2])}, "classes 0 to 1"),
])  # fmt: skip
def test_wrong_use_is_refused(change, words):
    call = {"truth": np.array([0, 1]), "scores": np.array([[1.0, 0], [0, 1]])} | change
    with pytest.raises(ValueError, match=words):
        h_accuracy(call.pop("truth"), call.pop("scores"), rng=rng(), **call)


def test_tau_from_raters():
    confidence = np.array([[0.6, 0.6, 0.75, 0.8], [0.6, 0.75, 0.8, 1.0]])
    right = np.ones((2, 4))
    assert from_raters.tau_from_share(confidence, right, 0.8) == 0.6
    assert from_raters.tau_from_share(confidence, right, 0.5) == 0.75
    assert from_raters.tau_from_share(confidence, right, 0.25) == 0.8
    assert from_raters.tau_from_share(confidence, right, 1) == 0.6
    wrong_where_sure = np.where(confidence > 0.7, 0.0, 1)
    assert from_raters.tau_from_share(confidence, wrong_where_sure, 0.5) == 0.6
    assert from_raters.tau_from_mean(np.array([[0.5, nan], [0.7, 0.9]])) == pytest.approx(0.65)
    best = from_raters.tau_from_best_rater(confidence, np.array([[1, 1, 1, 1.0], [1, 1, 1, 0]]))
    assert best == pytest.approx(confidence[0].mean())
    with pytest.raises(ValueError, match="no right answer"):
        from_raters.tau_from_share(confidence, 0 * right)


def test_priority_from_raters_is_formula_10():
    truth = np.array([0, 0, 1, 1, 1])
    decision = np.array([[0, 0, 1, 1, 0], [0, 1, 1, nan, 1]])
    tnr, tpr = (1 + 0.5) / 2, (2 / 3 + 1) / 2
    got = from_raters.priority_from_raters(truth, decision)
    assert got == pytest.approx([tnr / (tpr + tnr), tpr / (tpr + tnr)])
    # the published pair: .52 and .48
    assert from_raters.priority_from_prevalence(np.array([0.2, 0.8])).tolist() == [0.2, 0.8]
    rare = from_raters.priority_from_prevalence(np.array([0.6, 0.3, 0.1]), rare_first=True)
    assert rare == pytest.approx([0.2, 0.35, 0.45])
    with pytest.raises(ValueError, match="no rater judged a case of class 1"):
        from_raters.priority_from_raters(np.array([0, 0]), np.array([[0.0, 1]]))
    with pytest.raises(ValueError, match="recognised no case"):
        from_raters.priority_from_raters(np.array([0, 1]), np.array([[1.0, 0]]))


def test_complexity_from_raters():
    rating = from_raters.from_scale(np.array([[1.0, 3, 5], [2, nan, 4]]), 1, 5)
    mean = from_raters.complexity_from_ratings(rating)
    assert mean == pytest.approx([0.125, 0.5, 0.875])
    right = np.array([[1.0, 0, nan], [1, 1, 0]])
    assert from_raters.complexity_from_errors(right) == pytest.approx([0, 0.5, 1])
    for share, n in ((0.5, 2), (1 / 3, 1), (0.2, 1)):
        assert from_raters.hardest(mean, share).sum() == n
    assert from_raters.two_levels(mean, 0.4).tolist() == [0.5, 1, 1]
    skill = from_raters.proficiency(np.array([[1.0, 0, nan], [1, 1, 1], [nan, nan, nan]]))
    assert skill.tolist() == [0.5, 1, 0]
    # The better rater's word counts twice: (0.5 * 0 + 1 * 1) / 1.5.
    two = np.array([[0.0], [1.0]])
    assert from_raters.complexity_from_ratings(two, proficiency=skill[:2]) == pytest.approx([2 / 3])
    assert from_raters.complexity_from_errors(two, proficiency=skill[:2]) == pytest.approx([1 / 3])
    assert from_raters.complexity_from_confidence(two, proficiency=skill[:2]) == pytest.approx([1 / 3])
    relevance = np.array([1.0, 0, 1])
    both = from_raters.mixed(np.stack([mean, relevance]), np.array([0.5, 0.5]))
    assert both == pytest.approx((mean + relevance) / 2)
    for wrong, words in (
        (lambda: from_raters.from_scale(np.array([6.0]), 1, 5), "lie on the scale"),
        (lambda: from_raters.from_scale(np.array([6.0]), 5, 1), "run upwards"),
        (lambda: from_raters.complexity_from_ratings(np.array([[nan]])), "1 cases have no rating"),
        (lambda: from_raters.hardest(mean, 0), "share must lie"),
        (lambda: from_raters.mixed(np.ones((2, 3)), np.array([1.0])), "2 numbers"),
        (lambda: from_raters.priority_from_prevalence(np.array([0.2, 0.2])), "sum to 1"),
        (lambda: risk_priority(0.5, 1), r"prevalence in \(0, 1\)"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()
