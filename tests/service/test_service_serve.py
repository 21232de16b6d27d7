"""Running the service: its commands, its packaging, names of files, and jobs that end with a reason."""

import dataclasses
import json
import re
import signal
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi import FastAPI
from pages import HTML, get, post
from ruamel.yaml import YAML
from running import Api, Process, free_port
from services import API, MANIFEST, PASSWORD, Client, world
from sqlalchemy import select, update

from trustreport.commands.cli import main
from trustreport.service import server
from trustreport.service.app import create_app
from trustreport.service.core import Core, open_core
from trustreport.service.intake import BadName, checked_names, safe_name
from trustreport.service.jobs import worker_thread
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.roles import ROLES
from trustreport.service.server import ADMIN
from trustreport.service.settings import Settings, Unsuitable, from_environment
from trustreport.service.storage.models import Job, Version, VersionFile
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import catalogue

EVERYWHERE = "0.0.0.0"  # noqa: S104  # what it refuses


def test_a_first_start_prints_a_link_and_a_stop_is_graceful(tmp_path: Path) -> None:
    port = free_port()
    process = Process(tmp_path / "log", "serve", "--port", str(port), "--data", str(tmp_path / "data"))
    process.start()
    api = Api(port)
    try:
        api.wait_ready()
        link = re.search(r"http://127\.0\.0\.1:\d+/setup#(\S+)", (tmp_path / "log").read_text())
        assert link
        me = api.ask(
            "POST",
            f"{API}/setup",
            {
                "link": link[1],
                "organisation": "H",
                "email": "a@h.test",
                "name": "A",
                "password": PASSWORD,
            },
        )
        assert me["operator"]
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    finally:
        code = process.end(signal.SIGTERM)
    assert code == 0
    lines = (tmp_path / "log").read_text().splitlines()[1:]
    said = [json.loads(line) for line in lines]
    assert (said[0]["event"], said[-1]["event"]) == ("start", "stop")
    assert link[1] not in "".join(lines)


def test_one_person_comes_in_by_a_link_that_each_start_prints(light: Core) -> None:
    alone = dataclasses.replace(light, settings=dataclasses.replace(light.settings, single=1))
    app = create_app(alone)
    link = server.single_link(alone).partition("#")[2]
    visitor = Client.on(app)
    came = post(visitor, "/enter", "/enter", link=link)
    assert (came.status_code, came.headers["location"]) == (303, "/")
    assert visitor.get("/studies", headers=HTML).status_code == 200
    assert post(Client.on(app), "/enter", "/enter", link=link).status_code == 403  # it works once
    assert server.single_link(alone).partition("#")[2] != link


def test_where_several_have_accounts_nobody_comes_in_so(light: Core) -> None:
    visitor = Client.on(create_app(light))
    page = visitor.get("/enter", headers=HTML, follow_redirects=False)
    assert page.headers["location"] == "/sign-in"
    alone = dataclasses.replace(light, settings=dataclasses.replace(light.settings, single=1))
    link = server.single_link(alone).partition("#")[2]
    form = get(Client.on(create_app(alone)), "/enter").form("/enter")
    sent = visitor.post("/enter", data={**form, "link": link}, headers=HTML, follow_redirects=False)
    assert sent.status_code == 403


def test_a_service_for_one_person_is_for_this_machine(tmp_path: Path) -> None:
    with pytest.raises(Unsuitable, match="for this machine alone"):
        Settings(tmp_path, host=EVERYWHERE, single=1)


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.0.2.7"])
def test_without_accounts_it_listens_to_this_machine_only(tmp_path: Path, host: str) -> None:
    done = CliRunner().invoke(main, ["serve", "--host", host, "--data", str(tmp_path / "data")])
    assert done.exit_code == 2
    assert "Nobody has an account" in done.output


def test_a_container_gets_its_first_account_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "password").write_text(PASSWORD + "\n")
    monkeypatch.setenv("TRUSTREPORT_ADMIN_EMAIL", "Admin@Hospital.test")
    monkeypatch.setenv("TRUSTREPORT_ADMIN_PASSWORD_FILE", str(tmp_path / "password"))
    core = open_core(Settings(tmp_path / "data", host=EVERYWHERE))
    server.first_account(core)
    server.first_account(core)
    assert server.setup_link(core) == ""
    core.close()


