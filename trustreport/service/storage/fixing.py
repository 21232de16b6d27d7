"""The table of criteria that were fixed in advance, and what counts of it."""

from typing import Any

from sqlalchemy import String, Text, or_, select
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as Rows

from trustreport.service.storage.models import ID, SHA, Base, foreign_key, primary_key

DOCUMENT = "document"


class FixedCriteria(Base):
    """One act by which criteria were fixed: locked here, amended here, or declared as fixed elsewhere.

    `sha256` is its file: the lock, or the document that shows it. Where it waits for a second person, that
    is all there is of it, and `manifest` is what the study will have once it counts.
    """

    __tablename__ = "fixed_criteria"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    study: Mapped[str] = foreign_key("studies")
    version: Mapped[str] = foreign_key("versions")  # whose criteria they are
    kind: Mapped[str] = mapped_column(String(20))  # lock, amendment, document
    name: Mapped[str] = mapped_column(String(250))  # of the file
    sha256: Mapped[str] = mapped_column(SHA, index=True)
    size: Mapped[int]
    digest: Mapped[str] = mapped_column(SHA)  # of the criteria, as the lock has it
    criteria: Mapped[list[Any]]  # their names
    reason: Mapped[str] = mapped_column(Text)
    fixed_on: Mapped[str | None] = mapped_column(String(10))  # as a document declares it
    data_opened_on: Mapped[str | None] = mapped_column(String(10))
    manifest: Mapped[str] = mapped_column(Text, deferred=True)  # empty where it stays as it is
    needs_second: Mapped[bool]  # the organisation asked for a second person
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]
    countersigned_by: Mapped[str | None] = mapped_column(ID)
    countersigned_at: Mapped[int | None]

    @property
    def counts(self) -> bool:
        """Whether verdicts rest on it."""
        return not self.needs_second or self.countersigned_at is not None


def lock_of(rows: Rows, study: str) -> FixedCriteria | None:
    """The newest lock of a study that counts, which every later version has."""
    query = select(FixedCriteria).where(FixedCriteria.study == study, FixedCriteria.kind != DOCUMENT)
    counts = or_(FixedCriteria.needs_second.is_(False), FixedCriteria.countersigned_at.is_not(None))
    return rows.scalar(query.where(counts).order_by(FixedCriteria.id.desc()).limit(1))


def locks_of(rows: Rows, study: str) -> set[str]:
    """The hashes of all locks that a study had."""
    query = select(FixedCriteria.sha256).where(FixedCriteria.study == study, FixedCriteria.kind != DOCUMENT)
    return set(rows.scalars(query))
