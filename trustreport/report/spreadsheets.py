"""The results of a report as one frame: that of results.csv, results.xlsx, a notebook and a fleet's results.

pandas is imported where a frame is made: a report without a table of results does without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trustreport.report.cells import plain_cell
from trustreport.report.document import Scope

if TYPE_CHECKING:
    import pandas as pd

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


def of_results(entries: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A row for each of the `results` of results.json, in their order; the columns are those of `HEADER`."""
    return of_entries(({**entry["scope"], **entry} for entry in entries), HEADER)


def of_entries(entries: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """A row for each entry; its cells are text, numbers as they are, or None where the entry has nothing."""
    import pandas as pd

    rows = [[plain_cell(entry.get(column)) for column in columns] for entry in entries]
    return pd.DataFrame(rows, columns=list(columns), dtype=object)
