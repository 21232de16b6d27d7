"""Collaborations: what a coordinator asks of sites, whom they invite, and the pool of what came."""

import io
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import AfterValidator, StringConstraints
from pydantic import Field as described
from sqlalchemy import Select, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import intake, mail
from trustreport.service.access.guard import Author, Reader, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.bounds import refuse_upload
from trustreport.service.client.records import ResponseBody, VersionResponse
from trustreport.service.collaboration.sites import (
    ACCEPTED,
    UPLOADED,
    decoded,
    fingerprint,
    key_taken,
    latest_uploads,
    public_key,
    state_of,
)
from trustreport.service.core import Core
from trustreport.service.editor.run import carried_out, lay_out
from trustreport.service.engine import pem_of
from trustreport.service.ids import PATTERN
from trustreport.service.intake import LOCK, MANIFESTS, UploadedFile, add_version
from trustreport.service.jobs import queue
from trustreport.service.jobs.site_files import SIGNERS, SUFFIX
from trustreport.service.storage.blobs import Blob
from trustreport.service.storage.models import StoredStudy, Version, VersionFile
from trustreport.service.storage.pooling import InvitedSite, SiteUpload, StoredCollaboration
from trustreport.service.storage.store import now
from trustreport.service.version.api import to_response
from trustreport.service.web.faults import Fault, Field
from trustreport.service.web.shapes import (
    Email,
    Line,
    Name,
    Page,
    ReportOptions,
    RequestBody,
    RequestedPage,
)
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["collaborations"])
DAYS, DAY = 90, 86_400_000
MOST_SITES = 200
LEAST_SITES = 2


def _file_name(name: str) -> str:
    """Refuse a name of a site that no file may have."""
    intake.safe_name(f"{name}{SUFFIX}")
    return name


SiteName = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        min_length=1,
        max_length=100,
        pattern=r"^[^./\\:\"`$!<>|?*\x00-\x1f\x7f][^/\\:\"`$!<>|?*\x00-\x1f\x7f]*$",
    ),
    AfterValidator(_file_name),
]


class NewCollaboration(RequestBody):
    title: Line = described(examples=["Chest CT in three hospitals"])
    version: str | None = described(
        default=None,
        pattern=PATTERN,
        description=f"a version with {LOCK}, data may be missing; default: the newest that has it",
    )


class NewSite(RequestBody):
    name: SiteName = described(description="as `trustreport site --site` will have it", examples=["North"])
    email: Email
    key: str | None = described(
        default=None,
        max_length=2000,
        description="its public Ed25519 key in PEM; without one you accept the key of its first file",
    )
    days: int | None = described(
        default=None, ge=1, le=3650, description="how long its link works; default: 90"
    )


class CollaborationResponse(ResponseBody):
    """A study that several sites answer."""

    id: str
    study: str
    version: str = described(description="has the lock and the manifest that are handed out")
    title: str
    lock: str = described(description="what the first entry of the lock hashes to")
    created_by: str
    created_at: datetime


class SiteResponse(ResponseBody):
    """A site that is invited, and how far it is."""

    id: str
    collaboration: str
    name: str
    email: str
    state: str = described(
        description="invited, opened, uploaded, accepted, declined, refused, revoked, expired"
    )
    key: str = described(description="the SHA-256 of its registered public key; empty where there is none")
    refused: dict[str, Any] = described(description="why the last file that came was not taken")
    created_by: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    opened_at: datetime | None
    refused_at: datetime | None


class SiteUploadResponse(ResponseBody):
    """A file that a site uploaded."""

    id: str
    site: str
    sha256: str
    size: int
    key: str = described(description="the SHA-256 of the public key that signed it")
    state: str = described(description="uploaded, accepted, declined, superseded")
    facts: dict[str, Any] = described(description="cases of each data set, and what is withheld")
    created_at: datetime
    decided_by: str | None
    decided_at: datetime | None


class CreatedSite(ResponseBody):
    site: SiteResponse
    link: str | None = described(description="what to send; shown this once, null where it went by mail")


