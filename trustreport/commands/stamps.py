"""Time stamps in the lock of a study, verified with their chain."""

from pathlib import Path
from typing import TYPE_CHECKING

from trustreport.report.signatures.bundle import PACKAGES, FileStatus, stamp_status
from trustreport.study.lock.file import FILE, read

if TYPE_CHECKING:
    from trustreport.report.signatures.stamps import Roots


def lock_stamps(study: Path, roots: "Roots | None" = None) -> list[FileStatus]:
    """What each time stamp of a study's lock is worth; nothing where it has no lock or no stamp.

    Parameters
    ----------
    study : its folder or its manifest
    """
    file = (study if study.is_dir() else study.parent) / FILE
    if not file.is_file():
        return []
    try:
        lock = read(file.read_bytes())
    except ValueError as error:
        return [FileStatus(FILE, "wrong", f"cannot be read: {error}")]
    found = []
    for number, entry in enumerate(lock.entries, 1):
        if not entry.token:
            continue
        name, target = f"{FILE}, version {number},", f"sha256 {entry.sha256[:12]}"
        try:
            found.append(stamp_status(name, entry.token, entry.sha256, target, roots))
        except ImportError:
            found.append(FileStatus(name, "wrong", PACKAGES))
        except ValueError as error:
            found.append(FileStatus(name, "wrong", f"has a time stamp that cannot be verified: {error}"))
    return found
