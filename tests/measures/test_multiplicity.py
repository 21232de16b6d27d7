"""Holm's adjustment and graphs of tests: values of R packages, properties, missing tests."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.association import handed_on, holm

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


# ---------------------------------------------------------------- graphs

HALVES = np.array([0.5, 0.5, 0, 0])
GATE = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, 0]], float)
SHARED = np.array([[0, 0.5, 0.5, 0], [0.5, 0, 0, 0.5], [0, 1, 0, 0], [1, 0, 0, 0]])


def without(shares, transitions, *gone):
    for i in gone:
        shares, transitions = handed_on(shares, transitions, i)
    return shares, transitions


@pytest.mark.parametrize(  # graphicalMCP (R), README: the graph of Bretz et al. 2011, figure 1
    ("gone", "shares"),
    [
        ((3,), (0.5, 0.5, 0, 0)),
        ((2,), (0.5, 0.5, 0, 0)),
        ((2, 3), (0.5, 0.5, 0, 0)),
        ((1,), (0.5, 0, 0, 0.5)),
        ((1, 3), (1, 0, 0, 0)),
        ((1, 2), (0.5, 0, 0, 0.5)),
        ((1, 2, 3), (1, 0, 0, 0)),
        ((0,), (0, 0.5, 0.5, 0)),
        ((0, 3), (0, 0.5, 0.5, 0)),
        ((0, 2), (0, 1, 0, 0)),
        ((0, 2, 3), (0, 1, 0, 0)),
        ((0, 1), (0, 0, 0.5, 0.5)),
        ((0, 1, 3), (0, 0, 1, 0)),
        ((0, 1, 2), (0, 0, 0, 1)),
    ],
)
def test_shares_of_every_part_of_a_published_graph(gone, shares):
    for order in permutations(gone):
        assert without(HALVES, GATE, *order)[0] == pytest.approx(np.array(shares))


@pytest.mark.parametrize(  # graphicalMCP (R), vignette "shortcut-testing": the graphs between the rejections
    ("gone", "shares", "left"),
    [((1, 0), (0, 0, 0.5, 0.5), {(2, 3): 1, (3, 2): 1}), ((1, 3), (1, 0, 0, 0), {(0, 2): 1, (2, 0): 1})],
)
def test_transitions_after_rejections_are_the_published_ones(gone, shares, left):
    expected = np.zeros((4, 4))
    for at, value in left.items():
        expected[at] = value
    found = without(HALVES, SHARED, *gone)
    assert found[0] == pytest.approx(np.array(shares))
    assert found[1] == pytest.approx(expected)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_alpha_is_neither_made_nor_handed_back(n, seed):
    rng = np.random.default_rng(seed)
    shares, transitions = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n), size=n)
    np.fill_diagonal(transitions, 0)
    for gone in rng.permutation(n):
        shares, transitions = handed_on(shares, transitions, gone)
        assert shares.sum() <= 1 + 1e-9
        assert (transitions.sum(axis=1) <= 1 + 1e-9).all()
        assert (shares >= 0).all()
        assert (transitions >= 0).all()
        assert shares[gone] == transitions[gone].sum() == transitions[:, gone].sum() == 0


def test_two_that_hand_everything_to_each_other_leave_a_third_without():
    circle = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], float)
    shares, transitions = handed_on(np.array([0.5, 0.5, 0]), circle, 0)
    assert shares.tolist() == [0, 1, 0]
    assert not transitions.any()
