"""The tables of the register of incidents and signals of each device, and of every change of it."""

from hashlib import sha256
from typing import Any

from sqlalchemy import Boolean, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from trustreport.service.storage.models import Base, canonical, foreign_key, primary_key


class VigilanceEntry(Base):
    """An incident, complaint or signal of a device; it is removed only with the device.

    `facts` are the fields of its line in a manifest, and those that only the register has.
    """

    __tablename__ = "vigilance_entries"
    __table_args__ = (Index("vigilance_entries_name", "device", "group", "name", unique=True),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    device: Mapped[str] = foreign_key("devices")
    group: Mapped[str] = mapped_column(String(10))  # incidents or signals, as the manifest has them
    name: Mapped[str] = mapped_column(String(200))  # as the manifest names it
    facts: Mapped[dict[str, Any]]
    closed: Mapped[bool] = mapped_column(Boolean)
    number: Mapped[int]  # of the last change
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]


class VigilanceChange(Base):
    """One change of an entry: each field with what it was and what it became."""

    __tablename__ = "vigilance_changes"
    __table_args__ = (Index("vigilance_changes_number", "entry", "number", unique=True),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    entry: Mapped[str] = foreign_key("vigilance_entries")
    number: Mapped[int]
    act: Mapped[str] = mapped_column(String(20))
    changes: Mapped[dict[str, Any]]
    reason: Mapped[str] = mapped_column(Text)
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]


def fingerprint(entry: VigilanceEntry) -> str:
    """The SHA-256 of what an entry says, as the log has it."""
    return sha256(canonical([entry.group, entry.name, entry.facts]).encode()).hexdigest()
