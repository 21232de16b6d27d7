"""One number of one period: every dimension reports it of the cases with complete follow-up."""

from dataclasses import replace

import monitored as m
import numpy as np
import pytest

from trustreport.assessment.assess import assess
from trustreport.assessment.performance.keys import is_mature
from trustreport.study.plan import StudyFacts
from trustreport.study.study import Dataset, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

SAY = catalogue("en")
# Of thirty days, twenty are less than twenty days old at their end.
YOUNG = {"reference_standard": {"maturity_days": 20}}


def leading(results: tuple[Result, ...], id: str, **scope: object) -> list[Result]:
    return [r for r in results if r.id == id and r.primary and r.within(**scope) and "site" not in r.scope]


@pytest.fixture(scope="module")
def found() -> object:
    study = m.over_time(0.9, 0.6, columns={"age": ["old", "young"] * 100})
    study = Study(datasets=study.datasets[1:])
    declared = m.plan(study, vigilance={"data_cut": m.first_day(3).isoformat(), "baseline_dataset": None},
                      subgroups=[{"name": "age"}], **YOUNG)  # fmt: skip
    return assess(study, declared)


@pytest.mark.parametrize("measure", ["sensitivity", "specificity", "auc", "oe_ratio"])
def test_every_chapter_has_the_same_number_of_a_period(found: object, measure: str) -> None:
    (here,) = leading(found.results, "vigilance.period_value", period="p2", endpoint=measure)
    of = "advice_value" if measure == "oe_ratio" else "advice_accuracy"
    there = [r for r in leading(found.results, f"{of}.{measure}", dataset="p2")
             if not {"subgroup", "parameters"} & set(r.scope)]  # fmt: skip
    assert there
    for r in there:
        assert r.estimate.n == here.estimate.n
        assert r.estimate.value == pytest.approx(here.estimate.value, abs=1e-12)


def test_groups_and_errors_are_of_ripe_cases_too(found: object) -> None:
    study: Study = found.study
    dataset: Dataset = study.datasets[1]
    old = dataset.cases.date <= np.datetime64(m.first_day(3)) - np.timedelta64(20, "D")
    positives = int((dataset.cases.truth[old] == 1).sum())
    (mine,) = (e for e in found.errors if e.name == "p2")
    assert mine.positives == positives < int((dataset.cases.truth == 1).sum())
    groups = leading(found.results, "subgroups.group_performance", dataset="p2", endpoint="sensitivity")
    assert sum(r.details["positives"] for r in groups) == positives


def test_how_many_are_left_out_is_said(found: object) -> None:
    study: Study = found.study
    old = study.datasets[1].cases.date <= np.datetime64(m.first_day(3)) - np.timedelta64(20, "D")
    said = f"{int((~old).sum())} cases of p2 with a known truth were excluded"
    for name in ("advice_accuracy", "advice_value", "subgroups"):
        (finding,) = (f for f in found.findings if f.dimension == name)
        assert sum(said in SAY(text) for part in finding.parts for text in part.finding) == 1


# ---------------------------------------------------------------- cases without a date


@pytest.mark.parametrize(
    ("dated", "days_after_end", "mature"),
    [
        # p1 ends on 30 January; a truth needs 20 days.
        ("none", 20, "all"),
        ("none", 19, "none"),
        ("half", 20, "all"),
        ("half", 19, "old and dated"),
    ],
)
def test_a_case_without_a_date_is_as_old_as_the_end_of_its_period(
    dated: str, days_after_end: int, mature: str
) -> None:
    study = m.over_time(0.9)
    baseline, one = study.datasets
    date = one.cases.date.copy()
    date[:: 1 if dated == "none" else 2] = np.datetime64("NaT")
    for column in (date, None) if dated == "none" else (date,):
        undated = replace(one, cases=replace(one.cases, date=column))
        both = Study(datasets=(baseline, undated))
        cut = np.datetime64(m.first_day(2)) - 1 + days_after_end
        declared = m.plan(both, vigilance={"data_cut": str(cut)}, **YOUNG)
        found = is_mature(undated, both, declared)
        if mature == "old and dated":
            assert (found == (date <= cut - 20)).all(), "a missing date is not before any day"
        else:
            assert found.all() if mature == "all" else not found.any()
        open_end = declared.model_copy(update={"datasets": ()})
        assert not is_mature(undated, both, open_end)[np.isnat(date)].any(), "nothing shows their age"
        assert is_mature(baseline, both, open_end).all(), "only cases of a period can be too young"


def test_verdicts_on_cases_without_a_date_are_withheld_with_their_reason() -> None:
    study = m.over_time(0.9)
    baseline, one = study.datasets
    undated = Study(datasets=(baseline, replace(one, cases=replace(one.cases, date=None))))
    fixed = StudyFacts.model_validate({"sap_locked_at": "2025-01-01", "data_opened_at": "2026-06-01"})
    said = {"endpoint": "found", "measure": "vigilance.period_value", "of": "auc", "period": "p1"}
    groups = {
        "endpoints": [said | {"hypothesis": "performance goal", "bound_or_margin": 0.5}],
        **YOUNG,
    }
    for days_after_end, word in ((20, "pass"), (19, "not assessable")):
        cut = str(np.datetime64(m.first_day(2)) - 1 + days_after_end)
        declared = m.plan(undated, vigilance={"data_cut": cut}, **groups)
        found = assess(undated, declared.model_copy(update={"study": fixed}))
        (verdict,) = found.verdicts
        assert verdict.word == word, SAY(verdict.reason)
        fired = [SAY(o.message) for o in found.checks if o.check == "P53" and o.status == "fired"]
        if word == "pass":
            assert not fired
        else:
            assert "P53" in verdict.checks
            assert "In the period, 200 cases have no date" in fired[0]
