"""Tables from databases of the operator: who may ask, what is fetched, the next period by itself."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from databases import new_database
from fastapi.testclient import TestClient
from services import API, Client, new_core, only, stored
from sqlalchemy import create_engine, text

from trustreport.api import read_study
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.mail import compose
from trustreport.service.settings import DataConnection, from_environment
from trustreport.service.storage.collaboration import Mail
from trustreport.service.storage.models import Audit, Job, Schedule, StoredReport, Version, VersionFile
from trustreport.study.interop.sql import NotFetched, QueryLimits, fetch
from trustreport.vocabulary.errors import StudyError

DAYS = ("2026-01-10", "2026-02-10", "2026-03-10", "2026-04-10")
QUERY = "select case_id, truth, score, day as date from seen where day between :since and :until"
MANIFEST = """\
report: {kind: vigilance}
device: {trade_name: Example, basic_udi_di: none}
operating_point: {threshold: 0.5}
datasets:
  - {dataset: baseline, role: local, start_date: 2026-01-01, end_date: 2026-01-31}
  - {dataset: 2026-02, role: period, start_date: 2026-02-01, end_date: 2026-02-28}
tables:
  scores: {dataset: baseline, SOURCE, parameters: {since: 2026-01-01, until: 2026-01-31}}
  scores_2: {kind: scores, dataset: 2026-02, SOURCE, parameters: {since: 2026-02-01, until: 2026-02-28}}
vigilance: {baseline_dataset: baseline, period_start: 2026-02-01, period_end: 2026-02-28}
"""


def manifest(source: str = f"sql: '{QUERY}', connection: registry") -> bytes:
    return MANIFEST.replace("SOURCE", source).encode()


def fill(address: str) -> None:
    """Ten cases a month; `day` is a date."""
    engine = create_engine(address)
    with engine.begin() as rows:
        rows.execute(text("create table seen (case_id varchar(9), truth int, score numeric(4, 2), day date)"))
        for month, day in enumerate(DAYS):
            for i in range(10):
                score = 0.35 + 0.3 * (i % 2) + i / 100 - 0.3 * (i == 3)
                values = f"'C{month}{i}', {i % 2}, {score:.2f}, '{day}'"
                rows.execute(text(f"insert into seen values ({values})"))  # noqa: S608 -- made here
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database with cases, whose password is asked of nobody."""
    if request.param == "sqlite":
        address = f"sqlite:///{tmp_path / 'registry.db'}"
    else:
        address = new_database(request.getfixturevalue("postgres")).replace("@127", ":s3cr3t@127")
    fill(address)
    return address


def opened(data: Path, registry: str, *organisations: str, **more: Any) -> Core:
    one = DataConnection("registry", registry, organisations)
    return new_core(data, connections=(one,), **more)


@pytest.fixture
def asked(tmp_path: Path, registry: str) -> Iterator[Core]:
    """An open core whose operator lets the first organisation use a registry."""
    core = opened(tmp_path / "data", registry, "Hospital", smtp_host="localhost", mail_from="t@h.test")
    yield core
    core.close()


@pytest.fixture
def author(asked: Core) -> Client:
    return Client.set_up(create_app(asked), asked)


def upload(who: TestClient, files: dict[str, bytes]) -> tuple[str, str]:
    study = who.post(f"{API}/studies", json={"name": "Audit"}).json()["id"]
    sent = [("files", (name, content)) for name, content in files.items()]
    made = who.post(f"{API}/studies/{study}/versions", files=sent)
    assert made.status_code == 202, made.text
    return study, made.json()["id"]


def work(core: Core) -> None:
    thread = WorkerThread(core, "w")
    while thread.once("check", "report"):
        pass


def everything(core: Core) -> bytes:
    """Every file of the data folder, the database too."""
    return b"\n".join(f.read_bytes() for f in core.settings.data.rglob("*") if f.is_file())


# ---------------------------------------------------------------- reading


