"""Readings from which little can be inferred: each case has its sentence, none a NaN without a reason."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.dimensions.test_reliance import rules_hold, texts
from tests.studies import plan, readings
from trustreport.assessment.dimensions.decision_benefit import DIMENSION
from trustreport.assessment.finding import Finding
from trustreport.measures.mrmc import notes
from trustreport.study.study import Study
from trustreport.vocabulary.results import CUT, Result, leading

RNG = np.random.default_rng(5)


def answer(study: Study) -> Finding:
    assert DIMENSION.answer is not None
    found = DIMENSION.answer(study, plan())
    rules_hold(found)
    for r in found.results:
        e = r.estimate
        assert e.note or not (isnan(e.value) or isnan(e.low)), (r.id, r.scope)
        if r.unit == "proportion" and not isnan(e.low):
            assert 0 <= e.low <= e.value <= e.high <= 1, (r.id, r.scope)
    return found


def lead(found: Finding, id: str, endpoint: str, **scope: Any) -> Result:
    result = leading(found.results, f"decision_benefit.{id}", endpoint=endpoint, **scope)
    assert result is not None
    return result


def change(found: Finding, endpoint: str = "accuracy") -> Result:
    return lead(found, "mean_benefit", endpoint, subgroup=None)


def entry(found: Finding, endpoint: str, analysis: str) -> Result:
    (result,) = (
        r
        for r in found.results
        if r.id == "decision_benefit.mean_benefit" and r.within(endpoint=endpoint, analysis=analysis)
    )
    return result


def drawn(
    readers: int, cases: int, rates: tuple[float, float] = (0.7, 0.8), seed: int = 1
) -> NDArray[np.bool_]:
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 0.2, cases)
    return rng.random((2, readers, cases)) < np.array(rates)[:, None, None] + ease


def with_scores(correct: NDArray[np.bool_], missing: Any = None, step: float = 0.5) -> Study:
    truth = np.arange(correct.shape[2]) % 2
    called = np.where(correct, truth, 1 - truth)
    noise = np.random.default_rng(2).normal(0, 1, correct.shape)
    return readings(correct, missing, scores=np.round((called + noise) / step) * step)


def said(found: Finding, words: str) -> bool:
    return any(words in text for text in texts(found))


def test_one_reader_is_described_and_nobody_else() -> None:
    found = answer(with_scores(drawn(1, 60)))
    for name, method in (("accuracy", "tango"), ("auc", "delong"), ("youden_j", "mover")):
        r = change(found, name)
        assert r.method == method
        assert notes.ONLY_FIXED in r.estimate.note
        assert entry(found, name, "or_rrrc_jackknife").estimate.note == notes.ONE_READER
    assert said(found, "describes these readers only")
    assert said(found, "With only 1 reader")


def test_three_readers_lead_with_the_wider_interval_and_say_so() -> None:
    for seed in range(40):  # until the random-reader interval is the narrower one
        study = readings(drawn(3, 60, seed=seed))
        found = answer(study)
        random, fixed = (entry(found, "accuracy", f"{m}_jackknife").estimate for m in ("or_rrrc", "or_frrc"))
        if random.high - random.low < fixed.high - fixed.low:
            break
    else:
        pytest.fail("no such study drawn")
    r = change(found)
    assert (r.method, r.estimate.low, r.estimate.high) == ("or_frrc", fixed.low, fixed.high)
    assert notes.FIXED_LEADS in r.estimate.note
    assert notes.BELOW_FIXED in random.note
    assert said(found, "fewer than five readers: the interval for these readers alone is the wider and leads")
    assert said(found, "With only 3 readers")


def test_perfect_areas_have_the_limits_of_one_curve_and_their_change_none() -> None:
    correct = np.ones((2, 5, 40), bool)
    truth = np.arange(40) % 2
    found = answer(readings(correct, scores=np.broadcast_to(truth * 1.0, correct.shape)))
    for arm in ("aided", "unaided"):
        e = lead(found, "arm_mean", "auc", arm=arm).estimate
        assert (e.value, e.note, e.method) == (1, notes.CASES_ONCE, "auc_newcombe")
        assert 0.8 < e.low < e.high == 1
        assert isnan(e.se)
    assert change(found, "auc").estimate.note == notes.NO_VARIATION
    assert said(found, "nothing varies between readers or cases")


def test_ratings_that_are_all_tied_have_half_the_area_and_no_interval() -> None:
    correct = drawn(5, 40)
    found = answer(readings(correct, scores=np.full(correct.shape, 3.0)))
    e = lead(found, "arm_mean", "auc", arm="aided").estimate
    assert (e.value, e.note) == (0.5, notes.NO_VARIATION)
    assert change(found, "auc").estimate.note == notes.NO_VARIATION


def test_a_reader_without_positive_cases_has_no_area_and_leaves_the_others() -> None:
    correct = drawn(6, 60)
    missing = np.zeros(correct.shape, bool)
    missing[:, 2, 1::2] = True
    found = answer(with_scores(correct, missing))
    own = lead(found, "reader_estimate", "auc", reader="3", arm="aided").estimate
    assert isnan(own.value)
    assert lead(found, "benefit", "sensitivity", reader="3").estimate.note == notes.NO_PAIR
    assert change(found, "auc").method == "ustatistic_centred"
    assert change(found, "sensitivity").estimate.n == 5 * 30


def test_a_negative_variance_is_shown_and_replaced() -> None:
    for seed in range(60):
        correct = drawn(3, 40, (0.9, 0.9), seed)
        missing = np.random.default_rng(seed).random(correct.shape) < 0.25
        found = answer(readings(correct, missing))
        e = change(found, "sensitivity").estimate
        if e.note == notes.PLUGGED_IN:
            break
    else:
        pytest.fail("no such study drawn")
    assert e.low < e.value < e.high
    assert e.details["unbiased_variance"] < 0
    component = lead(found, "variance_component", "sensitivity", parameters={"component": "variance"})
    assert component.estimate.value == pytest.approx(e.details["unbiased_variance"])
    assert said(found, "the unbiased variance estimate is not positive")
    assert entry(found, "sensitivity", e.method).primary


def test_cov2_below_cov3_is_said() -> None:
    """Readers agree across arms, not within: in each case one half right unaided, the other half aided."""
    rng = np.random.default_rng(0)
    half = rng.random((1, 1, 80)) < 0.5
    first = np.arange(6)[:, None] < 3
    correct = np.concatenate([half == first, half != first]) ^ (rng.random((2, 6, 80)) < 0.2)
    found = answer(readings(correct))
    values = {
        r.scope["parameters"]["component"]: r.estimate.value
        for r in found.results
        if r.id == "decision_benefit.variance_component" and r.within(endpoint="accuracy")
    }
    assert values["cov2"] < values["cov3"]
    assert notes.CLIPPED in entry(found, "accuracy", "or_rrrc_jackknife").estimate.note
    fixed = entry(found, "accuracy", "or_frrc_jackknife").estimate
    assert notes.NOT_CLIPPED in fixed.note or notes.NEGATIVE_FIXED in fixed.note
    assert said(found, "cov2 is below cov3")


def test_degrees_of_freedom_at_their_minimum_are_said() -> None:
    for seed in range(60):
        correct = drawn(3, 30, (0.6, 0.7), seed)
        missing = np.random.default_rng(seed).random(correct.shape) < 0.2
        found = answer(readings(correct, missing))
        e = change(found).estimate
        if notes.LOW_DF in e.note:
            break
    else:
        pytest.fail("no such study drawn")
    assert e.df == min(e.details["readers_less_one"], e.details["cases_less_one"])
    assert said(found, "degrees of freedom raised to their minimum")


def test_an_interval_of_a_share_stays_below_1_where_the_symmetric_one_is_cut() -> None:
    correct = drawn(4, 30, (0.6, 0.97), 3)
    found = answer(readings(correct))
    cut = [r for r in found.results if r.id == "decision_benefit.arm_mean" and CUT in r.estimate.note]
    cut = [r for r in cut if r.endpoint in ("accuracy", "sensitivity", "specificity", "youden_j")]
    assert cut
    assert all(r.estimate.high == 1 and not r.primary for r in cut)
    for r in cut:
        e = lead(found, "arm_mean", r.endpoint, arm=r.place.arm).estimate
        assert e.low < e.value < e.high < 1


def test_nobody_in_both_arms_and_gaps_have_an_interval_all_the_same() -> None:
    correct = drawn(8, 60)
    missing = np.zeros(correct.shape, bool)
    missing[0, :4] = missing[1, 4:] = True
    found = answer(readings(correct, missing))
    e = change(found).estimate
    assert e.low < e.value < e.high
    assert all(
        r.estimate.note == notes.NO_PAIR
        for r in found.results
        if r.id == "decision_benefit.benefit" and r.within(endpoint="accuracy")
    )


def test_an_endpoint_of_the_users_own_is_analysed_like_any_other() -> None:
    study = readings(drawn(5, 60))
    one = study.readings[0]
    found = answer(replace(study, readings=(replace(one, endpoints={"side": (one.case % 3 > 0) * 1.0}),)))
    assert lead(found, "arm_mean", "side", arm="aided").estimate.value == pytest.approx(2 / 3)
    assert change(found, "side").estimate.note == notes.NO_VARIATION
    named = np.where(one.truth == 1, one.decision == 1, np.nan)
    found = answer(replace(study, readings=(replace(one, endpoints={"found": named}),)))
    for analysis in ("or_rrrc_jackknife", "ustatistic_bdg"):
        own, same = (entry(found, name, analysis).estimate for name in ("found", "sensitivity"))
        assert (own.value, own.low, own.high) == (same.value, same.low, same.high)
    assert said(found, "found") or any("found" in str(t) for p in found.parts for t in p.tables)
