"""The first page after signing in: what waits for whom; and the search over all."""

from datetime import UTC, datetime

import pytest
from acts import world_to_see
from fastapi import FastAPI
from pages import PLANNED, get
from services import API, Client, only

from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Job, Schedule, StoredDevice, StoredReport, Version

PAST = 1_700_000_000_000


@pytest.fixture
def names(light: Core, anna: Client) -> dict[str, str]:
    """One row of everything, made by Anna."""
    return world_to_see(light, anna)


def waits(client: Client) -> str:
    """The part of the first page that says what is to be done."""
    words = get(client, "/").words
    return words[words.index("Waiting for you") :].split("Latest answer")[0]


def test_signing_in_leads_to_the_first_page(app: FastAPI, anna: Client) -> None:
    first = get(anna, "/")
    assert "There are no studies yet." in first.words
    assert "/studies/new" in first.links


def test_what_was_requested_of_a_reviewer_and_what_an_approver_can_do(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    carl = anna.invite("carl@hospital.test", "reviewer")
    dora = anna.invite("dora@hospital.test", "approver")
    report = f"/reports/{names['report']}"
    asked = {"reviewer": carl.me["user"], "due": "2026-01-31"}
    assert waits(carl).count("Countersign criteria") == 1  # what Anna has fixed
    assert "Review a report" not in waits(carl)
    assert anna.post(f"{API}{report}/review-requests", json=asked).status_code == 201
    assert "Review a report" in waits(carl)
    assert "overdue since" in waits(carl)
    assert report in get(carl, "/").links
    assert "Review a report" not in waits(dora)
    assert carl.signs(names["report"]).status_code == 201
    assert "Review a report" not in waits(carl)
    assert "Approve a report" in waits(dora)
    assert "Approve a report" not in waits(anna)  # who prepared it
    assert dora.signs(names["report"], "approval").status_code == 201
    assert "Approve a report" not in waits(dora)


def test_the_page_of_a_report_begins_with_the_next_step_and_the_document(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    path = f"/reports/{names['report']}"
    alone = get(anna, path)
    assert "Nobody else may review this report." in alone.words
    assert "/admin/users#invite" in alone.links
    carl = anna.invite("carl@hospital.test", "reviewer")
    dora = anna.invite("dora@hospital.test", "approver")
    assert "Ask a colleague for a review" in get(anna, path).words
    asked = {"reviewer": carl.me["user"]}
    assert anna.post(f"{API}{path}/review-requests", json=asked).status_code == 201
    assert "A review is requested of carl@hospital.test." in get(anna, path).words
    assert "Your review is requested" in get(carl, path).words
    assert carl.signs(names["report"]).status_code == 201
    assert "approve or reject it" in get(dora, path).words
    assert "approve or reject it" not in get(carl, path).words


def test_what_is_late_and_what_failed(light: Core, anna: Client, names: dict[str, str]) -> None:
    with light.store.write() as rows:
        rows.get_one(Schedule, names["schedule"]).next_at = PAST
        version = rows.get_one(Version, names["version"])
        version.device = names["device"]
        days = {"since": "2026-01-01", "until": "2026-01-31", "fetched": False}
        version.facts = {**version.facts, "next": days}
    said = waits(anna)
    assert "A scheduled audit has not been made" in said
    assert "Add the next period" in said
    assert said.count("overdue since") == 2
    assert f"/versions/{names['version']}/period" in get(anna, "/").links
    facts = {"seriousness": "serious", "awareness_date": "2026-01-02", "event_date": "2026-01-01"}
    path, asked = f"{API}/devices/{names['device']}/incidents", {"group": "incidents", "facts": facts}
    entry = anna.post(path, json=asked).json()["id"]
    assert "An incident or signal is overdue" in waits(anna)
    assert f"/incidents/{entry}" in get(anna, "/").links
    reader = anna.invite("eve@hospital.test", "viewer")
    assert "Nothing is waiting for you." in waits(reader)
    now = round(datetime.now(UTC).timestamp() * 1000)
    with light.store.write() as rows:
        rows.get_one(Schedule, names["schedule"]).wishes = {"next_period": True}
        version = rows.get_one(Version, names["version"])
        version.state, version.created_at = "invalid", now
        job = rows.get_one(Job, names["job"])
        job.state, job.created_at = "failed", now
        rows.get_one(StoredReport, names["report"]).created_at = PAST
    said = waits(anna)
    assert "Fix the problems of an upload" in said
    assert "A report could not be made" in said
    assert "Nothing is waiting for you." in waits(reader)  # what another one made


def test_a_study_that_is_planned_has_no_data_yet_and_no_problems(light: Core, anna: Client) -> None:
    study = anna.study("Planned")
    anna.version(study, PLANNED)
    assert WorkerThread(light, "worker").once("check")
    assert only(light, Version).state == "invalid"
    assert "Nothing is waiting for you." in waits(anna)
    for path in ("/studies", f"/studies/{study}"):
        assert "no data yet" in get(anna, path).words
        assert "problems" not in get(anna, path).words


def test_failures_of_closed_accounts_wait_for_administrators(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    dora = anna.invite("dora@hospital.test", "admin")
    now = round(datetime.now(UTC).timestamp() * 1000)
    with light.store.write() as rows:
        version = rows.get_one(Version, names["version"])
        version.state, version.created_at = "invalid", now
    assert "Fix the problems" not in waits(dora)
    assert dora.patch(f"{API}/users/{anna.me['user']}", json={"disabled": True}).status_code == 200
    assert "Fix the problems" in waits(dora)


def test_devices_have_their_latest_answer_and_the_next_date(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    with light.store.write() as rows:
        report = rows.get_one(StoredReport, names["report"])
        point = {"series": "sensitivity", "quantity": "sensitivity", "unit": "share", "level": 0.95, "n": 10}
        point |= {"low": 0.7, "high": 0.9}
        trend = [{**point, "period": f"2026-0{i}", "value": 0.8 + i / 100} for i in (1, 2, 3)]
        answer = {"question": "Is it?", "sentence": "It is steady.", "support": ""}
        report.facts = {**report.facts, "trend": trend, "answer": answer}
    first = get(anna, "/")
    assert "It is steady." in first.words
    assert only(light, StoredDevice).trade_name in first.words
    assert [tag for tag, given in first.tags if tag == "svg" and given["class"] == "spark"]


def test_the_search_finds_by_kind_and_nothing_of_others(
    light: Core, anna: Client, bob: Client, names: dict[str, str]
) -> None:
    found = get(anna, "/search?q=device of")
    assert f"/devices/{names['device']}" in found.links
    assert f"/reports/{names['report']}" in found.links
    assert f"/studies/{names['study']}" not in found.links
    assert f"/studies/{names['study']}" in get(anna, "/search?q=stud").links
    assert "Nothing is called" in get(anna, "/search?q=nowhere").words
    assert "Nothing is called" in get(bob, "/search?q=device of").words
    assert "Type a part of a name" in get(anna, "/search").words