def test_the_rows_are_fetched_once_and_kept_with_the_version(
    asked: Core, author: Client, registry: str
) -> None:
    _, version = upload(author, {"study.yaml": manifest(), "queried/scores-00000000.csv": b"forged"})
    work(asked)
    row = only(asked, Version, id=version)
    assert (row.state, row.problems) == ("valid", [])
    files = {f.name for f in stored(asked, VersionFile, version=version)}
    assert len(files) == 3
    assert "queried/scores-00000000.csv" not in files
    author.post(f"{API}/versions/{version}/jobs", json={"formats": ["json"]})
    engine = create_engine(registry)
    with engine.begin() as rows:  # a report is of the version, whatever became of the register
        rows.execute(text("delete from seen"))
    engine.dispose()
    work(asked)
    report = only(asked, StoredReport)
    document = author.get(f"{API}/reports/{report.id}/files/results.json").json()
    queries = [one["query"] for one in document["provenance"]["inputs"] if "query" in one]
    assert [one["database"] for one in queries] == ["registry"] * 2
    assert queries[0]["parameters"] == {"since": "2026-01-01", "until": "2026-01-31"}
    assert b"s3cr3t" not in everything(asked)
    if registry.startswith("sqlite"):
        assert str(registry).encode() not in everything(asked)


def test_a_version_is_read_elsewhere_without_the_database(
    asked: Core, author: Client, tmp_path: Path
) -> None:
    _, version = upload(author, {"study.yaml": manifest()})
    work(asked)
    folder = tmp_path / "downloaded"
    for file in stored(asked, VersionFile, version=version):
        (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.name).write_bytes(asked.blobs.read(file.organisation, file.sha256))
    found, _ = read_study(folder)
    assert [len(d.cases.truth) for d in found.datasets] == [10, 10]
    (folder / "study.yaml").write_bytes(manifest(f"sql: '{QUERY} and score < 0.9', connection: registry"))
    with pytest.raises(StudyError, match="no service has fetched the rows"):
        read_study(folder)  # they are of another query


def test_a_database_is_only_read(registry: str, tmp_path: Path) -> None:
    written = "with gone as (delete from seen returning 1) select count(*) as n from gone"
    with pytest.raises(NotFetched, match="refused the query"):
        fetch(written, {}, registry, tmp_path / "r")
    fetch("select count(*) as n from seen", {}, registry, tmp_path / "r")
    assert (tmp_path / "r").read_text() == "n\n40\n"


def test_a_query_cannot_lift_what_confines_it(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    address = new_database(request.getfixturevalue("postgres"))
    query = "select set_config('transaction_read_only', 'off', true) as said"
    with pytest.raises(NotFetched, match="refused the query"):
        fetch(query, {}, address, tmp_path / "r")


def test_time_and_rows_are_limited_on_every_database(registry: str, tmp_path: Path) -> None:
    crossed = "select WHAT from seen s0, seen s1, seen s2, seen s3, seen s4, seen s5"
    with pytest.raises(NotFetched, match="longer than 1 seconds"):
        fetch(crossed.replace("WHAT", "count(*)"), {}, registry, tmp_path / "r", QueryLimits(seconds=1))
    with pytest.raises(NotFetched, match="more than 100 rows"):
        fetch(crossed.replace("WHAT", "s0.day"), {}, registry, tmp_path / "r", QueryLimits(rows=100))


def test_a_folder_of_that_name_is_left_alone_where_nothing_is_asked(asked: Core, author: Client) -> None:
    head = MANIFEST.partition("  scores:")[0]
    own = f"{head}  scores: {{dataset: baseline, file: queried/own.csv}}\n".encode()
    rows = b"case,truth,score\nA,1,0.9\nB,0,0.1\n"
    _, version = upload(author, {"study.yaml": own, "queried/own.csv": rows})
    work(asked)
    row = only(asked, Version, id=version)
    assert (row.state, row.problems) == ("valid", [])


def test_numbers_of_a_manifest_are_plain_numbers_to_a_driver(
    registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUSTREPORT_CONNECTION_REGISTRY", registry)
    query = "select case_id, truth, score from seen where score > :least and truth >= :from_truth"
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: Example}\noperating_point: {threshold: 0.5}\n"
        "datasets:\n  - {dataset: all, role: external}\ntables:\n  scores: "
        f"{{sql: '{query}', connection: registry, parameters: {{least: 0.30, from_truth: 0}}}}\n"
    )
    found, _ = read_study(tmp_path)
    assert len(found.datasets[0].cases.truth) > 30


