"""A job: how far it is, and cancelling it."""

from fastapi import APIRouter, Request, Response

from trustreport.service.jobs.outlook import outlook
from trustreport.service.pages.page_context import Author, Reader, Sent, see
from trustreport.service.pages.render import page
from trustreport.service.routes import jobs as api
from trustreport.service.routes.pagination import Name
from trustreport.service.storage.models import Job, StoredStudy, Version
from trustreport.service.web.guard import TheCore

router = APIRouter(prefix="/jobs")
LIVE = ("queued", "running")


@router.get("/{job}")
def job(job: Name, request: Request, who: Reader, core: TheCore) -> Response:
    """One job. Its page asks for the part that moves, until there is a report to go to."""
    with core.store.read() as rows:
        row = who.one(rows, Job, job)
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


@router.post("/{job}/cancellation")
def cancel(job: Name, who: Author, core: TheCore, form: Sent) -> Response:
    """Stop it."""
    api.cancel(job, who, core)
    return see(f"/jobs/{job}")
