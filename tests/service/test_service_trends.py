"""A device over time: what reports add to its charts, dates, and looks at a locked test set."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from pages import HTML, Shown, get, post
from services import API, MANIFEST, Client, world, zipped

from tests.studies import LOCKABLE, TEST_SET
from trustreport.api import Assessed, lock_criteria, read_study, record_look
from trustreport.report.write import as_data
from trustreport.service.core import Core
from trustreport.service.device import trends
from trustreport.service.device.api import Moment, TrendPoint
from trustreport.service.jobs.trend_points import MOST_POINTS, trend_of
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Schedule, StoredReport
from trustreport.study.lock import FILE, LOOKS
from trustreport.study.plan import Plan

MONTHS = ("2026-01", "2026-02", "2026-03", "2026-04")


def result(**given: Any) -> dict[str, Any]:
    whole = {"method": "wilson", "scope": {}, "unit": "proportion", "level": 0.95, "n": 100, "details": {}}
    return {**whole, "primary": True, "quantity": "sensitivity", "id": "m.sensitivity", **given}


def of_period(period: str, value: float) -> dict[str, Any]:
    scope = {"endpoint": "sensitivity", "period": period}
    return result(id="vigilance.period_value", scope=scope, value=value, low=value - 0.1, high=value + 0.05)


def plan(*periods: dict[str, Any]) -> Plan:
    return Plan.model_validate({"report": {"kind": "vigilance"}, "device": {}, "datasets": list(periods)})


def test_periods_of_an_audit_are_points_with_their_chart() -> None:
    chart = {"in_control": 0.9, "to_detect": 0.8, "first_alert_period": "2026-03"}
    sprt = result(
        id="vigilance.sprt",
        scope={"endpoint": "sensitivity"},
        value=2.0,
        low=None,
        high=None,
        details={**chart, "first_alert_date": "2026-03-14"},
    )
    values = [of_period(month, value) for month, value in zip(MONTHS, (0.91, 0.9, 0.6, 0.62), strict=True)]
    declared = [
        {"dataset": m, "role": "period", "start_date": f"{m}-01", "end_date": f"{m}-28"} for m in MONTHS[:2]
    ]
    found = trend_of({"results": [*values, sprt], "verdicts": []}, plan(*declared))
    assert [p["value"] for p in found] == [0.91, 0.9, 0.6, 0.62]
    assert {(p["series"], p["expected"], p["alarming"]) for p in found} == {("sensitivity", 0.9, 0.8)}
    assert [p.get("alert") for p in found] == [None, None, "2026-03-14", None]
    assert [p.get("end") for p in found] == ["2026-01-28", "2026-02-28", None, None]


def test_a_study_with_a_criterion_that_was_not_tested_has_points(
    assessed_example: Callable[[str], Assessed],
) -> None:
    assessed = assessed_example("knee-mri-readings")
    document = as_data(assessed)
    assert "not tested" in {verdict["verdict"] for verdict in document["verdicts"]}
    assert [point["series"] for point in trend_of(document, assessed.plan)] == ["fewer-errors"]


def test_criteria_are_points_with_their_bounds() -> None:
    number = result(value=0.7, low=0.6, high=0.8)
    verdict = {**number, "endpoint": "Sensitivity, internal", "above": 0.75, "below": None, "verdict": "fail"}
    untested = {
        **verdict,
        "endpoint": "later",
        "id": None,
        "method": None,
        "scope": None,
        "verdict": "not tested",
    }
    (found,) = trend_of({"results": [number], "verdicts": [verdict, untested]}, plan())
    assert (found["series"], found["above"], found["verdict"]) == ("Sensitivity, internal", 0.75, "fail")
    assert (found["unit"], found["quantity"]) == ("proportion", "sensitivity")
    assert "below" not in found


def test_without_either_the_first_primary_results_are_points_and_never_too_many() -> None:
    sites = result(scope={"site": "A"}, value=0.7, low=0.6, high=0.8)
    count = result(id="m.tp", quantity="tp", unit="count", value=7.0, low=7.0, high=7.0)
    whole = result(scope={"dataset": "one"}, value=0.7, low=0.6, high=0.8)
    found = trend_of({"results": [sites, count, whole], "verdicts": []}, plan())
    assert [p["series"] for p in found] == ["sensitivity (one)"]
    many = [of_period(f"p{i}", 0.5) for i in range(500)]
    assert len(trend_of({"results": many, "verdicts": []}, plan())) == MOST_POINTS


def moment(n: int, version: str = "1.0", **point: Any) -> Moment:
    """A report of the n-th month."""
    given = {"series": "Sensitivity", "quantity": "sensitivity", "unit": "proportion", **point}
    return Moment(
        report=f"r{n}",
        study="s",
        kind="vigilance",
        software_version=version,
        period_start=date(2026, n, 1),
        period_end=date(2026, n, 28),
        verdicts={},
        checks={},
        primary=[],
        trend=[TrendPoint(**given)],
        signed=[],
        created_at=datetime(2026, 12, 1, tzinfo=UTC),
    )


def test_a_chart_is_drawn_to_scale_with_bounds_versions_and_alerts() -> None:
    bound = {"above": 0.8}
    moments = [
        moment(4, "2.0", value=0.7, low=0.6, high=0.78, verdict="fail", **bound),
        moment(2, "1.1", value=0.9, low=0.85, high=0.95, verdict="pass", **bound),
        moment(1, "1.1", value=0.85, low=0.8, high=0.9, verdict="pass", **bound),
    ]
    (chart,) = trends.charts(moments, lambda name: name)
    assert [m.report for m in chart.marks] == ["r1", "r2", "r4"]  # as time goes, not as they were made
    heights = {m.report: m.y for m in chart.marks}
    assert heights["r2"] < heights["r1"] < heights["r4"]
    assert all(m.low > m.y > m.high for m in chart.marks if m.low and m.high)
    # Days to scale: from January to February is a third of the way.
    first, second, last = (m.x for m in chart.marks)
    assert (second - first) / (last - first) == pytest.approx(31 / 90, abs=0.01)
    (required,) = chart.bounds
    assert (required.name, required.value) == ("required above", 0.8)
    assert heights["r1"] < required.y < heights["r4"]
    assert [(x == last, text) for x, text in chart.versions] == [(True, "2.0")]
    assert [m.alert for m in chart.marks] == ["", "", "criterion not met"]
    assert (chart.alerts, chart.percent) == (1, True)
    assert all(
        0.5 <= value <= 1 and round(value * 20) == pytest.approx(value * 20) for _, value in chart.ticks_y
    )


def test_the_newer_report_of_a_period_is_drawn() -> None:
    newer, older = moment(1, value=0.9), moment(1, value=0.5)
    (chart,) = trends.charts([newer, moment(2, value=0.8), older], lambda name: name)
    assert [m.point.value for m in chart.marks] == [0.9, 0.8]


@pytest.mark.parametrize(
    "points",
    [
        [{"value": 0.0, "low": None, "high": None}] * 2,
        [{"value": 1.0, "low": 1.0, "high": 1.0, "above": 1.0, "below": 1.0}] * 2,
        [{"value": 1e300, "unit": "ratio", "quantity": "oe_ratio"}, {"value": -1e300}],
        [{"value": 3.0, "unit": "ratio", "quantity": "unknown of us", "low": 1e-9, "high": 1e9}] * 2,
        [{"value": 0.5, "period": "2026-13"}, {"value": 0.5, "period": "0000-01"}, {"value": 1.0}],
        [{"value": 0.5, "end": date(9999, 12, 31)}, {"value": 0.5, "end": date(1, 1, 1)}],
    ],
)
def test_no_values_break_a_chart(points: list[dict[str, Any]]) -> None:
    for chart in trends.charts([moment(i, **p) for i, p in enumerate(points, start=1)], lambda name: name):
        assert all(0 <= m.x <= trends.WIDTH and 0 <= m.y <= trends.HEIGHT for m in chart.marks)
        assert chart.line


def test_periods_are_drawn_where_they_end_and_a_baseline_has_no_time() -> None:
    points = [
        {"period": "2026-02", "value": 0.9},
        {"period": "baseline", "value": 0.9},
        {"period": "first", "end": date(2026, 1, 31), "value": 0.9},
    ]
    (chart,) = trends.charts([moment(i, **p) for i, p in enumerate(points, start=1)], lambda name: name)
    assert [(m.day.isoformat(), m.period) for m in chart.marks] == [
        ("2026-01-31", "first"),
        ("2026-02-28", "2026-02"),
    ]


def test_an_area_is_a_number_and_a_quantity_has_its_name() -> None:
    area = {"series": "auc", "quantity": "auc"}
    (chart,) = trends.charts(
        [moment(1, value=0.9, **area), moment(2, value=0.8, **area)],
        {"auc": "area under the curve"}.__getitem__,
    )
    assert (chart.percent, chart.title) == (False, "Area under the curve")


def test_the_page_of_a_device_draws_its_timeline(light: Core, app: FastAPI, anna: Client) -> None:
    names, hostile = world(light, anna), "<b>A</b>"
    trend = {"series": hostile, "quantity": "sensitivity", "unit": "proportion", "low": 0.5, "high": 0.99}
    with light.store.write() as rows:
        first = rows.get_one(StoredReport, names["report"])
        points = [{**trend, "period": m, "value": 0.9, "expected": 0.9} for m in MONTHS[:2]]
        first.facts = {**first.facts, "trend": points, "software_version": "1"}
    (moment_of,) = anna.get(f"{API}/devices/{names['device']}/timeline").json()["items"]
    assert [p["value"] for p in moment_of["trend"]] == [0.9, 0.9]
    page = get(anna, f"/devices/{names['device']}")
    assert f"{hostile} over time" in str(page.tags)
    assert "in control 90.0%" in page.words
    (svg,) = [given for tag, given in page.tags if tag == "svg"]
    assert "2 times from 2026-01-31 to 2026-02-28, 0 with an alert" in svg["aria-label"]
    assert page.words.count("50.0% to 99.0%") == 2


def test_reports_that_were_computed_have_points(shown: Shown) -> None:
    names = shown.names
    found = shown.anna.get(f"{API}/devices/{names['device']}/timeline").json()["items"]
    assert all(moment_of["trend"] for moment_of in found)
    page = get(shown.anna, f"/devices/{names['device']}")
    assert re.search(r"Error rate \(.*unaided, chest\)", page.words)


FAR = {"period_start": "0001-01-01", "period_end": "9999-12-31"}


def test_a_manifest_with_far_dates_is_not_valid(light: Core, anna: Client) -> None:
    period = {"role": "period", "start_date": FAR["period_start"], "end_date": FAR["period_end"]}
    manifest = {**MANIFEST, "vigilance": FAR, "datasets": [{"dataset": "d", **period}]}
    version = anna.version(anna.study(), manifest)
    assert WorkerThread(light, "worker").once("check")
    problems = anna.get(f"{API}/versions/{version}/problems").json()["items"]
    named = [str(p) for p in problems if "1900-01-01 to 2200-12-31" in str(p)]
    for column in ("period_start", "period_end", "start_date", "end_date"):
        assert [p for p in named if column in p], (column, problems)


def test_the_page_of_a_device_draws_what_is_stored(light: Core, anna: Client) -> None:
    names = world(light, anna)
    for start, end in (FAR.values(), ("2026-01-01", "9999-12-31"), ("0001-01-01", "0001-01-01")):
        with light.store.write() as rows:
            report = rows.get_one(StoredReport, names["report"])
            report.facts = {**report.facts, "period_start": start, "period_end": end}
            rows.get_one(Schedule, names["schedule"]).next_at = 253_370_764_800_000
        page = anna.get(f"/devices/{names['device']}", headers=HTML)
        assert page.status_code == 200
        assert f"{start} to {end}" in page.text
    assert anna.get(f"{API}/devices/{names['device']}/timeline").status_code == 200


def test_a_schedule_begins_in_this_age(light: Core, anna: Client) -> None:
    names = world(light, anna)
    asked = {"study": names["study"], "every_days": 30}
    device = f"/devices/{names['device']}"
    for first in ("9999-12-31T00:00:00Z", "0001-01-01", "2201-01-01", "1969-12-31"):
        refused = anna.post(f"{API}/schedules", json={**asked, "first": first})
        assert (refused.status_code, "first" in refused.text) == (422, True), first
        typed = {k: str(v) for k, v in asked.items()}
        page = post(anna, device, f"{device}/schedules", format=["json"], first=first, **typed)
        assert (page.status_code, "First due" in page.text) == (422, True), first
    fine = anna.post(f"{API}/schedules", json={**asked, "first": "2199-12-31T23:00:00Z"})
    assert fine.status_code == 201


@pytest.fixture
def worker(light: Core) -> WorkerThread:
    return WorkerThread(light, "worker")


@pytest.fixture
def locked(tmp_path: Path) -> dict[str, bytes | str]:
    """The files of a study that was locked before it was uploaded, without the register beside the lock."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.yaml").write_text(LOCKABLE)
    lock_criteria(folder)
    return {"study.yaml": LOCKABLE, "test.csv": TEST_SET, FILE: (folder / FILE).read_bytes()}


