"""Dates that nobody means are refused, and break no page where they are stored."""

from pages import HTML, post
from services import API, MANIFEST, Client, world

from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Schedule, StoredReport

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
