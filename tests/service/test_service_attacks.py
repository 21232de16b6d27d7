"""Attacks, each named by the item of OWASP ASVS 5.0 that asks for the defence."""

import asyncio
import io
import socket
import stat
import struct
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from fastapi.testclient import TestClient
from openpyxl import Workbook
from services import API, MANIFEST, PASSWORD, Client, new_core, stored, world, zipped

from trustreport.service.access import secrets
from trustreport.service.access.guard import CSRF_HEADER
from trustreport.service.access.principal import COOKIE
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.intake import BadName, safe_name
from trustreport.service.jobs.unpack import Refused, unpack
from trustreport.service.storage.models import Session
from trustreport.vocabulary.messages import catalogue

TABLE = "report: {kind: certification}\ndevice: {}\ntables: {readings: {file: r.xlsx}}\n"
NOBODY = secrets._NOBODY
FINE = "report: {kind: certification}\ndevice: {}\ncounts:\n- {set: s, arm: a, errors: 1, correct: 2}\n"


def refused(tmp_path: Path, data: bytes, **limits: int) -> str:
    """What is said of an archive; nothing may lie outside the folder, and nothing is kept in it."""
    (tmp_path / "in.zip").write_bytes(data)
    into = tmp_path / "study"
    into.mkdir()
    with pytest.raises(Refused) as caught:
        unpack(tmp_path / "in.zip", "in.zip", into, **{"most_bytes": 10**6, "most_files": 10, **limits})
    assert {p.name for p in tmp_path.iterdir()} == {"in.zip", "study"}
    return " ".join(str(p) for p in caught.value.problems)


# ------------------------------------------------------------------ V5 files


@pytest.mark.parametrize("kind", ["files", "zip", "json"])
@pytest.mark.parametrize("said", [True, False], ids=["with length", "without length"])
def test_v5_2_1_a_body_that_is_too_large_is_cut_off(tmp_path: Path, kind: str, said: bool) -> None:
    core = new_core(tmp_path / "small", most_body=20_000, most_json=20_000)
    anna = Client.set_up(create_app(core), core)
    study = anna.study()
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
        for _ in range(1000):
            sent += 1000
            yield b"PK\x03\x04" + b"a" * 996

    types = {"files": "multipart/form-data; boundary=x", "zip": "application/zip", "json": "application/json"}
    path = f"{API}/studies/{study}/versions" + ("" if kind == "files" else f"/{kind}")
    headers = {"Content-Type": types[kind]}
    if said:
        headers["Content-Length"] = "1000000"
    answer = anna.post(path, content=endless(), headers=headers)
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert not [p for p in (core.settings.data / "blobs").rglob("*") if p.is_file()]
    assert anna.get(f"{API}/studies").status_code == 200
    core.close()


def test_v2_4_a_body_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from trustreport.service import middleware as body

    monkeypatch.setattr(body, "IDLE_SECONDS", 0.05)
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await receive()

    async def receive() -> Any:
        if not sent:
            sent.append("a part")
            return {"type": "http.request", "body": b"a", "more_body": True}
        return await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message.get("status"))

    def answered(scope: Any, fault: Any) -> JSONResponse:
        return JSONResponse({}, fault.status)

    def most(method: str, path: str) -> int:
        return 10

    async def is_known(scope: Any) -> bool:
        return False

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}

    def served() -> None:
        limit = body.BodyLimit(app, most, lambda path: True, is_known, lambda *given: None, answered)
        asyncio.run(limit(scope, receive, send))

    thread = threading.Thread(target=served)  # a browser of other tests may hold the loop of this one
    thread.start()
    thread.join(30)
    assert sent[1] == 408


def test_v5_2_2_what_is_not_what_its_name_says(anna: Client) -> None:
    study = anna.study()
    answer = anna.post(f"{API}/studies/{study}/versions/zip", content=b"MZ\x90\x00 no zip")
    assert answer.status_code == 415
    damaged = anna.post(f"{API}/studies/{study}/versions/zip", content=b"PK\x03\x04" + b"\x00" * 50)
    assert damaged.status_code == 202  # the limited process finds out
    files = [("files", ("study.yaml", b"\x7fELF\x02\x01\x01")), ("files", ("readings.csv", b"\x00" * 100))]
    assert anna.post(f"{API}/studies/{study}/versions", files=files).status_code == 202


