"""The equalised-odds difference in a report: by hand counts, small groups, withheld and public groups."""

from typing import Any

import pytest

from tests.dimensions.test_subgroups import EN, SEX, answer, counted, declared, entry
from tests.english import english
from trustreport.assessment.assess import assess
from trustreport.assessment.dimensions.subgroups.results import ODDS
from trustreport.assessment.finding import Finding
from trustreport.study.study import Study

WOMEN_MEN = {"women": (90, 20, 10, 180), "men": (60, 30, 40, 170)}  # tp, fp, fn, tn


def said(found: Finding) -> str:
    return " ".join(EN(text) for part in found.parts for text in part.finding)


def test_the_larger_of_both_rates_differences_is_reported_with_both() -> None:
    found = answer(counted(**WOMEN_MEN))
    e = entry(found, ODDS, parameters={"attribute": "sex"}).estimate
    assert e.value == pytest.approx(0.9 - 0.6)
    assert e.details["false_positive_difference"] == pytest.approx(30 / 200 - 20 / 200)
    assert 0 < e.low < e.value < e.high < 1
    assert "Equalised-odds difference over 2 groups of sex: 30.0 points (95% CI " in said(found)
    assert "true positives (30.0 points) and of false positives (5.0 points)" in said(found)


def test_a_group_too_small_for_a_percentage_is_left_out_by_name() -> None:
    found = answer(counted(**WOMEN_MEN, other=(1, 1, 1, 1)))
    result = entry(found, ODDS, parameters={"attribute": "sex"})
    assert result.estimate.value == pytest.approx(0.3)
    assert "left out, too few cases: sex: other" in english(result.estimate.note)
    assert result.estimate.n == 600


def test_a_public_report_gives_none_over_suppressed_groups() -> None:
    small = {"women": (90, 20, 10, 180), "men": (60, 3, 40, 170)}
    shown: dict[str, Any] = {"report": {"kind": "certification", "release": "public"}}
    assert any(r.id == ODDS for r in answer(counted(**WOMEN_MEN), declared(SEX, **shown)).results)
    assert not any(r.id == ODDS for r in answer(counted(**small), declared(SEX, **shown)).results)


def test_a_criterion_may_bound_it() -> None:
    criterion = {
        "endpoint": "alike",
        "measure": ODDS,
        "hypothesis": "performance goal",
        "bound_or_margin": 0.15,
        "alpha": 0.025,
    }
    fixed = {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"}

    def word(study: Study) -> str:
        return assess(study, declared(SEX, endpoints=[criterion], study=fixed)).verdicts[0].word

    assert word(counted(**WOMEN_MEN)) == "fail"
    assert word(counted(women=(900, 200, 100, 1800), men=(890, 210, 110, 1790))) == "pass"