def test_both_databases_give_the_same_bytes(registry: str, tmp_path: Path) -> None:
    fetch(QUERY, {"since": "2026-01-01", "until": "2026-01-31"}, registry, tmp_path / "r")
    lines = (tmp_path / "r").read_text().splitlines()
    assert lines[:3] == ["case_id,truth,score,date", "C00,0,0.35,2026-01-10", "C01,1,0.66,2026-01-10"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (f"sql: '{QUERY}', url_env: DB_URL", "url_env names a variable of the command line"),
        (f"sql: '{QUERY}', connection: other", "no connection 'other' that this organisation may use"),
        (f"sql: '{QUERY.replace('score', 'scor')}', connection: registry", "the database refused the query"),
        ("sql: 'select 1; select 2', connection: registry", "found a group"),
    ],
)
def test_what_may_not_be_asked_is_a_problem_of_the_version(
    asked: Core, author: Client, source: str, found: str
) -> None:
    _, version = upload(author, {"study.yaml": manifest(source)})
    work(asked)
    row = only(asked, Version, id=version)
    assert row.state == "invalid"
    assert {p["found"][: len(found)] for p in row.problems} == {found}
    assert {p["column"].split(".")[1] for p in row.problems} == {"scores", "scores_2"}


def test_a_connection_is_of_the_organisations_that_the_operator_named(tmp_path: Path, registry: str) -> None:
    core = opened(tmp_path / "data", registry, "Hospital")
    bob = Client.set_up(create_app(core), core).found("Other hospital", "bob@other.test")
    _, version = upload(bob, {"study.yaml": manifest()})
    work(core)
    problems = only(core, Version, id=version).problems
    core.close()
    assert {p["found"] for p in problems} == {"no connection 'registry' that this organisation may use"}


def test_connections_come_from_the_environment_and_are_shown_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "address"
    secret.write_text("postgresql://anna:s3cr3t@host/x\n")
    given = {
        "TRUSTREPORT_CONNECTION_REGISTRY_FILE": str(secret),
        "TRUSTREPORT_CONNECTION_REGISTRY_ORGANISATIONS": "Hospital; Other hospital",
        "TRUSTREPORT_CONNECTION_OLD": "sqlite:///old.db",
    }
    settings = from_environment(tmp_path, given)
    old, registry = settings.connections
    assert (registry.name, registry.address) == ("registry", "postgresql://anna:s3cr3t@host/x")
    assert registry.is_open_to("Other hospital")
    assert not old.is_open_to("Hospital")
    assert "s3cr3t" not in repr(settings) + str(settings)


def test_an_unreachable_database_is_a_problem_without_its_address(
    tmp_path: Path, quiet_logs: list[dict[str, Any]]
) -> None:
    core = opened(tmp_path / "data", "postgresql://anna:s3cr3t@127.0.0.1:1/x", "*")
    anna = Client.set_up(create_app(core), core)
    _, version = upload(anna, {"study.yaml": manifest()})
    work(core)
    problems = json.dumps(only(core, Version, id=version).problems)
    assert "cannot be reached" in problems
    said = problems + json.dumps(quiet_logs, default=str)
    said += json.dumps([a.details for a in stored(core, Audit)]) + json.dumps(
        [j.wishes for j in stored(core, Job)]
    )
    said += anna.get(f"/versions/{version}").text
    core.close()
    assert "s3cr3t" not in said
    assert "127.0.0.1:1" not in said
    assert b"s3cr3t" not in everything(core)


@pytest.mark.limited_process
def test_the_limited_process_fetches_too(asked: Core, author: Client) -> None:
    _, version = upload(author, {"study.yaml": manifest()})
    work(asked)
    row = only(asked, Version, id=version)
    assert (row.state, row.problems) == ("valid", [])
    assert b"s3cr3t" not in everything(asked)


