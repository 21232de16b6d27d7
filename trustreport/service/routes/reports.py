"""Reports, their results and files. None of them ever changes."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response, StreamingResponse
from sqlalchemy import select

from trustreport.service.core import Core
from trustreport.service.record import report_zip
from trustreport.service.routes import filters
from trustreport.service.routes.blob_responses import send_blob
from trustreport.service.routes.pagination import Name, Page, RequestedPage
from trustreport.service.routes.shapes import ResponseBody, moment
from trustreport.service.routes.versions import FileResponse
from trustreport.service.storage.models import ReportFile, StoredReport
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import Reader, TheCore
from trustreport.vocabulary.messages import say

router = APIRouter(prefix="/reports", tags=["reports"])


class ReportResponse(ResponseBody):
    id: str
    study: str
    version: str
    device: str | None
    job: str
    kind: str
    code: str
    facts: dict[str, Any]
    results_sha256: str
    created_by: str
    created_at: datetime


@router.get("")
def reports(who: Reader, core: TheCore, turn: RequestedPage, wanted: filters.Reports) -> Page[ReportResponse]:
    """All reports, or those that are wanted; `reviewer=me` are those whose review one was asked for."""
    query = wanted.apply(who.all(StoredReport), who, core.store.is_sqlite)
    with core.store.read() as rows:
        return turn.rows(rows, query, StoredReport.id, to_response)


@router.get("/{report}")
def get_report(report: Name, who: Reader, core: TheCore) -> ReportResponse:
    """One report."""
    with core.store.read() as rows:
        return to_response(who.one(rows, StoredReport, report))


@router.get("/{report}/results", response_class=Response)
def results(report: Name, who: Reader, core: TheCore, request: Request) -> Response:
    """The machine-readable results, `results.json`."""
    with core.store.read() as rows:
        row = who.one(rows, StoredReport, report)
    return send_blob(core, request, who.organisation, row.results_sha256, "results.json", ours=True)


@router.get("/{report}/zip", response_class=Response)
def as_zip(report: Name, who: Reader, core: TheCore) -> Response:
    """The report as one zip: all files, signed statements, and what verifying it needs."""
    with core.store.read() as rows:
        row = who.one(rows, StoredReport, report)
        return send_zip(core, row, report_zip.entries(core, rows, row))


def send_zip(core: Core, report: StoredReport, found: list[report_zip.ZipEntry]) -> Response:
    """A zip, sent while it is made."""
    named = {"Content-Disposition": f'attachment; filename="report-{report.id[-8:]}.zip"'}
    blocks = report_zip.zip_of(core.blobs, report.organisation, found)
    return StreamingResponse(blocks, media_type="application/zip", headers=named)


@router.get("/{report}/files")
def files(report: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[FileResponse]:
    """The files of a report."""
    with core.store.read() as rows:
        row = who.one(rows, StoredReport, report)
        query = select(ReportFile).where(ReportFile.report == row.id)
        return turn.rows(
            rows, query, ReportFile.name, lambda f: FileResponse(name=f.name, sha256=f.sha256, size=f.size)
        )


@router.get("/{report}/files/{name:path}", response_class=Response)
def file(
    report: Name, name: Annotated[str, Path(max_length=250)], who: Reader, core: TheCore, request: Request
) -> Response:
    """A file of a report: report.html, report.pdf, results.json, a figure."""
    with core.store.read() as rows:
        row = who.one(rows, StoredReport, report)
        kept = None if "\x00" in name else rows.get(ReportFile, (row.id, name))
    if kept is None:
        raise Fault(404, say("pages.fault.not_found.title"), say("pages.fault.not_found.report_no"))
    return send_blob(core, request, who.organisation, kept.sha256, kept.name, ours=True)


def to_response(row: StoredReport) -> ReportResponse:
    """A report as the API says it."""
    return ReportResponse(
        id=row.id,
        study=row.study,
        version=row.version,
        device=row.device,
        job=row.job,
        kind=row.kind,
        code=row.code,
        facts=row.facts,
        results_sha256=row.results_sha256,
        created_by=row.created_by,
        created_at=moment(row.created_at),
    )
