"""A number has the digits of its quantity and its n, the same wherever it is printed."""

import copy
import json
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.assessment.finding import Column, EstimateRow, EstimateTable, PlainTable
from trustreport.figures import numbers
from trustreport.measures.estimate import Estimate
from trustreport.report.tables import in_words, table
from trustreport.vocabulary.digits import Rounded, as_declared, by_width, clear_of
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.messages import say as message
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

EN = catalogue("en")
MINUS = "\N{MINUS SIGN}"
ONE, PAIR = Place(set="one"), Place(set="one", arms=("aided", "unaided"))


def result_of(
    name: str, value: float, low: float, high: float, n: int, place: Place = ONE, **more: Any
) -> Result:
    return Result(f"advice_accuracy.{name}", place, Estimate(value, low, high, n), **more)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        # percentages: one decimal where n is 100 or more
        (result_of("sensitivity", 36 / 40, 0.7695, 0.9604, 40), "90% (77% to 96%)"),
        (result_of("sensitivity", 90 / 99, 0.8359, 0.9513, 99), "91% (84% to 95%)"),
        (result_of("sensitivity", 90 / 100, 0.8256, 0.9448, 100), "90.0% (82.6% to 94.5%)"),
        (result_of("sensitivity", 1.0, 0.9124, 1.0, 40), "100% (91% to 100%)"),
        # what is not zero is not written as zero, nor an estimate that is not all as all
        (result_of("sensitivity", 1 / 40, 0.0044, 0.1288, 40), "2.5% (0.4% to 12.9%)"),
        (result_of("prevalence", 2e-5, 1.8e-5, 2.2e-5, 16_900_000), "0.0020% (0.0018% to 0.0022%)"),
        (result_of("specificity", 0.99996, 0.9994, 1.0, 25_000), "99.996% (99.940% to 100.000%)"),
        # differences of percentages: the same
        (result_of("arr", 0.0969, -0.0201, 0.2139, 40, PAIR), f"+10 ({MINUS}2 to +21) points"),
        (result_of("arr", 0.0969, -0.0201, 0.2139, 400, PAIR), f"+9.7 ({MINUS}2.0 to +21.4) points"),
        (result_of("arr", 0.0440, -0.0036, 0.088, 40, PAIR), f"+4.4 ({MINUS}0.4 to +8.8) points"),
        # areas: two decimals, three from 1,000 on
        (result_of("auc", 0.9166, 0.8812, 0.9521, 400), "0.92 (0.88 to 0.95)"),
        (result_of("auc", 0.9166, 0.8812, 0.9521, 1000), "0.917 (0.881 to 0.952)"),
        # coefficients and slopes
        (result_of("cohen_kappa", 0.7643, 0.6192, 0.8590, 120), "0.76 (0.62 to 0.86)"),
        (result_of("calibration_slope", 0.9644, 0.8336, 0.998, 1917), "0.964 (0.834 to 0.998)"),
        (result_of("oe_ratio", 1.8249, 1.5012, 2.2137, 300), "1.82 (1.50 to 2.21)"),
        # ratios: at least two significant digits
        (result_of("lr_negative", 0.0952, 0.0561, 0.1612, 116), "0.095 (0.056 to 0.161)"),
        (result_of("diagnostic_odds_ratio", 137.25, 60.41, 311.8, 116), "137 (60 to 312)"),
        (result_of("diagnostic_odds_ratio", 13.725, 6.041, 31.18, 116), "13.7 (6.0 to 31.2)"),
    ],
)  # fmt: skip
def test_the_rule(result: Result, text: str) -> None:
    result = (
        Result(result.id, result.place, result.estimate, endpoint="accuracy")
        if "change" in result.id
        else result
    )
    assert in_words(result, EN) == text


def test_where_n_counts_readers_or_sites_a_percentage_keeps_its_decimal() -> None:
    pooled = result_of("pooled_performance", 0.639, 0.342, 0.861, 2, endpoint="sensitivity")
    assert in_words(pooled, EN) == "63.9% (34.2% to 86.1%)"


def test_a_sentence_a_table_and_a_figure_write_one_number_alike() -> None:
    result = result_of("sensitivity", 36 / 40, 0.7695, 0.9604, 40)
    e = result.estimate
    texts = {
        EN("figure.percent_estimate", value="90", low="77", high="96"),
        numbers.estimate(EN, e, "percent"),
    }
    assert texts == {"90% (77 to 96)"}
    for form in ("percent", "percent.0", "percent.1"):  # its own digits go before those of the word
        assert EN.numbers.write(e.value, form) == "90%"
    made = table(EstimateTable("t", message("word.none"), (EstimateRow(message("word.none"), result),)), EN)
    assert [cell.text for cell in made.lines[0].cells[1:3]] == ["90%", "77% to 96%"]
    column = Column(message("word.none"), "percent")
    made = table(PlainTable("t", message("word.none"), (column,), ((e.value,),)), EN)
    assert made.lines[0].cells[0].text == "90%"


def test_a_number_keeps_its_digits_on_its_way() -> None:
    number = Rounded(0.9, 2)
    assert copy.deepcopy(number).places == 2
    assert (-number).places == abs(number).places == 2
    assert json.dumps(number) == "0.9"
    result = result_of("sensitivity", 0.9, 0.77, 0.96, 40)
    again = copy.deepcopy(result).estimate
    assert (again.low.places, again.high.places) == (2, 2)


def test_a_bound_is_written_as_it_was_declared() -> None:
    texts = [EN.numbers.write(as_declared(x), "percent") for x in (0.8, 0.855, 0.05)]
    assert texts == ["80%", "85.5%", "5%"]


@given(st.floats(-1, 1), st.floats(-1, 1), st.integers(1, 5000))
def test_a_limit_is_on_its_side_of_zero(one: float, other: float, n: int) -> None:
    low, high = sorted((round(one, 4), round(other, 4)))
    e = Estimate((low + high) / 2, low, high, n)
    places = Result("pragmatic_utility.arr", PAIR, e).places
    for limit in (low, high):
        assert (round(limit, places) == 0) == (limit == 0)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_decimals_by_the_width_of_the_interval(value: float, width: float) -> None:
    places = by_width(value, value - width / 2, value + width / 2)
    assert 0 <= places <= 7
    if 1e-2 <= width < 10:
        assert round(width, places) > 0


def test_a_limit_is_on_its_side_of_a_bound() -> None:
    assert clear_of(2, (0.803, 0.92), 0.8) == 3
    assert clear_of(2, (0.80, 0.92), 0.8) == 2
    assert clear_of(2, (nan, 0.92), 0.92) == 2