def uploaded(client: Client, worker: WorkerThread, study: str, files: dict[str, bytes | str]) -> str:
    sent = [("files", ("study.zip", zipped(files)))]
    version = client.post(f"{API}/studies/{study}/versions", files=sent).json()["id"]
    assert worker.once("check")
    assert client.get(f"{API}/versions/{version}").json()["state"] == "valid"
    return str(version)


def reported(client: Client, worker: WorkerThread, version: str, **wishes: Any) -> dict[str, Any]:
    """What a report of a version says: its facts, and the check of the register."""
    asked = {"formats": ["json"], **wishes}
    job = client.post(f"{API}/versions/{version}/jobs", json=asked).json()
    assert worker.once("report")
    name = client.get(f"{API}/jobs/{job['id']}").json()["report"]
    results = client.get(f"{API}/reports/{name}/results").json()
    facts = client.get(f"{API}/reports/{name}").json()["facts"]
    checks = {c["check"]: c for c in results["checks"]}
    return {"facts": facts, "P68": checks["P68"]["status"], "message": checks["P68"]["message"]}


def test_a_second_version_on_the_same_locked_data_gets_the_check_and_names_the_first(
    anna: Client, worker: WorkerThread, locked: dict[str, bytes | str]
) -> None:
    study = anna.study("Chest")
    first = uploaded(anna, worker, study, locked)
    once = reported(anna, worker, first)
    assert once["P68"] == "clear"
    look = once["facts"]["look"]
    assert (look["purpose"], look["results"], list(look["data"])) == (
        "Chest, version 1",
        ["finds"],
        ["test.csv"],
    )

    note = {**locked, "study.yaml": LOCKABLE.replace("Example", "Another")}
    second = reported(anna, worker, uploaded(anna, worker, study, note))
    assert second["P68"] == "fired"
    assert f"{look['on']} (Chest, version 1)" in second["message"]

    # The data are the same under another name and in another study.
    moved = {**locked, "study.yaml": LOCKABLE.replace("test.csv", "moved.csv"), "moved.csv": TEST_SET}
    del moved["test.csv"]
    third = reported(anna, worker, uploaded(anna, worker, anna.study("Other"), moved))
    assert "2 earlier looks" in third["message"]

    # The first version once more, in another form: still the first look.
    again = reported(anna, worker, first, formats=["json", "csv"])
    assert (again["P68"], again["facts"]["look"]) == ("clear", look)


