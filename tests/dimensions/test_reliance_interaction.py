"""Interaction measures of readings: hand counts, types of advice, complexity, and what studies lack."""

from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from tests.dimensions.test_reliance import CODES, answer, only, rules_hold, sequential, texts
from tests.english import english
from tests.studies import plan
from trustreport.api import read_study
from trustreport.assessment.dimensions.reliance.interaction import NOT_OF_COUNTS
from trustreport.assessment.performance.reader_errors import reader_errors
from trustreport.measures.reliance import notes
from trustreport.study.study import Study


def with_readings(study: Study, **more: object) -> Study:
    """The study, its readings with other columns."""
    return replace(study, readings=(replace(study.readings[0], **more),))


def test_hand_counts() -> None:
    """011 four times, 010 three, 100 three, 101 four, 111 two, 000 once: 17 readings."""
    found = answer(sequential(CODES))
    rules_hold(found)
    for name, value, n in (
        ("automation_bias_odds", 3 / 4, 7),
        ("automation_bias_odds_published", (3 / 14) / (4 / 13), 17),
        ("conservatism_bias_odds", 3 / 4, 7),
        ("conservatism_bias_odds_published", (3 / 14) / (4 / 13), 17),
        ("dominance_share", 7 / 17, 17),
        ("dominance_direction", 1 / 7, 7),
        ("determination_share", 7 / 17, 17),
        ("determination_direction", 1 / 7, 7),
        ("deference_direction", 1 / 7, 7),
        ("appropriate_reliance_low_bound", 8 / 17, 17),
        ("appropriate_reliance_high_bound", 11 / 17, 17),
    ):
        e = only(found, name).estimate
        assert (e.value, e.n) == (pytest.approx(value), n), name
        assert e.low < e.value < e.high, name
        assert e.method == "cluster_twoway_t", name
    texts(found)


def test_technology_impact_is_the_inverse_of_the_odds_ratio_of_errors() -> None:
    study = sequential(np.random.default_rng(3).integers(0, 8, (5, 40)).astype(float))
    e = only(answer(study), "technology_impact").estimate
    errors = reader_errors(study.readings[0], ("aided", "unaided"), 0.95).odds_ratio
    assert (e.value, e.low, e.high) == pytest.approx((1 / errors.value, 1 / errors.high, 1 / errors.low))


def test_a_zero_cell_is_null_with_a_note() -> None:
    codes = np.array([[3.0, 2, 5, 5, 7, 0], [3, 2, 5, 5, 7, 0]])  # nobody gave up a right decision
    found = answer(sequential(codes))
    rules_hold(found)
    for name in ("automation_bias_odds", "automation_bias_odds_published"):
        for r in found.results:
            if r.name == name:
                assert isnan(r.estimate.value)
                assert r.estimate.note == notes.ZERO_CELL
    assert only(found, "deference_direction").estimate.value == 1
    texts(found)


def test_one_reader_is_described_and_nothing_fails() -> None:
    codes = np.random.default_rng(1).integers(0, 8, (1, 60)).astype(float)
    found = answer(sequential(codes, confidence=np.full((1, 60), 0.5)))
    rules_hold(found)
    e = only(found, "automation_bias_odds_published").estimate
    assert e.method == "delta_readings"
    assert notes.ONLY_THESE in e.note
    assert notes.ONLY_THIS_READER in only(found, "persuasion").estimate.note
    spread = only(found, "reader_spread_ratio").estimate
    assert isnan(spread.value)
    assert spread.note == notes.NO_SPREAD
    texts(found)


def test_without_pairs_the_reasons_are_said() -> None:
    """No reader read a case in both arms: no pattern, but technology impact compares the arms."""
    study = sequential(np.random.default_rng(2).integers(0, 8, (4, 20)).astype(float))
    one = study.readings[0]
    kept = np.where(one.arm == 0, one.case < 10, one.case >= 10)
    columns = ("arm", "reader", "case", "decision", "advice")
    unpaired = replace(one, **{name: getattr(one, name)[kept] for name in columns}, sequential=False)
    found = answer(Study(arms=study.arms, readings=(unpaired,)))
    rules_hold(found)
    assert only(found, "automation_bias_odds").estimate.note == notes.NO_READING
    assert only(found, "dominance_share").estimate.note == notes.NO_READING
    assert only(found, "technology_impact").estimate.value > 0
    texts(found)


