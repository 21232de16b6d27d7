"""Several servers on one PostgreSQL: they count together, do all once; what is away or full is said."""

import errno
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from acts import approves, is_intact, log
from databases import new_database
from fastapi import FastAPI
from pages import HTML, Taken, get, post
from receivers import LOOPBACK, receiving
from servers import Servers, two_servers
from services import API, MANIFEST, PASSWORD, Client, at_once, stored, world
from sqlalchemy import event, select
from test_api_reference import TYPES, body_of, send
from test_service_second_factor import Clock, enrol

from trustreport.service import audit, mail, server
from trustreport.service.access import second_factor
from trustreport.service.access.principal import COOKIE
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.record import retention
from trustreport.service.storage import counters
from trustreport.service.storage.counters import Counter as Kept
from trustreport.service.storage.counters import SharedCounters
from trustreport.service.storage.models import Job, Organisation, Schedule
from trustreport.service.storage.store import Store
from trustreport.service.webhook import sending

AT = 1_760_000_000_000
FEW = 5
MAIL = {"smtp_host": "127.0.0.1", "mail_from": "reports@hospital.test"}


@pytest.fixture
def address(postgres: str) -> str:
    return new_database(postgres)


@pytest.fixture
def servers(tmp_path: Path, address: str) -> Iterator[Servers]:
    with two_servers(tmp_path / "data", address, webhook_networks=LOOPBACK) as servers:
        yield servers


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time of the counters, in milliseconds."""
    at = [AT]
    monkeypatch.setattr(counters, "now", lambda rows: at[0])
    return at


def test_requests_are_counted_by_all_servers_together(tmp_path: Path, address: str, clock: list[int]) -> None:
    with two_servers(tmp_path / "data", address, requests_a_minute=FEW) as servers:
        anna = Client.set_up(servers.proxy, servers.one)
        answers = [anna.get(f"{API}/studies") for _ in range(FEW + 2)]
        assert [a.status_code for a in answers] == [200] * FEW + [429] * 2
        assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
        clock[0] += 61_000  # part of the minute before still counts
        assert 1 <= [anna.get(f"{API}/studies").status_code for _ in range(FEW)].count(200) < FEW
        clock[0] += 120_000
        assert [anna.get(f"{API}/studies").status_code for _ in range(FEW)] == [200] * FEW


def test_requests_that_come_at_the_same_time_are_all_counted(servers: Servers, clock: list[int]) -> None:
    taken: Counter[bool] = Counter()

    def ask(core: Core) -> None:
        shared = SharedCounters(core.store)
        for _ in range(10):
            taken[shared.acquire_sliding_window_entry("x", FEW, 60)] += 1

    at_once(*(partial(ask, core) for core in (servers.one, servers.other) * 2))
    assert taken == {True: FEW, False: 40 - FEW}


def test_wrong_passwords_are_counted_by_all_servers_together(servers: Servers, clock: list[int]) -> None:
    Client.set_up(servers.proxy, servers.one)
    stranger = Client.on(servers.proxy)

    def tries(password: str) -> int:
        sent = {"email": "anna@hospital.test", "password": password}
        return stranger.post(f"{API}/session", json=sent).status_code

    assert [tries("wrong" * 3) for _ in range(11)] == [401] * 10 + [429]
    assert tries(PASSWORD) == 429
    clock[0] += 61_000
    with servers.one.store.write() as rows:
        counters.remove_expired(rows)
        assert not rows.scalars(select(Kept.name).where(Kept.expires_at < clock[0])).all()
    assert [tries(PASSWORD) for _ in range(12)] == [201] * 12  # one that was right is not counted


def test_nothing_that_is_counted_names_anybody(servers: Servers) -> None:
    Client.set_up(servers.proxy, servers.one)
    Client.logged_in(servers.proxy, "anna@hospital.test")
    with servers.one.store.read() as rows:
        names = rows.scalars(select(Kept.name)).all()
    assert names
    assert all(len(name) == 64 for name in names)


def test_from_the_start_to_an_approved_report_with_every_request_to_another_server(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = Client.set_up(servers.proxy, servers.one)
    boss = anna.invite("boss@hospital.test", "approver")
    version = anna.version(anna.study())
    assert WorkerThread(servers.one, "one").once("check")
    assert anna.get(f"{API}/versions/{version}").json()["state"] == "valid"
    job = anna.post(f"{API}/versions/{version}/jobs", json={"formats": ["json"]}).json()
    assert WorkerThread(servers.other, "other").once("report")
    job = anna.get(f"{API}/jobs/{job['id']}").json()
    assert job["state"] == "done", job
    assert [anna.get(f"{API}/reports/{job['report']}/results").status_code for _ in range(2)] == [200, 200]
    assert approves(anna, job["report"]) != "signed"  # who prepared it
    assert approves(boss, job["report"]) == "signed"
    assert is_intact(servers.one)
    assert is_intact(servers.other)
    for _ in range(2):
        assert boss.get(f"{API}/session").status_code == 200
    boss.delete(f"{API}/session")
    assert [boss.get(f"{API}/session").status_code for _ in range(2)] == [401, 401]


def test_a_sign_in_in_two_steps_is_begun_on_one_and_ended_on_the_other(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(second_factor, "time", clock)
    anna = Client.set_up(servers.proxy, servers.one)
    page = "/account/second-factor/app"
    begun = post(anna, page, page, password=PASSWORD)
    assert begun.status_code == 200
    app, _ = enrol(anna, clock)
    browser = Client.on(servers.proxy)
    typed = {"email": "anna@hospital.test", "password": PASSWORD}
    there = post(browser, "/sign-in", "/sign-in", **typed).headers["location"]
    done = post(browser, there, there.partition("?")[0], code=app.code())
    assert done.status_code == 303, done.text[-300:]
    assert [browser.get("/studies", headers=HTML).status_code for _ in range(2)] == [200, 200]


def test_events_and_mail_go_out_once(
    servers: Servers, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = Client.set_up(servers.proxy, servers.one)
    sent: Counter[str] = Counter()
    monkeypatch.setattr(mail, "_send", lambda settings, message: sent.update([message["Message-ID"]]))
    with (
        receiving() as receiver,
        two_servers(tmp_path / "data", address, webhook_networks=LOOPBACK, **MAIL) as two,
    ):
        asked = {"url": receiver.url, "events": ["study.remove"]}
        assert anna.post(f"{API}/webhooks", json=asked).status_code == 201
        for _ in range(8):
            anna.delete(f"{API}/studies/{anna.study()}")
        with two.one.store.write() as rows:
            for _ in range(8):
                mail.queue_mail(
                    rows, two.one.settings, "audit_due", anna.me["user"], study="x", job=None, new=False
                )

        def send(core: Core) -> None:
            for send_next in (mail.send_next, sending.send_next) * 12:
                send_next(core)

        at_once(*(partial(send, core) for core in (two.one, two.other) * 2))
        came = Counter(headers["webhook-id"] for _, headers, _ in receiver.came)
    assert (len(came), set(came.values())) == (8, {1})
    assert (len(sent), set(sent.values())) == (8, {1})


def test_one_person_who_asks_two_servers_for_a_new_password_gets_one_message(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    addressed = mail._is_addressed
    both = threading.Barrier(2)

    def slowly(*given: Any) -> bool:
        found = addressed(*given)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.3)  # until the other has looked as well, which it cannot
        return found

    with two_servers(tmp_path / "data", address, **MAIL) as servers:
        Client.set_up(servers.proxy, servers.one)
        stranger = Client.on(servers.proxy)
        for _ in range(2):
            stranger.post(f"{API}/resets", json={"email": "anna@hospital.test"})
        monkeypatch.setattr(mail, "_is_addressed", slowly)
        sent: list[str] = []
        monkeypatch.setattr(mail, "_send", lambda settings, message: sent.append(message["To"]))
        at_once(*(partial(mail.send_next, core) for core in (servers.one, servers.other)))
    assert len(sent) == 1


def test_the_work_of_a_day_is_done_once(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    is_due, both = schedules.is_daily_due, threading.Barrier(2)

    def slowly(*given: Any) -> bool:
        found = is_due(*given)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.3)
        return found

    monkeypatch.setattr(schedules, "is_daily_due", slowly)
    at_once(*(partial(schedules.run_daily, core) for core in (servers.one, servers.other)))
    assert len(log(servers.one, "retention.daily")) == len(log(servers.one, "log.heads")) == 1


def test_a_periodic_audit_that_two_workers_find_due_is_asked_for_once(servers: Servers) -> None:
    anna = Client.set_up(servers.proxy, servers.one)
    name = world(servers.one, anna)["schedule"]
    with servers.one.store.write() as rows:
        rows.get_one(Schedule, name).next_at = 1

    def run(core: Core) -> None:
        with core.store.write() as rows:
            schedules.run_due(rows, name, core.settings)

    at_once(*(partial(run, core) for core in (servers.one, servers.other) * 2))
    assert len(log(servers.one, "schedule.due")) == 1
    assert len(stored(servers.one, Job, state="queued")) == 1


def test_files_that_two_workers_remove_are_counted_once(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "GRACE_SECONDS", -1)
    anna = Client.set_up(servers.proxy, servers.one)
    study = world(servers.one, anna)["study"]
    for kind in ("studies", "removed"):
        assert anna.delete(f"{API}/{kind}/{study}").status_code == 204
    with servers.one.store.write() as one, servers.other.store.write() as other:
        found = [retention.remove_files(rows, servers.one.blobs, "worker") for rows in (one, other)]
    assert found == [1, 0]


def test_servers_that_start_together_make_one_first_account(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "password").write_text(PASSWORD)
    given = ("anna@hospital.test", str(tmp_path / "password"), "Hospital")
    for name, value in zip(server.ADMIN, given):
        monkeypatch.setenv(name, value)
    at_once(*(partial(server.first_account, core) for core in (servers.one, servers.other) * 3))
    assert [o.name for o in stored(servers.one, Organisation)] == ["Hospital"]
    assert Client.logged_in(servers.proxy, "anna@hospital.test").me["email"] == "anna@hospital.test"


@pytest.fixture
def away(light: Core, anna: Client) -> Iterator[Client]:
    """Anna's browser, and a service whose database does not answer."""
    store = Store("postgresql+psycopg://user:SECRET@127.0.0.1:1/x")
    client = Client.on(create_app(replace(light, store=store)))
    client.cookies.update(anna.cookies)
    client.headers.update(anna.headers)
    yield client
    store.close()


