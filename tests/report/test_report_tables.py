"""What stands in the cells of a table, and how numbers align."""

from math import inf, nan

import pytest
from made_up import comparison, result, words

from trustreport.assessment.finding import Column, EstimateTable, PlainTable
from trustreport.report.tables import align, in_words, table, value_text
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import Place

say = catalogue("en")
FIGURE, POINT = "\u2007", "\u2008"


@pytest.fixture(scope="module")
def leading():
    return table(EstimateTable("leading", words("caption"), comparison(Place(set="one"))), say)


def row(t, label):
    return next(line for line in t.lines if line.cells[0].text == label)


def test_an_interval_through_infinity_is_written_in_its_two_pieces(leading):
    cells = row(leading, "Number of decisions needed").cells
    assert cells[1].text.strip() == "103"
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
    assert row(leading, "Error rate, unaided").cells[1].text == "0.237"
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
        (result("rr", 0.96, nan, nan, 9, "koopman", note="a reason"), "0.96 (no interval: a reason)"),
        (result("rr", nan, nan, nan, 0, "koopman", note="no case"), "not estimable: no case"),
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


def test_a_p_value_of_one_that_has_no_value():
    assert value_text(result("mcnemar", nan, nan, nan, 0, "mcnemar_exact", p=1.0), say) == "1.00"
