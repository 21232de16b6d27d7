"""How long list pages take with 10,000 reports stored: `python benchmarks/service_lists.py`.

Writes benchmarks/results/service_lists.csv: for each page the median and the slowest of 30 requests, in
milliseconds, through the whole application on SQLite (session, rights, queries, template), without a network.
"""

import csv
import io
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path

from fastapi.testclient import TestClient

from trustreport.service.access import accounts, principal
from trustreport.service.access.principal import COOKIE
from trustreport.service.app import create_app
from trustreport.service.core import Core, open_core
from trustreport.service.ids import new_id
from trustreport.service.settings import Settings
from trustreport.service.storage.models import (
    Attestation,
    Job,
    ReportFile,
    Schedule,
    StoredDevice,
    StoredReport,
    StoredStudy,
    Version,
    VersionFile,
)

STUDIES, VERSIONS, REPORTS_EACH, DEVICES = 2_000, 2, 5, 200
REQUESTS = 30
PASSWORD = "correct horse battery"
RESULTS = Path(__file__).parent / "results" / "service_lists.csv"
FACTS = {
    "title": "Readings with and without the aid",
    "kind": "certification",
    "trade_name": "Example aid",
    "software_version": "1.0",
    "period_start": "2026-01-01",
    "period_end": "2026-03-31",
    "verdicts": {"pass": 2, "inconclusive": 1},
    "checks": {"W": 4, "N": 6},
    "unanswered": 3,
    "primary": [
        {
            "id": f"decision_benefit.benefit_{i}",
            "scope": {"arms": ["aided", "unaided"]},
            "value": 0.1,
            "low": 0.0,
            "high": 0.2,
            "level": 0.95,
            "n": 300,
            "unit": "proportion",
            "method": "wilson",
            "note": "",
        }
        for i in range(20)
    ],
}


def fill(core: Core) -> dict[str, str]:
    """10,000 reports of 2,000 studies; names of a study, a device and a version, and a session's secret."""
    with core.store.write() as rows:
        user = accounts.set_up(rows, "Hospital", email="a@b.test", name="Anna", password=PASSWORD)
        secret = principal.begin_session(rows, user, core.settings)
        mine = {"organisation": user.organisation}
        made = {**mine, "created_by": user.id, "created_at": 1_760_000_000_000}
        blob = core.blobs.put(user.organisation, io.BytesIO(b"{}")).sha256
        devices = [new_id() for _ in range(DEVICES)]
        rows.add_all(
            StoredDevice(
                id=name,
                key=name * 2,
                trade_name=f"Device {i}",
                manufacturer="Maker",
                basic_udi_di="",
                created_at=made["created_at"],
                **mine,
            )
            for i, name in enumerate(devices)
        )
        rows.flush()
        for i in range(STUDIES):
            device, study = devices[i % DEVICES], new_id()
            rows.add(StoredStudy(id=study, name=f"Study {i} of chest radiographs", **made))
            rows.flush()
            for number in range(1, VERSIONS + 1):
                version = new_id()
                rows.add(
                    Version(
                        id=version,
                        study=study,
                        number=number,
                        state="valid",
                        digest="0" * 64,
                        facts=FACTS,
                        problems=[],
                        device=device,
                        checked_at=None,
                        **made,
                    )
                )
                rows.flush()
                rows.add(
                    VersionFile(
                        version=version, name="study.yaml", sha256=blob, size=2, archive=False, **mine
                    )
                )
            for n in range(REPORTS_EACH):
                job, report = new_id(), new_id()
                rows.add(
                    Job(
                        id=job,
                        study=study,
                        version=version,
                        task="report",
                        key=job * 2,
                        wishes={},
                        code="1",
                        state="done",
                        step="",
                        progress=1.0,
                        reason="",
                        attempts=1,
                        worker="w",
                        lease_until=0,
                        cancel_asked=False,
                        report=report,
                        **made,
                    )
                )
                rows.flush()
                rows.add(
                    StoredReport(
                        id=report,
                        study=study,
                        version=version,
                        device=device,
                        job=job,
                        kind="certification",
                        code="1",
                        facts=FACTS,
                        results_sha256=blob,
                        **made,
                    )
                )
                rows.flush()
                rows.add(ReportFile(report=report, name="results.json", sha256=blob, size=2, **mine))
                if n % 2:
                    rows.add(
                        Attestation(
                            id=new_id(),
                            report=report,
                            user=user.id,
                            act="approval",
                            meaning="m",
                            sha256=blob,
                            signature="s",
                            key="k",
                            created_at=made["created_at"],
                            **mine,
                        )
                    )
            if i % 10 == 0:
                rows.add(
                    Schedule(
                        id=new_id(),
                        study=study,
                        wishes={},
                        every_days=90,
                        next_at=1_800_000_000_000,
                        **made,
                    )
                )
        return {
            "secret": secret,
            "study": study,
            "device": device,
            "version": version,
            "middle": devices[100],
        }


def main() -> None:
    """Fill a database, ask for each list, write the times."""
    with tempfile.TemporaryDirectory() as folder:
        core = open_core(Settings(Path(folder) / "data", requests_a_minute=10**9, workers=0))
        names = fill(core)
        client = TestClient(create_app(core), base_url="https://testserver")
        client.cookies.set(COOKIE, names["secret"], domain="testserver.local", path="/")
        client.headers |= {"Cookie": f"{COOKIE}={names['secret']}", "Accept": "text/html"}
        older = client.get("/reports").text.split("after=")[1].split('"')[0]
        pages = {
            "studies": "/studies",
            "studies, searched": "/studies?q=1234",
            "studies, nothing found": "/studies?q=nowhere",
            "one study": f"/studies/{names['study']}",
            "one version": f"/versions/{names['version']}",
            "reports": "/reports",
            "reports, second page": f"/reports?after={older}",
            "reports, searched": "/reports?q=Study+17",
            "reports, by kind, nothing found": "/reports?kind=vigilance",
            "devices": "/devices",
            "one device": f"/devices/{names['device']}",
            "audit log": "/audit",
            "users": "/admin/users",
        }
        lines = []
        for name, address in pages.items():
            times = []
            for _ in range(REQUESTS):
                start = time.perf_counter()
                answer = client.get(address)
                times.append(1000 * (time.perf_counter() - start))
                assert answer.status_code == 200, (name, answer.status_code)
            lines.append((name, round(statistics.median(times), 1), round(max(times), 1)))
            print(*lines[-1], sep="\t")
        core.close()
    with RESULTS.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        where = f"{os.cpu_count()} cores, Python {platform.python_version()}"
        stored = STUDIES * REPORTS_EACH
        out.write(f"# {stored} reports of {STUDIES} studies, SQLite; {REQUESTS} requests each; {where}\n")
        writer.writerows([("page", "median_ms", "slowest_ms"), *lines])


if __name__ == "__main__":
    main()
