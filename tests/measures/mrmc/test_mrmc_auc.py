"""Areas under the readers' ROC curves: reference values, sums written out, and data without an interval."""

from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc import same_pair as module
from trustreport.measures.mrmc.auc import (
    COVARIANCE_METHODS,
    auc_covariance,
    auc_ustatistic,
    fit_auc,
    reader_auc,
)
from trustreport.measures.mrmc.obuchowski_rockette import MODES
from trustreport.measures.mrmc.same_pair import same_pair

LONG = {
    "or_rrrc": "random_readers_random_cases",
    "or_frrc": "fixed_readers_random_cases",
    "or_rrfc": "random_readers_fixed_cases",
}
TRUTH = np.array([True, True, True, False, False, False])
crossed = arrays(float, (2, 3, 6), elements=st.sampled_from([1.0, 2.0, 3.0]))
gappy = arrays(float, (2, 3, 6), elements=st.sampled_from([1.0, 2.0, 3.0, np.nan]))


def check(got, leaf):
    if leaf["value"] is None:
        assert isnan(got)
    else:
        assert got == pytest.approx(leaf["value"], abs=max(leaf["tol"], 1e-12))


def psi(positive, negative):
    return (positive > negative) + 0.5 * (positive == negative)


def outcomes(rating):
    """psi and whether it was compared, for every row and pair of cases, (n_rows, 3, 3)."""
    rows = rating.reshape(-1, 6)
    made = ~np.isnan(rows[:, :3, None] + rows[:, None, 3:])
    return np.where(made, psi(rows[:, :3, None], rows[:, None, 3:]), 0), made


