"""One report for whoever has a link to it, without an account, until the link expires or is revoked.

The secret of a link is in no address that is sent: a form brings it, and a cookie keeps it for this report.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import secrets
from trustreport.service.access.guard import TheCore, anybody
from trustreport.service.core import Core
from trustreport.service.pages.blob_responses import send_blob
from trustreport.service.pages.page_context import SentByAnyone, link_secret, see
from trustreport.service.pages.render import page
from trustreport.service.report import api as report_zip
from trustreport.service.report.api import send_zip
from trustreport.service.report.page import DOCUMENT, LEADING, in_its_frame
from trustreport.service.review.attestations import known_alone
from trustreport.service.storage.collaboration import StoredShare
from trustreport.service.storage.models import Attestation, Organisation, ReportFile, StoredReport, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say

PREFIX = "/shared/"  # what follows names a link, whose secret is in a cookie: whoever has it needs no session
COOKIE = "__Host-trustreport-share-"  # and the link's name: one for each that was opened

router = APIRouter(prefix="/shared", dependencies=[Depends(anybody)])
HIDDEN = {"X-Robots-Tag": "noindex, nofollow, noarchive", "Cache-Control": "no-store"}
ACTOR = "link"
GONE = say("pages.fault.not_found.link")


@router.get("")
def opening(request: Request) -> Response:
    """The form that takes the secret out of the link's address."""
    answer = page(request, "shared_open")
    answer.headers.update(HIDDEN)
    return answer


@router.post("")
def open_link(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Take the secret of a link, and lead to its report."""
    secret = link_secret(form)
    with core.store.write() as rows:
        query = select(StoredShare).where(StoredShare.hash == secrets.fingerprint(secret))
        share = _working(core, rows, rows.scalar(query))
    answer = see(f"{PREFIX}{share.id}")
    answer.set_cookie(COOKIE + share.id, secret, secure=True, httponly=True, samesite="strict", path="/")
    answer.headers.update(HIDDEN)
    return answer


@router.get("/{share}")
def shared(share: Name, request: Request, core: TheCore) -> Response:
    """The report."""
    with core.store.write() as rows:
        row = _opened(core, rows, request, share)
        row.uses, row.used_at = row.uses + 1, now(rows)
        audit.write(rows, row.organisation, ACTOR, "share.open", row.id, report=row.report)
    with core.store.read() as rows:
        report = rows.get_one(StoredReport, row.report)
        files = rows.scalars(select(ReportFile).where(ReportFile.report == report.id)).all()
        signatures = rows.scalars(select(Attestation).where(Attestation.report == report.id)).all()
        by_name = {file.name: file for file in files}
        answer = page(
            request,
            "shared",
            report=report,
            organisation=rows.get_one(Organisation, row.organisation).name,
            expires_at=row.expires_at,
            signed=frozenset(s.act for s in signatures),
            alone=any(known_alone(core, s) for s in signatures if s.act != "rejection"),
            leading=[by_name[name] for name in LEADING if name in by_name],
            has_document=DOCUMENT in by_name,
            address=f"{PREFIX}{row.id}",
        )
    answer.headers.update(HIDDEN)
    return answer


@router.get("/{share}/document")
def document(share: Name, request: Request, core: TheCore) -> Response:
    """The report itself, for the frame in its page."""
    answer = in_its_frame(_file(core, request, share, DOCUMENT, log=False))
    answer.headers.update(HIDDEN)
    return answer


@router.get("/{share}/zip")
def as_zip(share: Name, request: Request, core: TheCore) -> Response:
    """The report as one zip."""
    with core.store.write() as rows:
        row = _opened(core, rows, request, share)
        audit.write(rows, row.organisation, ACTOR, "share.take", row.id, report=row.report)
        report = rows.get_one(StoredReport, row.report)
        answer = send_zip(core, report, report_zip.entries(core, rows, report))
    answer.headers.update(HIDDEN)
    return answer


@router.get("/{share}/files/{name:path}")
def file(
    share: Name, name: Annotated[str, Path(max_length=250)], request: Request, core: TheCore
) -> Response:
    """A file of the report."""
    answer = _file(core, request, share, name, log=True)
    answer.headers.update(HIDDEN)
    return answer


def _opened(core: Core, rows: Rows, request: Request, name: str) -> StoredShare:
    """The link that this browser has opened, counted."""
    secret = request.cookies.get(COOKIE + name, "")
    query = select(StoredShare).where(StoredShare.id == name, StoredShare.hash == secrets.fingerprint(secret))
    return _working(core, rows, rows.scalar(query.with_for_update()))


def _working(core: Core, rows: Rows, share: StoredShare | None) -> StoredShare:
    """A link that can be used, counted; refuses all others in the same words."""
    maker = rows.get(User, share.created_by) if share else None
    closed = maker is None or maker.disabled_at is not None
    if share is None or closed or share.revoked_at is not None or share.expires_at < now(rows):
        raise Fault(404, GONE, headers=HIDDEN)
    core.throttle.request(f"share {share.id}")
    return share


def _file(core: Core, request: Request, share_name: str, name: str, *, log: bool) -> Response:
    with core.store.write() as rows:
        share = _opened(core, rows, request, share_name)
        kept = None if "\x00" in name else rows.get(ReportFile, (share.report, name))
        if kept is None:
            raise Fault(404, say("pages.fault.not_found.report_no"), headers=HIDDEN)
        if log:
            said = {"report": share.report, "sha256": kept.sha256}
            audit.write(rows, share.organisation, ACTOR, "share.take", share.id, **said)
    return send_blob(core, request, share.organisation, kept.sha256, kept.name, ours=True)
