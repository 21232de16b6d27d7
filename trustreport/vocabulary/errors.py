"""What is wrong with an input: one `Problem` each, all of them raised together."""

import re
from dataclasses import asdict, dataclass

SHOWN = 3  # rows that a message names
MOST_OF_A_COLUMN = 300  # characters of its name that a message shows
# Signs without a shape: control characters, and those that turn the direction of all that follows in a line,
# the digits of numbers too. Marks of a direction (U+200E, U+200F, U+061C) turn nothing and belong to names.
UNSEEN = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\u202a-\u202e\u2066-\u2069]"


def visible(text: str) -> str:
    """A text with each sign that is not seen written as its number.

    >>> visible("R1" + chr(0x202E))
    'R1<U+202E>'
    """
    return re.sub(UNSEEN, lambda sign: f"<U+{ord(sign[0]):04X}>", text)


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of one file: where it is, what was found, what was expected, how to fix it.

    `row` is the row that a spreadsheet or editor shows (the header of a table is row 1, the first line
    of a manifest is line 1); `column` is a header, or the path of a manifest key (``datasets[2].role``).
    Of many rows `rows` lists the first; `n_rows` counts all.
    """

    file: str
    found: str
    expected: str = ""
    mend: str = ""
    row: int | None = None
    column: str = ""
    rows: tuple[int, ...] = ()
    n_rows: int = 0

    def __post_init__(self) -> None:
        for name in ("file", "found", "expected", "mend", "column"):  # a terminal obeys control characters
            object.__setattr__(self, name, visible(getattr(self, name)))

    def __str__(self) -> str:
        rows = self.rows or ((self.row,) if self.row is not None else ())
        n = max(self.n_rows, len(rows))
        listed = ", ".join(str(r) for r in rows[:SHOWN])
        if n > SHOWN:
            listed += f" and {n - SHOWN:,} more"
        elif n > 1:
            listed = ", ".join(str(r) for r in rows[:-1]) + f" and {rows[-1]}"
        column = self.column
        if len(column) > MOST_OF_A_COLUMN:
            column = f"{column[:MOST_OF_A_COLUMN]}…"
        place = ", ".join(
            part
            for part in (
                self.file,
                f"row{'s' * (n > 1)} {listed}" if rows else "",
                f"column {column}" if column else "",
            )
            if part
        )
        said = ", ".join(
            part for part in (self.found, f"expected {self.expected}" if self.expected else "") if part
        )
        return f"{place}: {said}." + (f" {self.mend}" if self.mend else "")

    def as_dict(self) -> dict[str, object]:
        """The problem as plain data, for JSON and for pages that point at the row."""
        return asdict(self)


class StudyError(Exception):
    """A study that cannot be read: every problem of every file, in the order of the files."""

    def __init__(self, problems: list[Problem] | tuple[Problem, ...]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))

    def __reduce__(self) -> tuple[type["StudyError"], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class Cancelled(Exception):
    """The caller asked to stop before the work was done."""


class MissingLibrary(Exception):
    """A library of the operating system is absent; the message says how to install it."""
