"""Three arms: one test of all, pairs with adjusted p, and no number twice although contrasts share an arm."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.dimensions.test_reliance import rules_hold, texts
from tests.studies import plan
from trustreport.assessment.dimensions.decision_benefit import DIMENSION
from trustreport.assessment.finding import Finding
from trustreport.measures.association import holm
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.study.study import Cases, Labels, Readers, Readings, Study
from trustreport.vocabulary.results import Result

ARMS = ("unaided", "first aid", "second aid")
DECLARED = [{"arm": name, "aided": name != "unaided"} for name in ARMS]


def three_arms(
    correct: NDArray[np.bool_],
    *,
    missing: NDArray[np.bool_] | None = None,
    scores: bool = False,
    advice: NDArray[np.bool_] | None = None,
) -> Study:
    """A study from right decisions (3, n_readers, n_cases); every other case is positive."""
    _, n_readers, n_cases = correct.shape
    truth = (np.arange(n_cases) % 2).astype(np.int8)
    kept = np.ones(correct.shape, bool) if missing is None else ~missing
    arm, reader, case = (index.astype(np.int32) for index in np.nonzero(kept))
    decision = np.where(correct[arm, reader, case], truth[case], 1 - truth[case]).astype(np.int8)
    told = None
    if advice is not None:  # (2, n_cases): whether each aid is right
        right = advice[np.maximum(arm - 1, 0), case]
        told = np.where(arm == 0, -1, np.where(right, truth[case], 1 - truth[case])).astype(np.int8)
    rng = np.random.default_rng(1)
    table = Readings(
        "",
        ARMS,
        Readers(Labels(n=n_readers)),
        Cases(Labels(n=n_cases), truth),
        arm,
        reader,
        case,
        decision,
        score=decision + rng.normal(size=len(case)) if scores else None,
        seconds=rng.gamma(5, 8, len(case)),
        advice=told,
    )
    return Study(arms=ARMS, readings=(table,))


def drawn(seed: int, rates: tuple[float, float, float] = (0.65, 0.7, 0.85)) -> NDArray[np.bool_]:
    """Right decisions of six readers on eighty cases."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 0.1, 80)
    skill = rng.normal(0, 0.03, (6, 1))
    return rng.random((3, 6, 80)) < np.array(rates)[:, None, None] + ease + skill


def answer(study: Study, **groups: Any) -> Finding:
    assert DIMENSION.answer is not None
    found = DIMENSION.answer(study, plan(arms=DECLARED, **groups))
    rules_hold(found)
    assert texts(found)
    return found


def results_of(found: Finding, id: str, **scope: Any) -> list[Result]:
    return [r for r in found.results if r.id == f"decision_benefit.{id}" and r.within(**scope)]


def test_the_global_test_is_that_of_the_fit_of_all_arms() -> None:
    correct = drawn(1)
    found = answer(three_arms(correct))
    for mode in ("or_rrrc", "or_frrc", "or_rrfc"):
        (r,) = results_of(found, "global_test", endpoint="accuracy", analysis=f"{mode}_jackknife")
        test = fit_proportions(correct.astype(float)).omnibus(mode)
        assert r.estimate.p == pytest.approx(test.p)
        assert r.estimate.details["statistic"] == pytest.approx(test.statistic)
        assert r.scope["arms"] == list(ARMS)
        assert r.primary == (mode == "or_rrrc")
    assert any("Test of equal mean accuracy in the 3 arms: p" in text for text in texts(found))


def test_pairs_use_their_two_arms_alone_and_p_is_adjusted() -> None:
    correct = drawn(2)
    found = answer(three_arms(correct, scores=True))
    for endpoint in ("accuracy", "sensitivity", "specificity", "auc", "youden_j"):
        pairs = results_of(found, "pairwise_difference", endpoint=endpoint)
        assert [r.scope["arms"] for r in pairs] == [
            ["first aid", "unaided"],
            ["second aid", "unaided"],
            ["second aid", "first aid"],
        ]
        adjusted = holm([r.estimate.p for r in pairs])
        assert [r.details["p_holm"] for r in pairs] == pytest.approx(list(adjusted))
        assert {r.details["comparisons"] for r in pairs} == {3}
    pairs = results_of(found, "pairwise_difference", endpoint="accuracy")
    for r, (compared, baseline) in zip(pairs, ((1, 0), (2, 0), (2, 1))):
        two = fit_proportions(correct[[compared, baseline]].astype(float)).difference(0, 1)
        assert (r.estimate.value, r.estimate.low, r.estimate.high) == pytest.approx(
            (two.value, two.low, two.high)
        )


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_adjusted_p_is_never_smaller_and_equal_arms_test_alike(seed: int) -> None:
    found = answer(three_arms(drawn(seed)))
    for r in results_of(found, "pairwise_difference"):
        if not isnan(r.estimate.p):
            assert r.estimate.p <= r.details["p_holm"] <= 1
    for r in results_of(found, "global_test"):
        assert isnan(r.estimate.value)
        assert r.estimate.note


