"""Changes between sets that share clusters: regressions of statsmodels over both, clustered by patient."""

from math import log, nan, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.regression.linear_model import OLS

from trustreport.measures.calibration.logistic import calibration_intercept, calibration_slope
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.estimate import Estimate
from trustreport.measures.monitoring import change, notes
from trustreport.measures.monitoring.change import (
    of_area,
    of_brier,
    of_cells,
    of_intercept,
    of_net_benefit,
    of_oe_ratio,
    of_share,
    of_slope,
    of_standardized_net_benefit,
    shared,
)
from trustreport.measures.monitoring.standardisation import clustered_standardised_change
from trustreport.measures.roc.clustered import clustered_auc

rng = np.random.default_rng(8)
PATIENTS = np.concatenate([rng.integers(0, 60, 240), rng.integers(30, 100, 300)])
LATER = np.arange(540) >= 240
EFFECT = rng.normal(0, 1.5, 100)[PATIENTS]
SCORE = expit(EFFECT + rng.normal(0, 0.7, 540))
TRUTH = rng.random(540) < expit(0.8 * np.log(SCORE / (1 - SCORE)) + 0.5 * EFFECT)
DECISION = SCORE > 0.5


def parts(values: Any) -> tuple[Any, Any, Any, Any]:
    """Influence and patients of the later set, then of the earlier one."""
    return values(LATER), PATIENTS[LATER], values(~LATER), PATIENTS[~LATER]


def with_constant(later: Any) -> Any:
    return np.stack([np.ones(len(later)), later.astype(float)], axis=1)


def variance(fit: Any) -> float:
    """The cluster-robust variance of the last coefficient, without the factor for few clusters."""
    return float(fit.cov_params()[-1, -1])


def robust(model: Any) -> Any:
    return model.fit(cov_type="cluster", cov_kwds={"groups": PATIENTS, "use_correction": False})


def of_both(one: float, other: float, r: float) -> float:
    return one**2 + other**2 - 2 * r * one * other


def plain(influence: Any, cluster: Any) -> float:
    """The sandwich standard error without the factor for few clusters."""
    return sqrt(float((np.bincount(cluster, weights=influence) ** 2).sum()))


def test_covariance_of_means_is_that_of_a_regression_on_the_period() -> None:
    right = DECISION == TRUTH
    values = parts(lambda of: of_share(right[of]))
    found = shared(*values)
    design = with_constant(LATER)
    expected = variance(robust(OLS(right.astype(float), design)))
    one, other = plain(*values[:2]), plain(*values[2:])
    assert of_both(one, other, found.correlation) == pytest.approx(expected, rel=1e-9)
    assert found.both == len(np.intersect1d(PATIENTS[LATER], PATIENTS[~LATER]))
    assert found.correlation > 0.05


def test_covariance_of_the_brier_score_and_of_sensitivity_are_those_of_regressions() -> None:
    squared = (SCORE - TRUTH) ** 2
    values = parts(lambda of: of_brier(TRUTH[of], SCORE[of]))
    expected = variance(robust(OLS(squared, with_constant(LATER))))
    r = shared(*values).correlation
    assert of_both(plain(*values[:2]), plain(*values[2:]), r) == pytest.approx(expected, rel=1e-9)
    # Sensitivity: the same among the positives.
    values = parts(lambda of: of_cells("sensitivity", TRUTH[of], DECISION[of]))
    model = OLS(DECISION[TRUTH].astype(float), with_constant(LATER[TRUTH]))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": PATIENTS[TRUTH], "use_correction": False})
    r = shared(*values).correlation
    assert of_both(plain(*values[:2]), plain(*values[2:]), r) == pytest.approx(variance(fit), rel=1e-9)


