"""The lock of a study: what its manifest declared in advance, the hash of that, and what has changed since.

A lock shows that a manifest was not altered since it was written. It does not show when that was: the clock
of the machine is not asked. Only a time stamp of somebody else can do that (RFC 3161), and it is kept beside
the hash where there is one.
"""

from trustreport.study.lock.changes import Change, concerned, rests_on
from trustreport.study.lock.fields import (
    ADDED_LATER,
    FIXED_BY,
    ORDER,
    SETS,
    WITHOUT_EFFECT,
    criteria,
    without_effect,
)
from trustreport.study.lock.file import (
    FILE,
    FORM,
    LOOKS,
    OLDER_FORM,
    Lock,
    LockEntry,
    LockStatus,
    Look,
    State,
    as_data,
    changed,
    data_of,
    entered,
    exploratory,
    fingerprint,
    lock_status,
    look_of,
    read,
    read_looks,
    record,
    removed,
    renewed,
    same_data,
    stamp_of,
    stamped,
    written,
)
from trustreport.study.lock.moments import day_of, read_moment

__all__ = ["Change", "concerned", "rests_on"]
__all__ += ["ADDED_LATER", "FIXED_BY", "ORDER", "SETS", "WITHOUT_EFFECT", "criteria", "without_effect"]
__all__ += ["FILE", "FORM", "LOOKS", "OLDER_FORM", "Lock", "LockEntry", "LockStatus", "Look", "State"]
__all__ += ["as_data", "changed", "data_of", "entered", "exploratory", "fingerprint", "lock_status"]
__all__ += ["look_of", "read", "read_looks", "record", "removed", "renewed", "same_data", "stamp_of"]
__all__ += ["stamped", "written"]
__all__ += ["day_of", "read_moment"]
