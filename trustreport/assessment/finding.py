"""What a dimension hands to the report: sentences, tables and figures, as data without any layout."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from trustreport.vocabulary.messages import Catalogue, Message
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


class Drawing(Protocol):
    """What a figure shows, and how it is drawn from it; see `trustreport.figures`."""

    def draw(self, say: Catalogue) -> "MatplotlibFigure":
        """The figure at its final size."""

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """The values drawn, one row per mark: the figure's data table."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the report. `id` names its files; `alt` says in words what it shows."""

    id: str
    drawing: Drawing
    caption: Message
    alt: Message


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """A row of a table of estimates; the one that leads is set in semibold."""

    label: Message
    result: Result
    leads: bool = False


@dataclass(frozen=True, slots=True)
class EstimateTable:
    """Estimates with interval, denominator and method, a row each."""

    id: str
    caption: Message
    rows: tuple[EstimateRow, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a plain table: its header, and how its values are written (a word of the catalogue)."""

    header: Message
    format: str = "text"


@dataclass(frozen=True, slots=True)
class PlainTable:
    """Any other table; each cell is a message, a text or a number (None: no value)."""

    id: str
    caption: Message
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One set, task or data set within a dimension: its finding sentences, then what bears them out.

    One that carries the id of an element of the report (``"E35"``) stands where the outline has that element.
    """

    finding: tuple[Message, ...]
    title: Message | None = None
    tables: tuple[EstimateTable | PlainTable, ...] = ()
    figures: tuple[Figure, ...] = ()
    place: Place = NOWHERE
    element: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A dimension's answer for one study."""

    dimension: str
    parts: tuple[Part, ...]
    results: tuple[Result, ...]
    not_shown: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that these data leave open, and why."""

    dimension: str
    reason: Message


Severity = Literal["B", "W", "N"]


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What one check of the pitfall register found, and where (set, task, data set).

    `quantities` are those that it concerns; empty where it concerns every number of the place.
    """

    check: str
    dimension: str
    severity: Severity
    status: Literal["fired", "clear", "cannot run"]
    message: Message
    place: Place = NOWHERE
    quantities: tuple[str, ...] = ()

    @property
    def scope(self) -> dict[str, Any]:
        """The place as results.json has it."""
        return self.place.scope
