"""The first page after signing in: what waits, and the devices with their latest answers; search over all."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.device import api as devices_api
from trustreport.service.device import trends
from trustreport.service.device.page import quantity_name
from trustreport.service.home.waiting import open_tasks
from trustreport.service.pages import filters
from trustreport.service.pages.page_context import Reader, listed, pairs, signed_acts
from trustreport.service.pages.render import PageWords, page, words_of
from trustreport.service.storage.models import Schedule, StoredDevice, StoredReport, StoredStudy, Version
from trustreport.service.web.shapes import PageRequest

MOST_DEVICES = 8  # whose latest answers are shown, those with the newest versions
MOST_LOOKED_AT = 500  # valid versions, the newest first
MOST_POINTS = 24  # reports of a trend
OF_A_KIND = 10  # results of the search

router = APIRouter()


@dataclass(frozen=True, slots=True)
class DeviceLine:
    """A device with its newest report, the course of its first series, and the next date."""

    device: StoredDevice
    report: StoredReport | None
    signed: frozenset[str]
    chart: trends.DeviceChart | None
    due: int | None  # when its next audit is scheduled
    until: str  # else the end of its next period


@router.get("/")
def home(request: Request, who: Reader, core: TheCore) -> Response:
    """What waits for whoever is signed in, and how the devices do."""
    with core.store.read() as rows:
        valid = who.rows_of(Version).where(Version.state == "valid", Version.device.is_not(None))
        latest: dict[str, Version] = {}
        for version in rows.scalars(valid.order_by(Version.id.desc()).limit(MOST_LOOKED_AT)):
            latest.setdefault(version.device or "", version)
        return page(
            request,
            "home",
            tasks=open_tasks(rows, who, list(latest.values())),
            lines=_lines(rows, who, core, dict(list(latest.items())[:MOST_DEVICES]), words_of(request)),
            n_devices=rows.scalar(select(func.count()).select_from(who.rows_of(StoredDevice).subquery())),
            sample=rows.scalar(who.rows_of(StoredStudy).where(StoredStudy.sample).limit(1)),
            is_empty=rows.scalar(who.rows_of(StoredStudy).limit(1)) is None,
        )


def _lines(
    rows: Rows, who: Principal, core: Core, latest: dict[str, Version], say: PageWords
) -> list[DeviceLine]:
    devices = {d.id: d for d in rows.scalars(who.rows_of(StoredDevice).where(StoredDevice.id.in_(latest)))}
    all_reports = who.rows_of(StoredReport)
    newest = (
        all_reports
        .where(StoredReport.device.in_(latest))
        .with_only_columns(func.max(StoredReport.id))
        .group_by(StoredReport.device)
    )
    reports = {r.device: r for r in rows.scalars(all_reports.where(StoredReport.id.in_(newest)))}
    due_at = (
        select(Version.device, func.min(Schedule.next_at))
        .join(Schedule, Schedule.study == Version.study)
        .where(Version.device.in_(latest))
        .group_by(Version.device)
    )
    due = dict(pairs(rows, due_at))
    signed = signed_acts(rows, [r.id for r in reports.values()])
    lines = []
    for name, version in latest.items():
        report = reports.get(name)
        moments = devices_api.timeline(name, who, core, PageRequest(limit=MOST_POINTS, after=None)).items
        charts = trends.charts(moments, lambda key: quantity_name(key, say), say)
        lines.append(
            DeviceLine(
                devices[name],
                report,
                signed[report.id] if report else frozenset(),
                charts[0] if charts else None,
                due.get(name),
                (version.facts.get("next") or {}).get("until", ""),
            )
        )
    return lines


@router.get("/search")
def search(request: Request, who: Reader, core: TheCore, q: filters.Search = "") -> Response:
    """Studies, devices and reports of which something is called as what is searched."""
    wanted = q.strip()
    found: dict[str, tuple[list[Any], bool]] = {}
    names: dict[str, str] = {}
    with core.store.read() as rows:
        if wanted:
            of_reports = filters.ReportFilter(q=wanted).apply(
                who.rows_of(StoredReport), who, core.store.is_sqlite
            )
            queries = {
                "studies": (filters.StudyFilter(q=wanted).apply(who.rows_of(StoredStudy)), StoredStudy.id),
                "devices": (filters.DeviceFilter(q=wanted).apply(who.rows_of(StoredDevice)), StoredDevice.id),
                "reports": (of_reports, StoredReport.id),
            }
            pages = {kind: listed(rows, query, by, "", OF_A_KIND) for kind, (query, by) in queries.items()}
            studies = who.rows_of(StoredStudy).where(
                StoredStudy.id.in_({r.study for r in pages["reports"].items})
            )
            names = {s.id: s.name for s in rows.scalars(studies)}
            found = {kind: (one.items, one.next is not None) for kind, one in pages.items()}
        return page(
            request,
            "search",
            q=wanted,
            found={kind: one for kind, one in found.items() if one[0]},
            names=names,
        )
