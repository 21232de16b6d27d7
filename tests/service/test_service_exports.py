"""Lists narrowed and taken away: filters, CSV, one zip of a report, and two reports side by side."""

import csv
import io
import json
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from pages import HTML, Shown, Taken, get
from services import API, Client, new_core, only, world

from trustreport.service import audit
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.storage.models import Attestation, Audit, Job, StoredReport, StoredStudy, User
from trustreport.service.tools import exports

LISTS = ("studies", "reports", "devices", "jobs", "schedules", "users", "tokens", "audit")


def table(client: Client, name: str, **given: str) -> list[dict[str, str]]:
    answer = client.get(f"{API}/exports/{name}.csv", params=given)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert f'filename="{name}.csv"' in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.text)))


@pytest.fixture
def core(tmp_path: Path, address: str) -> Any:
    core = new_core(tmp_path / "data", database=address)
    yield core
    core.close()


def reports(core: Core, client: Client) -> dict[str, str]:
    """Reports of several kinds and states; their names."""
    names = world(core, client, "Chest")
    at, found = 1_760_000_000_000, {"plain": names["report"]}
    kinds: dict[str, tuple[dict[str, Any], list[str]]] = {
        "failed": ({"verdicts": {"fail": 1, "pass": 2}}, ["rejection", "approval"]),
        "passed": ({"verdicts": {"pass": 2}, "title": '"fail":'}, ["approval"]),
        "reviewed": ({"verdicts": {}}, ["review"]),
    }
    with core.store.write() as rows:
        for i, (word, (facts, acts)) in enumerate(kinds.items(), start=1):
            of = {"organisation": client.me["organisation"], "study": names["study"]}
            job = Job(**{**columns(rows.get_one(Job, names["job"])), "id": new_id(), "key": str(i) * 64})
            rows.add(job)
            rows.flush()
            row = columns(rows.get_one(StoredReport, names["report"]))
            made = {"id": new_id(), "job": job.id, "facts": facts, "kind": "vigilance"}
            rows.add(StoredReport(**{**row, **of, **made, "created_at": at + i * 86_400_000}))
            rows.flush()
            found[word] = made["id"]
            for act in acts:
                signature = {"sha256": "0" * 64, "signature": "", "key": "", "meaning": "", "created_at": at}
                given = {"report": made["id"], "user": client.me["user"], "act": act, **signature}
                rows.add(Attestation(id=new_id(), organisation=of["organisation"], **given))
    return {"study": names["study"], "device": names["device"], **found}


def columns(row: Any) -> dict[str, Any]:
    return {column.key: getattr(row, column.key) for column in row.__table__.columns}


def test_reports_are_narrowed_in_the_api_the_pages_and_the_export_alike(core: Core) -> None:
    anna = Client.set_up(create_app(core), core)
    found = reports(core, anna)
    words = {name: word for word, name in found.items()}
    for given, expected in (
        ({}, {"plain", "failed", "passed", "reviewed"}),
        ({"kind": "vigilance"}, {"failed", "passed", "reviewed"}),
        ({"verdict": "fail"}, {"failed"}),
        ({"verdict": "pass"}, {"failed", "passed"}),
        ({"signed": "none"}, {"plain"}),
        ({"signed": "approval"}, {"passed"}),
        ({"signed": "rejection"}, {"failed"}),
        ({"signed": "review"}, {"reviewed"}),
        ({"since": "2025-10-10", "until": "2025-10-11"}, {"failed", "passed"}),
        ({"since": "2025-10-11", "verdict": "pass"}, {"passed"}),
        ({"by": anna.me["user"], "study": found["study"]}, {"plain", "failed", "passed", "reviewed"}),
        ({"by": "0" * 26}, set()),
        ({"device": found["device"], "q": "chest"}, {"plain", "failed", "passed", "reviewed"}),
        ({"q": "nowhere"}, set()),
    ):
        listed = {words[item["id"]] for item in anna.get(f"{API}/reports", params=given).json()["items"]}
        exported = {words[row["report"]] for row in table(anna, "reports", **given)}
        links = Taken(anna.get("/reports", params=given, headers=HTML).text).links
        shown = {word for word in found if f"/reports/{found[word]}" in links}
        assert (listed, exported, shown) == (expected, expected, expected), given
    for wrong in ({"signed": "maybe"}, {"since": "2025-13-01"}, {"until": "soon"}, {"study": "../"}):
        assert anna.get(f"{API}/reports", params=wrong).status_code == 422, wrong


