"""A sheet as DOCX (python-docx), the same bytes every time."""

import datetime as dt
import io
import zipfile
from typing import Any

from trustreport.report.exports.chosen import printable
from trustreport.report.exports.sheets import Sheet, SheetCell, SheetTable

UNDATED = dt.datetime(1980, 1, 1, tzinfo=dt.UTC)


def render(sheet: Sheet) -> bytes:
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
