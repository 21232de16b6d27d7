"""The three functions that do the whole job; command line and service call nothing else.

Only here do reading and writing meet.
"""

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from trustreport import lock
from trustreport.assessment import Assessment, Cancel, Progress, assess
from trustreport.parallel import BACKENDS, Backend, workers
from trustreport.plan import Plan
from trustreport.report.compare import load
from trustreport.report.drawing import DrawingProcess
from trustreport.report.files import FileStatus
from trustreport.report.reproduce import as_built, reproduced
from trustreport.report.write import FORMATS, Written, as_data, write
from trustreport.study import Study

__all__ = [
    "BACKENDS",
    "FORMATS",
    "Assessment",
    "Backend",
    "Cancel",
    "Progress",
    "Written",
    "assess",
    "lock_criteria",
    "read_study",
    "reproduce",
    "workers",
    "write_report",
]


def read_study(path: str | PathLike[str], *, allow_outside: bool = False) -> tuple[Study, Plan]:
    """Read a study folder, or its manifest, with all its tables.

    Parameters
    ----------
    path : the folder that holds ``study.yaml``, or the manifest itself (YAML 1.2 or JSON)
    allow_outside : let the manifest name files outside its folder

    Raises
    ------
    StudyError : with every problem of every file
    """
    from trustreport import ingest  # takes a tenth of a second, and who reads apart has no need of it

    return ingest.read(Path(path), allow_outside=allow_outside)


def lock_criteria(
    path: str | PathLike[str], *, amend: bool = False, reason: str = "", token: bytes = b""
) -> tuple[Path, lock.Lock]:
    """Write the lock of what a manifest declares into its folder; the tables need not be there yet.

    Parameters
    ----------
    path : the study folder, or its manifest
    amend : add the manifest as it is now to a lock that differs from it, with the `reason`
    token : a time stamp (RFC 3161, DER) of the sha256 of the newest version, kept in the lock

    Raises
    ------
    StudyError : the manifest cannot be read
    FileExistsError : there is a lock that differs from the manifest, and `amend` was not asked
    ValueError : there is nothing to lock, the lock cannot be read, or the token is of something else
    """
    from trustreport import ingest

    folder, plan = ingest.read_plan(Path(path))
    file = folder / lock.FILE
    before = lock.read(file.read_bytes()) if file.exists() else None
    made = lock.renewed(plan, before, amend=amend, reason=reason)
    if token:
        made = lock.stamped(made, token)
    if made != before:
        file.write_bytes(lock.written(made))
    return file, made


def reproduce(
    out: str | PathLike[str], study: str | PathLike[str], *, allow_outside: bool = False
) -> list[FileStatus]:
    """Whether a study gives the numbers of the report in `out`: its files, then every number computed again.

    Raises
    ------
    StudyError : with every problem of every file
    """
    written = load(Path(out))
    read, plan = read_study(study, allow_outside=allow_outside)
    return list(reproduced(written, as_data(assess(read, as_built(plan, written)))))


def write_report(
    assessment: Assessment,
    out: str | PathLike[str],
    *,
    formats: Iterable[str] | None = None,
    progress: Progress | None = None,
    timed: Mapping[str, float] | None = None,
    drawing: DrawingProcess | None = None,
) -> Written:
    """Write the report into the folder `out`; see `trustreport.report.write.write`."""
    return write(assessment, Path(out), formats=formats, progress=progress, timed=timed, drawing=drawing)
