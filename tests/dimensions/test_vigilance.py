"""Vigilance: what changed, what the charts say, and why some numbers cannot be had."""

import dataclasses
import datetime as dt
from math import isnan
from typing import Any

import monitored as m
import numpy as np
import pytest
from scipy import stats

from tests.english import english
from trustreport.assessment.assess import assess
from trustreport.assessment.dimensions.vigilance import DIMENSION, answer, has_data
from trustreport.assessment.dimensions.vigilance.events import after, due, stage, term
from trustreport.assessment.dimensions.vigilance.periods import timelines
from trustreport.assessment.dimensions.vigilance.results import criterion, value
from trustreport.assessment.finding import Finding
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.estimate import Estimate
from trustreport.measures.monitoring import notes
from trustreport.measures.note import Note, note
from trustreport.measures.roc.clustered import clustered_auc
from trustreport.measures.two_arm.difference import newcombe
from trustreport.study.plan import Incident, Indicator
from trustreport.study.study import Dataset, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

SAY = catalogue("en")


def results(finding: Finding, quantity: str, **scope: Any) -> list[Result]:
    return [r for r in finding.results if r.id == f"vigilance.{quantity}" and r.primary and r.within(**scope)]


def only_result(finding: Finding, quantity: str, **scope: Any) -> Result:
    (found,) = results(finding, quantity, **scope)
    return found


def told(finding: Finding) -> str:
    return "\n".join(SAY(text) for part in finding.parts for text in part.finding)


def against(name: str, reference: str) -> dict[str, Any]:
    return {"parameters": {"against": name}, "reference": reference}


@pytest.fixture(scope="module")
def drifting() -> tuple[Study, Any, Finding]:
    study = m.over_time(0.9, 0.9, 0.6)
    plan = m.plan(study, indicators=[m.SENSITIVITY, {"measure": "auc", "in_control": 0.95, "to_detect": 0.9}])
    return study, plan, answer(study, plan)