def test_confidences_of_both_decisions_give_appropriate_reliance() -> None:
    codes = np.array([[3.0, 0, 0, 7, 7, 4], [3, 0, 0, 7, 7, 4]])
    study = sequential(codes, confidence=np.full((2, 6), 0.5))
    one = study.readings[0]
    assert one.confidence is not None
    aided = np.tile([0.5, 0.4, 0.6, 0.6, 0.5, 0.5], 2)
    sure = np.where(one.arm == 1, np.concatenate([np.zeros(12), aided]), one.confidence)
    found = answer(with_readings(study, confidence=sure))
    rules_hold(found)
    assert only(found, "appropriate_reliance").estimate.value == pytest.approx(3 / 6)
    missing = np.where(np.arange(24) == 23, np.nan, sure)
    some = only(answer(with_readings(study, confidence=missing)), "appropriate_reliance")
    assert (some.estimate.n, some.details["left_out"]) == (11, 1)
    assert isnan(only(answer(study), "persuasion").estimate.value) is False
    none = only(answer(sequential(codes)), "appropriate_reliance").estimate
    assert none.note == notes.NO_CONFIDENCE
    texts(found)


def test_a_published_table_says_what_it_cannot_hold(reference: Path) -> None:
    found = answer(*read_study(reference / "human-ai" / "interaction"))
    rules_hold(found)
    for name, why in NOT_OF_COUNTS.items():
        assert only(found, name, set="plain").estimate.note == why
    assert only(found, "technology_impact", set="plain").method == "or_delta"
    texts(found)


def test_odds_are_adjusted_for_the_complexity_of_the_cases() -> None:
    codes = np.array([[4.0, 5, 4, 4, 7, 7, 7, 7], [4, 5, 5, 4, 7, 7, 7, 7]])
    study = sequential(codes)
    complexity = np.array([1.0, 1, 2, 2, 1, 1, 2, 3])
    cases = replace(study.readings[0].cases, complexity=complexity)
    found = answer(with_readings(study, cases=cases))
    rules_hold(found)
    adjusted = only(found, "automation_bias_odds_adjusted").estimate
    # Level 1: given up 2 of 4, weight 8 of 14; level 2: 3 of 4, weight 6 of 14; nobody erred so at level 3.
    p = 8 / 14 * 2 / 4 + 6 / 14 * 3 / 4
    assert adjusted.value == pytest.approx(p / (1 - p))
    assert "3" in english(adjusted.note)
    assert only(found, "automation_bias_odds").estimate.value == pytest.approx(5 / 3)
    texts(found)


def of_types(n_readers: int = 6, n_cases: int = 60) -> Study:
    """Readers who take advice more readily when it is explained, half of the cases each."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 8, (n_readers, n_cases)).astype(float)
    explained = (np.arange(n_readers)[:, None] + np.arange(n_cases)) % 2
    codes = np.where((codes == 2) & (explained == 1), 3.0, codes)
    study = sequential(codes)
    one = study.readings[0]
    types = np.where(one.arm == 1, explained[one.reader, one.case], np.nan).astype(float)
    return with_readings(study, advice_type=types, advice_types=("score", "explained"))


def test_types_of_advice_are_compared() -> None:
    study = of_types()
    found = answer(study)
    rules_hold(found)
    shares = {t: only(found, "rair", advice_type=t).estimate for t in ("score", "explained")}
    assert shares["explained"].value == 1
    difference = only(
        found, "rair_difference", advice_type="explained", parameters={"against": "score"}
    ).estimate
    assert difference.value == pytest.approx(1 - shares["score"].value)
    assert difference.low > 0
    assert shares["score"].n + shares["explained"].n == only(found, "rair").estimate.n
    said = texts(found)
    assert any("percentage points higher with explained than with score" in text for text in said)


def test_a_single_type_is_no_factor() -> None:
    study = of_types()
    one = study.readings[0]
    assert one.advice_type is not None
    alone = with_readings(study, advice_type=np.where(np.isnan(one.advice_type), np.nan, 0.0))
    assert not [r for r in answer(alone).results if r.place.advice_type]


def test_the_column_is_read_from_a_sequential_table(tmp_path: Path) -> None:
    rows = ["reader,case,truth,initial_decision,advice,decision,advice_type"]
    rows += [
        f"R{j},C{k},{k % 2},{(j + k) % 2},{k % 2},1,{('plain', 'why', '')[k % 3]}"
        for j in (1, 2)
        for k in range(9)
    ]
    (tmp_path / "readings.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: X}\n"
        "arms: [{arm: u, aided: false}, {arm: a, aided: true}]\nreading: {design: sequential}\n"
        "tables: {readings: {file: readings.csv}}\n"
    )
    study, _ = read_study(tmp_path)
    one = study.readings[0]
    assert one.advice_types == ("plain", "why")
    assert one.advice_type is not None
    of_aided = one.advice_type[one.arm == one.arms.index("a")]
    assert np.bincount(of_aided[~np.isnan(of_aided)].astype(int)).tolist() == [6, 6]
    assert np.isnan(one.advice_type[one.arm == one.arms.index("u")]).all()


def test_the_same_seed_gives_the_same_interval() -> None:
    study = sequential(np.random.default_rng(5).integers(0, 8, (4, 30)).astype(float))
    pair = [only(answer(study, plan()), "persuasion").estimate for _ in range(2)]
    assert (pair[0].low, pair[0].high) == (pair[1].low, pair[1].high)
