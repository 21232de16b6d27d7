"""Digits as typed: rounded, truncated, per cent, counts, and what is refused."""

from fractions import Fraction as F

import pytest

from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.reported.printed import CELL_RATIOS, cases, printed


@pytest.mark.parametrize("text, low, high", [  # counted by hand
    ("0.80", F("0.795"), F("0.805")), ("0.8", F("0.75"), F("0.85")), (".800", F("0.7995"), F("0.8005")),
    ("80%", F("0.795"), F("0.805")), ("88.1 %", F("0.8805"), F("0.8815")),
    ("80.00%", F("0.79995"), F("0.80005")),
    ("1.00", F("0.995"), F("1.005")), ("1", F("0.5"), F("1.5")), ("0", F("-0.5"), F("0.5")),
    ("0,80", F("0.795"), F("0.805")),
    ("100%", F("0.995"), F("1.005")), (" 0.80 ", F("0.795"), F("0.805")),
])  # fmt: skip
def test_a_rounded_figure_is_half_a_unit_wide_on_either_side(text, low, high):
    figure = printed("sensitivity", text)
    assert (figure.low, figure.high, figure.open_low, figure.open_high) == (low, high, False, False)
    assert figure.text == text


@pytest.mark.parametrize("text, low, high, open_low, open_high", [
    ("0.83", F("0.83"), F("0.84"), False, True), ("83.1%", F("0.831"), F("0.832"), False, True),
    ("-0.05", F("-0.06"), F("-0.05"), True, False), ("0.00", F("-0.01"), F("0.01"), True, True),
])  # fmt: skip
def test_a_truncated_figure_has_lost_what_followed(text, low, high, open_low, open_high):
    figure = printed("mcc", text, "truncated")
    assert (figure.low, figure.high, figure.open_low, figure.open_high) == (low, high, open_low, open_high)


@pytest.mark.parametrize("text", ["-0.05", "\N{MINUS SIGN}0.05", "\N{EN DASH}0.05", "-.05"])
def test_a_negative_mcc(text):
    assert printed("mcc", text).low == F("-0.055")


@pytest.mark.parametrize(
    "text, value", [("97", 97), ("0", 0), ("16,646,500", 16_646_500), ("84 500", 84_500)]
)
def test_a_count_is_exact(text, value):
    assert (printed("tn", text).low, printed("tn", text).high) == (value, value)


@pytest.mark.parametrize("metric, text, said", [
    ("sensitivity", "88.1", r'Then write "88.1%"'), ("ppv", "-0.1", "from 0 to 1"),
    ("mcc", "-1.2", "from -1 to 1"),
    ("f1", "NA", "expected a number"), ("f1", "", "expected a number"), ("f1", ".", "expected a number"),
    ("f1", "0.8 (0.7-0.9)", "expected a number"), ("f1", "8e-1", "expected a number"),
    ("tp", "0.5", "expected a count"),
    ("tp", "-3", "expected a count"), ("auc", "0.9", "unknown metric"), ("tp", "84,5", "expected a count"),
])  # fmt: skip
def test_what_is_no_figure_is_refused(metric, text, said):
    with pytest.raises(ValueError, match=said):
        printed(metric, text)


def test_the_cases_from_any_two_numbers():
    assert cases(3, 4) == cases(3, total=7) == cases(negatives=4, total=7) == cases(3, 4, 7)
    assert cases(total=7).positives is None
    assert cases(3, 4, 8).adds_up is cases(9, total=8).adds_up is cases(negatives=9, total=8).adds_up is False
    assert [cases(3).only, cases(negatives=4).only, cases(3, 4).only] == ["positives", "negatives", ""]
    with pytest.raises(ValueError, match="give positives, negatives or total"):
        cases()
    with pytest.raises(ValueError, match="negatives must be a count"):
        cases(3, -1)


def test_ratios_of_cells_are_the_measures_of_that_name():
    cells = {"tp": 3, "fn": 5, "fp": 7, "tn": 11}
    for name, (above, below) in CELL_RATIOS.items():
        ratio = sum(w * n for w, n in zip(above, cells.values())) / sum(
            w * n for w, n in zip(below, cells.values())
        )
        assert ratio == pytest.approx(MEASURES[name].formula(**cells)), name
