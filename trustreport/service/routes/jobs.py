"""Jobs: ask for a report, see how far it is, cancel it."""

from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session as Rows

from trustreport.service.jobs import queue
from trustreport.service.jobs.outlook import outlook
from trustreport.service.routes import filters
from trustreport.service.routes.pagination import Name, Page, RequestedPage
from trustreport.service.routes.shapes import ReportOptions, ResponseBody, ask_again, maybe, moment
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Job, Version
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import Author, Reader, TheCore
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["jobs"])
State = Literal["queued", "running", "done", "failed", "cancelled"]


class JobResponse(ResponseBody):
    id: str
    task: Literal["check", "report"]
    study: str
    version: str
    wishes: dict[str, Any]
    code: str
    state: State
    step: str
    progress: float
    reason: str
    attempts: int
    report: str | None
    created_by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    place: int | None = Field(description="in the queue at the latest, 1 is next; null of what does not wait")
    expected_at: datetime | None = Field(description="when it will probably be done, from earlier ones")


@router.post("/versions/{version}/jobs", status_code=201, responses={200: {"description": "Asked before"}})
def request_report(
    version: Name, asked: ReportOptions, who: Author, core: TheCore, response: Response
) -> JobResponse:
    """Request a report. The same inputs, wishes and code are one job: asking again answers 200 with it."""
    with core.store.write() as rows:
        row = who.one(rows, Version, version)
        if row.state != "valid":
            raise Fault(
                409,
                say(f"pages.fault.{'not_checked' if row.state == 'checking' else 'not_valid'}.title"),
                say("pages.fault.not_valid.state", state=row.state),
            )
        job, new = queue.enqueue(rows, row, who.user, "report", asked.plain(), core.settings)
        response.status_code = 201 if new else 200
        return to_response(job, rows, core.settings)


@router.get("/jobs")
def jobs(
    who: Reader,
    core: TheCore,
    turn: RequestedPage,
    wanted: filters.Jobs,
) -> Page[JobResponse]:
    """All jobs, or those that are wanted."""
    with core.store.read() as rows:
        return turn.rows(
            rows, wanted.apply(who.all(Job)), Job.id, lambda job: to_response(job, rows, core.settings)
        )


@router.get("/jobs/{job}")
def get_job(job: Name, who: Reader, core: TheCore, response: Response) -> JobResponse:
    """One job: its state, step and progress (0 to 1), or the reason of its failure.

    Until it has ended, `Retry-After` says in how many seconds to ask again.
    """
    with core.store.read() as rows:
        row = who.one(rows, Job, job)
        if row.state not in queue.ENDED:
            response.headers["Retry-After"] = ask_again(now(rows) - row.created_at)
        return to_response(row, rows, core.settings)


@router.post("/jobs/{job}/cancel", status_code=202)
def cancel(job: Name, who: Author, core: TheCore) -> JobResponse:
    """Ask that a job stops. One that has ended stays as it is."""
    with core.store.write() as rows:
        row = who.one(rows, Job, job)
        queue.cancel(rows, row, who.user, core.settings)
        return to_response(row, rows, core.settings)


def to_response(row: Job, rows: Rows, settings: Settings) -> JobResponse:
    """A job as the API says it."""
    expected = outlook(rows, row, settings)
    return JobResponse(
        id=row.id,
        task=row.task,
        study=row.study,
        version=row.version,
        wishes=row.wishes,
        code=row.code,
        state=row.state,
        step=row.step,
        progress=row.progress,
        reason=row.reason,
        attempts=row.attempts,
        report=row.report,
        created_by=row.created_by,
        created_at=moment(row.created_at),
        started_at=maybe(row.started_at),
        finished_at=maybe(row.finished_at),
        place=expected.place,
        expected_at=maybe(expected.ends_at),
    )
