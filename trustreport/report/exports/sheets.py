"""A sheet: sections of paragraphs and tables, in which what is still to be filled in is marked; as HTML."""

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256

from markupsafe import Markup

from trustreport.report.html import environment
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.resources import folder


@dataclass(frozen=True, slots=True)
class SheetLink:
    """A link of a cell: its text, and a file with a place in it."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A paragraph or a cell of a table; `gap` marks what somebody has to fill in."""

    text: str
    gap: bool = False
    links: tuple[SheetLink, ...] = ()


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A table with its caption; every row has a cell for each head."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[SheetCell, ...], ...]


@dataclass(frozen=True, slots=True)
class SheetSection:
    """A heading with its paragraphs, then its tables."""

    title: str
    paragraphs: tuple[SheetCell, ...] = ()
    tables: tuple[SheetTable, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A document; `notes` says before all else what it is and what it is not."""

    title: str
    notes: tuple[str, ...]
    sections: tuple[SheetSection, ...]
    language: str = "en"

    @property
    def gaps(self) -> int:
        """How many cells and paragraphs are still to be filled in."""
        cells = (cell for s in self.sections for t in s.tables for row in t.rows for cell in row)
        return sum(cell.gap for cell in cells) + sum(p.gap for s in self.sections for p in s.paragraphs)


def render(sheet: Sheet, say: Catalogue) -> str:
    """The sheet as one HTML file that loads nothing from anywhere."""
    style = Markup((folder("templates") / "sheet.css").read_text(encoding="utf-8"))  # noqa: S704 -- packaged
    allowed = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    template = environment().get_template("report/sheet.html.j2")
    return template.render(sheet=sheet, say=say, style=style, policy=policy)