@router.get("/studies/{study}/collaborations")
def of_study(study: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[CollaborationResponse]:
    """The collaborations of a study."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredStudy, study)
        query = who.rows_of(StoredCollaboration).where(StoredCollaboration.study == row.id)
        return turn.rows(rows, query, StoredCollaboration.id, CollaborationResponse.of_row)


@router.post("/studies/{study}/collaborations", status_code=201)
def begin(study: Name, wanted: NewCollaboration, who: Author, core: TheCore) -> CollaborationResponse:
    """Ask several sites for evidence of a study that has a lock."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredStudy, study)
        version = _locked_version(rows, who, row, wanted.version)
        files = handed_out(rows, version.id)
    digest = _read_lock(core, version, [*files.values()])
    with core.store.write() as rows:
        row = who.row_of(rows, StoredStudy, study)
        made = who.new_row(
            rows, StoredCollaboration, study=row.id, version=version.id, title=wanted.title, lock=digest
        )
        said = {"study": row.id, "version": version.id, "lock": digest}
        who.audit(rows, "collaboration.add", made.id, **said)
        return CollaborationResponse.of_row(made)


@router.get("/collaborations/{collaboration}")
def get_collaboration(collaboration: Name, who: Reader, core: TheCore) -> CollaborationResponse:
    """One collaboration."""
    with core.store.read() as rows:
        return CollaborationResponse.of_row(who.row_of(rows, StoredCollaboration, collaboration))


@router.get("/collaborations/{collaboration}/sites")
def sites(collaboration: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[SiteResponse]:
    """The sites that are invited, and how far each is."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredCollaboration, collaboration)
        query = who.rows_of(InvitedSite).where(InvitedSite.collaboration == row.id)
        return turn.rows(rows, query, InvitedSite.id, lambda site: _site(rows, site))


@router.post("/collaborations/{collaboration}/sites", status_code=201)
def invite(collaboration: Name, wanted: NewSite, who: Author, core: TheCore) -> CreatedSite:
    """Invite a site: it gets a link with which it downloads the lock and uploads its file."""
    key = public_key(wanted.key) if wanted.key and wanted.key.strip() else ""
    with core.store.write() as rows:
        row = who.row_of(rows, StoredCollaboration, collaboration)
        rows.refresh(row, with_for_update=True)  # two of one name come one after the other
        others = rows.scalars(_sites_of(row)).all()
        if len(others) >= MOST_SITES:
            raise Fault(409, say("pages.fault.too_many_sites.detail", most=MOST_SITES))
        if wanted.name.casefold() in {o.name.casefold() for o in others if o.revoked_at is None}:
            raise Fault(409, say("pages.fault.invited_already.detail", name=wanted.name))
        if key_taken(others, key):
            raise Fault(409, say("pages.fault.key_taken.detail"))
        site = who.new_row(
            rows,
            InvitedSite,
            collaboration=row.id,
            name=wanted.name,
            email=wanted.email,
            key=key,
            refused={},
            expires_at=now(rows) + _days(core, wanted.days) * DAY,
        )
        said = {"study": row.study, "collaboration": row.id, "key": fingerprint(key)}
        who.audit(rows, "site.invite", site.id, **said)
        return CreatedSite(link=mail.invite_site(rows, core.settings, site), site=_site(rows, site))


@router.post("/invited-sites/{invited_site}/link", status_code=201)
def renew(invited_site: Name, who: Author, core: TheCore) -> CreatedSite:
    """Another link for a site, which works as long as a first one; the earlier one works no more."""
    with core.store.write() as rows:
        site = who.row_of(rows, InvitedSite, invited_site)
        if site.revoked_at is not None:
            raise Fault(409, say("pages.fault.site_revoked.detail"))
        site.expires_at = now(rows) + _days(core, None) * DAY
        site.created_by = who.user  # the link is theirs now, and ends with their account
        who.audit(rows, "site.renew", site.id, collaboration=site.collaboration)
        return CreatedSite(link=mail.invite_site(rows, core.settings, site), site=_site(rows, site))


@router.delete("/invited-sites/{invited_site}", status_code=204)
def revoke(invited_site: Name, who: Author, core: TheCore) -> None:
    """Take a site out: its link ends at once, and what it uploaded is pooled no more."""
    with core.store.write() as rows:
        site = who.row_of(rows, InvitedSite, invited_site)
        if site.revoked_at is None:
            site.revoked_at, site.hash = now(rows), None
            who.audit(rows, "site.revoke", site.id, collaboration=site.collaboration)


@router.get("/invited-sites/{invited_site}/uploads")
def uploads(invited_site: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[SiteUploadResponse]:
    """Every file of a site that fitted, also those that later ones superseded."""
    with core.store.read() as rows:
        site = who.row_of(rows, InvitedSite, invited_site)
        query = who.rows_of(SiteUpload).where(SiteUpload.site == site.id)
        return turn.rows(rows, query, SiteUpload.id, _upload)


@router.post("/site-uploads/{site_upload}/acceptance")
def accept(site_upload: Name, who: Author, core: TheCore) -> SiteUploadResponse:
    """Accept the key that signed the first file of a site, and with it the file."""
    with core.store.write() as rows:
        upload = _waiting_upload(rows, who, site_upload)
        site = rows.get_one(InvitedSite, upload.site)
        row = rows.get_one(StoredCollaboration, site.collaboration)
        rows.refresh(row, with_for_update=True)
        if key_taken([o for o in rows.scalars(_sites_of(row)) if o.id != site.id], upload.key):
            raise Fault(409, say("pages.fault.key_taken.detail"))
        site.key = upload.key
        return _decide(rows, who, upload, ACCEPTED)


@router.post("/site-uploads/{site_upload}/refusal")
def decline(site_upload: Name, who: Author, core: TheCore) -> SiteUploadResponse:
    """Decline a file whose key is not that of the site; the site can upload another."""
    with core.store.write() as rows:
        return _decide(rows, who, _waiting_upload(rows, who, site_upload), "declined")


@router.post(
    "/collaborations/{collaboration}/pool",
    status_code=202,
    responses={200: {"description": "Pooled before"}},
)
def pool(
    collaboration: Name, wanted: ReportOptions, who: Author, core: TheCore, response: Response
) -> VersionResponse:
    """Make a version of the accepted files; once it is checked, its report is made."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredCollaboration, collaboration)
        taken = [(site, upload) for site, upload in _accepted(rows, row)]
    if len(taken) < LEAST_SITES:
        raise Fault(409, say("pages.fault.too_few_sites.detail", n=len(taken)))
    lines = [f"# {site.name}\n{pem_of(decoded(site.key))}" for site, _ in taken]
    signers = io.BytesIO("".join(lines).encode())
    refuse_upload(core, who, [signers])
    files = [UploadedFile(f"{s.name}{SUFFIX}", Blob(u.sha256, u.size)) for s, u in taken]
    files.append(UploadedFile(SIGNERS, core.blobs.put(who.organisation, signers)))
    with core.store.write() as rows:
        row = who.row_of(rows, StoredCollaboration, collaboration)
        study = rows.get_one(StoredStudy, row.study)
        rows.refresh(study, with_for_update=True)
        digest = intake.digest((f.name, f.blob.sha256) for f in files)
        same = select(Version).where(Version.study == row.study, Version.digest == digest)
        version = rows.scalar(same.where(Version.state != "invalid").limit(1))
        if version is not None and version.state == "valid":
            response.status_code = 200
            queue.enqueue(rows, version, who.user, "report", wanted.plain(), core.settings)
        elif version is None:
            version = add_version(rows, study, who.user, files)
            asked = {"report": wanted.plain()}
            queue.enqueue(rows, version, who.user, "check", asked, core.settings)
        said = {"study": row.study, "version": version.id, "sites": [site.id for site, _ in taken]}
        who.audit(rows, "collaboration.pool", row.id, **said)
        return to_response(version)


def shown_sites(rows: Rows, row: StoredCollaboration) -> list[tuple[InvitedSite, str, Sequence[SiteUpload]]]:
    """The sites of a collaboration by name, how far each is, and its files, the newest first."""
    found = rows.scalars(_sites_of(row).order_by(InvitedSite.name)).all()
    files = latest_uploads(rows, [site.id for site in found])
    at = now(rows)
    return [(site, state_of(site, files[site.id][:1], at), files[site.id]) for site in found]


def handed_out(rows: Rows, version: str) -> dict[str, VersionFile]:
    """The lock and the manifest of a version, which sites get, by name."""
    files = rows.scalars(select(VersionFile).where(VersionFile.version == version)).all()
    return {file.name: file for file in files if file.name == LOCK or file.name in MANIFESTS}


def _accepted(rows: Rows, row: StoredCollaboration) -> list[tuple[InvitedSite, SiteUpload]]:
    query = select(InvitedSite, SiteUpload).join(SiteUpload, SiteUpload.site == InvitedSite.id)
    query = query.where(InvitedSite.collaboration == row.id, InvitedSite.revoked_at.is_(None))
    found = rows.execute(query.where(SiteUpload.state == ACCEPTED).order_by(InvitedSite.name))
    return [(site, upload) for site, upload in found]


def _locked_version(rows: Rows, who: Principal, study: StoredStudy, name: str | None) -> Version:
    """The version whose lock and manifest are handed out."""
    query = who.rows_of(Version).where(Version.study == study.id, Version.state.in_(("valid", "invalid")))
    if name is not None:
        query = query.where(Version.id == name)
    locked = select(VersionFile.version).where(VersionFile.name == LOCK)
    manifests = select(VersionFile.version).where(VersionFile.name.in_(MANIFESTS))
    query = query.where(Version.id.in_(locked), Version.id.in_(manifests))
    found: Version | None = rows.scalar(query.order_by(Version.number.desc()).limit(1))
    if found is None:
        raise Fault(409, say("pages.fault.no_lock.detail", lock=LOCK))
    return found


def _read_lock(core: Core, version: Version, files: Sequence[VersionFile]) -> str:
    """What a lock hashes to, read in a limited process; refuses (409) what is none or not of its manifest."""
    task = {"task": "lock", "closed": [str(core.settings.data)]}
    said = carried_out(core, task, lambda work: lay_out(core, version, files, work / "study")).answer
    if not said.get("lock"):
        raise Fault(409, say("pages.fault.no_lock.detail", lock=LOCK))
    if said["changed"]:
        raise Fault(409, say("pages.fault.lock_differs.detail", fields=str(said["changed"])))
    return str(said["lock"])


def _sites_of(row: StoredCollaboration) -> Select[InvitedSite]:
    return select(InvitedSite).where(InvitedSite.collaboration == row.id)


def _days(core: Core, asked: int | None) -> int:
    most = core.settings.share_days
    days = min(DAYS, most) if asked is None else asked
    if days > most:
        expected = say("pages.fault.field.found_days_expected_at", days=days, most=most)
        raise Fault(422, say("pages.fault.too_long.link"), [Field("days", expected)])
    return days


def _waiting_upload(rows: Rows, who: Principal, name: str) -> SiteUpload:
    upload: SiteUpload = who.row_of(rows, SiteUpload, name)
    rows.refresh(upload, with_for_update=True)
    if upload.state != UPLOADED:
        raise Fault(409, say("pages.fault.decided_already.detail"))
    return upload


def _decide(rows: Rows, who: Principal, upload: SiteUpload, state: str) -> SiteUploadResponse:
    upload.state, upload.decided_by, upload.decided_at = state, who.user, now(rows)
    said = {"site": upload.site, "sha256": upload.sha256, "key": fingerprint(upload.key)}
    who.audit(rows, f"site.{state}", upload.id, **said)
    return _upload(upload)


def _site(rows: Rows, site: InvitedSite) -> SiteResponse:
    last = latest_uploads(rows, [site.id])[site.id][:1]
    return SiteResponse.of_row(site, state=state_of(site, last, now(rows)), key=fingerprint(site.key))


def _upload(upload: SiteUpload) -> SiteUploadResponse:
    return SiteUploadResponse.of_row(upload, key=fingerprint(upload.key))
