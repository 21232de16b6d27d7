"""The tables of what people tell each other, and of what leaves the service: mail and webhooks."""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Index, String, Text, and_, delete
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.orm import Session as Rows

from trustreport.service.storage.models import SHA, Base, foreign_key, primary_key
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


class Mail(Outgoing, Base):
    """A message to be sent, written in the transaction of what causes it; it never holds a secret.

    The text is made when it is sent, and so is the link of an invitation.
    """

    __tablename__ = "mails"
    __table_args__ = (Index("mails_due", "sent_at", "failed_at", "next_at"),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str | None] = foreign_key("organisations")
    user: Mapped[str | None] = foreign_key("users")
    address: Mapped[str] = mapped_column(String(254))  # as typed by who forgot a password; else empty
    kind: Mapped[str] = mapped_column(String(30))
    details: Mapped[dict[str, Any]]


class ReviewRequest(Base):
    """A review of a report that a named person was asked for, until they sign or it is withdrawn."""

    __tablename__ = "review_requests"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    report: Mapped[str] = foreign_key("reports")
    reviewer: Mapped[str] = foreign_key("users")
    due: Mapped[str | None] = mapped_column(String(10))  # a date, ISO 8601
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]
    ended_at: Mapped[int | None]


class Comment(Base):
    """A comment on a version or a report of it: never changed; its text goes when it is withdrawn."""

    __tablename__ = "comments"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    version: Mapped[str] = foreign_key("versions")
    report: Mapped[str | None] = foreign_key("reports")
    text: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(SHA)  # of the text, as the log has it
    created_by: Mapped[str] = foreign_key("users")
    created_at: Mapped[int]
    withdrawn_at: Mapped[int | None]


class StoredShare(Base):
    """A link with which anybody reads one report until it expires or is revoked."""

    __tablename__ = "shares"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    report: Mapped[str] = foreign_key("reports")
    hash: Mapped[str] = mapped_column(SHA, unique=True)
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]
    expires_at: Mapped[int]
    revoked_at: Mapped[int | None]
    uses: Mapped[int]
    used_at: Mapped[int | None]


class Webhook(Base):
    """An address that an organisation has events sent to; its secret is derived, and kept nowhere."""

    __tablename__ = "webhooks"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    url: Mapped[str] = mapped_column(String(500))
    events: Mapped[list[Any]]
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]
    paused_at: Mapped[int | None]
    tried_at: Mapped[int]  # the last attempt of any delivery: addresses take turns


class Delivery(Outgoing, Base):
    """An event to be sent to one address, written in the transaction of the event."""

    __tablename__ = "deliveries"
    __table_args__ = (Index("deliveries_due", "sent_at", "failed_at", "next_at"),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    webhook: Mapped[str] = foreign_key("webhooks")
    kind: Mapped[str] = mapped_column(String(60))
    details: Mapped[dict[str, Any]]  # what is sent
    queued_at: Mapped[int]  # differs from `created_at` only when a delivery was retried by hand

    @property
    def state(self) -> str:
        """Waiting, sent or failed."""
        return "sent" if self.sent_at else "failed" if self.failed_at else "waiting"
