"""A version of a study: what its check found, its files, and the reports asked of it."""

from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select

from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.jobs import queue
from trustreport.service.pages.names import signed_acts, user_names
from trustreport.service.pages.page_context import (
    Author,
    Reader,
    Sent,
    attempt,
    request_from_form,
    see,
    text,
    texts,
    typed,
)
from trustreport.service.pages.render import page
from trustreport.service.pages.threads import thread_of_version
from trustreport.service.routes.pagination import Name
from trustreport.service.routes.shapes import ReportOptions
from trustreport.service.storage.models import Job, StoredReport, StoredStudy, Version, VersionFile
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import TheCore
from trustreport.vocabulary.messages import say

PROBLEMS_A_PAGE = 100
REPLACEABLE = (".csv", ".parquet", ".xlsx", ".json", ".yaml", ".yml")  # also where the file is missing
MOST_PARTS = 50  # files that the form takes in place of others
From = Annotated[int, Query(ge=0, lt=1_000_000)]

router = APIRouter(prefix="/versions")


@router.get("/{version}")
def show_version(version: Name, request: Request, who: Reader, core: TheCore, start: From = 0) -> Response:
    """What was found; while it is being checked, its page asks again by itself."""
    if request.headers.get("HX-Request"):
        with core.store.read() as rows:
            state = who.one(rows, Version, version).state
        return Response(headers={} if state == "checking" else {"HX-Refresh": "true"}, status_code=200)
    return show(request, who, core, version, start=start)


@router.post("/{version}/jobs")
def request_report(version: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Request a report; one that there is already is shown."""

    def submit() -> Response:
        wanted = request_from_form(
            ReportOptions,
            kind=text(form, "kind") or None,
            formats=texts(form, "format"),
            release=text(form, "release") or None,
            seed=text(form, "seed") or None,
        )
        with core.store.write() as rows:
            row = who.one(rows, Version, version)
            if row.state != "valid":
                raise Fault(409, say("pages.fault.not_valid.title"), say("pages.fault.not_valid.detail"))
            job, _ = queue.enqueue(rows, row, who.user, "report", wanted.plain(), core.settings)
            return see(f"/reports/{job.report}" if job.report else f"/jobs/{job.id}")

    return attempt(submit, lambda fault: show(request, who, core, version, fault=fault, sent=typed(form)))


def show(
    request: Request,
    who: Principal,
    core: Core,
    version: str,
    *,
    start: int = 0,
    fault: Fault | None = None,
    sent: dict[str, str] | None = None,
) -> Response:
    """The page of a version."""
    with core.store.read() as rows:
        row = who.one(rows, Version, version)
        study = rows.get_one(StoredStudy, row.study)
        files = rows.scalars(
            select(VersionFile).where(VersionFile.version == row.id).order_by(VersionFile.name)
        ).all()
        newest = rows.scalar(
            select(Version.id).where(Version.study == row.study).order_by(Version.number.desc()).limit(1)
        )
        reports = rows.scalars(
            select(StoredReport).where(StoredReport.version == row.id).order_by(StoredReport.id.desc())
        ).all()
        jobs = rows.scalars(
            select(Job)
            .where(Job.version == row.id, Job.task == "report", Job.state != "done")
            .order_by(Job.id.desc())
            .limit(10)
        ).all()
        unpacked = not any(f.archive for f in files)
        return page(
            request,
            "version",
            version=row,
            study=study,
            files=files,
            unpacked=unpacked,
            faulty=faulty(row.problems, {f.name for f in files})[:MOST_PARTS] if unpacked else [],
            proposal=row.facts.get("proposal", ""),
            problems=row.problems[start : start + PROBLEMS_A_PAGE],
            start=start,
            next=start + PROBLEMS_A_PAGE if start + PROBLEMS_A_PAGE < len(row.problems) else None,
            is_newest=newest == row.id,
            newest=newest,
            reports=reports,
            jobs=jobs,
            signed=signed_acts(rows, [r.id for r in reports]),
            people=user_names(rows, who, {row.created_by, *(r.created_by for r in reports)}),
            thread=thread_of_version(rows, who, row.id),
            most=core.settings.most_body,
            fault=fault,
            typed=sent,
        )


def faulty(problems: list[dict[str, Any]], files: set[str]) -> list[tuple[str, int]]:
    """Each file that has problems, in their order, and how many; the folder as a whole is none to replace."""
    counted: dict[str, int] = {}
    for problem in problems:
        if problem["file"] in files or PurePosixPath(problem["file"]).suffix.lower() in REPLACEABLE:
            counted[problem["file"]] = counted.get(problem["file"], 0) + 1
    return list(counted.items())