def test_another_organisation_learns_nothing_of_a_look(
    anna: Client, bob: Client, worker: WorkerThread, locked: dict[str, bytes | str]
) -> None:
    reported(anna, worker, uploaded(anna, worker, anna.study(), locked))
    assert reported(bob, worker, uploaded(bob, worker, bob.study(), locked))["P68"] == "clear"


def test_other_data_and_data_without_a_lock_are_no_looks_at_these(
    anna: Client, worker: WorkerThread, locked: dict[str, bytes | str]
) -> None:
    study = anna.study()
    open_ = {name: content for name, content in locked.items() if name != FILE}
    without = reported(anna, worker, uploaded(anna, worker, study, open_))
    assert "look" not in without["facts"]
    other = {**locked, "test.csv": TEST_SET.replace("c1,", "d1,")}
    assert reported(anna, worker, uploaded(anna, worker, study, other))["P68"] == "clear"
    assert reported(anna, worker, uploaded(anna, worker, study, locked))["P68"] == "clear"


def test_the_register_that_was_uploaded_comes_before_the_looks_of_the_service(
    anna: Client, worker: WorkerThread, locked: dict[str, bytes | str], tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    (folder / "test.csv").write_text(TEST_SET)
    record_look(folder, *read_study(folder), on="2026-02-01", purpose="at home")
    files = {**locked, LOOKS: (folder / LOOKS).read_bytes()}
    found = reported(anna, worker, uploaded(anna, worker, anna.study(), files))
    assert "one earlier look at these data: 2026-02-01 (at home)" in found["message"]
