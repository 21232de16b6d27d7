"""Numbers of tables and figures, and a figure as part of the page: its values, its SVG with ids of its own.

Colours of the SVG follow the page into the dark.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Any

from markupsafe import Markup, escape

from trustreport.assessment.finding import EstimateTable, Figure, PlainTable
from trustreport.figures import style
from trustreport.measures.estimate import Estimate
from trustreport.report import declared
from trustreport.report.tables import Cell, Head, Line, Table, align
from trustreport.vocabulary.messages import Catalogue

SHORT_TABLE = 8  # rows of one line; a table that takes no more room is not split between pages
WIDE = 135  # characters of a row that fit beside each other where an interval stands below its estimate
# Characters that a row holds on one line, over all columns; a further line takes this part of a row.
ON_A_LINE, FURTHER = 90, 0.6
# Rows of a table on paper: tagged PDF grows faster than its rows, and nobody reads more of them in print.
ROWS_ON_PAPER = 200
# Rows of a figure's values on a page: the points of curves fill screens and memory, and are read by machines.
MOST_VALUES = 50
LIMITS = ("low", "high", "n")  # ends of names of values that belong to another value
# The property of the page that stands for a colour of the figures; screen.css gives each of them two values.
PROPERTIES = {
    style.INK: "--ink",
    style.MUTE: "--mute",
    style.HAIRLINE: "--hairline",
    style.WASH: "--wash",
    style.BLUE: "--blue",
    style.TEAL: "--teal",
    style.RUST: "--rust",
    style.AMBER: "--amber",
    style.PAPER: "--paper",
    style.FAINT: "--faint",
    style.BLUE_WASH: "--blue-wash",
    style.RUST_WASH: "--rust-wash",
    style.TEAL_WASH: "--teal-wash",
}
HUES = (style.BLUE, style.TEAL, style.RUST, style.AMBER, style.INK)
NEAR = 0.02  # of 1: how far a channel of a colour may be from the mixture that it is taken for
_COLOUR = re.compile(r'(?<= )(fill|stroke)="(#[0-9a-f]{6})"')
_FACES = re.compile(r' font-family="[^"]*"')
_SHEET = re.compile(
    r'<path d="[^"]*" fill="#ffffff"/>\n'
)  # the paper of the figure, which the page has already
_ID = re.compile(r'(?<= id=")(?=c\d+")|(?<=="url\(#)(?=c\d+\))')


@dataclass(frozen=True, slots=True)
class ReportPlace:
    """Where something stands in this report: number of the chapter, anchor, title.

    `holds` says whether it holds anything but sentences; `heading` is the title of the chapter, as printed.
    """

    chapter: str
    anchor: str
    title: str
    holds: bool = True
    heading: str = ""
    in_annex: bool = False


@dataclass(frozen=True, slots=True)
class NumberedTable:
    """A table with its number; `cut` says that on paper not all of its rows are shown, empty otherwise."""

    number: str
    table: Table
    anchor: str
    cut: str = ""

    @property
    def wide(self) -> bool:
        """Whether a row is so long that its intervals have to break."""
        return any(sum(len(cell.text) for cell in line.cells) > WIDE for line in self.table.lines)

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
    """A figure with its number, and the values drawn where they are few and in no table beside it.

    `elsewhere` says where they are, if they are too many for the page.
    """

    number: str
    anchor: str
    title: str
    id: str
    drawn: Mapping[str, bytes]
    alt: str
    caption: str
    values: Table | None
    elsewhere: str = ""

    @property
    def src(self) -> str:
        """The drawing as a data URL."""
        return "data:image/svg+xml;base64," + b64encode(self.drawn[self.id]).decode()

    @property
    def inline(self) -> Markup:
        """The drawing as an element of the page."""
        return inline(self.drawn[self.id], self.anchor, self.title, self.alt)


class Numbering:
    """Numbers the tables and figures of a chapter: 3.1, 3.2 ...; `drawn` is the SVG of each figure.

    A table of more than `most` rows is cut; the text `cut` says that the others are `where`. `brief` is
    whether tables of estimates name their methods below.
    """

    def __init__(
        self,
        chapter: str,
        drawn: Mapping[str, bytes],
        say: Catalogue,
        most: int | None = None,
        cut: str = "table.cut",
        *,
        brief: bool = False,
        where: str = "",
    ) -> None:
        self.chapter, self._drawn, self._say, self._most, self._cut = chapter, drawn, say, most, cut
        self.brief, self._where = brief, where
        self._tables = self._figures = 0

    def table(self, source: Table) -> NumberedTable:
        """The next table."""
        self._tables += 1
        number = f"{self.chapter}.{self._tables}"
        n, cut = len(source.lines), ""
        if self._most is not None and n > self._most:
            cut = self._say(self._cut, shown=self._most, n=n, where=self._where)
            source = replace(source, lines=source.lines[: self._most])
        return NumberedTable(number, source, f"table-{number.replace('.', '-')}", cut)

    def figure(self, figure: Figure, tables: Iterable[EstimateTable | PlainTable] = ()) -> NumberedFigure:
        """The next figure; `tables` are those that stand beside it."""
        self._figures += 1
        number = f"{self.chapter}.{self._figures}"
        rows = figure.drawing.values(self._say)
        many = len(rows) > MOST_VALUES
        shown = not many and not _printed(rows, tables)
        return NumberedFigure(
            number,
            f"figure-{number.replace('.', '-')}",
            self._say("report.section.figure", number=number),
            figure.id,
            self._drawn,
            self._say(figure.alt),
            self._say(figure.caption),
            _values(rows, self._say) if shown else None,
            self._say("report.section.values_elsewhere", n=len(rows), id=figure.id) if many else "",
        )


def _printed(rows: Sequence[Mapping[str, Any]], tables: Iterable[EstimateTable | PlainTable]) -> bool:
    """Whether every value of a figure is an estimate that one of the tables prints."""
    printed = {_limits(e.value, e.low, e.high) for table in tables for e in _estimates(table)}
    return all(_limits(*map(row.get, ("value", "low", "high"))) in printed for row in rows)


def _limits(*numbers: Any) -> tuple[Any, ...]:
    """An estimate as numbers that can be compared: one that is undefined equals another."""
    return tuple(None if x is None or x != x else x for x in numbers)


def _estimates(table: EstimateTable | PlainTable) -> Iterator[Estimate]:
    """All estimates of a table."""
    if isinstance(table, EstimateTable):
        yield from (row.result.estimate for row in table.rows)
    else:
        yield from (cell for row in table.rows for cell in row if isinstance(cell, Estimate))


def _values(rows: Sequence[Mapping[str, Any]], say: Catalogue) -> Table | None:
    """The values of a figure as a table, columns in the order of their first row; empty ones are left out."""
    names = list(dict.fromkeys(name for row in rows for name in row if row[name] not in (None, "")))
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
    if value in (None, "") or value != value:
        return say("table.empty")
    if isinstance(value, float) and abs(value) < 1000:
        return say.numbers.plain(round(value, 4) + 0.0)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return say.numbers.count(value)
    return declared.text(value, say)


def _value_name(name: str, say: Catalogue) -> str:
    key = f"figure.value.{name}"
    base, _, end = name.rpartition("_")
    if key not in say and end in LIMITS:
        return say(f"figure.value_of.{end}", name=_value_name(base, say))
    return say(key) if key in say else name.replace("_", " ")


def inline(drawing: bytes, anchor: str, title: str, description: str) -> Markup:
    """The SVG of `report.svg_backend` as an element of the page.

    Parameters
    ----------
    anchor : what its ids begin with, so that each is the only one in the page
    title, description : its name, and what it shows
    """
    head, _, content = drawing.decode().partition(">")
    content = _SHEET.sub("", _FACES.sub("", content), count=1)
    content = _ID.sub(f"{anchor}-", _COLOUR.sub(_property, content))
    named = f'role="img" aria-labelledby="{anchor}-title {anchor}-description"'
    about = f'<title id="{anchor}-title">{escape(title)}</title>'
    about += f'<desc id="{anchor}-description">{escape(description)}</desc>'
    return Markup(f"{head} {named}>{about}{content.rstrip()}")  # noqa: S704 -- ours; every label was escaped


def _property(found: re.Match[str]) -> str:
    return f'{found[1]}="{colour(found[2])}"'


@cache
def colour(given: str) -> str:
    """A colour of the figures as one that follows the page: a property, or a hue mixed with the paper.

    >>> colour("#1b2733"), colour("#8eafce")
    ('var(--ink)', 'color-mix(in srgb,var(--blue) 50%,var(--paper))')
    """
    wanted = _channels(given)
    known = min(PROPERTIES, key=lambda one: _largest_gap(_channels(one), wanted))
    if _largest_gap(_channels(known), wanted) <= NEAR / 2:
        return f"var({PROPERTIES[known]})"
    share, hue = min(
        ((share, hue) for hue in HUES for share in range(1, 100)),
        key=lambda one: _largest_gap(_mixed(_channels(one[1]), one[0] / 100), wanted),
    )
    if _largest_gap(_mixed(_channels(hue), share / 100), wanted) > NEAR:
        return given
    return f"color-mix(in srgb,var({PROPERTIES[hue]}) {share}%,var(--paper))"


def _channels(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def _mixed(hue: tuple[float, ...], share: float) -> tuple[float, ...]:
    return tuple(share * channel + 1 - share for channel in hue)


def _largest_gap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return max(abs(a - b) for a, b in zip(one, other))
