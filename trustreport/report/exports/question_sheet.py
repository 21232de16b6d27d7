"""The question list of an assessor: each item of the named frameworks, and on which page it is addressed."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trustreport.report.cells import escaped
from trustreport.report.elements.frameworks import Framework, FrameworkRow
from trustreport.report.contents import Chapters, ElementView
from trustreport.report.exports.sheets import Sheet, SheetCell, SheetLink, SheetSection, SheetTable
from trustreport.vocabulary.messages import Catalogue

COLUMNS = ("framework", "item", "about", "state", "place", "file", "page", "remark", "number")
ELEMENT = "E46"  # lists the items


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


def questions(
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


def table(frameworks: tuple[Framework, ...], pages: Mapping[str, tuple[str, int]], page_file: str) -> bytes:
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
    where = SheetCell("; ".join(filter(None, (*texts, row.reason))), links=tuple(links))
    state = SheetCell(row.state, gap=row.open)
    return SheetCell(row.id), SheetCell(row.description), state, where, SheetCell(row.number)
