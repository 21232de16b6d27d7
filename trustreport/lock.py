"""The lock of the criteria: what was fixed in advance, its hash, and what has changed since.

A lock shows that criteria were not altered since it was written. It does not show when that was: the clock of
the machine is not asked. Only a time stamp of somebody else can do that (RFC 3161), and it is kept beside the
hash where one is handed in.
"""

import base64
import binascii
import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from trustreport.criteria import families
from trustreport.plan import Amendment, Endpoint, Plan
from trustreport.study import Study
from trustreport.timestamp import Stamp, stamp

FILE = "criteria.lock.json"
FORM = "trustreport criteria lock 1"
# Lists of named items, with the field that names each.
NAMED = {
    "endpoints": "endpoint",
    "families": "family",
    "subgroups": "name",
    "indicators": "measure",
    "candidates": "candidate",
}
ORDER = "endpoints.order"  # it decides in a fixed sequence
NOT_LOCKED_OF_CANDIDATES = {"device", "run_date", "conflict"}

Moment = dt.datetime | dt.date
How = Literal["before", "after", "undeclared"]
State = Literal["locked", "amended", "changed", "declared", "none"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One version of the criteria that was locked: its hash, the criteria, why it replaced another."""

    sha256: str
    criteria: Mapping[str, Any]
    reason: str = ""
    token: bytes = b""


@dataclass(frozen=True, slots=True)
class Lock:
    """Every version that was locked, the first one first."""

    entries: tuple[Entry, ...]

    @property
    def first(self) -> Entry:
        """What was fixed at the beginning."""
        return self.entries[0]

    @property
    def last(self) -> Entry:
        """The newest version."""
        return self.entries[-1]


@dataclass(frozen=True, slots=True)
class Change:
    """A field of the criteria that is not what was locked first, and whether the manifest says so.

    `how` is "before" where an amendment says that the data had not been opened, "after" where one does not
    say so, "undeclared" without one. `old` and `new` are None where there was, or is, no such field.
    """

    field: str
    old: Any
    new: Any
    how: How
    amendment: Amendment | None = None

    @property
    def criterion(self) -> str:
        """The criterion that the field belongs to; empty for what concerns all of them."""
        found = re.match(r"endpoints\[(.*?)\](?:\.|$)", self.field)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the criteria stand: locked, amended in advance, changed otherwise, only declared, or neither.

    "declared": no lock, but the manifest says that they were fixed before the data were opened.
    `late` is true where the manifest itself, or a time stamp, says that they were fixed after that. `stamp`
    is the time stamp of the first lock, None without one or where it is of something else (`misplaced`).
    """

    state: State
    sha256: str
    lock: Lock | None = None
    changes: tuple[Change, ...] = ()
    late: bool = False
    stamp: Stamp | None = None
    misplaced: bool = False


# ---------------------------------------------------------------- what is locked


def criteria(plan: Plan) -> dict[str, Any]:
    """The part of a manifest that is fixed in advance, as plain data: what it says, without defaults."""
    given: dict[str, Any] = {
        "confidence_level": plan.report.confidence_level,
        "endpoints": [_said(e) for e in plan.endpoints],
        "families": [_said(f) for f in plan.families],
        "operating_point": _said(plan.operating_point),
        "positive_from": plan.reading.positive_from,
        "subgroups": [_said(s) for s in plan.subgroups],
        "utility": _said(plan.utility),
        "limits": dict(plan.limits),
        "precision_targets": {name: _said(t) for name, t in plan.precision_targets.items()},
        "indicators": [_said(i) for i in (plan.vigilance and plan.vigilance.indicators) or ()],
        "candidates": [
            {k: v for k, v in _said(c).items() if k not in NOT_LOCKED_OF_CANDIDATES} for c in plan.candidates
        ],
    }
    return {name: value for name, value in given.items() if value not in (None, [], {})}


def fingerprint(given: Mapping[str, Any]) -> str:
    """The sha256 of criteria in canonical form: sorted keys, no blanks, UTF-8."""
    text = json.dumps(given, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _said(group: Any) -> dict[str, Any]:
    said: dict[str, Any] = group.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    return said


# ---------------------------------------------------------------- the file


def written(lock: Lock) -> bytes:
    """The lock file: JSON that a person can read, the same bytes for the same lock."""
    entries = []
    for entry in lock.entries:
        item: dict[str, Any] = {"sha256": entry.sha256, "criteria": entry.criteria}
        if entry.reason:
            item["reason"] = entry.reason
        if entry.token:
            item["rfc3161_token"] = base64.b64encode(entry.token).decode()
        entries.append(item)
    text = json.dumps({"form": FORM, "locked": entries}, sort_keys=True, ensure_ascii=False, indent=1)
    return text.encode() + b"\n"


def read(data: bytes) -> Lock:
    """A lock file.

    Raises
    ------
    ValueError : this is no lock file, or its criteria are not those of its hash
    """
    try:
        document = json.loads(data)
        if document["form"] != FORM:
            raise ValueError(f"its form is {document['form']!r}, this version reads {FORM!r}")
        entries = tuple(
            Entry(
                item["sha256"],
                item["criteria"],
                item.get("reason", ""),
                base64.b64decode(item.get("rfc3161_token", ""), validate=True),
            )
            for item in document["locked"]
        )
        for entry in entries:
            dict(_flat(entry.criteria))
    except (json.JSONDecodeError, UnicodeDecodeError, binascii.Error) as error:
        raise ValueError("it is not the JSON that trustreport lock writes") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("it is not of the form that trustreport lock writes") from error
    if not entries:
        raise ValueError("it holds no criteria")
    for entry in entries:
        if not isinstance(entry.criteria, dict) or fingerprint(entry.criteria) != entry.sha256:
            raise ValueError(f"its criteria and their hash {str(entry.sha256)[:12]} differ: it was edited")
    return Lock(entries)


def renewed(plan: Plan, before: Lock | None = None, *, amend: bool = False, reason: str = "") -> Lock:
    """The lock of the criteria as they are now; an earlier one stays in it.

    Raises
    ------
    FileExistsError : the earlier lock is of other criteria, and `amend` was not asked
    ValueError : no criterion is declared
    """
    now = criteria(plan)
    if not plan.endpoints and not now.get("indicators"):
        raise ValueError("no criteria are declared: endpoints of the manifest name them")
    entry = Entry(fingerprint(now), now, reason if before else "")
    if before is None:
        return Lock((entry,))
    if before.last.sha256 == entry.sha256:
        return before
    if not amend:
        fields = [change.field for change in _changes(before.last.criteria, now, plan)]
        raise FileExistsError(f"the criteria are locked already, and differ in {', '.join(fields)}")
    return Lock((*before.entries, entry))


def stamped(lock: Lock, token: bytes) -> Lock:
    """The lock with a time stamp of its newest criteria.

    Raises
    ------
    ValueError : this is no time stamp, or one of something else
    """
    found, last = stamp(token), lock.last
    if found.imprint != last.sha256:
        raise ValueError(
            f"the time stamp is of {found.imprint}, not of the locked criteria, whose sha256 is {last.sha256}"
        )
    return Lock((*lock.entries[:-1], Entry(last.sha256, last.criteria, last.reason, token)))


# ---------------------------------------------------------------- how the criteria stand


def standing(study: Study, plan: Plan) -> Standing:
    """How the criteria of a study stand against its lock and its declared dates.

    What counts is the first lock: a later one shows what was changed, not that it was changed in time. A
    change is in time where an amendment of the manifest says that the data had not been opened.
    """
    now = criteria(plan)
    digest = fingerprint(now)
    fixed, opened = plan.study.sap_locked_at, plan.study.data_opened_at
    late = _after(fixed, opened)
    if not study.lock:
        declared = fixed is not None and opened is not None and not late
        return Standing("declared" if declared else "none", digest, late=late)
    lock = read(study.lock)
    seen, misplaced = _stamp(lock.first)
    late = late or (seen is not None and _after(seen.time, opened))
    changes = tuple(_changes(lock.first.criteria, now, plan))
    state: State = "locked"
    if changes:
        state = "amended" if all(change.how == "before" for change in changes) else "changed"
    return Standing(state, digest, lock, changes, late, seen, misplaced)


def exploratory(standing: Standing, plan: Plan, criterion: Endpoint) -> Literal["P34", "P35"] | None:
    """The check that says why no verdict can be given on a criterion; None where it was fixed in advance."""
    if standing.state == "none" or standing.late:
        return "P35"
    own = {change.how for change in standing.changes if criterion in concerned(change, plan)}
    return "P34" if "undeclared" in own else "P35" if "after" in own else None


def _stamp(entry: Entry) -> tuple[Stamp | None, bool]:
    """The time stamp of an entry, and whether there is one that is of something else."""
    if not entry.token:
        return None, False
    try:
        found = stamp(entry.token)
    except ValueError:
        return None, True
    return (found, False) if found.imprint == entry.sha256 else (None, True)


def removed(standing: Standing, plan: Plan) -> list[str]:
    """Criteria that were locked first and are declared no longer."""
    if standing.lock is None:
        return []
    names = {e.endpoint for e in plan.endpoints}
    before = [e["endpoint"] for e in standing.lock.first.criteria.get("endpoints", ())]
    return [name for name in before if name not in names]


def concerned(change: Change, plan: Plan) -> list[Endpoint]:
    """The declared criteria that a change bears upon: its own, those of its group or family, else all."""
    if change.criterion:
        own = [e for e in plan.endpoints if e.endpoint == change.criterion]
        family = {e.multiplicity_family for e in own} - {None}
        moved = change.field.endswith((".multiplicity_family", ".alpha", f"[{change.criterion}]"))
        return [e for e in plan.endpoints if e in own or (moved and e.multiplicity_family in family)]
    group = re.match(r"(families|subgroups)\[(.*?)\]", change.field)
    if group:
        field = "multiplicity_family" if group[1] == "families" else "subgroup"
        return [e for e in plan.endpoints if getattr(e, field) == group[2]]
    return list(plan.endpoints)


def _after(one: Moment | None, other: Moment | None) -> bool:
    """Whether a moment lies after another; days only where one of them is a day."""
    if one is None or other is None:
        return False
    if _has_time(one) and _has_time(other):
        return _in_utc(one) > _in_utc(other)
    return _day(one) > _day(other)


def _has_time(moment: Moment) -> bool:
    """Whether a moment is more than a day; midnight without a zone is how a day is read."""
    return isinstance(moment, dt.datetime) and (moment.time() != dt.time() or moment.tzinfo is not None)


def _in_utc(moment: Moment) -> dt.datetime:
    """A time without a zone is taken as UTC."""
    assert isinstance(moment, dt.datetime)
    return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)


def _day(moment: Moment) -> dt.date:
    return moment.date() if isinstance(moment, dt.datetime) else moment


def _changes(old: Mapping[str, Any], new: Mapping[str, Any], plan: Plan) -> Iterator[Change]:
    before, after = dict(_flat(old)), dict(_flat(new))
    whole = {item for item in {*before, *after} if item.endswith("]") and (item in before) != (item in after)}
    for field in dict.fromkeys((*before, *after)):
        was, now = before.get(field), after.get(field)
        if was == now or any(field.startswith(f"{item}.") for item in whole):
            continue
        yield _change(field, was, now, plan)
    if any(family.rule == "fixed sequence" for family in families(plan)):
        names = [[e["endpoint"] for e in given.get("endpoints", ())] for given in (old, new)]
        was, now = ([name for name in own if name in set(names[0]) & set(names[1])] for own in names)
        if was != now:
            yield _change(ORDER, was, now, plan)


def _change(field: str, was: Any, now: Any, plan: Plan) -> Change:
    amendment = next((a for a in plan.amendments if _is_of(a, field, now, plan)), None)
    if amendment is None:
        return Change(field, was, now, "undeclared")
    return Change(field, was, now, "before" if amendment.before_data_opened else "after", amendment)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field with its path; items of a list by their names."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(inner, f"{path}.{name}" if path else name)
    elif path in NAMED and isinstance(value, list):
        names = [item[NAMED[path]] for item in value]
        for name, item in zip(names, value):
            yield f"{path}[{name}]", name
            own = {field: inner for field, inner in item.items() if field != NAMED[path]}
            yield from _flat(own, f"{path}[{name}]")
    else:
        yield path, value


def _is_of(amendment: Amendment, field: str, now: Any, plan: Plan) -> bool:
    """Whether an amendment speaks of a field: by its path, that of its item, or its item's place."""
    said = _plain(amendment.field or "")
    if not said:
        return False
    place = re.match(r"endpoints\.(\d+)(?=\.|$)", said)
    if place and int(place[1]) < len(plan.endpoints):
        said = f"endpoints.{plan.endpoints[int(place[1])].endpoint}{said[place.end() :]}".casefold()
    plain = _plain(field)
    names = [said, f"endpoints.{said}"]
    if not any(plain == name or plain.startswith(f"{name}.") for name in names):
        return False
    return amendment.new is None or plain not in names or _alike(amendment.new, now)


def _plain(path: str) -> str:
    return path.strip().replace("[", ".").replace("]", "").casefold()


def _alike(said: str, value: Any) -> bool:
    """Whether a typed value is the one that stands in the manifest."""
    try:
        return float(said) == float(value)
    except (TypeError, ValueError):
        return str(value).casefold() == said.strip().casefold() if isinstance(value, str) else True
