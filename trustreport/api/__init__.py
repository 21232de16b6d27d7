"""The functions that do the whole job; command line and service call nothing else.

Only here do reading and writing meet.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date
    from os import PathLike

    from matplotlib.figure import Figure

    from trustreport.api.parallel import BACKENDS, Backend, workers
    from trustreport.assessment.assess import Assessment, Cancel, Progress, Seen
    from trustreport.measures.similarity.features import Run
    from trustreport.planning import StudySizes
    from trustreport.report.layout.processes import DrawingProcess, LayoutProcesses
    from trustreport.report.notebook import Assessed
    from trustreport.report.signatures.bundle import FileStatus
    from trustreport.report.write import FORMATS, Written, as_data
    from trustreport.study import lock
    from trustreport.study.plan import Plan
    from trustreport.study.study import Study

# What is offered here and made elsewhere is loaded when it is asked for, like all that a function uses.
ELSEWHERE = {
    "Assessed": "report.notebook",
    "Assessment": "assessment.assess",
    "BACKENDS": "api.parallel",
    "Backend": "api.parallel",
    "Cancel": "assessment.assess",
    "FORMATS": "report.write",
    "Plan": "study.plan",
    "Progress": "assessment.assess",
    "Study": "study.study",
    "Written": "report.write",
    "as_data": "report.write",
    "workers": "api.parallel",
}
__all__ = [
    "BACKENDS",
    "FORMATS",
    "Assessed",
    "Assessment",
    "Backend",
    "Cancel",
    "Progress",
    "Written",
    "as_data",
    "assess",
    "build_fleet",
    "draw_sizes",
    "export_report",
    "lock_criteria",
    "plan_reader_study",
    "read_study",
    "record_look",
    "reproduce",
    "workers",
    "write_report",
    "write_sizes",
]


def __getattr__(name: str) -> Any:
    if name not in ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"trustreport.{ELSEWHERE[name]}"), name)


def read_study(
    source: str | PathLike[str] | Mapping[str, Any], *, allow_outside: bool = False
) -> tuple[Study, Plan]:
    """Read a study folder, its manifest, or a manifest in memory, with all its tables.

    Parameters
    ----------
    source : the folder that holds ``study.yaml``, the manifest itself (YAML 1.2 or JSON), or a mapping as the
        manifest holds it, in which a table may be a DataFrame (``{"tables": {"readings": frame}}``)
    allow_outside : let the manifest name files outside its folder

    Raises
    ------
    StudyError : with every problem of every file
    TypeError : a table of a mapping is neither a DataFrame nor the name of a file
    """
    from collections.abc import Mapping

    from trustreport.study import ingest

    if isinstance(source, Mapping):
        from tempfile import TemporaryDirectory

        from trustreport.study.interop import frames

        with TemporaryDirectory() as folder:
            file = frames.written(source, Path(folder), Path.cwd())
            return ingest.read(file, allow_outside=True)
    return ingest.read(Path(source), allow_outside=allow_outside)


def assess(
    study: Study,
    plan: Plan,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    seen: Seen | None = None,
    run: Run = starmap,
    only: Iterable[str] = (),
    register: str | PathLike[str] | None = None,
    on: str | date = "",
    purpose: str = "",
) -> Assessed:
    """Answer every question that the study can answer; see `trustreport.assessment.assess.assess`.

    What it gives has `to_frame`, `figure`, `results`, `verdicts` and `checks`; a notebook shows its answer.

    Parameters
    ----------
    register : the folder, or its manifest, whose register of looks this use of the data is entered in, as
        `trustreport build` does; without it nothing is written
    on, purpose : day and purpose of the entry, see `record_look`

    Raises
    ------
    FileNotFoundError : the folder has no register: `lock_criteria` starts one
    ValueError : `on` or `purpose` without a register, a day that is none, or an altered register
    """
    from trustreport.assessment.assess import assess as answer_all
    from trustreport.report.notebook import Assessed

    if register is not None:
        study = _with_look(study, plan, register, on, purpose)
    elif on or purpose:
        raise ValueError("on and purpose describe an entry in a register; name its folder as register.")
    own = answer_all(study, plan, progress=progress, cancel=cancel, seen=seen, run=run, only=only)
    return Assessed.of_assessment(own)


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
    from trustreport.study import ingest, lock

    folder, plan = ingest.read_plan(Path(path))
    file = folder / lock.FILE
    before = lock.read(file.read_bytes()) if file.exists() else None
    made = lock.renewed(plan, before, amend=amend, reason=reason)
    if token:
        made = lock.stamped(made, token)
    if made != before:
        file.write_bytes(lock.written(made))
    (folder / lock.LOOKS).touch()
    return file, made


def record_look(
    path: str | PathLike[str], study: Study, plan: Plan, *, on: str = "", purpose: str = ""
) -> Study:
    """Enter this use of the data in the register beside the lock, where `lock_criteria` started one.

    The same use twice is one entry, so that a report made again has the same bytes.

    Parameters
    ----------
    on : the day, YYYY-MM-DD; that of the manifest's report where it is not given
    purpose : what the data are used for

    Raises
    ------
    OSError : the register cannot be written
    """
    from dataclasses import replace

    from trustreport.study import lock

    folder = _folder_of(path)
    look = lock.look_of(study, plan, on=on, purpose=purpose)
    if not look.data or not (folder / lock.LOOKS).is_file():
        return study
    return replace(study, looks=lock.record(folder, look))


def _folder_of(path: str | PathLike[str]) -> Path:
    return Path(path) if Path(path).is_dir() else Path(path).parent


def _with_look(
    study: Study, plan: Plan, register: str | PathLike[str], on: str | date, purpose: str
) -> Study:
    """The study with this use entered in a register that has to be there."""
    from datetime import date

    from trustreport.study import lock

    if not (_folder_of(register) / lock.LOOKS).is_file():
        missing = "start one with lock_criteria (trustreport lock) before the data are used"
        raise FileNotFoundError(f"{_folder_of(register) / lock.LOOKS}: no register of looks; {missing}.")
    try:
        day = on and date.fromisoformat(str(on)).isoformat()
    except ValueError as error:
        raise ValueError(f'on: found "{on}", expected a day as YYYY-MM-DD.') from error
    return record_look(register, study, plan, on=day or "", purpose=purpose)


def reproduce(
    out: str | PathLike[str], study: str | PathLike[str], *, allow_outside: bool = False
) -> list[FileStatus]:
    """Whether a study gives the numbers of the report in `out`: its files, then every number computed again.

    Raises
    ------
    StudyError : with every problem of every file
    """
    from trustreport.report.compare import as_built, load, reproduced
    from trustreport.report.write import as_data

    written = load(Path(out))
    read, plan = read_study(study, allow_outside=allow_outside)
    return list(reproduced(written, as_data(assess(read, as_built(plan, written)))))


def export_report(assessment: Assessment, form: str, file: str | PathLike[str]) -> Path:
    """Write an assessment into `file` in the form of others; see `trustreport.report.exports.export`.

    Raises
    ------
    ValueError : no such form, a suffix that it has not, or a study that has nothing for it
    MissingLibrary : a library of the form is not installed
    OSError : `file` cannot be written
    """
    from trustreport.report.exports import export

    out = Path(file)
    out.write_bytes(export(assessment, form, out.suffix))
    return out


def plan_reader_study(
    file: str | PathLike[str] | None = None, *, allow_outside: bool = False, **options: Any
) -> StudySizes:
    """Size a reader study before any data: readers x cases for a wished power or interval width.

    Parameters
    ----------
    file : the request as YAML or JSON; `docs/how-to/sample-size.md` lists its fields
    allow_outside : let the manifest of a pilot study name files outside its folder
    options : fields of the request, in place of those of the file; a group is a mapping

    Returns
    -------
    StudySizes
        `trustreport.planning.protocol` writes it as Markdown, PDF, SVG and JSON.

    Raises
    ------
    StudyError : with every problem of the request, or of the pilot study

    Examples
    --------
    >>> sizes = plan_reader_study(
    ...     endpoint="auc",
    ...     effect=0.06,
    ...     expected=0.8,
    ...     readers=[6, 10],
    ...     components={"model": "roe_metz", "structure": "HL"},
    ... )
    >>> [(one.n_readers, one.cell.n_cases) for one in sizes.smallest]
    [(6, 345), (10, 269)]
    """
    from trustreport.planning import read_request, size_study
    from trustreport.planning.pilot import pilot_parts

    request = read_request(None if file is None else Path(file), options)
    if request.pilot is None:
        return size_study(request)
    study, plan = read_study(request.pilot, allow_outside=allow_outside)
    return size_study(request, pilot_parts(study, plan, request))


def draw_sizes(sizes: StudySizes) -> Figure:
    """The figure of a sized study: power or interval width over the cases, a line a number of readers.

    >>> sizes = plan_reader_study(
    ...     endpoint="sensitivity",
    ...     effect=0.1,
    ...     expected=0.75,
    ...     readers=[5, 8],
    ...     cases=[50, 100],
    ...     components={"model": "roe_metz", "structure": "HL"},
    ... )
    >>> len(draw_sizes(sizes).axes)
    1
    """
    from trustreport.planning import protocol
    from trustreport.vocabulary.messages import catalogue

    return protocol.figure_of(sizes).drawing.draw(catalogue("en"))


def write_sizes(sizes: StudySizes, out: str | PathLike[str]) -> list[Path]:
    """Write a sized study into the folder `out`: numbers, section of a protocol (Markdown, PDF) and figure.

    Returns
    -------
    list of Path
        ``plan.json``, ``protocol.md``, ``figure.svg``, and ``protocol.pdf`` unless Pango is not installed.
    """
    from trustreport.planning import protocol
    from trustreport.vocabulary.errors import MissingLibrary

    files = {
        "plan.json": protocol.to_json(sizes),
        "protocol.md": protocol.to_markdown(sizes).encode(),
        "figure.svg": protocol.to_svg(sizes),
    }
    with suppress(MissingLibrary):
        files["protocol.pdf"] = protocol.to_pdf(sizes)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


def write_report(
    assessment: Assessment,
    out: str | PathLike[str],
    *,
    formats: Iterable[str] | None = None,
    progress: Progress | None = None,
    timed: Mapping[str, float] | None = None,
    drawing: DrawingProcess | None = None,
    layout: LayoutProcesses | None = None,
) -> Written:
    """Write the report into the folder `out`; see `trustreport.report.write.write`."""
    from trustreport.report.write import write

    return write(
        assessment,
        Path(out),
        formats=formats,
        progress=progress,
        timed=timed,
        drawing=drawing,
        layout=layout,
    )


def build_fleet(source: str | PathLike[str], out: str | PathLike[str], **options: Any) -> Any:
    """Build the reports of many studies into `out` and an overview of them; see `trustreport.api.fleet.run`.

    A study that has not changed since is not built again, and one that fails does not stop the others.

    Parameters
    ----------
    source : a folder of study folders, or a file that lists their paths
    options : ``backend``, ``jobs``, ``formats``, ``seed``, ``timeout``, ``again``, ``language``,
        ``allow_outside``, ``progress``

    Returns
    -------
    trustreport.api.fleet.run.FleetSummary
        Counts of reports that were built and that were current, and the studies that failed, with reasons.

    Raises
    ------
    ValueError : no such folder or list, an unknown format, or a wrong number of jobs
    BlockingIOError : another run writes into `out`
    MissingLibrary : the package of the backend is not installed
    """
    return import_module("trustreport.api.fleet.run").build_fleet(
        source, out, **options
    )  # it uses this module
