"""Reviews and approvals: a statement of who, what, when and with what meaning, signed by the service's key.

The statement is a file of its own beside the report, so that the report's bytes stay what its inputs make
them. It holds the hash of every file of the report and the head of the audit log at that moment, so that a
log whose end is cut off later contradicts it.
"""

import base64
import io
import json
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field
from sqlalchemy import select, update
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import accounts
from trustreport.service.access.guard import Reader, Reviewer, TheCore
from trustreport.service.access.principal import Principal, is_proved_there
from trustreport.service.account.api import confirm
from trustreport.service.client import operations as op
from trustreport.service.client.records import Act, AttestationResponse, ResponseBody
from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.jobs import queue
from trustreport.service.pages.blob_responses import send_blob
from trustreport.service.storage.collaboration import ReviewRequest
from trustreport.service.storage.hidden import with_removed
from trustreport.service.storage.models import (
    Attestation,
    Job,
    Organisation,
    ReportFile,
    StoredReport,
    User,
    Version,
    VersionFile,
    canonical,
)
from trustreport.service.storage.store import now
from trustreport.service.storage.vigilance import VigilanceChange, VigilanceEntry
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name, Page, Password, RequestBody, RequestedPage, Words, serves
from trustreport.vocabulary.messages import say

FORMAT = "trustreport attestation 1"


def attest(
    core: Core, rows: Rows, who: Principal, report: StoredReport, act: str, meaning: str
) -> Attestation:
    """Sign a report, from an account that is confirmed where its password was reset.

    Whoever prepared it may reject it, but neither review nor approve it. Nobody
    gives both review and approval, or one of them twice.
    """
    user = rows.get_one(User, who.user)
    rows.refresh(report, with_for_update=True)  # two statements at once are made one after the other
    _refuse_signature(rows, user, report, act)
    elsewhere = is_proved_there(user, core.settings)
    at, name = now(rows), new_id()
    said = {"format": FORMAT, "id": name, "act": act, "meaning": meaning, "at": at}
    statement = canonical(said | _circumstances(core, rows, who, user, report, elsewhere)).encode()
    blob = core.blobs.put(who.organisation, io.BytesIO(statement))
    row = Attestation(
        id=name,
        organisation=who.organisation,
        report=report.id,
        user=who.user,
        act=act,
        meaning=meaning,
        sha256=blob.sha256,
        signature=core.signer.sign(statement),
        key=core.signer.name,
        created_at=at,
    )
    rows.add(row)
    open_requests = update(ReviewRequest).where(
        ReviewRequest.report == report.id,
        ReviewRequest.reviewer == who.user,
        ReviewRequest.ended_at.is_(None),
    )
    rows.execute(open_requests.values(ended_at=at))
    rows.flush()
    who.audit(rows, f"report.{act}", report.id, attestation=name, sha256=blob.sha256)
    return row


def _circumstances(
    core: Core, rows: Rows, who: Principal, user: User, report: StoredReport, elsewhere: bool
) -> dict[str, Any]:
    """What a statement says of its signer, the report, the log and the key.

    Parameters
    ----------
    elsewhere : whether the identity provider vouched for the signer, not a password
    """
    number, head = audit.head_of(rows, who.organisation)
    return {
        "signer": {"user": who.user, "name": who.name, "email": who.email, "roles": list(who.roles)},
        "account": {
            **accounts.facts_of(rows, user),
            # Who vouched for the signer at this moment: their password here, or the identity provider.
            "issuer": user.issuer if elsewhere else None,
            "subject": user.subject if elsewhere else None,
        },
        "organisation": rows.get_one(Organisation, who.organisation).name,
        "report": {
            "id": report.id,
            "kind": report.kind,
            "code": report.code,
            "files": _files(rows, report),
        },
        "study": {"id": report.study, "version": report.version},
        "prepared_by": sorted(preparers(rows, report)),
        "audit": {"chain": who.organisation, "number": number, "hash": head},
        "key": core.signer.name,
        "public_key": base64.b64encode(core.signer.public).decode(),
    }


def _refuse_signature(rows: Rows, user: User, report: StoredReport, act: str) -> None:
    accounts.refuse_unconfirmed(user)
    if act == "rejection":
        return
    if _has_signed(rows, report, user.id, act):
        raise Fault(409, say("pages.fault.signed_already.detail"))
    if user.id in preparers(rows, report):
        raise Fault(403, say("pages.fault.not_ones_own.somebody_else_reviews"))
    if _has_signed(rows, report, user.id, "approval" if act == "review" else "review"):
        raise Fault(403, say("pages.fault.two_people.detail"))


def _preparers(rows: Rows, report: StoredReport) -> set[str]:
    files = select(VersionFile.sha256).where(VersionFile.version == report.version)
    uploaded = (
        select(Version.created_by)
        .join(VersionFile, VersionFile.version == Version.id)
        .where(
            VersionFile.organisation == report.organisation,
            VersionFile.sha256.in_(files),
            Version.created_at <= report.created_at,
        )
    )
    asked = queue.askers(rows, rows.get_one(Job, report.job))
    found = {report.created_by, *asked, *rows.scalars(uploaded), *makers(rows, report.version)}
    for version in _corrected(rows, report.version):
        checks = select(Job.wishes).where(Job.version == version.id, Job.task == "check")
        if any("until" in wishes for wishes in rows.scalars(checks)):
            found |= _registrars(rows, report, version)
    return found


