"""Studies: what versions and reports belong to."""

from fastapi import APIRouter
from pydantic import Field

from trustreport.service.access.guard import Admin, Author, Reader, TheCore
from trustreport.service.client import operations as op
from trustreport.service.client.records import StudyResponse
from trustreport.service.pages import filters
from trustreport.service.record import removal
from trustreport.service.storage.models import StoredStudy
from trustreport.service.web.shapes import Line, Name, Page, RequestBody, RequestedPage, serves

router = APIRouter(prefix="/studies", tags=["studies"])


class StudyName(RequestBody):
    name: Line = Field(examples=["Chest CT"])


@serves(router, op.STUDIES)
def studies(who: Reader, core: TheCore, turn: RequestedPage, wanted: filters.Studies) -> Page[StudyResponse]:
    """All studies, or those that are wanted."""
    with core.store.read() as rows:
        return turn.rows(rows, wanted.apply(who.rows_of(StoredStudy)), StoredStudy.id, StudyResponse.of_row)


@serves(router, op.CREATE_STUDY)
def begin(asked: StudyName, who: Author, core: TheCore) -> StudyResponse:
    """A new study, without data yet."""
    with core.store.write() as rows:
        study = who.new_row(rows, StoredStudy, name=asked.name)
        who.audit(rows, "study.add", study.id)
        return StudyResponse.of_row(study)


@serves(router, op.STUDY)
def get_study(study: Name, who: Reader, core: TheCore) -> StudyResponse:
    """One study."""
    with core.store.read() as rows:
        return StudyResponse.of_row(who.row_of(rows, StoredStudy, study))


@router.patch("/{study}")
def rename(study: Name, asked: StudyName, who: Author, core: TheCore) -> StudyResponse:
    """Rename a study."""
    with core.store.write() as rows:
        row = who.row_of(rows, StoredStudy, study)
        row.name = asked.name
        who.audit(rows, "study.rename", row.id)
        return StudyResponse.of_row(row)


@router.delete("/{study}", status_code=204)
def remove(study: Name, who: Admin, core: TheCore) -> None:
    """Remove a study with its data, reports and signatures; for 30 days it can be restored."""
    with core.store.write() as rows:
        removal.remove_study(rows, who, who.row_of(rows, StoredStudy, study))
