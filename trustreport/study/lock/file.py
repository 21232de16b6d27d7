"""The lock file with every version that was locked, how a study compares with it, and the register of looks.

The register says who used locked test data, on which day and what for: one line a look, chained by hash. A
line is added and none is changed: each holds the hash of the one before. A last line without its end was not
written whole and is no look. No clock is asked: the day is the caller's.
"""

import base64
import binascii
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from trustreport.study.lock.changes import Change, changes, late_amendments, rests_on
from trustreport.study.lock.fields import criteria, flat, older_criteria
from trustreport.study.lock.moments import Moment, Stamp, is_after, read_moment, stamp
from trustreport.study.plan import Endpoint, Plan
from trustreport.study.study import Study

FILE = "criteria.lock.json"
FORM = "trustreport criteria lock 2"
OLDER_FORM = "trustreport criteria lock 1"  # covers the criteria, not the whole manifest
MOST_NAMED = 6  # fields that a message names
CLOCKED = ("fixed_at", "countersigned_at")


@dataclass(frozen=True, slots=True)
class LockEntry:
    """One version that was locked: its hash, what was declared, why it replaced another, in which form."""

    sha256: str
    criteria: Mapping[str, Any]
    reason: str = ""
    token: bytes = b""
    form: str = FORM
    # By the clock of a service that keeps the study: when it was fixed, and when a second person agreed.
    fixed_at: str = ""
    countersigned_at: str = ""

    @property
    def older(self) -> bool:
        """Whether it is of the form that does not cover the whole manifest."""
        return self.form == OLDER_FORM


@dataclass(frozen=True, slots=True)
class Lock:
    """Every version that was locked, the first one first."""

    entries: tuple[LockEntry, ...]

    @property
    def first(self) -> LockEntry:
        """What was fixed at the beginning."""
        return self.entries[0]

    @property
    def last(self) -> LockEntry:
        """The newest version."""
        return self.entries[-1]


