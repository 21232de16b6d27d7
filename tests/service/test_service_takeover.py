"""What a dead worker leaves, clocks that jump, and kill -9 at random moments."""

import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from running import Api, Process, free_port
from services import API, MANIFEST, Client, new_core, only, world
from whole import look, token_of_a_first_user

from trustreport.service import audit
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import queue, schedules, worker_thread
from trustreport.service.jobs.worker import Worker
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Job, ReportFile, StoredReport, StoredWorker, Version
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
    return only(core, Job, id=job).state


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


KILLS = 3
STUDIES = 2


@pytest.mark.slow
def test_jobs_survive_kill_9(tmp_path: Path, address: str) -> None:
    data, port = tmp_path / "data", free_port()
    api = Api(port, token_of_a_first_user(data, address))
    variables = {"TRUSTREPORT_LEASE": "2", "TRUSTREPORT_ATTEMPTS": "1"}  # no kill counts as one
    words = ["--data", str(data), *(["--database", address] if address else [])]
    server = Process(tmp_path / "server.log", "serve", "--port", str(port), *words, **variables)
    worker = Process(tmp_path / "worker.log", "worker", *words, **variables)
    server.start()
    worker.start()
    moment = random.Random(time.time_ns())  # no secret
    try:
        api.wait_ready()
        versions = []
        for i in range(STUDIES):
            study = api.ask("POST", f"{API}/studies", {"name": f"S{i}"})["id"]
            versions.append(
                api.ask("POST", f"{API}/studies/{study}/versions/json", {"manifest": MANIFEST})["id"]
            )
        asked: dict[str, str] = {}
        kills = 0
        end = time.monotonic() + 240
        while time.monotonic() < end:
            for version in versions:
                if version in asked:
                    continue
                if api.patiently("GET", f"{API}/versions/{version}")["state"] == "valid":
                    job = api.patiently("POST", f"{API}/versions/{version}/jobs", {"formats": ["json"]})
                    asked[version] = job["id"]
            if kills < KILLS:
                time.sleep(moment.uniform(0.1, 2.5))
                victim = moment.choice([server, worker])
                victim.end()
                victim.start()
                kills += 1
            elif len(asked) == STUDIES and all(j["state"] == "done" for j in api.jobs()):
                break
            time.sleep(0.2)
        assert kills == KILLS
        assert Counter(j["state"] for j in api.jobs()) == {"done": 2 * STUDIES}
        worker.wait_started()
    finally:
        codes = [process.end(15) for process in (server, worker)]
    assert codes == [0, 0]

    core = new_core(data, database=address)
    assert look(core, versions, asked.values(), ended=True).faults == ()
    with core.store.read() as rows:
        reports = rows.query(StoredReport).all()
        assert sorted(r.job for r in reports) == sorted(asked.values())
        # All of the same numbers, as their inputs are the same.
        assert len({r.results_sha256 for r in reports}) == 1
        assert {v.state for v in rows.query(Version)} == {"valid"}
        assert rows.query(Job).count() == 2 * STUDIES
        entries = [chain.entries for chain in audit.verify(rows) if chain.chain != audit.SERVICE]
        assert entries[0] > 4 * STUDIES
    core.close()


def test_what_is_lost_doubled_or_broken_is_named(light: Core) -> None:
    anna = Client.set_up(create_app(light), light)
    names = world(light, anna)
    told = look(light, [names["version"]], [names["job"]]).faults
    assert told == (f"job {names['job']} is done and has 0 ends in the log",)  # a row that no worker made
    with light.store.write() as rows:
        (file,) = rows.query(ReportFile).all()
        audit.write(rows, file.organisation, "w", "job.done", names["job"])
    assert look(light, [names["version"]], [names["job"]], ended=True).faults == ()
    assert look(light, ["v"], ["j"]).faults == ("version v is lost", "job j is lost")
    with light.store.write() as rows:
        rows.query(Job).update({Job.state: "running"})
    job = names["job"]
    assert look(light, [], [], ended=True).faults == (
        f"report job {job} is running and has 1 reports",
        f"job {job} is running and has 1 ends in the log",
        f"job {job} is running",
    )
    light.blobs.path(file.organisation, file.sha256).unlink()
    assert f"file {file.sha256} is lost" in look(light, [], []).faults
