"""Coefficients of agreement: counted by hand, what must hold of all, and the edges."""

from fractions import Fraction
from functools import partial
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trustreport.measures.agreement import bootstrap as bootstrap_module
from trustreport.measures.agreement import labels, notes
from trustreport.measures.agreement.bootstrap import _GivenLabels, bootstrap
from trustreport.measures.agreement.coefficients import gwet_ac1, gwet_ac2, krippendorff_alpha
from trustreport.measures.agreement.kappa import (
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    light_kappa,
    percent_agreement,
)
from trustreport.measures.agreement.labels import tally
from trustreport.measures.estimate import Estimate

ALL = (percent_agreement, fleiss_kappa, conger_kappa, light_kappa, krippendorff_alpha, gwet_ac1)
CODES = arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(2, 5)), elements=st.integers(-1, 2))


def test_four_cases_counted_by_hand() -> None:
    # Labels 00-, 110, 111, 01-: pairs agree in 1/1, 1/3, 3/3 and 0/1.
    codes = np.array([[0, 0, -1], [1, 1, 0], [1, 1, 1], [0, 1, -1]])
    observed = Fraction(1 + 0) / 4 + Fraction(1, 3) / 4 + Fraction(1) / 4
    assert percent_agreement(codes, 2).value == pytest.approx(float(observed))
    # Share of ones per case: 0, 2/3, 1, 1/2, so p = 13/24.
    p = Fraction(13, 24)
    fleiss = (observed - (p**2 + (1 - p) ** 2)) / (1 - p**2 - (1 - p) ** 2)
    assert fleiss_kappa(codes, 2).value == pytest.approx(float(fleiss))
    ac1 = (observed - 2 * p * (1 - p)) / (1 - 2 * p * (1 - p))
    assert gwet_ac1(codes, 2).value == pytest.approx(float(ac1))
    # Coincidences: N = 10 labels, 4 of them 0; unequal ones 2 x 2/2 of 110 and 2 of 01.
    alpha = 1 - Fraction(4, 10) / Fraction(2 * 4 * 6, 10 * 9)
    assert krippendorff_alpha(codes, 2).value == pytest.approx(float(alpha))
    # Ones: rater 1 in 2 of 4, rater 2 in 3 of 4, rater 3 in 1 of 2.
    pairs = [Fraction(1, 2) * Fraction(3, 4) + Fraction(1, 2) * Fraction(1, 4)] * 2 + [Fraction(1, 2)]
    chance = sum(pairs, Fraction(0)) / 3
    assert conger_kappa(codes, 2).value == pytest.approx(float((observed - chance) / (1 - chance)))


def test_light_is_the_mean_of_the_pairs() -> None:
    codes = np.random.default_rng(5).integers(-1, 3, (40, 4))
    pairs = [cohen_kappa(codes[:, g], codes[:, h], 3) for g, h in combinations(range(4), 2)]
    assert light_kappa(codes, 3).value == pytest.approx(np.mean([e.value for e in pairs]))
    of_first = [e for e, (g, _) in zip(pairs, combinations(range(4), 2)) if g == 0]
    assert light_kappa(codes, 3, of=0).value == pytest.approx(np.mean([e.value for e in of_first]))
    alone = light_kappa(codes[:, :2], 3)
    both = (codes[:, :2] >= 0).all(axis=1)
    assert light_kappa(codes[both, :2], 3).se == pytest.approx(pairs[0].se)
    assert alone.value == pytest.approx(pairs[0].value)


def test_two_raters_have_the_kappa_of_cohen_whichever_way() -> None:
    codes = np.random.default_rng(2).integers(0, 3, (50, 2))
    for w in (None, labels.linear(3)):
        cohen = cohen_kappa(codes[:, 0], codes[:, 1], 3, weights=w)
        for other in (conger_kappa(codes, 3, weights=w), light_kappa(codes, 3, weights=w)):
            assert (other.value, other.se) == pytest.approx((cohen.value, cohen.se))


@pytest.mark.parametrize("coefficient", ALL)
@given(codes=CODES, data=st.data())
def test_neither_order_nor_names_matter(coefficient: Any, codes: Any, data: Any) -> None:
    cases = data.draw(st.permutations(range(codes.shape[0])))
    raters = data.draw(st.permutations(range(codes.shape[1])))
    renamed = np.array([2, 0, 1, -1])[codes]  # -1 stays the last one
    first = coefficient(codes, 3)
    for other in (coefficient(codes[cases][:, raters], 3), coefficient(renamed, 3)):
        assert other.value == pytest.approx(first.value, abs=1e-9, nan_ok=True)
        assert other.low == pytest.approx(first.low, abs=1e-6, nan_ok=True)
        assert other.n == first.n


