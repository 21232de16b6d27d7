"""kill -9 of server or worker at random moments: every job still ends once, and the record is whole."""

import random
import time
from collections import Counter
from pathlib import Path

import pytest
from running import Api, Process, free_port
from services import API, MANIFEST, Client, new_core, world
from whole import look, token_of_a_first_user

from trustreport.service import audit
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.storage.models import Job, ReportFile, StoredReport, Version

KILLS = 3
STUDIES = 2


@pytest.mark.slow
def test_jobs_survive_kill_9(tmp_path: Path, address: str) -> None:
    data, port = tmp_path / "data", free_port()
    api = Api(port, token_of_a_first_user(data, address))
    variables = {"TRUSTREPORT_LEASE": "2", "TRUSTREPORT_ATTEMPTS": "50"}
    words = ["--data", str(data), *(["--database", address] if address else [])]
    server = Process(tmp_path / "server.log", "serve", "--port", str(port), *words, **variables)
    worker = Process(tmp_path / "worker.log", "worker", *words, **variables)
    server.start()
    worker.start()
    moment = random.Random(time.time_ns())  # noqa: S311  # no secret
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