def test_a_change_is_the_newcombe_interval_of_both_sets(drifting: Any) -> None:
    study, plan, finding = drifting
    where = {"period": "p3", "endpoint": "sensitivity"}
    found = only_result(finding, "period_change", **where, **against("baseline", "baseline"))
    (line,) = timelines(study, plan)
    assert line.baseline is not None
    now, then = (
        ConfusionCounts.of_decisions(p.truth == 1, p.score >= 0.5) for p in (line.periods[2], line.baseline)
    )
    expected = newcombe(now.tp, now.positives, then.tp, then.positives)
    e = found.estimate
    assert (e.value, e.low, e.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert e.high < 0
    assert f"Sensitivity fell by {-100 * e.value:.1f} points from the baseline to p3" in told(finding)


def test_each_period_is_held_against_the_one_before(drifting: Any) -> None:
    _, _, finding = drifting
    of_first = [r for r in results(finding, "period_change", period="p1", endpoint="sensitivity")
                if r.scope["parameters"]["against"] == "previous"]  # fmt: skip
    assert isnan(of_first[0].estimate.value)
    assert of_first[0].estimate.note == note("there_no_period_before_this_one")
    later = only_result(finding, "period_change", period="p3", endpoint="auc", **against("previous", "p2"))
    assert later.estimate.method == "delong"
    assert later.estimate.high < 0


def test_the_chart_alerts_in_the_period_of_the_drift(drifting: Any) -> None:
    _, _, finding = drifting
    chart = only_result(finding, "cusum", endpoint="sensitivity")
    assert chart.details["first_alert_period"] == "p3"
    assert chart.details["look"] == "case"
    assert chart.estimate.details["false_alert_planned"] <= 0.05
    area = only_result(finding, "cusum", endpoint="auc")
    assert "followed by period" in english(area.estimate.note)


def test_the_delay_of_each_chart_stands_beside_it(drifting: Any) -> None:
    _, _, finding = drifting
    chart = only_result(finding, "cusum", endpoint="sensitivity")
    mean, median = (
        next(
            r
            for r in results(finding, "detection_delay", endpoint="sensitivity")
            if r.parameters["statistic"] == s
        )
        for s in ("mean", "median")
    )
    assert mean.estimate.value == pytest.approx(chart.estimate.details["arl_to_detect"])
    assert 1 <= median.estimate.value < mean.estimate.value
    assert mean.parameters["to_detect"] == chart.parameters["to_detect"]
    per_period = mean.details["cases_per_period"]
    assert mean.estimate.n == per_period * len({r.place.period for r in results(finding, "mature_share")})
    assert mean.details["periods"] == pytest.approx(mean.estimate.value / per_period)
    assert f"would be detected after {mean.estimate.value:.0f} cases on average" in told(finding)
    tables = {t.id: t for part in finding.parts for t in part.tables}
    assert len(tables["vigilance_delays_1"].rows) == 1  # the area has no chart
    area = results(finding, "detection_delay", endpoint="auc")
    assert len(area) == 2
    assert all(isnan(r.estimate.value) and "followed by period" in english(r.estimate.note) for r in area)


def test_entries_stand_once_and_lead_once(drifting: Any) -> None:
    _, _, finding = drifting
    keys = [(r.id, repr(r.scope), r.method) for r in finding.results]
    assert len(keys) == len(set(keys))
    leads = [(r.id, repr(r.scope)) for r in finding.results if r.primary]
    assert len(leads) == len(set(leads)) == len({(r.id, repr(r.scope)) for r in finding.results})
    for r in finding.results:
        assert r.method, r.id
        assert f"method.{r.method}.text" in SAY, r.method
        if isnan(r.estimate.value):
            assert r.estimate.note, (r.id, r.scope)


def test_every_sentence_table_and_caption_can_be_said(drifting: Any) -> None:
    from trustreport.report.tables import table

    _, _, finding = drifting
    for part in finding.parts:
        assert SAY(part.title)
        for source in part.tables:
            assert table(source, SAY).lines
        for figure in part.figures:
            assert SAY(figure.caption)
            assert SAY(figure.alt)
            assert figure.drawing.values(SAY)


# ---------------------------------------------------------------- periods, ripeness


def test_periods_are_ordered_by_their_start_and_the_baseline_is_none_of_them() -> None:
    study = m.over_time(0.9, 0.9)
    turned = Study(datasets=tuple(reversed(study.datasets)))
    (line,) = timelines(turned, m.plan(turned))
    assert [p.name for p in line.periods] == ["p1", "p2"]
    assert line.baseline.name == "baseline"


def test_without_a_declared_baseline_the_first_period_stands_in() -> None:
    study = Study(datasets=m.over_time(0.9, 0.9, 0.9).datasets[1:])
    plan = m.plan(study, vigilance={"baseline_dataset": None})
    (line,) = timelines(study, plan)
    assert (line.baseline.name, [p.name for p in line.periods]) == ("p1", ["p2", "p3"])
    assert "the first period, p1, is used instead" in told(answer(study, plan))


def test_one_period_alone_has_no_baseline_and_says_so() -> None:
    study = Study(datasets=(m.over_time(0.9).datasets[1],))
    finding = answer(study, m.plan(study, vigilance={"baseline_dataset": None}))
    assert "With one period there is no trend" in told(finding)
    change = results(finding, "period_change", period="p1", endpoint="sensitivity")
    assert {r.estimate.note for r in change} == {
        note("no_case_baseline_was_provided"),
        note("there_no_period_before_this_one"),
    }


def test_immature_cases_do_not_count() -> None:
    study = m.over_time(0.9)
    plan = m.plan(study, vigilance={"data_cut": m.first_day(2).isoformat()},
                  reference_standard={"maturity_days": 15})  # fmt: skip
    (line,) = timelines(study, plan)
    # Thirty days of cases; those of the first sixteen are fifteen days old on the day after the last.
    assert line.periods[0].mature.mean() == pytest.approx(16 / 30, abs=0.01)
    analysed = line.periods[0].cases
    assert analysed is not None
    assert len(analysed) == line.periods[0].mature.sum()
    share = only_result(answer(study, plan), "mature_share", period="p1")
    assert share.details["judged_until"] == (m.first_day(2) - dt.timedelta(15)).isoformat()


def test_a_declared_period_without_cases_is_named() -> None:
    study = m.over_time(0.9)
    plan = m.plan(study)
    empty = {"dataset": "p2", "role": "period", "start_date": m.first_day(2).isoformat()}
    plan = plan.model_validate({**plan.model_dump(exclude_none=True), "datasets": [
        *(d.model_dump(exclude_none=True) for d in plan.datasets), empty]})  # fmt: skip
    finding = answer(study, plan)
    assert "The declared period p2 has no cases" in told(finding)
    found = only_result(finding, "period_value", period="p2", endpoint="sensitivity")
    assert found.estimate.note == note("no_case_this_period_was_provided")


def test_one_class_in_a_period_leaves_the_other_undefined() -> None:
    base = m.over_time(0.9).datasets[0]
    only = m.period(1, np.ones(40), np.linspace(0.3, 0.9, 40))
    study = Study(datasets=(base, only))
    finding = answer(study, m.plan(study))
    specificity = only_result(finding, "period_value", period="p1", endpoint="specificity").estimate
    assert isnan(specificity.value)
    assert specificity.note
    area = only_result(
        finding, "period_change", period="p1", endpoint="auc", **against("baseline", "baseline")
    )
    assert isnan(area.estimate.value)
    assert area.estimate.note


def test_no_truth_at_all_leaves_drift_and_the_share_called_positive() -> None:
    study = m.over_time(0.9, 0.6)
    blind = Study(datasets=tuple(_without_truth(d) for d in study.datasets))
    finding = answer(blind, m.plan(blind, indicators=[m.SENSITIVITY]))
    assert "no period has a reference standard" in told(finding)
    assert only_result(finding, "cusum", endpoint="sensitivity").estimate.note == notes.NO_LOOK
    assert only_result(finding, "called_share", period="p2").estimate.n == 200
    assert not isnan(only_result(finding, "score_drift", period="p2").estimate.p)


def _without_truth(dataset: Dataset) -> Dataset:
    unknown = dataclasses.replace(dataset.cases, truth=np.full(len(dataset.cases), -1, np.int8))
    return dataclasses.replace(dataset, cases=unknown)


@pytest.mark.parametrize(
    "changed, why",
    [
        ({"to_detect": 0.9}, notes.EQUAL_RATES),
        ({"to_detect": 1.0}, notes.RATE_AT_END),
        ({"false_alert_budget": None}, notes.NO_BUDGET),
        ({"in_control": None}, note("rate_in_control_and_rate_to_detect")),
        ({"chart": "EWMA"}, note("another_chart_than_cusum_or_sprt")),
    ],
)
def test_an_indicator_without_a_chart_says_why(changed: dict[str, Any], why: Note) -> None:
    study = m.over_time(0.9, n=60)
    indicator = {k: v for k, v in {**m.SENSITIVITY, **changed}.items() if v is not None}
    finding = answer(study, m.plan(study, indicators=[indicator]))
    assert why in only_result(finding, "cusum", endpoint="sensitivity").estimate.note
    assert "): no chart: " in told(finding)


def test_a_rate_of_errors_is_followed_as_the_share_of_right_decisions_is() -> None:
    """Missed cases: each value, each change and counts of the chart are those of sensitivity turned round."""
    study = m.over_time(0.9, 0.7)
    missed = {**m.SENSITIVITY, "measure": "false_negative_rate", "in_control": 0.1, "to_detect": 0.25}
    finding = answer(study, m.plan(study, indicators=[m.SENSITIVITY, missed]))
    for id, whole, where in (
        ("period_value", 1.0, {"period": "p2"}),
        ("period_change", 0.0, {"period": "p2", **against("baseline", "baseline")}),
    ):
        right, wrong = (
            only_result(finding, id, endpoint=name, **where).estimate
            for name in ("sensitivity", "false_negative_rate")
        )
        assert (wrong.value, wrong.low, wrong.high) == pytest.approx(
            (whole - right.value, whole - right.high, whole - right.low), abs=1e-12
        )
    charts = [only_result(finding, "cusum", endpoint=name) for name in ("sensitivity", "false_negative_rate")]
    assert charts[0].estimate.value == pytest.approx(charts[1].estimate.value, abs=1e-9)
    assert charts[0].details["first_alert_period"] == charts[1].details["first_alert_period"] == "p2"


def test_without_days_the_chart_looks_once_a_period_and_an_sprt_cannot() -> None:
    study = m.over_time(0.9, 0.5, dated=False)
    both = {**m.SENSITIVITY, "chart": "CUSUM and SPRT"}
    finding = answer(study, m.plan(study, indicators=[both]))
    chart = only_result(finding, "cusum", endpoint="sensitivity")
    assert chart.details["look"] == "period"
    assert chart.details["first_alert_period"] == "p2"
    late = results(finding, "detection_delay", endpoint="sensitivity")
    per_look = round(chart.estimate.n / 2)
    by_chart = {(r.parameters["chart"], r.parameters["statistic"]): r.estimate for r in late}
    assert by_chart["cusum", "median"].value % per_look == 0
    assert "the order of the cases" in english(by_chart["sprt", "median"].note)
    assert "the order of the cases" in english(
        only_result(finding, "sprt", endpoint="sensitivity").estimate.note
    )


def test_several_candidates_are_followed_each() -> None:
    study = m.over_time(0.9, 0.9, n=80)
    two = Study(
        datasets=tuple(
            dataclasses.replace(d, scores={"A": d.scores[""], "B": d.scores[""]}) for d in study.datasets
        )
    )
    finding = answer(two, m.plan(two, indicators=[m.SENSITIVITY]))
    assert {r.scope["candidate"] for r in results(finding, "cusum")} == {"A", "B"}
    for ids in (
        [f.id for p in finding.parts for f in p.figures],
        [t.id for p in finding.parts for t in p.tables],
    ):
        assert len(ids) == len(set(ids))


# ---------------------------------------------------------------- case mix, drift, funnel


def test_a_new_group_is_not_held_constant_and_an_old_one_is() -> None:
    rng = np.random.default_rng(2)

    def columns(n: int, old: float, new: float) -> dict[str, list[str]]:
        return {
            "age": np.where(rng.random(n) < old, "old", "young").tolist(),
            "scanner": np.where(rng.random(n) < new, "Y", "X").tolist(),
        }

    sets = (
        m.period(0, *m.drawn(400, 0.9, 0.9, 1), columns=columns(400, 0.3, 0.0)),
        m.period(1, *m.drawn(300, 0.9, 0.9, 2), columns=columns(300, 0.6, 0.5)),
    )
    study = Study(datasets=sets)
    finding = answer(study, m.plan(study))
    held = only_result(finding, "standardised_change", period="p1", endpoint="sensitivity")
    assert held.scope["parameters"]["by"] == ["age"]
    mix = only_result(finding, "mix_drift", period="p1", parameters={"by": "scanner"})
    assert mix.estimate.value == pytest.approx(np.mean([s == "Y" for s in _names(sets[1], "scanner")]))
    assert "not evidence of a change in performance" in told(finding)
    assert "the distribution of scanner" in told(finding)


def _names(dataset: Dataset, column: str) -> list[str]:
    coded = dataset.cases.groups[column]
    return [coded.labels[int(c)] for c in coded.codes]


def test_changed_inputs_before_ripe_truths_say_until_when() -> None:
    columns = [{"age": ["young"] * 300}, {"age": ["old"] * 50 + ["young"] * 50}]
    sets = (
        m.period(0, *m.drawn(300, 0.9, 0.9, 1), columns=columns[0]),
        m.period(1, *m.drawn(100, 0.9, 0.9, 2), columns=columns[1]),
    )
    study = Study(datasets=sets)
    plan = m.plan(study, vigilance={"data_cut": m.first_day(2).isoformat()},
                  reference_standard={"maturity_days": 40})  # fmt: skip
    mature = m.first_day(1) + dt.timedelta(29 + 40)
    said = "The effect on performance is unknown for 100 cases with incomplete follow-up"
    assert f"{said}, until {mature}" in told(answer(study, plan))


def test_features_are_held_against_those_of_the_baseline() -> None:
    rng = np.random.default_rng(4)
    sets = [
        m.period(k, *m.drawn(120, 0.9, 0.9, k), features=rng.normal(0.8 * (k == 2), 1, (120, 2)))
        for k in range(3)
    ]
    study = Study(datasets=tuple(sets))
    finding = answer(study, m.plan(study))
    still, moved = (only_result(finding, "feature_drift", period=p).estimate for p in ("p1", "p2"))
    assert still.low < 0.02
    assert moved.low > 0.02
    none = answer(*_pair(m.over_time(0.9, n=60)))
    assert english(only_result(none, "feature_drift", period="p1").estimate.note).startswith(
        "features of the baseline"
    )


def _pair(study: Study) -> tuple[Study, Any]:
    return study, m.plan(study)


def test_a_site_that_lies_apart_is_named() -> None:
    rng = np.random.default_rng(1)
    n = 900
    site = np.array(list("ABCDEF"))[np.arange(n) % 6]
    truth = np.ones(n, np.int8)
    right = rng.random(n) < np.where(site == "F", 0.4, 0.9)
    base = m.over_time(0.9).datasets[0]
    study = Study(
        datasets=(base, m.period(1, truth, np.where(right, 0.8, 0.2), columns={"site": site.tolist()}))
    )
    finding = answer(study, m.plan(study))
    scores = {r.scope["site"]: r.estimate.value for r in results(finding, "funnel_z", endpoint="sensitivity")}
    assert min(scores, key=scores.get) == "F"
    naive = [r for r in finding.results if r.id == "vigilance.funnel_z" and r.method == "funnel_naive"]
    assert min(r.estimate.value for r in naive) < min(scores.values())


def test_over_dispersion_that_is_of_one_site_alone_does_not_hide_it() -> None:
    """Five sites of 180 of 200, which have none between them, and one of 130 of 200."""
    site = np.repeat(list("ABCDEF"), 200)
    right = np.concatenate([np.arange(200) < (130 if name == "F" else 180) for name in "ABCDEF"])
    base = m.over_time(0.9).datasets[0]
    named = {"site": site.tolist()}
    period = m.period(1, np.ones(1200, np.int8), np.where(right, 0.8, 0.2), columns=named)
    study = Study(datasets=(base, period))
    finding = answer(study, m.plan(study))
    (f,) = (r for r in results(finding, "funnel_z", endpoint="sensitivity") if r.scope["site"] == "F")
    assert f.method == "funnel_naive"
    share = (5 * 180 + 130) / 1200
    assert f.estimate.value == pytest.approx((0.65 - share) / (share * (1 - share) / 200) ** 0.5)
    said = told(finding)
    assert "F beyond the 95% limits about 85.8%" in said
    assert "without those beyond the limits there is none" in said


@pytest.mark.parametrize(
    "action, expected",
    [
        ("Review within ten days", "2026-07-02"),
        ("Tell the sites within 2 weeks", "2026-07-06"),
        ("Call the service within a month", "2026-07-22"),
        ("Call the service", None),
        ("Answer within reason", None),
    ],
)
def test_the_term_of_an_action_is_read_from_its_text(action: str, expected: str | None) -> None:
    found = term(action, dt.date(2026, 6, 22))
    assert (found and found.isoformat()) == expected


# ---------------------------------------------------------------- people, events, signals


def test_reliance_is_followed_in_the_period_of_the_reading() -> None:
    n = 80
    truth = np.tile([1, 0], n // 2)
    advice = np.where(np.arange(n) % 5 == 0, 1 - truth, truth)
    first = np.where(np.arange(n) % 4 == 0, 1 - truth, truth)
    final = np.where(np.arange(n) % 10 == 3, 1 - advice, advice)
    study = m.read(m.over_time(0.9, 0.9, n=60), final=final, advice=advice, first=first, truth=truth, k=2)
    finding = answer(study, m.plan(study))
    override = only_result(finding, "reliance_value", endpoint="override_rate")
    assert override.scope["period"] == "p2"
    assert override.estimate.value == pytest.approx((final != advice).mean())
    right_then = (first == truth) & (advice != truth)
    harmful = only_result(finding, "reliance_value", endpoint="harmful_switch_rate").estimate
    assert harmful.value == pytest.approx((final != truth)[right_then].mean())
    seconds = only_result(finding, "reliance_value", endpoint="seconds").estimate
    assert seconds.value == pytest.approx(60)
    assert {r.scope["reader"] for r in results(finding, "funnel_z") if "reader" in r.scope} == set("ABCD")


def test_without_readings_it_says_what_cannot_be_followed() -> None:
    study = m.over_time(0.9, n=60)
    indicator = {**m.SENSITIVITY, "measure": "override_rate", "in_control": 0.1, "to_detect": 0.2}
    finding = answer(study, m.plan(study, indicators=[indicator]))
    assert "Over-reliance, missed warnings and reading time cannot be monitored" in told(finding)
    assert english(only_result(finding, "cusum", endpoint="override_rate").estimate.note).startswith(
        "not available from the readings of the periods"
    )


def test_exposure_counts_what_became_of_each_case() -> None:
    truth, score = m.drawn(20, 0.9, 0.9, 3)
    score[:6] = np.nan
    status = m.coded(["failed"] * 2 + ["refused"] * 3 + [" "] + ["done"] * 14)
    version = m.coded(["1"] * 10 + ["2"] * 10)
    study = Study(
        datasets=(
            m.over_time(0.9).datasets[0],
            m.period(1, truth, score, status=status, version=version, columns={"site": ["A", "B"] * 10}),
        )
    )
    finding = answer(study, m.plan(study))
    counted = {
        (r.scope["parameters"]["what"], r.scope["parameters"].get("version")): r.estimate.value
        for r in results(finding, "exposure")
    }
    assert counted == {
        ("cases", None): 20,
        ("processed", None): 14,
        ("refused", None): 3,
        ("failed", None): 2,
        ("no_output", None): 1,
        ("sites", None): 2,
        ("processed", "1"): 4,
        ("processed", "2"): 10,
    }
    assert "The version changed within p1" in told(finding)


def test_rates_of_events_by_period_and_none_at_all() -> None:
    study = m.over_time(0.9, 0.9)
    day = m.first_day(2).isoformat()
    incidents = [
        {"incident": "I1", "event_date": day, "awareness_date": day, "report_date": day},
        {"incident": "C1", "kind": "complaint", "event_date": "2020-01-01"},
    ]
    finding = answer(study, m.plan(study, incidents=incidents))
    by_period = {
        r.scope.get("period"): r.estimate.value
        for r in results(finding, "event_rate", parameters={"kind": "incident"})
    }
    assert by_period == {"p1": 0, "p2": pytest.approx(1 / 200), None: pytest.approx(1 / 400)}
    said = told(finding)
    assert "In 400 cases processed, one incident occurred" in said
    assert "One log entry is in no rate" in said
    silent = told(answer(study, m.plan(study)))
    assert "the upper limit of the 95% interval is 9.2 per 1,000" in silent
    assert "There is no incident log" in silent


def test_the_register_tells_stages_and_what_is_due_without_a_clock() -> None:
    study = m.over_time(0.9)
    signals = [
        {
            "signal": "S1",
            "detected": "2026-01-05",
            "validated": "2026-01-06",
            "owner": "O",
            "due": "2026-01-20",
        },
        {"signal": "S2", "detected": "2026-01-02", "closed": "2026-01-09", "due": "2026-01-03"},
    ]
    vigilance = {
        "period_start": "2026-01-04",
        "period_end": "2026-01-31",
        "observation_period": "1 month",
        "plan_id": "V1",
    }
    plan = m.plan(study, signals=signals, vigilance=vigilance)
    (line,) = timelines(study, plan)
    found = [(d.name, d.kind, d.day.isoformat(), d.late) for d in due(plan, line)]
    assert found == [("S1", "signal", "2026-01-20", True), ("V1", "period", "2026-02-28", False)]
    assert [stage(s) for s in plan.signals] == ["validated", "closed"]
    assert "1 open, 1 closed, 1 detected in this period" in told(answer(study, plan))


@pytest.mark.parametrize(
    "length, expected",
    [
        ("1 month", "2026-02-28"),
        ("quarterly", "2026-04-30"),
        ("P3M", "2026-04-30"),
        ("14 days", "2026-02-14"),
        ("2 years", "2028-01-31"),
        ("until further notice", None),
    ],
)
def test_the_next_period_ends_so_much_later(length: str, expected: str | None) -> None:
    found = after(dt.date(2026, 1, 31), length)
    assert (found and found.isoformat()) == expected


def test_an_alert_outside_the_register_is_said() -> None:
    study = m.over_time(0.9, 0.4)
    plan = m.plan(study, indicators=[m.SENSITIVITY])
    assert "The alert for Sensitivity is not in the signal register" in told(answer(study, plan))
    named = m.plan(
        study,
        indicators=[m.SENSITIVITY],
        signals=[{"signal": "S", "indicator": "advice_accuracy.sensitivity"}],
    )
    assert "is not in the signal register" not in told(answer(study, named))


def test_where_an_estimate_stands_against_the_rate_to_detect() -> None:
    study = m.over_time(0.9)
    (line,) = timelines(study, m.plan(study))
    e = value(line.periods[0], "sensitivity", 0.95)
    assert criterion(e, Indicator(measure="x", in_control=0.9, to_detect=0.2)) == "clear"
    assert criterion(e, Indicator(measure="x", in_control=0.999, to_detect=0.99)) == "beyond"
    assert criterion(e, Indicator(measure="x", in_control=0.95, to_detect=e.value)) == "across"
    assert criterion(e, Indicator(measure="x", in_control=0.9, to_detect=0.9)) == ""
    assert criterion(e, None) == ""


def test_without_a_period_the_question_stays_open() -> None:
    study = Study(datasets=(m.over_time(0.9).datasets[0],))
    assert not has_data(study, m.plan(study))
    lacking = DIMENSION.lacks(study, m.plan(study))
    assert lacking is not None
    assert SAY(lacking.reason).startswith("Change over time cannot be assessed")


def test_patients_with_several_cases_widen_the_interval() -> None:
    study = m.over_time(0.9, n=150)
    patients = m.coded([f"P{i // 3}" for i in range(150)])
    grouped = dataclasses.replace(
        study.datasets[1], cases=dataclasses.replace(study.datasets[1].cases, patient=patients)
    )
    both = Study(datasets=(study.datasets[0], grouped))
    found = only_result(answer(both, m.plan(both)), "period_value", period="p1", endpoint="sensitivity")
    assert found.estimate.method == "cluster_wilson"


def in_clusters(study: Study, size: int, sites: int = 1) -> Study:
    """The same cases with `size` images of each patient, a patient at one of so many sites of this set."""
    sets = []
    for k, d in enumerate(study.datasets):
        n = len(d.cases)
        patients = m.coded([f"P{k}-{i // size}" for i in range(n)])
        site = m.coded([f"S{k}-{i // size % sites}" for i in range(n)])
        held = dataclasses.replace(d.cases, patient=patients, site=site)
        sets.append(dataclasses.replace(d, cases=held))
    return Study(datasets=tuple(sets))


def change_of_the_area(study: Study, **facts: Any) -> Estimate:
    given = m.plan(study)
    facts_of = [d.model_copy(update=facts) for d in given.datasets]
    found = answer(study, given.model_copy(update={"datasets": tuple(facts_of)}))
    here = {"period": "p1", "endpoint": "auc", **against("baseline", "baseline")}
    return only_result(found, "period_change", **here).estimate


def test_the_change_of_the_area_of_patients_has_the_variances_of_both_clustered_areas() -> None:
    study = in_clusters(m.over_time(0.8, n=150), 3)
    (line,) = timelines(study, m.plan(study))
    variances = [
        clustered_auc(p.truth == 1, p.score, np.arange(len(p)) // 3).se ** 2
        for p in (line.periods[0], line.baseline)
    ]
    found = change_of_the_area(study)
    assert found.se**2 == pytest.approx(sum(variances))
    assert found.method == "obuchowski_clustered_unpaired"
    own = only_result(answer(study, m.plan(study)), "period_value", period="p1", endpoint="auc").estimate
    assert own.method == "auc_logit_obuchowski"
    assert own.se**2 >= variances[0] * (1 - 1e-9)


def test_sites_join_cases_where_they_are_declared_to() -> None:
    """A period is a data set: its number is that of advice accuracy, by the declared clusters."""
    study = in_clusters(m.over_time(0.8, n=150), 3, sites=10)
    (line,) = timelines(study, m.plan(study))
    of_site = [np.arange(len(p)) // 3 % 10 for p in line.with_baseline]
    variances = [clustered_auc(p.truth == 1, p.score, c).se ** 2 for p, c in zip(line.with_baseline, of_site)]
    for keys in (("patient", "site"), ("site",)):
        assert change_of_the_area(study, cluster_keys=keys).se ** 2 == pytest.approx(sum(variances))
    alone = change_of_the_area(in_clusters(study, 3), cluster_keys=("site",))
    assert isnan(alone.low)
    assert alone.note


def test_changes_of_clusters_are_not_taken_as_those_of_independent_cases() -> None:
    study = in_clusters(m.over_time(0.8, 0.7, n=150), 3)
    plan = m.plan(study, indicators=[{"measure": "brier"}, {"measure": "failure_rate"}])
    fired = [c for c in assess(study, plan).checks if c.check == "P22" and c.status == "fired"]
    assert not fired
    finding = answer(study, plan)
    now, then = (
        only_result(finding, "period_value", period=p, endpoint="brier").estimate for p in ("p1", "baseline")
    )
    change = only_result(
        finding, "period_change", period="p1", endpoint="brier", **against("baseline", "baseline")
    )
    assert change.analysis == "clustered"
    (line,) = timelines(study, plan)
    # Degrees of freedom count the patients with a case of the class found in fewer of them.
    held = [
        min(len(set((np.arange(len(p)) // 3)[p.truth == y])) for y in (0, 1))
        for p in (line.periods[0], line.baseline)
    ]
    assert (now.method, now.df, then.df) == ("cluster_sandwich", held[0] - 1, held[1] - 1)
    v, w = now.se**2, then.se**2
    df = (v + w) ** 2 / (v**2 / now.df + w**2 / then.df)
    half = stats.t.ppf(0.975, df) * np.sqrt(v + w)
    assert (change.estimate.low, change.estimate.high) == pytest.approx(
        (now.value - then.value - half, now.value - then.value + half)
    )


def test_the_change_of_the_area_of_patients_with_one_case_is_the_plain_one() -> None:
    study = m.over_time(0.8, n=150)
    plain, alone = change_of_the_area(study), change_of_the_area(in_clusters(study, 1))
    assert (alone.value, alone.low, alone.high) == (plain.value, plain.low, plain.high)
    assert alone.method == plain.method == "delong"


def returning(study: Study, size: int = 1) -> Study:
    """The same cases, `size` of each patient, every patient in each period."""
    sets = []
    for d in study.datasets:
        patients = m.coded([f"P{i // size}" for i in range(len(d.cases))])
        sets.append(dataclasses.replace(d, cases=dataclasses.replace(d.cases, patient=patients)))
    return Study(datasets=tuple(sets))


@pytest.mark.parametrize("size", [1, 3])
def test_a_patient_in_both_periods_counts_once(size: int) -> None:
    study = m.over_time(0.8, 0.7, n=150)
    given = m.plan(study, indicators=[{"measure": "brier"}, {"measure": "failure_rate"}])
    alone, again = (answer(s, given) for s in (in_clusters(study, size), returning(study, size)))
    here = {"period": "p1", **against("baseline", "baseline")}
    for endpoint in ("sensitivity", "auc", "oe_ratio", "calibration_slope", "brier"):
        plain, shared = (only_result(f, "period_change", endpoint=endpoint, **here) for f in (alone, again))
        assert plain.estimate.value == pytest.approx(shared.estimate.value)
        assert "count once" in english(shared.estimate.note)
        assert shared.estimate.details["shared_clusters"] > 0
        assert abs(shared.estimate.details["correlation"]) <= 1
        assert shared.analysis == "clustered"
        assert "shared_clusters" not in plain.estimate.details
        # These patients are alike by name only: the covariance is near 0, and so is what it changes.
        width = [r.estimate.high - r.estimate.low for r in (plain, shared)]
        assert width[1] == pytest.approx(width[0], rel=0.35)


def test_a_set_that_is_its_own_baseline_again_has_not_changed() -> None:
    """The same patients with the same outputs in both periods: no change, and no doubt about it."""
    study = returning(m.over_time(0.8, n=150))
    first = study.datasets[0]
    same = Study(datasets=(first, dataclasses.replace(first, name="p1", role="period")))
    finding = answer(same, m.plan(same))
    change = only_result(
        finding, "period_change", period="p1", endpoint="sensitivity", **against("baseline", "baseline")
    )
    assert change.estimate.details["correlation"] == pytest.approx(1.0)
    assert change.estimate.value == 0
    assert change.estimate.high - change.estimate.low < 0.1


def test_patients_known_in_one_period_only_are_said() -> None:
    study = returning(m.over_time(0.8, n=150))
    without = dataclasses.replace(study.datasets[0].cases, patient=None)
    half = Study(datasets=(dataclasses.replace(study.datasets[0], cases=without), *study.datasets[1:]))
    finding = answer(half, m.plan(half))
    change = only_result(
        finding, "period_change", period="p1", endpoint="auc", **against("baseline", "baseline")
    )
    assert "is not known: the interval treats the sets as independent" in english(change.estimate.note)


@pytest.mark.parametrize(
    ("seriousness", "aware", "due"),
    [
        ("serious", "2026-07-01", "2026-07-16"),
        ("Death or unanticipated serious deterioration", "2026-07-01", "2026-07-11"),
        ("serious public health threat", "2026-07-01", "2026-07-03"),
        ("grave", "2026-12-20", "2027-01-04"),
        ("not serious", "2026-07-01", None),
        (None, "2026-07-01", None),
        ("serious", None, None),
    ],
)
def test_the_deadline_of_a_report_is_that_of_the_regulation(
    seriousness: str | None, aware: str | None, due: str | None
) -> None:
    one = Incident.model_validate({"incident": "I", "seriousness": seriousness, "awareness_date": aware})
    assert (one.report_by and one.report_by.isoformat()) == due


def test_each_incident_says_whether_it_was_reported_in_time() -> None:
    study = m.over_time(0.9)
    days = (
        ("in time", "2026-01-05", "2026-01-20"),
        ("late", "2026-01-05", "2026-01-21"),
        ("overdue", "2026-01-05", None),
        ("not yet due", "2026-02-01", None),
    )
    incidents = [
        {"incident": said, "seriousness": "serious", "awareness_date": aware, "report_date": reported}
        for said, aware, reported in days
    ]
    report = {"kind": "vigilance", "date": "2026-02-03"}
    found = answer(study, m.plan(study, incidents=incidents, report=report))
    (clock,) = [t for part in found.parts for t in part.tables if t.id.startswith("vigilance_clock")]
    assert [(row[0], SAY(row[-1])) for row in clock.rows] == [(said, said) for said, _, _ in days]
