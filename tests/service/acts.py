"""Helpers of the tests of what people do together: a report to see, a signature, what the log says of it."""

import io
from typing import Any

from services import Client, stored, world

from trustreport.service import audit
from trustreport.service.core import Core
from trustreport.service.record.verification import verify_all
from trustreport.service.storage.models import Audit, ReportFile, StoredReport

RESULTS = b'{"checks": [], "verdicts": [], "unanswered": []}'


def world_to_see(core: Core, client: Client) -> dict[str, str]:
    """One row of everything, with results that the page of a report can show."""
    names = world(core, client)
    blob = core.blobs.put(client.me["organisation"], io.BytesIO(RESULTS))
    with core.store.write() as rows:
        rows.get_one(StoredReport, names["report"]).results_sha256 = blob.sha256
        file = rows.get_one(ReportFile, (names["report"], "results.json"))
        file.sha256, file.size = blob.sha256, blob.size
        made = {"results_sha256": blob.sha256}
        audit.write(rows, client.me["organisation"], "x", "report.made", names["report"], **made)
    return names


def log(core: Core, action: str) -> list[tuple[str, str, dict[str, Any]]]:
    return [(e.actor, e.subject, e.details) for e in stored(core, Audit, action=action)]


def is_intact(core: Core) -> bool:
    with core.store.read() as rows:
        return all(not chain.faults for chain in verify_all(core, rows))


def approves(client: Client, report: str, act: str = "approval") -> str:
    return str(client.signs(report, act).json().get("title", "signed"))
