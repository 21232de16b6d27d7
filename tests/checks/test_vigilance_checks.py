"""P48, P49 and P53 to P57: each fires on what it is about, and stays silent beside it."""

import dataclasses
from typing import Any

import monitored as m
import numpy as np
import pytest
from studies import counts

from trustreport.assessment.checks import CHECKS
from trustreport.assessment.checks.check import Evidence
from trustreport.assessment.dimensions.vigilance import answer
from trustreport.assessment.finding import CheckOutcome
from trustreport.study.study import Scores, Study
from trustreport.vocabulary.messages import catalogue

SAY = catalogue("en")


def run(check: str, study: Study, plan: Any) -> list[CheckOutcome]:
    has_periods = any(d.role == "period" for d in study.datasets)
    found = answer(study, plan).results if has_periods else ()
    (one,) = [c for c in CHECKS if c.id == check]
    return list(one.run(Evidence(study, plan, found)))


def statuses(outcomes: list[CheckOutcome]) -> set[str]:
    return {o.status for o in outcomes}


def said(outcomes: list[CheckOutcome]) -> str:
    return "\n".join(SAY(o.message) for o in outcomes if o.status == "fired")


def scored(**more: Any) -> Study:
    truth, score = m.drawn(40, 0.9, 0.9, 1)
    return Study(datasets=(m.period(1, truth, score, role="external", name="p1", **more),))


def test_p48_fires_where_versions_are_pooled() -> None:
    study = scored(version=m.coded(["1.0"] * 30 + ["1.1"] * 10))
    assert "Versions 1.0 and 1.1 are pooled" in said(run("P48", study, m.plan(study)))


def test_p48_fires_where_no_single_threshold_decides() -> None:
    study = scored()
    score = study.datasets[0].scores[""].score
    decision = (score >= np.where(np.arange(40) < 20, 0.3, 0.7)).astype(np.int8)
    mixed = dataclasses.replace(study.datasets[0], scores={"": Scores(score, decision)})
    assert "do not follow a single threshold" in said(run("P48", Study(datasets=(mixed,)), m.plan(study)))


def test_p48_is_clear_with_one_version_and_one_threshold_and_cannot_run_without_either() -> None:
    study = scored(version=m.coded(["1.0"] * 40))
    assert statuses(run("P48", study, m.plan(study))) == {"clear"}
    one = scored()
    score = one.datasets[0].scores[""].score
    decided = dataclasses.replace(one.datasets[0], scores={"": Scores(score, (score >= 0.4).astype(np.int8))})
    assert statuses(run("P48", Study(datasets=(decided,)), m.plan(one))) == {"clear"}
    assert statuses(run("P48", one, m.plan(one))) == {"cannot run"}


def test_p49_fires_on_another_version_and_not_on_one_in_use() -> None:
    study = scored(version=m.coded(["0.9"] * 40))
    assert "Version tested: 0.9; version declared: 1.0." in said(run("P49", study, m.plan(study)))
    in_use = m.plan(study, vigilance={"versions_in_use": ["0.9", "1.0"]})
    assert statuses(run("P49", study, in_use)) == {"clear"}
    arms = m.plan(scored(), arms=[{"arm": "aided", "software_version": "0.8"}, {"arm": "unaided"}])
    (one,) = run("P49", counts((5, 5), (4, 6)), arms)
    assert "Version tested: 0.8" in said([one])
    assert one.place.arm == "aided"
    assert statuses(run("P49", scored(), arms)) == {"cannot run"}, "nobody has read with it"
    assert statuses(run("P49", scored(), m.plan(scored()))) == {"cannot run"}


@pytest.mark.parametrize("days, status", [(5, "clear"), (25, "fired")])
def test_p53_fires_where_many_cases_are_too_young(days: int, status: str) -> None:
    study = m.over_time(0.9)
    cut = {"data_cut": m.first_day(2).isoformat()}
    plan = m.plan(
        study, vigilance=cut, reference_standard={"maturity_days": days}, limits={"P53_immature": 0.2}
    )
    assert statuses(run("P53", study, plan)) == {status}


def test_p53_cannot_run_without_a_declared_age() -> None:
    study = m.over_time(0.9)
    assert statuses(run("P53", study, m.plan(study))) == {"cannot run"}


