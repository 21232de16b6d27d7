"""One report for whoever has a link to it, without an account, until the link expires or is revoked."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import secrets
from trustreport.service.core import Core
from trustreport.service.pages.render import page
from trustreport.service.pages.reports import DOCUMENT, LEADING, in_its_frame
from trustreport.service.record import report_zip
from trustreport.service.routes.blob_responses import send_blob
from trustreport.service.routes.reports import send_zip
from trustreport.service.storage.collaboration import StoredShare
from trustreport.service.storage.models import Attestation, Organisation, ReportFile, StoredReport, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import TheCore, anybody

PREFIX = "/shared/"  # what follows is the credential: whoever has it needs no session

router = APIRouter(prefix=f"{PREFIX}{{secret}}", dependencies=[Depends(anybody)])
Secret = Annotated[str, Path(max_length=100)]
HIDDEN = {"X-Robots-Tag": "noindex, nofollow, noarchive", "Cache-Control": "no-store"}
ACTOR = "link"


@router.get("")
def shared(secret: Secret, request: Request, core: TheCore) -> Response:
    """The report."""
    with core.store.write() as rows:
        share = _valid(core, rows, secret)
        share.uses, share.used_at = share.uses + 1, now(rows)
        audit.write(rows, share.organisation, ACTOR, "share.open", share.id, report=share.report)
    with core.store.read() as rows:
        report = rows.get_one(StoredReport, share.report)
        files = rows.scalars(select(ReportFile).where(ReportFile.report == report.id)).all()
        signed = select(Attestation.act).where(Attestation.report == report.id)
        by_name = {file.name: file for file in files}
        answer = page(
            request,
            "shared",
            report=report,
            organisation=rows.get_one(Organisation, share.organisation).name,
            expires_at=share.expires_at,
            signed=frozenset(rows.scalars(signed)),
            leading=[by_name[name] for name in LEADING if name in by_name],
            has_document=DOCUMENT in by_name,
            address=f"/shared/{secret}",
        )
    answer.headers.update(HIDDEN)
    return answer


@router.get("/document")
def document(secret: Secret, request: Request, core: TheCore) -> Response:
    """The report itself, for the frame in its page."""
    answer = in_its_frame(_file(core, request, secret, DOCUMENT, log=False))
    answer.headers.update(HIDDEN)
    return answer


@router.get("/zip")
def as_zip(secret: Secret, core: TheCore) -> Response:
    """The report as one zip."""
    with core.store.write() as rows:
        share = _valid(core, rows, secret)
        audit.write(rows, share.organisation, ACTOR, "share.take", share.id, report=share.report)
        report = rows.get_one(StoredReport, share.report)
        answer = send_zip(core, report, report_zip.entries(core, rows, report))
    answer.headers.update(HIDDEN)
    return answer


@router.get("/files/{name:path}")
def file(
    secret: Secret, name: Annotated[str, Path(max_length=250)], request: Request, core: TheCore
) -> Response:
    """A file of the report."""
    answer = _file(core, request, secret, name, log=True)
    answer.headers.update(HIDDEN)
    return answer


def _valid(core: Core, rows: Rows, secret: str) -> StoredShare:
    """The link of a secret, counted; refuses all others in the same words."""
    query = select(StoredShare).where(StoredShare.hash == secrets.fingerprint(secret))
    share = rows.scalar(query.with_for_update())
    maker = rows.get(User, share.created_by) if share else None
    closed = maker is None or maker.disabled_at is not None
    if share is None or closed or share.revoked_at is not None or share.expires_at < now(rows):
        raise Fault(404, "Not found", "This link is unknown, has expired, or was revoked.", headers=HIDDEN)
    core.throttle.request(f"share {share.id}")
    return share


def _file(core: Core, request: Request, secret: str, name: str, *, log: bool) -> Response:
    with core.store.write() as rows:
        share = _valid(core, rows, secret)
        kept = None if "\x00" in name else rows.get(ReportFile, (share.report, name))
        if kept is None:
            raise Fault(404, "Not found", "The report has no file of this name.", headers=HIDDEN)
        if log:
            said = {"report": share.report, "sha256": kept.sha256}
            audit.write(rows, share.organisation, ACTOR, "share.take", share.id, **said)
    return send_blob(core, request, share.organisation, kept.sha256, kept.name, ours=True)
