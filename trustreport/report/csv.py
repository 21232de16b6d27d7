"""Every number of a report as one flat table: results.csv, and the sheets of results.xlsx."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trustreport.report.cells import Cell, cell, escaped
from trustreport.report.document import Scope

# What a number is of, as `scope` of results.json has it.
SCOPE = tuple(field.alias or name for name, field in Scope.model_fields.items())
NUMBER = (
    "quantity",
    "cases",
    "value",
    "low",
    "high",
    "level",
    "se",
    "n",
    "unit",
    "method",
    "method_text",
    "p",
    "df",
    "primary",
    "note",
    "source",
    "details",
)
HEADER = ("id", *SCOPE, *NUMBER)


def render(document: Mapping[str, Any]) -> bytes:
    """results.csv of a document as it stands in results.json: UTF-8, a row for each number (RFC 4180).

    An absent value is an empty cell. Text that a spreadsheet would compute begins with an apostrophe; numbers
    are written as they are, with the digits of results.json.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(HEADER)
    writer.writerows([written(cell) for cell in row] for row in numbers(document))
    return text.getvalue().encode()


def numbers(document: Mapping[str, Any]) -> Iterable[Sequence[Cell]]:
    """A row of cells for each number, in the order of results.json; the columns are those of `HEADER`."""
    for entry in document["results"]:
        scope = entry["scope"]
        yield (
            escaped(entry["id"]),
            *(cell(scope.get(key)) for key in SCOPE),
            *(cell(entry[key]) for key in NUMBER),
        )


def written(value: Cell) -> str:
    """A cell as CSV writes it; a number with the digits that results.json gives it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)
