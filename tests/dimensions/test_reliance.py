"""Reliance: contract values, hand counts, what is reported and what is not."""

import json
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.studies import plan
from trustreport.assessment.dimensions.reliance import DIMENSION, EACH_UP_TO
from trustreport.assessment.finding import Finding
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.patterns import PATTERNS
from trustreport.report.tables import table
from trustreport.study.plan import Plan, RelianceCounts
from trustreport.study.study import Cases, Labels, Readers, Readings, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

EN = catalogue("en")
ARMS = ("unaided", "aided")


def sequential(
    codes: np.ndarray,
    *,
    truth: np.ndarray | None = None,
    confidence: np.ndarray | None = None,
    **more: Any,
) -> Study:
    """A sequential study from patterns (n_readers, n_cases), NaN: not read; odd cases are positive."""
    readers, cases = codes.shape
    truth = np.arange(cases) % 2 if truth is None else truth
    reader, case = np.nonzero(~np.isnan(codes))
    pattern = codes[reader, case].astype(int)
    right = np.stack([pattern >> 2, pattern & 1])  # unaided, aided
    said = np.where(right == 1, np.abs(truth[case]), 1 - np.abs(truth[case])).ravel()
    told = np.where(pattern >> 1 & 1, np.abs(truth[case]), 1 - np.abs(truth[case]))
    sure = confidence[reader, case] if confidence is not None else None
    n = len(case)
    one = Readings(
        "",
        ARMS,
        Readers(Labels(tuple(f"R{j + 1}" for j in range(readers)))),
        Cases(Labels(n=cases), truth.astype(np.int8)),
        np.repeat(np.array([0, 1], np.int32), n),
        np.tile(reader.astype(np.int32), 2),
        np.tile(case.astype(np.int32), 2),
        said.astype(np.int8),
        advice=np.concatenate([np.full(n, -1), told]).astype(np.int8),
        confidence=None if sure is None else np.concatenate([sure, sure]),
        sequential=True,
        **more,
    )
    return Study(arms=ARMS, readings=(one,))


def counted(**counts: int) -> Study:
    """A study of one published set of counts."""
    given_counts = dict.fromkeys((f"n{p}" for p in PATTERNS), 0) | counts
    return Study(reliance_counts=(RelianceCounts(set="table", **given_counts),))


def answer(study: Study, declared: Plan | None = None) -> Finding:
    assert DIMENSION.answer is not None
    return DIMENSION.answer(study, declared or plan())


def only(found: Finding, id: str, **scope: Any) -> Result:
    """The one leading entry of exactly this scope, whatever arms and analysis."""
    rest = {"arms", "arm", "analysis"}
    hits = [
        r
        for r in found.results
        if r.id == f"reliance.{id}"
        and r.primary
        and {k: v for k, v in r.scope.items() if k not in rest - set(scope)} == scope
    ]
    assert len(hits) == 1, (id, scope, hits)
    return hits[0]


def rules_hold(found: Finding) -> None:
    """No key twice, one leading entry for each question, a reason for every missing number."""
    keys, leads = set(), {}
    for r in found.results:
        key = json.dumps([r.id, r.scope, r.method], sort_keys=True)
        assert key not in keys, key
        keys.add(key)
        scope = {k: v for k, v in r.scope.items() if k != "analysis"}
        question = json.dumps([r.id, scope], sort_keys=True)
        leads[question] = leads.get(question, 0) + r.primary
        e = r.estimate
        assert not (isnan(e.value) or isnan(e.low) or isnan(e.high)) or e.note, key
        if r.unit == "proportion" and not isnan(e.low):
            assert 0 <= e.low <= e.value <= e.high <= 1, key
    assert set(leads.values()) == {1}


def texts(found: Finding) -> list[str]:
    """Everything that is said and every table, as text: fails where a text or a value lacks."""
    said = [EN(m) for part in found.parts for m in part.finding] + [EN(m) for m in found.not_shown]
    for part in found.parts:
        for source in part.tables:
            done = table(source, EN)
            said += [done.caption, *(cell.text for line in done.lines for cell in line.cells)]
        said += [EN(text) for figure in part.figures for text in (figure.caption, figure.alt)]
    return said


CODES = np.array([[3.0, 3, 2, 4, 5, 7], [3, 2, 2, 4, 5, 7], [3, 4, 5, 5, 0, np.nan]])


