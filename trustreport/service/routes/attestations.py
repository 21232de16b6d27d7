"""Reviews, approvals and rejections: signed statements beside a report."""

import base64
from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from trustreport.service.record.attest import attest
from trustreport.service.routes.account import confirmed
from trustreport.service.routes.blobs_of import send_blob
from trustreport.service.routes.pages_of import Name, Page, Turned
from trustreport.service.routes.shapes import Asked, Password, Said, Words, moment
from trustreport.service.storage.models import Attestation, Report
from trustreport.service.web.guard import Reader, Reviewer, TheCore

router = APIRouter(tags=["attestations"])
Act = Literal["review", "approval", "rejection"]


class Signing(Asked):
    act: Act
    meaning: Words = Field(min_length=1, description="what the signature means, worded for later readers")
    password: Password = Field(description="one's own, since a signature is given by a person")


class AttestationSaid(Said):
    id: str
    report: str
    user: str
    act: Act
    meaning: str
    sha256: str = Field(description="of the statement")
    signature: str = Field(description="Ed25519 over the statement's bytes, base64")
    key: str = Field(description="SHA-256 of the public key")
    created_at: datetime


class Key(Said):
    """The key that signs here, for whoever verifies a statement elsewhere."""

    sha256: str
    pem: str


@router.get("/reports/{report}/attestations")
def attestations(report: Name, who: Reader, core: TheCore, turn: Turned) -> Page[AttestationSaid]:
    """Who signed a report, and with what meaning."""
    with core.store.read() as rows:
        row = who.one(rows, Report, report)
        return turn.rows(
            rows, who.all(Attestation).where(Attestation.report == row.id), Attestation.id, _said
        )


@router.post("/reports/{report}/attestations", status_code=201)
def sign(report: Name, asked: Signing, who: Reviewer, core: TheCore) -> AttestationSaid:
    """Review, approve or reject a report."""
    if asked.act == "approval":
        who.need("approve")
    with core.store.write() as rows:
        row = who.one(rows, Report, report)
        confirmed(core, rows, who, asked.password)
        return _said(attest(core, rows, who, row, asked.act, asked.meaning))


@router.get("/attestations/{attestation}")
def one(attestation: Name, who: Reader, core: TheCore) -> AttestationSaid:
    """One signature."""
    with core.store.read() as rows:
        return _said(who.one(rows, Attestation, attestation))


@router.get("/attestations/{attestation}/statement", response_class=Response)
def statement(attestation: Name, who: Reader, core: TheCore, request: Request) -> Response:
    """The signed statement, byte for byte."""
    with core.store.read() as rows:
        row = who.one(rows, Attestation, attestation)
    return send_blob(core, request, who.organisation, row.sha256, f"{row.act}.json", ours=True)


@router.get("/attestations/{attestation}/signature", response_class=Response)
def signature(attestation: Name, who: Reader, core: TheCore) -> Response:
    """The detached signature, 64 bytes."""
    with core.store.read() as rows:
        row = who.one(rows, Attestation, attestation)
    headers = {"Content-Disposition": f'attachment; filename="{row.act}.json.sig"', "ETag": f'"{row.id}"'}
    return Response(base64.b64decode(row.signature), media_type="application/octet-stream", headers=headers)


@router.get("/signing-key")
def signing_key(who: Reader, core: TheCore) -> Key:
    """The public key of this service."""
    return Key(sha256=core.signer.name, pem=core.signer.public_pem)


def _said(row: Attestation) -> AttestationSaid:
    return AttestationSaid(
        id=row.id,
        report=row.report,
        user=row.user,
        act=row.act,
        meaning=row.meaning,
        sha256=row.sha256,
        signature=row.signature,
        key=row.key,
        created_at=moment(row.created_at),
    )
