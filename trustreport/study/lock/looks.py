"""The register of looks: who used locked test data, on which day, what for; one line a look, chained by hash.

A line is added and none is changed: each holds the hash of the one before. A last line without its end was
not written whole and is no look. No clock is asked: the day is the caller's.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trustreport.study.lock.file import fingerprint, read
from trustreport.study.plan import Plan
from trustreport.study.study import Study

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
