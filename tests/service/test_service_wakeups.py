"""Workers on PostgreSQL are woken by what is added; lost notifications and lost connections lose no work."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from databases import new_database
from servers import Servers, two_servers
from services import API, Client, world
from sqlalchemy import text

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import worker as sending
from trustreport.service.jobs import worker_thread
from trustreport.service.jobs.worker import Worker
from trustreport.service.limited import ChildOutcome
from trustreport.service.storage import wakeups
from trustreport.service.storage.wakeups import Wakeups, announce
from trustreport.service.webhook import sending as delivery

LONG = 900.0  # seconds between two looks: whatever happens earlier was not found by looking
SOON = 20.0


class Woken:
    """A worker that looks by itself after `LONG` alone, and what it did."""

    def __init__(self, core: Core, worker: Worker, done: threading.Semaphore) -> None:
        self.core, self.wakeups, self._done = core, worker._wakeups, done

    def did_one(self) -> bool:
        return self._done.acquire(timeout=SOON)

    def listens(self, count: int = 0) -> int:
        """Wait until it listens (anew); how often it was woken."""
        while not self.wakeups._listens or self.wakeups.count("jobs") <= count:
            self.wakeups.wait("jobs", self.wakeups.count("jobs"), 0.02)
        return self.wakeups.count("jobs")

    def lose_connection(self) -> None:
        """End the connection that listens, as a server that restarts does."""
        found = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN trustreport%'"
        )
        with self.core.store.write() as rows:
            assert rows.execute(text(found)).scalars().all() == [True]


@pytest.fixture
def servers(tmp_path: Path, postgres: str) -> Iterator[Servers]:
    with two_servers(tmp_path / "data", new_database(postgres), lease=3 * LONG) as servers:
        yield servers


@pytest.fixture
def woken(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Woken]:
    """A worker of one server; jobs come by the other."""
    monkeypatch.setattr(worker_thread, "IDLE_SECONDS", LONG)
    monkeypatch.setattr(sending, "EVERY_SECONDS", LONG)
    monkeypatch.setattr(wakeups, "AGAIN_SECONDS", 0.02)
    monkeypatch.setattr(wakeups, "STOP_SECONDS", 0.02)
    done = threading.Semaphore(0)

    def run(*given: object, **more: object) -> ChildOutcome:
        done.release()
        return ChildOutcome("failed", reason="not tried")

    monkeypatch.setattr(worker_thread, "run", run)
    with Worker(servers.one, 1) as worker:
        woken = Woken(servers.one, worker, done)
        woken.listens()
        yield woken


def ask(client: Client, version: str, seed: int) -> None:
    assert client.post(f"{API}/versions/{version}/jobs", json={"seed": seed}).status_code == 201


def test_a_job_wakes_the_workers_of_other_servers(servers: Servers, woken: Woken) -> None:
    anna = Client.set_up(create_app(servers.other), servers.other)
    version = world(servers.other, anna)["version"]
    for seed in range(3):
        ask(anna, version, seed)
        assert woken.did_one()


def test_a_lost_connection_is_made_anew_and_loses_no_job(servers: Servers, woken: Woken) -> None:
    anna = Client.set_up(create_app(servers.other), servers.other)
    version = world(servers.other, anna)["version"]
    count = woken.listens()
    woken.lose_connection()
    ask(anna, version, 1)  # while nobody listens, or nobody knows yet that nobody does
    assert woken.did_one()
    woken.listens(count)
    ask(anna, version, 2)
    assert woken.did_one()


def test_events_wake_the_thread_that_sends(
    servers: Servers, woken: Woken, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = threading.Event()

    def send(*given: Any) -> str:
        sent.set()
        return ""

    monkeypatch.setattr(delivery, "_send", send)
    anna = Client.set_up(create_app(servers.other), servers.other)
    hook = anna.post(f"{API}/webhooks", json={"url": "https://receiver.test/", "events": ["study.remove"]})
    assert hook.status_code == 201, hook.text
    anna.delete(f"{API}/studies/{anna.study()}")
    assert sent.wait(SOON)


def test_what_is_rolled_back_wakes_nobody(servers: Servers, woken: Woken) -> None:
    count, outgoing = woken.wakeups.count("jobs"), woken.wakeups.count("outgoing")
    with suppress(ZeroDivisionError), servers.other.store.write() as rows:
        announce(rows, "jobs")
        raise ZeroDivisionError
    with servers.other.store.write() as rows:  # what is kept comes later, and alone
        announce(rows, "outgoing")
    woken.wakeups.wait("outgoing", outgoing, SOON)
    assert woken.wakeups.count("jobs") == count


def test_a_lost_notification_delays_a_job_no_longer_than_a_look(servers: Servers) -> None:
    bell = Wakeups(servers.one.store, threading.Event(), 0.01)
    bell._set_listening(True)
    bell.wait("jobs", bell.count("jobs"), LONG)  # comes back, unrung: `seldom` is at least a second
    assert bell.count("jobs") == 0


def test_what_rings_between_the_look_and_the_wait_is_not_missed(light: Core) -> None:
    stop = threading.Event()
    bell = Wakeups(light.store, stop, LONG)
    count = bell.count("jobs")
    bell.ring("jobs")
    bell.wait("jobs", count, LONG)
    stop.set()
    bell.wait("jobs", bell.count("jobs"), LONG)  # nor is the stop


def test_on_sqlite_nobody_is_woken(light: Core) -> None:
    with light.store.write() as rows:
        announce(rows, "jobs")
    with Worker(light, 0) as worker:
        assert not worker._wakeups._listens
