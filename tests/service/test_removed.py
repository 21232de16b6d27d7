"""What was removed is hidden from everybody, can be restored for 30 days, and is then deleted."""

import pytest
from acts import is_intact, log, world_to_see
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pages import HTML, get, post
from services import API, Client, stored

from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.record import removal, retention
from trustreport.service.storage.hidden import with_removed
from trustreport.service.storage.models import Job, Schedule, StoredReport, StoredStudy, Version

DAY = 86_400_000


@pytest.fixture
def names(light: Core, anna: Client) -> dict[str, str]:
    """One row of everything, with a statement, a comment and a link."""
    names = world_to_see(light, anna)
    carl = anna.invite("carl@hospital.test", "reviewer")
    assert carl.signs(names["report"]).status_code == 201
    report = f"{API}/reports/{names['report']}"
    assert anna.post(f"{report}/comments", json={"text": "See"}).status_code == 201
    names["link"] = anna.post(f"{report}/shares", json={}).json()["link"].rpartition("#")[2]
    return names


def addresses(names: dict[str, str]) -> list[str]:
    """Where rows of the study are."""
    kinds = ("studies", "study"), ("versions", "version"), ("reports", "report"), ("jobs", "job")
    more = ("schedules", "schedule"), ("collaborations", "collaboration")
    found = [f"/{word}/{names[kind]}" for word, kind in (*kinds, *more)]
    return [*found, f"/versions/{names['version']}/files", f"/reports/{names['report']}/results"]


def codes(client: Client, names: dict[str, str]) -> set[int]:
    return {client.get(f"{API}{path}").status_code for path in addresses(names)}


def test_a_removed_study_is_nowhere_and_comes_back_as_it_was(
    light: Core, app: FastAPI, anna: Client, names: dict[str, str]
) -> None:
    visitor = TestClient(app, base_url="https://testserver")
    link = {"link": names["link"]}
    with light.store.write() as rows:
        rows.get_one(Version, names["version"]).device = names["device"]
    assert codes(anna, names) == {200}
    assert anna.delete(f"{API}/studies/{names['study']}").status_code == 204
    assert codes(anna, names) == {404}
    for kind in ("studies", "reports", "schedules", "devices", "jobs"):
        assert anna.get(f"{API}/{kind}").json()["items"] == [], kind
    assert names["report"] not in anna.get("/", headers=HTML).text
    assert post(visitor, "/shared", "/shared", **link).status_code in (403, 404, 422)
    assert is_intact(light)
    with light.store.write() as rows, with_removed(rows):
        rows.get_one(Schedule, names["schedule"]).next_at = 1
    schedules.tend(light)
    assert log(light, "schedule.due") == []
    (found,) = anna.get(f"{API}/removed").json()["items"]
    assert (found["kind"], found["id"], found["name"]) == ("study", names["study"], "Study")
    assert "Study" in get(anna, "/removed").words
    assert anna.post(f"{API}/removed/{names['study']}/restoration").status_code == 204
    assert codes(anna, names) == {200}
    assert anna.get(f"{API}/removed").json()["items"] == []
    assert [entry[1] for entry in log(light, "study.restore")] == [names["study"]]
    assert is_intact(light)


def test_a_removed_report_can_be_made_again_and_restored(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    report = f"{API}/reports/{names['report']}"
    assert post(
        anna, f"/reports/{names['report']}", f"/reports/{names['report']}/removal"
    ).headers["location"] == "/removed?done=report_removed"
    assert anna.get(report).status_code == 404
    assert anna.get(f"{API}/jobs/{names['job']}").status_code == 404
    assert anna.get(f"{API}/versions/{names['version']}").status_code == 200
    assert is_intact(light)
    answer = post(anna, "/removed", f"/removed/{names['report']}/restoration")
    assert answer.headers["location"] == f"/reports/{names['report']}?done=restored"
    assert anna.get(report).status_code == 200
    assert anna.get(f"{API}/jobs/{names['job']}").json()["state"] == "done"
    assert is_intact(light)


def test_after_thirty_days_it_is_deleted_for_good(
    light: Core, anna: Client, names: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert anna.delete(f"{API}/studies/{names['study']}").status_code == 204
    now = removal.now
    monkeypatch.setattr(removal, "now", lambda rows: now(rows) + 29 * DAY)
    with light.store.write() as rows:
        removal.delete_old(rows, anna.me["organisation"], "x")
    assert len(anna.get(f"{API}/removed").json()["items"]) == 1
    monkeypatch.setattr(removal, "now", lambda rows: now(rows) + 31 * DAY)
    with light.store.write() as rows:
        removal.delete_old(rows, anna.me["organisation"], "x")
    with light.store.read() as rows, with_removed(rows):
        for model in (StoredStudy, Version, StoredReport, Job, Schedule):
            assert rows.query(model).all() == [], model
    assert is_intact(light)
    assert [entry[1] for entry in log(light, "study.delete")] == [names["study"]]
    retention.sweep(light.store, light.blobs, older=-1)
    assert not list(light.blobs.stored_blobs())


@pytest.mark.parametrize("kind", ["study", "report"])
def test_what_the_law_wants_deleted_is_deleted_at_once(
    light: Core, anna: Client, bob: Client, names: dict[str, str], kind: str
) -> None:
    word = {"study": "studies", "report": "reports"}[kind]
    assert anna.delete(f"{API}/removed/{names[kind]}").status_code == 404  # it was not removed yet
    assert anna.delete(f"{API}/{word}/{names[kind]}").status_code == 204
    assert bob.delete(f"{API}/removed/{names[kind]}").status_code == 404
    assert post(anna, "/removed", f"/removed/{names[kind]}/deletion").status_code == 303
    assert anna.get(f"{API}/removed").json()["items"] == []
    with light.store.read() as rows, with_removed(rows):
        assert rows.get(StoredReport, names["report"]) is None
    assert is_intact(light)


def test_a_report_of_a_removed_study_waits_for_its_study(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    assert anna.delete(f"{API}/reports/{names['report']}").status_code == 204
    assert anna.delete(f"{API}/studies/{names['study']}").status_code == 204
    assert anna.post(f"{API}/removed/{names['report']}/restoration").status_code == 409
    author = anna.invite("dora@hospital.test", "author")
    assert author.get("/removed", headers=HTML).status_code == 403


def test_sample_data_come_and_go_with_a_click(light: Core, anna: Client) -> None:
    assert post(anna, "/", "/sample").status_code == 303
    worker = WorkerThread(light, "w")
    assert worker.once("check")
    (job,) = stored(light, Job, task="report")
    assert job.state == "queued"
    study = get(anna, f"/studies/{job.study}").words
    assert "Sample: fracture aid" in study
    assert "a fictional device" in study
    assert "simulated data" in get(anna, "/").words
    assert post(anna, "/", "/sample/removal").headers["location"] == "/?done=no_sample"
    assert stored(light, StoredStudy) == stored(light, Version) == []
    assert "Try it with sample data" in get(anna, "/").words
    assert is_intact(light)
