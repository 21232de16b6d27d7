"""Acceptance limits from risk: needed likelihood ratios against counts of people by hand."""

import json
import re
from typing import Any

import pytest
from pydantic import ValidationError
from studies import plan
from test_verdicts import EN, goal, judged, table

from tests.report.made_up import about
from trustreport.assessment.assess import Assessment, assess
from trustreport.assessment.verdicts import Verdict
from trustreport.assessment.verdicts.risk import needed_rates
from trustreport.measures.confusion.counts import (
    least_pair,
    ratio_needed,
    sensitivity_needed,
    specificity_needed,
)
from trustreport.report import html
from trustreport.report.answer.acceptance import criterion_rows
from trustreport.report.document import document
from trustreport.study.plan import RiskLimits

# Of 1,000 people 100 are ill; 90 of them and 180 of the 900 healthy test positive: 90 in 270 and 10 in 730.
BEFORE, AFTER_POSITIVE, AFTER_NEGATIVE = 100 / 1000, 90 / 270, 10 / 730


def of_risk(study: Any = None, **risk: float) -> Verdict:
    declared = {"pre_test": BEFORE, **risk}
    return judged(study or table(), goal("finds", 0.8, risk=declared))[0]


@pytest.mark.parametrize(
    "ill, healthy, tp, fp",
    [(100, 900, 90, 180), (50, 950, 45, 19), (300, 100, 240, 30), (1, 999, 1, 99)],
)
def test_ratios_needed_are_those_of_people_counted(ill: int, healthy: int, tp: int, fp: int) -> None:
    n, fn, tn = ill + healthy, ill - tp, healthy - fp
    needed = ratio_needed(ill / n, tp / (tp + fp))
    assert needed == pytest.approx((tp / ill) / (fp / healthy))
    if fn:
        assert ratio_needed(ill / n, fn / (fn + tn)) == pytest.approx((fn / ill) / (tn / healthy))


def test_rates_needed_give_the_risks_wished_when_people_are_counted() -> None:
    positive, negative = ratio_needed(BEFORE, AFTER_POSITIVE), ratio_needed(BEFORE, AFTER_NEGATIVE)
    assert least_pair(positive, negative) == pytest.approx((90 / 100, 720 / 900))
    # With 720 of 900 healthy negative both limits ask for 90 of 100 ill positive.
    assert sensitivity_needed(720 / 900, positive, negative) == pytest.approx(0.9)
    sensitivity = sensitivity_needed(630 / 900, lr_negative=negative)
    missed = 100 * (1 - sensitivity)
    assert missed / (missed + 630) == pytest.approx(AFTER_NEGATIVE)
    specificity = specificity_needed(80 / 100, lr_positive=positive)
    alarms = 900 * (1 - specificity)
    assert 80 / (80 + alarms) == pytest.approx(AFTER_POSITIVE)


@pytest.mark.parametrize("before, after", [(0, 0.5), (0.5, 1), (1.2, 0.5)])
def test_a_risk_of_nobody_or_everybody_has_no_ratio(before: float, after: float) -> None:
    with pytest.raises(ValueError, match="a risk must lie in"):
        ratio_needed(before, after)


def test_a_needed_ratio_is_compared_with_the_interval_at_the_criterions_place() -> None:
    # 90 of 100 and 20 of 200: positive ratio 9, negative 1/9; the intervals 6.0 to 13.7 and 0.06 to 0.20.
    found = of_risk(after_positive=AFTER_POSITIVE, after_negative=AFTER_NEGATIVE)
    assert [(one.name, one.needed) for one in found.risk] == [
        ("lr_positive", pytest.approx(4.5)),
        ("lr_negative", pytest.approx(0.125)),
    ]
    assert [one.word for one in found.risk] == ["pass", "inconclusive"]
    assert [one.result.estimate.value for one in found.risk if one.result] == pytest.approx([9, 1 / 9])
    assert of_risk(after_positive=0.7).risk[0].word == "fail"  # 21 is needed


def test_the_limits_decide_no_verdict() -> None:
    alone = judged(table(), goal("finds", 0.8))[0]
    beside = of_risk(after_positive=0.7)
    assert (beside.word, beside.bound, EN(beside.reason)) == (alone.word, alone.bound, EN(alone.reason))


def test_the_interval_has_the_level_of_the_criterion() -> None:
    found = judged(table(), goal("finds", 0.8, alpha=0.05, risk={"pre_test": BEFORE, "after_positive": 0.3}))[
        0
    ]
    result = found.risk[0].result
    assert result is not None
    assert found.level == result.estimate.level == 0.9