def test_a_database_that_is_away_is_said_to_programs(away: Client) -> None:
    for answer in (
        away.get(f"{API}/studies"),
        away.post(f"{API}/studies", json={"name": "S"}),
        away.post(f"{API}/session", json={"email": "a@h.test", "password": "x" * 12}),
        away.post(f"{API}/studies/{'0' * 26}/versions", files=[("files", ("a", b"x"))]),
    ):
        assert (answer.status_code, answer.json()["title"]) == (503, "Database away"), answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert int(answer.headers["retry-after"]) > 0
        assert "SECRET" not in answer.text


def test_a_database_that_is_away_is_said_to_people(away: Client) -> None:
    for answer in (
        away.get("/studies", headers=HTML),
        away.post("/studies", data={"csrf": "x"}, headers=HTML),
    ):
        assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
        words = Taken(answer.text).words
        assert "Not available" in words
        assert "database does not answer" in words
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    ready = away.get("/ready")
    assert (ready.status_code, ready.json()["database"], ready.json()["storage"]) == (503, False, True)
    assert away.get("/health").status_code == 200


def test_the_log_says_what_was_away(away: Client, quiet_logs: list[dict[str, Any]]) -> None:
    away.get(f"{API}/studies")
    entry = next(e for e in quiet_logs if e.get("status") == 503)
    assert entry["error"].startswith("OperationalError at ")
    assert "SECRET" not in repr(quiet_logs)


