"""A job as JSON and as a page, and how long it may still take."""

from dataclasses import dataclass
from statistics import median

from fastapi import APIRouter, Request, Response
from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.guard import Author, Reader, TheCore
from trustreport.service.client import operations as op
from trustreport.service.client.records import JobResponse
from trustreport.service.jobs import queue
from trustreport.service.pages import filters
from trustreport.service.pages.page_context import Author as PageAuthor
from trustreport.service.pages.page_context import Reader as PageReader
from trustreport.service.pages.page_context import Sent, see
from trustreport.service.pages.render import page
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Job, StoredStudy, StoredWorker, Version
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import (
    Name,
    Page,
    ReportOptions,
    RequestedPage,
    ask_again,
    serves,
)
from trustreport.vocabulary.messages import say

LATEST = 9  # jobs that say how long one takes


@dataclass(frozen=True, slots=True)
class Outlook:
    """What to expect of a job.

    Parameters
    ----------
    place : of a job that waits, at the latest: 1 is next; None of any other
    ends_at : milliseconds; None where nothing like it was ever done, or where it takes longer than usual
    """

    place: int | None = None
    ends_at: int | None = None


def outlook(rows: Rows, job: Job, settings: Settings) -> Outlook:
    """What to expect of a job."""
    if job.state not in ("queued", "running"):
        return Outlook()
    at, usual = now(rows), _usual(rows, job)
    place = _place(rows, job) if job.state == "queued" else None
    if usual is None:
        return Outlook(place)
    if place is None:
        ends = (job.started_at or at) + usual
        return Outlook(None, ends if ends > at else None)
    before = place - 1 + (rows.scalar(_same_task(job, "running")) or 0)
    return Outlook(place, at + usual * (before // _threads(rows, settings, at) + 1))


def _usual(rows: Rows, job: Job) -> int | None:
    """How long such a job takes, in milliseconds: one of this study, else of this organisation."""
    took = (
        select(Job.finished_at - Job.started_at)
        .where(Job.organisation == job.organisation, Job.task == job.task, Job.state == "done")
        .where(Job.started_at.is_not(None))
        .order_by(Job.finished_at.desc())
        .limit(LATEST)
    )
    found = rows.scalars(took.where(Job.study == job.study)).all() or rows.scalars(took).all()
    seen = [milliseconds for milliseconds in found if milliseconds is not None]
    return round(median(seen)) if seen else None


def _place(rows: Rows, job: Job) -> int:
    """Organisations take turns: before the k-th job of one come at most k of each other."""
    earlier = or_(Job.created_at < job.created_at, (Job.created_at == job.created_at) & (Job.id < job.id))
    own = _same_task(job, "queued").where(Job.organisation == job.organisation, earlier)
    k = (rows.scalar(own) or 0) + 1
    others = (
        select(func.count())
        .where(Job.task == job.task, Job.state == "queued", Job.organisation != job.organisation)
        .group_by(Job.organisation)
    )
    return k + sum(min(n, k) for n in rows.scalars(others))


def _same_task(job: Job, state: str) -> Select[int]:
    return select(func.count()).select_from(Job).where(Job.task == job.task, Job.state == state)


def _threads(rows: Rows, settings: Settings, at: int) -> int:
    """How many such jobs are done at a time, as far as is known: other machines may have more threads."""
    seen = at - round(settings.lease * 1000)
    processes = rows.scalar(
        select(func.count()).select_from(StoredWorker).where(StoredWorker.seen_at >= seen)
    )
    return max(processes or 0, 1) * max(settings.workers, 1)


router = APIRouter(tags=["jobs"])


@serves(router, op.REQUEST_REPORT, responses={200: {"description": "Asked before"}})
def request_report(
    version: Name, asked: ReportOptions, who: Author, core: TheCore, response: Response
) -> JobResponse:
    """Request a report. The same inputs, wishes and code are one job: asking again answers 200 with it."""
    with core.store.write() as rows:
        row = who.row_of(rows, Version, version)
        if row.state != "valid":
            title = "not_checked" if row.state == "checking" else "not_valid"
            detail = say("pages.fault.not_valid.state", state=row.state)
            raise Fault(409, detail, title=say(f"pages.fault.{title}.title"))
        job, new = queue.enqueue(rows, row, who.user, "report", asked.plain(), core.settings)
        response.status_code = 201 if new else 200
        return to_response(job, rows, core.settings)


@serves(router, op.JOBS)
def jobs(
    who: Reader,
    core: TheCore,
    turn: RequestedPage,
    wanted: filters.Jobs,
) -> Page[JobResponse]:
    """All jobs, or those that are wanted."""
    with core.store.read() as rows:
        return turn.rows(
            rows, wanted.apply(who.rows_of(Job)), Job.id, lambda job: to_response(job, rows, core.settings)
        )


@serves(router, op.JOB)
def get_job(job: Name, who: Reader, core: TheCore, response: Response) -> JobResponse:
    """One job: its state, step and progress (0 to 1), or the reason of its failure.

    Until it has ended, `Retry-After` says in how many seconds to ask again.
    """
    with core.store.read() as rows:
        row = who.row_of(rows, Job, job)
        if row.state not in queue.ENDED:
            response.headers["Retry-After"] = ask_again(now(rows) - row.created_at)
        return to_response(row, rows, core.settings)


@serves(router, op.CANCEL)
def cancel(job: Name, who: Author, core: TheCore) -> JobResponse:
    """Ask that a job stops. One that has ended stays as it is."""
    with core.store.write() as rows:
        row = who.row_of(rows, Job, job)
        queue.cancel(rows, row, who.user, core.settings)
        return to_response(row, rows, core.settings)


def to_response(row: Job, rows: Rows, settings: Settings) -> JobResponse:
    """A job as the API says it."""
    expected = outlook(rows, row, settings)
    return JobResponse.of_row(row, place=expected.place, expected_at=expected.ends_at)


page_router = APIRouter(prefix="/jobs")
LIVE = ("queued", "running")


@page_router.get("/{job}")
def job(job: Name, request: Request, who: PageReader, core: TheCore) -> Response:
    """One job. Its page asks for the part that moves, until there is a report to go to."""
    with core.store.read() as rows:
        row = who.row_of(rows, Job, job)
        expected = outlook(rows, row, core.settings)
        study, version = rows.get_one(StoredStudy, row.study), rows.get_one(Version, row.version)
    moving = bool(request.headers.get("HX-Request"))
    if row.state == "done" and (moving or row.task == "check"):
        there = f"/reports/{row.report}" if row.report else f"/versions/{row.version}"
        return Response(headers={"HX-Redirect": there}) if moving else see(there)
    template = "part_job" if moving else "job"
    return page(
        request, template, job=row, study=study, version=version, live=row.state in LIVE, expected=expected
    )


@page_router.post("/{job}/cancellation")
def cancel_on_page(job: Name, who: PageAuthor, core: TheCore, form: Sent) -> Response:
    """Stop it."""
    cancel(job, who, core)
    return see(f"/jobs/{job}")