def fingerprint(given: Mapping[str, Any]) -> str:
    """The sha256 of what was declared in canonical form: sorted keys, no blanks, UTF-8."""
    text = json.dumps(given, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def covered(plan: Plan, entry: LockEntry) -> dict[str, Any]:
    """What a manifest declares now of all that an entry of the lock covers."""
    return older_criteria(plan) if entry.older else criteria(plan)


def changed(entry: LockEntry, plan: Plan) -> tuple[Change, ...]:
    """Every field of a manifest that is not as it was locked."""
    return tuple(changes(entry.criteria, covered(plan, entry), plan))


def written(lock: Lock) -> bytes:
    """The lock file: JSON that a person can read, the same bytes for the same lock."""
    entries = []
    for entry in lock.entries:
        item: dict[str, Any] = {"sha256": entry.sha256, "criteria": entry.criteria}
        if entry.reason:
            item["reason"] = entry.reason
        if entry.token:
            item["rfc3161_token"] = base64.b64encode(entry.token).decode()
        if entry.form != FORM:
            item["form"] = entry.form
        item |= {key: said for key in CLOCKED if (said := getattr(entry, key))}
        entries.append(item)
    text = json.dumps({"form": FORM, "locked": entries}, sort_keys=True, ensure_ascii=False, indent=1)
    return text.encode() + b"\n"


def read(data: bytes) -> Lock:
    """A lock file of this form or the older one.

    Raises
    ------
    ValueError : this is no lock file, or what it holds is not of its hash
    """
    try:
        document = json.loads(data)
        form = document["form"]
        if form not in (FORM, OLDER_FORM):
            raise ValueError(f"its form is {form!r}, this version reads {FORM!r} and {OLDER_FORM!r}")
        entries = tuple(
            LockEntry(
                item["sha256"],
                item["criteria"],
                item.get("reason", ""),
                base64.b64decode(item.get("rfc3161_token", ""), validate=True),
                item.get("form", form),
                *(str(item.get(key, "")) for key in CLOCKED),
            )
            for item in document["locked"]
        )
        for entry in entries:
            dict(flat(entry.criteria))
            [one["endpoint"] for one in entry.criteria.get("endpoints", ())]
    except (json.JSONDecodeError, UnicodeDecodeError, binascii.Error) as error:
        raise ValueError("it is not the JSON that trustreport lock writes") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("it is not of the form that trustreport lock writes") from error
    if not entries:
        raise ValueError("it holds no criteria")
    for entry in entries:
        if fingerprint(entry.criteria) != entry.sha256:
            raise ValueError(f"its criteria and their hash {str(entry.sha256)[:12]} differ: it was edited")
        if entry.form not in (FORM, OLDER_FORM):
            raise ValueError(f"the form of an entry is {entry.form!r}")
    return Lock(entries)


def renewed(plan: Plan, before: Lock | None = None, *, amend: bool = False, reason: str = "") -> Lock:
    """The lock of what a manifest declares now; an earlier one stays in it.

    Raises
    ------
    FileExistsError : the earlier lock differs in what it covers, and `amend` was not asked
    ValueError : no criterion is declared
    """
    now = criteria(plan)
    if not plan.endpoints and not now.get("vigilance", {}).get("indicators"):
        raise ValueError("no criteria are declared: endpoints of the manifest name them")
    entry = LockEntry(fingerprint(now), now, reason if before else "")
    if before is None:
        return Lock((entry,))
    if before.last.sha256 == entry.sha256:
        return before
    if amend:
        return Lock((*before.entries, entry))
    fields = [change.field for change in changed(before.last, plan)]
    if fields:
        more = [f"{len(fields) - MOST_NAMED} more"] if len(fields) > MOST_NAMED else []
        differ = ", ".join([*fields[:MOST_NAMED], *more])
        raise FileExistsError(f"the manifest is locked already, and differs in {differ}")
    return before


def stamped(lock: Lock, token: bytes) -> Lock:
    """The lock with a time stamp of its newest version.

    Raises
    ------
    ValueError : this is no time stamp, or one of something else
    """
    found, last = stamp(token), lock.last
    if found.imprint != last.sha256:
        raise ValueError(
            f"the time stamp is of {found.imprint}, not of the locked criteria, whose sha256 is {last.sha256}"
        )
    return Lock((*lock.entries[:-1], replace(last, token=token)))


State = Literal["locked", "amended", "changed", "declared", "none"]


@dataclass(frozen=True, slots=True)
class LockStatus:
    """The state of the lock, and every change since.

    "declared": no lock, but the manifest says that the criteria were fixed before the data were opened;
    `changes` are then what its amendments changed after that.
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

    @property
    def older(self) -> bool:
        """Whether the first lock is of the form that does not cover the whole manifest."""
        return self.lock is not None and self.lock.first.older

    @property
    def clocked(self) -> tuple[Moment | None, Moment | None]:
        """When a service fixed what was locked first, and when a second person agreed; by its clock."""
        first = self.lock.first if self.lock else None
        return (read_moment(first.fixed_at), read_moment(first.countersigned_at)) if first else (None, None)


def lock_status(study: Study, plan: Plan) -> LockStatus:
    """How what a study declares compares with its lock and its dates.

    What counts is the first lock: a later one shows what was changed, not that it was changed in time. A
    change is in time where an amendment of the manifest says that the data had not been opened, and its date
    bears that out.
    """
    if study.lock_status is not None:  # found before names were replaced
        known: LockStatus = study.lock_status
        return known
    fixed, opened = plan.study.sap_locked_at, plan.study.data_opened_at
    late = is_after(fixed, opened)
    if not study.lock:
        declared = fixed is not None and opened is not None and not late
        changes = tuple(late_amendments(plan)) if declared else ()
        state: State = "declared" if declared else "none"
        return LockStatus(state, fingerprint(criteria(plan)), changes=changes, late=late)
    lock = read(study.lock)
    seen, misplaced = stamp_of(lock.first)
    late = late or (seen is not None and is_after(seen.time, opened))
    changes = changed(lock.first, plan)
    if lock.first.fixed_at:
        late = late or is_after(read_moment(lock.first.countersigned_at or lock.first.fixed_at), opened)
        changes = tuple(_as_amended(lock, plan, changes))
    state = "locked"
    if changes:
        state = "amended" if all(change.how == "before" for change in changes) else "changed"
    digest = fingerprint(covered(plan, lock.first))
    return LockStatus(state, digest, lock, changes, late, seen, misplaced)


def _as_amended(lock: Lock, plan: Plan, changes: Sequence[Change]) -> Iterator[Change]:
    """The changes, with those undeclared that the newest version of a lock does not have.

    A service adds a version while no data are there. So an amendment that it does not have was made later,
    whatever its own date.
    """
    since = {change.path for change in changed(lock.last, plan)}
    for change in changes:
        late = change.how == "before" and change.path in since
        yield replace(change, how="undeclared", amendment=None) if late else change


def exploratory(status: LockStatus, plan: Plan, criterion: Endpoint) -> Literal["P34", "P35"] | None:
    """The check that says why no verdict can be given on a criterion; None where it was fixed in advance."""
    if status.state == "none" or status.late:
        return "P35"
    own = {change.how for change in status.changes if rests_on(criterion, change, plan)}
    return "P34" if "undeclared" in own else "P35" if "after" in own else None


def removed(status: LockStatus, plan: Plan) -> list[str]:
    """Criteria that were locked first and are declared no longer."""
    if status.lock is None:
        return []
    names = {e.endpoint for e in plan.endpoints}
    before = [e["endpoint"] for e in status.lock.first.criteria.get("endpoints", ())]
    return [name for name in before if name not in names]


def stamp_of(entry: LockEntry) -> tuple[Stamp | None, bool]:
    """The time stamp of an entry, and whether there is one that is of something else."""
    if not entry.token:
        return None, False
    try:
        found = stamp(entry.token)
    except ValueError:
        return None, True
    return (found, False) if found.imprint == entry.sha256 else (None, True)


LOOKS = "criteria.looks.jsonl"
OTHER_SOURCES = ("manifest", "lock")  # input files that are no data


@dataclass(frozen=True, slots=True)
class Look:
    """One use of the data: their files with hashes, what was locked, the day, the purpose, which criteria."""

    data: Mapping[str, str]
    lock: str
    on: str = ""
    purpose: str = ""
    results: tuple[str, ...] = ()

    @property
    def hashes(self) -> frozenset[str]:
        """The data, whatever their files are called."""
        return frozenset(self.data.values())


def look_of(study: Study, plan: Plan, *, on: str = "", purpose: str = "") -> Look:
    """This use of a study; on the day of the manifest's report where none is given."""
    day = on or (plan.report.date.isoformat() if plan.report.date else "")
    locked = read(study.lock).last.sha256 if study.lock else ""
    return Look(data_of(study), locked, day, purpose, tuple(e.endpoint for e in plan.endpoints))


def data_of(study: Study) -> dict[str, str]:
    """The files with data of a study, and their sha256."""
    return {s.file: s.sha256 for s in study.sources if s.table not in OTHER_SOURCES}


def as_data(look: Look) -> dict[str, Any]:
    """A look as JSON has it."""
    return {**asdict(look), "results": list(look.results), "data": dict(look.data)}


def read_looks(data: bytes) -> tuple[Look, ...]:
    """Every look of a register, the first one first; a torn last line is left out.

    Raises
    ------
    ValueError : a line was changed, removed or put in, or this is no register
    """
    looks, before = [], ""
    for number, line in enumerate(_whole(data).splitlines(), 1):
        try:
            said = json.loads(line)
            digest, previous = said.pop("sha256"), said["previous"]
            files = {str(name): str(of_file) for name, of_file in said["data"].items()}
            look = Look(files, said["lock"], said["on"], said["purpose"], tuple(said["results"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"line {number} is not one that trustreport writes") from error
        if fingerprint(said) != digest:
            raise ValueError(f"line {number} and its hash differ: it was edited")
        if previous != before:
            raise ValueError(f"line {number} does not follow the one before it: one was removed or put in")
        looks.append(look)
        before = digest
    return tuple(looks)


def entered(register: bytes, look: Look) -> bytes:
    """The register with a look after all others, unless it is there already.

    Raises
    ------
    ValueError : the register is not as it was written
    """
    kept = _whole(register)
    if look in read_looks(kept):
        return kept
    lines = kept.splitlines()
    said = as_data(look)
    said["previous"] = json.loads(lines[-1])["sha256"] if lines else ""
    said["sha256"] = fingerprint(said)
    return kept + json.dumps(said, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def record(folder: Path, look: Look) -> bytes:
    """Add a look to the register of a folder, unless it is there already; what the register then holds.

    Raises
    ------
    ValueError : the register is not as it was written
    OSError : it cannot be written
    """
    with (folder / LOOKS).open("a+b") as file:
        _one_at_a_time(file)
        file.seek(0)
        found = file.read()
        kept = _whole(found)
        register = entered(kept, look)
        if register == kept:
            return kept
        if kept != found:  # a line that was never written whole
            file.truncate(len(kept))
        file.seek(0, os.SEEK_END)
        file.write(register[len(kept) :])
        file.flush()
        os.fsync(file.fileno())
    return register


def same_data(looks: Sequence[Look], study: Study) -> tuple[Look, ...]:
    """The looks at any of the data of a study."""
    here = set(data_of(study).values())
    return tuple(look for look in looks if not look.hashes.isdisjoint(here))


def _whole(data: bytes) -> bytes:
    """The lines that were written to their end."""
    return data[: data.rfind(b"\n") + 1]


def _one_at_a_time(file: Any) -> None:
    with suppress(ImportError):  # where there is no such lock, two builds at once may disagree
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