def makers(rows: Rows, name: str) -> set[str]:
    """Who made a version, and those that it corrects."""
    return {version.created_by for version in _corrected(rows, name)}


def _corrected(rows: Rows, name: str) -> Iterator[Version]:
    """A version, and those that it corrects."""
    before: str | None = name
    while before and (version := rows.get(Version, before)):
        yield version
        before = version.based_on


def _registrars(rows: Rows, report: StoredReport, version: Version) -> set[str]:
    """Who registered or changed incidents and signals of the device before a version was checked."""
    changed = select(VigilanceChange.created_by).join(
        VigilanceEntry, VigilanceEntry.id == VigilanceChange.entry
    )
    until = version.checked_at or report.created_at
    return {
        *rows.scalars(
            changed.where(VigilanceEntry.device == report.device, VigilanceChange.created_at <= until)
        )
    }


def preparers(rows: Rows, report: StoredReport) -> set[str]:
    """Who asked for a report or scheduled it, and who uploaded any of its data.

    A file that somebody else uploaded, in whatever version of whatever study, is theirs, whoever uploads it
    again; and a version that corrects another one has also been prepared by whoever made that one. A version
    that entered a next period has incidents and signals of whoever registered or changed them.
    """
    with with_removed(rows):
        return _preparers(rows, report)


def known_alone(core: Core, signature: Attestation) -> str:
    """Who prepared a report and alone says whose account signed it, by its statement; or nobody."""
    said = json.loads(core.blobs.read(signature.organisation, signature.sha256))
    return accounts.known_to_one_alone(said["account"], said["prepared_by"]) if "account" in said else ""


def _has_signed(rows: Rows, report: StoredReport, user: str, act: str) -> bool:
    query = select(Attestation.id).where(
        Attestation.report == report.id, Attestation.user == user, Attestation.act == act
    )
    return rows.scalar(query.limit(1)) is not None


def _files(rows: Rows, report: StoredReport) -> dict[str, Any]:
    query = select(ReportFile).where(ReportFile.report == report.id).order_by(ReportFile.name)
    return {file.name: file.sha256 for file in rows.scalars(query)}


router = APIRouter(tags=["attestations"])


class Signing(RequestBody):
    act: Act
    meaning: Words = Field(
        min_length=1,
        description="what the signature means, worded for later readers",
        examples=["Complete and plausible."],
    )
    password: Password | None = Field(
        default=None,
        description="one's own, since a signature is given by a person; an account of the identity provider "
        "leaves it out and signs in there anew before",
    )


class SigningKey(ResponseBody):
    """The key that signs here, for whoever verifies a statement elsewhere."""

    sha256: str
    pem: str


@serves(router, op.SIGNATURES)
def attestations(report: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[AttestationResponse]:
    """Who signed a report, and with what meaning."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredReport, report)
        return turn.rows(
            rows,
            who.rows_of(Attestation).where(Attestation.report == row.id),
            Attestation.id,
            AttestationResponse.of_row,
        )


@router.post("/reports/{report}/attestations", status_code=201)
def sign(report: Name, asked: Signing, who: Reviewer, core: TheCore, request: Request) -> AttestationResponse:
    """Review, approve or reject a report."""
    if asked.act == "approval":
        who.need("approve")
    with core.store.read() as rows:
        who.row_of(rows, StoredReport, report)
    confirm(core, who, asked.password, request)  # outside of the transaction: a hash takes long
    with core.store.write() as rows:
        row = who.row_of(rows, StoredReport, report)
        return AttestationResponse.of_row(attest(core, rows, who, row, asked.act, asked.meaning))


@router.get("/attestations/{attestation}")
def get_attestation(attestation: Name, who: Reader, core: TheCore) -> AttestationResponse:
    """One signature."""
    with core.store.read() as rows:
        return AttestationResponse.of_row(who.row_of(rows, Attestation, attestation))


@serves(router, op.STATEMENT)
def statement(attestation: Name, who: Reader, core: TheCore, request: Request) -> Response:
    """The signed statement, byte for byte."""
    with core.store.read() as rows:
        row = who.row_of(rows, Attestation, attestation)
    return send_blob(core, request, who.organisation, row.sha256, f"{row.act}.json", ours=True)


@router.get("/attestations/{attestation}/signature", response_class=Response)
def signature(attestation: Name, who: Reader, core: TheCore) -> Response:
    """The detached signature, 64 bytes."""
    with core.store.read() as rows:
        row = who.row_of(rows, Attestation, attestation)
    headers = {"Content-Disposition": f'attachment; filename="{row.act}.json.sig"', "ETag": f'"{row.id}"'}
    return Response(base64.b64decode(row.signature), media_type="application/octet-stream", headers=headers)


@router.get("/signing-key")
def signing_key(who: Reader, core: TheCore) -> SigningKey:
    """The public key of this service."""
    return SigningKey(sha256=core.signer.name, pem=core.signer.public_pem)
