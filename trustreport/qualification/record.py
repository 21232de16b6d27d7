"""The record of a qualification: JSON, PDF, their hashes, and a signed statement where a key is given."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trustreport
from trustreport.qualification import installation, operation
from trustreport.qualification.installation import InstalledItem
from trustreport.qualification.operation import ComparedValue
from trustreport.report.bundle import HASHES, hashes
from trustreport.report.document import canonical
from trustreport.report.sign import FileStatement, signed_statement, write_new

if TYPE_CHECKING:
    from trustreport.signing import Signer

FORM = "trustreport qualification 1"
JSON, PDF = "qualification.json", "qualification.pdf"
ACT = "qualification-statement"


@dataclass(frozen=True, slots=True)
class Qualification:
    """What the installation is, what it returned, and when."""

    at: datetime
    machine: Mapping[str, str]
    installation: tuple[InstalledItem, ...]
    operation: tuple[ComparedValue, ...]
    studies: tuple[tuple[str, str], ...]
    record_digest: str

    @property
    def failures(self) -> list[str]:
        """A line for each item and each value that failed."""
        items = [
            f"{i.kind} {i.name}: expected {i.expected}, found {i.found}{f' ({i.note})' if i.note else ''}"
            for i in self.installation
            if i.status == "fail"
        ]
        values = [
            f"{r.measure}, {r.case}, {r.field}: expected {r.expected} (tolerance {r.tolerance:.2g}, "
            f"{r.source}), found {c.found}{f' ({c.note})' if c.note else ''}"
            for c in self.operation
            for r in [c.reference]
            if not c.passed
        ]
        return items + values

    @property
    def not_checked(self) -> list[InstalledItem]:
        """Items of the installation that could not be compared with anything."""
        return [item for item in self.installation if item.status == "not checked"]

    @property
    def passed(self) -> bool:
        """Whether nothing failed, and there was something to compare."""
        return bool(self.operation) and not self.failures


def qualify(
    place: Path | None = None, on_progress: operation.Progress = lambda step, share: None
) -> Qualification:
    """Look at the installation and compute every reference value.

    Parameters
    ----------
    place : folder of the reference values; that of the installed package by default
    """
    return Qualification(
        datetime.now(UTC),
        installation.machine(),
        tuple(installation.inspect()),
        tuple(operation.compare_all(place, on_progress)),
        tuple(operation.origins(place)),
        installation.record_digest(),
    )


def as_data(found: Qualification, key: str = "") -> dict[str, Any]:
    """The record as plain data, for JSON.

    Parameters
    ----------
    key : name of the key that signs, empty without one
    """
    statuses = Counter(item.status for item in found.installation)
    return {
        "form": FORM,
        "trustreport": trustreport.__version__,
        "at": found.at.isoformat(timespec="seconds"),
        "passed": found.passed,
        "failures": found.failures,
        "machine": dict(found.machine),
        "record_sha256": found.record_digest or None,
        "signed_by_key": key or None,
        "counts": {
            "installation": dict(statuses),
            "operation": {
                "pass": sum(c.passed for c in found.operation),
                "fail": sum(not c.passed for c in found.operation),
            },
        },
        "installation": [asdict(item) for item in found.installation],
        "operation": [
            {**asdict(c.reference), "found": c.found, "passed": c.passed, "note": c.note}
            for c in found.operation
        ],
        "studies": [{"title": title, "origin": origin} for title, origin in found.studies],
    }


def write(
    found: Qualification, out: Path, signer: "Signer | None" = None, name: str = "", email: str = ""
) -> None:
    """Write the record into a new or empty folder, whole or not at all.

    Raises
    ------
    FileExistsError : the folder is not empty
    MissingLibrary : Pango is not installed
    """
    from trustreport.qualification.pages import to_pdf

    refuse_used(out)
    data = canonical(as_data(found, signer.name if signer else ""))
    pdf = to_pdf(found, data, signer.name if signer else "", name)
    out.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        (new / JSON).write_bytes(data)
        (new / PDF).write_bytes(pdf)
        (new / HASHES).write_bytes(hashes(new))
        if signer is not None:
            meaning = "qualification passed" if found.passed else "qualification failed"
            write_new(signed_statement(new, signer, FileStatement(ACT, meaning, name, email, found.at)))
        new.chmod(0o755)
        if out.exists():
            out.rmdir()
        os.replace(new, out)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def refuse_used(out: Path) -> None:
    """Refuse a folder that has files: a record is not overwritten."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out} is not an empty folder; a record is not overwritten: name another one")
