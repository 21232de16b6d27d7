"""A study of 5,000 readings: the PDF stays of a size to be read, and holds the full list inside."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from zlib import crc32

import pikepdf
import pytest

from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.finding import EstimateTable
from trustreport.report import html, pdf
from trustreport.report.contents import ROWS_IN_REPORT
from trustreport.report.document import canonical, digest, document
from trustreport.report.layout import figures
from trustreport.report.numbering import ROWS_ON_PAPER, Numbering
from trustreport.report.tables import Cell as TableCell
from trustreport.report.tables import Head, Line, Table
from trustreport.report.write import attachments, provenance
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
READERS, CASES = 250, 10  # in two arms: 5,000 readings
MANIFEST = """
report: {kind: certification}
device: {trade_name: Example aid, software_version: "1.0"}
tables:
  readings: {file: readings.csv}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    (folder / "study.yaml").write_text(MANIFEST)
    rows = [
        f"R{r:03},C{c},{arm},{c % 2},{(c + (crc32(f'{r} {c} {arm}'.encode()) % 10 < 3)) % 2}\n"
        for r in range(READERS)
        for c in range(CASES)
        for arm in ("unaided", "aided")
    ]
    assert len(rows) == 5000
    (folder / "readings.csv").write_text("reader,case,arm,truth,decision\n" + "".join(rows))
    return folder


@pytest.fixture(scope="module")
def assessed(study: Path) -> Assessment:
    return assess(*read_study(study))


@pytest.fixture(scope="module")
def results(assessed: Assessment) -> bytes:
    return canonical(document(assessed, provenance(assessed), EN))


@pytest.fixture(scope="module")
def about(assessed: Assessment, results: bytes) -> dict[str, Any]:
    """What both forms of the report are made of."""
    drawn = figures.draw_all(assessed)
    return {"results_hash": digest(results), "provenance": provenance(assessed), "drawn": drawn}


def rows_of(page: str) -> list[int]:
    """Rows of each table."""
    return [table.count("<tr") - 1 for table in re.findall(r"<table.*?</table>", page, re.DOTALL)]


def test_a_study_of_that_size_has_tables_to_cut(assessed: Assessment) -> None:
    tables = [t for finding in assessed.findings for part in finding.parts for t in part.tables]
    assert max(len(t.rows) for t in tables) == READERS
    assert len(assessed.results) > 4 * READERS
    assert any(isinstance(t, EstimateTable) for t in tables)


def test_on_paper_no_table_has_more_rows_and_on_screen_each_has_all(
    assessed: Assessment, about: dict[str, Any]
) -> None:
    drawn = {name: figure.page for name, figure in about["drawn"].items()}
    made = html.Documents(assessed, about["results_hash"], about["provenance"], drawn, "page")
    assert max(rows_of(made.text("report", html.Markup("")))) <= ROWS_IN_REPORT
    paper = made.text("annex", html.Markup(""))
    assert ROWS_ON_PAPER in rows_of(paper)
    assert max(rows_of(paper)) == ROWS_ON_PAPER
    assert "Of 250 rows, 200 are shown. All rows are in the HTML report" in paper
    assert paper.count("<tr") < 1500
    screen = html.render(assessed, **about)
    assert READERS in rows_of(screen)
    assert "Of 250 rows, 20 are shown; all of them are in the annex." in screen


@pytest.mark.pdf
def test_the_pdf_stays_small_and_holds_the_full_list(
    assessed: Assessment, results: bytes, about: dict[str, Any]
) -> None:
    written = pdf.Volumes(assessed, **about).printed("report", attachments(assessed, results, EN)).content
    assert len(written) < 4_000_000
    with pikepdf.open(io.BytesIO(written)) as opened:
        assert len(opened.pages) < 60
        held = {name: bytes(spec.get_file().read_bytes()) for name, spec in opened.attachments.items()}
    assert held["results.json"] == results
    rows = list(csv.DictReader(io.StringIO(held["results.csv"].decode(), newline="")))
    assert [row["id"] for row in rows] == [entry["id"] for entry in json.loads(results)["results"]]
    assert len({row["reader"] for row in rows} - {""}) == READERS


@pytest.mark.parametrize("n, cut", [(200, ""), (201, "Of 201 rows, 200 are shown.")])
def test_what_is_cut(n: int, cut: str) -> None:
    table = Table("caption", (Head("a"),), tuple(Line((TableCell(str(i)),)) for i in range(n)))
    shown = Numbering("3", {}, EN, ROWS_ON_PAPER).table(table)
    assert len(shown.table.lines) == 200
    assert shown.cut.startswith(cut)
    assert bool(shown.cut) == bool(cut)
    assert Numbering("3", {}, EN).table(table).table.lines == table.lines