def test_v5_2_3_zip_bombs(tmp_path: Path) -> None:
    flat = zipped({"study.yaml": FINE, "a.csv": b"0" * 20_000_000})
    assert len(flat) < 50_000
    assert "unpack to 20,000,0" in refused(tmp_path / "1", _in(tmp_path / "1", flat), most_bytes=10**6)
    ratio = "more than 200 times"
    assert ratio in refused(tmp_path / "2", _in(tmp_path / "2", flat), most_bytes=10**9)
    many = zipped({f"{i}.csv": "a" for i in range(20)})
    assert "20 files" in refused(tmp_path / "3", _in(tmp_path / "3", many))


def test_v5_2_3_a_zip_whose_directory_lies(tmp_path: Path) -> None:
    """Says 10 bytes, unpacks to a million."""
    data = bytearray(zipped({"a.csv": b"0" * 1_000_000}))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    assert refused(tmp_path / "x", _in(tmp_path / "x", bytes(data)), most_bytes=100_000)


def test_v5_2_3_nested_and_overlapping_archives_are_just_files(tmp_path: Path) -> None:
    inner = zipped({"a.csv": b"0" * 10_000_000})
    (tmp_path / "in.zip").write_bytes(zipped({"study.yaml": FINE, "inner.zip": inner}))
    (tmp_path / "study").mkdir()
    unpack(tmp_path / "in.zip", "in.zip", tmp_path / "study", most_bytes=10**6, most_files=10)
    assert (tmp_path / "study" / "inner.zip").read_bytes() == inner


