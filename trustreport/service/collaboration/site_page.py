"""What an invited site sees, without an account: lock and manifest to take, and where its file is uploaded.

The secret of a link is in no address that is sent: a form brings it, and a cookie keeps it for this site.
"""

import re

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows
from starlette.types import Scope

from trustreport.service import audit
from trustreport.service.access import secrets
from trustreport.service.access.guard import TheCore, anybody
from trustreport.service.collaboration.api import handed_out
from trustreport.service.collaboration.sites import (
    ACTOR,
    MOST_BYTES,
    fingerprint,
    latest_uploads,
    store_site_file,
)
from trustreport.service.core import Core
from trustreport.service.ids import ALPHABET, LENGTH
from trustreport.service.pages.blob_responses import send_blob
from trustreport.service.pages.page_context import SentByAnyone, attempt, link_secret, noted, see, text
from trustreport.service.pages.render import page
from trustreport.service.report.shared_page import HIDDEN
from trustreport.service.storage.models import Organisation, User
from trustreport.service.storage.pooling import InvitedSite, StoredCollaboration
from trustreport.service.storage.store import now
from trustreport.service.version.page import sent_files
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.version import __version__

PREFIX = "/site/"  # what follows names a site, whose secret is in a cookie
COOKIE = "__Host-trustreport-site-"  # and the site's name: one for each that was opened
UPLOAD = re.compile(rf"/site/([{ALPHABET}]{{{LENGTH}}})/file")
MOST_BODY = MOST_BYTES + 100_000  # bytes of the form that brings a file
TO_MAKE_KEY = """openssl genpkey -algorithm ed25519 -out key.pem
openssl pkey -in key.pem -pubout -out public.pem"""
TO_MAKE_FILE = """pip install trustreport=={version}
trustreport site . -o "{site}.site.json" --site "{site}" --key key.pem"""

router = APIRouter(prefix="/site", dependencies=[Depends(anybody)])


@router.get("")
def opening(request: Request) -> Response:
    """The form that takes the secret out of the link's address."""
    return _hidden(page(request, "site_open"))


@router.post("")
def open_link(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Take the secret of a link, and lead to the page of its site."""
    secret = link_secret(form)
    with core.store.write() as rows:
        site = _working(core, rows, secret)
        if site.opened_at is None:
            site.opened_at = now(rows)
        audit.write(rows, site.organisation, ACTOR, "site.open", site.id)
    answer = see(f"{PREFIX}{site.id}")
    answer.set_cookie(COOKIE + site.id, secret, secure=True, httponly=True, samesite="strict", path="/")
    return _hidden(answer)


@router.get("/{invited_site}/files/{name}")
def file(invited_site: Name, name: str, request: Request, core: TheCore) -> Response:
    """The lock or the manifest."""
    with core.store.write() as rows:
        site = _opened(core, rows, request, invited_site)
        version = rows.get_one(StoredCollaboration, site.collaboration).version
        kept = handed_out(rows, version).get(name)
        if kept is None:
            raise Fault(404, say("pages.fault.not_found.version_no"), headers=HIDDEN)
        audit.write(rows, site.organisation, ACTOR, "site.take", site.id, sha256=kept.sha256)
    return _hidden(send_blob(core, request, site.organisation, kept.sha256, kept.name, ours=False))


@router.post("/{invited_site}/file")
def upload(invited_site: Name, request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """The file of the site, verified at once."""
    with core.store.read() as rows:
        site = _opened(core, rows, request, invited_site)

    def taken() -> Response:
        files = sent_files(form, "files")
        if len(files) != 1:
            raise Fault(422, say("pages.fault.no_file_came.one_file"))
        store_site_file(core, site.id, files[0].file, text(form, "key"))
        return see(f"{PREFIX}{site.id}?done=site_file")

    again = attempt(taken, lambda fault: _show(noted(request, form, fault), core, invited_site))
    return _hidden(again)


def may_upload(core: Core, scope: Scope) -> bool:
    """Whether a request brings a file with the cookie of a site whose link works; its body is not read."""
    found = UPLOAD.fullmatch(scope["path"])
    if found is None or scope["method"] != "POST":
        return False
    secret = Request(scope).cookies.get(COOKIE + found[1], "")
    with core.store.read() as rows:
        site = _of_secret(rows, secret)
        return site is not None and site.id == found[1]


def is_site_upload(method: str, path: str) -> bool:
    """Whether a request may bring the file of a site, which is larger than other requests of strangers."""
    return method == "POST" and UPLOAD.fullmatch(path) is not None


async def is_invited(core: Core, scope: Scope) -> bool:
    """`may_upload`, in a thread."""
    return await run_in_threadpool(may_upload, core, scope)


@router.get("/{invited_site}")
def _show(
    request: Request,
    core: TheCore,
    invited_site: Name,
) -> Response:
    """What the site is asked for, and what it has uploaded."""
    with core.store.read() as rows:
        site = _opened(core, rows, request, invited_site)
        row = rows.get_one(StoredCollaboration, site.collaboration)
        answer = page(
            request,
            "site",
            site=site,
            collaboration=row,
            organisation=rows.get_one(Organisation, site.organisation).name,
            files=sorted(handed_out(rows, row.version).values(), key=lambda one: one.name),
            uploads=latest_uploads(rows, [site.id])[site.id][:20],
            fingerprint=fingerprint,
            trustreport=__version__,
            to_make_key=TO_MAKE_KEY,
            to_make_file=TO_MAKE_FILE.format(version=__version__, site=site.name),
            address=f"{PREFIX}{site.id}",
            most=MOST_BYTES,
        )
    return _hidden(answer)


def _hidden(answer: Response) -> Response:
    answer.headers.update(HIDDEN)
    return answer


def _opened(core: Core, rows: Rows, request: Request, name: str) -> InvitedSite:
    """The site whose link this browser has opened, counted."""
    site = _working(core, rows, request.cookies.get(COOKIE + name, ""))
    if site.id != name:
        raise Fault(404, say("pages.fault.not_found.link"), headers=HIDDEN)
    return site


def _working(core: Core, rows: Rows, secret: str) -> InvitedSite:
    """The site of a link that can be used, counted; refuses all others in the same words."""
    site = _of_secret(rows, secret)
    if site is None:
        raise Fault(404, say("pages.fault.not_found.link"), headers=HIDDEN)
    core.throttle.request(f"site {site.id}")
    return site


def _of_secret(rows: Rows, secret: str) -> InvitedSite | None:
    site = rows.scalar(select(InvitedSite).where(InvitedSite.hash == secrets.fingerprint(secret)))
    maker = rows.get(User, site.created_by) if site else None
    closed = maker is None or maker.disabled_at is not None
    return None if site is None or closed or site.expires_at < now(rows) else site
