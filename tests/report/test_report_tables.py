"""What stands in the cells of a table, how numbers align, and where a table may be split on paper."""

from math import inf, nan
from typing import Any

import pytest
from made_up import comparison, result, words

from trustreport.assessment.finding import Column, EstimateTable, PlainTable
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import note
from trustreport.report.numbering import SHORT_TABLE, NumberedTable
from trustreport.report.tables import Cell, Line, Table, align, in_words, plain, table, value_text
from trustreport.vocabulary.digits import Rounded
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.resources import folder

say = catalogue("en")
FIGURE, POINT = "\u2007", "\u2008"


@pytest.fixture(scope="module")
def leading():
    return table(EstimateTable("leading", words("caption"), comparison(Place(set="one"))), say)


def row(t, label):
    return next(line for line in t.lines if line.cells[0].text == label)


def test_an_interval_through_infinity_is_written_in_its_two_pieces(leading):
    cells = row(leading, "Number of decisions needed").cells
    assert cells[1].text.strip() == "103 decisions"
    assert cells[2].text.strip() == "25 (benefit) to ∞ to 50 (harm)"
    assert not cells[4].aside  # the pieces say what the note would say


def test_infinite_limits_are_the_sign_for_it(leading):
    cells = row(leading, "Odds ratio with an empty arm").cells
    assert cells[1].text.strip() == "∞"
    assert cells[2].text.strip() == "2.40 to ∞"


def test_what_is_undefined_says_why(leading):
    cells = row(leading, "Error rate of nobody").cells
    assert (cells[1].text, cells[2].text, cells[4].aside) == ("not estimable", "–", "no case")
    assert row(leading, "Relative risk of an error").cells[4].aside.startswith("a count is zero")


def test_a_test_is_its_p_value(leading):
    assert row(leading, "McNemar's test").cells[1].text.strip() == "0.042"


def test_the_method_is_said_once(leading):
    assert row(leading, "Error rate, unaided").cells[4].text == "Wilson score interval"
    assert row(leading, "Error rate, aided").cells[4].text == "same"


def test_a_row_has_the_decimals_of_its_own_quantity(leading):
    assert row(leading, "Error rate, unaided").cells[1].text.strip() == "23.7%"
    assert row(leading, "Odds ratio of an error").cells[1].text.strip() == "0.95"
    assert row(leading, "Relative risk of an error").cells[1].text.strip() == "0.96"


def test_decimals_stand_below_each_other():
    padded = align(["0.25", "103", "−1.5", "∞", "not estimable"])
    assert padded == [
        "0.25",
        "103" + POINT + 2 * FIGURE,
        "−1.5" + FIGURE,
        "∞" + POINT + 2 * FIGURE,
        "not estimable",
    ]


def test_leading_rows_are_marked(leading):
    assert [line.cells[0].text for line in leading.lines if line.leads] == [
        "Absolute risk reduction",
        "Odds ratio of an error",
    ]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (result("error_rate", 0.2274, 0.2072, 0.2489, 1548, "wilson"), "22.7% (20.7% to 24.9%)"),
        (result("arr", 0.00969, -0.0201, 0.0394, 3096, "newcombe"), "+1.0 (−2.0 to +3.9) points"),
        (result("odds_ratio", 0.947, 0.8015, 1.1191, 3096, "woolf"), "0.95 (0.80 to 1.12)"),
        (result("odds_ratio", inf, 2.4, inf, 60, "woolf"), "∞ (2.40 to ∞)"),
        (
            result("nnd", 103.2, nan, nan, 9, "newcombe", details={"benefit_from": 25.4, "harm_from": 49.9}),
            "103 (25 (benefit) to ∞ to 50 (harm)) decisions",
        ),
        (result("rr", 0.96, nan, nan, 9, "koopman", note=note("no_pair")), "0.96 (no interval: no pair)"),
        (result("rr", nan, nan, nan, 0, "koopman", note=note("no_case")), "not estimable: no case"),
    ],
)  # fmt: skip
def test_the_summary_writes_numbers_in_words(entry, text):
    assert in_words(entry, say) == text


def test_a_plain_table_writes_each_column_as_its_header_says():
    columns = (
        Column(words("a")),
        Column(words("n"), "count"),
        Column(words("p"), "p"),
        Column(words("x"), "number.1"),
    )
    cells = (("=cmd", 1234, 0.0004, -1.25), (words("said"), None, 0.2, nan))
    lines = table(PlainTable("plain", words("caption"), columns, cells), say).lines
    assert [[cell.text.strip() for cell in line.cells] for line in lines] == [
        ["=cmd", "1,234", "< 0.001", "−1.2"],
        ["said", "–", "0.20", "–"],
    ]


def test_a_declared_word_stands_as_a_word_and_not_as_a_number() -> None:
    columns = (Column(words("status"), "declared"), Column(words("n"), "count"))
    made = plain(PlainTable("t", words("caption"), columns, (("serious", 3),)), catalogue("de"))
    assert [head.numeric for head in made.heads] == [False, True]
    assert (made.lines[0].cells[0].text, made.lines[0].cells[0].numeric) == ("schwerwiegend", False)


def test_a_p_value_of_one_that_has_no_value():
    assert value_text(result("mcnemar", nan, nan, nan, 0, "mcnemar_exact", p=1.0), say) == "1.00"


PAGE = 253.0  # millimetres between the margins
ROWS = 6


def rows_of(rows: int, text: str) -> NumberedTable:
    line = Line((Cell("Alder finds"), Cell("performance goal: 0.8"), Cell(text)))
    return NumberedTable("1.1", Table("", (), (line,) * rows), "")


def test_a_table_stays_whole_by_the_room_that_it_takes() -> None:
    assert rows_of(SHORT_TABLE, "yes").short
    assert not rows_of(SHORT_TABLE + 1, "yes").short
    assert rows_of(2, "A reason of several lines. " * 12).short
    assert not rows_of(5, "A reason of several lines. " * 12).short


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


def test_estimates_of_a_column_have_one_number_of_decimals() -> None:
    """One more than the fewest at most, and each as many as it needs."""
    cells = [
        Estimate(*(Rounded(x, places) for x in (0.912, 0.83, 0.958)), n)
        for places, n in ((2, 91), (3, 320), (5, 10**6))
    ]
    source = PlainTable("t", words("t"), (Column(words("c"), "percent"),), tuple((e,) for e in cells))
    shown = plain(source, say)
    assert [line.cells[0].text.partition(" ")[0] for line in shown.lines] == ["91.2%", "91.2%", "91.200%"]