def test_filters_stay_while_one_turns_pages(light: Core, anna: Client) -> None:
    for i in range(30):
        anna.study(f"Chest {i}")
    page = get(anna, "/studies?q=chest&since=2020-01-01")
    (older,) = [link for link in page.links if "after=" in link]
    assert all(word in older for word in ("q=chest", "since=2020-01-01"))
    assert "/api/v1/exports/studies.csv?q=chest&since=2020-01-01" in page.links
    first = anna.get(f"{API}/studies", params={"limit": 10, "q": "chest"}).json()
    second = anna.get(f"{API}/studies", params={"limit": 10, "q": "chest", "after": first["next"]}).json()
    assert len({item["id"] for item in first["items"] + second["items"]}) == 20


def test_the_log_is_narrowed_by_person_act_and_day(light: Core, anna: Client) -> None:
    carl = anna.invite("carl@hospital.test", "author")
    study = carl.study()
    for given, expected in (
        ({"by": carl.me["user"]}, {"user.password", "login", "study.add"}),
        ({"action": "study"}, {"study.add"}),
        ({"action": "study.add", "subject": study}, {"study.add"}),
        ({"action": "stud"}, set()),
        ({"until": "2000-01-01"}, set()),
    ):
        entries = anna.get(f"{API}/audit", params=given).json()["items"]
        assert {entry["action"] for entry in entries} == expected, given
        exported = {row["action"] for row in table(anna, "audit", **given)}
        assert exported == expected, given
    page = get(anna, f"/audit?by={carl.me['user']}")
    assert "study.add" in page.words
    assert "organisation.found" not in page.words


def test_users_are_found_by_role(anna: Client) -> None:
    carl = anna.invite("carl@hospital.test", "author")
    found = anna.get(f"{API}/users", params={"role": "author", "q": "carl"}).json()["items"]
    assert [user["id"] for user in found] == [carl.me["user"]]
    assert anna.get(f"{API}/users", params={"role": "viewer"}).json()["items"] == []


def test_an_account_of_the_provider_is_active_without_a_password(light: Core, anna: Client) -> None:
    carl = anna.invite("carl@hospital.test", "author")
    with light.store.write() as rows:
        rows.get_one(User, carl.me["user"]).password = ""
    active = {row["user"]: row["active"] for row in table(anna, "users")}
    assert active == {anna.me["user"]: "True", carl.me["user"]: "False"}
    with light.store.write() as rows:
        rows.get_one(User, carl.me["user"]).subject = "carl"
    assert {row["active"] for row in table(anna, "users")} == {"True"}


@pytest.mark.parametrize("name", LISTS)
def test_every_list_is_exported_and_that_is_logged(light: Core, anna: Client, name: str) -> None:
    world(light, anna)
    anna.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]})
    found = table(anna, name)
    assert found
    assert not any(word in str(found) for word in ("argon2", "tr_"))
    entry = only(light, Audit, action="list.export")
    assert (entry.actor, entry.subject) == (anna.me["user"], name)
    if name == "audit":
        assert found[0]["action"] == "list.export"  # the log has this export too
        assert [int(row["number"]) for row in found] == list(range(len(found), 0, -1))
        assert found[0]["hash"] == anna.get(f"{API}/audit?limit=1").json()["items"][0]["hash"]


def test_exports_keep_to_roles_and_organisations(light: Core, anna: Client, bob: Client) -> None:
    names = world(light, anna)
    reader = anna.invite("reader@hospital.test", "viewer")
    for name in LISTS:
        status = reader.get(f"{API}/exports/{name}.csv").status_code
        assert status == (403 if name in ("users", "tokens", "audit") else 200), name
        theirs = bob.get(f"{API}/exports/{name}.csv").text
        assert not [n for n in (*names.values(), "anna@") if n in theirs], name


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1"])
def test_no_cell_is_a_formula(anna: Client, text: str) -> None:
    anna.study(text)
    assert {row["name"] for row in table(anna, "studies")} == {f"'{text}"}


