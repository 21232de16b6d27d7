"""Dates that nobody means are refused, and break no page where they are stored."""

import pytest
from pages import HTML, get, post
from services import API, MANIFEST, Client, world

from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Schedule, StoredReport

FAR = {"period_start": "0001-01-01", "period_end": "9999-12-31"}


@pytest.mark.parametrize(
    "more, column",
    [
        ({"vigilance": FAR}, "period_"),
        (
            {"datasets": [{"dataset": "d", "role": "period", "start_date": FAR["period_start"]}]},
            "start_date",
        ),
        ({"datasets": [{"dataset": "d", "role": "period", "end_date": FAR["period_end"]}]}, "end_date"),
    ],
)
def test_a_manifest_with_far_dates_is_not_valid(
    light: Core, anna: Client, more: dict[str, object], column: str
) -> None:
    version = anna.version(anna.study(), {**MANIFEST, **more})
    assert WorkerThread(light, "worker").once("check")
    problems = anna.get(f"{API}/versions/{version}/problems").json()["items"]
    assert [p for p in problems if column in str(p) and "1900-01-01 to 2200-12-31" in str(p)], problems


@pytest.mark.parametrize(
    "start, end", [tuple(FAR.values()), ("2026-01-01", "9999-12-31"), ("0001-01-01",) * 2]
)
def test_the_page_of_a_device_draws_what_is_stored(light: Core, anna: Client, start: str, end: str) -> None:
    names = world(light, anna)
    with light.store.write() as rows:
        report = rows.get_one(StoredReport, names["report"])
        report.facts = {**report.facts, "period_start": start, "period_end": end}
        rows.get_one(Schedule, names["schedule"]).next_at = 253_370_764_800_000
    page = anna.get(f"/devices/{names['device']}", headers=HTML)
    assert page.status_code == 200
    assert f"{start} to {end}" in page.text
    assert anna.get(f"{API}/devices/{names['device']}/timeline").status_code == 200


@pytest.mark.parametrize("first", ["9999-12-31T00:00:00Z", "0001-01-01", "2201-01-01", "1969-12-31"])
def test_a_schedule_begins_in_this_age(light: Core, anna: Client, first: str) -> None:
    names = world(light, anna)
    asked = {"study": names["study"], "every_days": 30, "first": first}
    refused = anna.post(f"{API}/schedules", json=asked)
    assert (refused.status_code, "first" in refused.text) == (422, True)
    device = f"/devices/{names['device']}"
    get(anna, device)
    page = post(anna, device, f"{device}/schedules", format=["json"], **{k: str(v) for k, v in asked.items()})
    assert (page.status_code, "First due" in page.text) == (422, True)
    fine = anna.post(f"{API}/schedules", json={**asked, "first": "2199-12-31T23:00:00Z"})
    assert fine.status_code == 201
