"""Devices, as manifests name them, and what was reported of each over time."""

from datetime import date, datetime
from typing import Any

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy import select

from trustreport.service.routes import filters
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


class TrendPoint(ResponseBody):
    """A value of one period, with its interval, what it was tested against, and whether it gave an alert."""

    series: str = Field(description="values of one series are comparable over time")
    quantity: str | None = None
    unit: str | None = None
    period: str | None = None
    start: date | None = None
    end: date | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    n: float | None = None
    above: float | None = Field(default=None, description="bound of the criterion: the interval is above it")
    below: float | None = None
    verdict: str | None = None
    expected: float | None = Field(default=None, description="value in control, of a control chart")
    alarming: float | None = Field(default=None, description="value that the chart is to detect")
    alert: date | None = Field(default=None, description="when the chart first gave an alert")


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
    trend: list[TrendPoint] = Field(description="what is drawn over time")
    signed: list[str] = Field(description="review, approval, rejection")
    created_at: datetime


@router.get("")
def devices(who: Reader, core: TheCore, turn: RequestedPage, wanted: filters.Devices) -> Page[DeviceResponse]:
    """All devices of which a study was uploaded."""
    with core.store.read() as rows:
        return turn.rows(rows, wanted.apply(who.all(StoredDevice)), StoredDevice.id, to_response)


@router.get("/{device}")
def get_device(device: Name, who: Reader, core: TheCore) -> DeviceResponse:
    """One device."""
    with core.store.read() as rows:
        return to_response(who.one(rows, StoredDevice, device))


@router.get("/{device}/timeline")
def timeline(device: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[Moment]:
    """The reports of a device, the newest first, with their periods, verdicts and leading results."""
    with core.store.read() as rows:
        row = who.one(rows, StoredDevice, device)
        query = who.all(StoredReport).where(StoredReport.device == row.id)
        found = turn.rows(rows, query, StoredReport.id, lambda report: report)
        names = [report.id for report in found.items]
        acts: dict[str, set[str]] = {name: set() for name in names}
        for report, act in rows.execute(
            select(Attestation.report, Attestation.act).where(Attestation.report.in_(names))
        ):
            acts[report].add(act)

        def moment_of(report: StoredReport) -> Moment:
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
                trend=[TrendPoint(**point) for point in facts.get("trend", [])],
                signed=sorted(acts[report.id]),
                created_at=moment(report.created_at),
            )

        return Page(items=[moment_of(report) for report in found.items], next=found.next)


def to_response(row: StoredDevice) -> DeviceResponse:
    """A device as the API says it."""
    return DeviceResponse(
        id=row.id,
        trade_name=row.trade_name,
        manufacturer=row.manufacturer,
        basic_udi_di=row.basic_udi_di,
        created_at=moment(row.created_at),
    )