def test_v5_2_5_links_and_devices_in_a_zip(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, kind in (("link.csv", stat.S_IFLNK), ("pipe.csv", stat.S_IFIFO)):
            info = zipfile.ZipInfo(name)
            info.external_attr = (kind | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
    said = refused(tmp_path / "x", _in(tmp_path / "x", out.getvalue()))
    assert said.count("no links or devices") == 2


@pytest.mark.parametrize(
    "name",
    [
        "../evil.csv",
        "a/../../evil.csv",
        "/etc/cron.d/evil",
        "C:\\evil.csv",
        "..\\evil.csv",
        "a//b",
        "./a",
        "a\x00.csv",
        "a\n.csv",
        ".ssh/authorized_keys",
        "",
        "x" * 300,
        "a/",
        "con:1",
    ],
)
def test_v5_3_2_names_that_lead_elsewhere(tmp_path: Path, anna: Client, name: str) -> None:
    with pytest.raises(BadName):
        safe_name(name)
    study = anna.study()
    answer = anna.post(
        f"{API}/studies/{study}/versions/json", json={"manifest": MANIFEST, "tables": {name: "a"}}
    )
    assert answer.status_code == 422
    if name and not name.endswith("/") and "\x00" not in name:
        assert refused(tmp_path / "x", _in(tmp_path / "x", zipped({name: "a", "study.yaml": FINE})))


def test_v5_3_2_files_are_found_by_row_not_by_path(light: Core, anna: Client) -> None:
    names = world(light, anna)
    key = light.settings.data / "keys" / "signing.pem"
    assert key.is_file()
    for tried in (
        "../../../keys/signing.pem",
        "%2e%2e/%2e%2e/keys/signing.pem",
        str(key),
        "results.json%00.txt",
    ):
        answer = anna.get(f"{API}/reports/{names['report']}/files/{tried}")
        assert answer.status_code in (404, 422)
        assert "PRIVATE" not in answer.text


def test_v5_4_1_names_of_downloads_cannot_break_a_header(light: Core, anna: Client) -> None:
    names = world(light, anna)
    answer = anna.get(f"{API}/versions/{names['version']}/files/study.yaml")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''study.yaml"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"


def _in(folder: Path, data: bytes) -> bytes:
    folder.mkdir(parents=True, exist_ok=True)
    return data


# ------------------------------------------------------------------ V3 browsers, V7 sessions


def test_v3_3_1_the_cookie_binds_itself_to_this_host(anna: Client, app: FastAPI) -> None:
    answer = Client.on(app).post(f"{API}/session", json={"email": "anna@hospital.test", "password": PASSWORD})
    said = answer.headers["set-cookie"]
    assert said.startswith("__Host-")
    parts = {part.strip().lower() for part in said.split(";")[1:]}
    assert {"secure", "httponly", "path=/", "samesite=strict"} <= parts
    assert not any(part.startswith("domain") for part in parts)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_v3_5_1_other_sites_cannot_act_for_a_user(anna: Client, app: FastAPI, site: str) -> None:
    made = {"Sec-Fetch-Site": site}
    assert anna.post(f"{API}/studies", json={"name": "S"}, headers=made).status_code == 403
    credentials = {"email": "anna@hospital.test", "password": PASSWORD}
    assert Client.on(app).post(f"{API}/session", json=credentials, headers=made).status_code == 403
    # A form of another site sends no JSON and no token.
    anna.headers.pop(CSRF_HEADER)
    form = anna.post(f"{API}/studies", content='{"name": "S"}', headers={"Content-Type": "text/plain"})
    assert form.status_code in (403, 422)


def test_v3_4_every_answer_forbids_scripts_frames_and_sniffing(anonymous: TestClient, light: Core) -> None:
    for path in ("/health", "/nothing", f"{API}/studies"):
        headers = anonymous.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_v3_4_3_a_report_is_shown_without_rights(light: Core, anna: Client) -> None:
    names = world(light, anna)
    policy = anna.get(f"{API}/reports/{names['report']}/results").headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")


def test_v7_2_4_a_session_that_was_planted_is_not_taken_over(light: Core, anna: Client, app: FastAPI) -> None:
    planted = "planted-by-the-attacker"
    victim = Client.on(app)
    victim.cookies.set(COOKIE, planted)
    credentials = {"email": "anna@hospital.test", "password": PASSWORD}
    first = victim.post(f"{API}/session", json=credentials)
    assert first.cookies[COOKIE] != planted
    attacker = TestClient(app, base_url="https://testserver", cookies={COOKIE: planted})
    assert attacker.get(f"{API}/session").status_code == 401
    # Logging in again ends the session that the browser came with.
    old = first.cookies[COOKIE]
    again = TestClient(app, base_url="https://testserver", cookies={COOKIE: old})
    assert again.post(f"{API}/session", json=credentials).cookies[COOKIE] != old
    attacker.cookies.set(COOKIE, old)
    assert attacker.get(f"{API}/session").status_code == 401
    assert secrets.fingerprint(planted) not in {s.hash for s in stored(light, Session)}


# ------------------------------------------------------------------ V6 passwords


def test_v6_3_1_guessing_is_slowed_down(tmp_path: Path) -> None:
    core = new_core(tmp_path / "slow", logins_a_minute=3)
    app = create_app(core)
    Client.set_up(app, core)
    guess = Client.on(app)
    wrong = {"email": "anna@hospital.test", "password": "wrong, wrong, wrong"}
    assert [guess.post(f"{API}/session", json=wrong).status_code for _ in range(5)] == [401] * 3 + [429] * 2
    stopped = guess.post(f"{API}/session", json={**wrong, "password": PASSWORD})
    assert stopped.status_code == 429
    assert int(stopped.headers["retry-after"]) > 0
    core.close()


def test_v6_3_8_an_account_that_does_not_exist_answers_alike(anna: Client, app: FastAPI) -> None:
    answers = [
        Client.on(app).post(f"{API}/session", json={"email": email, "password": "wrong, wrong, wrong"})
        for email in ("anna@hospital.test", "nobody@hospital.test")
    ]
    said = [{k: v for k, v in a.json().items() if k != "request"} for a in answers]
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "weak, why",
    [
        ("short", "12 to 256 characters"),
        ("x" * 257, "12 to 256 characters"),
        ("aaaaaaaaaaaaaaa", "easily guessed"),
        ("password1234", "easily guessed"),
        ("passwordpassword", "easily guessed"),
        ("123456789012", "easily guessed"),
        ("qwertyuiop12", "easily guessed"),
        ("letmein12345", "easily guessed"),
        ("Password123!", "easily guessed"),
        ("P@ssw0rd2026", "easily guessed"),
        ("hospital2026!!", "a word with digits or signs"),
        ("Sommer2026!!", "a word with digits or signs"),
        ("Krankenhaus1!", "a word with digits or signs"),
        # What anybody knows of the account, the organisation and the service.
        ("Anna@Hospital.test", "easily guessed"),
        ("anna@hospital.test12", "easily guessed"),
        ("lindqvist2026", "easily guessed"),
        ("StNicolai2026", "easily guessed"),
        ("trustreport2026", "easily guessed"),
    ],
)
def test_v6_2_4_common_and_contextual_passwords_are_refused(weak: str, why: str) -> None:
    fault = secrets.weakness(weak, "anna@hospital.test", "Anna Lindqvist", "St. Nicolai")
    assert fault
    assert why in catalogue()(fault)


def test_v6_2_4_an_invitation_knows_its_account_and_organisation(anna: Client, app: FastAPI) -> None:
    new = {"name": "St. Nicolai", "admin_email": "a.lindqvist@n.test", "admin_name": "Anna Lindqvist"}
    link = anna.post(f"{API}/organisations", json=new).json()["invitation"]
    for weak in ("lindqvist2026", "StNicolai2026", "password1234"):
        answer = Client.on(app).post(f"{API}/invitations", json={"link": link, "password": weak})
        assert (answer.status_code, answer.json()["title"]) == (422, "Password refused"), weak


@pytest.mark.parametrize(
    "fine",
    [PASSWORD, "k8fj3nd92lxp", "wintersturm im tal", "漢字仮名交じり文を書く人の", "x7x7" + "Qm-zr%u" * 36],
)
def test_v6_2_any_other_password_is_taken(fine: str) -> None:
    """Of any signs and without rules of composition (ASVS 6.2.5)."""
    assert secrets.weakness(fine, "anna@hospital.test", "Anna Lindqvist", "St. Nicolai") is None


def test_v11_4_2_passwords_are_kept_by_argon2id(monkeypatch: pytest.MonkeyPatch) -> None:
    from argon2 import PasswordHasher

    monkeypatch.setattr(secrets, "_hasher", PasswordHasher())
    kept = secrets.hash_password(PASSWORD)
    # RFC 9106, second recommended option: 64 MiB, 3 passes.
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert secrets.is_password(PASSWORD, kept)
    assert not secrets.is_password(PASSWORD + " ", kept)
    assert not secrets.is_password("", "")
    assert not PasswordHasher().check_needs_rehash(NOBODY)  # so that an answer about nobody takes as long


# ------------------------------------------------------------------ V2 limits, V16 logs and errors


def test_v2_4_1_a_flood_is_stopped_for_its_sender_alone(tmp_path: Path) -> None:
    core = new_core(tmp_path / "flood", requests_a_minute=30)
    app = create_app(core)
    anna = Client.set_up(app, core)
    other = Client.logged_in(app, "anna@hospital.test")
    statuses = [anna.get(f"{API}/studies").status_code for _ in range(40)]
    assert set(statuses[-5:]) == {429}
    assert other.get(f"{API}/studies").status_code == 200
    core.close()


def test_v16_2_5_logs_name_no_patient_and_no_secret(
    light: Core, anna: Client, app: FastAPI, quiet_logs: list[dict[str, Any]]
) -> None:
    study = anna.study("Study of Mrs Marple")
    anna.get(f"{API}/studies", params={"after": "Marple"})
    anna.get(f"{API}/reports/{study}/files/Marple.pdf")
    anna.version(study, MANIFEST, **{"Marple.csv": "Marple"})
    Client.on(app).post(f"{API}/session", json={"email": "marple@h.test", "password": "Marple Marple"})
    anna.get("/Marple")
    said = repr(quiet_logs)
    assert len(quiet_logs) >= 7
    assert "Marple" not in said
    assert "marple" not in said
    assert PASSWORD not in said
    assert all(entry["request"] for entry in quiet_logs)


def test_v16_5_1_a_fault_of_ours_tells_nothing(
    anna: Client, monkeypatch: pytest.MonkeyPatch, quiet_logs: list[dict[str, Any]]
) -> None:
    from trustreport.service.study import api as studies

    def broken(row: Any) -> Any:
        raise RuntimeError("secret of Mrs Marple")

    monkeypatch.setattr(studies.StudyResponse, "of_row", broken)
    answer = anna.post(f"{API}/studies", json={"name": "S"})
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "Marple" not in answer.text
    entry = next(e for e in quiet_logs if e.get("status") == 500)
    assert entry["error"].startswith("RuntimeError at ")
    assert "Marple" not in repr(entry)
    assert answer.json()["request"] == entry["request"] == answer.headers["x-request-id"]


def test_v16_5_1_what_was_sent_is_not_echoed(anonymous: TestClient) -> None:
    answer = anonymous.post(f"{API}/session", json={"email": 7, "password": ["Marple"], "Marple": {}})
    assert answer.status_code == 422
    assert "['Marple']" not in answer.text


# ------------------------------------------------------------------ V1 injection, SSRF


@pytest.fixture
def canary() -> Iterator[tuple[str, list[bytes]]]:
    """A server on loopback that remembers whoever came."""
    came: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        stop = threading.Event()

        def listen() -> None:
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    came.append(connection.recv(1000))

        thread = threading.Thread(target=listen)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", came
        stop.set()
        thread.join()


@pytest.mark.pdf
@pytest.mark.limited_process
def test_v1_3_6_and_v1_5_1_a_report_fetches_and_reads_nothing(
    tmp_path: Path, light: Core, anna: Client, canary: tuple[str, list[bytes]]
) -> None:
    """Addresses and files in every text of a manifest, and external entities in an XLSX."""
    from trustreport.service.jobs.worker_thread import WorkerThread

    url, came = canary
    secret = tmp_path / "secret.txt"
    secret.write_text("TOP-SECRET-CONTENT")
    hostile = (
        f'<img src="{url}/img"><link rel=stylesheet href="{url}/css"><script src="{url}/js"></script>'
        f'<object data="file://{secret}"></object><iframe src="{url}/frame"></iframe>'
        f'<style>@import "{url}/import"; body {{ background: url({url}/bg) }}</style>'
        "{{ 7 * 191 }} {% include '/etc/passwd' %}"
    )
    manifest = {
        **MANIFEST,
        "report": {"kind": "certification", "title": hostile, "notice": hostile},
        "device": dict.fromkeys(("trade_name", "manufacturer", "software_version"), hostile),
        "intended_use": {"intended_purpose": hostile},
    }
    version = anna.version(anna.study(), manifest)
    worker = WorkerThread(light, "worker")
    assert worker.once("check")
    assert anna.get(f"{API}/versions/{version}").json()["state"] == "valid"
    job = anna.post(f"{API}/versions/{version}/jobs", json={"formats": ["html", "pdf"]}).json()["id"]
    assert worker.once("report")
    done = anna.get(f"{API}/jobs/{job}").json()
    assert done["state"] == "done", done
    html = anna.get(f"{API}/reports/{done['report']}/files/report.html").text
    assert "&lt;script" in html
    assert "<script src" not in html
    assert "1337" not in html
    pdf = anna.get(f"{API}/reports/{done['report']}/files/report.pdf")
    assert pdf.content.startswith(b"%PDF")
    for sent in (html.encode(), pdf.content):
        assert b"TOP-SECRET-CONTENT" not in sent
        assert b"root:x:0" not in sent

    files = [("files", ("study.yaml", TABLE)), ("files", ("r.xlsx", xlsx_with_entity(url, secret)))]
    answer = anna.post(f"{API}/studies/{anna.study()}/versions", files=files)
    assert worker.once("check")
    problems = anna.get(f"{API}/versions/{answer.json()['id']}/problems").text
    assert "TOP-SECRET" not in problems
    assert not came


def xlsx_with_entity(url: str, secret: Path) -> bytes:
    """A workbook whose first cell names an external file and an address as entities."""
    plain = io.BytesIO()
    book = Workbook()
    book.worksheets[0].append(["reader"])
    book.save(plain)
    entities = f'<!DOCTYPE x [<!ENTITY a SYSTEM "file://{secret}"><!ENTITY b SYSTEM "{url}/xxe">]>'
    with zipfile.ZipFile(plain) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    (name,) = (name for name, part in parts.items() if b"<t>reader</t>" in part)
    head, body = (
        parts[name].split(b"?>", 1)
        if parts[name].startswith(b"<?")
        else (b"<?xml version='1.0'", parts[name])
    )
    parts[name] = head + b"?>" + entities.encode() + body.replace(b"<t>reader</t>", b"<t>&a;&b;</t>")
    return zipped(parts)


@pytest.mark.limited_process
def test_v5_2_3_an_xlsx_bomb_is_one_problem_of_one_version(light: Core, anna: Client) -> None:
    from trustreport.service.jobs.worker_thread import WorkerThread

    bomb = zipped({"[Content_Types].xml": "<Types/>", "xl/worksheets/sheet1.xml": b"0" * 300_000_000})
    assert len(bomb) < 500_000
    files = [("files", ("study.yaml", TABLE)), ("files", ("r.xlsx", bomb))]
    answer = anna.post(f"{API}/studies/{anna.study()}/versions", files=files)
    assert WorkerThread(light, "worker").once("check")
    said = anna.get(f"{API}/versions/{answer.json()['id']}").json()
    assert said["state"] == "invalid"
    (problem,) = anna.get(f"{API}/versions/{said['id']}/problems").json()["items"]
    assert problem["file"] == "r.xlsx"


def test_v1_2_4_sql_in_a_parameter_is_a_text(anna: Client) -> None:
    anna.study("x' OR '1'='1")
    for after in ("' OR 1=1 --", "\\", "%"):
        assert anna.get(f"{API}/studies", params={"after": after}).status_code == 200
    assert anna.get(f"{API}/audit", params={"subject": "' OR 1=1 --"}).json()["items"] == []
