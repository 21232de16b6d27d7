"""Studies: the list, and the page of one."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.who import Who
from trustreport.service.core import Core
from trustreport.service.pages.names import pairs, people, signed_acts
from trustreport.service.pages.render import page
from trustreport.service.pages.visit import Admin, Author, Reader, Sent, asked, attempt, see, text
from trustreport.service.routes import studies as api
from trustreport.service.routes.pages_of import Name, Turn
from trustreport.service.storage.models import Job, Report, Schedule, Study, Version
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import TheCore

A_PAGE = 25
LATEST = 50  # versions, reports and jobs on the page of a study
Search = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]
After = Annotated[str, Query(max_length=300)]

router = APIRouter(prefix="/studies")


@dataclass(frozen=True, slots=True)
class Line:
    """A study in the list; `version` is its newest one, `report` its newest report."""

    study: Study
    version: Row[Any] | None
    n_reports: int
    report: Report | None
    signed: frozenset[str]


@router.get("")
def studies(request: Request, who: Reader, core: TheCore, q: Search = "", after: After = "") -> Response:
    """The studies whose name holds what is searched, the newest first."""
    query = who.all(Study)
    if q.strip():
        query = query.where(Study.name.icontains(q.strip(), autoescape=True))
    with core.store.read() as rows:
        found = Turn(limit=A_PAGE, after=after or None).rows(rows, query, Study.id, lambda s: s)
        lines = _lines(rows, found.items)
    return page(request, "studies", lines=lines, q=q, after=after, next=found.next)


@router.get("/{study}")
def one(study: Name, request: Request, who: Reader, core: TheCore) -> Response:
    """A study with its versions, reports and what is at work."""
    return show(request, who, core, study)


@router.post("/{study}/name")
def rename(study: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Another name."""

    def act() -> Response:
        api.rename(study, asked(api.Naming, name=text(form, "name")), who, core)
        return see(f"/studies/{study}?done=renamed")

    return attempt(act, lambda fault: show(request, who, core, study, fault=fault))


@router.post("/{study}/removal")
def remove(study: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Remove it with all that was made of it, once its name was typed."""

    def act() -> Response:
        if text(form, "name").strip() != api.one(study, who, core).name:
            raise Fault(422, "Not the name", "Type the study's name to remove it.")
        api.remove(study, who, core)
        return see("/studies?done=removed")

    return attempt(act, lambda fault: show(request, who, core, study, fault=fault))


def show(request: Request, who: Who, core: Core, study: str, fault: Fault | None = None) -> Response:
    """The page of a study."""
    with core.store.read() as rows:
        row = who.one(rows, Study, study)
        columns = (
            Version.id,
            Version.number,
            Version.state,
            Version.facts,
            Version.created_by,
            Version.created_at,
        )
        versions = rows.execute(
            select(*columns).where(Version.study == row.id).order_by(Version.number.desc()).limit(LATEST)
        ).all()
        reports = rows.scalars(
            select(Report).where(Report.study == row.id).order_by(Report.id.desc()).limit(LATEST)
        ).all()
        jobs = rows.scalars(
            select(Job)
            .where(Job.study == row.id, Job.task == "report", Job.state != "done")
            .order_by(Job.id.desc())
            .limit(10)
        ).all()
        schedules = rows.scalars(select(Schedule).where(Schedule.study == row.id)).all()
        numbers = select(Version.id, Version.number).where(Version.study == row.id)
        made_by = {v.created_by for v in versions} | {r.created_by for r in reports} | {row.created_by}
        return page(
            request,
            "study",
            study=row,
            versions=versions,
            reports=reports,
            numbers=dict(pairs(rows, numbers)),
            jobs=jobs,
            schedules=schedules,
            signed=signed_acts(rows, [r.id for r in reports]),
            people=people(rows, who, made_by),
            most=core.settings.most_body,
            fault=fault,
        )


def _lines(rows: Rows, found: list[Study]) -> list[Line]:
    """What the list shows of each; a fixed number of queries, whatever is stored."""
    names = [study.id for study in found]
    last = (
        select(Version.study, func.max(Version.number).label("number"))
        .where(Version.study.in_(names))
        .group_by(Version.study)
        .subquery()
    )
    newest = select(Version.study, Version.id, Version.number, Version.state, Version.facts).join(
        last, (Version.study == last.c.study) & (Version.number == last.c.number)
    )
    versions = {row.study: row for row in rows.execute(newest)}
    made = (
        select(Report.study, func.count(), func.max(Report.id))
        .where(Report.study.in_(names))
        .group_by(Report.study)
    )
    counted = {study: (n, report) for study, n, report in rows.execute(made)}
    latest = [report for _, report in counted.values()]
    reports = {r.study: r for r in rows.scalars(select(Report).where(Report.id.in_(latest)))}
    signed = signed_acts(rows, latest)
    return [
        Line(
            study,
            versions.get(study.id),
            counted.get(study.id, (0, ""))[0],
            report := reports.get(study.id),
            signed[report.id] if report else frozenset(),
        )
        for study in found
    ]
