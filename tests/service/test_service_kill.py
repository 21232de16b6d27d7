"""kill -9 of server or worker at random moments: every job still ends once, and the record is whole."""

import random
import time
from collections import Counter
from pathlib import Path

import pytest
from running import Api, Process, free_port
from services import API, MANIFEST, PASSWORD, new_core

from trustreport.service import audit
from trustreport.service.access import accounts, secrets
from trustreport.service.ids import new_id
from trustreport.service.storage.models import Job, Report, ReportFile, Token, Version, VersionFile
from trustreport.service.storage.store import now

KILLS = 5
STUDIES = 3


def token_of_a_first_user(data: Path, address: str) -> str:
    core = new_core(data, database=address)
    with core.store.write() as rows:
        user = accounts.set_up(rows, "Hospital", email="a@h.test", name="A", password=PASSWORD)
        secret = secrets.new_secret("tr_")
        rows.add(
            Token(
                id=new_id(),
                organisation=user.organisation,
                user=user.id,
                name="t",
                hash=secrets.fingerprint(secret),
                scopes=["read", "write"],
                created_at=now(rows),
                expires_at=now(rows) + 10**9,
            )
        )
    core.close()
    return secret


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
    finally:
        codes = [process.end(15) for process in (server, worker)]
    assert codes == [0, 0]

    core = new_core(data, database=address)
    with core.store.read() as rows:
        reports = rows.query(Report).all()
        # One report for each job, and all of the same numbers, as their inputs are the same.
        assert sorted(r.job for r in reports) == sorted(asked.values())
        assert len({r.results_sha256 for r in reports}) == 1
        assert {v.state for v in rows.query(Version)} == {"valid"}
        assert rows.query(Job).count() == 2 * STUDIES
        for model in (ReportFile, VersionFile):
            for file in rows.query(model):
                assert core.blobs.path(file.organisation, file.sha256).stat().st_size == file.size
        assert all(not chain.faults for chain in audit.verify(rows))
        entries = [chain.entries for chain in audit.verify(rows) if chain.chain != audit.SERVICE]
        assert entries[0] > 4 * STUDIES
    core.close()