# ---------------------------------------------------------------- the next period


def scheduled(core: Core, who: Client, study: str, at: str) -> None:
    """An audit that fetches its periods, due on a day."""
    asked = {"study": study, "every_days": 30, "next_period": True, "formats": ["json"]}
    made = who.post(f"{API}/schedules", json=asked)
    assert made.status_code == 201, made.text
    with core.store.write() as rows:
        rows.get_one(Schedule, made.json()["id"]).next_at = milliseconds(at)


def milliseconds(day: str) -> int:
    from datetime import UTC, datetime

    return round(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


def on(monkeypatch: pytest.MonkeyPatch, day: str) -> None:
    monkeypatch.setattr(schedules, "now", lambda rows: milliseconds(day) + 1)


def test_a_schedule_fetches_the_next_period_and_reports_it(
    asked: Core, author: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, first = upload(author, {"study.yaml": manifest()})
    work(asked)
    scheduled(asked, author, study, "2026-04-01")
    on(monkeypatch, "2026-04-01")
    schedules.tend(asked)
    work(asked)
    second = only(asked, Version, number=2)
    assert (second.state, second.problems, second.based_on) == ("valid", [], first)
    assert second.facts["period_end"] == "2026-03-31"
    report = only(asked, StoredReport)
    assert report.version == second.id
    document = author.get(f"{API}/reports/{report.id}/files/results.json").json()
    inputs = {one["file"].rpartition("-")[0]: one for one in document["provenance"]["inputs"]}
    new = inputs["queried/scores_3"]
    assert new["query"]["parameters"] == {"since": "2026-03-01", "until": "2026-03-31"}
    assert new["used"] == 10
    kinds = [m.kind for m in stored(asked, Mail)]
    assert (kinds.count("audit_due"), kinds.count("report_ready")) == (1, 1)
    with asked.store.write() as rows:
        sent = [compose(rows, asked.settings, m) for m in rows.query(Mail).filter_by(kind="audit_due")]
    assert sent[0] is not None
    assert "the period up to 2026-03-31 are being fetched" in " ".join(sent[0].get_content().split())
    events = [a.action for a in stored(asked, Audit)]  # which webhooks send
    assert {"schedule.due", "version.valid", "report.made"} <= set(events)


def test_a_period_without_data_is_told_and_tried_again_with_the_next(
    asked: Core, author: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, _ = upload(author, {"study.yaml": manifest()})
    work(asked)
    scheduled(asked, author, study, "2026-03-05")  # the register has nothing from 1 to 4 March
    for day, state in (("2026-03-05", "invalid"), ("2026-04-04", "valid")):
        on(monkeypatch, day)
        schedules.tend(asked)
        work(asked)
        newest = max(stored(asked, Version), key=lambda v: v.number)
        assert newest.state == state, newest.problems
    assert newest.facts["period_end"] == "2026-04-03"
    assert [m.kind for m in stored(asked, Mail)].count("period_failed") == 1


def test_a_schedule_of_periods_is_begun_on_the_page(asked: Core, author: Client) -> None:
    study, version = upload(author, {"study.yaml": manifest()})
    work(asked)
    device = only(asked, Version, id=version).device
    page = author.get(f"/devices/{device}").text
    assert 'name="next_period"' in page
    sent = {"study": study, "every_days": "30", "next_period": "yes", "format": "json"}
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token
    author.post(f"/devices/{device}/schedules", data={**sent, "csrf": token[1]})
    assert only(asked, Schedule).wishes["next_period"] is True
    assert "with the next period" in author.get(f"/devices/{device}").text


def test_the_log_covers_what_a_schedule_made(
    asked: Core, author: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trustreport.service.record.verification import verify_all

    study, _ = upload(author, {"study.yaml": manifest()})
    work(asked)
    scheduled(asked, author, study, "2026-04-01")
    on(monkeypatch, "2026-04-01")
    schedules.tend(asked)
    work(asked)
    with asked.store.read() as rows:
        assert [fault for chain in verify_all(asked, rows) for fault in chain.faults] == []
