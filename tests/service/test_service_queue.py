"""The queue on both databases: one end for each job, whoever dies, and turns between organisations."""

import threading
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from fastapi import FastAPI
from services import API, MANIFEST, Client, at_once, only, stored, world
from sqlalchemy import select

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import queue, schedules, store_results
from trustreport.service.jobs.job import outlook
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
        lease = take(core, f"victim{attempt}-0")
        assert lease is not None
        lapse(core)
        goes_on(core, f"victim{attempt}")
    assert take(core, "careful") is None
    assert (job(core, name).state, job(core, name).reason) == (
        "failed",
        "Each of 3 attempts ended the worker that made it.",
    )
    assert ask(core, version) != name  # asked anew, it is tried anew


def goes_on(core: Core, process: str) -> None:
    """Let a process be seen now."""
    with core.store.write() as rows:
        at = now(rows)
        rows.merge(StoredWorker(id=process, code="1", started_at=at, seen_at=at))


def test_a_job_is_not_to_blame_at_once_for_the_end_of_the_whole_process(core: Core, version: str) -> None:
    name = ask(core, version)
    pauses, at_once_again = [], 0
    while job(core, name).state != "failed":
        lease = take(core, "killed-0")
        found = job(core, name)
        if lease is not None:
            at_once_again += not pauses
            lapse(core)
        elif found.state == "queued":
            with core.store.write() as rows:
                pauses.append(round((found.lease_until - now(rows)) / 60_000))
                rows.get_one(Job, name).lease_until = 0
    assert at_once_again == 3  # the first time and after two ends
    assert pauses == [1, 2, 4, 8, 16, 32, 60]
    assert job(core, name).reason == "The service ended 10 times while it was being made."


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
                    rows.scalar = scalar
                    looked.wait(20)
                    return seen

                rows.scalar = wait
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


WISHED = {"kind": None, "formats": ["json"], "release": None}


def ask_reports(core: Core, version: str, n: int) -> None:
    with core.store.write() as rows:
        row = rows.get_one(Version, version)
        for seed in range(n):
            queue.enqueue(rows, row, row.created_by, "report", {**WISHED, "seed": seed}, core.settings)


def take_turn(core: Core, *, finish: bool) -> str:
    """The organisation whose job a worker gets next."""
    with core.store.write() as rows:
        job = queue.claim(rows, "w", ("report",), core.settings)
        assert job is not None
        if finish:
            queue.end(rows, job, "done")
        return job.organisation


@pytest.fixture
def two(core: Core) -> tuple[str, str]:
    """Names of two organisations; the first one has asked for 6 reports, then the other for 2."""
    anna = Client.set_up(create_app(core), core)
    bob = anna.found("Other hospital", "bob@other.test")
    first, second = (world(core, who)["version"] for who in (anna, bob))
    ask_reports(core, first, 6)
    ask_reports(core, second, 2)
    return anna.me["organisation"], bob.me["organisation"]


def test_organisations_take_turns(core: Core, two: tuple[str, str]) -> None:
    a, b = two
    assert [take_turn(core, finish=True) for _ in range(6)] == [a, b, a, b, a, a]


def test_a_job_says_its_place_in_the_queue_at_the_latest(core: Core, two: tuple[str, str]) -> None:
    with core.store.read() as rows:
        waiting = rows.scalars(
            select(Job).where(Job.state == "queued").order_by(Job.created_at, Job.id)
        ).all()
        said = {job.id: outlook(rows, job, core.settings).place for job in waiting}
        assert all(outlook(rows, job, core.settings).ends_at is None for job in waiting)  # none was ever done
    began = []
    for _ in waiting:
        with core.store.write() as rows:
            job = queue.claim(rows, "w", ("report",), core.settings)
            assert job is not None
            began.append(job.id)
            assert outlook(rows, job, core.settings).place is None
            queue.end(rows, job, "cancelled")
    assert all((said[name] or 0) >= place for place, name in enumerate(began, 1))
    assert said[began[-1]] == len(began) == 8


