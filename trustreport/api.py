"""The three functions that do the whole job; command line and service call nothing else.

Only here do reading and writing meet.
"""

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from trustreport import ingest
from trustreport.assessment import Assessment, Cancel, Progress, assess
from trustreport.parallel import BACKENDS, Backend, workers
from trustreport.plan import Plan
from trustreport.report.write import FORMATS, Written, write
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
    "read_study",
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
    return ingest.read(Path(path), allow_outside=allow_outside)


def write_report(
    assessment: Assessment,
    out: str | PathLike[str],
    *,
    formats: Iterable[str] = FORMATS,
    progress: Progress | None = None,
    timed: Mapping[str, float] | None = None,
) -> Written:
    """Write the report into the folder `out`; see `trustreport.report.write.write`."""
    return write(assessment, Path(out), formats=formats, progress=progress, timed=timed)
