"""The register of looks of a service: reports that were made of the same locked data, in one organisation.

Nothing is stored for it but what a report says of its own look (`facts`), so that it goes with the report.
The limited process chains the looks as the file beside a lock has them, after those that were uploaded.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service.storage.models import Job, StoredReport, StoredStudy, Version, VersionFile


def looks_before(rows: Rows, job: Job) -> dict[str, Any]:
    """What the task of a report needs: earlier looks, and day and purpose of its own.

    A version that is reported again, in another format or by later code, is the same look as the first time:
    looks after that one are no earlier ones.
    """
    here = select(VersionFile.sha256).where(VersionFile.version == job.version)
    versions = select(VersionFile.version).where(
        VersionFile.organisation == job.organisation, VersionFile.sha256.in_(here)
    )
    reports = (
        select(StoredReport.version, StoredReport.facts)
        .where(StoredReport.organisation == job.organisation, StoredReport.version.in_(versions))
        .order_by(StoredReport.created_at, StoredReport.id)
    )
    earlier: list[dict[str, Any]] = []
    own: dict[str, Any] = {}
    for version, facts in rows.execute(reports):
        if look := facts.get("look"):
            if version == job.version:
                own = look
                break
            earlier.append(look)
    version, study = rows.get_one(Version, job.version), rows.get_one(StoredStudy, job.study)
    day = datetime.fromtimestamp(job.created_at / 1000, UTC).date().isoformat()
    purpose = f"{study.name}, version {version.number}"
    return {"earlier": earlier, "on": own.get("on", day), "purpose": own.get("purpose", purpose)}
