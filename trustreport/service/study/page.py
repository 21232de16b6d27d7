"""Studies: the list, and the page of one."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.guard import TheCore
from trustreport.service.intake import LOCK
from trustreport.service.pages import filters
from trustreport.service.pages.page_context import (
    Admin,
    After,
    Author,
    Reader,
    Sent,
    body_from,
    listed,
    see,
    shown_again,
    signed_acts,
    text,
    user_names,
)
from trustreport.service.pages.render import page
from trustreport.service.storage.models import (
    Job,
    Schedule,
    StoredReport,
    StoredStudy,
    Version,
    VersionFile,
)
from trustreport.service.storage.pooling import StoredCollaboration
from trustreport.service.study import api
from trustreport.service.study.fixing import fixing_of, lacks_data_alone, numbers_of
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say

LATEST = 50  # versions, reports and jobs on the page of a study

router = APIRouter(prefix="/studies")


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study in the list; `version` is its newest one, `report` its newest report."""

    study: StoredStudy
    version: Row[Any] | None
    n_reports: int
    report: StoredReport | None
    signed: frozenset[str]


@router.get("")
def studies(
    request: Request, who: Reader, core: TheCore, wanted: filters.Studies, after: After = ""
) -> Response:
    """The studies whose name holds what is searched, the newest first."""
    query = wanted.apply(who.rows_of(StoredStudy))
    with core.store.read() as rows:
        found = listed(rows, query, StoredStudy.id, after)
        lines = _lines(rows, found.items)
    return page(
        request,
        "studies",
        lines=lines,
        lacks_data=lacks_data_alone,
        wanted=wanted,
        after=after,
        next=found.next,
    )


@router.get("/{study}")
def show(request: Request, who: Reader, core: TheCore, study: Name) -> Response:
    """The page of a study."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredStudy, study)
        columns = (
            Version.id,
            Version.number,
            Version.state,
            Version.facts,
            Version.problems,
            Version.criteria,
            Version.created_by,
            Version.created_at,
        )
        versions = rows.execute(
            select(*columns).where(Version.study == row.id).order_by(Version.number.desc()).limit(LATEST)
        ).all()
        reports = rows.scalars(
            select(StoredReport)
            .where(StoredReport.study == row.id)
            .order_by(StoredReport.id.desc())
            .limit(LATEST)
        ).all()
        jobs = rows.scalars(
            select(Job)
            .where(Job.study == row.id, Job.task == "report", Job.state != "done")
            .order_by(Job.id.desc())
            .limit(10)
        ).all()
        schedules = rows.scalars(select(Schedule).where(Schedule.study == row.id)).all()
        asked = who.rows_of(StoredCollaboration).where(StoredCollaboration.study == row.id)
        lock = select(VersionFile.name).join(Version, Version.id == VersionFile.version)
        lock = lock.where(Version.study == row.id, VersionFile.name == LOCK)
        numbers = numbers_of(rows, row.id)
        fixing = fixing_of(rows, row.id)
        steps = fixing.steps(numbers)
        made_by = {v.created_by for v in versions} | {r.created_by for r in reports} | {row.created_by}
        made_by |= {step.by for step in steps}
        return page(
            request,
            "study",
            study=row,
            versions=versions,
            lacks_data=lacks_data_alone,
            steps=steps,
            waiting=fixing.waiting,
            reports=reports,
            numbers=numbers,
            jobs=jobs,
            schedules=schedules,
            collaborations=rows.scalars(asked.order_by(StoredCollaboration.id.desc()).limit(LATEST)).all(),
            is_locked=rows.scalar(lock.limit(1)) is not None,
            signed=signed_acts(rows, [r.id for r in reports]),
            people=user_names(rows, who, made_by),
            most=core.settings.most_body,
        )


@router.post("/{study}/name")
@shown_again(show)
def rename(study: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Another name."""
    api.rename(study, body_from(form, api.StudyName), who, core)
    return see(f"/studies/{study}?done=renamed")


@router.post("/{study}/removal")
@shown_again(show)
def remove(study: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Remove it with all that was made of it, once its name was typed."""
    if text(form, "name").strip() != api.get_study(study, who, core).name:
        raise Fault(422, say("pages.fault.not_the_name.detail"))
    api.remove(study, who, core)
    return see("/removed?done=removed")


def _lines(rows: Rows, found: list[StoredStudy]) -> list[StudyLine]:
    """What the list shows of each; a fixed number of queries, whatever is stored."""
    names = [study.id for study in found]
    last = (
        select(Version.study, func.max(Version.number).label("number"))
        .where(Version.study.in_(names))
        .group_by(Version.study)
        .subquery()
    )
    shown = (Version.id, Version.number, Version.state, Version.facts, Version.problems, Version.criteria)
    newest = select(Version.study, *shown).join(
        last, (Version.study == last.c.study) & (Version.number == last.c.number)
    )
    versions = {row.study: row for row in rows.execute(newest)}
    made = (
        select(StoredReport.study, func.count(), func.max(StoredReport.id))
        .where(StoredReport.study.in_(names))
        .group_by(StoredReport.study)
    )
    counted = {study: (n, report) for study, n, report in rows.execute(made)}
    latest = [report for _, report in counted.values()]
    reports = {r.study: r for r in rows.scalars(select(StoredReport).where(StoredReport.id.in_(latest)))}
    signed = signed_acts(rows, latest)
    return [
        StudyLine(
            study,
            versions.get(study.id),
            counted.get(study.id, (0, ""))[0],
            report := reports.get(study.id),
            signed[report.id] if report else frozenset(),
        )
        for study in found
    ]