def test_any_other_fault_is_a_page_for_people(anna: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from trustreport.service.study import page as studies

    def broken(*given: Any) -> Any:
        raise RuntimeError("secret of Mrs Marple")

    monkeypatch.setattr(studies, "_lines", broken)
    answer = anna.get("/studies", headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "its log has the details" in Taken(answer.text).words
    assert answer.headers["x-request-id"] in answer.text
    assert "Marple" not in answer.text


def test_a_full_database_is_507_until_there_is_room(light: Core, app: FastAPI, anna: Client) -> None:
    limit = 1

    @event.listens_for(light.store.engine, "connect")
    def _small(connection: sqlite3.Connection, record: object) -> None:
        connection.execute(f"PRAGMA max_page_count={limit}")  # at least the pages that there are

    light.store.engine.dispose()
    answers = [anna.post(f"{API}/studies", json={"name": f"{i:0150}"}) for i in range(60)]
    full = answers[-1]
    assert (full.status_code, full.json()["title"]) == (507, "Disk full"), full.text
    assert "operator" in full.json()["detail"]
    page = get(anna, "/studies/new").form("/studies")
    shown = anna.post("/studies", data={**page, "name": "x" * 150}, headers=HTML)
    assert (shown.status_code, "No room left" in shown.text) == (507, True)
    assert anna.get(f"{API}/studies").status_code == 200
    event.remove(light.store.engine, "connect", _small)
    light.store.engine.dispose()
    assert anna.post(f"{API}/studies", json={"name": "S"}).status_code == 201
    with light.store.read() as rows:
        assert not [fault for chain in audit.verify(rows) for fault in chain.faults]


def test_a_full_disk_is_507_and_leaves_nothing(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = anna.study()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        answer = anna.post(f"{API}/studies/{study}/versions/json", json={"manifest": MANIFEST})
        assert (answer.status_code, answer.json()["title"]) == (507, "Disk full")
        ready = anna.get("/ready")
        assert (ready.status_code, ready.json()["storage"], ready.json()["database"]) == (503, False, True)
    assert not [p for p in (light.settings.data / "blobs").rglob("*") if p.is_file()]
    assert anna.version(study)
    assert anna.get("/ready").json() == {
        "database": True,
        "schema_current": True,
        "storage": True,
        "problems": [],
    }


def test_uploads_are_refused_before_the_disk_is_full(light: Core, anna: Client) -> None:
    small = replace(light, settings=replace(light.settings, least_free=10**18))
    app = create_app(small)
    client = Client.on(app)
    client.cookies.update(anna.cookies)
    client.headers.update(anna.headers)
    assert client.get("/ready").json()["storage"] is False
    study = client.study()  # what is small is still taken
    headers = {
        "Content-Type": TYPES["form"],
        "Transfer-Encoding": "chunked",
        "Cookie": f"{COOKIE}={anna.cookies[COOKIE]}",
        "X-CSRF-Token": anna.me["csrf"],
    }
    for path in (f"{API}/studies/{study}/versions", f"{API}/studies/{study}/versions/zip", "/studies"):
        assert send(app, "POST", path, headers, body_of("form")) == (507, 0), path


def test_a_body_that_is_too_large_is_a_page_for_people(anna: Client) -> None:
    answer = anna.post("/account/password", content=b"x" * 1_100_000, headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "Too large" in answer.text
