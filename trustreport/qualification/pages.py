"""The record as PDF, in the style of a report: PDF/A-3a and PDF/UA-1, with the JSON attached."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import trustreport
from trustreport.messages import Catalogue, catalogue
from trustreport.qualification.installation import InstalledItem
from trustreport.qualification.operation import ComparedValue
from trustreport.report.document import digest

if TYPE_CHECKING:
    from trustreport.qualification.record import Qualification

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
        foot=f"trustreport {trustreport.__version__} · {found.at:%Y-%m-%d %H:%M} UTC · {digest(data)[:8]}",
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
