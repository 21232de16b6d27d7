"""The form of a manifest on its page: saved as a version like any other, checked while one types."""

import json
import threading
from typing import Any

import pytest
from fastapi import FastAPI
from pages import HTML, Taken, get, post, right
from services import API, Client, world

from trustreport.service.core import Core
from trustreport.service.editor import run
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Audit, VersionFile
from trustreport.service.web.faults import Fault

HOSTILE = "</textarea><script>alert(1)</script>\"'{{ 7*7 }}"
CODED = right().replace("truth", "diagnosis").replace("reader", "radiologist")


def begun(core: Core, anna: Client, table: str = CODED) -> str:
    """The form of a new study that one table was uploaded for, its path."""
    files = [("files", ("export.csv", table))]
    address = post(anna, "/studies/new", "/studies", files, name="Tables").headers["location"]
    assert address.endswith("/edit")
    assert "being checked" in get(anna, address).words
    assert WorkerThread(core, "worker").once("check")
    return str(address)


def send(client: Client, address: str, act: str, files: Any = None, **typed: str) -> Any:
    """Send what was typed into a form; what is not sent stays as it is."""
    sent = {"csrf": client.me["csrf"], **typed, "act": act}
    return client.post(address, data=sent, files=files, headers=HTML, follow_redirects=False)


def test_tables_are_described_in_a_form_and_saved_as_a_version_like_any_other(
    light: Core, anna: Client
) -> None:
    address = begun(light, anna)
    page = get(anna, address)
    chosen = [given["value"] for tag, given in page.tags if tag == "option" and "selected" in given]
    assert {"radiologist", "diagnosis", "export.csv"} <= set(chosen)
    typed = {"/device/trade_name": "Example aid", "/report/title": "From a form"}
    saved = send(anna, address, "save", **typed).headers["location"]
    assert WorkerThread(light, "worker").once("check")
    made = anna.get(f"{API}{saved}").json()
    assert (made["state"], made["facts"]["title"]) == ("valid", "From a form")
    text = anna.get(f"{API}{saved}/files/study.yaml").text
    assert text == send(anna, f"{saved}/edit", "yaml").text
    # The same files, uploaded: the same hash of names and contents, so the same job.
    again = [("files", ("study.yaml", text)), ("files", ("export.csv", CODED))]
    other = anna.post(f"{API}/studies/{made['study']}/versions", files=again).json()
    assert other["digest"] == made["digest"]
    with light.store.read() as rows:
        entry = rows.query(Audit).filter_by(action="version.add", subject=made["id"]).one()
        assert entry.actor == anna.me["user"]


def test_what_is_typed_is_checked_with_the_tables_and_nothing_is_stored(light: Core, anna: Client) -> None:
    address = begun(light, anna, CODED.replace("R0,C0,unaided", "R0,,unaided"))
    with light.store.read() as rows:
        before = rows.query(Audit).count()
    typed = {"/endpoints/+0/endpoint": "e", "/endpoints/+0/bound_or_margin": "0,8"}
    answer = send(anna, address, "check", **typed)
    assert answer.headers["content-type"] == "application/json"
    found = answer.json()
    (bound,) = found["beside"]["/endpoints/+0/bound_or_margin"]
    assert bound.startswith('found "0,8"')
    (cell,) = found["beside"]["/tables/readings/columns/case"]
    assert cell.startswith("export.csv, row ")
    assert "an empty cell" in cell
    assert found["summary"] == "2 problems to fix."
    assert "endpoint: e" in found["yaml"]
    shown = send(anna, address, "preview", **typed)
    assert shown.status_code == 200
    assert Taken(shown.text).form(address)["/endpoints/+0/bound_or_margin"] == "0,8"
    assert bound in Taken(shown.text).words
    with light.store.read() as rows:
        assert rows.query(Audit).count() == before
    assert not list((light.settings.data / "forms").iterdir())


