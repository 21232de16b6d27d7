"""The sections that answer a question of trust: texts, numbered figures and tables, ready to be laid out."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trustreport.assessment import Assessment
from trustreport.dimensions import DIMENSIONS
from trustreport.finding import Figure, Finding, Part
from trustreport.messages import Catalogue
from trustreport.report import declared, summary
from trustreport.report.figures import Drawn
from trustreport.report.tables import Cell, Head, Line, Table, align, table
from trustreport.report.wording import shorten

SHORT_TABLE = 12  # rows; a shorter table is not split between pages
NAME_IN_CONTENTS = 60  # characters


@dataclass(frozen=True, slots=True)
class NumberedTable:
    """A table with its number."""

    number: str
    table: Table
    anchor: str

    @property
    def short(self) -> bool:
        """Whether it stays on one page."""
        return len(self.table.lines) <= SHORT_TABLE


@dataclass(frozen=True, slots=True)
class NumberedFigure:
    """A figure with its number: the image as a data URL, and the values drawn."""

    number: str
    anchor: str
    src: str
    alt: str
    caption: str
    values: Table | None


@dataclass(frozen=True, slots=True)
class PartView:
    """One set or task of a finding."""

    title: str
    in_contents: str
    anchor: str
    finding: tuple[str, ...]
    figures: tuple[NumberedFigure, ...]
    tables: tuple[NumberedTable, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A question of trust that was answered."""

    name: str
    number: str
    short: str
    title: str
    question: str
    template: str
    parts: tuple[PartView, ...]
    limits: tuple[summary.Limit, ...]
    not_shown: tuple[str, ...]


class Numbering:
    """Numbers the tables and figures of a section: 3.1, 3.2 ..."""

    def __init__(self, section: str, drawn: Mapping[str, Drawn], say: Catalogue) -> None:
        self._section, self._drawn, self._say = section, drawn, say
        self._tables = self._figures = 0

    def table(self, source: Table) -> NumberedTable:
        """The next table."""
        self._tables += 1
        number = f"{self._section}.{self._tables}"
        return NumberedTable(number, source, f"table-{number.replace('.', '-')}")

    def figure(self, figure: Figure) -> NumberedFigure:
        """The next figure."""
        self._figures += 1
        number = f"{self._section}.{self._figures}"
        drawn = self._drawn[figure.id]
        return NumberedFigure(
            number,
            f"figure-{number.replace('.', '-')}",
            "data:image/svg+xml;base64," + b64encode(drawn.svg).decode(),
            self._say(figure.alt),
            self._say(figure.caption),
            _values(drawn.values, self._say),
        )


def sections(assessment: Assessment, drawn: Mapping[str, Drawn], say: Catalogue) -> tuple[Section, ...]:
    """A section for each finding, numbered by the place of its question in the report."""
    return tuple(_section(finding, assessment, drawn, say) for finding in assessment.findings)


def _section(finding: Finding, assessment: Assessment, drawn: Mapping[str, Drawn], say: Catalogue) -> Section:
    name = finding.dimension
    number = str(1 + [d.name for d in DIMENSIONS].index(name))
    numbering = Numbering(number, drawn, say)
    return Section(
        name,
        number,
        say(f"{name}.short"),
        say(f"{name}.title"),
        say(f"{name}.question"),
        f"dimensions/{name}.html.j2",
        tuple(_part(part, f"{name}-{i}", numbering, say) for i, part in enumerate(finding.parts, 1)),
        tuple(summary.listed(summary.limits(assessment.fired(name), say), say)),
        tuple(say(text) for text in finding.not_shown),
    )


def _part(part: Part, anchor: str, numbering: Numbering, say: Catalogue) -> PartView:
    title = say(part.title) if part.title else ""
    return PartView(
        title,
        shorten(title, NAME_IN_CONTENTS, say),
        anchor,
        tuple(say(text) for text in part.finding),
        tuple(numbering.figure(figure) for figure in part.figures),
        tuple(numbering.table(table(source, say)) for source in part.tables),
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
