"""The tables of collaborations: studies to which several hospitals send evidence without rows."""

from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from trustreport.service.storage.models import SHA, Base, foreign_key, primary_key

KEY = String(44)  # a public key of 32 bytes in base64, or nothing


class StoredCollaboration(Base):
    """A study under a lock that several sites answer; `version` has the lock and manifest handed out."""

    __tablename__ = "collaborations"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    study: Mapped[str] = foreign_key("studies")
    version: Mapped[str] = foreign_key("versions")
    title: Mapped[str] = mapped_column(String(200))
    lock: Mapped[str] = mapped_column(SHA)  # what the first entry of the lock hashes to
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]


class InvitedSite(Base):
    """A site that is invited, and the link with which it comes in; only the hash of that is kept."""

    __tablename__ = "invited_sites"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    collaboration: Mapped[str] = foreign_key("collaborations")
    name: Mapped[str] = mapped_column(String(100))
    email: Mapped[str] = mapped_column(String(254))
    key: Mapped[str] = mapped_column(KEY, default="")  # the one that its files must be signed with
    hash: Mapped[str | None] = mapped_column(SHA, unique=True)  # None until the message is sent
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]
    expires_at: Mapped[int]
    revoked_at: Mapped[int | None]
    opened_at: Mapped[int | None]
    refused_at: Mapped[int | None]  # the last upload that was not taken, and why
    refused: Mapped[dict[str, Any]] = mapped_column(default=dict)


class SiteUpload(Base):
    """A file that a site uploaded and that fits; its content is a blob. A later one supersedes it."""

    __tablename__ = "site_uploads"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    site: Mapped[str] = foreign_key("invited_sites")
    sha256: Mapped[str] = mapped_column(SHA, index=True)
    size: Mapped[int]
    key: Mapped[str] = mapped_column(KEY)  # whose signature was verified
    state: Mapped[str] = mapped_column(String(20))  # uploaded, accepted, declined, superseded
    facts: Mapped[dict[str, Any]]  # cases, what is withheld
    decided_by: Mapped[str | None] = mapped_column(String(60))
    decided_at: Mapped[int | None]
    created_at: Mapped[int]
