"""From an upload to a signed report and its tombstone, with the limited process that really computes."""

import base64
import json
import subprocess
from pathlib import Path

import pytest
from fastapi import FastAPI
from services import API, MANIFEST, PASSWORD, Client, zipped

from trustreport.report.signatures import bundle
from trustreport.report.signatures.signing import is_signed, read_signers
from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.record import retention
from trustreport.service.storage.models import StoredReport, StoredStudy, Version


@pytest.fixture
def worker(light: Core) -> WorkerThread:
    return WorkerThread(light, "worker")


def made(client: Client, worker: WorkerThread, version: str, **wishes: object) -> str:
    """The name of a report of a version."""
    job = client.post(f"{API}/versions/{version}/jobs", json={"formats": ["json"], **wishes}).json()
    assert worker.once("report")
    done = client.get(f"{API}/jobs/{job['id']}").json()
    assert (done["state"], done["progress"]) == ("done", 1.0), done
    return str(done["report"])


@pytest.mark.limited_process
@pytest.mark.pdf
def test_a_page_in_plain_language_is_a_choice_like_other_formats(anna: Client, worker: WorkerThread) -> None:
    version = anna.version(anna.study())
    assert worker.once("check")
    assert 'name="format" value="plain"' in anna.get(f"/versions/{version}").text
    report = made(anna, worker, version, formats=["json", "plain"])
    assert "plain.pdf" in anna.get(f"/reports/{report}").text
    assert anna.get(f"{API}/reports/{report}/files/plain.pdf").content.startswith(b"%PDF")
    assert "100" in anna.get(f"{API}/reports/{report}/files/plain.html").text


@pytest.mark.limited_process
def test_a_study_becomes_reports_on_a_timeline_and_leaves_a_tombstone(
    light: Core, app: FastAPI, anna: Client, worker: WorkerThread, tmp_path: Path
) -> None:
    study = anna.study()
    first = anna.version(study)
    assert anna.post(f"{API}/versions/{first}/jobs", json={}).status_code == 409  # not checked yet
    assert worker.once("check")
    said = anna.get(f"{API}/versions/{first}").json()
    assert (said["state"], said["facts"]["title"], said["number"]) == ("valid", "Counts", 1)
    old = made(anna, worker, first)

    # A second version as a zip with a folder around, of the same device.
    changed = json.loads(json.dumps(MANIFEST))
    changed["counts"][1] |= {"errors": 30, "correct": 270}
    changed["vigilance"] = {"period_start": "2026-01-01", "period_end": "2026-03-31"}
    archive = zipped({"folder/study.json": json.dumps(changed), "__MACOSX/x": "", "folder/.DS_Store": ""})
    second = anna.post(f"{API}/studies/{study}/versions", files=[("files", ("s.zip", archive))]).json()["id"]
    assert worker.once("check")
    said = anna.get(f"{API}/versions/{second}").json()
    assert (said["state"], said["number"], said["facts"]["period_end"]) == ("valid", 2, "2026-03-31")
    assert [f["name"] for f in anna.get(f"{API}/versions/{second}/files").json()["items"]] == ["study.json"]
    new = made(anna, worker, second, kind="procurement")

    # Asked again, it is the same job; another wish is another.
    again = anna.post(f"{API}/versions/{second}/jobs", json={"formats": ["json"], "kind": "procurement"})
    assert again.status_code == 200
    assert again.json()["report"] == new

    # Immutable, and whoever has it learns so.
    results = anna.get(f"{API}/reports/{new}/results")
    assert results.headers["etag"] == f'"{anna.get(f"{API}/reports/{new}").json()["results_sha256"]}"'
    cached = anna.get(f"{API}/reports/{new}/results", headers={"If-None-Match": results.headers["etag"]})
    assert (cached.status_code, cached.content) == (304, b"")
    assert results.json()["study"]["kind"] == "procurement"

    # Side by side.
    robot = anna.robot("read")
    found = robot.compare(old, new)
    rates = [
        (d.what, d.old["value"], d.new["value"])
        for d in found.differences
        if d.name == "pragmatic_utility.error_rate" and d.where["scope"]["arm"] == "aided"
    ]
    assert set(rates) == {("changed", 0.15, 0.1)}
    assert found.old.inputs != found.new.inputs

    # The device and its periods.
    (device,) = robot.devices()
    line = list(robot.timeline(device.id))
    assert [(m.report, str(m.period_start), m.software_version) for m in line] == [
        (new, "2026-01-01", "1.0"),
        (old, "None", "1.0"),
    ]
    assert line[0].checks
    assert line[0].primary

    signed_by_another_hand(anna, new, tmp_path)
    policy_removes_all_but_the_signed(light, anna, study, old, new)