def test_rows_and_tables_are_added_without_javascript(light: Core, anna: Client) -> None:
    address = begun(light, anna)
    again = Taken(send(anna, address, "add:/arms", **{"/arms/+0/arm": "one"}).text).form(address)
    assert (again["/arms/+0/arm"], again["/arms/+1/arm"]) == ("one", "")
    manifest = send(anna, address, "save", [("files", ("study.yml", "a: 1"))])
    assert (manifest.status_code, "takes tables" in manifest.text) == (422, True)
    scores = "case,truth,score\n" + "\n".join(f"C{i},{i % 2},0.{i + 1}" for i in range(8)) + "\n"
    files = [("files", ("northhaven.csv", scores))]
    added = send(anna, address, "tables", files, **{"/device/model": "M"}).headers["location"]
    assert WorkerThread(light, "worker").once("check")
    page = get(anna, added)
    form = page.form(added)
    assert form["/device/model"] == "M"
    assert "northhaven.csv" in json.dumps(page.tags)
    assert [name for name in form if name.startswith(("/datasets/0/", "/tables/scores/"))]


def test_a_study_begins_without_files(light: Core, anna: Client) -> None:
    address = post(anna, "/studies/new", "/studies", name="Counts", start="form").headers["location"]
    assert WorkerThread(light, "worker").once("check")
    typed: dict[str, str] = {"/device/trade_name": "Aid"}
    for i, (arm, errors, correct) in enumerate((("unaided", "60", "240"), ("aided", "45", "255"))):
        row = {"set": "chest", "arm": arm, "errors": errors, "correct": correct}
        typed |= {f"/counts/+{i}/{key}": value for key, value in row.items()}
    saved = send(anna, address, "save", **typed).headers["location"]
    assert WorkerThread(light, "worker").once("check")
    assert anna.get(f"{API}{saved}").json()["state"] == "valid"


def test_the_form_keeps_to_roles_and_organisations(
    light: Core, app: FastAPI, anna: Client, bob: Client
) -> None:
    address = f"/versions/{world(light, anna)['version']}/edit"
    viewer = anna.invite("viewer@hospital.test", "viewer")
    sent = {"csrf": bob.me["csrf"], "act": "check"}
    assert bob.get(address, headers=HTML).status_code == 404
    assert bob.post(address, data=sent, headers=HTML).status_code == 404
    assert viewer.get(address, headers=HTML).status_code == 403
    assert viewer.post(address, data={**sent, "csrf": viewer.me["csrf"]}, headers=HTML).status_code == 403
    with light.store.read() as rows:
        assert rows.query(VersionFile).count() == 1


def test_hostile_texts_are_text_and_what_is_no_form_is_refused(light: Core, anna: Client) -> None:
    manifest = {
        "report": {"kind": "certification", "title": HOSTILE},
        "device": {"trade_name": "x"},
        HOSTILE: 1,
    }
    study = anna.study("Hostile")
    address = f"/versions/{anna.version(study, manifest)}/edit"
    assert WorkerThread(light, "worker").once("check")
    page = get(anna, address)
    assert page.form(address)["/report/title"] in ("", HOSTILE)
    assert HOSTILE in page.words
    assert not [
        given for tag, given in page.tags if tag == "script" and not given["src"].startswith("/static/")
    ]
    files = [("files", ("study.yaml", "report: [\n"))]
    broken = anna.post(f"{API}/studies/{study}/versions", files=files).json()["id"]
    assert WorkerThread(light, "worker").once("check")
    refused = anna.get(f"/versions/{broken}/edit", headers=HTML)
    assert (refused.status_code, "study.yaml, line" in refused.text) == (409, True)


def test_only_so_many_forms_are_made_at_a_time(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = begun(light, anna)
    monkeypatch.setattr(run, "_AT_ONCE", threading.BoundedSemaphore(1))
    monkeypatch.setattr(run, "_ADMITTED", threading.BoundedSemaphore(1))
    monkeypatch.setattr(run, "WAIT_SECONDS", 0.01)
    for lock in (run._AT_ONCE, run._ADMITTED):
        with lock:
            answer = anna.get(address, headers=HTML)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    with run._turn(), pytest.raises(Fault), run._turn():
        pass
