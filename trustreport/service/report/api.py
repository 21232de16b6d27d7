"""Reports, their results and files. None of them ever changes."""

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response, StreamingResponse
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.guard import Admin, Reader, TheCore
from trustreport.service.client import operations as op
from trustreport.service.client.records import FileResponse, ReportResponse
from trustreport.service.core import Core
from trustreport.service.pages import filters
from trustreport.service.pages.blob_responses import send_blob
from trustreport.service.record import removal
from trustreport.service.storage.blobs import Blobs
from trustreport.service.storage.models import Attestation, ReportFile, StoredReport
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name, Page, RequestedPage, serves
from trustreport.vocabulary.messages import say

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

router = APIRouter(prefix="/reports", tags=["reports"])


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """A file of the zip: its name, and its content or the hash under which it is kept."""

    name: str
    content: bytes | str


@serves(router, op.REPORTS)
def reports(who: Reader, core: TheCore, turn: RequestedPage, wanted: filters.Reports) -> Page[ReportResponse]:
    """All reports, or those that are wanted; `reviewer=me` are those whose review one was asked for."""
    query = wanted.apply(who.rows_of(StoredReport), who, core.store.is_sqlite)
    with core.store.read() as rows:
        return turn.rows(rows, query, StoredReport.id, ReportResponse.of_row)


@serves(router, op.REPORT)
def get_report(report: Name, who: Reader, core: TheCore) -> ReportResponse:
    """One report."""
    with core.store.read() as rows:
        return ReportResponse.of_row(who.row_of(rows, StoredReport, report))


@router.delete("/{report}", status_code=204)
def remove(report: Name, who: Admin, core: TheCore) -> None:
    """Remove a report with its statements, comments and links; for 30 days it can be restored."""
    with core.store.write() as rows:
        removal.remove_report(rows, who, who.row_of(rows, StoredReport, report))


@serves(router, op.RESULTS)
def results(report: Name, who: Reader, core: TheCore, request: Request) -> Response:
    """The machine-readable results, `results.json`."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredReport, report)
    return send_blob(core, request, who.organisation, row.results_sha256, "results.json", ours=True)


@router.get("/{report}/zip", response_class=Response)
def as_zip(report: Name, who: Reader, core: TheCore) -> Response:
    """The report as one zip: all files, signed statements, and what verifying it needs."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredReport, report)
        return send_zip(core, row, entries(core, rows, row))


def send_zip(core: Core, report: StoredReport, found: list[ZipEntry]) -> Response:
    """A zip, sent while it is made."""
    named = {"Content-Disposition": f'attachment; filename="report-{report.id[-8:]}.zip"'}
    blocks = zip_of(core.blobs, report.organisation, found)
    return StreamingResponse(blocks, media_type="application/zip", headers=named)


@serves(router, op.REPORT_FILES)
def files(report: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[FileResponse]:
    """The files of a report."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredReport, report)
        query = select(ReportFile).where(ReportFile.report == row.id)
        return turn.rows(rows, query, ReportFile.name, FileResponse.of_row)


@serves(router, op.REPORT_FILE)
def file(
    report: Name, name: Annotated[str, Path(max_length=250)], who: Reader, core: TheCore, request: Request
) -> Response:
    """A file of a report: report.html, report.pdf, results.json, a figure."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredReport, report)
        kept = None if "\x00" in name else rows.get(ReportFile, (row.id, name))
    if kept is None:
        raise Fault(404, say("pages.fault.not_found.report_no"))
    return send_blob(core, request, who.organisation, kept.sha256, kept.name, ours=True)


FOLDER = "report/"
BLOCK = 1 << 18
READ_ME = """\
report/      the report, its annex, results.json, the hashes of all files, and what was signed:
             a statement (JSON) and its signature (64 bytes, Ed25519) for each review, approval or rejection
signers.pem  the public key of the service that signed. It comes with the report, so it proves nothing by
             itself: compare it with the one that the service's operator gives you

    pip install 'trustreport[sign]'
    trustreport verify report --signers signers.pem
"""


def entries(core: Core, rows: Rows, report: StoredReport) -> list[ZipEntry]:
    """What the zip of a report holds, sorted by name.

    Raises
    ------
    Fault : a file has been removed
    """
    blobs, organisation = core.blobs, report.organisation
    files = rows.scalars(select(ReportFile).where(ReportFile.report == report.id)).all()
    found = [ZipEntry(FOLDER + f.name, f.sha256) for f in files]
    query = select(Attestation).where(Attestation.report == report.id).order_by(Attestation.id)
    given: dict[str, int] = {}
    for row in rows.scalars(query):
        given[row.act] = n = given.get(row.act, 0) + 1
        name = f"{FOLDER}{row.act}{f'-{n}' if n > 1 else ''}.json"
        found.append(ZipEntry(name, row.sha256))
        found.append(ZipEntry(f"{name}.sig", base64.b64decode(row.signature)))
    if given:
        found.append(ZipEntry("signers.pem", f"trustreport service\n{core.signer.public_pem}".encode()))
    found.append(ZipEntry("README.txt", READ_ME.encode()))
    hashes = {entry.content for entry in found if isinstance(entry.content, str)}
    if any(blobs.size(organisation, sha256) is None for sha256 in hashes):
        raise Fault(404, say("pages.fault.not_found.file"))
    return sorted(found, key=lambda entry: entry.name)


def zip_of(blobs: Blobs, organisation: str, found: list[ZipEntry]) -> Iterator[bytes]:
    """The bytes of the zip, block by block."""
    out = _Passing()
    with ZipFile(out, "w", ZIP_STORED) as archive:
        for entry in found:
            info = ZipInfo(entry.name, (1980, 1, 1, 0, 0, 0))
            info.external_attr, info.create_system = 0o644 << 16, 3
            content = entry.content
            opened = blobs.open(organisation, content) if isinstance(content, str) else io.BytesIO(content)
            with opened as stream, archive.open(info, "w") as target:
                while block := stream.read(BLOCK):
                    target.write(block)
                    yield out.taken()
    yield out.taken()


class _Passing(io.RawIOBase):
    """Takes what is written, to be passed on; it cannot go back, so the zip says sizes behind its files."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int:
        self._blocks.append(bytes(data))
        return len(self._blocks[-1])

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        blocks, self._blocks = self._blocks, []
        return b"".join(blocks)
