"""The protocols of a reader study: hand counts, paired differences, what lacks, published sets by formula."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest

from tests.dimensions.test_reliance import rules_hold, sequential
from tests.english import english
from tests.studies import plan
from trustreport.assessment.dimensions.decision_benefit import DIMENSION
from trustreport.assessment.finding import Finding
from trustreport.assessment.narrative.texts import numbers
from trustreport.report.tables import table
from trustreport.study.plan import Confusion
from trustreport.study.study import ArmCounts, CountsSet, Study
from trustreport.vocabulary.messages import catalogue, say
from trustreport.vocabulary.results import Result

EN = catalogue("en")


def answer(study: Study, **declared: Any) -> Finding:
    assert DIMENSION.answer is not None
    return DIMENSION.answer(study, plan(**declared))


def only(found: Finding, name: str, protocol: str, endpoint: str) -> Result:
    (hit,) = [
        r
        for r in found.results
        if r.name == name and r.place.protocol == protocol and r.endpoint == endpoint and r.primary
    ]
    return hit


def study(n_readers: int = 5, n_cases: int = 60, seed: int = 4) -> Study:
    """Readers wrong on some cases, advice the same for all readers of a case."""
    rng = np.random.default_rng(seed)
    before = rng.random((n_readers, n_cases)) < 0.75
    advice = rng.random(n_cases) < 0.85
    after = np.where(rng.random(before.shape) < 0.4, advice, before)
    return sequential(4.0 * before + 2 * advice + after)


def test_sensitivity_of_each_protocol_is_that_of_its_decisions() -> None:
    one = study()
    found = answer(one)
    rules_hold(found)
    readings = one.readings[0]
    grid = readings.grid(readings.decision, ("aided", "unaided"))
    advice = readings.grid(readings.advice, ("aided", "unaided"))[0]
    truth = readings.cases.truth
    either, both = np.maximum(grid[1], advice), np.minimum(grid[1], advice)
    for protocol, decided in (
        ("reader_alone", grid[1]),
        ("device_alone", advice),
        ("second_reader", either),
        ("consensus", both),
        ("assistance", grid[0]),
    ):
        for endpoint, positive in (("sensitivity", 1), ("specificity", 0)):
            right = (decided[:, truth == positive] == positive).mean()
            got = only(found, "protocol_performance", protocol, endpoint).estimate
            assert got.value == pytest.approx(right), protocol
            assert got.low <= got.value <= got.high
            if protocol == "reader_alone":
                continue
            difference = only(found, "protocol_difference", protocol, endpoint)
            alone = (grid[1][:, truth == positive] == positive).astype(int)
            now = (decided[:, truth == positive] == positive).astype(int)
            assert difference.estimate.value == pytest.approx(right - alone.mean())
            assert difference.details["gained"] == ((now == 1) & (alone == 0)).sum()
            assert difference.details["lost"] == ((now == 0) & (alone == 1)).sum()


def test_what_can_only_change_decisions_one_way_has_limits_on_that_side() -> None:
    """The consensus finds no case that the reader missed, and a second reader loses none."""
    found = answer(study())
    for protocol, side in (("second_reader", 1), ("consensus", -1)):
        for endpoint, of in (("sensitivity", 1), ("specificity", -1)):
            e = only(found, "protocol_difference", protocol, endpoint).estimate
            assert 0 <= min(side * of * e.low, side * of * e.high) <= side * of * e.value


def test_a_protocol_that_changed_no_decision_has_an_interval_from_none_on() -> None:
    """With a device that agrees with every reader nothing is gained here, and few cases say little."""
    right = np.ones((4, 30), bool)
    found = answer(sequential(4.0 * right + 2 * right + right))
    e = only(found, "protocol_difference", "second_reader", "sensitivity").estimate
    assert (e.value, e.low) == (0.0, 0.0)
    assert 0.05 < e.high < 0.5


def test_the_measured_protocol_is_the_change_that_the_report_leads_with() -> None:
    """One number: assistance minus the reader alone is the change of the arms."""
    found = answer(study())
    ours = only(found, "protocol_difference", "assistance", "sensitivity").estimate
    (arms,) = [
        r.estimate
        for r in found.results
        if r.name == "arm_difference" and r.endpoint == "sensitivity" and r.primary
    ]
    assert (ours.value, ours.low, ours.high) == (arms.value, arms.low, arms.high)


def test_triage_and_times_where_they_are_declared() -> None:
    one = study()
    readings = one.readings[0]
    score = np.where(readings.advice == 1, 0.9, np.where(readings.case % 3 == 0, 0.05, 0.3))
    scored = replace(one, readings=(replace(readings, advice_score=score),))
    reading = {"rule_out_below": 0.1, "unaided_seconds": 60, "aided_seconds": 30}
    found = answer(scored, reading=reading)
    triage = only(found, "protocol_performance", "triage", "specificity").estimate
    alone = only(found, "protocol_performance", "reader_alone", "specificity").estimate
    assert triage.value > alone.value
    for protocol, seconds in (("reader_alone", 60), ("device_alone", 0), ("assistance", 30)):
        assert only(found, "protocol_performance", protocol, "seconds").estimate.value == seconds
    assert 0 < only(found, "protocol_performance", "triage", "seconds").estimate.value < 60
    without = answer(scored)
    assert not [r for r in without.results if r.place.protocol == "triage"]
    said = " ".join(EN(m) for part in without.parts for m in part.finding)
    assert "triage (needs scores shown to readers" in said


def test_two_readers_cannot_arbitrate_and_one_reader_is_described() -> None:
    for readers in (2, 1):
        found = answer(study(readers))
        rules_hold(found)
        assert not [r for r in found.results if r.place.protocol == "arbitration"]
        assert only(found, "protocol_difference", "second_reader", "sensitivity").estimate.n
    several = answer(study(3))
    assert only(several, "protocol_performance", "arbitration", "sensitivity").estimate.n


def test_every_text_and_table_can_be_written() -> None:
    found = answer(study())
    parts = [p for p in found.parts if any(t.id.startswith("protocols_") for t in p.tables)]
    assert len(parts) == 1
    for source in parts[0].tables:
        assert len(table(source, EN).lines) in (6, 5)
    assert [EN(f.alt) for f in parts[0].figures]
    assert [EN(m) for m in parts[0].finding]


@pytest.mark.parametrize("role, outside", [("second reader", True), ("autonomous", False), (None, False)])
def test_a_sentence_gives_both_changes_of_each_protocol(role: str | None, outside: bool) -> None:
    """A loss in one class is never left out beside a gain in the other, however wide its interval."""
    found = answer(study(4, 30, seed=7), intended_use={"decision_role": role})
    said = [
        EN(m)
        for part in found.parts
        for m in part.finding
        if any(t.id.startswith("protocols_") for t in part.tables)
    ]
    every = [r for r in found.results if r.name == "protocol_difference"]
    assert any(r.estimate.low > 0 or r.estimate.high < 0 for r in every)
    assert any(r.estimate.low < 0 < r.estimate.high for r in every)
    for protocol in {str(r.place.protocol) for r in every}:
        name = EN(say(f"decision_benefit.protocols.name.{protocol}"))
        (sentence,) = [one for one in said if name in one.lower() and "Not computed" not in one]
        for r in (r for r in every if r.place.protocol == protocol):
            change = EN(say("decision_benefit.protocols.change", **numbers(r.estimate), measure=r.endpoint))
            assert change in sentence
        assert ("outside the intended use" in sentence) == (outside and protocol == "device_alone")


def test_separate_published_counts_use_the_formulas_and_say_what_they_assume() -> None:
    published = Study(
        arms=("unaided", "aided"),
        counts=(CountsSet("a", {"unaided": ArmCounts(20, 80), "aided": ArmCounts(15, 85)}),),
        confusion=(Confusion(set="a", tp=45, fp=5, fn=5, tn=45),),
    )
    found = answer(published)
    majority = only(found, "protocol_performance", "displacement", "accuracy")
    assert majority.estimate.value == pytest.approx(0.8 * (1.8 + 0.8 - 2 * 0.8 * 0.9))
    assert majority.estimate.low < majority.estimate.value < majority.estimate.high
    assert "independent" in english(majority.estimate.note)
    assert isnan(only(found, "protocol_performance", "inhibition", "accuracy").estimate.value)
    assert "assume that reader and device err independently" in " ".join(
        EN(m) for part in found.parts for m in part.finding
    )
    other = replace(published, confusion=(Confusion(set="b", tp=45, fp=5, fn=5, tn=45),))
    assert DIMENSION.has_data(other, plan()) is False
