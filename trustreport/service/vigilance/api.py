"""The register of incidents and signals of a device."""

import datetime as dt
from typing import Any

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy import select

from trustreport.service.access.guard import Author, Reader, TheCore
from trustreport.service.client import operations as op
from trustreport.service.client.records import VigilanceChangeResponse, VigilanceEntryResponse
from trustreport.service.storage.models import StoredDevice, VersionFile
from trustreport.service.storage.vigilance import VigilanceChange, VigilanceEntry
from trustreport.service.vigilance.entries import (
    add_entry,
    change_entry,
    import_entries,
    newest_version,
    read_manifest,
    today,
)
from trustreport.service.vigilance.fields import EventGroup, VigilanceAct, clock
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name, Page, RequestBody, RequestedPage, Words, serves
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["incidents"])

FACTS = (
    "fields of `incidents` or `signals` of a manifest, and beside them assessed, decision, decided_by, "
    "closed, outcome, period, reports (ids of reports of the device)"
)


class NewVigilanceEntry(RequestBody):
    group: EventGroup
    name: str = Field(default="", max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$", description="else the next")
    facts: dict[str, Any] = Field(default={}, description=FACTS)


class VigilanceUpdate(RequestBody):
    number: int = Field(description="of the last change that you have seen: 409 where there are newer ones")
    act: VigilanceAct = "change"
    facts: dict[str, Any] = Field(default={}, description="those of this act; null removes one")
    reason: Words = Field(default="", description="needed for closing and opening again")


@serves(router, op.INCIDENTS)
def of_device(
    device: Name,
    who: Reader,
    core: TheCore,
    turn: RequestedPage,
    group: EventGroup | None = None,
    closed: bool | None = None,
) -> Page[VigilanceEntryResponse]:
    """The incidents and signals of a device, the newest first."""
    with core.store.read() as rows:
        query = who.rows_of(VigilanceEntry)
        query = query.where(VigilanceEntry.device == who.row_of(rows, StoredDevice, device).id)
        if group is not None:
            query = query.where(VigilanceEntry.group == group)
        if closed is not None:
            query = query.where(VigilanceEntry.closed.is_(closed))
        day = today(rows)
        return turn.rows(rows, query, VigilanceEntry.id, lambda entry: to_response(entry, day))


@serves(router, op.REGISTER_INCIDENT)
def register(device: Name, wanted: NewVigilanceEntry, who: Author, core: TheCore) -> VigilanceEntryResponse:
    """Register an incident, a complaint (`kind`) or a signal."""
    with core.store.write() as rows:
        row = who.row_of(rows, StoredDevice, device)
        entry = add_entry(rows, who, row.id, wanted.group, wanted.name.strip(), wanted.facts)
        return to_response(entry, today(rows))


@serves(router, op.IMPORT_INCIDENTS)
def take_over(device: Name, who: Author, core: TheCore) -> list[VigilanceEntryResponse]:
    """Take over what the newest manifest of the device has and the register has not, by their names."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredDevice, device)
        version = newest_version(rows, who, row.id)
        if version is None:
            raise Fault(409, say("pages.fault.not_valid.detail"))
        files = rows.scalars(select(VersionFile).where(VersionFile.version == version.id)).all()
    found = read_manifest(core, version, files)
    with core.store.write() as rows:
        day = today(rows)
        return [to_response(entry, day) for entry in import_entries(rows, who, row.id, found)]


@router.get("/incidents/{entry}")
def get_entry(entry: Name, who: Reader, core: TheCore) -> VigilanceEntryResponse:
    """One incident or signal."""
    with core.store.read() as rows:
        return to_response(who.row_of(rows, VigilanceEntry, entry), today(rows))


@serves(router, op.INCIDENT_CHANGES)
def history(entry: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[VigilanceChangeResponse]:
    """Every change of an incident or signal, the newest first."""
    with core.store.read() as rows:
        row = who.row_of(rows, VigilanceEntry, entry)
        query = who.rows_of(VigilanceChange).where(VigilanceChange.entry == row.id)
        return turn.rows(rows, query, VigilanceChange.id, VigilanceChangeResponse.of_row)


@serves(router, op.CHANGE_INCIDENT)
def change(entry: Name, wanted: VigilanceUpdate, who: Author, core: TheCore) -> VigilanceEntryResponse:
    """Change, assess, link, close or open again an incident or signal; what it was is kept."""
    with core.store.write() as rows:
        row = change_entry(rows, who, entry, wanted.number, wanted.act, wanted.facts, wanted.reason)
        return to_response(row, today(rows))


def to_response(entry: VigilanceEntry, day: dt.date) -> VigilanceEntryResponse:
    """An entry with its clock on a day."""
    timed = clock(entry, day)
    return VigilanceEntryResponse.of_row(
        entry, deadline=timed.deadline, overdue=timed.overdue, late=timed.late
    )
