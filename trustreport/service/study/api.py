"""Studies: what versions and reports belong to."""

from datetime import datetime

from fastapi import APIRouter

from trustreport.service import audit
from trustreport.service.access.guard import Admin, Author, Reader, TheCore
from trustreport.service.ids import new_id
from trustreport.service.pages import filters
from trustreport.service.record import retention
from trustreport.service.storage.models import StoredStudy
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Line, Name, Page, RequestBody, RequestedPage, ResponseBody, moment
from trustreport.vocabulary.messages import say

router = APIRouter(prefix="/studies", tags=["studies"])


class StudyName(RequestBody):
    name: Line


class StudyResponse(ResponseBody):
    id: str
    name: str
    created_by: str
    created_at: datetime


@router.get("")
def studies(who: Reader, core: TheCore, turn: RequestedPage, wanted: filters.Studies) -> Page[StudyResponse]:
    """All studies, or those that are wanted."""
    with core.store.read() as rows:
        return turn.rows(rows, wanted.apply(who.all(StoredStudy)), StoredStudy.id, to_response)


@router.post("", status_code=201)
def begin(asked: StudyName, who: Author, core: TheCore) -> StudyResponse:
    """A new study, without data yet."""
    with core.store.write() as rows:
        study = StoredStudy(
            id=new_id(),
            organisation=who.organisation,
            name=asked.name,
            created_by=who.user,
            created_at=now(rows),
        )
        rows.add(study)
        rows.flush()
        audit.write(rows, who.organisation, who.user, "study.add", study.id)
        return to_response(study)


@router.get("/{study}")
def get_study(study: Name, who: Reader, core: TheCore) -> StudyResponse:
    """One study."""
    with core.store.read() as rows:
        return to_response(who.one(rows, StoredStudy, study))


@router.patch("/{study}")
def rename(study: Name, asked: StudyName, who: Author, core: TheCore) -> StudyResponse:
    """Rename a study."""
    with core.store.write() as rows:
        row = who.one(rows, StoredStudy, study)
        row.name = asked.name
        audit.write(rows, who.organisation, who.user, "study.rename", row.id)
        return to_response(row)


@router.delete("/{study}", status_code=204)
def remove(study: Name, who: Admin, core: TheCore) -> None:
    """Remove a study with its data, reports and signatures; the audit log keeps their hashes."""
    with core.store.write() as rows:
        row = who.one(rows, StoredStudy, study)
        if retention.is_busy(rows, row.id):
            raise Fault(409, say("pages.fault.busy.title"), say("pages.fault.busy.job"))
        retention.remove(rows, row, who.user)


def to_response(row: StoredStudy) -> StudyResponse:
    """A study as the API says it."""
    return StudyResponse(
        id=row.id, name=row.name, created_by=row.created_by, created_at=moment(row.created_at)
    )
