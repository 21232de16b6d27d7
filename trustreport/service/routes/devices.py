"""Devices, as manifests name them, and what was reported of each over time."""

from datetime import date, datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy import select

from trustreport.service.routes.pagination import Name, Page, RequestedPage
from trustreport.service.routes.shapes import ResponseBody, moment
from trustreport.service.storage.models import Attestation, StoredDevice, StoredReport
from trustreport.service.web.guard import Reader, TheCore

router = APIRouter(prefix="/devices", tags=["devices"])


class DeviceResponse(ResponseBody):
    id: str
    trade_name: str
    manufacturer: str
    basic_udi_di: str
    created_at: datetime


class Moment(ResponseBody):
    """A report of a device, with the period it speaks of."""

    report: str
    study: str
    kind: str
    software_version: str
    period_start: date | None
    period_end: date | None
    verdicts: dict[str, int] = Field(description="how many endpoints met their criterion, and so on")
    checks: dict[str, int] = Field(description="how many checks fired, by severity B, W, N")
    primary: list[dict[str, Any]] = Field(description="the results that lead")
    signed: list[str] = Field(description="review, approval, rejection")
    created_at: datetime


@router.get("")
def devices(who: Reader, core: TheCore, turn: RequestedPage) -> Page[DeviceResponse]:
    """All devices of which a study was uploaded."""
    with core.store.read() as rows:
        return turn.rows(rows, who.all(StoredDevice), StoredDevice.id, to_response)


@router.get("/{device}")
def one(device: Name, who: Reader, core: TheCore) -> DeviceResponse:
    """One device."""
    with core.store.read() as rows:
        return to_response(who.one(rows, StoredDevice, device))


@router.get("/{device}/timeline")
def timeline(device: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[Moment]:
    """The reports of a device, the newest first, with their periods, verdicts and leading results."""
    with core.store.read() as rows:
        row = who.one(rows, StoredDevice, device)

        def moment_of(report: StoredReport) -> Moment:
            signed = rows.scalars(select(Attestation.act).where(Attestation.report == report.id))
            facts = report.facts
            return Moment(
                report=report.id,
                study=report.study,
                kind=report.kind,
                software_version=facts.get("software_version", ""),
                period_start=facts.get("period_start"),
                period_end=facts.get("period_end"),
                verdicts=facts.get("verdicts", {}),
                checks=facts.get("checks", {}),
                primary=facts.get("primary", []),
                signed=sorted(set(signed)),
                created_at=moment(report.created_at),
            )

        return turn.rows(
            rows, who.all(StoredReport).where(StoredReport.device == row.id), StoredReport.id, moment_of
        )


def to_response(row: StoredDevice) -> DeviceResponse:
    """A device as the API says it."""
    return DeviceResponse(
        id=row.id,
        trade_name=row.trade_name,
        manufacturer=row.manufacturer,
        basic_udi_di=row.basic_udi_di,
        created_at=moment(row.created_at),
    )