@pytest.mark.parametrize("coefficient", ALL)
@given(codes=CODES)
def test_an_interval_holds_its_estimate_and_what_has_none_says_why(coefficient: Any, codes: Any) -> None:
    est = coefficient(codes, 3)
    assert not isnan(est.value) or est.note
    assert isnan(est.value) or est.value <= 1 + 1e-12
    if isnan(est.low):
        assert est.note
    else:
        assert est.low <= est.value + 1e-12
        assert est.value <= est.high + 1e-12
        assert coefficient(codes, 3, level=0.5).low >= est.low - 1e-12
    # A case nobody labelled, and a rater without labels, change nothing.
    wider = np.pad(codes, ((0, 1), (0, 1)), constant_values=-1)
    assert coefficient(wider, 3).value == pytest.approx(est.value, nan_ok=True)


NAMED: dict[str, Any] = {
    "percent_agreement": percent_agreement,
    "krippendorff_alpha": krippendorff_alpha,
    "fleiss_kappa": fleiss_kappa,
    "conger_kappa": conger_kappa,
    "gwet_ac1": gwet_ac1,
}


def test_the_variance_is_that_of_drawing_cases() -> None:
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 3, 300)
    codes = np.where(rng.random((300, 4)) < 0.7, truth[:, None], rng.integers(0, 3, (300, 4)))
    codes[rng.random(codes.shape) < 0.2] = -1
    drawn = bootstrap(codes, 3, rng=rng)
    assert list(drawn) == list(NAMED)
    for name, coefficient in NAMED.items():
        est = coefficient(codes, 3)
        assert drawn[name].value == pytest.approx(est.value, abs=1e-12)
        assert (drawn[name].n, drawn[name].method) == (est.n, "bootstrap_cases")
        assert drawn[name].se == pytest.approx(est.se, rel=0.12)
        assert (drawn[name].low, drawn[name].high) == pytest.approx((est.low, est.high), abs=0.012)


def test_ordinal_alpha_varies_as_drawing_cases_although_its_distances_count_as_given() -> None:
    rng = np.random.default_rng(12)
    codes = np.clip(rng.integers(0, 5, 300)[:, None] + rng.integers(-1, 2, (300, 4)), 0, 4)
    drawn = bootstrap(codes, 5, rng=rng, resamples=600, scale="ordinal")
    for name, est in (
        ("krippendorff_alpha", krippendorff_alpha(codes, 5, metric="ordinal")),
        ("gwet_ac2", gwet_ac2(codes, 5, labels.ordinal(5))),
    ):
        assert drawn[name].value == pytest.approx(est.value, abs=1e-12)
        assert drawn[name].se == pytest.approx(est.se, rel=0.15)


@given(CODES, st.data(), st.sampled_from(["nominal", "ordinal"]))
def test_a_draw_has_the_coefficients_of_the_raters_and_cases_drawn(codes: Any, data: Any, scale: Any) -> None:
    n, m = codes.shape
    chosen = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    raters = data.draw(st.lists(st.integers(0, m - 1), min_size=m, max_size=m))
    times = np.bincount(raters, minlength=m).astype(float)
    counted = np.bincount(chosen, minlength=n).astype(float)
    found = _GivenLabels.of_patterns(codes, 3, scale).coefficients(times[None], counted[None])
    ranks: dict[str, Any] = {"krippendorff_alpha": partial(krippendorff_alpha, metric="ordinal")}
    ranks["gwet_ac2"] = partial(gwet_ac2, weights=labels.ordinal(3))
    for name, coefficient in (NAMED if scale == "nominal" else ranks).items():
        there = coefficient(codes[chosen], 3, multiplicity=times).value
        assert found[name][0] == pytest.approx(there, abs=1e-9, nan_ok=True)


def test_drawing_raters_too_widens_the_interval_and_copies_are_no_pair() -> None:
    rng = np.random.default_rng(13)
    truth = rng.integers(0, 2, 200)
    skill = np.array([0.95, 0.9, 0.85, 0.7, 0.6, 0.55])
    codes = np.where(rng.random((200, 6)) < skill, truth[:, None], 1 - truth[:, None])
    cases = bootstrap(codes, 2, rng=rng, resamples=300)
    both = bootstrap(codes, 2, rng=rng, resamples=300, raters=True)
    for name, e in both.items():
        assert e.high - e.low > 1.5 * (cases[name].high - cases[name].low)
        assert e.method == "bootstrap_raters_cases"
    once = tally(codes[:, :2], 2)
    doubled = tally(codes[:, :2], 2, None, np.array([2, 1]))
    assert doubled.agreement == pytest.approx(once.agreement)


@pytest.mark.parametrize("coefficient", [*ALL[1:3], krippendorff_alpha, gwet_ac1, percent_agreement])
def test_a_rater_who_counts_twice_is_compared_twice_with_the_others(coefficient: Any) -> None:
    codes = np.random.default_rng(3).integers(0, 2, (30, 3))
    times = np.array([2, 1, 0])
    if coefficient is not krippendorff_alpha:  # which counts labels
        twice = coefficient(codes, 2, multiplicity=times)
        assert coefficient(codes, 2, multiplicity=times * 3).value == pytest.approx(twice.value)
    dropped = coefficient(codes, 2, multiplicity=np.array([1, 1, 0]))
    assert dropped.value == pytest.approx(coefficient(codes[:, :2], 2).value)


