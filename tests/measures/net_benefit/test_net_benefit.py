"""Net benefit: the contract, Riley's standard error, counts by hand, identities, thresholds 0 and 1."""

import csv
import json
from math import inf, isnan, nan, sqrt

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis.extra.numpy import arrays

from tests.english import english
from trustreport.measures import net_benefit as nb
from trustreport.measures import notes
from trustreport.measures import standardized_net_benefit as snb
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.means import AT_ONE
from trustreport.measures.note import note

TRUTH = np.array([1, 1, 1, 0, 0, 0, 0, 0], bool)
SCORE = np.array([0.9, 0.6, 0.2, 0.7, 0.3, 0.2, 0.1, 0.1])
BY_ID = {
    "advice_accuracy.net_benefit": nb.net_benefit,
    "advice_accuracy.standardized_net_benefit": snb.standardized_net_benefit,
}


@st.composite
def scored(draw):
    n = draw(st.integers(3, 30))
    score = draw(arrays(float, n, elements=st.sampled_from([0, 0.1, 0.25, 0.5, 0.8, 1])))
    return draw(arrays(bool, n)), score


@pytest.mark.parametrize("case", ["heart", "breast"])
def test_contract(case, reference):
    with (reference / "contract" / case / "expected.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["id"] in BY_ID]
    assert len(rows) >= 24
    for row in rows:
        scope = json.loads(row["scope"])
        with (reference / "contract" / case / f"{scope['dataset']}.csv").open() as lines:
            cases = list(csv.DictReader(lines))
        truth = np.array([c["label"] == "1" for c in cases])
        got = BY_ID[row["id"]](truth, np.array([float(c["score"]) for c in cases]), scope["threshold"])
        assert getattr(got, row["field"]) == pytest.approx(float(row["value"]), abs=float(row["tol"])), row


def test_counted_by_hand():
    # at .5: two of three found, one false alarm of five, each worth one
    assert nb.net_benefit(TRUTH, SCORE, 0.5).value == pytest.approx(2 / 8 - 1 / 8)
    # at .2 (the boundary counts as positive): three found, three false alarms at a quarter each
    assert nb.net_benefit(TRUTH, SCORE, 0.2).value == pytest.approx(3 / 8 - 3 / 8 / 4)
    assert snb.standardized_net_benefit(TRUTH, SCORE, 0.5).value == pytest.approx(1 / 3)
    assert nb.treat_all(TRUTH, 0.2).value == pytest.approx(3 / 8 - 5 / 8 / 4)


@given(scored(), st.floats(0.01, 0.95))
def test_standard_errors_are_rileys(both, t):
    truth, score = both
    assume(0 < truth.sum() < len(truth))
    c = ConfusionCounts.of_decisions(truth, score >= t)
    n, q, sens, spec = c.n, c.positives / c.n, c.tp / c.positives, c.tn / c.negatives
    odds = t / (1 - t)
    w = (1 - q) / q * odds
    variance = (
        sens * (1 - sens) / q + w * w * spec * (1 - spec) / (1 - q) + w * w * (1 - spec) ** 2 / (q * (1 - q))
    ) / n
    got = snb.standardized_net_benefit(truth, score, t)
    assert got.value == pytest.approx(sens - w * (1 - spec), abs=1e-10)
    assert got.se == pytest.approx(sqrt(variance), rel=1e-6, abs=1e-9)
    plain = nb.net_benefit(truth, score, t)
    assert plain.value == pytest.approx(q * got.value, abs=1e-10)
    second = c.tp / n + odds**2 * c.fp / n
    assert plain.se == pytest.approx(sqrt(max(second - plain.value**2, 0) / n), rel=1e-5, abs=1e-7)


@given(scored(), st.floats(0.01, 0.95), st.floats(0.1, 10))
def test_weighted_utility_with_one_threshold_and_relevance_is_standardised(both, t, relevance):
    truth, score = both
    n = len(truth)
    plain = snb.standardized_net_benefit(truth, score, t)
    weighted = snb.weighted_utility(truth, score, np.full(n, t), np.full(n, relevance))
    got, wanted = (weighted.value, weighted.se), (plain.value, plain.se)
    assert got == pytest.approx(wanted, rel=1e-9, abs=1e-12, nan_ok=True)


def test_weighted_utility_by_hand():
    relevance = np.array([2.0, 1, 1, 1, 1, 1, 1, 1])
    threshold = np.array([0.5, 0.7, 0.1, 0.5, 0.2, 0.5, 0.5, 0.5])
    # found: cases 1 (2) and 3 (1); false alarms: case 4 (1) and case 5 (.25); relevance of the positives: 4
    est = snb.weighted_utility(TRUTH, SCORE, threshold, relevance)
    assert est.value == pytest.approx((3 - 1.25) / 4)
    worth = np.array([2, 0, 1, -1, -0.25, 0, 0, 0])
    residual = worth - est.value * relevance * TRUTH
    assert est.se == pytest.approx(sqrt((residual**2).mean() / 8) / (4 / 8))


@given(scored(), st.floats(0, 0.95))
def test_treating_all_is_a_constant_score(both, t):
    truth, score = both
    everybody = np.ones(len(truth))
    constant, all_treated = nb.net_benefit(truth, everybody, t), nb.treat_all(truth, t)
    assert constant.value == pytest.approx(all_treated.value)
    mover = nb.net_benefit_mover(truth, everybody, t)
    assert (mover.low, mover.high) == pytest.approx((all_treated.low, all_treated.high), nan_ok=True)
    gain = nb.net_benefit_difference(truth, score, everybody, t)
    assert gain.value == pytest.approx(nb.net_benefit(truth, score, t).value - constant.value, abs=1e-9)
    back = nb.net_benefit_difference(truth, everybody, score, t)
    assert (back.value, back.low, back.p) == pytest.approx((-gain.value, -gain.high, gain.p), nan_ok=True)


def test_paired_difference_by_hand():
    other = np.array([0.4, 0.6, 0.2, 0.7, 0.6, 0.2, 0.1, 0.1])
    est = nb.net_benefit_difference(TRUTH, SCORE, other, 0.5)
    assert est.value == pytest.approx(2 / 8)  # one more found, one false alarm less
    assert est.se == pytest.approx(sqrt((2 / 8 - (2 / 8) ** 2) / 8))
    same = nb.net_benefit_difference(TRUTH, SCORE, SCORE, 0.5)
    assert same.value == 0
    assert "no width" in english(same.note)
    assert isnan(same.p)


@given(scored(), st.lists(st.floats(0, 0.99), min_size=1, max_size=6))
def test_decision_curve_is_net_benefit_at_each_threshold(both, thresholds):
    truth, score = both
    curve = nb.decision_curve(truth, score, thresholds)
    for i, t in enumerate(thresholds):
        est = nb.net_benefit_mover(truth, score, t)
        wanted = (est.value, est.low, est.high, nb.treat_all(truth, t).value)
        got = (curve.value[i], curve.low[i], curve.high[i], curve.treat_all[i])
        assert got == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@given(scored(), st.floats(0, 0.95))
def test_no_score_beats_the_prevalence(both, t):
    truth, score = both
    assert nb.net_benefit(truth, score, t).value <= truth.mean() + 1e-12
    perfect = nb.net_benefit(truth, truth.astype(float), max(t, 0.01))
    assert perfect.value == pytest.approx(truth.mean())


def test_threshold_zero_treats_everybody():
    est = nb.net_benefit(TRUTH, SCORE, 0)
    assert est.value == pytest.approx(3 / 8)
    assert snb.standardized_net_benefit(TRUTH, SCORE, 0).value == 1
    assert nb.net_benefit(TRUTH, np.zeros(8), 0).value == pytest.approx(3 / 8)


def test_threshold_one():
    est = nb.net_benefit(TRUTH, SCORE, 1)  # nobody reaches it
    assert (est.value, est.se) == (0.0, 0.0)
    assert "no width" in english(est.note)
    certain = np.where(np.arange(8) == 0, 1.0, SCORE)
    assert nb.net_benefit(TRUTH, certain, 1).value == pytest.approx(1 / 8)
    alarm = np.where(np.arange(8) == 7, 1.0, SCORE)
    for measure in (nb.net_benefit, snb.standardized_net_benefit):
        got = measure(TRUTH, alarm, 1)
        assert (got.value, got.note) == (-inf, AT_ONE)
        assert isnan(got.low)
    assert nb.treat_all(TRUTH, 1).note == AT_ONE
    assert nb.net_benefit_difference(TRUTH, alarm, alarm, 1).value == 0
    assert nb.net_benefit_difference(TRUTH, alarm, SCORE, 1).value == -inf
    other = np.where(np.arange(8) == 6, 1.0, SCORE)
    assert isnan(nb.net_benefit_difference(TRUTH, alarm, other, 1).value)  # infinity less infinity


def test_undefined_says_why():
    none = np.zeros(8, bool)
    assert snb.standardized_net_benefit(none, SCORE, 0.5).note == snb.NO_POSITIVE
    assert nb.net_benefit(none, SCORE, 0.5).value == pytest.approx(-3 / 8)
    empty = np.zeros(0, bool)
    assert nb.net_benefit(empty, np.zeros(0), 0.5).note == note("no_case")
    assert nb.treat_none(empty).note == note("no_case")
    weighted = snb.weighted_utility(TRUTH, SCORE, np.full(8, 0.5), 1.0 - TRUTH)
    assert weighted.note == snb.NO_RELEVANCE
    assert nb.treat_none(TRUTH).note == nb.BY_DEFINITION


def test_irrelevant_cases_do_not_count_even_at_threshold_one():
    alarm = np.where(np.arange(8) == 7, 1.0, SCORE)
    threshold = np.where(np.arange(8) == 7, 1.0, 0.5)
    assert snb.weighted_utility(TRUTH, alarm, threshold, 1.0 * TRUTH).value == pytest.approx(2 / 3)


def test_weighted_utility_without_limits_says_why():
    own = np.full(8, 0.5), np.ones(8)
    limited = snb.weighted_utility(TRUTH, SCORE, *own)
    assert limited.low < limited.value < limited.high < 1
    assert (limited.method, limited.df) == ("wu_log_t", 2.0)
    best = snb.weighted_utility(TRUTH, TRUTH.astype(float), *own)
    assert (best.value, best.note) == (1.0, snb.NO_UTILITY_LOST)
    one = snb.weighted_utility(TRUTH, SCORE, own[0], np.where(np.arange(8) == 0, 1.0, ~TRUTH))
    assert one.note == snb.TOO_FEW_RELEVANT
    grouped = snb.weighted_utility(TRUTH, SCORE, *own, cluster=np.arange(8) // 2)
    assert (grouped.note, grouped.method) == (snb.FEW_CLUSTERS, "cluster_wu_log_t")
    certain = snb.weighted_utility(TRUTH, SCORE, *own, level=1 - 1e-12)
    assert certain.note == snb.NO_LOWER_LIMIT
    alike = snb.weighted_utility(TRUTH, np.zeros(8), *own)
    assert (alike.value, alike.note) == (0.0, notes.NO_WIDTH)
    assert np.isnan(
        [e for found in (best, one, grouped, certain, alike) for e in (found.low, found.high)]
    ).all()


def test_wrong_use_is_refused():
    with pytest.raises(ValueError, match=r"threshold must lie in \[0, 1\], got 20"):
        nb.net_benefit(TRUTH, SCORE, 20)
    with pytest.raises(ValueError, match="1 of 8 scores are missing"):
        nb.net_benefit(TRUTH, np.where(np.arange(8) == 3, nan, SCORE), 0.5)
    with pytest.raises(ValueError, match="one entry per case"):
        nb.net_benefit(TRUTH, SCORE[:3], 0.5)
    with pytest.raises(ValueError, match=r"relevance must lie in \[0, inf\]; relevance of case 2"):
        snb.weighted_utility(TRUTH, SCORE, np.full(8, 0.5), np.where(np.arange(8) == 2, -1.0, 1.0))
    with pytest.raises(ValueError, match="threshold must have one entry per case"):
        snb.weighted_utility(TRUTH, SCORE, np.full(3, 0.5), np.ones(8))
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        nb.decision_curve(TRUTH, SCORE, [0.5, 1])
    with pytest.raises(ValueError, match="needs cases"):
        nb.decision_curve(TRUTH[:0], SCORE[:0], [0.5])


def test_one_positive_of_three_leaves_the_lower_limit_open():
    found = snb.snb_mover(np.array([True, False, False]), np.array([0.9, 0.8, 0.1]), 0.5)
    assert (found.value, found.note) == (0.0, snb.NO_LOWER_LIMIT)
    assert np.isnan([found.low, found.high]).all()
