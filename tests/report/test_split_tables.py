"""Tables over the end of a page: which may be split, and what then stays together."""

from typing import Any

import pytest

from trustreport.report.numbering import SHORT_TABLE, NumberedTable
from trustreport.report.tables import Cell, Line, Table
from trustreport.vocabulary.resources import folder

PAGE = 253.0  # millimetres between the margins
ROWS = 6


def table(rows: int, text: str) -> NumberedTable:
    line = Line((Cell("Alder finds"), Cell("performance goal: 0.8"), Cell(text)))
    return NumberedTable("1.1", Table("", (), (line,) * rows), "")


def test_a_table_stays_whole_by_the_room_that_it_takes() -> None:
    assert table(SHORT_TABLE, "yes").short
    assert not table(SHORT_TABLE + 1, "yes").short
    assert table(2, "A reason of several lines. " * 12).short
    assert not table(5, "A reason of several lines. " * 12).short


@pytest.fixture(scope="module")
def styles() -> list[Any]:
    from weasyprint import CSS

    return [CSS(folder("templates") / name) for name in ("report.css", "page.css")]


@pytest.mark.pdf
@pytest.mark.parametrize("above", range(int(PAGE) - 60, int(PAGE), 4))
def test_a_split_table_leaves_no_row_and_no_caption_alone(above: int, styles: list[Any]) -> None:
    from weasyprint import HTML

    rows = "".join(f"<tr><th>row{i}</th><td>of the table</td></tr>" for i in range(ROWS))
    head = "<thead><tr><th>head</th><th>of it</th></tr></thead>"
    text = f"<div style='height: {above}mm'></div><div class='scroll'><table><caption>captioned</caption>"
    document = HTML(string=f"{text}{head}<tbody>{rows}</tbody></table></div>").render(stylesheets=styles)
    on_page = [_words(page) for page in document.pages]
    counts = [sum(word.startswith("row") for word in words) for words in on_page]
    assert sum(counts) == ROWS
    assert 1 not in counts
    assert counts[next(i for i, words in enumerate(on_page) if "captioned" in words)] > 1


def _words(page: object) -> list[str]:
    """The text of a page, box by box."""
    found, waiting = [], [page._page_box]
    while waiting:
        box = waiting.pop()
        found += [box.text] if hasattr(box, "text") else []
        waiting += getattr(box, "children", ())
    return " ".join(found).split()
