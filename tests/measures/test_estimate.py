"""An estimate equals another of the same numbers, whichever Python compares them."""

from dataclasses import replace
from math import nan

import pytest

from trustreport.measures.estimate import Estimate

UNDEFINED = Estimate(nan, 0.0, 1.0, 3, details={"cases": 2.0})


def test_a_number_that_is_undefined_in_both_is_no_difference() -> None:
    assert replace(UNDEFINED, value=float("nan"), p=float("nan")) == UNDEFINED


@pytest.mark.parametrize("change", [{"value": 0.5}, {"p": 0.5}, {"n": 4}, {"note": "few"}, {"details": {}}])
def test_every_field_counts(change: dict[str, object]) -> None:
    assert replace(UNDEFINED, **change) != UNDEFINED


def test_it_equals_nothing_else() -> None:
    assert (nan, 0.0, 1.0, 3) != UNDEFINED
