"""Holm's adjustment: values of R's p.adjust, properties, missing tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.multiplicity import holm

chances = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@pytest.mark.parametrize(  # R 4.2.2: p.adjust(p, "holm")
    "p, adjusted",
    [
        ([0.01, 0.02, 0.03, 0.04, 0.05], [0.05, 0.08, 0.09, 0.09, 0.09]),
        ([0.04, 0.001, 0.5, 0.012], [0.08, 0.004, 0.5, 0.036]),
        ([0.6, 0.7], [1.0, 1.0]),
        ([0.03], [0.03]),
        ([], []),
    ],
)
def test_holm_agrees_with_r(p, adjusted):
    assert holm(p) == pytest.approx(np.array(adjusted))


@given(chances)
def test_adjusted_values_keep_the_order_and_are_not_smaller(p):
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= 1).all()
    assert (adjusted <= np.minimum(len(p) * np.array(p), 1) + 1e-15).all()  # never beyond Bonferroni
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@given(chances)
def test_a_test_that_could_not_be_made_does_not_count(p):
    adjusted = holm([*p, np.nan])
    assert np.isnan(adjusted[-1])
    assert adjusted[:-1] == pytest.approx(holm(p))


def test_what_is_no_p_value_is_refused():
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        holm([0.5, 1.5])
