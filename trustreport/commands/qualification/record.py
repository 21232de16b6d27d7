"""The record of a qualification: JSON, PDF, their hashes, and a signed statement where a key is given."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustreport.commands.qualification import installation, operation
from trustreport.commands.qualification.installation import InstalledItem
from trustreport.commands.qualification.operation import ComparedValue, Progress
from trustreport.commands.qualification.peers import HERE
from trustreport.commands.second_opinion import TOLERANCE, software
from trustreport.commands.signing import name_and_address, signer_of
from trustreport.report.document import canonical, digest
from trustreport.report.signatures.bundle import HASHES, hashes
from trustreport.report.signatures.sign import FileStatement, signed_statement, write_new
from trustreport.vocabulary.errors import MissingLibrary
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.version import __version__

if TYPE_CHECKING:
    from trustreport.report.signatures.signing import Signer


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
        "trustreport": __version__,
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


TEXT = "qualification"
DIGITS = 10
KINDS = ("python", "package", "library", "files", "font")
FACTS = ("trustreport", "place", "python", "system", "processor", "host")
HEADINGS = ("outcome", "failures", "machine", "installation", "operation", "studies", "limits")
RESULTS = ("pass", "fail")
STATUS = {"pass": "pass", "fail": "fail", "not checked": "none"}  # classes of the style


@dataclass(frozen=True, slots=True)
class RecordTable:
    """A table: its caption, heads, rows of texts, and the class of the last cell of each."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]


def to_pdf(found: "Qualification", data: bytes, key: str, name: str) -> bytes:
    """The record as PDF.

    Parameters
    ----------
    data : the record as JSON, which is attached
    key, name : of whoever signs; empty where nobody does

    Raises
    ------
    MissingLibrary : Pango is not installed
    """
    from trustreport.report.pdf import packaged_page

    words = catalogue("en")
    return packaged_page(
        "report/qualification.html.j2",
        digest(data),
        [("qualification.json", data, words(f"{TEXT}.attached"))],
        heading={name: words(f"{TEXT}.heading.{name}") for name in HEADINGS},
        explained={name: words(f"{TEXT}.text.{name}") for name in ("operation", "limits")},
        title=words(f"{TEXT}.title"),
        outcome=words(f"{TEXT}.{'passed' if found.passed else 'failed'}", n=len(found.failures)),
        summary=list(_summary(found, words)),
        failures=found.failures,
        signature=words(f"{TEXT}.signed", name=name, key=key) if key else words(f"{TEXT}.unsigned"),
        facts=[(words(f"{TEXT}.fact.{fact}"), found.machine[fact]) for fact in FACTS]
        + [(words(f"{TEXT}.fact.record"), found.record_digest or words(f"{TEXT}.none"))],
        installation=list(_installation(found.installation, words)),
        operation=list(_operation(found.operation, words)),
        studies=found.studies,
        foot=f"trustreport {__version__} · {found.at:%Y-%m-%d %H:%M} UTC · {digest(data)[:8]}",
    )


def _summary(found: "Qualification", words: Catalogue) -> Iterator[str]:
    checked = [item for item in found.installation if item.status != "not checked"]
    fine = sum(item.status == "pass" for item in checked)
    yield words(f"{TEXT}.summary.installation", fine=fine, n=len(checked))
    if found.not_checked:
        names = [item.name for item in found.not_checked]
        yield words(f"{TEXT}.summary.not_checked", n=len(names), names=names)
    fine = sum(c.passed for c in found.operation)
    measures = len({c.reference.measure for c in found.operation})
    yield words(f"{TEXT}.summary.operation", fine=fine, n=len(found.operation), measures=measures)


def _installation(items: tuple[InstalledItem, ...], words: Catalogue) -> Iterator[RecordTable]:
    heads = tuple(words(f"{TEXT}.column.{name}") for name in ("item", "expected", "found", "result"))
    for kind in KINDS:
        own = [item for item in items if item.kind == kind]
        rows = tuple(
            (
                item.name,
                item.expected,
                f"{item.found} ({item.note})" if item.note else item.found,
                words(f"{TEXT}.status.{item.status.replace(' ', '_')}"),
            )
            for item in own
        )
        classes = tuple(STATUS[item.status] for item in own)
        if rows:
            yield RecordTable(words(f"{TEXT}.kind.{kind}"), heads, rows, classes)


def _operation(
    compared: tuple[ComparedValue, ...], words: Catalogue
) -> Iterator[tuple[str, list[RecordTable]]]:
    """The tables of each measure, one for each source."""

    def measure(c: ComparedValue) -> str:
        return c.reference.measure

    def origin(c: ComparedValue) -> tuple[str, str]:
        return c.reference.source, c.reference.study

    for name, of_measure in groupby(sorted(compared, key=measure), measure):
        of = groupby(sorted(of_measure, key=origin), origin)
        yield name, [_values(source, study, list(own), words) for (source, study), own in of]


def _values(source: str, study: str, compared: list[ComparedValue], words: Catalogue) -> RecordTable:
    names = ("case", "field", "expected", "found", "tolerance", "result")
    caption = words(f"{TEXT}.caption_study", source=source, study=study) if study else source
    rows = tuple(
        (
            c.reference.case,
            c.reference.field,
            _number(c.reference.expected, words),
            c.note or _number(c.found, words),
            f"{c.reference.tolerance:.2g}",
            words(f"{TEXT}.status.{RESULTS[not c.passed]}"),
        )
        for c in compared
    )
    heads = tuple(words(f"{TEXT}.column.{name}") for name in names)
    return RecordTable(caption, heads, rows, tuple(RESULTS[not c.passed] for c in compared))


def _number(value: float | None, words: Catalogue) -> str:
    return words(f"{TEXT}.undefined") if value is None else f"{value:.{DIGITS}g}"


MOST_PRINTED = 20  # failures; the record lists all


def run(out: Path, key: Path | None, signatory: str | None, on_progress: Progress) -> bool:
    """Qualify the installation, write the record, and return whether all passed."""
    try:
        refuse_used(out)
    except FileExistsError as error:
        raise click.BadParameter(str(error), param_hint="--out") from error
    signer = signer_of(key) if key is not None else None
    name, email = name_and_address(signatory) if key is not None else ("", "")
    found = qualify(on_progress=on_progress)
    on_progress("record", 1.0)
    try:
        write(found, out, signer, name, email)
    except MissingLibrary as error:
        raise click.ClickException(f"{error}. Nothing was written") from error
    except OSError as error:
        raise click.ClickException(f"cannot write to {out}: {error.strerror or error}") from error
    for file in (PDF, JSON):
        click.echo(out / file)
    for line in found.failures[:MOST_PRINTED]:
        click.echo(f"failed: {line}", err=True)
    for item in found.not_checked:
        click.echo(f"not checked: {item.name}: {item.note}", err=True)
    if signer is None:
        click.echo("The record is not signed: no key was given (--key).", err=True)
    n, compared = len(found.failures), len(found.operation)
    click.echo(f"{compared} reference values compared; {n} failure{'s' * (n != 1)}.", err=True)
    own = [c.passed for c in found.operation if c.reference.source.endswith(HERE)]
    click.echo(f"{sum(own)} of {len(own)} values are equal to {software()} to {TOLERANCE:.0e}.", err=True)
    return found.passed
