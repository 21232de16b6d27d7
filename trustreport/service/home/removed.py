"""What was removed and can be restored, as JSON and as a page; and sample data, which go in one click."""

from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.guard import Admin, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.client.records import RemovedResponse
from trustreport.service.intake import UploadedFile, new_version
from trustreport.service.jobs import queue
from trustreport.service.pages.page_context import Admin as PageAdmin
from trustreport.service.pages.page_context import Author, Sent, see, user_names
from trustreport.service.pages.render import page, words_of
from trustreport.service.record import removal, retention
from trustreport.service.storage.models import Job, StoredStudy
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name, Page, ReportOptions, moment
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.resources import folder

SAMPLE = "vigilance-audit"

router = APIRouter(prefix="/removed", tags=["studies"])
page_router = APIRouter()


@router.get("")
def removed(who: Admin, core: TheCore) -> Page[RemovedResponse]:
    """Studies and reports that were removed and can be restored, the latest first."""
    with core.store.read() as rows:
        found = removal.removed_rows(rows, who)
    items = [
        RemovedResponse(
            kind=one.kind,
            id=one.id,
            name=one.name,
            removed_at=moment(one.removed_at),
            removed_by=one.removed_by,
            until=moment(one.until),
        )
        for one in found
    ]
    return Page(items=items, next=None)


@router.post("/{removed}/restoration", status_code=204)
def restore(removed: Name, who: Admin, core: TheCore) -> None:
    """Restore a study or report."""
    with core.store.write() as rows:
        removal.restore(rows, who, removed)


@router.delete("/{removed}", status_code=204)
def delete(removed: Name, who: Admin, core: TheCore) -> None:
    """Delete a removed study or report for good, now."""
    with core.store.write() as rows:
        removal.delete(rows, who, removed)


@page_router.get("/removed")
def removed_page(request: Request, who: PageAdmin, core: TheCore) -> Response:
    """What can be restored until when."""
    with core.store.read() as rows:
        found = removal.removed_rows(rows, who)
        people = user_names(rows, who, {one.removed_by for one in found})
        return page(request, "removed", found=found, people=people)


@page_router.post("/removed/{removed}/restoration")
def restore_from_page(removed: Name, who: PageAdmin, core: TheCore, form: Sent) -> Response:
    """Show it again, and go there."""
    with core.store.write() as rows:
        return see(f"{removal.restore(rows, who, removed)}?done=restored")


@page_router.post("/removed/{removed}/deletion")
def delete_from_page(removed: Name, who: PageAdmin, core: TheCore, form: Sent) -> Response:
    """Delete it for good."""
    delete(removed, who, core)
    return see("/removed?done=deleted")


@page_router.post("/sample")
def add_sample(request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """An example study under a name that says so, whose report is requested once it is checked."""
    files = sorted(file for file in (folder("examples") / SAMPLE).iterdir() if file.suffix != ".py")
    with core.store.write() as rows:
        if _samples(rows, who):
            return see("/")
        named = words_of(request)("pages.sample.name")
        study = who.new_row(rows, StoredStudy, name=named, sample=True)
        who.audit(rows, "study.add", study.id, sample=True)
        handed = []
        for file in files:
            with file.open("rb") as stream:
                handed.append(UploadedFile(file.name, core.blobs.put(who.organisation, stream)))
        made = new_version(rows, who, study.id, handed)
        wishes: dict[str, Any] = {"report": ReportOptions(formats=["html", "pdf", "json"]).plain()}
        queue.enqueue(rows, made, who.user, "check", wishes, core.settings)
        return see(f"/studies/{study.id}")


@page_router.post("/sample/removal")
def remove_sample(who: Author, core: TheCore, form: Sent) -> Response:
    """Delete the example with its reports, at once."""
    with core.store.write() as rows:
        for study in _samples(rows, who):
            for job in rows.scalars(select(Job).where(Job.study == study.id)).all():
                queue.cancel(rows, job, who.user, core.settings)
            rows.flush()
            if retention.is_busy(rows, study.id):
                raise Fault(409, say("pages.fault.busy.job"))
            retention.remove(rows, study, who.user, sample=True)
    return see("/?done=no_sample")


def _samples(rows: Rows, who: Principal) -> list[StoredStudy]:
    return list(rows.scalars(who.rows_of(StoredStudy).where(StoredStudy.sample)).all())
