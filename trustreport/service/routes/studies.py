"""Studies: what versions and reports belong to."""

from datetime import datetime

from fastapi import APIRouter

from trustreport.service import audit
from trustreport.service.ids import new_id
from trustreport.service.record import retention
from trustreport.service.routes.pages_of import Name, Page, Turned
from trustreport.service.routes.shapes import Asked, Line, Said, moment
from trustreport.service.storage.models import Study
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import Admin, Author, Reader, TheCore

router = APIRouter(prefix="/studies", tags=["studies"])


class Naming(Asked):
    name: Line


class StudySaid(Said):
    id: str
    name: str
    created_by: str
    created_at: datetime


@router.get("")
def studies(who: Reader, core: TheCore, turn: Turned) -> Page[StudySaid]:
    """All studies."""
    with core.store.read() as rows:
        return turn.rows(rows, who.all(Study), Study.id, said)


@router.post("", status_code=201)
def begin(asked: Naming, who: Author, core: TheCore) -> StudySaid:
    """A new study, without data yet."""
    with core.store.write() as rows:
        study = Study(
            id=new_id(),
            organisation=who.organisation,
            name=asked.name,
            created_by=who.user,
            created_at=now(rows),
        )
        rows.add(study)
        rows.flush()
        audit.write(rows, who.organisation, who.user, "study.add", study.id)
        return said(study)


@router.get("/{study}")
def one(study: Name, who: Reader, core: TheCore) -> StudySaid:
    """One study."""
    with core.store.read() as rows:
        return said(who.one(rows, Study, study))


@router.patch("/{study}")
def rename(study: Name, asked: Naming, who: Author, core: TheCore) -> StudySaid:
    """Rename a study."""
    with core.store.write() as rows:
        row = who.one(rows, Study, study)
        row.name = asked.name
        audit.write(rows, who.organisation, who.user, "study.rename", row.id)
        return said(row)


@router.delete("/{study}", status_code=204)
def remove(study: Name, who: Admin, core: TheCore) -> None:
    """Remove a study with its data, reports and signatures; the audit log keeps their hashes."""
    with core.store.write() as rows:
        row = who.one(rows, Study, study)
        if retention.is_busy(rows, row.id):
            raise Fault(409, "Busy", "A job of this study waits or runs; cancel it first.")
        retention.remove(rows, row, who.user)


def said(row: Study) -> StudySaid:
    """A study as the API says it."""
    return StudySaid(id=row.id, name=row.name, created_by=row.created_by, created_at=moment(row.created_at))
