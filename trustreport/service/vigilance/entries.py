"""The register of a device: entries are added, changed and taken from manifests; each change is kept."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

from sqlalchemy import func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.editor.run import carried_out, lay_out
from trustreport.service.intake import MANIFESTS
from trustreport.service.pages.page_context import user_names
from trustreport.service.storage.models import StoredDevice, StoredReport, Version, VersionFile
from trustreport.service.storage.store import now
from trustreport.service.storage.vigilance import VigilanceChange, VigilanceEntry, fingerprint
from trustreport.service.vigilance.fields import (
    FIELDS,
    IN_MANIFEST,
    NAMES,
    EventGroup,
    VigilanceAct,
    checked,
    is_closed,
    refuse_disorder,
)
from trustreport.service.web.faults import Fault, Field
from trustreport.vocabulary.messages import say

MOST_ENTRIES = 5000  # of a device
LONGEST_NAME = 200
PREFIXES = {"incident": "I", "complaint": "C", "signal": "S"}
Changes = dict[str, tuple[Any, Any]]  # by field: what it was, what it became


def manifest_rows(rows: Rows, device: str) -> dict[str, list[dict[str, Any]]]:
    """The incidents and signals of a device as rows of a manifest, by its groups."""
    found: dict[str, list[dict[str, Any]]] = {group: [] for group in NAMES}
    query = select(VigilanceEntry).where(VigilanceEntry.device == device).order_by(VigilanceEntry.id)
    for entry in rows.scalars(query):
        group = cast("EventGroup", entry.group)
        known = IN_MANIFEST[group].model_fields
        facts = {key: value for key, value in entry.facts.items() if key in known}
        found[group].append({NAMES[group]: entry.name, **facts})
    return found


def add_entry(
    rows: Rows, who: Principal, device: str, group: EventGroup, name: str, facts: Mapping[str, Any]
) -> VigilanceEntry:
    """Register an incident or signal, under the next free name where none is given."""
    row = _locked_device(rows, who, device)
    allowed = {key for act in ("change", "assess", "link") for key in FIELDS[group][act]}
    _refuse_others(facts, allowed)
    kind = "signal" if group == "signals" else str(facts.get("kind") or "incident")
    name = name or next_name(rows, device, kind)
    kept = checked(group, name, facts)
    refuse_disorder(kept, kept)
    _refuse_reports(rows, who, device, kept)
    if group == "incidents":
        kept["status"] = "open"
    return _added(rows, who, row, group, name, kept, "register")


def change_entry(
    rows: Rows,
    who: Principal,
    entry: str,
    number: int,
    act: VigilanceAct,
    facts: Mapping[str, Any],
    reason: str,
) -> VigilanceEntry:
    """Change the fields of an entry that are given; an empty one is removed.

    Parameters
    ----------
    number : of the last change that whoever asks has seen

    Raises
    ------
    Fault : 409 with what changed, where somebody was faster
    """
    row = who.row_of(rows, VigilanceEntry, entry)
    rows.refresh(row, with_for_update=True)
    if row.number != number:
        raise _overtaken(rows, who, row, number)
    group = cast("EventGroup", row.group)
    _refuse_others(facts, set(FIELDS[group][act]))
    given = dict(facts)
    if act in ("close", "reopen"):
        given |= _state_fields(row, act, given.get("closed") or today(rows).isoformat())
        if not reason.strip():
            raise Fault(422, say("pages.fault.no_reason.detail"))
    kept = checked(group, row.name, {**row.facts, **given})
    changes = _differences(row.facts, kept)
    refuse_disorder(kept, changes)
    if "reports" in changes:
        _refuse_reports(rows, who, row.device, kept)
    if changes:
        row.facts, row.closed, row.number = kept, is_closed(group, kept), number + 1
        _note(rows, who, row, act, changes, reason.strip())
    return row


def import_entries(
    rows: Rows, who: Principal, device: str, found: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[VigilanceEntry]:
    """Take into the register what a manifest has and the register has not, by their names."""
    row = _locked_device(rows, who, device)
    known = select(VigilanceEntry.group, VigilanceEntry.name).where(VigilanceEntry.device == device)
    there = {(group, name) for group, name in rows.execute(known)}
    added = []
    for group, key in NAMES.items():
        for one in found.get(group, ()):
            facts = {k: v for k, v in one.items() if k != key}
            name = str(one[key])
            if (group, name) not in there:
                kept = checked(group, name, facts)
                added.append(_added(rows, who, row, group, name, kept, "import"))
                there.add((group, name))
    return added


def read_manifest(core: Core, version: Version, files: Sequence[VersionFile]) -> dict[str, Any]:
    """The incidents and signals that the manifest of a version has, read by a limited process."""
    named = [file for file in files if file.name in MANIFESTS]

    def fill(work: Path) -> None:
        lay_out(core, version, named, work / "study")

    outcome = carried_out(core, {"task": "events", "closed": [str(core.settings.data)]}, fill)
    if outcome.kind != "answer" or "failed" in outcome.answer:
        raise Fault(409, say("pages.fault.the_manifest_cannot_be.no_entries"))
    return outcome.answer


def newest_version(rows: Rows, who: Principal, device: str) -> Version | None:
    """The newest version of a device's studies that has no problems."""
    query = who.rows_of(Version).where(Version.device == device, Version.state == "valid")
    return rows.scalar(query.order_by(Version.created_at.desc(), Version.id.desc()).limit(1))


