"""What was removed and can be restored is in no query, whoever asks: the condition is added to each of them.

Only the record and the work of a day look behind it, by `with_removed`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Select, event, or_, select
from sqlalchemy.orm import ORMExecuteState, Session, with_loader_criteria

from trustreport.service.storage.collaboration import Comment, ReviewRequest, StoredShare
from trustreport.service.storage.fixing import FixedCriteria
from trustreport.service.storage.models import (
    Attestation,
    Draft,
    Job,
    Schedule,
    StoredReport,
    StoredStudy,
    Version,
)
from trustreport.service.storage.pooling import InvitedSite, SiteUpload, StoredCollaboration

SEEN = "removed rows are seen"


def _names(table: str, *conditions: object) -> Select[tuple[str]]:
    """Names of rows by conditions on a plain table, to which nothing is added."""
    return select(TABLES[table].c.id).where(*conditions)  # type: ignore[arg-type]


TABLES = StoredStudy.metadata.tables
_STUDIES = _names("studies", TABLES["studies"].c.removed_at.is_not(None))
_REPORTS = _names(
    "reports",
    or_(TABLES["reports"].c.removed_at.is_not(None), TABLES["reports"].c.study.in_(_STUDIES)),
)
_VERSIONS = _names("versions", TABLES["versions"].c.study.in_(_STUDIES))
_COLLABORATIONS = _names("collaborations", TABLES["collaborations"].c.study.in_(_STUDIES))
_SITES = _names("invited_sites", TABLES["invited_sites"].c.collaboration.in_(_COLLABORATIONS))
CONDITIONS = (
    with_loader_criteria(StoredStudy, StoredStudy.removed_at.is_(None)),
    *(
        with_loader_criteria(model, model.study.not_in(_STUDIES))
        for model in (Version, Schedule, StoredCollaboration, FixedCriteria)
    ),
    with_loader_criteria(
        Job, Job.study.not_in(_STUDIES) & or_(Job.report.is_(None), Job.report.not_in(_REPORTS))
    ),
    *(
        with_loader_criteria(model, model.report.not_in(_REPORTS))
        for model in (Attestation, ReviewRequest, StoredShare)
    ),
    with_loader_criteria(StoredReport, StoredReport.id.not_in(_REPORTS)),
    with_loader_criteria(
        Comment,
        Comment.version.not_in(_VERSIONS) & or_(Comment.report.is_(None), Comment.report.not_in(_REPORTS)),
    ),
    with_loader_criteria(Draft, Draft.version.not_in(_VERSIONS)),
    with_loader_criteria(InvitedSite, InvitedSite.collaboration.not_in(_COLLABORATIONS)),
    with_loader_criteria(SiteUpload, SiteUpload.site.not_in(_SITES)),
)


@event.listens_for(Session, "do_orm_execute")
def _hide(state: ORMExecuteState) -> None:
    of_row = state.is_column_load or state.is_relationship_load
    if state.is_select and not of_row and not state.session.info.get(SEEN):
        state.statement = state.statement.options(*CONDITIONS)


@contextmanager
def with_removed(rows: Session) -> Iterator[None]:
    """A time in which a transaction sees removed rows too."""
    before = rows.info.get(SEEN)
    rows.info[SEEN] = True
    try:
        yield
    finally:
        rows.info[SEEN] = before
