"""Reviews, approvals and rejections: signed statements beside a report."""

import base64
from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from trustreport.service.record.attest import attest
from trustreport.service.routes.account import confirm
from trustreport.service.routes.blob_responses import send_blob
from trustreport.service.routes.pagination import Name, Page, RequestedPage
from trustreport.service.routes.shapes import Password, RequestBody, ResponseBody, Words, moment
from trustreport.service.storage.models import Attestation, StoredReport
from trustreport.service.web.guard import Reader, Reviewer, TheCore

router = APIRouter(tags=["attestations"])
Act = Literal["review", "approval", "rejection"]


class Signing(RequestBody):
    act: Act
    meaning: Words = Field(min_length=1, description="what the signature means, worded for later readers")
    password: Password | None = Field(
        default=None,
        description="one's own, since a signature is given by a person; an account of the identity provider "
        "leaves it out and signs in there anew before",
    )


class AttestationResponse(ResponseBody):
    id: str
    report: str
    user: str
    act: Act
    meaning: str
    sha256: str = Field(description="of the statement")
    signature: str = Field(description="Ed25519 over the statement's bytes, base64")
    key: str = Field(description="SHA-256 of the public key")
    created_at: datetime


class SigningKey(ResponseBody):
    """The key that signs here, for whoever verifies a statement elsewhere."""

    sha256: str
    pem: str


@router.get("/reports/{report}/attestations")
def attestations(report: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[AttestationResponse]:
    """Who signed a report, and with what meaning."""
    with core.store.read() as rows:
        row = who.one(rows, StoredReport, report)
        return turn.rows(
            rows, who.all(Attestation).where(Attestation.report == row.id), Attestation.id, _to_response
        )


@router.post("/reports/{report}/attestations", status_code=201)
def sign(report: Name, asked: Signing, who: Reviewer, core: TheCore, request: Request) -> AttestationResponse:
    """Review, approve or reject a report."""
    if asked.act == "approval":
        who.need("approve")
    with core.store.read() as rows:
        who.one(rows, StoredReport, report)
    confirm(core, who, asked.password, request)  # outside of the transaction: a hash takes long
    with core.store.write() as rows:
        row = who.one(rows, StoredReport, report)
        return _to_response(attest(core, rows, who, row, asked.act, asked.meaning))


@router.get("/attestations/{attestation}")
def get_attestation(attestation: Name, who: Reader, core: TheCore) -> AttestationResponse:
    """One signature."""
    with core.store.read() as rows:
        return _to_response(who.one(rows, Attestation, attestation))


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
def signing_key(who: Reader, core: TheCore) -> SigningKey:
    """The public key of this service."""
    return SigningKey(sha256=core.signer.name, pem=core.signer.public_pem)


def _to_response(row: Attestation) -> AttestationResponse:
    return AttestationResponse(
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
