"""Rows of page 1 share the axis of their unit, with its numbers, no difference and the better side."""

import re
from math import nan

from trustreport.measures.estimate import Estimate
from trustreport.report.answer.row_picture import axes, has_strip, on_paper, picture, unit_of
from trustreport.study.criteria import Bound
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import NOWHERE
from trustreport.vocabulary.results import Result

EN = catalogue("en")


def row(id: str, value: float, low: float, high: float, bound: float | None = None, n: int = 200):
    found = Result(f"advice_accuracy.{id}", NOWHERE, Estimate(value, low, high, n))
    return found, None if bound is None else Bound(low=bound)


SENSITIVITY = row("sensitivity", 0.91, 0.83, 0.96, 0.8)
SPECIFICITY = row("specificity", 0.86, 0.80, 0.90, 0.75)
CHANGE = row("sensitivity_difference", 0.05, -0.02, 0.12, 0.0)


def drawn(rows, of, strip=True):
    return picture(of, "pass", axes(rows, EN)[unit_of(of[0])], "", strip=strip)


def labels(svg) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)<", svg)


def test_rows_of_one_unit_share_a_scale_whatever_their_bounds() -> None:
    found = axes([SENSITIVITY, SPECIFICITY, CHANGE], EN)
    assert unit_of(SENSITIVITY[0]) == unit_of(SPECIFICITY[0]) != unit_of(CHANGE[0])
    axis = found[unit_of(SENSITIVITY[0])]
    assert axis.low <= 0.75
    assert axis.high >= 0.96
    assert len(found) == 2


def test_the_numbers_of_an_axis_stand_below_its_last_row() -> None:
    units = [unit_of(one[0]) for one in (SENSITIVITY, SPECIFICITY, CHANGE, SENSITIVITY)]
    assert has_strip(units) == [False, True, True, True]
    assert has_strip(["", "a"]) == [False, True]
    shares = labels(drawn([SENSITIVITY, SPECIFICITY], SPECIFICITY))
    assert len(shares) >= 2
    assert all(text.endswith("%") for text in shares)
    svg = drawn([SENSITIVITY, SPECIFICITY], SENSITIVITY, strip=False)
    assert labels(svg) == shares  # for a phone
    assert not labels(on_paper(svg))
    assert on_paper(svg).count("<path") == 3  # bound, interval, estimate


def test_a_difference_shows_where_none_is_and_which_side_is_better() -> None:
    svg = drawn([CHANGE], CHANGE)
    assert 'class="alike"' in svg
    assert "0" in labels(svg)
    assert labels(svg)[-1] == "better →"
    assert 'class="alike"' not in drawn([SENSITIVITY], SENSITIVITY)
    fewer = row("false_positive_rate_difference", -0.05, -0.1, 0.02)
    assert labels(drawn([fewer], fewer))[-1] == "← better"


def test_a_ratio_is_drawn_on_a_logarithmic_axis_that_holds_one() -> None:
    ratio = row("odds_ratio", 0.5, 0.25, 0.8)
    axis = axes([ratio], EN)[unit_of(ratio[0])]
    assert axis.logarithmic
    assert (axis.low < 0.25, axis.high > 1) == (True, True)
    same = axes([row("odds_ratio", 1.0, 1.0, 1.0)], EN)
    assert all(one.low < 1 < one.high for one in same.values())


def test_what_is_undefined_draws_nothing_and_breaks_nothing() -> None:
    empty = row("sensitivity", nan, nan, nan)
    assert axes([empty, (None, None)], EN) == {}
    assert picture(empty, "none", None, "not estimable").count("<path") == 0
    one = row("sensitivity", 1.0, 1.0, 1.0)
    assert len(labels(drawn([one], one))) >= 2


def test_an_arrow_leaves_room_for_two_numbers() -> None:
    wide = row("sensitivity_difference", -0.07, -0.14, 0.30, -0.05)
    shown = labels(drawn([wide], wide))
    assert len(shown) > 2, "two numbers and the arrow"
    assert shown[-1] == "→"