def test_uploads_wait_on_the_data_volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in /tmp, which the packaging keeps in memory."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    server.spool_on_the_data_volume(Settings(tmp_path))
    assert tempfile.gettempdir() == str(tmp_path / "tmp")
    assert (tmp_path / "tmp").stat().st_mode & 0o077 == 0


def test_wrong_settings_are_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUSTREPORT_LEASE", "soon")
    done = CliRunner().invoke(main, ["worker", "--data", str(tmp_path)])
    assert done.exit_code == 2
    assert "TRUSTREPORT_LEASE" in done.output
    with pytest.raises(Unsuitable):
        server.serve(Settings(tmp_path / "data", host=EVERYWHERE))


ROOT = Path(__file__).parents[2]
MANUAL = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
PACKAGING = sorted(p for p in (ROOT / "packaging").iterdir() if p.is_file())
# Connections are variables of names that the operator chooses.
CONNECTIONS = {"CONNECTION_NAME", "CONNECTION_NAME_ORGANISATIONS"}
NAMES = {f.name.upper() for f in fields(Settings)} - {"CONNECTIONS"} | CONNECTIONS


@pytest.mark.parametrize("file", [*PACKAGING, ROOT / "docs" / "service.md"], ids=lambda p: p.name)
def test_every_variable_that_is_named_exists(file: Path) -> None:
    for name in re.findall(r"TRUSTREPORT_[A-Z_]+", file.read_text(encoding="utf-8")):
        short = name.removeprefix("TRUSTREPORT_").removesuffix("_FILE")
        assert name in ADMIN or short in {*NAMES, "NAME"}, name


def test_the_manual_lists_every_setting_role_and_resource(app: FastAPI) -> None:
    table = MANUAL[MANUAL.index("## Settings") :]
    assert {name for name in NAMES - {"DATA"} if f"`{name}`" not in table} == set()
    assert {role for role in ROLES if f"| {role} |" not in MANUAL} == set()
    named = {path.split("?")[0] for path in re.findall(r"^    (?:GET|POST) +(/\S+)", MANUAL, re.MULTILINE)}
    assert len(named) > 10
    paths = {path.removeprefix(API) for path in app.openapi()["paths"]}
    assert named <= paths


def test_the_packaging_starts_commands_that_exist() -> None:
    compose = YAML(typ="safe").load((ROOT / "packaging" / "compose.yaml").read_text())
    started = {service["command"][0] for service in compose["services"].values() if "command" in service}
    unit = re.search(
        r"^ExecStart=\S+/trustreport (\w+)", (ROOT / "packaging/trustreport.service").read_text(), re.M
    )
    assert unit
    assert {*started, unit[1]} <= set(main.commands)
    copied = re.findall(r"^COPY (.*) \S+$", (ROOT / "packaging/Containerfile").read_text(), re.MULTILINE)
    assert all((ROOT / name).exists() for names in copied for name in names.split())


def test_alerts_are_of_numbers_that_the_service_gives(light: Core) -> None:
    alerts = YAML(typ="safe").load((ROOT / "packaging" / "alerts.yaml").read_text())
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]
    light.metrics.requests.labels("GET", "/ready", 200).inc()
    light.metrics.seconds.labels("GET", "/ready").observe(0.01)
    light.metrics.refused.labels("login").inc()
    with light.store.read() as rows:
        given = light.metrics.text(rows, 0, 0, light.settings.data).decode()
    for rule in rules:
        assert {"summary", "action"} == set(rule["annotations"])
        for name in re.findall(r"trustreport_\w+", rule["expr"]):
            assert re.search(rf"^{name}[{{ ]", given, re.MULTILINE), name
    assert "trustreport_oldest_waiting_seconds 0.0" in given


def test_the_number_of_the_job_that_waits_longest(light: Core, anna: Client) -> None:
    world(light, anna)
    with light.store.write() as rows:
        rows.execute(update(Job).values(state="queued"))
        asked = rows.scalar(select(Job.created_at))
        given = light.metrics.text(rows, 0, asked + 90_000, light.settings.data).decode()
    assert "trustreport_oldest_waiting_seconds 90.0" in given


def test_a_setting_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "database").write_text("postgresql://u:p@db/x\n")
    variables = {"TRUSTREPORT_DATABASE_FILE": str(tmp_path / "database")}
    assert from_environment(tmp_path, variables).address == "postgresql+psycopg://u:p@db/x"
    with pytest.raises(Unsuitable, match="cannot be read"):
        from_environment(tmp_path, {"TRUSTREPORT_DATABASE_FILE": str(tmp_path / "none")})