def test_covariance_of_calibration_is_that_of_a_logistic_regression_with_both_periods() -> None:
    """Log odds in each period and their difference: the coefficient of the interaction is the change."""
    odds = np.log(SCORE / (1 - SCORE))
    later = LATER.astype(float)
    for influence, design, offset in (
        (of_slope, np.stack([np.ones(540), odds, later, odds * later], axis=1), None),
        (of_intercept, np.stack([np.ones(540), later], axis=1), odds),
    ):
        model = GLM(TRUTH.astype(float), design, family=Binomial(), offset=offset)
        fit = model.fit(tol=1e-12, cov_type="cluster", cov_kwds={"groups": PATIENTS, "use_correction": False})
        measure = calibration_slope if influence is of_slope else calibration_intercept
        each = [measure(TRUTH[of], SCORE[of], cluster=PATIENTS[of]) for of in (LATER, ~LATER)]
        assert each[0].value - each[1].value == pytest.approx(fit.params[-1], abs=1e-6)
        clusters = [len(np.unique(PATIENTS[of])) for of in (LATER, ~LATER)]
        se = [e.se * sqrt((g - 1) / g) for e, g in zip(each, clusters)]
        r = shared(*parts(lambda of, at=influence: at(TRUTH[of], SCORE[of]))).correlation
        # The slope has at least Wald's variance times the design effect, which here is the larger.
        least = 1.0 if influence is of_slope else 1 - 1e-5
        assert least <= of_both(*se, r) / variance(fit) < (1.02 if least == 1 else 1 + 1e-5)