def test_hand_counts_of_readings() -> None:
    found = answer(sequential(CODES))
    rules_hold(found)
    for pattern, n in {"011": 4, "010": 3, "100": 3, "101": 4, "111": 2, "000": 1, "001": 0}.items():
        assert only(found, "switch_count", parameters={"pattern": pattern}).estimate.value == n
    for name, x, n in (
        ("rair", 4, 7),
        ("rsr", 4, 7),
        ("rbod", 0, 1),
        ("rbt", 2, 2),
        ("harmful_switch_rate", 3, 7),
        ("switch_rate", 7, 14),
        ("advice_accuracy", 9, 17),
    ):
        e = only(found, name).estimate
        assert (e.value, e.n) == (pytest.approx(x / n), n), name
    override = only(found, "override_rate", arm="aided").estimate
    assert (override.value, override.n) == (pytest.approx(7 / 17), 17)
    after = only(found, "override_rate", arm="aided", parameters={"advice": "wrong"}).estimate
    assert (after.value, after.n) == (pytest.approx(4 / 8), 8)
    change = only(found, "accuracy_change", endpoint="accuracy", parameters={"advice": "wrong"})
    assert change.estimate.value == pytest.approx((4 - 7) / 8)
    assert only(found, "rair", reader="R2").estimate.value == pytest.approx(1 / 3)
    assert only(found, "rair", reader="R2").method == "wilson"
    assert only(found, "rair").method == "cluster_twoway_t"


def test_hand_counts_of_a_set() -> None:
    found = answer(counted(n011=4, n010=3, n100=3, n101=4, n111=2, n000=1))
    rules_hold(found)
    assert only(found, "rair", set="table").method == "wilson"
    change = only(found, "accuracy_change", set="table", endpoint="accuracy", parameters={"advice": "wrong"})
    assert (change.estimate.value, change.method) == (pytest.approx(-3 / 8), "tango")
    overall = only(found, "accuracy_change", set="table", endpoint="accuracy")
    assert overall.estimate.value == pytest.approx(1 / 17)
    assert only(found, "accuracy", set="table", arm="aided").estimate.value == pytest.approx(10 / 17)


def test_sensitivity_and_specificity_change_on_their_own_class() -> None:
    codes = np.array([[4.0, 5, 4, 5], [4, 5, 4, 5], [4, 5, 5, 5]])  # cases 0 and 2 are negative
    found = answer(sequential(codes))
    wrong = {"advice": "wrong"}
    value = {
        e: only(found, "accuracy_change", endpoint=e, parameters=wrong).estimate.value
        for e in ("accuracy", "sensitivity", "specificity")
    }
    assert value == {
        "accuracy": pytest.approx(-5 / 12),
        "sensitivity": 0,
        "specificity": pytest.approx(-5 / 6),
    }


def test_bands_of_confidence() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 8, (5, 30)).astype(float)
    found = answer(sequential(codes, confidence=rng.random((5, 30))))
    rules_hold(found)
    bands = [
        only(found, "override_rate", arm="aided", parameters={"confidence": b})
        for b in ("low", "middle", "high")
    ]
    assert sum(b.estimate.n for b in bands) == 150
    assert bands[0].details["to"] < bands[1].details["from"]
    assert any("low: 0" in text for text in texts(found))
    assert not [r for r in answer(sequential(codes)).results if "confidence" in r.scope.get("parameters", {})]
    same = answer(sequential(codes, confidence=np.full((5, 30), 0.5)))
    assert not [r for r in same.results if "confidence" in r.scope.get("parameters", {})]


def test_one_reader_is_told_by_wilson_and_says_so() -> None:
    found = answer(sequential(CODES[:1]))
    rules_hold(found)
    lead = only(found, "rair")
    assert (lead.method, lead.estimate.note) == ("wilson", notes.ONLY_THESE)
    assert len(texts(found)) > 20


def test_without_a_first_decision_only_disagreement_is_told() -> None:
    study = sequential(CODES)
    one = study.readings[0]
    aided = one.arm == 1
    columns = {name: getattr(one, name)[aided] for name in ("arm", "reader", "case", "decision", "advice")}
    found = answer(replace(study, readings=(replace(one, **columns),)))
    rules_hold(found)
    assert only(found, "rair").estimate.note == notes.NO_READING
    assert only(found, "override_rate", arm="aided").estimate.n == 17
    assert any(text.startswith("Whether readers keep a correct decision") for text in texts(found))
    lone = replace(one, **columns, arms=("aided",))
    lone = replace(lone, arm=np.zeros_like(lone.arm))
    rules_hold(answer(replace(study, readings=(lone,))))


def test_without_truth_overrides_are_counted_all_the_same() -> None:
    found = answer(sequential(CODES, truth=np.array([0, 1, 0, 1, -1, -1])))
    rules_hold(found)
    assert only(found, "override_rate", arm="aided").estimate.n == 17
    assert only(found, "switch_count", parameters={"pattern": "011"}).estimate.n == 12


