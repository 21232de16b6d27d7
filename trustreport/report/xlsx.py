"""Every number of a report as a workbook, the same bytes every time."""

import io
import re
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trustreport.report import spreadsheets as frame
from trustreport.report.cells import Cell, cell

if TYPE_CHECKING:
    import pandas as pd

# Dates of the workbook and of the files within it: it has none of its own.
UNDATED = "1980-01-01T00:00:00Z"
UNDATED_ZIP = (1980, 1, 1, 0, 0, 0)
CORE = "docProps/core.xml"
LONGEST = 32_767  # characters of a cell
WIDTHS = {"id": 44, "method_text": 40, "note": 40, "source": 40, "details": 40}

SHEETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "verdicts": ("verdicts", ()),
    "checks": ("checks", ("check", "severity", "status", "message", "dimension", "scope")),
    "open questions": ("unanswered", ("dimension", "question", "reason")),
}
INPUTS = ("file", "table", "sha256", "bytes", "rows", "used", "dropped")


def render(document: Mapping[str, Any]) -> bytes:
    """results.xlsx of a document as it stands in results.json: numbers, verdicts, checks, inputs.

    Text cells are never formulas. What a workbook cannot hold (control characters, more than 32,767
    characters) is replaced or cut, and stands whole in results.json.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook(write_only=True)

    def sheet(name: str, table: "pd.DataFrame") -> None:
        page = book.create_sheet(name)
        page.freeze_panes = "B2"
        for i, column in enumerate(table.columns, 1):
            page.column_dimensions[get_column_letter(i)].width = WIDTHS.get(column, 14)
        heads = [WriteOnlyCell(page, column) for column in table.columns]
        for head in heads:
            head.font = Font(bold=True)
        page.append(heads)
        for row in table.itertuples(index=False, name=None):
            page.append([_storable(cell(value)) for value in row])

    sheet("numbers", frame.of_results(document["results"]))
    for name, (key, wanted) in SHEETS.items():
        entries = document[key]
        columns = wanted or tuple(entries[0] if entries else ("endpoint", "verdict", "reason"))
        sheet(name, frame.of_entries(entries, columns))
    sheet("inputs", frame.of_entries(document["provenance"]["inputs"], INPUTS))
    raw = io.BytesIO()
    book.save(raw)
    return _undated(raw.getvalue())


def _storable(value: Cell) -> Cell:
    """A cell that a workbook can hold."""
    if not isinstance(value, str):
        return value
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    text = ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _undated(workbook: bytes) -> bytes:
    """The same workbook without the time at which it was saved."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook)) as old, zipfile.ZipFile(out, "w") as new:
        for name in sorted(old.namelist(), key=lambda n: (n != "[Content_Types].xml", n)):
            data = old.read(name)
            if name == CORE:
                data = re.sub(
                    rb"(<dcterms:(created|modified)[^>]*>)[^<]*", rb"\g<1>" + UNDATED.encode(), data
                )
            entry = zipfile.ZipInfo(name, UNDATED_ZIP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            new.writestr(entry, data, compresslevel=6)
    return out.getvalue()
