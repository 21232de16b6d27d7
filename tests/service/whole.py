"""Whether a service that was killed has lost, doubled or broken anything; for tests and benchmarks."""

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from services import PASSWORD, new_core
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import accounts, secrets
from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.storage.models import (
    Audit,
    Job,
    ReportFile,
    StoredReport,
    Token,
    Version,
    VersionFile,
)
from trustreport.service.storage.store import now


@dataclass(frozen=True, slots=True)
class State:
    """What is stored, and everything that is not as it should be."""

    versions: int
    jobs: int
    at_work: int  # jobs that are running
    reports: int
    entries: int  # of the audit log
    faults: tuple[str, ...]


def token_of_a_first_user(data: Path, address: str) -> str:
    """An API token that may read and write, in a new service."""
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


def look(core: Core, versions: Iterable[str], jobs: Iterable[str], *, ended: bool = False) -> State:
    """Hold what is stored against what the service had accepted.

    Parameters
    ----------
    versions, jobs : names that the service had answered with, noted before this call
    ended : whether every job should be done by now
    """
    with core.store.read() as rows:
        known = {version.id for version in rows.scalars(select(Version))}
        all_jobs = {job.id: job for job in rows.scalars(select(Job))}
        reports = rows.scalars(select(StoredReport)).all()
        chains = list(audit.verify(rows))
        faults = [f"version {name} is lost" for name in versions if name not in known]
        faults += [f"job {name} is lost" for name in jobs if name not in all_jobs]
        faults += _stored_once(rows, all_jobs, reports)
        faults += _files(core, rows)
        faults += [f"audit log: {fault}" for chain in chains for fault in chain.faults]
        if ended:
            faults += [f"job {job.id} is {job.state}" for job in all_jobs.values() if job.state != "done"]
    at_work = sum(job.state == "running" for job in all_jobs.values())
    entries = sum(chain.entries for chain in chains)
    return State(len(known), len(all_jobs), at_work, len(reports), entries, tuple(faults))


def _stored_once(rows: Rows, jobs: dict[str, Job], reports: Iterable[StoredReport]) -> Iterator[str]:
    """A report for each job that is done and for no other; one end of each job in the log."""
    stored = Counter(report.job for report in reports)
    ends = Counter(rows.scalars(select(Audit.subject).where(Audit.action == "job.done")))
    for job in jobs.values():
        is_done = job.state == "done"
        if stored[job.id] != (is_done and job.task == "report"):
            yield f"{job.task} job {job.id} is {job.state} and has {stored[job.id]} reports"
        if ends[job.id] != is_done:
            yield f"job {job.id} is {job.state} and has {ends[job.id]} ends in the log"


def _files(core: Core, rows: Rows) -> Iterator[str]:
    """Every file that a row names, with its content."""
    named = {
        (file.organisation, file.sha256, file.size)
        for model in (VersionFile, ReportFile)
        for file in rows.scalars(select(model))
    }

    def fault(file: tuple[str, str, int]) -> str | None:
        organisation, digest, size = file
        try:
            content = core.blobs.read(organisation, digest)
        except FileNotFoundError:
            return f"file {digest} is lost"
        is_kept = len(content) == size and sha256(content).hexdigest() == digest
        return None if is_kept else f"file {digest} is not what was kept"

    with ThreadPoolExecutor(8) as pool:  # a bucket takes its time for each
        yield from filter(None, pool.map(fault, sorted(named)))
