"""What rows have in common that wait to be sent: when they are due, how often it was tried, how it ended."""

from datetime import timedelta

from sqlalchemy import ColumnElement, String, and_, delete
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as Rows

from trustreport.service.storage.store import now

KEPT = timedelta(days=30)  # of what was sent or given up


class Outgoing:
    """The columns of an outbox; a worker takes a row by moving its next attempt ahead."""

    attempts: Mapped[int]
    next_at: Mapped[int]
    reason: Mapped[str] = mapped_column(String(200))  # why the last attempt failed
    created_at: Mapped[int]
    sent_at: Mapped[int | None]
    failed_at: Mapped[int | None]

    @classmethod
    def is_due(cls, at: int) -> ColumnElement[bool]:
        """Whether a row waits, and its next attempt is not later than a moment."""
        return and_(cls.sent_at.is_(None), cls.failed_at.is_(None), cls.next_at <= at)

    @classmethod
    def remove_old(cls, rows: Rows) -> None:
        """Remove rows that ended long ago."""
        limit = now(rows) - round(KEPT.total_seconds() * 1000)
        rows.execute(delete(cls).where((cls.sent_at < limit) | (cls.failed_at < limit)))
