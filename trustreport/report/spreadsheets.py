"""The results of a report as one frame, as CSV and as a workbook, the same bytes every time.

pandas is imported where a frame is made: a report without a table of results does without.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trustreport.report.results_model import ResultEntry, Scope

if TYPE_CHECKING:
    import pandas as pd


# What a number is of, as `scope` of results.json has it.
SCOPE = tuple(field.alias or name for name, field in Scope.model_fields.items())
NUMBER = tuple(name for name in ResultEntry.model_fields if name not in ("id", "scope", "short"))
HEADER = ("id", *SCOPE, *NUMBER)
# What a spreadsheet would take for the beginning of a formula, or skip before one.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}",
           "\N{FULLWIDTH HYPHEN-MINUS}", "\N{FULLWIDTH COMMERCIAL AT}")  # fmt: skip
Cell = str | float | int | bool | None
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


def results_frame(entries: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each of the `results` of results.json, in their order; the columns are those of `HEADER`."""
    return entries_frame(({**entry["scope"], **entry} for entry in entries), HEADER)


def entries_frame(entries: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """A row for each entry; its cells are text, numbers as they are, or None where the entry has nothing."""
    import pandas as pd

    rows = [[plain_cell(entry.get(column)) for column in columns] for entry in entries]
    return pd.DataFrame(rows, columns=list(columns), dtype=object)


def cell(value: Any) -> Cell:
    """A value of results.json as a cell that no spreadsheet computes."""
    plain = plain_cell(value)
    return escaped(plain) if isinstance(plain, str) else plain


def plain_cell(value: Any) -> Cell:
    """A value of results.json as a cell; what has parts is JSON, a pair is joined."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "; ".join(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False) if value else None


def escaped(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return "'" + text if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def results_csv(document: Mapping[str, Any]) -> bytes:
    """results.csv of a document as it stands in results.json: UTF-8, a row for each number (RFC 4180)."""
    return as_csv(results_frame(document["results"]))


def as_csv(table: pd.DataFrame) -> bytes:
    """A table as CSV.

    An absent value is an empty cell. Text that a spreadsheet would compute begins with an apostrophe; numbers
    are written as they are, with the digits of results.json.
    """
    text: str = table.map(_csv_text).to_csv(index=False, lineterminator="\r\n")
    return text.encode()


def _csv_text(value: Any) -> str:
    """A cell as CSV writes it."""
    value = cell(value)
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def results_xlsx(document: Mapping[str, Any]) -> bytes:
    """results.xlsx of a document as it stands in results.json: numbers, verdicts, checks, inputs.

    Text cells are never formulas. What a workbook cannot hold (control characters, more than 32,767
    characters) is replaced or cut, and stands whole in results.json.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook(write_only=True)

    def sheet(name: str, table: pd.DataFrame) -> None:
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

    sheet("numbers", results_frame(document["results"]))
    for name, (key, wanted) in SHEETS.items():
        entries = document[key]
        columns = wanted or tuple(entries[0] if entries else ("endpoint", "verdict", "reason"))
        sheet(name, entries_frame(entries, columns))
    sheet("inputs", entries_frame(document["provenance"]["inputs"], INPUTS))
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
