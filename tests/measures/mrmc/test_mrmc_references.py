"""Reference values of proportions: from MRMCaov, iMRMC, geepack, statsmodels."""

import numpy as np
import pytest

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.clustered import (
    CLUSTERINGS,
    clustered_difference,
    gee_odds_ratio,
    mcnemar_clustered_case,
)
from trustreport.measures.mrmc.obuchowski_rockette import MODES, ObuchowskiRockette, fit_proportions
from trustreport.measures.mrmc.ustatistic import UStatistic, ustatistic

BINARY = ("sensitivity", "specificity")
LONG = {
    "or_rrrc": "random_readers_random_cases",
    "or_frrc": "fixed_readers_random_cases",
    "or_rrfc": "random_readers_fixed_cases",
}


def check(got: float, leaf: dict, sign: int = 1) -> None:
    assert got == pytest.approx(sign * leaf["value"], abs=max(leaf["tol"], 1e-12))


def analysed(study, scope) -> Estimate:
    """The estimate that a contract row asks for."""
    fit: UStatistic | ObuchowskiRockette
    outcome = study.outcome(scope["endpoint"])
    if scope["analysis"] == "ustatistic_bdg":
        fit, how = ustatistic(outcome), {}
    else:
        fit, how = fit_proportions(outcome), {"mode": scope["analysis"].removesuffix("_jackknife")}
    if "arm" in scope:
        return fit.arm_mean(int(scope["arm"] == "aided"), **how)
    return fit.difference(1, 0, **how)


@pytest.mark.parametrize("name", ["vandyke", "viper-screening-high"])
def test_contract_of_sensitivity_and_specificity(name, studies, contract):
    rows = [
        row
        for row in contract[name]
        if row.id in ("decision_benefit.arm_difference", "decision_benefit.arm_mean")
        and row.scope["endpoint"] in BINARY
    ]
    assert len(rows) >= 12
    for row in rows:
        got = getattr(analysed(studies[name], row.scope), row.field)
        assert got == pytest.approx(row.value, abs=row.tol), (row.scope, row.field)


def test_contract_of_clustered_errors(studies, contract):
    correct, error = studies["vandyke"].outcome("accuracy"), studies["vandyke"].outcome("error")
    rows = [row for row in contract["vandyke"] if row.scope.get("analysis") == "clustered"]
    assert len(rows) == 9
    for row in rows:
        if row.method in CLUSTERINGS:
            estimate = clustered_difference(correct, row.method)
        elif row.method == "mcnemar_clustered_case":
            estimate = mcnemar_clustered_case(correct)
        else:
            estimate = gee_odds_ratio(error)
        assert getattr(estimate, row.field) == pytest.approx(row.value, abs=row.tol), (row.method, row.field)


@pytest.mark.parametrize("endpoint", BINARY)
@pytest.mark.parametrize("mode", MODES)
def test_obuchowski_rockette_agrees_with_mrmcaov(endpoint, mode, studies, expected):
    leaves = expected["vandyke"]["binary"][endpoint]["obuchowski_rockette_subset_jackknife"][LONG[mode]]
    fit = fit_proportions(studies["vandyke"].outcome(endpoint))
    got, test = fit.difference(0, 1, mode=mode), fit.omnibus(mode)
    check(got.value, leaves["diff_1_minus_2"])
    check(got.se, leaves["se"])
    check(got.low, leaves["ci_lo"])
    check(got.high, leaves["ci_hi"])
    check(got.p, leaves["p"])
    check(test.p, leaves["p"])
    if mode == "or_frrc":
        check(test.statistic, leaves["chi2"])
        for reader, leaf in enumerate(leaves["per_reader_diff"]):
            own = fit.reader_difference(reader, 0, 1)
            check(own.value, leaf["diff"])
            check(own.se, leaf["se"])
            check(own.low, leaf["ci_lo"])
            check(own.high, leaf["ci_hi"])
            check(own.p, leaf["p"])
    else:
        check(test.statistic, leaves["F"])
        check(test.df2, leaves["df2"])
        check(got.df, leaves["df"])
    for arm in (0, 1):
        mean, leaf = fit.arm_mean(arm, mode=mode), leaves[f"modality_{arm + 1}"]
        check(mean.value, leaf["mean"])
        check(mean.se, leaf["se"])
        check(mean.low, leaf["ci_lo"])
        check(min(mean.high, 1), leaf["ci_hi"])  # MRMCaov truncates
        if "df" in leaf:
            check(mean.df, leaf["df"])