ONE = np.array([[0, 1, 1, 0]]).T
AGREE = np.array([[0, 1, 1, 0]] * 3).T
SAME = np.zeros((6, 3), int)
APART = np.array([[0, -1], [-1, 1], [1, -1]])


@pytest.mark.parametrize("coefficient", ALL)
@pytest.mark.parametrize(
    "codes, value, note",
    [
        (ONE, None, notes.NO_PAIR),
        (APART, None, notes.NO_PAIR),
        (np.empty((0, 3), int), None, notes.NO_PAIR),
        (AGREE, 1.0, notes.NO_VARIATION),
        (AGREE[:1], None, None),
    ],
    ids=["one rater", "no overlap", "no case", "all agree", "one case"],
)
def test_edges_say_why(coefficient: Any, codes: Any, value: float | None, note: str | None) -> None:
    est: Estimate = coefficient(codes, 2)
    if value is None and note:
        assert isnan(est.value)
    elif value is not None:
        assert est.value == pytest.approx(value)
    assert isnan(est.low)
    assert est.note == note if note else est.note


def test_one_category_only() -> None:
    for coefficient in (fleiss_kappa, conger_kappa, krippendorff_alpha):
        assert coefficient(SAME, 2).note == notes.ONE_CATEGORY
    assert light_kappa(SAME, 2).note == notes.NO_PAIR_DEFINED
    assert cohen_kappa(SAME[:, 0], SAME[:, 1], 2).note == notes.ONE_CATEGORY
    assert (percent_agreement(SAME, 2).value, gwet_ac1(SAME, 2).value) == (1.0, 1.0)


def test_pairs_without_a_kappa_are_left_out_and_said() -> None:
    codes = np.array([[0, 0, -1], [1, 1, -1], [0, 1, -1], [1, 1, 1], [0, 0, -1]])
    est = light_kappa(codes, 2)
    assert est.details == {"pairs": 3, "pairs_left_out": 2}
    assert est.note == notes.SOME_PAIRS_UNDEFINED


def test_resamples_without_a_value_are_counted() -> None:
    codes = np.array([[0, 0], [0, 0], [0, 0], [1, 0]])
    est = bootstrap(codes, 2, rng=np.random.default_rng(1), resamples=200)["fleiss_kappa"]
    assert 0 < est.details["undefined"] < 100
    assert est.note == notes.SOME_RESAMPLES
    none = bootstrap(SAME, 2, rng=np.random.default_rng(1))
    assert none["percent_agreement"].value == 1
    assert isnan(none["fleiss_kappa"].value)
    assert none["fleiss_kappa"].note == notes.ONE_CATEGORY
    alone = bootstrap(np.array([[0, -1], [-1, 1]]), 2, rng=np.random.default_rng(1))
    assert {e.note for e in alone.values()} == {notes.NO_PAIR}


def test_neither_the_order_of_the_cases_nor_what_is_held_at_once_decides_a_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes = np.random.default_rng(2).integers(-1, 2, (80, 5))
    one = bootstrap(codes, 2, rng=np.random.default_rng(1), resamples=50, raters=True)
    monkeypatch.setattr(bootstrap_module, "CELLS", 500)
    other = bootstrap(codes[::-1], 2, rng=np.random.default_rng(1), resamples=50, raters=True)
    for name, e in one.items():
        assert (e.low, e.high) == pytest.approx((other[name].low, other[name].high), abs=1e-12)


@pytest.mark.parametrize("scheme", [labels.linear, labels.quadratic, labels.ordinal])
def test_weights_fall_with_the_distance(scheme: Any) -> None:
    w = scheme(5)
    assert (np.diag(w) == 1).all()
    assert (np.diff(w[0]) < 0).all()
    assert w[0, -1] == 0
    assert scheme(1) == 1


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: fleiss_kappa(np.array([[0.5, 1]]), 2), "whole numbers"),
        (lambda: fleiss_kappa(np.array([[0, 2]]), 2), "from 0 to 1"),
        (lambda: fleiss_kappa(np.array([[0, -2]]), 2), "from 0 to 1"),
        (lambda: gwet_ac2(np.array([[0, 1]]), 2, np.eye(3)), "shape"),
        (lambda: gwet_ac2(np.array([[0, 1]]), 2, np.array([[1, 0.5], [0, 1]])), "symmetric"),
        (lambda: gwet_ac2(np.array([[0, 1]]), 2, np.array([[1, -1], [-1, 1]])), r"lie in \[0, 1\]"),
        (lambda: gwet_ac1(np.array([[0, 0]]), 1), "at least 2"),
        (lambda: fleiss_kappa(np.array([[0, 1]]), 2, level=95), "Did you mean 0.95"),
    ],
)
def test_wrong_input_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong()