def next_name(rows: Rows, device: str, kind: str) -> str:
    """The next free name of a kind, such as I-4 after I-3."""
    prefix = PREFIXES.get(kind, "I")
    names = rows.scalars(select(VigilanceEntry.name).where(VigilanceEntry.device == device))
    numbers = [int(found[1]) for name in names if (found := re.fullmatch(rf"{prefix}-(\d{{1,9}})", name))]
    return f"{prefix}-{max(numbers, default=0) + 1}"


def today(rows: Rows) -> date:
    """The day of the database's clock (UTC)."""
    return datetime.fromtimestamp(now(rows) / 1000, UTC).date()


def _locked_device(rows: Rows, who: Principal, device: str) -> StoredDevice:
    """The device, locked so that two who register at once do not take one name."""
    row: StoredDevice = who.row_of(rows, StoredDevice, device)
    rows.refresh(row, with_for_update=True)
    return row


def _added(
    rows: Rows,
    who: Principal,
    device: StoredDevice,
    group: EventGroup,
    name: str,
    facts: dict[str, Any],
    act: str,
) -> VigilanceEntry:
    if not 0 < len(name) <= LONGEST_NAME:
        raise Fault(422, say("pages.fault.not_as_expected.please_look_at_what"), [_too_long(name)])
    of_device = select(func.count()).where(VigilanceEntry.device == device.id)
    if (rows.scalar(of_device) or 0) >= MOST_ENTRIES:
        raise Fault(409, say("pages.fault.too_many_entries.detail", n=MOST_ENTRIES))
    same = of_device.where(VigilanceEntry.group == group, VigilanceEntry.name == name)
    if rows.scalar(same):
        raise Fault(409, say("pages.fault.name_taken.entry", name=name))
    own = {"device": device.id, "group": group, "name": name, "facts": facts}
    entry = who.new_row(rows, VigilanceEntry, **own, closed=is_closed(group, facts), number=1)
    _note(rows, who, entry, act, {key: (None, value) for key, value in facts.items()}, "")
    return entry


def _too_long(name: str) -> Field:
    return Field("name", say("pages.fault.field.too_long" if name else "pages.fault.field.needed"))


def _note(
    rows: Rows, who: Principal, entry: VigilanceEntry, act: str, changes: Changes, reason: str
) -> None:
    """Keep a change, and log that there was one."""
    kept = {key: list(pair) for key, pair in changes.items()}
    noted = {"entry": entry.id, "number": entry.number, "act": act, "changes": kept, "reason": reason}
    who.new_row(rows, VigilanceChange, **noted)
    action = "vigilance.add" if entry.number == 1 else "vigilance.change"
    said = {"device": entry.device, "number": entry.number, "act": act, "fields": sorted(changes)}
    who.audit(rows, action, entry.id, **said, sha256=fingerprint(entry))


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Changes:
    keys = sorted({*old, *new})
    return {key: (old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)}


def _state_fields(row: VigilanceEntry, act: VigilanceAct, closed: Any) -> dict[str, Any]:
    """The fields by which an entry is closed or open again."""
    if row.closed == (act == "close"):
        key = "closed" if row.closed else "open"
        raise Fault(409, say(f"pages.fault.nothing_to_change.{key}"))
    fields: dict[str, Any] = {"closed": closed if act == "close" else None}
    if row.group == "incidents":
        fields["status"] = "closed" if act == "close" else "open"
    return fields


def _refuse_others(facts: Mapping[str, Any], allowed: set[str]) -> None:
    others = [key[:100].encode(errors="replace").decode() for key in facts if key not in allowed]
    if wrong := [Field(key, say("pages.fault.field.not_here")) for key in others]:
        raise Fault(422, say("pages.fault.not_as_expected.please_look_at_what"), wrong)


def _refuse_reports(rows: Rows, who: Principal, device: str, facts: Mapping[str, Any]) -> None:
    """Refuse links to reports that are not of the device."""
    named = set(facts.get("reports", ()))
    of_device = who.rows_of(StoredReport).where(StoredReport.device == device, StoredReport.id.in_(named))
    if named - {report.id for report in rows.scalars(of_device)}:
        raise Fault(422, say("pages.fault.not_of_device.detail"))


def _overtaken(rows: Rows, who: Principal, row: VigilanceEntry, seen: int) -> Fault:
    """Why a change is refused that was begun before others were saved, with each of those."""
    since = select(VigilanceChange).where(VigilanceChange.entry == row.id, VigilanceChange.number > seen)
    changes = rows.scalars(since.order_by(VigilanceChange.number)).all()
    people = user_names(rows, who, {change.created_by for change in changes})
    fields = [
        Field(
            key,
            say(
                "pages.fault.changed_meanwhile.field",
                old=plain(old),
                new=plain(new),
                by=people[change.created_by],
            ),
        )
        for change in changes
        for key, (old, new) in change.changes.items()
    ]
    return Fault(409, say("pages.fault.changed_meanwhile.detail"), fields, number=row.number)


def plain(value: Any) -> str:
    """A value as a line of text."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "–")