@pytest.mark.parametrize("block", [20, 1_000_000])
@given(gappy)
def test_same_pair_is_the_sum_written_out_whatever_the_way_and_the_block(block, rating):
    won, made = outcomes(rating)
    wanted = np.einsum("aij,bij->ab", won, won)
    rows = rating.reshape(-1, 6)
    levels = [np.unique(one[:3][~np.isnan(one[:3])]) for one in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        np.testing.assert_array_equal(same_pair(rating, TRUTH), wanted)
        np.testing.assert_array_equal(module._by_comparison(rating, TRUTH), wanted)
        np.testing.assert_array_equal(module._by_level(rows, TRUTH, levels), wanted)
        crossed = module.won_where_made(rating, TRUTH)
    np.testing.assert_array_equal(crossed, np.einsum("aij,bij->ab", won, made))


def test_few_ratings_take_the_way_by_level_and_many_that_by_comparison(monkeypatch):
    truth = np.arange(400) < 200
    rating = np.random.default_rng(3).normal(truth, 1, (2, 4, 400))
    five = np.clip(np.round(rating), -2, 2)
    by_comparison = module._by_comparison(five, truth)
    monkeypatch.setattr(module, "_by_comparison", lambda *_: "by comparison")
    assert same_pair(rating, truth) == "by comparison"
    np.testing.assert_array_equal(same_pair(five, truth), by_comparison)


@given(crossed)
def test_the_unbiased_covariance_is_its_definition_written_out(rating):
    won, _ = outcomes(rating)
    area = won.mean(axis=(1, 2))
    apart = [
        won[:, i, j, None] * won[:, k, m] for i, j, k, m in product(range(3), repeat=4) if i != k and j != m
    ]
    wanted = np.outer(area, area) - np.mean(apart, axis=0)
    np.testing.assert_allclose(auc_covariance(rating, TRUTH, "unbiased"), wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["vandyke", "viper-screening-high", "sim-missing10", "sim-unbalanced"])
def test_contract(name, studies, contract):
    rows = [
        row
        for row in contract[name]
        if row.id in ("decision_benefit.arm_difference", "decision_benefit.arm_mean")
        and row.scope["endpoint"] == "auc"
    ]
    study = studies[name]
    fits = {"ustatistic_bdg": auc_ustatistic(study.rating, study.truth)}
    if name == "vandyke":
        fits |= {method: fit_auc(study.rating, study.truth, method) for method in COVARIANCE_METHODS}
    assert len(rows) >= 15
    for row in rows:
        analysis = row.scope["analysis"]
        mode, _, method = analysis.rpartition("_")
        fit, how = (fits[method], {"mode": mode}) if method in fits else (fits[analysis], {})
        if "arm" in row.scope:
            got = fit.arm_mean(int(row.scope["arm"] == "aided"), **how)
        else:
            got = fit.difference(1, 0, **how)
        value = getattr(got, row.field)
        assert value == pytest.approx(row.value, abs=row.tol, nan_ok=True), (row.scope, row.field)


@pytest.mark.parametrize("method", COVARIANCE_METHODS)
def test_components_and_tests_agree_with_mrmcaov(method, studies, expected):
    leaves = expected["vandyke"]["auc"]["obuchowski_rockette"][method]
    fit = fit_auc(studies["vandyke"].rating, studies["vandyke"].truth, method)
    parts = fit.components()
    names = {"reader": "reader", "modality_x_reader": "arm_reader", "error": "error"}
    for theirs, ours in {**names, "cov1": "cov1", "cov2": "cov2", "cov3": "cov3"}.items():
        check(getattr(parts, ours), leaves["components"][theirs])
    check(fit.ms_arm, leaves["components"]["ms_modality"])
    check(fit.ms_arm_reader, leaves["components"]["ms_modality_x_reader"])
    for mode in MODES:
        leaf, test = leaves[LONG[mode]], fit.omnibus(mode)
        check(test.statistic, leaf.get("F") or leaf["chi2"])
        check(test.p, leaf["p"])
    for reader, leaf in enumerate(leaves[LONG["or_frrc"]]["per_reader_diff"]):
        own = fit.reader_difference(reader, 0, 1)
        for ours, theirs in (
            ("value", "diff"),
            ("se", "se"),
            ("low", "ci_lo"),
            ("high", "ci_hi"),
            ("p", "p"),
        ):
            check(getattr(own, ours), leaf[theirs])


@pytest.mark.parametrize("name", ["vandyke", "sim-missing10"])
def test_reader_areas_agree_with_mrmcaov_and_imrmc(name, studies, expected):
    study = studies[name]
    got = reader_auc(study.rating, study.truth)
    arms = {"1": 0, "2": 1, "testA": 0, "testB": 1}
    for leaf in expected[name.replace("-", "_")]["auc"]["per_reader"]:
        check(got[arms[leaf["modality"]], study.readers.index(leaf["reader"])], leaf["auc"])


@pytest.mark.parametrize("name", ["vandyke", "viper-screening-high", "sim-missing10", "sim-unbalanced"])
def test_ustatistic_agrees_with_imrmc(name, studies, expected):
    leaves = expected[name.replace("-", "_")]["auc"]["u_statistic_bdg"]
    fit = auc_ustatistic(studies[name].rating, studies[name].truth)
    for arm in (0, 1):
        check(fit.covariance[arm, arm], leaves[f"modality_{arm + 1}"]["var"])
    if "cov_between" in leaves:
        check(fit.covariance[0, 1], leaves["cov_between"])
    got = fit.difference(0, 1)
    check(got.value, leaves["diff_1_minus_2"])
    for ours, theirs in (("df", "df_bdg"), ("low", "ci_lo"), ("high", "ci_hi"), ("p", "p")):
        check(getattr(got, ours), leaves[theirs])


def test_sensitivity_recoded_as_an_area_weighs_readers_as_imrmc_does(studies, expected):
    """A decision on positives and a constant on negatives: the area is the proportion."""
    study = studies["viper-screening-high"]
    leaves = expected["viper_screening_high"]["sensitivity"]["weighted_by_pos_x_neg_pairs_u_statistic_bdg"]
    recoded = np.where(study.truth, study.decision, np.where(np.isnan(study.decision), np.nan, 0.5))
    fit = auc_ustatistic(recoded, study.truth)
    got = fit.difference(0, 1)
    check(fit.means[0], leaves["modality_1"]["mean"])
    check(got.value, leaves["diff_1_minus_2"])
    check(got.se**2, leaves["var_diff"])
    check(got.df, leaves["df_bdg"])
    check(got.low, leaves["ci_lo"])
    check(got.p, leaves["p"])


@settings(max_examples=40)
@given(gappy)
def test_ustatistic_equals_the_sums_written_out(rating):
    comparisons = {
        (i, j, a, b): psi(rating[i, j, a], rating[i, j, b])
        for i, j, a, b in product((0, 1), range(3), range(3), range(3, 6))
        if not np.isnan(rating[i, j, a] + rating[i, j, b])
    }
    fit = auc_ustatistic(rating, TRUTH)
    for i, k in ((0, 0), (0, 1), (1, 1)):
        first, second = ([(key, won) for key, won in comparisons.items() if key[0] == arm] for arm in (i, k))
        apart = [
            won * other
            for key, won in first
            for key2, other in second
            if all(x != y for x, y in zip(key[1:], key2[1:]))
        ]
        if apart:
            means = [np.mean([won for _, won in part]) for part in (first, second)]
            assert fit.covariance[i, k] == pytest.approx(means[0] * means[1] - np.mean(apart), abs=1e-12)
        else:
            assert isnan(fit.covariance[i, k])


@given(crossed)
def test_crossed_ustatistic_equals_obuchowski_rockette_unbiased(rating):
    fit, u = fit_auc(rating, TRUTH, "unbiased"), auc_ustatistic(rating, TRUTH)
    variance = u.covariance[0, 0] + u.covariance[1, 1] - 2 * u.covariance[0, 1]
    want = 2 * (fit.ms_arm_reader / fit.n_readers + fit.cov2 - fit.cov3)
    assert variance == pytest.approx(want, abs=1e-12)


@given(crossed)
def test_jackknife_equals_leaving_each_case_out(rating):
    without = np.stack(
        [reader_auc(np.delete(rating, k, axis=2), np.delete(TRUTH, k)).ravel() for k in range(6)]
    )
    centred = without - without.mean(axis=0)
    assert auc_covariance(rating, TRUTH) == pytest.approx(5 / 6 * centred.T @ centred)


@given(crossed, st.permutations(range(3)), st.permutations(range(6)), st.sampled_from(COVARIANCE_METHODS))
def test_order_does_not_matter(rating, readers, cases, method):
    one = fit_auc(rating, TRUTH, method).difference()
    other = fit_auc(rating[:, readers][:, :, cases], TRUTH[cases], method).difference()
    assert (one.value, one.se) == pytest.approx((other.value, other.se), abs=1e-7, nan_ok=True)


@given(crossed)
def test_turning_ratings_and_truth_changes_nothing(rating):
    one, other = fit_auc(rating, TRUTH).difference(), fit_auc(-rating, ~TRUTH).difference()
    assert (one.value, one.se) == pytest.approx((other.value, other.se), abs=1e-7, nan_ok=True)


def test_by_hand():
    """Positives 2, 5 against negatives 1, 2: 1, 1/2, 1, 1 of 4 pairs."""
    assert reader_auc(np.array([[[1.0, 2, 2, 5]]]), np.array([0, 0, 1, 1], bool)).tolist() == [[0.875]]


@pytest.mark.parametrize("method", COVARIANCE_METHODS)
def test_perfect_readers_have_no_standard_error(method):
    rating = np.broadcast_to(TRUTH * 1.0, (2, 3, 6))
    for estimate in (fit_auc(rating, TRUTH, method).difference(), fit_auc(rating, TRUTH, method).arm_mean(0)):
        assert (isnan(estimate.low), estimate.note) == (True, notes.NO_VARIATION)
    assert auc_ustatistic(rating, TRUTH).difference().note == notes.NO_VARIATION


def test_what_is_refused():
    rating = np.ones((2, 3, 6))
    with pytest.raises(ValueError, match="both classes are needed; all 6 cases have truth 1"):
        fit_auc(rating, np.ones(6, bool))
    rating[0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="1 of 36 readings are missing"):
        fit_auc(rating, TRUTH)


def test_a_class_with_one_case_has_no_covariance():
    rating = np.arange(24.0).reshape(2, 3, 4)
    got = fit_auc(rating, np.array([True, False, False, False])).difference()
    assert (isnan(got.low), got.note) == (True, notes.ONE_CASE)


def test_a_reader_without_a_class():
    rating = np.ones((1, 2, 6))
    rating[0, 0, :3] = np.nan
    areas = reader_auc(rating, TRUTH)
    assert isnan(areas[0, 0])
    assert areas[0, 1] == 0.5
    assert auc_ustatistic(rating, TRUTH).arm_mean(0).note


def with_gaps(seed: int, readers: int = 3, n_cases: int = 18) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.arange(n_cases) % 3 == 0
    rating = rng.normal(truth * np.array([1.0, 1.6])[:, None, None], 1, (2, readers, n_cases)).round(1)
    rating[rng.random(rating.shape) < 0.15] = np.nan
    return rating, truth


@pytest.mark.parametrize("centred", [False, True])
def test_patients_of_one_case_are_cases_and_copies_change_nothing(centred: bool) -> None:
    rating, truth = with_gaps(1)
    plain = auc_ustatistic(rating, truth, centred=centred)
    for copies in (1, 3):
        of = np.repeat(np.arange(18), copies)
        found = auc_ustatistic(rating[..., of], truth[of], centred=centred, cluster=of)
        assert found.means == pytest.approx(plain.means)
        assert found.covariance == pytest.approx(plain.covariance)
        for weights in (np.array([1.0, -1.0]), np.array([0.0, 1.0])):
            assert found.df(weights)[0] == pytest.approx(plain.df(weights)[0])
        assert found.clusters == 18


@pytest.mark.parametrize("centred", [False, True])
def test_patients_with_cases_of_both_classes_by_the_definition(centred: bool) -> None:
    """Every pair of comparisons by name: those that share neither the reader nor any patient."""
    rating, truth = with_gaps(2)
    patient = np.arange(18) // 2
    found = auc_ustatistic(rating, truth, centred=centred, cluster=patient)
    made = [
        [
            (j, {patient[p], patient[q]}, (x > y) + 0.5 * (x == y))
            for j, p, q in product(range(3), np.flatnonzero(truth), np.flatnonzero(~truth))
            if not isnan((x := arm[j, p]) + (y := arm[j, q]))
        ]
        for arm in rating
    ]
    means = [np.mean([psi for *_, psi in arm]) for arm in made]
    assert found.means == pytest.approx(means)
    for i, k in product((0, 1), (0, 1)):
        apart = [
            (psi - centred * means[i]) * (other - centred * means[k])
            for (j, of, psi), (reader, theirs, other) in product(made[i], made[k])
            if j != reader and not of & theirs
        ]
        wanted = (0.0 if centred else means[i] * means[k]) - np.mean(apart)
        assert found.covariance[i, k] == pytest.approx(wanted)