def test_advice_from_a_score_and_the_declared_threshold() -> None:
    study = sequential(CODES)
    one = study.readings[0]
    assert one.advice is not None
    score = np.where(one.advice < 0, np.nan, one.advice * 0.5 + 0.25)
    scored = replace(study, readings=(replace(one, advice=None, advice_score=score),))
    assert not DIMENSION.has_data(scored, plan())
    declared = plan(operating_point={"threshold": 0.75})
    assert DIMENSION.has_data(scored, declared)
    same, other = answer(study).results, answer(scored, declared).results
    assert [r.estimate.value for r in same] == pytest.approx([r.estimate.value for r in other], nan_ok=True)
    turned = replace(study, readings=(replace(one, advice=None, advice_score=1 - score),))
    low = plan(operating_point={"threshold": 0.25, "score_direction": "lower_is_positive"})
    other = answer(turned, low).results
    assert [r.estimate.value for r in same] == pytest.approx([r.estimate.value for r in other], nan_ok=True)


def test_a_study_without_advice_or_counts_has_nothing_to_answer() -> None:
    study = sequential(CODES)
    assert not DIMENSION.has_data(Study(), plan())
    bare = replace(study.readings[0], advice=None)
    assert not DIMENSION.has_data(replace(study, readings=(bare,)), plan())
    assert DIMENSION.has_data(study, plan())


def test_a_sentence_names_a_bias_only_where_the_whole_interval_lies_below_one_half() -> None:
    def said(**counts: int) -> str:
        return " ".join(texts(answer(counted(**counts)))[:6])

    assert "automation bias in this sample" in said(n100=30, n101=10)
    assert "automation bias in this sample" not in said(n100=6, n101=4)
    assert (
        "reversed a correct decision in 6 of 10 readings that had been correct before it "
        "(60%, 95% CI 31% to 83%)"
        in said(n100=6, n101=4)
    )
    assert "corrected an incorrect decision in 4 of 7 readings" in said(n010=3, n011=4)
    assert "one half" not in said(n100=6, n101=4, n010=3, n011=4)
    assert "conservatism in this sample" in said(n010=30, n011=10)
    assert "algorithmic aversion in this sample" in said(n110=30, n111=10)
    assert "which is consistent with automation complacency" in said(n000=30, n001=10)
    assert "cannot be assessed: no reader was right where the advice was wrong" in said(n010=30)


def test_many_sets_are_told_in_one_overview() -> None:
    one = counted(n011=4, n010=3).reliance_counts[0]
    sets = tuple(one.model_copy(update={"set": f"set {i}"}) for i in range(EACH_UP_TO + 1))
    found = answer(Study(reliance_counts=sets))
    rules_hold(found)
    assert len(found.parts) == 1
    assert found.parts[0].figures[0].id == "trust_sets"
    few = answer(Study(reliance_counts=sets[:2]))
    assert [EN(part.title) for part in few.parts[:2] if part.title] == ["set 0", "set 1"]


def test_several_contrasts_and_tasks_keep_their_results_apart() -> None:
    study = sequential(CODES)
    tasks = tuple(replace(study.readings[0], task=name) for name in ("chest", "knee"))
    found = answer(replace(study, readings=tasks))
    rules_hold(found)
    assert {r.scope["task"] for r in found.results} == {"chest", "knee"}
    ids = [f.id for part in found.parts for f in part.figures]
    assert len(ids) == len(set(ids)) == 6


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_any_pattern_of_readings_gives_results_and_texts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 5)), int(rng.integers(1, 8)))
    codes = rng.choice([0.0, 1, 2, 3, 4, 5, 6, 7, np.nan], shape)
    codes[0, 0] = rng.integers(0, 8)
    found = answer(sequential(codes, confidence=rng.integers(1, 4, shape).astype(float)))
    rules_hold(found)
    assert texts(found)


def test_of_decisions_in_sittings_of_their_own_none_is_said_to_have_changed() -> None:
    study = sequential(np.repeat(CODES, 4, axis=1))
    same_sitting = " ".join(EN(m) for part in answer(study).parts for m in part.finding)
    assert "reversed a correct decision" in same_sitting
    apart = replace(study, readings=(replace(study.readings[0], sequential=False),))
    part, _ = answer(apart).parts
    said = " ".join(EN(m) for m in part.finding)
    captions = " ".join(EN(t.caption) for t in part.tables)
    for word in (
        "became",
        "stayed",
        "gave up",
        "corrected",
        "automation bias",
        "changed",
        "before",
        "afterwards",
    ):
        assert word not in said, word
    assert "readers whose own decision was correct decided incorrectly with the aid in" in said
    assert "before the advice" not in captions
