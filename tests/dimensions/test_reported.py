"""Published figures as a dimension: the contract case, its entries, its telling."""

import csv
import json
import math

import pytest

from tests.english import english
from trustreport.api import read_study
from trustreport.assessment.dimensions.reported import DIMENSION
from trustreport.assessment.finding import Finding, PlainTable
from trustreport.measures.note import note
from trustreport.report.tables import table
from trustreport.study.plan import Plan, Reported
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")


def answer(*sets: dict) -> Finding:
    plan = Plan.model_validate({"report": {"kind": "certification"}, "device": {}})
    assert DIMENSION.answer is not None
    return DIMENSION.answer(Study(reported=tuple(Reported.model_validate(s) for s in sets)), plan)


def named(finding: Finding, id: str, **scope):
    return [r for r in finding.results if r.id == f"reported.{id}" and r.within(**scope)]


KNEE = {"set": "knee", "positives": 143, "negatives": 67, "metrics": {"accuracy": "0.71", "f1": "0.75"}}
CLASH = {"set": "clash", "positives": 66, "negatives": 40, "metrics": {"accuracy": "0.94", "ppv": "0.90"}}
ONE = {**KNEE, "set": "one", "metrics": {"precision": "0.89", "recall": "0.68", "auc": "0.8"}}
FOUR = {"ppv": "90%", "sensitivity": "0.98", "specificity": "0.83", "npv": "0.97"}
TOTAL = {"set": "total", "total": 106, "metrics": FOUR}
HUGE = {"set": "huge", "total": 10**9, "metrics": {"accuracy": "0.88"}}
NO_SUM = {**KNEE, "set": "no sum", "total": 211}


def test_the_contract_case(reference):
    folder = reference / "contract/published-figures"
    study, plan = read_study(folder)
    results = DIMENSION.answer(study, plan).results
    rows = list(csv.DictReader((folder / "expected.csv").read_text().splitlines()))
    assert len(rows) > 100
    for row in rows:
        scope = json.loads(row["scope"])
        (found,) = [r for r in results if r.id == row["id"] and r.within(**scope)]
        expected = pytest.approx(float(row["value"]), abs=float(row["tol"]))
        assert getattr(found.estimate, row["field"]) == expected, row
        assert found.primary


def test_every_entry_is_unique_has_a_text_and_explains_its_nulls():
    finding = answer(KNEE, CLASH, ONE, TOTAL, HUGE, NO_SUM)
    keys = [(r.id, json.dumps(r.scope, sort_keys=True), r.method) for r in finding.results]
    assert len(keys) == len(set(keys))
    for r in finding.results:
        assert f"method.{r.method}.text" in EN
        e = r.estimate
        assert e.note or not any(map(math.isnan, (e.value, e.low, e.high)))


def test_a_range_has_a_value_only_where_the_tables_agree():
    finding = answer(KNEE, ONE)
    (open_,) = named(finding, "metric_range", set="knee", parameters={"metric": "mcc"})
    assert math.isnan(open_.estimate.value)
    assert (open_.estimate.low, open_.estimate.high) == pytest.approx((0.45324, 0.50743), abs=5e-6)
    (sure,) = named(finding, "metric_range", set="one", parameters={"metric": "tp"})
    assert (sure.estimate.value, sure.unit, sure.estimate.n) == (97, "count", 210)


def test_a_contradiction_has_a_conflict_and_no_ranges():
    finding = answer(CLASH)
    (conflict,) = named(finding, "conflict")
    assert conflict.estimate.value == 2
    assert conflict.details["figures"] == [["accuracy", "0.94"], ["ppv", "0.90"]]
    assert conflict.details["without_any_one_of"] == [["accuracy", "0.94"], ["ppv", "0.90"]]
    assert not named(finding, "metric_range")
    assert named(finding, "consistent_matrices")[0].estimate.value == 0
    assert not finding.parts[0].tables


def test_totals_that_do_not_add_up_are_the_conflict():
    (conflict,) = named(answer(NO_SUM), "conflict")
    assert conflict.details["figures"] == {"positives": 143, "negatives": 67, "total": 211}


def test_what_was_not_tried_is_null_and_says_so():
    finding = answer(HUGE)
    (count,) = named(finding, "consistent_matrices")
    assert math.isnan(count.estimate.value)
    assert "not counted" in english(count.estimate.note)
    (accuracy,) = named(finding, "metric_range", parameters={"metric": "accuracy"})
    assert (accuracy.estimate.low, accuracy.estimate.high) == pytest.approx((0.875, 0.885))
    assert accuracy.method == "exact_bounds"


def test_an_undefined_metric_is_null_with_its_reason():
    finding = answer({**KNEE, "positives": 0, "negatives": 5, "metrics": {"specificity": "0.80"}})
    (sensitivity,) = named(finding, "metric_range", parameters={"metric": "sensitivity"})
    assert math.isnan(sensitivity.estimate.low)
    assert sensitivity.estimate.note == note("not_defined_0_0_in_any")


def test_few_sets_are_told_one_by_one_and_many_in_one_table():
    few = answer(KNEE, CLASH, ONE, TOTAL)
    assert [EN(part.title) for part in few.parts] == ["knee", "clash", "one", "total"]
    texts = [" ".join(EN(m) for m in part.finding) for part in few.parts]
    assert "Matthews correlation must be between 0.453 and 0.507." in texts[0]
    assert "no table of counts with 66 positives and 40 negatives" in texts[1]
    assert "auc “0.8”" in texts[2]
    assert "Between 64 and 66 cases are positive." in texts[3]
    many = answer(KNEE, CLASH, ONE, TOTAL, HUGE, NO_SUM)
    (part,) = many.parts
    assert EN(part.finding[0]).startswith("Of 6 sets of published figures, two are inconsistent")
    assert EN(part.finding[1]) == "One further set has too many possible tables to try each."
    counts = [line.cells[2].text.strip() for line in table(part.tables[0], EN).lines]
    assert counts == ["9", "0", "1", "3", "–", "0"]
    (part,) = answer(KNEE, CLASH, ONE, TOTAL, HUGE).parts
    assert EN(part.finding[0]).startswith("One of 5 sets of published figures is inconsistent; at least one")


def test_every_text_can_be_said():
    four = (KNEE, CLASH, ONE, TOTAL)
    for finding in (answer(KNEE), answer(*four), answer(*four, HUGE, NO_SUM)):
        for part in finding.parts:
            assert all(EN(message) for message in part.finding)
            for one in part.tables:
                assert isinstance(one, PlainTable)
                assert table(one, EN).lines
        assert all(EN(message) for message in finding.not_shown)


def test_the_table_shows_what_was_printed_beside_its_range():
    (part,) = answer({**KNEE, "positives": 1, "negatives": 1, "metrics": {"accuracy": ".5"}}).parts
    lines = [[cell.text.strip() for cell in line.cells] for line in table(part.tables[0], EN).lines]
    assert ["Accuracy", ".5", "0.500", "0.500", "0"] in lines
    assert ["True positives", "–", "0", "1", "0"] in lines