def test_under_the_null_the_global_test_rejects_about_one_in_twenty() -> None:
    rejected = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        correct = (rng.random((3, 6, 60)) < 0.75 + rng.normal(0, 0.1, 60)).astype(float)
        rejected += fit_proportions(correct).omnibus("or_rrrc").p < 0.05
    assert 4 <= rejected <= 38  # 99.9 % of binomial(400, .05), and less since it is conservative here


def test_missing_readings_leave_the_pairs_and_their_smallest_adjusted_p() -> None:
    correct = drawn(3)
    missing = np.random.default_rng(0).random(correct.shape) < 0.05
    found = answer(three_arms(correct, missing=missing))
    (test,) = results_of(found, "global_test", endpoint="accuracy")
    adjusted = [r.details["p_holm"] for r in results_of(found, "pairwise_difference", endpoint="accuracy")]
    assert test.estimate.p == min(adjusted)
    assert (test.method, test.primary) == ("holm_smallest", True)
    for r in results_of(found, "pairwise_difference"):
        assert r.method == "ustatistic_centred"
        assert ("p_holm" in r.details) != isnan(r.estimate.p)


def test_endpoints_of_the_users_own_are_tested_too() -> None:
    made = three_arms(drawn(8))
    table = made.readings[0]
    side = np.where(table.case % 5 == 0, np.nan, (table.decision == 1) * 1.0)  # not asked in every case
    found = answer(replace(made, readings=(replace(table, endpoints={"side named": side}),)))
    assert {r.estimate.n for r in results_of(found, "global_test", endpoint="side named")} == {6 * 64}
    assert len(results_of(found, "pairwise_difference", endpoint="side named")) == 3


def test_one_reader_has_a_test_of_that_reader_only() -> None:
    found = answer(three_arms(drawn(4)[:, :1]))
    (lead,) = (r for r in results_of(found, "global_test", endpoint="accuracy") if r.primary)
    assert lead.method == "or_frrc"
    assert 0 <= lead.estimate.p <= 1


def test_nothing_varies() -> None:
    found = answer(three_arms(np.ones((3, 4, 20), bool)))
    assert all(isnan(r.estimate.p) and r.estimate.note for r in results_of(found, "global_test"))
    assert all("p_holm" not in r.details for r in results_of(found, "pairwise_difference"))


def test_two_arms_have_no_global_test() -> None:
    table = three_arms(drawn(5)).readings[0]
    kept = table.arm < 2
    names = ("arm", "reader", "case", "decision", "seconds")
    two = replace(table, **{name: getattr(table, name)[kept] for name in names})
    found = answer(Study(arms=ARMS, readings=(two,)))
    assert not results_of(found, "global_test")
    assert not results_of(found, "pairwise_difference")


def test_two_aids_are_compared_with_the_readers_each_by_itself() -> None:
    rng = np.random.default_rng(6)
    advice = rng.random((2, 80)) < np.array([[0.7], [0.95]])
    found = answer(three_arms(drawn(6), advice=advice))
    by_aid = {
        name: [
            r.estimate.details["fixed"]
            for r in results_of(found, "ai_minus_readers", endpoint="accuracy", arm="unaided")
            if r.primary and r.scope["parameters"] == {"advice_of": name}
        ]
        for name in ARMS[1:]
    }
    assert by_aid == {
        name: [pytest.approx(right.mean())] for name, right in zip(ARMS[1:], advice, strict=True)
    }


def test_a_hypothesis_about_two_aids_is_answered() -> None:
    correct = drawn(7)
    criterion = {
        "endpoint": "second against first",
        "measure": "decision_benefit.mean_benefit",
        "of": "accuracy",
        "arm_or_contrast": ["second aid", "first aid"],
        "hypothesis": "superiority",
    }
    found = answer(three_arms(correct), endpoints=[criterion])
    (r,) = results_of(found, "non_inferiority")
    two = fit_proportions(correct[[2, 1]].astype(float)).difference(0, 1)
    assert r.estimate.p == pytest.approx(two.p / 2)  # one-sided, and the change is in its direction
