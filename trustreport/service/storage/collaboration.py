"""The tables of what people do together: mail, reviews that were requested, comments, links to one report."""

from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from trustreport.service.storage.models import ID, SHA, Base, key, of
from trustreport.service.storage.outgoing import Outgoing


class Mail(Outgoing, Base):
    """A message to be sent, written in the transaction of what causes it; it never holds a secret.

    The text is made when it is sent, and so is the link of an invitation.
    """

    __tablename__ = "mails"
    __table_args__ = (Index("mails_due", "sent_at", "failed_at", "next_at"),)
    id: Mapped[str] = key()
    organisation: Mapped[str | None] = mapped_column(ID, ForeignKey("organisations.id"), index=True)
    user: Mapped[str | None] = mapped_column(ID, ForeignKey("users.id"), index=True)
    address: Mapped[str] = mapped_column(String(254))  # as typed by who forgot a password; else empty
    kind: Mapped[str] = mapped_column(String(30))
    details: Mapped[dict[str, Any]]


class ReviewRequest(Base):
    """A review of a report that a named person was asked for, until they sign or it is withdrawn."""

    __tablename__ = "review_requests"
    id: Mapped[str] = key()
    organisation: Mapped[str] = of("organisations")
    report: Mapped[str] = of("reports")
    reviewer: Mapped[str] = of("users")
    due: Mapped[str | None] = mapped_column(String(10))  # a date, ISO 8601
    created_by: Mapped[str] = mapped_column(ID, ForeignKey("users.id"))
    created_at: Mapped[int]
    ended_at: Mapped[int | None]


class Comment(Base):
    """A comment on a version or a report of it: never changed; its text goes when it is withdrawn."""

    __tablename__ = "comments"
    id: Mapped[str] = key()
    organisation: Mapped[str] = of("organisations")
    version: Mapped[str] = of("versions")
    report: Mapped[str | None] = mapped_column(ID, ForeignKey("reports.id"), index=True)
    text: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(SHA)  # of the text, as the log has it
    created_by: Mapped[str] = of("users")
    created_at: Mapped[int]
    withdrawn_at: Mapped[int | None]


class StoredShare(Base):
    """A link with which anybody reads one report until it expires or is revoked."""

    __tablename__ = "shares"
    id: Mapped[str] = key()
    organisation: Mapped[str] = of("organisations")
    report: Mapped[str] = of("reports")
    hash: Mapped[str] = mapped_column(SHA, unique=True)
    created_by: Mapped[str] = mapped_column(ID, ForeignKey("users.id"))
    created_at: Mapped[int]
    expires_at: Mapped[int]
    revoked_at: Mapped[int | None]
    uses: Mapped[int]
    used_at: Mapped[int | None]
