"""Areas under the ROC curve and its parts: the contract, references, pairs written out, properties, edges."""

import csv
import json
from fractions import Fraction
from itertools import pairwise
from math import inf, isnan, sqrt

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from scipy import stats

from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.mrmc.auc import auc_covariance
from trustreport.measures.roc import notes
from trustreport.measures.roc.auc import (
    area_and_variance,
    auc_logit_larger,
    delong,
    logit_delong,
    newcombe_auc,
    placements,
)
from trustreport.measures.roc.curve import logit_binomial, logit_influence, roc_curve
from trustreport.measures.roc.difference import (
    auc_group,
    group_of_polygon,
    paired_difference,
    unpaired_difference,
)

TRUTH = np.array([0, 0, 0, 0, 1, 1, 1, 1], bool)
SCORE = np.array([1, 2, 2, 3, 2, 3, 4, 5])
AREAS = [delong, logit_delong, newcombe_auc]


@st.composite
def scored(draw, most=25):
    n = draw(st.integers(4, most))
    truth = draw(arrays(bool, n))
    truth[:2], truth[2:4] = True, False
    return truth, draw(arrays(np.int64, n, elements=st.integers(-4, 4)))


def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("case", ["heart", "breast"])
def test_contract(case, reference):
    with (reference / "contract" / case / "expected.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["id"] == "advice_accuracy.auc"]
    assert len(rows) >= 9
    for row in rows:
        with (reference / "contract" / case / f"{json.loads(row['scope'])['dataset']}.csv").open() as lines:
            cases = list(csv.DictReader(lines))
        truth = np.array([c["label"] == "1" for c in cases])
        got = delong(truth, np.array([float(c["score"]) for c in cases]))
        assert got.method == (row["method"] or "delong")
        assert getattr(got, row["field"]) == pytest.approx(float(row["value"]), abs=float(row["tol"])), row


def test_deep_roc_reference(reference):
    known = json.loads((reference / "seeds" / "deep_roc.json").read_text())
    for case in known["cases"]:
        fpr, tpr = np.array([[float(Fraction(v)) for v in point] for point in case["roc"]]).T
        for group in case["groups"]:
            x1, x2 = (float(Fraction(v)) for v in group["x"])
            part = group_of_polygon(fpr, tpr, x1, x2)
            assert part["area"] == pytest.approx(group["AUC_n_i"], abs=1e-12)
            assert part["average_sensitivity"] == pytest.approx(group["avg_sensitivity"], abs=1e-12)
            assert part["average_specificity"] == pytest.approx(group["avg_specificity"], abs=1e-12)
            ends = [part["sensitivity_from"], part["sensitivity_to"]]
            assert ends == pytest.approx([float(Fraction(v)) for v in group["y"]])


@given(scored())
def test_area_and_variance_are_those_of_all_pairs(both):
    truth, score = both
    psi = np.sign(score[truth][:, None] - score[~truth][None]) / 2 + 0.5
    n1, n0 = psi.shape
    variance = psi.mean(1).var(ddof=1) / n1 + psi.mean(0).var(ddof=1) / n0
    est = delong(truth, score)
    assert est.value == pytest.approx(psi.mean(), abs=1e-14)
    of_positive, of_negative = placements(truth, score)
    np.testing.assert_allclose(of_positive, psi.mean(1), atol=1e-14)
    np.testing.assert_allclose(of_negative, psi.mean(0), atol=1e-14)
    if est.note:
        assert isnan(est.low)
        assert psi.mean() in (0.0, 1.0) or variance < 1e-15
    else:
        assert est.se == pytest.approx(sqrt(variance), rel=1e-10)


def test_agrees_with_the_covariance_of_reader_studies():
    generator = rng()
    truth = generator.random(60) < 0.4
    one, other = (generator.normal(truth, 1).round(1) for _ in range(2))
    covariance = auc_covariance(np.stack([one, other])[:, None], truth, "delong")
    assert delong(truth, one).se == pytest.approx(sqrt(covariance[0, 0]), rel=1e-12)
    gap = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert paired_difference(truth, one, other).se == pytest.approx(sqrt(gap), rel=1e-12)


@given(scored())
def test_turning_scores_or_classes_round(both):
    truth, score = both
    est = delong(truth, score)
    for other in (delong(truth, -score), delong(~truth, score)):
        assert other.value == pytest.approx(1 - est.value, abs=1e-14)
        assert (other.low, other.high) == pytest.approx((1 - est.high, 1 - est.low), abs=1e-12, nan_ok=True)
    both_round = delong(~truth, -score)
    assert both_round.value == pytest.approx(est.value, abs=1e-14)


@given(scored(), st.randoms())
def test_only_the_order_of_scores_counts(both, random):
    truth, score = both
    order = list(range(len(truth)))
    random.shuffle(order)
    for measure in (*AREAS, logit_binomial, logit_influence):
        one = measure(truth, score)
        for other in (measure(truth, np.exp(score / 3)), measure(truth[order], score[order])):
            assert (one.value, one.low, one.high) == pytest.approx(
                (other.value, other.low, other.high), rel=1e-9, abs=1e-12, nan_ok=True
            )


@given(scored())
def test_limits_hold_the_value(both):
    for measure in AREAS:
        est, wider = measure(*both), measure(*both, level=0.99)
        if not isnan(est.low):
            assert wider.low <= est.low <= est.value <= est.high <= wider.high
            if measure is not delong:
                assert wider.low >= 0
                assert wider.high <= 1


def test_newcombe_limits_meet_their_definition():
    est = newcombe_auc(TRUTH, SCORE)
    for c in (est.low, est.high):
        m = 3
        variance = c * (1 - c) * (1 + m * (1 - c) / (2 - c) + m * c / (1 + c)) / 16
        assert abs(est.value - c) == pytest.approx(1.959963984540054 * sqrt(variance), rel=1e-9)
    perfect = newcombe_auc(TRUTH, np.arange(8))
    assert perfect.value == perfect.high == 1
    assert 0.5 < perfect.low < 0.7
    assert newcombe_auc(TRUTH, np.zeros(8)).value == 0.5


def test_paired_difference_by_hand():
    other = np.array([1, 3, 2, 2, 2, 1, 4, 3])
    est = paired_difference(TRUTH, SCORE, other)
    x, y = ((a - b) for a, b in zip(placements(TRUTH, SCORE), placements(TRUTH, other)))
    assert est.value == pytest.approx(delong(TRUTH, SCORE).value - delong(TRUTH, other).value)
    assert est.se == pytest.approx(sqrt(x.var(ddof=1) / 4 + y.var(ddof=1) / 4))
    assert est.p == pytest.approx(2 * stats.norm.sf(est.value / est.se))
    turned = paired_difference(TRUTH, other, SCORE)
    assert (turned.value, turned.low, turned.p) == pytest.approx((-est.value, -est.high, est.p))
    same = paired_difference(TRUTH, SCORE, 10 * SCORE)
    assert (same.value, same.note) == (0.0, notes.NO_VARIATION)


def test_unpaired_difference_uses_the_df_of_the_sets():
    generator = rng()
    sets = []
    for n, shift in ((80, 1.5), (50, 0.5)):
        truth = generator.random(n) < 0.5
        sets.append((truth, generator.normal(shift * truth, 1)))
    est = unpaired_difference(*sets[0], *sets[1])
    one, other = (delong(*s) for s in sets)
    v, w = one.se**2, other.se**2
    df = (v + w) ** 2 / (v**2 / 79 + w**2 / 49)
    assert est.df == pytest.approx(df)
    assert est.value == pytest.approx(one.value - other.value)
    assert est.high - est.value == pytest.approx(stats.t.ppf(0.975, df) * sqrt(v + w))
    assert est.p == pytest.approx(2 * stats.t.sf(abs(est.value) / sqrt(v + w), df))


def test_average_precision_counted_by_hand():
    # scores 5 + | 4 + | 3 + - | 2 + - - | 1 -: precision 1, 1, 3/4, 4/7 at the four positives
    wanted = (1 + 1 + 3 / 4 + 4 / 7) / 4
    for measure in (logit_binomial, logit_influence):
        assert measure(TRUTH, SCORE).value == pytest.approx(wanted, rel=1e-14)
    assert logit_binomial(TRUTH, SCORE).details["prevalence"] == 0.5


@given(scored())
def test_influence_is_the_derivative_by_weights(both):
    truth, score = both
    est = logit_influence(truth, score)
    if isnan(est.se):
        return

    def weighted(w):
        at_least = score[None] >= score[truth][:, None]
        precision = (at_least * (w * truth)).sum(1) / (at_least * w).sum(1)
        return (w[truth] * precision).sum() / w[truth].sum()

    n = len(truth)
    steps = np.eye(n) * 1e-6
    gradient = np.array([(weighted(1 + h) - weighted(1 - h)) / 2e-6 for h in steps])
    assert est.value == pytest.approx(weighted(np.ones(n)))
    assert est.se == pytest.approx(sqrt(n / (n - 1) * (gradient**2).sum()), rel=1e-5, abs=1e-7)


def test_average_precision_of_a_useless_score_is_the_prevalence():
    truth = rng().random(50) < 0.3
    assert logit_binomial(truth, np.zeros(50)).value == pytest.approx(truth.mean())


@given(scored())
def test_curve_goes_through_the_counts(both):
    truth, score = both
    curve = roc_curve(truth, score)
    for threshold, tp, fp in zip(curve.threshold, curve.tp, curve.fp):
        counts = ConfusionCounts.of_decisions(truth, score >= threshold)
        assert (counts.tp, counts.fp) == (tp, fp)
    area = np.sum(np.diff(curve.fpr) * (curve.tpr[1:] + curve.tpr[:-1]) / 2)
    assert area == pytest.approx(delong(truth, score).value)
    corners = curve.corners()
    assert len(corners.tp) <= len(curve.tp)
    under = np.sum(np.diff(corners.fpr) * (corners.tpr[1:] + corners.tpr[:-1]) / 2)
    assert under == pytest.approx(area)


@settings(max_examples=30)
@given(scored(), st.lists(st.floats(0, 1, exclude_min=True), min_size=1, max_size=3))
def test_groups_add_up_to_the_whole(both, cuts):
    truth, score = both
    curve = roc_curve(truth, score)
    edges = [0.0, *sorted(cuts), 1.0]
    total = length = 0.0
    for x1, x2 in pairwise(edges):
        part = group_of_polygon(curve.fpr, curve.tpr, x1, x2)
        span = x2 - x1 + part["sensitivity_to"] - part["sensitivity_from"]
        length += span
        total += part["area"] * span if span else 0.0
    assert length == pytest.approx(2)
    assert total / 2 == pytest.approx(delong(truth, score).value)


def test_group_interval():
    generator = rng()
    truth = generator.random(300) < 0.5
    score = generator.normal(truth * 1.2, 1)
    whole = auc_group(truth, score, (0, 1), rng=rng(), resamples=1500)
    exact = logit_delong(truth, score)
    assert whole.value == pytest.approx(exact.value)
    assert (whole.low, whole.high) == pytest.approx((exact.low, exact.high), abs=0.006)
    again = auc_group(truth, score, (0, 1), rng=rng(), resamples=1500)
    assert whole == again
    part = auc_group(truth, score, (0, 0.2), rng=rng(), resamples=200)
    assert part.low < part.value < part.high
    assert set(part.details) == {
        "average_sensitivity", "average_specificity", "sensitivity_from", "sensitivity_to",
    }  # fmt: skip


def test_undefined_says_why():
    none, every, one = np.zeros(8, bool), np.ones(8, bool), np.arange(8) == 7
    for measure in AREAS:
        assert measure(none, SCORE).note == notes.NO_POSITIVE
        assert isnan(measure(every, SCORE).value)
    assert delong(every, SCORE).note == notes.NO_NEGATIVE
    assert delong(one, SCORE).note == notes.ONE_CASE
    assert delong(one, SCORE).value == 1.0
    assert delong(TRUTH, np.arange(8)).note == notes.PERFECT
    assert delong(TRUTH, np.zeros(8)).note == notes.ALL_PAIRS_ALIKE
    assert logit_binomial(none, SCORE).note == notes.NO_POSITIVE
    assert logit_binomial(TRUTH, np.arange(8)).note == notes.PERFECT
    assert logit_influence(np.arange(8) == 2, SCORE).note == notes.ONE_CASE
    assert logit_influence(every, SCORE).note == notes.NO_NEGATIVE
    assert paired_difference(none, SCORE, SCORE).note == notes.NO_POSITIVE
    assert paired_difference(one, SCORE, -SCORE).note == notes.ONE_CASE
    assert unpaired_difference(every, SCORE, TRUTH, SCORE).note == notes.NO_NEGATIVE
    assert isnan(unpaired_difference(one, SCORE, TRUTH, SCORE).low)
    assert auc_group(none, SCORE, (0, 1), rng=rng()).note == notes.NO_POSITIVE
    assert auc_group(TRUTH, SCORE, (0.3, 0.3), rng=rng()).note == notes.NOTHING_IN_GROUP
    assert auc_group(TRUTH, np.arange(8), (0, 1), rng=rng(), resamples=20).note == notes.PERFECT


def test_wrong_use_is_refused():
    with pytest.raises(ValueError, match="1 of 8 scores are missing"):
        delong(TRUTH, np.array([1, 2, 3, 4, 5, 6, 7, np.nan]))
    with pytest.raises(ValueError, match="one entry per case"):
        delong(TRUTH, SCORE[:7])
    with pytest.raises(ValueError, match="both classes"):
        roc_curve(np.ones(8, bool), SCORE)
    with pytest.raises(ValueError, match="group must be two false positive rates"):
        auc_group(TRUTH, SCORE, (0.5, 0.2), rng=rng())
    with pytest.raises(ValueError, match=r"Did you mean 0\.95"):
        delong(TRUTH, SCORE, level=95)


def test_infinite_scores_are_scores():
    assert delong(TRUTH, np.where(TRUTH, inf, -inf)).value == 1.0


@pytest.mark.slow
def test_a_million_scores():
    generator = rng()
    truth = generator.random(10**6) < 0.2
    score = generator.standard_normal(10**6) + truth
    assert delong(truth, score).value == pytest.approx(stats.norm.cdf(1 / sqrt(2)), abs=0.002)


@pytest.mark.parametrize("method", [delong, logit_delong, auc_logit_larger])
def test_an_area_known_already_gives_the_same_estimate(method):
    rng = np.random.default_rng(8)
    for truth in (np.arange(40) < 15, np.arange(40) < 0, np.arange(40) < 1):
        score = np.round(rng.normal(truth * 1.0), 1)
        assert repr(method(truth, score, known=area_and_variance(truth, score))) == repr(method(truth, score))