@pytest.mark.parametrize("name", ["auc", "oe_ratio", "ppv", "mcc", "net_benefit", "standardized_net_benefit"])
def test_correlation_is_that_of_patients_drawn_anew(name: str) -> None:
    """Patients of both periods drawn anew together, 2,000 times: the correlation of the two values."""

    def value(truth: Any, score: Any) -> float:
        if name == "auc":
            order = np.argsort(np.argsort(score)) + 1
            n1 = truth.sum()
            return float((order[truth].sum() - n1 * (n1 + 1) / 2) / (n1 * (len(truth) - n1)))
        if name == "oe_ratio":
            return log(truth.sum() / score.sum())
        d = score > 0.5
        tp, fn, fp, tn = (float((a & b).sum()) for a in (truth, ~truth) for b in (d, ~d))
        if name == "ppv":
            return tp / (tp + fp)
        if name == "mcc":
            return (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        benefit = (tp - fp) / len(truth)
        return benefit if name == "net_benefit" else benefit / truth.mean()

    def influence(of: Any) -> Any:
        truth, score = TRUTH[of], SCORE[of]
        if name == "auc":
            return of_area(truth, score)
        if name == "oe_ratio":
            return of_oe_ratio(truth, score)
        if name in ("ppv", "mcc"):
            return of_cells(name, truth, score > 0.5)
        of = of_net_benefit if name == "net_benefit" else of_standardized_net_benefit
        return of(truth, score, 0.5)

    draw = np.random.default_rng(5)
    rows = [np.flatnonzero(p == PATIENTS) for p in range(100)]
    found = []
    for _ in range(2000):
        some = np.concatenate([rows[p] for p in draw.integers(0, 100, 100)])
        found.append([value(TRUTH[own], SCORE[own]) for own in (some[LATER[some]], some[~LATER[some]])])
    expected = float(np.corrcoef(np.array(found).T)[0, 1])
    assert shared(*parts(influence)).correlation == pytest.approx(expected, abs=0.06)


def test_clusters_of_no_common_number_leave_the_sets_independent() -> None:
    right = DECISION == TRUTH
    found = shared(of_share(right[LATER]), PATIENTS[LATER], of_share(right[~LATER]), PATIENTS[~LATER] + 1000)
    assert (found.correlation, found.both) == (0.0, 0)
    none = shared(np.zeros(3), np.arange(3), np.ones(3), np.arange(3))
    assert none.correlation == 0.0


def test_a_pair_seen_twice_has_the_interval_of_its_differences() -> None:
    one, other = (Estimate(v, nan, nan, 50, se=s, df=49) for v, s in ((1.0, 0.3), (0.4, 0.2)))
    found = change.wald_change(one, other, correlation=0.6, clusters=50)
    assert found.se == pytest.approx(sqrt(0.09 + 0.04 - 2 * 0.6 * 0.06))
    assert found.df == 49
    assert change.wald_change(one, other).df > 49
    ratio = change.ratio_change(
        Estimate(2, nan, nan, 5, se=0.3), Estimate(1, nan, nan, 5, se=0.2), correlation=0.6
    )
    assert (ratio.se, ratio.df) == (pytest.approx(found.se), pytest.approx(nan, nan_ok=True))
    same = change.wald_change(one, one, correlation=1.0, clusters=50)
    assert np.isnan(same.low)
    assert same.note == notes.NO_INTERVAL


def test_mover_of_pairs_is_that_of_zou_and_donner() -> None:
    # Zou and Donner (2008), Stat. Med. 27, 1693-1702, by hand.
    low, high = (0.2, 0.05), (0.3, 0.1)
    one = Estimate(0.5, 0.5 - low[0], 0.5 + high[0], 40)
    other = Estimate(0.4, 0.4 - low[1], 0.4 + high[1], 40)
    found = change.mover_change(one, other, correlation=0.5)
    assert found.low == pytest.approx(0.1 - sqrt(0.2**2 + 0.1**2 - 0.5 * 2 * 0.2 * 0.1))
    assert found.high == pytest.approx(0.1 + sqrt(0.3**2 + 0.05**2 - 0.5 * 2 * 0.3 * 0.05))


def test_standardised_change_of_one_stratum_is_the_regression() -> None:
    right = DECISION == TRUTH
    strata = [np.zeros(n, np.int64) for n in (int(LATER.sum()), int((~LATER).sum()))]
    found = clustered_standardised_change(
        right[LATER], strata[0], PATIENTS[LATER], right[~LATER], strata[1], PATIENTS[~LATER]
    )
    values = parts(lambda of: of_share(right[of]))
    g, h = (len(np.unique(PATIENTS[of])) for of in (LATER, ~LATER))
    one, other = plain(*values[:2]) * sqrt(g / (g - 1)), plain(*values[2:]) * sqrt(h / (h - 1))
    assert found.se**2 == pytest.approx(of_both(one, other, shared(*values).correlation))
    assert notes.SHARED in found.note
    apart = clustered_standardised_change(
        right[LATER], strata[0], PATIENTS[LATER], right[~LATER], strata[1], PATIENTS[~LATER] + 1000
    )
    assert apart.se > found.se
    assert not apart.note


def test_the_interval_of_a_change_covers_with_patients_in_both_sets() -> None:
    """60 patients with one case in each period, effects of SD 1.5: 400 studies of no change."""
    draw, covered, wide = np.random.default_rng(3), 0, 0
    for _ in range(400):
        effect = draw.normal(0, 1.5, 60)
        right = [draw.random(60) < expit(1 + effect) for _ in range(2)]
        cells = [cluster_cells(np.ones(60, bool), r, np.arange(60)) for r in right]
        one, other = (clustered("sensitivity", c) for c in cells)
        r = shared(of_share(right[0]), np.arange(60), of_share(right[1]), np.arange(60)).correlation
        found = change.mover_change(one, other, correlation=r)
        covered += found.low <= 0 <= found.high
        alone = change.mover_change(one, other)
        wide += alone.high - alone.low > found.high - found.low
    assert 0.92 <= covered / 400 <= 0.98
    assert wide > 350


def test_area_of_clusters_of_one_case_is_that_of_delong() -> None:
    alone = clustered_auc(TRUTH, SCORE, np.arange(540))
    assert plain(of_area(TRUTH, SCORE), np.arange(540)) == pytest.approx(alone.se, rel=0.02)
