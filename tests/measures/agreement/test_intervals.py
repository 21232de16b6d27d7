"""The primary intervals of agreement: irrCAC's errors on Fisher's scale, Wilson's limits, rare labels."""

from math import atanh, isnan, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t

from trustreport.measures.agreement import notes
from trustreport.measures.agreement.coefficients import gwet_ac1, krippendorff_alpha
from trustreport.measures.agreement.interval import coefficient_interval, mean_interval, why_none
from trustreport.measures.agreement.kappa import cohen_kappa, fleiss_kappa, light_kappa, percent_agreement
from trustreport.measures.note import NO_NOTE, Note

Knee = tuple[NDArray[np.int64], NDArray[np.float64]]


def pair(both: int, one: int, other: int, neither: int) -> Any:
    """Labels of two raters, by the four cells."""
    return np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [both, one, other, neither], axis=0)


@pytest.mark.parametrize("name, measure", [("fleiss_kappa", fleiss_kappa), ("gwet_ac1", gwet_ac1)])
def test_limits_are_those_of_irrcac_on_the_scale_of_fisher(
    name: str, measure: Any, knee: Knee, expected: dict[str, Any]
) -> None:
    """The ends of irrCAC give its standard error; on Fisher's scale the limits are as far from the value."""
    value, (low, high) = expected[name]["value"], expected[name]["ci95_irrCAC"]
    found = coefficient_interval(measure(knee[0], 2), knee[0], 2)
    half = (high - low) / 2 / (1 - value**2)
    assert [atanh(found.low), atanh(found.high)] == pytest.approx(
        [atanh(value) - half, atanh(value) + half], abs=6e-5
    )
    assert (found.method, found.n, found.df) == ("gwet_fisher_z", 427, 426)


def test_full_agreement_has_the_lower_limit_of_wilson() -> None:
    # Newcombe (1998), Table I: 0 of 20 is 0 to .1611; half of the agreement is by chance.
    codes = pair(10, 0, 0, 10)
    found = coefficient_interval(cohen_kappa(*codes.T, 2), codes, 2)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1 - 0.1611 / 0.5, abs=2e-4)
    assert found.note == notes.ALL_AGREE
    perfect = np.repeat([[1] * 5, [0] * 5], 10, axis=0)
    assert coefficient_interval(fleiss_kappa(perfect, 2), perfect, 2).low == pytest.approx(found.low)
    # Of a mean of kappas no agreement by chance is known.
    assert isnan(coefficient_interval(light_kappa(perfect, 2), perfect, 2).low)


@pytest.mark.parametrize(
    "cells, of_kappa, of_ac1",
    [
        ((5, 2, 2, 40), notes.FEW_OF_A_LABEL, notes.FEW_OF_A_LABEL),  # 9 cases with the rarer label
        ((6, 2, 2, 40), NO_NOTE, NO_NOTE),
        ((40, 2, 2, 6), NO_NOTE, NO_NOTE),  # whichever label is the rarer one
        ((4, 4, 4, 40), notes.FEW_AGREED, NO_NOTE),
        ((5, 4, 4, 40), NO_NOTE, NO_NOTE),
    ],
)
def test_a_rare_label_leaves_no_interval(cells: Any, of_kappa: Note, of_ac1: Note) -> None:
    codes = pair(*cells)
    for measure, why, by_chance in ((fleiss_kappa, of_kappa, True), (gwet_ac1, of_ac1, False)):
        found = coefficient_interval(measure(codes, 2), codes, 2, by_chance_of_labels=by_chance)
        assert found.value == measure(codes, 2).value
        assert isnan(found.low) == isnan(found.se) == bool(why)
        assert found.note == why


