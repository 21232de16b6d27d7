"""Documents of headings, paragraphs and tables that people fill in or work through: as HTML and as DOCX.

What is still to be filled in is marked. The question list of an assessor is one.
"""

import csv
import datetime as dt
import io
import re
import zipfile
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from trustreport.report.contents import Chapters, ElementView
from trustreport.report.elements.frameworks import Framework, FrameworkRow
from trustreport.report.html import environment
from trustreport.report.spreadsheets import escaped
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.resources import folder

UNDATED = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)
COLUMNS = ("framework", "item", "about", "state", "place", "file", "page", "remark", "number")
NO_XML = re.compile("[^\\t\\n\\r -\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
ELEMENT = "E46"  # lists the items


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


def sheet_page(sheet: Sheet, say: Catalogue) -> str:
    """The sheet as one HTML file that loads nothing from anywhere."""
    style = Markup((folder("templates") / "sheet.css").read_text(encoding="utf-8"))  # noqa: S704 -- packaged
    allowed = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    template = environment().get_template("report/sheet.html.j2")
    return template.render(sheet=sheet, say=say, style=style, policy=policy)


def printable(text: str) -> str:
    """The text without characters that XML 1.0 cannot hold."""
    return NO_XML.sub("", text)


def sheet_docx(sheet: Sheet) -> bytes:
    """The document: headings, paragraphs and tables; what is to be filled in is highlighted."""
    import docx

    document = docx.Document()
    properties = document.core_properties
    properties.title, properties.author, properties.comments = sheet.title, "trustreport", ""
    properties.created = properties.modified = UNDATED
    document.add_heading(sheet.title, 0)
    for note in sheet.notes:
        document.add_paragraph(printable(note))
    for section in sheet.sections:
        document.add_heading(printable(section.title), 1)
        for paragraph in section.paragraphs:
            _write(document.add_paragraph(), paragraph)
        for table in section.tables:
            _add_table(document, table)
    return _settled(document)


def _add_table(document: Any, table: SheetTable) -> None:
    from docx.oxml import OxmlElement

    document.add_paragraph(printable(table.caption), style="Caption")
    grid = document.add_table(rows=1, cols=len(table.heads), style="Table Grid")
    grid.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))  # repeated on every page
    for cell, head in zip(grid.rows[0].cells, table.heads):
        cell.paragraphs[0].add_run(printable(head)).bold = True
    for row in table.rows:
        for cell, content in zip(grid.add_row().cells, row):
            _write(cell.paragraphs[0], content)
    document.add_paragraph()


def _write(paragraph: Any, cell: SheetCell) -> None:
    from docx.enum.text import WD_COLOR_INDEX

    run = paragraph.add_run(printable(cell.text))
    if cell.gap:
        run.font.highlight_color = WD_COLOR_INDEX.YELLOW


def _settled(document: Any) -> bytes:
    """The file with its parts in order and without the time at which it was written."""
    made, settled = io.BytesIO(), io.BytesIO()
    document.save(made)
    with zipfile.ZipFile(made) as parts, zipfile.ZipFile(settled, "w", zipfile.ZIP_DEFLATED) as file:
        for name in parts.namelist():
            file.writestr(zipfile.ZipInfo(name), parts.read(name), zipfile.ZIP_DEFLATED)
    return settled.getvalue()


@dataclass(frozen=True, slots=True)
class QuestionPlace:
    """Where an item is addressed: the title of the place, and its file and page (0 where it has none)."""

    title: str
    file: str
    page: int
    anchor: str

    @property
    def address(self) -> str:
        """The place as a link: of a PDF the page, of HTML the anchor, without either nothing."""
        place = f"page={self.page}" if self.page else self.anchor
        return f"{self.file}#{place}" if self.file else ""


def frameworks_of(chapters: Chapters) -> tuple[Framework, ...]:
    """The frameworks that a report lists, as its annex on screen has them: with what others supply."""
    views = (v for chapter in chapters.annex for v in chapter.items if isinstance(v, ElementView))
    found = (v.element.extra.get("frameworks", ()) for v in views if v.anchor == ELEMENT)
    return next(found, ())


def question_sheet(
    frameworks: tuple[Framework, ...],
    pages: Mapping[str, tuple[str, int]],
    page_file: str,
    title: str,
    say: Catalogue,
) -> Sheet:
    """The list as a sheet.

    Parameters
    ----------
    pages : file and page of each anchor of the PDF files that were written
    page_file : the HTML report, which has every anchor; empty where it was not written
    """
    heads = tuple(say(f"element.E46.{key}") for key in ("item", "about_item", "state", "where", "number"))
    sections = []
    for one in frameworks:
        rows = tuple(_cells(row, _places(row, pages, page_file), say) for row in one.rows)
        paragraphs = tuple(SheetCell(sentence) for sentence in one.finding)
        sections.append(SheetSection(one.title, paragraphs, (SheetTable(one.caption, heads, rows),)))
    notes: tuple[str, ...] = (title, say("sheet.questions.note"))
    if not frameworks:
        notes = (*notes, say("sheet.questions.none"))
    return Sheet(say("sheet.questions.title"), notes, tuple(sections), say.language)


def questions_csv(
    frameworks: tuple[Framework, ...], pages: Mapping[str, tuple[str, int]], page_file: str
) -> bytes:
    """The list as CSV: a row for each item and place, one without a place for an item that has none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for one in frameworks:
        for row in one.rows:
            for place in [*_places(row, pages, page_file)] or [QuestionPlace("", "", 0, "")]:
                stated = (one.title, row.id, row.description, row.state, place.title, place.file)
                page = str(place.page) if place.page else ""
                writer.writerow(map(escaped, (*stated, page, row.reason, row.number)))
    return text.getvalue().encode()


def _places(
    row: FrameworkRow, pages: Mapping[str, tuple[str, int]], page_file: str
) -> Iterator[QuestionPlace]:
    for anchor, title in row.places:
        file, page = pages.get(anchor, (page_file, 0))
        yield QuestionPlace(title, file, page, anchor)


def _cells(row: FrameworkRow, places: Iterator[QuestionPlace], say: Catalogue) -> tuple[SheetCell, ...]:
    links, texts = [], []
    for place in places:
        text = place.title
        if place.page:
            text = say("sheet.questions.page", file=place.file, page=place.page, place=place.title)
        if place.address:
            links.append(SheetLink(text, place.address))
        else:
            texts.append(text)
    where = SheetCell(say.between.join(filter(None, (*texts, row.reason))), links=tuple(links))
    state = SheetCell(row.state, gap=row.open)
    return SheetCell(row.id), SheetCell(row.description), state, where, SheetCell(row.number)
