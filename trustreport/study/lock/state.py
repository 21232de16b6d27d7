"""How a study compares with its lock: locked, amended in advance, changed otherwise, or not locked at all."""

from dataclasses import dataclass
from typing import Literal

from trustreport.study.lock.changes import Change, late_amendments, rests_on
from trustreport.study.lock.fields import criteria
from trustreport.study.lock.file import Lock, LockEntry, changed, covered, fingerprint, read
from trustreport.study.lock.moments import is_after
from trustreport.study.lock.timestamp import Stamp, stamp
from trustreport.study.plan import Endpoint, Plan
from trustreport.study.study import Study

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
    state = "locked"
    if changes:
        state = "amended" if all(change.how == "before" for change in changes) else "changed"
    digest = fingerprint(covered(plan, lock.first))
    return LockStatus(state, digest, lock, changes, late, seen, misplaced)


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
