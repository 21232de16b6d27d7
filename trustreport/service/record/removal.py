"""Studies and reports that were removed: hidden for 30 days, in which they can be restored; then deleted."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access.principal import Principal
from trustreport.service.record import retention
from trustreport.service.storage.hidden import with_removed
from trustreport.service.storage.models import Job, StoredReport, StoredStudy
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

KEPT = 30 * retention.DAY
KINDS: tuple[type[StoredStudy] | type[StoredReport], ...] = (StoredReport, StoredStudy)
GONE = "removed"  # the state of a job whose report was: another one may make it again


@dataclass(frozen=True, slots=True)
class RemovedRow:
    """A study or report that can be restored until a moment (milliseconds since 1970)."""

    kind: Literal["study", "report"]
    id: str
    name: str
    removed_at: int
    removed_by: str
    until: int


def remove_study(rows: Rows, who: Principal, study: StoredStudy) -> None:
    """Hide a study with all that was made of it."""
    if retention.is_busy(rows, study.id):
        raise Fault(409, say("pages.fault.busy.job"))
    study.removed_at, study.removed_by = now(rows), who.user
    until = study.removed_at + KEPT
    who.audit(rows, "study.remove", study.id, until=until, **retention.tombstone_of(rows, study))


def remove_report(rows: Rows, who: Principal, report: StoredReport) -> None:
    """Hide a report with its statements, comments and links; it can be made anew."""
    job = rows.get_one(Job, report.job)
    job.state = GONE
    report.removed_at, report.removed_by = now(rows), who.user
    until, sha256 = report.removed_at + KEPT, report.results_sha256
    who.audit(rows, "report.remove", report.id, until=until, study=report.study, results_sha256=sha256)


def removed_rows(rows: Rows, who: Principal) -> list[RemovedRow]:
    """What can be restored, the latest removal first."""
    with with_removed(rows):
        studies = rows.scalars(who.rows_of(StoredStudy).where(StoredStudy.removed_at.is_not(None))).all()
        found = [_row("study", one, one.name) for one in studies]
        reports = who.rows_of(StoredReport).where(StoredReport.removed_at.is_not(None))
        found += [_row("report", one, one.facts.get("title", "")) for one in rows.scalars(reports)]
    return sorted(found, key=lambda one: -one.removed_at)


def restore(rows: Rows, who: Principal, name: str) -> str:
    """Show a study or report again; where it is."""
    with with_removed(rows):
        row = _removed(rows, who, name)
        kind = "study" if isinstance(row, StoredStudy) else "report"
        if isinstance(row, StoredReport):
            if rows.get_one(StoredStudy, row.study).removed_at:
                raise Fault(409, say("pages.fault.study_removed.detail"))
            job = rows.get_one(Job, row.job)
            live = select(Job.id).where(Job.key == job.key, Job.state.in_(("queued", "running", "done")))
            job.state = "cancelled" if rows.scalar(live.limit(1)) else "done"
        row.removed_at = row.removed_by = None
        who.audit(rows, f"{kind}.restore", row.id)
    return f"/{'studies' if kind == 'study' else 'reports'}/{name}"


def delete(rows: Rows, who: Principal, name: str) -> None:
    """Delete for good, before its time, what was removed."""
    with with_removed(rows):
        _delete(rows, _removed(rows, who, name), who.user)


def delete_old(rows: Rows, organisation: str, actor: str) -> None:
    """Delete what nobody has restored in time."""
    with with_removed(rows):
        for model in KINDS:
            old = select(model).where(
                model.organisation == organisation, model.removed_at < now(rows) - KEPT
            )
            for row in rows.scalars(old).all():
                _delete(rows, row, actor)


def _row(kind: Literal["study", "report"], row: Any, name: str) -> RemovedRow:
    return RemovedRow(kind, row.id, name, row.removed_at, row.removed_by or "", row.removed_at + KEPT)


def _removed(rows: Rows, who: Principal, name: str) -> StoredStudy | StoredReport:
    for model in KINDS:
        query = who.rows_of(model).where(model.id == name, model.removed_at.is_not(None))
        if (row := rows.scalar(query.with_for_update())) is not None:
            return row
    raise Fault(404, say("pages.fault.not_found.removed"))


def _delete(rows: Rows, row: Any, actor: str) -> None:
    if isinstance(row, StoredStudy):
        retention.remove(rows, row, actor, action="study.delete")
        return
    retention.delete_reports(rows, row.organisation, [row])
    rows.flush()
    said = {"study": row.study, "results_sha256": row.results_sha256}
    audit.write(rows, row.organisation, actor, "report.delete", row.id, **said)