def test_three_raters_need_agreement_in_the_rarer_label() -> None:
    # Each case that two of three give the rarer label is a third of an agreement.
    codes = np.repeat([[1, 1, 0], [0, 0, 0]], [14, 60], axis=0)
    assert why_none(codes, 2) == notes.FEW_AGREED
    assert not why_none(np.repeat([[1, 1, 0], [0, 0, 0]], [15, 60], axis=0), 2)
    assert not why_none(codes, 2, by_chance_of_labels=False)
    # Labels given alone are no agreement, and a label nobody else gave leaves none at all.
    assert why_none(np.array([[1, -1], [0, -1]] * 50), 2)


def test_cases_with_one_label_are_said() -> None:
    codes = np.concatenate([pair(20, 3, 3, 20), [[1, -1]]])
    assert coefficient_interval(fleiss_kappa(codes, 2), codes, 2).note == notes.SINGLE_LABELS
    assert not coefficient_interval(fleiss_kappa(codes[:-1], 2), codes[:-1], 2).note


def test_score_interval_of_agreement_is_that_of_statsmodels() -> None:
    from statsmodels.stats.proportion import proportion_confint

    codes = pair(30, 4, 3, 20)
    found = percent_agreement(codes, 2, interval="score")
    alpha = 2 * t.sf(t.ppf(0.975, 56), 1e9)
    low, high = proportion_confint(50, 57, alpha=alpha, method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    # Three raters: as many cases as would give a share this variance.
    codes = np.repeat([[1, 1, 1], [1, 1, 0], [0, 0, 0]], [10, 9, 12], axis=0)
    found = percent_agreement(codes, 2, interval="score")
    parts = np.repeat([1, 1 / 3, 1], [10, 9, 12])
    p, v = parts.mean(), parts.var(ddof=1) / 31
    alpha = 2 * t.sf(t.ppf(0.975, 30), 1e9)
    low, high = proportion_confint(p * p * (1 - p) / v, p * (1 - p) / v, alpha=alpha, method="wilson")
    assert (found.value, found.low, found.high) == pytest.approx((p, low, high), abs=1e-9)
    assert found.se == pytest.approx(sqrt(v))


def test_a_mean_without_spread_keeps_an_interval() -> None:
    for value in (0.0, 0.8, 1.0):
        found = mean_interval(value, np.full(6, value), n=6, level=0.95)
        assert 0 <= found.low <= value <= found.high <= 1
        assert found.high - found.low > 0.3
    assert isnan(mean_interval(0.5, np.array([0.5]), n=1, level=0.95).low)


def test_limits_stay_in_the_range_and_cover() -> None:
    """2 raters, right in 9 of 10 cases, half of the cases positive: coverage of 400 studies of 50 cases."""
    rng = np.random.default_rng(3)
    truth = rng.random((400, 50, 1)) < 0.5
    labels = np.where(rng.random((400, 50, 2)) < 0.9, truth, ~truth).astype(int)
    covered = {"kappa": 0, "agreement": 0}
    for codes in labels:
        kappa = coefficient_interval(fleiss_kappa(codes, 2), codes, 2)
        share = percent_agreement(codes, 2, interval="score")
        assert -1 <= kappa.low <= kappa.high <= 1
        assert 0 <= share.low <= share.high <= 1
        covered["kappa"] += kappa.low <= 0.64 <= kappa.high
        covered["agreement"] += share.low <= 0.82 <= share.high
    assert all(0.92 <= n / 400 <= 0.99 for n in covered.values()), covered


def test_ranks_need_five_cases_on_which_a_pair_leaves_the_usual_label() -> None:
    # The grades 1, 2 and 3 are never alike: nominal agreement off 0 is none, that of ranks is 2 n.
    def labels(n: int) -> NDArray[np.int64]:
        return np.array([[0, 0]] * 40 + [[1, 2], [2, 3]] * n + [[0, 1]] * 6)

    for n, why in ((2, notes.FEW_OFF_THE_USUAL), (3, NO_NOTE)):
        codes = labels(n)
        assert why_none(codes, 4, ranks=True) == why
        e = krippendorff_alpha(codes, 4, metric="ordinal")
        found = coefficient_interval(e, codes, 4, ranks=True)
        assert isnan(found.low) == bool(why)
        assert why_none(codes, 4)