@pytest.mark.parametrize("endpoint", BINARY)
def test_variance_components_agree_with_mrmcaov(endpoint, studies, expected):
    binary = expected["vandyke"]["binary"][endpoint]
    leaves = binary["obuchowski_rockette_subset_jackknife"]["components"]
    fit = fit_proportions(studies["vandyke"].outcome(endpoint))
    parts = fit.components()
    check(parts.reader, leaves["reader"])
    check(parts.arm_reader, leaves["modality_x_reader"])
    check(parts.error, leaves["error"])
    for name in ("cov1", "cov2", "cov3"):
        check(getattr(parts, name), leaves[name])
    check(fit.ms_arm, leaves["ms_modality"])
    check(fit.ms_arm_reader, leaves["ms_modality_x_reader"])


def test_accuracy_agrees_with_an_independent_implementation(studies, expected):
    leaves = expected["vandyke"]["binary"]["accuracy"]["obuchowski_rockette_jackknife"]
    fit = fit_proportions(studies["vandyke"].outcome("accuracy"))
    for mode, key in (("or_rrrc", "RRRC"), ("or_frrc", "FRRC"), ("or_rrfc", "RRFC")):
        got = fit.difference(0, 1, mode=mode)
        for ours, theirs in (("value", "diff"), ("se", "se"), ("low", "lo"), ("high", "hi"), ("p", "p")):
            check(getattr(got, ours), leaves[key][theirs])
    for name in ("var", "cov1", "cov2", "cov3"):
        check(getattr(fit, name), leaves[name])


@pytest.mark.parametrize("endpoint", BINARY)
def test_ustatistic_agrees_with_imrmc_when_crossed(endpoint, studies, expected):
    leaves = expected["vandyke"]["binary"][endpoint]["u_statistic_bdg"]
    got = ustatistic(studies["vandyke"].outcome(endpoint)).difference(0, 1)
    check(got.value, leaves["diff_1_minus_2"])
    check(got.se**2, leaves["var_diff"])
    check(got.df, leaves["df_bdg"])
    check(got.low, leaves["ci_lo"])
    check(got.high, leaves["ci_hi"])
    check(got.p, leaves["p"])


@pytest.mark.parametrize("endpoint", BINARY)
def test_ustatistic_agrees_with_imrmc_when_split_plot(endpoint, studies, expected):
    leaves = expected["viper_screening_high"][endpoint]["weighted_by_readings_u_statistic"]
    fit = ustatistic(studies["viper-screening-high"].outcome(endpoint))
    check(fit.means[0], leaves["p1"])
    check(fit.means[1], leaves["p2"])
    check(fit.covariance[0, 0], leaves["var_1"])
    check(fit.covariance[1, 1], leaves["var_2"])
    check(fit.difference(0, 1).value, leaves["diff"])
    check(fit.difference(0, 1).se ** 2, leaves["var_diff"])


@pytest.mark.parametrize(
    "name, endpoint",
    [
        ("vandyke", "accuracy"),
        *((name, endpoint) for name in ("vandyke", "viper-screening-high") for endpoint in BINARY),
    ],
)
def test_clustered_variances_agree_with_an_independent_implementation(name, endpoint, studies, expected):
    data = expected[name.replace("-", "_")]
    if "binary" in data:
        data = data["binary"]
    leaves, outcome = data[endpoint]["paired_binary"], studies[name].outcome(endpoint)
    keys = (("cluster_case", "cluster_case"), ("cluster_reader", "cluster_reader"))
    for word, key in (*keys, ("cluster_twoway_z", "twoway_case_reader")):
        got = clustered_difference(outcome, word, compared=0, baseline=1)
        for ours, theirs in (("se", "se"), ("low", "lo"), ("high", "hi"), ("p", "p")):
            check(getattr(got, ours), leaves[key][theirs])
    check(mcnemar_clustered_case(outcome).value, leaves["mcnemar_case_clustered"]["chi2"])
    check(mcnemar_clustered_case(outcome).p, leaves["mcnemar_case_clustered"]["p"])
    gee, leaf = gee_odds_ratio(outcome), leaves["gee_logit_statsmodels"]["case|exchangeable"]
    check(gee.value, leaf["OR"])
    check(gee.details["log_se"], leaf["se"])
    check(gee.p, leaf["p"])


def test_gee_agrees_with_geepack(studies, expected):
    for endpoint in BINARY:
        leaf = expected["vandyke"]["binary"][endpoint]["gee_logit_case_exchangeable"]
        got = gee_odds_ratio(studies["vandyke"].outcome(endpoint))
        check(np.log(got.value), leaf["log_or_2_vs_1"])
        check(got.details["log_se"], leaf["se"])
        check(got.p, leaf["p"])