def test_a_place_without_a_ratio_is_not_assessable() -> None:
    declared = goal("finds", 0.2, risk={"pre_test": 0.1, "after_positive": 0.3})
    found = judged(table(tp=20, fn=10, fp=0, tn=0), declared)[0].risk[0]
    assert found.word == "not assessable"
    assert "not assessable." in EN(found.text)


def test_what_withholds_the_verdict_withholds_the_limits() -> None:
    declared = goal("finds", 0.8, risk={"pre_test": 0.1, "after_positive": 0.3})
    found = assess(table(), plan(endpoints=[declared])).verdicts[0]  # not fixed in advance
    assert [found.word, found.risk[0].word] == ["not assessable", "not assessable"]


def test_the_limits_stand_beside_the_criterion_and_in_the_results() -> None:
    risk = {"pre_test": 0.1, "after_positive": 0.3, "after_negative": 0.02, "specificity": 0.8}
    made = _assessed(risk)
    said = " ".join(criterion_rows(made, EN)[0].risk)
    assert "For a risk of 10% to rise to 30% or more after a positive result" in said
    assert "must be at least 3.86: met, 9.00 (95% CI " in said
    assert "at most 0.18: inconclusive, 0.11 (95% CI 0.06 to 0.19)." in said
    # 1 - (9 / 49) * 0.8 = 0.85306, upwards
    assert said.endswith("With a specificity of 80%, this needs a sensitivity of at least 85.4%.")
    entry = json.loads(json.dumps(document(made, {}, EN)["verdicts"][0]))
    assert [one["needed"] for one in entry["risk"]] == pytest.approx([27 / 7, 9 / 49])
    assert entry["rates_needed"] == {"sensitivity": pytest.approx(1 - 9 / 49 * 0.8)}
    assert entry["risk"][0]["value"] == pytest.approx(9)


def test_the_report_prints_the_limits_under_the_criterion() -> None:
    made = _assessed({"pre_test": 0.1, "after_positive": 0.3})
    page = re.sub(r"\s+", " ", html.render(made, **about(made)))
    sentences = page.partition('<ul class="verdict-sentences">')[2].partition("</ul>")[0]
    assert "the positive likelihood ratio must be at least 3.86: met" in sentences


def _assessed(risk: dict[str, float]) -> Assessment:
    fixed = {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"}
    return assess(table(), plan(endpoints=[goal("finds", 0.8, risk=risk)], study=fixed))


def test_a_given_rate_that_no_other_can_make_up_for_is_named() -> None:
    said = criterion_rows(_assessed({"pre_test": 0.1, "after_positive": 0.5, "specificity": 0.8}), EN)[0].risk
    assert said[-1] == "With a specificity of 80%, no sensitivity is high enough."  # 9 * 0.2 is above 1
    both = criterion_rows(
        _assessed({"pre_test": 0.1, "after_positive": 1 / 3, "after_negative": 10 / 730}), EN
    )
    assert both[0].risk[-1] == "A sensitivity of 90.0% with a specificity of 80.0% reaches both limits."


def test_rates_are_asked_for_where_one_is_given_or_both_ratios_are() -> None:
    assert needed_rates(RiskLimits(pre_test=0.1, after_positive=0.3)) == {}
    assert set(needed_rates(RiskLimits(pre_test=0.1, after_positive=0.3, sensitivity=0.9))) == {"specificity"}


@pytest.mark.parametrize(
    "risk, said",
    [
        ({"pre_test": 0.1}, "after_positive or after_negative"),
        ({"pre_test": 0.1, "after_positive": 0.1}, "after_positive: above pre_test"),
        ({"pre_test": 0.1, "after_negative": 0.2}, "after_negative: below pre_test"),
        ({"pre_test": 0, "after_positive": 0.2}, "greater than 0"),
    ],
)
def test_a_risk_that_does_not_move_is_refused(risk: dict[str, float], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        plan(endpoints=[goal("finds", 0.8, risk=risk)])


def test_a_risk_beside_what_is_only_estimated_is_refused() -> None:
    with pytest.raises(ValidationError, match="a hypothesis other than estimation"):
        plan(
            endpoints=[
                goal("finds", None, hypothesis="estimation", risk={"pre_test": 0.1, "after_positive": 0.3})
            ]
        )
