"""The queue on both databases: one end for each job, whoever dies."""

import threading
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from services import Client, at_once, only, world

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import queue, schedules, store_results
from trustreport.service.jobs.queue import Lease
from trustreport.service.storage.models import Audit, Job, Schedule, StoredWorker, Version
from trustreport.service.storage.store import now

WISHES = {"kind": None, "formats": ["json"], "release": None, "seed": None}


@pytest.fixture
def version(core: Core) -> str:
    """The name of a valid version."""
    return world(core, Client.set_up(create_app(core), core))["version"]


def ask(core: Core, version: str, **wishes: object) -> str:
    with core.store.write() as rows:
        row = rows.get_one(Version, version)
        return queue.enqueue(rows, row, row.created_by, "report", {**WISHES, **wishes}, core.settings)[0].id


def take(core: Core, worker: str) -> Lease | None:
    with core.store.write() as rows:
        job = queue.claim(rows, worker, ("report",), core.settings)
        return queue.lease_of(job) if job else None


def lapse(core: Core) -> None:
    """Time passes: every lease is over."""
    with core.store.write() as rows:
        rows.query(Job).filter(Job.state == "running").update({Job.lease_until: 1})


def job(core: Core, name: str) -> Job:
    return only(core, Job, id=name)


def end(core: Core, lease: Lease) -> bool:
    with core.store.write() as rows:
        held = queue.leased_job(rows, lease)
        if held is None:
            return False
        queue.end(rows, held, "done")
        return True


def test_the_same_question_is_one_job(core: Core, version: str) -> None:
    first = ask(core, version)
    assert ask(core, version) == first
    other = ask(core, version, seed=7)
    assert other != first
    lease = take(core, "w")
    assert lease is not None
    assert lease.job == first
    assert end(core, lease)
    assert ask(core, version) == first


def test_those_who_ask_at_the_same_time_get_the_same_job(core: Core, version: str) -> None:
    found: list[str] = []
    at_once(*[lambda: found.append(ask(core, version))] * 6)
    assert len(found) == 6
    assert len(set(found)) == 1


def test_workers_at_the_same_time_take_different_jobs(core: Core, version: str) -> None:
    jobs = {ask(core, version, seed=seed) for seed in range(8)}
    taken: list[Lease | None] = []

    def work(name: str) -> None:
        while (lease := take(core, name)) is not None:
            taken.append(lease)

    at_once(*(partial(work, f"w{i}") for i in range(4)))
    assert sorted(lease.job for lease in taken if lease) == sorted(jobs)


def test_a_dead_workers_job_goes_to_another_and_its_late_answer_does_not_count(
    core: Core, version: str
) -> None:
    name = ask(core, version)
    dead = take(core, "dead")
    assert dead is not None
    assert take(core, "alive") is None  # the lease still runs
    lapse(core)
    alive = take(core, "alive")
    assert alive == Lease(name, "alive", 2)
    with core.store.write() as rows:
        assert queue.renew(rows, dead, core.settings, "late", 0.9) == "lost"
    assert not end(core, dead)
    assert end(core, alive)
    assert job(core, name).state == "done"


def test_a_job_that_ends_its_workers_is_given_up_with_the_reason(core: Core, version: str) -> None:
    name = ask(core, version)
    for attempt in range(core.settings.attempts):
        lease = take(core, f"victim{attempt}")
        assert lease is not None
        lapse(core)
    assert take(core, "careful") is None
    assert (job(core, name).state, job(core, name).reason) == (
        "failed",
        "Each of 3 attempts ended the worker that made it.",
    )
    assert ask(core, version) != name  # asked anew, it is tried anew


def test_what_a_worker_gives_back_counts_as_no_attempt(core: Core, version: str) -> None:
    name = ask(core, version)
    for _ in range(5):
        lease = take(core, "w")
        assert lease is not None
        with core.store.write() as rows:
            queue.give_back(rows, lease)
    assert (job(core, name).state, job(core, name).attempts) == ("queued", 0)


def test_a_job_is_cancelled_while_it_waits_or_at_the_next_sign_of_life(core: Core, version: str) -> None:
    waiting, running = ask(core, version, seed=2), ask(core, version, seed=1)
    with core.store.write() as rows:
        queue.cancel(rows, rows.get_one(Job, waiting), "anna", core.settings)
    assert job(core, waiting).state == "cancelled"
    lease = take(core, "w-0")
    assert lease is not None
    assert lease.job == running
    with core.store.write() as rows:
        at = now(rows)
        rows.add(StoredWorker(id="w", code="1", started_at=at, seen_at=at))
        assert queue.renew(rows, lease, core.settings, "read", 0.1) == "go on"
        queue.cancel(rows, rows.get_one(Job, running), "anna", core.settings)
        assert queue.renew(rows, lease, core.settings, "read", 0.2) == "cancel"
    lapse(core)  # its worker dies before it heard
    assert take(core, "other") is None
    assert job(core, running).state == "cancelled"


def test_a_due_audit_asks_once_and_unchanged_data_make_no_new_report(core: Core, version: str) -> None:
    with core.store.write() as rows:
        schedule = rows.query(Schedule).one()
        at = now(rows)
        schedule.next_at, schedule.every_days = at - 40 * schedules.DAY, 30
        name = schedule.id
    at_once(*[lambda: schedules.tend(core)] * 3)
    with core.store.write() as rows:
        assert rows.query(Job).filter(Job.state == "queued").count() == 1
        schedule = rows.get_one(Schedule, name)
        assert at < schedule.next_at <= at + 30 * schedules.DAY
        schedule.next_at = at - 1
    lease = take(core, "w")
    assert lease is not None
    assert end(core, lease)
    schedules.tend(core)
    with core.store.read() as rows:
        assert rows.query(Job).filter(Job.state == "queued").count() == 0
        due = rows.query(Audit).filter(Audit.action == "schedule.due").order_by(Audit.number).all()
        assert [entry.details["new"] for entry in due] == [True, False]


def test_workers_that_meet_a_device_at_the_same_time_store_it_once(core: Core, version: str) -> None:
    """Both look for it before either has stored it, as two checks of one device's versions do."""
    named = {"key": "k" * 64, "basic_udi_di": "", "trade_name": "New", "manufacturer": "M"}
    looked, found = threading.Barrier(2), []
    name = ask(core, version)

    def meet() -> None:
        with core.store.write() as rows:
            row = rows.get_one(Job, name)
            if not core.store.is_sqlite:  # whose writers come one after the other
                scalar = rows.scalar

                def wait(query: Any) -> Any:
                    seen = scalar(query)
                    rows.scalar = scalar  # type: ignore[method-assign]
                    looked.wait(20)
                    return seen

                rows.scalar = wait  # type: ignore[method-assign]
            found.append(store_results._device(rows, row, named))

    at_once(*[meet] * 2)
    assert len(found) == 2
    assert len(set(found)) == 1


def test_a_lost_database_does_not_end_a_lane(light: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    from trustreport.service.jobs import worker_thread

    stop = threading.Event()
    calls: list[int] = []

    def away(*_: object) -> bool:
        calls.append(1)
        if len(calls) == 3:
            stop.set()
        raise ConnectionError("gone")

    monkeypatch.setattr(worker_thread, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(queue, "anything_waits", away)
    worker_thread.WorkerThread(replace(light), "worker", stop).work("report")
    assert len(calls) == 3
