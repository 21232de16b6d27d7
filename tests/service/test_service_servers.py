"""Several servers on one PostgreSQL: they count together, do everything once, and share every session."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from acts import approves, is_intact, log
from databases import new_database
from pages import HTML, post
from receivers import LOOPBACK, receiving
from servers import Servers, two_servers
from services import API, PASSWORD, Client, world
from sqlalchemy import select
from test_service_second_factor import Clock, enrol

from trustreport.service import mail, server
from trustreport.service.access import second_factor
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.record import retention
from trustreport.service.storage import counters
from trustreport.service.storage.counters import Counter as Kept
from trustreport.service.storage.counters import SharedCounters
from trustreport.service.storage.models import Job, Organisation, Schedule
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


def at_once(*acts: Callable[[], object]) -> None:
    """Call these at the same time; what one raises is raised here."""
    errors: list[BaseException] = []

    def guarded(act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


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
    with servers.one.store.read() as rows:
        assert rows.query(Job).filter_by(state="queued").count() == 1


def test_files_that_two_workers_remove_are_counted_once(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "GRACE_SECONDS", -1)
    anna = Client.set_up(servers.proxy, servers.one)
    anna.delete(f"{API}/studies/{world(servers.one, anna)['study']}")
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
    with servers.one.store.read() as rows:
        assert [o.name for o in rows.query(Organisation)] == ["Hospital"]
    assert Client.logged_in(servers.proxy, "anna@hospital.test").me["email"] == "anna@hospital.test"