def test_a_job_says_when_it_will_probably_end(core: Core, two: tuple[str, str]) -> None:
    own = select(Job).where(Job.state == "queued", Job.organisation == two[0])
    with core.store.write() as rows:
        first, *others = rows.scalars(own.order_by(Job.created_at, Job.id)).all()
        at = now(rows)
        for job, seconds in zip(others, (10, 20, 90), strict=False):
            job.state, job.started_at, job.finished_at = "done", at - 1000 * seconds, at
        rows.flush()
        # The median is 20 s, and one of another organisation may come before it.
        found = outlook(rows, first, replace(core.settings, workers=1))
        assert found.place == 2
        assert found.ends_at is not None
        assert 40_000 <= found.ends_at - at < 45_000
        first.state, first.started_at = "running", at - 5000
        rows.flush()
        assert outlook(rows, first, core.settings).ends_at == at - 5000 + 20_000
        first.started_at = at - 60_000
        rows.flush()
        assert outlook(rows, first, core.settings).ends_at is None  # longer than usual: nobody knows


def test_who_has_fewest_jobs_at_work_is_next(core: Core, two: tuple[str, str]) -> None:
    a, b = two
    assert [take_turn(core, finish=False) for _ in range(4)] == [a, b, a, b]
    with core.store.write() as rows:  # all of the first one's end, so it has none at work
        for job in rows.query(Job).filter_by(organisation=a, state="running"):
            queue.end(rows, job, "done")
    ask_reports(core, _version(core, b), 4)
    assert [take_turn(core, finish=False) for _ in range(3)] == [a, a, b]


def _version(core: Core, organisation: str) -> str:
    with core.store.read() as rows:
        return rows.query(Version).filter_by(organisation=organisation).first().id


def test_so_many_jobs_may_wait(light: Core) -> None:
    few = replace(light, settings=replace(light.settings, jobs_waiting=3))
    app = create_app(few)
    anna = Client.set_up(app, few)
    bob = anna.found("Other hospital", "bob@other.test")
    names = world(few, anna)
    path = f"{API}/versions/{names['version']}/jobs"
    asked = [anna.post(path, json={"seed": seed}).status_code for seed in range(5)]
    assert asked == [201, 201, 201, 429, 429]
    refused = anna.post(path, json={"seed": 9})
    assert refused.json()["title"] == "Too many jobs"
    assert "3 jobs" in refused.json()["detail"]
    assert int(refused.headers["retry-after"]) > 0
    assert anna.post(path, json={"seed": 1}).status_code == 200  # one asked before is no new one
    upload = anna.post(f"{API}/studies/{names['study']}/versions/json", json={"manifest": MANIFEST})
    assert (upload.status_code, upload.json()["title"]) == (429, "Too many jobs")
    assert len(stored(few, Version, organisation=anna.me["organisation"])) == 1
    # Those of others are not counted, nor what has ended; a periodic audit waits for its turn.
    bob.version(bob.study())
    with few.store.write() as rows:
        rows.query(Schedule).update({Schedule.next_at: 1})
    schedules.tend(few)
    assert only(few, Schedule).next_at == 1
    with few.store.write() as rows:
        for job in rows.query(Job).filter_by(state="queued"):
            queue.end(rows, job, "done")
    schedules.tend(few)
    assert only(few, Schedule).next_at > 1
    assert anna.post(path, json={"seed": 9}).status_code == 201


def test_so_many_bytes_are_stored(light: Core) -> None:
    small = replace(light, settings=replace(light.settings, storage=100_000))
    app: FastAPI = create_app(small)
    anna = Client.set_up(app, small)
    bob = anna.found("Other hospital", "bob@other.test")
    study = anna.study()
    text = "a" * 40_000
    assert anna.version(study, MANIFEST, **{"a.csv": text})
    assert anna.version(study, MANIFEST, **{"a.csv": text})  # equal files are stored once
    anna.version(study, MANIFEST, **{"a.csv": "b" * 40_000})
    path = f"{API}/studies/{study}/versions"
    for refused in (
        anna.post(f"{path}/json", json={"manifest": MANIFEST, "tables": {"a.csv": "c" * 40_000}}),
        anna.post(path, files=[("files", ("a.csv", "c" * 40_000))]),
        anna.post(f"{path}/zip", content=b"PK\x03\x04" + b"c" * 40_000),
    ):
        assert (refused.status_code, refused.json()["title"]) == (507, "No room left"), refused.text
        assert "100,000 bytes" in refused.json()["detail"]
    stored = sum(p.stat().st_size for _, _, p in small.blobs.paths())
    assert stored < 90_000
    bob.version(bob.study(), MANIFEST, **{"a.csv": "d" * 40_000})
