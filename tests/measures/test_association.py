"""Tests of association: values of R, agreement with scipy's own, edges."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact as of_scipy

from trustreport.measures.association import equal_shares, fisher_exact
from trustreport.measures.note import note

CELL = st.integers(0, 40)


@pytest.mark.parametrize(  # R 4.2.2: fisher.test(matrix(c(x1, n1 - x1, x2, n2 - x2), 2))
    "x1, n1, x2, n2, p",
    [(3, 20, 9, 15, 0.0107248794957), (0, 12, 5, 45, 0.572989076465), (10, 100, 1, 220, 5.20674422128e-05)],
)
def test_fisher_agrees_with_r(x1: int, n1: int, x2: int, n2: int, p: float) -> None:
    assert fisher_exact(x1, n1, x2, n2).p == pytest.approx(p, rel=1e-9)


@given(CELL, CELL, CELL, CELL)
def test_fisher_agrees_with_scipy_and_does_not_mind_which_group_is_first(
    a: int, b: int, c: int, d: int
) -> None:
    test, turned = fisher_exact(a, a + b, c, c + d), fisher_exact(c, c + d, a, a + b)
    if not (a + b and c + d):
        assert isnan(test.p)
        assert test.note
        return
    assert test.p == pytest.approx(of_scipy([[a, b], [c, d]])[1], rel=1e-7, abs=1e-12)
    assert test.p == pytest.approx(turned.p)
    assert test.value == pytest.approx(-turned.value)


def test_chi_square_agrees_with_r() -> None:
    test = equal_shares([12, 30, 25, 9], [100, 120, 80, 60])  # R 4.2.2: prop.test
    assert test.details["statistic"] == pytest.approx(12.35748703)
    assert test.p == pytest.approx(0.006253702151)
    assert (test.df, test.method, test.n) == (3, "chi_square", 360)
    assert test.value == pytest.approx(25 / 80 - 0.12)


def test_few_events_are_tested_exactly_each_group_against_the_others() -> None:
    test = equal_shares([6, 0, 1], [20, 20, 20])
    assert test.method == "fisher_exact"
    assert test.p == pytest.approx(3 * fisher_exact(6, 20, 1, 40).p)
    assert equal_shares([1, 1], [20, 20]).p == 1


def test_what_cannot_be_compared_says_why() -> None:
    alone = equal_shares([3, 0], [20, 0])
    assert isnan(alone.p)
    assert alone.note == note("group_empty")
    assert equal_shares([0, 0, 0], [20, 20, 20]).p == 1
    with pytest.raises(ValueError, match="x must not exceed n"):
        fisher_exact(3, 2, 1, 4)
