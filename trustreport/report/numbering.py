"""Numbers for tables and figures, and the values of a figure as a table."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from trustreport.finding import Figure
from trustreport.messages import Catalogue
from trustreport.report import declared
from trustreport.report.tables import Cell, Head, Line, Table, align

SHORT_TABLE = 12  # rows of one line; a table that takes no more room is not split between pages
# Characters that a row holds on one line, over all columns; a further line takes this part of a row.
ON_A_LINE, FURTHER = 90, 0.6
# Rows of a table on paper: tagged PDF grows faster than its rows, and nobody reads more of them in print.
ROWS_ON_PAPER = 200


@dataclass(frozen=True, slots=True)
class NumberedTable:
    """A table with its number; `cut` says that on paper not all of its rows are shown, empty otherwise."""

    number: str
    table: Table
    anchor: str
    cut: str = ""

    @property
    def short(self) -> bool:
        """Whether it stays on one page."""
        return sum(map(_room, self.table.lines)) <= SHORT_TABLE


def _room(line: Line) -> float:
    """About how high a row is, one of a single line being 1."""
    held = sum(len(cell.text) + len(cell.aside) for cell in line.cells)
    return 1 + FURTHER * max(ceil(held / ON_A_LINE) - 1, 0)


@dataclass(frozen=True, slots=True)
class NumberedFigure:
    """A figure with its number: the image as a data URL, and the values drawn."""

    number: str
    anchor: str
    src: str
    alt: str
    caption: str
    values: Table | None


class Numbering:
    """Numbers the tables and figures of a chapter: 3.1, 3.2 ...; `drawn` is the SVG of each figure."""

    def __init__(
        self, chapter: str, drawn: Mapping[str, bytes], say: Catalogue, most: int | None = None
    ) -> None:
        self.chapter, self._drawn, self._say, self._most = chapter, drawn, say, most
        self._tables = self._figures = 0

    def table(self, source: Table) -> NumberedTable:
        """The next table."""
        self._tables += 1
        number = f"{self.chapter}.{self._tables}"
        n, cut = len(source.lines), ""
        if self._most is not None and n > self._most:
            cut = self._say("table.cut", shown=self._most, n=n)
            source = replace(source, lines=source.lines[: self._most])
        return NumberedTable(number, source, f"table-{number.replace('.', '-')}", cut)

    def figure(self, figure: Figure) -> NumberedFigure:
        """The next figure."""
        self._figures += 1
        number = f"{self.chapter}.{self._figures}"
        return NumberedFigure(
            number,
            f"figure-{number.replace('.', '-')}",
            "data:image/svg+xml;base64," + b64encode(self._drawn[figure.id]).decode(),
            self._say(figure.alt),
            self._say(figure.caption),
            _values(figure.drawing.values(self._say), self._say),
        )


def _values(rows: Sequence[Mapping[str, Any]], say: Catalogue) -> Table | None:
    """The values of a figure as a table, columns in the order of their first row; empty ones are left out."""
    names = list(dict.fromkeys(name for row in rows for name in row if row[name] is not None))
    if not names:
        return None
    columns, heads = [], []
    for name in names:
        given = [row.get(name) for row in rows]
        numeric = any(isinstance(value, int | float) and not isinstance(value, bool) for value in given)
        texts = [_value(value, say) for value in given]
        columns.append([Cell(text, numeric) for text in (align(texts) if numeric else texts)])
        heads.append(Head(_value_name(name, say), numeric))
    return Table("", tuple(heads), tuple(Line(cells) for cells in zip(*columns)))


def _value(value: Any, say: Catalogue) -> str:
    if value is None or value != value:
        return say("table.empty")
    if isinstance(value, float) and abs(value) < 1000:
        return say.numbers.fixed(value, 4).rstrip("0").rstrip(".")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return say.numbers.count(value)
    return declared.text(value, say)


def _value_name(name: str, say: Catalogue) -> str:
    key = f"figure.value.{name}"
    return say(key) if key in say else name.replace("_", " ")