def test_p54_fires_on_cases_within_the_baseline_and_on_a_baseline_that_is_not_fixed() -> None:
    study = m.over_time(0.9)
    assert statuses(run("P54", study, m.plan(study))) == {"clear"}
    inside = dataclasses.replace(study.datasets[1], cases=dataclasses.replace(
        study.datasets[1].cases, date=study.datasets[1].cases.date - np.timedelta64(10, "D")))  # fmt: skip
    overlapping = Study(datasets=(study.datasets[0], inside))
    assert "includes 67 cases of the period" in said(
        run("P54", overlapping, m.plan(overlapping))
    )
    assert "No baseline is declared" in said(
        run("P54", study, m.plan(study, vigilance={"baseline_dataset": None}))
    )
    assert "is not a data set" in said(
        run("P54", study, m.plan(study, vigilance={"baseline_dataset": "gone"}))
    )


def test_p55_fires_without_a_budget_beyond_the_plan_and_where_tests_add_up() -> None:
    study = m.over_time(0.9, 0.9, 0.9)
    planned = {"planned_looks": 12}
    clear = m.plan(study, indicators=[m.SENSITIVITY], vigilance=planned)
    assert statuses(run("P55", study, clear)) == {"clear"}
    bare = {k: v for k, v in m.SENSITIVITY.items() if k != "false_alert_budget"}
    assert (
        "three times, without adjustment for repeated testing. "
        "The probability of at least one false alert is about 14%"
        in said(run("P55", study, m.plan(study, indicators=[bare])))
    )
    above = m.plan(study, indicators=[m.SENSITIVITY], vigilance={"planned_looks": 2})
    assert "3 looks, 2 planned" in said(run("P55", study, above))
    again = m.plan(study, indicators=[{**m.SENSITIVITY, "chart": "SPRT"}], vigilance=planned)
    assert "the budget is 5%" in said(run("P55", study, again))
    assert statuses(run("P55", study, m.plan(study))) == {"cannot run"}


def mixed(share: float, hard: float, n: int, k: int) -> Any:
    """Positive cases only, some of them hard: 95 % of the easy ones are right, of the others `hard`."""
    is_hard = np.arange(n) < share * n
    right = np.where(is_hard, np.arange(n) % 100 < 100 * hard, np.arange(n) % 20 > 0)
    names = np.where(is_hard, "hard", "easy").tolist()
    return m.period(k, np.ones(n), np.where(right, 0.8, 0.2), columns={"difficulty": names})


def test_p56_fires_where_the_mix_explains_the_change_and_not_where_it_does_not() -> None:
    study = Study(datasets=(mixed(0.1, 0.5, 1000, 0), mixed(0.7, 0.5, 1000, 1)))
    fired = run("P56", study, m.plan(study))
    assert "standardised to the baseline case mix" in said(fired)
    worse = Study(datasets=(mixed(0.1, 0.5, 1000, 0), mixed(0.1, 0.0, 1000, 1)))
    assert "fired" not in statuses(run("P56", worse, m.plan(worse)))
    assert statuses(run("P56", m.over_time(0.9), m.plan(m.over_time(0.9)))) == {"cannot run"}


def test_p57_fires_on_silence_in_few_cases_and_without_a_log() -> None:
    study = m.over_time(0.9)
    assert "No incident log was submitted" in said(run("P57", study, m.plan(study)))
    logged = m.plan(study, incidents=[])
    assert "No incident in 200 cases is compatible with a rate of up to 18 per 1,000" in said(
        run("P57", study, logged)
    )
    bounded = m.plan(study, incidents=[], limits={"P57_rate": 0.02})
    assert statuses(run("P57", study, bounded)) == {"clear"}
    some = m.plan(study, incidents=[{"incident": "I", "event_date": m.first_day(1).isoformat()}])
    assert statuses(run("P57", study, some)) == {"clear"}


def test_p57_fires_where_nobody_ever_overrides() -> None:
    truth = np.tile([1, 0], 30)
    base = m.over_time(0.9, n=60)
    study = m.read(base, final=truth, advice=truth, first=truth, truth=truth)
    plan = m.plan(study, incidents=[], limits={"P57_rate": 1.0})
    assert "No override in 60 readings is compatible with a rate of up to 6.1%" in said(
        run("P57", study, plan)
    )
    other = m.read(base, final=1 - truth, advice=truth, first=truth, truth=truth)
    assert statuses(run("P57", other, plan)) == {"clear"}
