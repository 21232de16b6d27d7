"""Non-inferiority, superiority, equivalence, performance goal: reference values, what intervals say."""

from math import inf, isnan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ndtri

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import auc_ustatistic, fit_auc
from trustreport.measures.mrmc.interval import no_interval, symmetric
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.measures.mrmc.planned import (
    equivalence,
    non_inferiority,
    performance_goal,
    reference_df,
)


def interval(value: float, se: float, df: float, level: float = 0.95) -> Estimate:
    return symmetric(value, se**2, 100, df=df, level=level, null=0.0)


@pytest.mark.parametrize("margin", [0.02, 0.05])
def test_vandyke(margin, studies, expected):
    study = studies["vandyke"]
    difference = fit_auc(study.rating, study.truth).difference(1, 0)
    got = non_inferiority(difference, margin)
    leaf = expected["vandyke"]["auc"]["noninferiority_modality_2_vs_1"][f"margin_{margin}"]
    assert got.details["t"] == pytest.approx(leaf["t"]["value"], abs=leaf["t"]["tol"])
    assert got.p == pytest.approx(leaf["p_one_sided"]["value"], abs=leaf["p_one_sided"]["tol"])
    limit = leaf["lower_limit_two_sided_95"]
    assert got.low == pytest.approx(limit["value"], abs=limit["tol"])
    assert (got.value, got.method, got.details["margin"]) == (difference.value, "or_rrrc", margin)


estimates = st.builds(
    interval, st.floats(-0.2, 0.2), st.floats(0.005, 0.1), st.one_of(st.floats(1, 40), st.just(inf))
)


@given(estimates, st.floats(0, 0.3))
def test_a_one_sided_p_says_what_the_two_sided_interval_says(e, margin):
    assume(abs(e.low + margin) > 1e-9)
    assume(abs(e.high - margin) > 1e-9)
    assert (non_inferiority(e, margin).p < 0.025) == (e.low > -margin)
    assert (non_inferiority(e, margin, higher_is_better=False).p < 0.025) == (e.high < margin)
    assert (performance_goal(e, -margin).p < 0.025) == (e.low > -margin)


@given(estimates)
def test_superiority_is_half_the_two_sided_test(e):
    one, other = non_inferiority(e, 0.0).p, non_inferiority(e, 0.0, higher_is_better=False).p
    assert one + other == pytest.approx(1)
    assert 2 * min(one, other) == pytest.approx(e.p, abs=1e-12)


@given(st.floats(-0.1, 0.1), st.floats(0.005, 0.1), st.floats(1, 40), st.floats(0.01, 0.3))
def test_equivalence_says_what_the_interval_of_90_per_cent_says(value, se, df, margin):
    e = interval(value, se, df, level=0.9)
    assume(abs(e.low + margin) > 1e-9)
    assume(abs(e.high - margin) > 1e-9)
    assert (equivalence(e, margin).p < 0.05) == (e.low > -margin and e.high < margin)


def test_equivalence_with_unequal_margins_takes_the_worse_side():
    e = interval(0.01, 0.02, 12)
    both = equivalence(e, (-0.1, 0.03))
    assert both.p == pytest.approx(non_inferiority(e, 0.03, higher_is_better=False).p)
    assert both.details["margin_high"] == 0.03


def test_the_ustatistic_is_tested_with_the_df_of_its_interval(studies):
    study = studies["vandyke"]
    e = auc_ustatistic(study.rating, study.truth).difference(1, 0)
    assert reference_df(e) == 12
    assert non_inferiority(e, 0.0).p == pytest.approx(e.p / 2)
    assert non_inferiority(e, -e.low if e.low < 0 else 0.0).p == pytest.approx(0.025)


def test_fixed_readers_are_tested_with_the_normal(studies):
    study = studies["vandyke"]
    e = fit_proportions(study.outcome("sensitivity")).difference(1, 0, mode="or_frrc")
    assert reference_df(e) == inf
    assert "test_df" not in non_inferiority(e, 0.0).details


def test_without_a_standard_error_there_is_no_p_and_a_reason():
    for e in (no_interval(0.1, 50, notes.NOT_POSITIVE), Estimate(0.1, 0.1, 0.1, 50, se=0.0)):
        got = non_inferiority(e, 0.05)
        assert isnan(got.p)
        assert got.note
        assert got.details["margin"] == 0.05


def test_wrong_margins_are_refused():
    e = interval(0.01, 0.02, 12)
    with pytest.raises(ValueError, match="largest acceptable loss"):
        non_inferiority(e, -0.05)
    with pytest.raises(ValueError, match="either side of 0"):
        equivalence(e, (0.01, 0.05))
    with pytest.raises(ValueError, match="either side of 0"):
        equivalence(e, 0.0)


@pytest.mark.slow
def test_size_of_the_test_on_the_margin():
    """Eight readers, 80 cases, truth on the margin: one in forty is called non-inferior."""
    rng, margin, runs, rejected = np.random.default_rng(8), 0.05, 600, 0
    cut = ndtri([0.75, 0.70])[:, None, None]
    for _ in range(runs):
        case, reader = rng.normal(0, 1, 80), rng.normal(0, 0.3, (8, 1))
        evidence = (rng.normal(0, 1, (2, 8, 80)) + case + reader) / np.sqrt(2.09)
        difference = fit_proportions((evidence < cut).astype(float)).difference(1, 0)
        rejected += non_inferiority(difference, margin).p < 0.025
    assert 0.01 < rejected / runs < 0.045
