"""What a finished job leaves in the database, in the transaction that ends it."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.ids import new_id
from trustreport.service.intake import digest
from trustreport.service.jobs import queue
from trustreport.service.storage.models import (
    Job,
    ReportFile,
    StoredDevice,
    StoredReport,
    Version,
    VersionFile,
)
from trustreport.service.storage.store import now

StoredFiles = Mapping[str, tuple[str, int]]  # by name: hash and size


def store_check(rows: Rows, job: Job, answer: Mapping[str, Any], kept: StoredFiles) -> None:
    """Say of a version what its check found, and list what its archive held."""
    version = rows.get_one(Version, job.version)
    version.problems = answer["problems"]
    version.state = "invalid" if version.problems else "valid"
    version.facts = answer.get("facts", {})
    version.tables = answer.get("tables", {})
    version.criteria = answer.get("criteria", {})
    version.checked_at = now(rows)
    if answer["unpacked"]:
        rows.execute(delete(VersionFile).where(VersionFile.version == version.id))
        rows.add_all(
            VersionFile(
                version=version.id,
                name=name,
                organisation=job.organisation,
                sha256=sha256,
                size=size,
                archive=False,
            )
            for name, (sha256, size) in kept.items()
        )
        version.digest = digest((name, sha256) for name, (sha256, _) in kept.items())
    if version.state == "valid":
        version.device = _device(rows, job, answer["device"])
    queue.end(rows, job, "done")
    audit.write(
        rows,
        job.organisation,
        job.worker,
        f"version.{version.state}",
        version.id,
        digest=version.digest,
        problems=len(version.problems),
    )


def store_report(rows: Rows, job: Job, answer: Mapping[str, Any], kept: StoredFiles) -> None:
    """The report of a job, with its files."""
    report = StoredReport(
        id=new_id(),
        organisation=job.organisation,
        study=job.study,
        version=job.version,
        device=_device(rows, job, answer["device"]),
        job=job.id,
        kind=answer["facts"]["kind"],
        code=job.code,
        facts=answer["facts"],
        results_sha256=kept["results.json"][0],
        created_by=job.created_by,
        created_at=now(rows),
    )
    rows.add(report)
    rows.flush()
    rows.add_all(
        ReportFile(report=report.id, name=name, organisation=job.organisation, sha256=sha256, size=size)
        for name, (sha256, size) in kept.items()
    )
    job.report = report.id
    queue.end(rows, job, "done", answer["lacking"])
    audit.write(
        rows,
        job.organisation,
        job.worker,
        "report.made",
        report.id,
        job=job.id,
        version=job.version,
        results_sha256=report.results_sha256,
    )
    if alerts := report.facts.get("alerts"):
        audit.write(rows, job.organisation, job.worker, "report.alert", report.id, charts=alerts)


def _device(rows: Rows, job: Job, named: Mapping[str, str] | None) -> str | None:
    """The row of a device, made when it is first met."""
    if named is None:
        return None
    of_key = select(StoredDevice).where(
        StoredDevice.organisation == job.organisation, StoredDevice.key == named["key"]
    )
    device = rows.scalar(of_key)
    if device is None:
        try:
            with rows.begin_nested():
                device = StoredDevice(
                    id=new_id(), organisation=job.organisation, created_at=now(rows), **named
                )
                rows.add(device)
        except IntegrityError:  # another worker met it at the same time
            device = rows.scalars(of_key).one()
    return device.same_as or device.id