def signed_by_another_hand(anna: Client, report: str, tmp_path: Path) -> None:
    path = f"{API}/reports/{report}/attestations"
    signing = {"act": "approval", "meaning": "Suitable for the dossier", "password": PASSWORD}
    assert anna.post(path, json=signing).status_code == 403  # she asked for it herself
    carl = anna.invite("carl@h.test", "approver")
    assert carl.post(path, json={**signing, "password": "not his"}).status_code == 403
    signature = carl.post(path, json=signing)
    assert signature.status_code == 201, signature.text
    name = signature.json()["id"]
    statement = carl.get(f"{API}/attestations/{name}/statement").content
    said = json.loads(statement)
    assert (said["act"], said["meaning"], said["signer"]["email"]) == (
        "approval",
        "Suitable for the dossier",
        "carl@h.test",
    )
    results = anna.get(f"{API}/reports/{report}").json()["results_sha256"]
    assert said["report"]["files"]["results.json"] == results
    # OpenSSL agrees, with nothing but what the API gives.
    (tmp_path / "key.pem").write_text(carl.get(f"{API}/signing-key").json()["pem"])
    (tmp_path / "statement").write_bytes(statement)
    (tmp_path / "signature").write_bytes(carl.get(f"{API}/attestations/{name}/signature").content)
    command = "openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in statement -sigfile signature"
    done = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    raw = (tmp_path / "signature").read_bytes()
    key = (tmp_path / "key.pem").read_text().splitlines()[1]
    assert is_signed(base64.b64decode(key)[-32:], statement, raw)
    assert not is_signed(base64.b64decode(key)[-32:], statement + b" ", raw)
    # So does `trustreport verify`, with the report's files.
    out = tmp_path / "out"
    carls = carl.robot("read")
    carls.download(report, out)
    carls.download_statements(report, out)
    told = [line for line in bundle.verify(out) if line.status != "ok"]
    assert [(line.file, line.status) for line in told] == [("approval.json", "signed")]
    assert told[0].said.endswith("the signature is valid, signer unknown (name them by --signers)")
    signers = read_signers((tmp_path / "key.pem").read_text())
    assert {line.status for line in bundle.verify(out, signers)} == {"ok", "signed"}
    assert anna.get(f"{API}/audit/verification").json()["faults"] == []


def policy_removes_all_but_the_signed(light: Core, anna: Client, signed: str, old: str, new: str) -> None:
    other = anna.study("Unsigned")
    version = anna.version(other)
    assert anna.delete(f"{API}/studies/{other}").status_code == 409  # its check waits
    WorkerThread(light, "worker").once("check")
    with light.store.write() as rows:
        for model in (StoredStudy, Version, StoredReport):
            rows.query(model).update({model.created_at: 1000})
    run = f"{API}/organisation/retention/run"
    assert anna.post(run).json()["studies"] == []  # without a policy nothing goes
    anna.put(f"{API}/organisation/retention", json={"days": 365})
    assert anna.post(run).json()["studies"] == [other]
    assert anna.get(f"{API}/versions/{version}").status_code == 404
    assert anna.get(f"{API}/reports/{new}/results").status_code == 200

    anna.put(f"{API}/organisation/retention", json={"days": 365, "keep_signed": False})
    assert anna.post(run).json()["studies"] == [signed]
    assert retention.sweep(light.store, light.blobs, older=60) == 0  # the young stay
    assert retention.sweep(light.store, light.blobs, older=-1) > 0
    assert not list(light.blobs.stored_blobs())
    assert anna.get(f"{API}/devices").json()["items"] == []
    (tombstone,) = anna.get(f"{API}/audit", params={"subject": signed, "limit": 1}).json()["items"]
    assert tombstone["action"] == "study.remove"
    assert {r["id"] for r in tombstone["details"]["reports"]} == {old, new}
    assert anna.get(f"{API}/audit/verification").json()["faults"] == []


def test_every_problem_of_an_upload_is_told(anna: Client, worker: WorkerThread) -> None:
    manifest = "report: {kind: nonsense}\ndevice: {}\ntables: {readings: {file: r.csv}}\n"
    table = "reader,case,arm,truth,decision\nR1,C1,unaided,2,0\nR1,C2,unaided,0,7\n"
    files = [("files", ("study.yaml", manifest)), ("files", ("r.csv", table))]
    version = anna.post(f"{API}/studies/{anna.study()}/versions", files=files).json()["id"]
    assert worker.once("check")
    said = anna.get(f"{API}/versions/{version}").json()
    assert (said["state"], said["problems"]) == ("invalid", 3)
    told = [(p.file, p.rows or [p.row], p.column) for p in anna.robot().problems(version)]
    page = anna.get(f"{API}/versions/{version}/problems", params={"limit": 2}).json()
    rest = anna.get(f"{API}/versions/{version}/problems", params={"after": page["next"]}).json()
    assert (len(page["items"]), len(rest["items"]), rest["next"]) == (2, 1, None)
    assert told == [
        ("study.yaml", [1], "report.kind"),
        ("r.csv", [2], "truth"),
        ("r.csv", [3], "decision"),
    ]
    assert anna.post(f"{API}/versions/{version}/jobs", json={}).status_code == 409
