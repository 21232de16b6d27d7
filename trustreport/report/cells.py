"""A value of results.json as the cell of a spreadsheet."""

import json
from typing import Any

# What a spreadsheet would take for the beginning of a formula, or skip before one.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}",
           "\N{FULLWIDTH HYPHEN-MINUS}", "\N{FULLWIDTH COMMERCIAL AT}")  # fmt: skip

Cell = str | float | int | bool | None


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
