"""What a fleet keeps of each study beside its report: a record of how it ended, and its results as a table.

The folder of a fleet::

    reports/NAME/         the report, as `write_report` makes it
    records/NAME.json     how it ended, with the hash of what it was made from; written last
    records/NAME.parquet  its results, a row each
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from trustreport.api.fleet.studies import MANIFESTS
from trustreport.report.signatures.bundle import HASHES, digest
from trustreport.vocabulary.version import __version__

REPORTS, RECORDS = "reports", "records"
Record = Mapping[str, Any]


def hashed(study: Path, files: Iterable[str] = ()) -> dict[str, str]:
    """The sha256 of manifest, lock, register and further files of a study; empty for one that is absent."""
    from trustreport.study import lock  # heavy, and workers have no need of it

    home = study if study.is_dir() else study.parent
    own = () if study.is_dir() else (study.name,)
    names = sorted({*MANIFESTS, lock.FILE, lock.LOOKS, *own, *files})
    return {name: digest(home / name) if (home / name).is_file() else "" for name in names}


def key_of(inputs: Mapping[str, str], options: Mapping[str, Any]) -> str:
    """The hash of all that a report is made from: inputs, version of the program, formats and options."""
    made_from = {"inputs": dict(inputs), "options": dict(options), "version": __version__}
    return sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()


def is_current(out: Path, name: str, study: Path, options: Mapping[str, Any]) -> bool:
    """Whether there is a finished report of these inputs, made by this version with these options."""
    record = read_record(out, name)
    if record is None or record["status"] != "done" or record["not_written"]:
        return False
    whole = (report_folder(out, name) / HASHES).is_file() and results_file(out, name).is_file()
    return whole and bool(record["key"] == key_of(hashed(study, record["inputs"]), options))


def report_folder(out: Path, name: str) -> Path:
    """Where the report of a study is."""
    return out / REPORTS / name


def results_file(out: Path, name: str) -> Path:
    """Where the results of a study are."""
    return out / RECORDS / f"{name}.parquet"


def read_record(out: Path, name: str) -> dict[str, Any] | None:
    """How a study ended; None where it has not been built, or its record is of another make."""
    try:
        found = json.loads((out / RECORDS / f"{name}.json").read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "status" in found else None


def write_record(out: Path, name: str, record: Record) -> None:
    """Keep how a study ended."""
    with replaced(out / RECORDS / f"{name}.json") as file:
        file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def forget(out: Path, name: str) -> None:
    """Drop the record of a study before it is built again, so that half of a report never passes for one."""
    (out / RECORDS / f"{name}.json").unlink(missing_ok=True)


def failed(study: str, why: str, **values: Any) -> dict[str, Any]:
    """The record of a study that has no report; `why` is a key of `fleet.failed` in the catalogue."""
    return {"status": "failed", "study": study, "why": why, "values": values}


@contextmanager
def replaced(file: Path) -> Iterator[Path]:
    """A file that takes the place of `file` when the block ends well; nothing is left of it otherwise."""
    made = file.with_name(f".{file.name}-{os.getpid()}")
    try:
        yield made
        os.replace(made, file)
    finally:
        made.unlink(missing_ok=True)


def clear_unfinished(out: Path) -> None:
    """Remove what runs that were cut off left half-written."""
    for folder in (out, out / REPORTS, out / RECORDS):
        for path in folder.glob(".*-*"):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


@contextmanager
def one_run(out: Path) -> Iterator[None]:
    """The folder of a fleet for this run alone.

    Raises
    ------
    BlockingIOError : another run writes into it
    """
    (out / REPORTS).mkdir(parents=True, exist_ok=True)
    (out / RECORDS).mkdir(exist_ok=True)
    with (out / ".lock").open("a+b") as file:
        with suppress(ImportError):  # where there is no such lock, two runs at once are not prevented
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        clear_unfinished(out)
        yield