@pytest.mark.parametrize("names", [["a", "a/b"], ["x/y/z.csv", "x/y"], ["a/b", "q", "a"]])
def test_a_file_is_no_folder_of_others(anna: Client, names: list[str]) -> None:
    with pytest.raises(Fault) as caught:
        checked_names(names)
    assert "is also a folder" in str(caught.value.in_words(catalogue()).fields)
    study = anna.study()
    files = [("files", (name, b"x")) for name in names]
    refused = anna.post(f"{API}/studies/{study}/versions", files=files)
    assert refused.status_code == 422
    tables = {"manifest": MANIFEST, "tables": dict.fromkeys(names, "x")}
    assert anna.post(f"{API}/studies/{study}/versions/json", json=tables).status_code == 422
    assert checked_names(["a/b", "a.csv", "ab", "a/c"])


def test_a_correction_makes_no_contradiction(light: Core, anna: Client) -> None:
    version = anna.version(anna.study(), MANIFEST, **{"a/b.csv": "x"})
    assert WorkerThread(light, "worker").once("check")
    with light.store.write() as rows:  # something to correct
        row = rows.get_one(Version, version)
        row.state, row.problems = "invalid", [{"file": "a/b.csv", "found": "x"}]
    page = f"/versions/{version}"
    refused = post(anna, page, f"{page}/correction", [("files", ("a", "x"))])
    assert (refused.status_code, "is also a folder" in refused.text) == (422, True)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200f", "\u061c"])
def test_a_name_reads_as_it_is(sign: str) -> None:
    """Signs that turn the direction of writing make vsc.exe of exe.csv."""
    with pytest.raises(BadName, match="direction"):
        safe_name(f"a{sign}vsc.exe")
    assert safe_name("\u05d0\u05d1.csv")


def ended(core: Core, client: Client, version: str) -> dict[str, Any]:
    job = client.post(f"{API}/versions/{version}/jobs", json={}).json()
    assert WorkerThread(core, "worker").once("report")
    return dict(client.get(f"{API}/jobs/{job['id']}").json())


def test_files_that_cannot_be_laid_out_end_the_job(light: Core, anna: Client) -> None:
    names = world(light, anna)
    with light.store.write() as rows:  # as an older version stored them
        file = rows.query(VersionFile).one()
        for name in ("a", "a/b"):
            given = {c.key: getattr(file, c.key) for c in VersionFile.__table__.columns}
            rows.add(VersionFile(**{**given, "name": name}))
    said = ended(light, anna, names["version"])
    assert (said["state"], said["attempts"]) == ("failed", 1)
    assert "Its files cannot be laid out" in said["reason"]
    assert not list((light.settings.data / "work").iterdir())


@pytest.mark.parametrize("where", ["run", "store_report"])
def test_a_fault_of_ours_ends_the_job_with_its_place(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    names = world(light, anna)

    def broken(*given: Any, **more: Any) -> Any:
        raise RuntimeError("of Mrs Marple")

    if where == "store_report":
        answer = {"facts": {}}
        outcome = worker_thread.ChildOutcome("answer", answer)
        monkeypatch.setattr(worker_thread, "run", lambda *given, **more: outcome)
    monkeypatch.setattr(worker_thread, where, broken)
    said = ended(light, anna, names["version"])
    assert (said["state"], said["attempts"]) == ("failed", 1)
    assert said["reason"].startswith("A fault of the program: RuntimeError at ")
    assert "Marple" not in said["reason"]


def test_a_database_that_goes_away_is_no_fault_of_the_job(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    names = world(light, anna)

    def away(*given: Any) -> Any:
        raise OperationalError("", {}, Exception("gone"))

    job = anna.post(f"{API}/versions/{names['version']}/jobs", json={}).json()
    monkeypatch.setattr(worker_thread, "run", lambda *given, **more: worker_thread.ChildOutcome("failed"))
    monkeypatch.setattr(WorkerThread, "_settle", away)
    with pytest.raises(OperationalError):
        WorkerThread(light, "worker").once("report")
    assert anna.get(f"{API}/jobs/{job['id']}").json()["state"] == "running"  # another worker takes it over
