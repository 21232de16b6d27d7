"""Every number of a report as one flat table: results.csv."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trustreport.report import spreadsheets as frame
from trustreport.report.cells import cell

if TYPE_CHECKING:
    import pandas as pd


def render(document: Mapping[str, Any]) -> bytes:
    """results.csv of a document as it stands in results.json: UTF-8, a row for each number (RFC 4180)."""
    return written(frame.of_results(document["results"]))


def written(table: "pd.DataFrame") -> bytes:
    """A table as CSV.

    An absent value is an empty cell. Text that a spreadsheet would compute begins with an apostrophe; numbers
    are written as they are, with the digits of results.json.
    """
    text: str = table.map(_text).to_csv(index=False, lineterminator="\r\n")
    return text.encode()


def _text(value: Any) -> str:
    """A cell as CSV writes it."""
    value = cell(value)
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
