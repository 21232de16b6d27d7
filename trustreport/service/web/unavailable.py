"""What is not there for a while: the database, the files, room on the disk. It is no fault of the program."""

import errno
import shutil
import sqlite3
from pathlib import Path

from trustreport.service.storage.blobs import StorageAway
from trustreport.service.storage.store import AWAY
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

FULL = (errno.ENOSPC, errno.EDQUOT)
POSTGRES_FULL = "53100"  # disk_full
AGAIN_SECONDS = 10


def fault_of(error: BaseException) -> Fault | None:
    """How a request is refused for want of the database or the files (503) or of room (507), else None."""
    if isinstance(error, OSError) and error.errno in FULL:
        return disk_full()
    if isinstance(error, StorageAway):
        return Fault(
            503,
            say("pages.fault.storage_away.title"),
            say("pages.fault.storage_away.detail", reason=error.reason),
            headers={"Retry-After": str(AGAIN_SECONDS)},
        )
    if not isinstance(error, AWAY):
        return None
    cause = getattr(error, "orig", None)
    is_full = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if is_full or getattr(cause, "sqlstate", None) == POSTGRES_FULL:
        return disk_full()
    return Fault(
        503,
        say("pages.fault.database_away.title"),
        say("pages.fault.database_away.detail"),
        headers={"Retry-After": str(AGAIN_SECONDS)},
    )


def disk_full() -> Fault:
    """Why nothing can be stored."""
    return Fault(
        507,
        say("pages.fault.disk_full.title"),
        say("pages.fault.disk_full.detail"),
    )


def has_room(folder: Path, least: int) -> bool:
    """Whether the disk of a folder has more bytes free than must stay so."""
    return shutil.disk_usage(folder).free >= least