def test_an_export_is_read_part_by_part(light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rows than are read at a time: all are there once, in order, and never all in memory."""
    monkeypatch.setattr(exports, "AT_A_TIME", 7)
    with light.store.write() as rows:
        made = {"organisation": anna.me["organisation"], "created_by": anna.me["user"], "created_at": 1}
        rows.add_all(StoredStudy(id=new_id(), name=f"S{i}", **made) for i in range(40))
    seen: list[int] = []
    written = exports._written

    def watched(lines: Any) -> bytes:
        kept = list(lines)
        seen.append(len(kept))
        return written(kept)

    monkeypatch.setattr(exports, "_written", watched)
    found = [row["study"] for row in table(anna, "studies")]
    assert len(found) == 40
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 40
    assert max(seen) == 7


# ------------------------------------------------------------------ one zip of a report


def test_a_zip_holds_what_verifying_needs(shown: Shown, tmp_path: Path) -> None:
    anna, report = shown.anna, shown.names["report1"]
    answer = anna.get(f"{API}/reports/{report}/zip")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert answer.content == anna.get(f"{API}/reports/{report}/zip").content
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        archive.extractall(tmp_path)
    assert names == sorted(names)
    files = anna.get(f"{API}/reports/{report}/files?limit=200").json()["items"]
    assert {f"report/{f['name']}" for f in files} <= set(names)
    rest = set(names) - {f"report/{f['name']}" for f in files}
    assert rest == {"README.txt", "signers.pem", "report/approval.json", "report/approval.json.sig"}
    for f in files:
        content = (tmp_path / "report" / f["name"]).read_bytes()
        if f["name"] != "results.json":  # which the fixture changed
            assert sha256(content).hexdigest() == f["sha256"]
    said = subprocess.run(
        [sys.executable, "-m", "trustreport", "verify", "report", "--signers", "signers.pem"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "by trustreport service" in said.stdout + said.stderr


def test_several_statements_of_one_kind_are_all_there(light: Core, anna: Client) -> None:
    report = world(light, anna)["report"]
    for name in ("carl", "dora"):
        assert anna.invite(f"{name}@hospital.test", "reviewer").signs(report).status_code == 201
    answer = anna.get(f"{API}/reports/{report}/zip").content
    with zipfile.ZipFile(io.BytesIO(answer)) as archive:
        names = {name for name in archive.namelist() if "review" in name}
    assert names == {f"report/review{n}.json{sig}" for n in ("", "-2") for sig in ("", ".sig")}


# ------------------------------------------------------------------ two reports side by side


def document(device: str, value: float) -> bytes:
    number = {"id": "m.sensitivity", "scope": {}, "method": "wilson", "value": value, "low": value - 0.1}
    study = {"device": device, "kind": "certification"}
    origin = {"inputs": [], "trustreport": "1", "seed": 1}
    made = {"study": study, "provenance": origin, "results": [number], "verdicts": [], "checks": []}
    return json.dumps(made).encode()


@pytest.mark.parametrize("same", [True, False])
def test_a_comparison_says_at_once_whether_the_device_is_the_same(
    light: Core, app: FastAPI, anna: Client, same: bool
) -> None:
    first, second = world(light, anna, "One"), world(light, anna, "Two")
    with light.store.write() as rows:
        for names, value in ((first, 0.9), (second, 0.8)):
            blob = light.blobs.put(anna.me["organisation"], io.BytesIO(document("A", value)))
            row = rows.get_one(StoredReport, names["report"])
            row.results_sha256 = blob.sha256
            if same:
                row.device = first["device"]
    pair = {"old": first["report"], "new": second["report"]}
    said = anna.get(f"{API}/comparisons", params=pair).json()
    assert said["same_device"] is same
    (changed,) = said["items"]
    assert changed["change"] == pytest.approx({"value": -0.1, "low": -0.1})
    page = get(anna, f"/comparison?old={pair['old']}&new={pair['new']}")
    assert ("These reports are of different devices." in page.words) is not same
    assert page.words.index("0.9") < page.words.index("\N{MINUS SIGN}0.1")
    # What is equal is folded.
    assert page.words.index("The same in both: ") < page.words.index("Inputs: ")
    if not same:
        assert page.words.index("different devices") < page.words.index("Before")


def test_a_difference_is_of_numbers_that_both_have(shown: Shown) -> None:
    names = shown.names
    pair = {"old": names["report0"], "new": names["report1"], "limit": 200}
    for found in shown.anna.get(f"{API}/comparisons", params=pair).json()["items"]:
        for name, change in found["change"].items():
            assert change == pytest.approx(found["new"][name] - found["old"][name])
        if found["what"] != "changed":
            assert found["change"] == {}


def test_the_log_of_an_export_is_written_before_its_first_row(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: Any, **more: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(audit, "write", refused)
    assert anna.get(f"{API}/exports/studies.csv").status_code == 500
