"""What a dead worker leaves, and clocks that jump."""

from dataclasses import replace
from pathlib import Path

import pytest
from services import API, Client, world

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import queue, schedules, worker_thread
from trustreport.service.jobs.worker import Worker
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Job, StoredWorker
from trustreport.service.storage.store import now

HOUR = 3_600_000


@pytest.fixture
def anna(core: Core) -> Client:
    return Client.set_up(create_app(core), core)


@pytest.fixture
def job(core: Core, anna: Client) -> str:
    """A report job that a worker has taken and then died."""
    version = world(core, anna)["version"]
    name = anna.post(f"{API}/versions/{version}/jobs", json={"seed": 1}).json()["id"]
    with core.store.write() as rows:
        taken = queue.claim(rows, "dead-0", ("report",), core.settings)
        assert taken is not None
    folder(core, name, 1).mkdir(parents=True)
    (folder(core, name, 1) / "readings.csv").write_text("Marple")
    return str(name)


def folder(core: Core, job: str, attempt: int) -> Path:
    return core.settings.data / "work" / f"{job}-{attempt}"


def state(core: Core, job: str) -> str:
    with core.store.read() as rows:
        return rows.get_one(Job, job).state


def until(core: Core, job: str, milliseconds: int) -> None:
    """Move the end of a lease, counted from now."""
    with core.store.write() as rows:
        rows.get_one(Job, job).lease_until = now(rows) + milliseconds


def test_a_take_over_removes_what_the_dead_one_left(
    core: Core, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    until(core, job, -1)
    seen: list[list[str]] = []

    def run(*given: object, **more: object) -> worker_thread.ChildOutcome:
        seen.append(sorted(p.name for p in (core.settings.data / "work").iterdir()))
        return worker_thread.ChildOutcome("failed", reason="x")

    monkeypatch.setattr(worker_thread, "run", run)
    assert WorkerThread(core, "alive").once("report")
    assert seen == [[f"{job}-2"]]
    assert list((core.settings.data / "work").iterdir()) == []


def test_a_worker_that_starts_removes_what_nobody_works_in(core: Core, job: str) -> None:
    left = folder(core, "0" * 26, 1)
    left.mkdir()
    with Worker(replace(core, settings=replace(core.settings, lease=600)), 0):
        pass
    assert not left.exists()
    assert folder(core, job, 1).exists()  # its lease still runs
    with core.store.write() as rows:
        queue.end(rows, rows.get_one(Job, job), "failed", "x")
    schedules.tend(core)
    assert list((core.settings.data / "work").iterdir()) == []


def test_a_job_that_begins_while_folders_are_swept_keeps_its_own(
    core: Core, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders are listed first: one that is made after that is not looked at."""
    until(core, job, -1)
    glob = Path.glob

    def slow(path: Path, pattern: str) -> list[Path]:
        found = list(glob(path, pattern))
        with core.store.write() as rows:
            if (taken := queue.claim(rows, "alive", ("report",), core.settings)) is not None:
                folder(core, taken.id, taken.attempts).mkdir()
        return found

    monkeypatch.setattr(Path, "glob", slow)
    schedules.sweep_work(core)
    assert [p.name for p in (core.settings.data / "work").iterdir()] == [f"{job}-2"]


def test_a_clock_that_was_set_back_holds_no_job(core: Core, job: str) -> None:
    until(core, job, 2 * HOUR)  # two hours ago the lease had 30 seconds to run
    with core.store.write() as rows:
        assert queue.anything_waits(rows, ("report",), core.settings)
        taken = queue.claim(rows, "alive", ("report",), core.settings)
        assert taken is not None
        assert (taken.id, taken.attempts) == (job, 2)
    until(core, job, round(core.settings.lease * 1000))
    with core.store.write() as rows:
        assert not queue.anything_waits(rows, ("report",), core.settings)
        assert queue.claim(rows, "other", ("report",), core.settings) is None


@pytest.mark.parametrize("lease", [-1, 2 * HOUR, 20_000])
def test_a_job_of_a_dead_worker_is_cancelled_at_once(core: Core, anna: Client, job: str, lease: int) -> None:
    until(core, job, lease)  # over, set far ahead by a clock, or still running
    answer = anna.post(f"{API}/jobs/{job}/cancel")
    assert (answer.status_code, answer.json()["state"]) == (202, "cancelled")
    assert state(core, job) == "cancelled"


def test_a_job_of_a_living_worker_is_cancelled_by_it(core: Core, anna: Client, job: str) -> None:
    with core.store.write() as rows:
        at = now(rows)
        rows.add(StoredWorker(id="dead", code="1", started_at=at, seen_at=at))
    assert anna.post(f"{API}/jobs/{job}/cancel").json()["state"] == "running"
    with core.store.write() as rows:  # it was seen last a while ago
        rows.get_one(StoredWorker, "dead").seen_at -= round(core.settings.lease * 1000) + 1
    assert anna.post(f"{API}/jobs/{job}/cancel").json()["state"] == "cancelled"


def test_retention_runs_though_its_last_run_is_in_the_future(light: Core) -> None:
    with light.store.read() as rows:
        at = now(rows)
    schedules.run_daily(light)
    with light.store.read() as rows:
        assert not schedules.is_daily_due(rows, at + HOUR)
        assert schedules.is_daily_due(rows, at + 25 * HOUR)
        assert schedules.is_daily_due(rows, at - 2 * HOUR)
