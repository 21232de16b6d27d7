"""One number of one period: every dimension reports it of the cases with complete follow-up."""

import monitored as m
import numpy as np
import pytest

from trustreport.assessment import assess
from trustreport.messages import catalogue
from trustreport.results import Result
from trustreport.study import Dataset, Study

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
