"""One organisation cannot use up what all share: the queue, and the disk."""

from dataclasses import replace

import pytest
from fastapi import FastAPI
from services import API, MANIFEST, Client, only, stored, world
from sqlalchemy import select

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import queue, schedules
from trustreport.service.jobs.job import outlook
from trustreport.service.storage.models import Job, Schedule, Version
from trustreport.service.storage.store import now

WISHES = {"kind": None, "formats": ["json"], "release": None}


def ask(core: Core, version: str, n: int) -> None:
    with core.store.write() as rows:
        row = rows.get_one(Version, version)
        for seed in range(n):
            queue.enqueue(rows, row, row.created_by, "report", {**WISHES, "seed": seed}, core.settings)


def take(core: Core, *, finish: bool) -> str:
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
    ask(core, first, 6)
    ask(core, second, 2)
    return anna.me["organisation"], bob.me["organisation"]


def test_organisations_take_turns(core: Core, two: tuple[str, str]) -> None:
    a, b = two
    assert [take(core, finish=True) for _ in range(6)] == [a, b, a, b, a, a]


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
    assert [take(core, finish=False) for _ in range(4)] == [a, b, a, b]
    with core.store.write() as rows:  # all of the first one's end, so it has none at work
        for job in rows.query(Job).filter_by(organisation=a, state="running"):
            queue.end(rows, job, "done")
    ask(core, _version(core, b), 4)
    assert [take(core, finish=False) for _ in range(3)] == [a, a, b]


def _version(core: Core, organisation: str) -> str:
    with core.store.read() as rows:
        return rows.query(Version).filter_by(organisation=organisation).first().id  # type: ignore[union-attr]


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
