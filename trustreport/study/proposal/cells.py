"""What the cells of a column are."""

import datetime as dt
import re
from typing import TYPE_CHECKING

import numpy as np

from trustreport.study.ingest import contracts, values
from trustreport.study.proposal.words import squeezed, vocabulary

if TYPE_CHECKING:
    from trustreport.study.ingest.tables import Column

GLANCE = 20_000  # rows that are looked at


class Cells:
    """The distinct cells of a column, and what they could be.

    `absent` are words for missing values; `indeterminate` are words for "no result" beside two other values.
    """

    def __init__(self, column: "Column") -> None:
        import pyarrow.compute as pc

        cells = pc.unique(values.text(column.slice(0, GLANCE))).drop_null().to_pylist()
        self.absent = {
            c for c in cells if c.casefold() in contracts.MISSING and c not in ("-", "none", "None")
        }
        self.distinct = [c for c in cells if c not in self.absent]
        self.indeterminate: set[str] = set()
        if 2 < len(self.distinct) < 6:
            words = {c for c in self.distinct if squeezed(c) in vocabulary()["values"]["indeterminate"]}
            self.indeterminate = words if len(self.distinct) - len(words) == 2 else set()
        self._numbers()
        self.coded = all(c.lower() in (*values.YES, *values.NO) for c in self.distinct)
        iso = bool(self.distinct) and all(values.TIME.fullmatch(c) for c in self.distinct)
        forms = {form for c in self.distinct if (form := _date_form(c))}
        other = bool(self.distinct) and len(forms) > 0 and all(_date_form(c) for c in self.distinct)
        self.date_form = max(forms, key=lambda f: f.startswith("mm")) if other else ""
        self.is_date = iso or other
        self.tidy = self.numeric or self.is_date or self.n_distinct == 2

    def _numbers(self) -> None:
        plain = [_number(c) for c in self.distinct]
        commas = [_number(c.replace(",", ".", 1)) for c in self.distinct]
        self.numeric = bool(plain) and None not in plain
        self.comma = not self.numeric and bool(commas) and None not in commas
        self.numeric = self.numeric or self.comma
        numbers = [x for x in (commas if self.comma else plain) if x is not None] if self.numeric else []
        self.largest = max(numbers, default=np.nan)
        within = bool(numbers) and min(numbers) >= 0 and self.largest <= 1
        self.is_whole = bool(numbers) and all(x == int(x) for x in numbers if np.isfinite(x))
        self.is_share = within and not self.is_whole

    @property
    def n_distinct(self) -> int:
        """How many values there are beside words for missing ones."""
        return len(self.distinct)

    @property
    def pair(self) -> tuple[str, ...]:
        """The two values of a column of two, words for "no result" left out; empty where there are others."""
        rest = tuple(c for c in self.distinct if c not in self.indeterminate)
        return rest if len(rest) == 2 else ()

    @property
    def is_call(self) -> bool:
        """Whether the column holds both 0 and 1, or words that are read as them."""
        return self.coded and self.n_distinct == 2

    @property
    def is_yes_or_no(self) -> bool:
        """Whether the column has two values of which one at least is known to mean yes or no."""
        return self.is_call or any(len(c) > 1 and c.casefold() in contracts.CODES for c in self.pair)

    def settle(self) -> list[str]:
        """Take the words for "no result" as missing; returns them."""
        found = sorted(self.indeterminate)
        self.distinct = [c for c in self.distinct if c not in self.indeterminate]
        self.indeterminate = set()
        self.coded = all(c.lower() in (*values.YES, *values.NO) for c in self.distinct)
        return found


def day(cell: str, form: str) -> str:
    """The day of a cell as YYYY-MM-DD; empty where it is none."""
    try:
        if form:
            return str(dt.datetime.strptime(cell, values.strptime_of(form)).date())  # noqa: DTZ007 -- a day
        return str(dt.date.fromisoformat(cell[:10]))
    except ValueError:
        return ""


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _date_form(cell: str) -> str:
    found = re.search(r"date_format: (\S+) to", contracts.fix_date(cell))
    return found[1] if found else ""
