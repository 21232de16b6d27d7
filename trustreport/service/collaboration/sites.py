"""A site that is invited: how far it is, its key, and the file that it uploads."""

from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit, mail
from trustreport.service.bounds import refuse_more_bytes
from trustreport.service.core import Core
from trustreport.service.editor.run import carried_out
from trustreport.service.engine import name_of, read_signers
from trustreport.service.ids import new_id
from trustreport.service.storage.pooling import InvitedSite, SiteUpload, StoredCollaboration
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault, Field
from trustreport.vocabulary.messages import say

ACTOR = "site"
UPLOADED, ACCEPTED, SUPERSEDED = "uploaded", "accepted", "superseded"
MOST_BYTES = 16_000_000  # of the file of a site
MOST_UPLOADS = 100  # of one site


def public_key(text: str) -> str:
    """The one public key of a text in PEM, as base64 of its 32 bytes; refuses (422) anything else."""
    try:
        (key,) = read_signers(text)
    except ValueError:
        field = Field("key", say("pages.fault.field.public_key"))
        raise Fault(422, say("pages.fault.no_public_key.detail"), [field]) from None
    return b64encode(key).decode()


def decoded(key: str) -> bytes:
    """The 32 bytes of a key that was kept."""
    return b64decode(key)


def fingerprint(key: str) -> str:
    """What people compare: the SHA-256 of a key; empty where there is none."""
    return name_of(decoded(key)) if key else ""


def key_taken(others: Iterable[InvitedSite], key: str) -> bool:
    """Whether another site that is not revoked has this key: a signature is to name one site."""
    return bool(key) and key in {o.key for o in others if o.revoked_at is None}


def latest_uploads(rows: Rows, sites: Collection[str]) -> Mapping[str, Sequence[SiteUpload]]:
    """The files of each site, the newest first."""
    found: dict[str, list[SiteUpload]] = defaultdict(list)
    query = select(SiteUpload).where(SiteUpload.site.in_(sites))
    query = query.order_by(SiteUpload.created_at.desc(), SiteUpload.id.desc())
    for upload in rows.scalars(query):
        found[upload.site].append(upload)
    return found


def state_of(site: InvitedSite, last: Sequence[SiteUpload], at: int) -> str:
    """How far a site is: invited, opened, uploaded, accepted, declined, refused, revoked, expired.

    Parameters
    ----------
    last : its newest file, if there is one
    at : the moment, in milliseconds
    """
    if site.revoked_at is not None:
        return "revoked"
    if last and last[0].state == ACCEPTED:
        return ACCEPTED  # also where a later file was refused
    if site.refused_at is not None:
        return "refused"
    if last:
        return last[0].state
    if site.expires_at < at:
        return "expired"
    return "opened" if site.opened_at is not None else "invited"


def store_site_file(core: Core, site: str, stream: BinaryIO, key: str) -> SiteUpload:
    """Verify the file of a site and keep it; a file that does not fit is not kept, and the log says why.

    Parameters
    ----------
    key : the public key in PEM that the site names, which counts where none is registered

    Raises
    ------
    Fault : it does not fit (422), is there already (409), is too large (413), or too many are verified (503)
    """
    size = stream.seek(0, 2)
    stream.seek(0)
    with core.store.read() as rows:
        row = rows.get_one(InvitedSite, site)
        lock = rows.get_one(StoredCollaboration, row.collaboration).lock
        n = rows.scalar(select(func.count()).select_from(SiteUpload).where(SiteUpload.site == site)) or 0
        refuse_more_bytes(rows, row.organisation, core.settings, needed=size)
    if size > MOST_BYTES:
        raise Fault(413, say("pages.fault.too_large.detail", most=MOST_BYTES))
    if n >= MOST_UPLOADS:
        raise Fault(409, say("pages.fault.too_many_uploads.detail", most=MOST_UPLOADS))
    expected = row.key or public_key(key)
    said = _verified(core, row, lock, expected, stream)
    if why := said.get("refused"):
        with core.store.write() as rows:
            kept = rows.get_one(InvitedSite, site)
            kept.refused, kept.refused_at = why, now(rows)
            audit.write(rows, kept.organisation, ACTOR, "site.refuse", site, reason=why["reason"])
        raise Fault(422, say(f"pages.fault.site_file.{why['reason']}", **_values(why)))
    stream.seek(0)
    blob = core.blobs.put(row.organisation, stream)
    with core.store.write() as rows:
        locked = rows.scalars(select(InvitedSite).where(InvitedSite.id == site).with_for_update()).one()
        earlier = latest_uploads(rows, [site])[site]
        if locked.revoked_at is not None:
            raise Fault(409, say("pages.fault.site_revoked.detail"))
        if locked.key not in ("", expected):  # another key was accepted at this moment
            raise Fault(422, say("pages.fault.site_file.key"))
        if earlier and earlier[0].sha256 == blob.sha256 and earlier[0].state != "declined":
            raise Fault(409, say("pages.fault.uploaded_already.detail"))
        upload = SiteUpload(
            id=new_id(),
            organisation=locked.organisation,
            site=site,
            sha256=blob.sha256,
            size=blob.size,
            key=expected,
            state=ACCEPTED if locked.key else UPLOADED,
            facts=said["facts"],
            created_at=now(rows),
        )
        rows.add(upload)
        locked.refused, locked.refused_at = {}, None
        about = {"site": site, "sha256": blob.sha256, "key": fingerprint(expected), "state": upload.state}
        collaboration = rows.get_one(StoredCollaboration, locked.collaboration)
        audit.write(
            rows, locked.organisation, ACTOR, "site.upload", upload.id, study=collaboration.study, **about
        )
        for old in earlier:
            if old.state in (UPLOADED, ACCEPTED):
                old.state = SUPERSEDED
                audit.write(rows, old.organisation, ACTOR, "site.supersede", old.id, by=upload.id)
        told = {"collaboration": collaboration.id}
        mail.queue_mail(rows, core.settings, "site_uploaded", collaboration.created_by, **told)
        return upload


def _values(why: Mapping[str, Any]) -> dict[str, str]:
    return {name: text for name, text in why.items() if name != "reason"}


def _verified(core: Core, site: InvitedSite, lock: str, key: str, stream: BinaryIO) -> dict[str, Any]:
    """What the limited process says of a file."""

    def fill(work: Path) -> None:
        with (work / "upload").open("xb") as out:
            while block := stream.read(1 << 20):
                out.write(block)

    about = {"site": site.name, "key": key, "lock": lock}
    outcome = carried_out(core, {"task": "site", "closed": [str(core.settings.data)], **about}, fill)
    failed = outcome.reason or outcome.answer.get("failed", "")
    if outcome.kind != "answer" or failed:
        return {"refused": {"reason": "form", "said": str(failed)[:300]}}
    return outcome.answer
