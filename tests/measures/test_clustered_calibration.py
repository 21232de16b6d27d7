"""Calibration, standardised changes and values of advice of cases in clusters.

References: statsmodels with cluster-robust covariances (computed here).
"""

from math import isnan, log
from typing import Any

import numpy as np
import pytest
from statsmodels.genmod import families
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.regression.linear_model import OLS, WLS

from trustreport.measures.calibration.advice import advice_values
from trustreport.measures.calibration.binned import ece
from trustreport.measures.calibration.binned import gici as gici_of
from trustreport.measures.calibration.bins import equal_width_and_places, sandwich
from trustreport.measures.calibration.logistic import calibration_intercept, calibration_slope
from trustreport.measures.calibration.overall import brier, oe_ratio
from trustreport.measures.cluster import ONE_CLUSTER
from trustreport.measures.confusion.clustered import clustered
from trustreport.measures.estimate import Estimate
from trustreport.measures.means import mean_of_clusters
from trustreport.measures.monitoring.standardisation import clustered_standardised_change, standardised_change
from trustreport.measures.utility.information import voi_of_advice

RNG = np.random.default_rng(8)
N, CLUSTERS = 240, 24
CLUSTER = RNG.permutation(np.arange(N) % CLUSTERS)
SHIFT = RNG.normal(0, 1, CLUSTERS)[CLUSTER]
LINEAR = RNG.normal(-0.4, 1, N) + SHIFT
TRUTH = RNG.random(N) < 1 / (1 + np.exp(-(0.3 + 0.8 * LINEAR + 0.5 * SHIFT)))
SCORE = 1 / (1 + np.exp(-LINEAR))
# statsmodels divides by neither G - 1 nor n - k without its correction; the sandwich here has G / (G - 1).
FACTOR = CLUSTERS / (CLUSTERS - 1)


def gici(*given: Any, **chosen: Any) -> Estimate:
    return gici_of(*given, **chosen).overall


def robust(model: GLM | OLS) -> tuple[np.ndarray, np.ndarray]:
    """Estimates and their cluster-robust standard errors."""
    of = {"groups": CLUSTER, "use_correction": False}
    fit = model.fit(cov_type="cluster", cov_kwds=of)
    return np.asarray(fit.params), np.sqrt(np.diag(fit.cov_params()) * FACTOR)


def test_slope_and_intercept_have_the_sandwich_of_statsmodels() -> None:
    both = GLM(TRUTH.astype(float), np.column_stack([np.ones(N), LINEAR]), family=families.Binomial())
    params, errors = robust(both)
    found = calibration_slope(TRUTH, SCORE, cluster=CLUSTER)
    # Not below the variance by the curvature, which is larger here, times the design effect.
    by_curvature, of_cases = both.fit().bse[1], both.fit(cov_type="HC0").bse[1]
    assert by_curvature > of_cases
    error = errors[1] * by_curvature / of_cases
    assert (found.value, found.se) == pytest.approx((params[1], error), rel=1e-5)
    with_events = len(set(CLUSTER[TRUTH]))
    assert (found.method, found.df) == ("cluster_sandwich", with_events - 1)
    alone = GLM(TRUTH.astype(float), np.ones(N), family=families.Binomial(), offset=LINEAR)
    params, errors = robust(alone)
    found = calibration_intercept(TRUTH, SCORE, cluster=CLUSTER)
    assert (found.value, found.se) == pytest.approx((params[0], errors[0]), rel=1e-5)


def test_the_brier_score_is_a_mean_in_clusters() -> None:
    params, errors = robust(OLS((SCORE - TRUTH) ** 2, np.ones(N)))
    found = brier(TRUTH, SCORE, cluster=CLUSTER)
    assert (found.value, found.se) == pytest.approx((params[0], errors[0]), rel=1e-9)


def test_observed_over_expected_is_a_ratio_of_means_in_clusters() -> None:
    # The residuals of the ratio through the origin: regression of y on s with weights 1 / s has slope O/E.
    params, errors = robust(WLS(TRUTH.astype(float), SCORE, weights=1 / SCORE))
    found = oe_ratio(TRUTH, SCORE, cluster=CLUSTER)
    assert found.value == pytest.approx(params[0], rel=1e-9)
    assert found.se == pytest.approx(errors[0] / params[0], rel=1e-9)
    assert log(found.high / found.value) == pytest.approx(log(found.value / found.low))


def test_the_error_of_bins_has_the_variance_of_a_mean_in_clusters() -> None:
    # With the signs of the gaps known the error is the mean of sign x (truth - score).
    bins, place = equal_width_and_places(TRUTH, SCORE, 5)
    sign = np.sign(bins.events - bins.total)[place]
    params, errors = robust(OLS(sign * (TRUTH - SCORE), np.ones(N)))
    found, alone = ece(TRUTH, SCORE, bins=5, cluster=CLUSTER), ece(TRUTH, SCORE, bins=5)
    assert found.value == pytest.approx(params[0], rel=1e-6)
    # A little more, for bins in which all or none were events vary too.
    assert errors[0] <= found.se < 1.03 * errors[0]
    with_events = len(set(CLUSTER[TRUTH]))
    assert (found.method, found.df) == ("gap_bounds", with_events - 1)
    assert found.se > alone.se
    assert found.details["bias_bound"] > alone.details["bias_bound"]


@pytest.mark.parametrize("measure", [brier, calibration_slope, calibration_intercept, oe_ratio, ece, gici])
def test_one_cluster_has_a_value_without_an_interval(measure) -> None:
    found = measure(TRUTH, SCORE, cluster=np.zeros(N, np.int64))
    assert found.value == measure(TRUTH, SCORE).value
    assert isnan(found.low)
    assert isnan(found.high)
    assert ONE_CLUSTER in found.note


def test_a_cluster_doubled_within_itself_adds_no_precision() -> None:
    doubled = [np.repeat(column, 2) for column in (TRUTH, SCORE, CLUSTER)]
    for measure in (brier, calibration_slope, calibration_intercept, oe_ratio):
        once, twice = measure(TRUTH, SCORE, cluster=CLUSTER), measure(*doubled[:2], cluster=doubled[2])
        assert (twice.low, twice.high) == pytest.approx((once.low, once.high), rel=1e-6)


def test_the_slope_of_one_case_a_cluster_has_no_less_than_walds_variance() -> None:
    alone = calibration_slope(TRUTH, SCORE)
    own, pairs = np.arange(N), np.arange(2 * N) // 2
    for found in (
        calibration_slope(TRUTH, SCORE, cluster=own),
        calibration_slope(np.repeat(TRUTH, 2), np.repeat(SCORE, 2), cluster=pairs),
    ):
        assert found.se == pytest.approx(alone.se * (N / (N - 1)) ** 0.5)
        assert found.high - found.low > alone.high - alone.low


def test_nothing_between_clusters_is_no_precision() -> None:
    truth = np.array([True, False, True, False])
    none = sandwich(0.5, np.zeros(4), truth, np.array([0, 0, 1, 1]), independent=0.1)
    assert isnan(none.low)
    found = sandwich(0.5, np.array([0.1, -0.1, 0.2, -0.2]), truth, np.array([0, 0, 1, 1]))
    assert isnan(found.low)
    assert found.note


# ---------------------------------------------------------------- changes at the baseline's mix


def two_sets() -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(2)
    made = []
    for n, share in ((150, 0.6), (200, 0.3)):
        cluster = rng.integers(0, 18, n) + 100 * len(made)  # other clusters in either set
        stratum = (rng.random(n) < share).astype(np.int64)
        shift = rng.normal(0, 0.2, 18)[cluster % 100]
        made.append((rng.random(n) < 0.75 - 0.15 * stratum + shift, stratum, cluster))
    return made[0], made[1]


def test_the_standardised_change_has_the_sandwich_of_statsmodels() -> None:
    now, then = two_sets()
    found = clustered_standardised_change(*now, *then)
    weight = np.bincount(then[1]) / len(then[1])
    value, variance = 0.0, 0.0
    for sign, (event, stratum, cluster) in ((1, now), (-1, then)):
        cells = np.eye(2)[stratum]  # a constant for each stratum: the shares
        of = {"groups": cluster, "use_correction": False}
        fit = OLS(event.astype(float), cells).fit(cov_type="cluster", cov_kwds=of)
        groups = len(np.unique(cluster))
        value += sign * float(weight @ fit.params)
        variance += float(weight @ fit.cov_params() @ weight) * groups / (groups - 1)
    assert found.value == pytest.approx(value, rel=1e-9)
    assert found.se == pytest.approx(variance**0.5, rel=1e-9)
    assert found.df == min(len(np.unique(s[2])) for s in (now, then)) - 1
    counted = [np.bincount(s[1], weights=w, minlength=2) for s in (now, then) for w in (s[0], None)]
    assert found.value == standardised_change(*counted).value


def test_a_standardised_change_of_one_cluster_has_no_interval() -> None:
    now, then = two_sets()
    found = clustered_standardised_change(now[0], now[1], np.zeros_like(now[2]), *then)
    assert found.value == clustered_standardised_change(*now, *then).value
    assert isnan(found.low)
    assert isnan(found.p)
    assert ONE_CLUSTER in found.note


# ---------------------------------------------------------------- advice


def test_bins_of_advice_have_the_interval_of_a_share_in_clusters() -> None:
    right, confidence = (SCORE >= 0.5) == TRUTH, np.maximum(SCORE, 1 - SCORE)
    for one in advice_values(TRUTH, SCORE, bins=5, cluster=CLUSTER):
        inside = (confidence >= one.low) & (confidence < one.high)
        cells = np.zeros((CLUSTERS, 4), int)
        for who in range(CLUSTERS):
            of = inside & (who == CLUSTER)
            cells[who, 0], cells[who, 2] = (right & of).sum(), (~right & of).sum()
        share = clustered("sensitivity", cells[cells.sum(axis=1) > 0])
        assert (one.share_right.low, one.share_right.high) == pytest.approx((share.low, share.high))
        assert one.share_right.method == "cluster_wilson"


def test_worth_of_acting_on_advice_is_a_mean_of_clusters() -> None:
    matrix = np.array([[1.0, 0.0], [0.4, 1.0]])
    advice = (SCORE >= 0.5).astype(int)
    clusters = np.zeros((CLUSTERS, 2, 2))
    np.add.at(clusters, (CLUSTER, advice, TRUTH.astype(int)), 1)
    rule = int(np.argmax(matrix @ clusters.sum(axis=(0, 1))))
    gain = matrix[advice, TRUTH.astype(int)] - matrix[rule, TRUTH.astype(int)]
    params, errors = robust(OLS(gain, np.ones(N)))
    found = voi_of_advice(clusters.sum(axis=0), matrix, clusters=clusters)
    assert (found.value, found.se) == pytest.approx((params[0], errors[0]), rel=1e-9)
    assert (found.method, found.details["decision"]) == ("yield_mover", rule)


def test_a_mean_of_one_cluster_has_no_interval() -> None:
    found = mean_of_clusters(0.5, np.array([0.0]), 12, 0.95)
    assert (found.value, isnan(found.low), found.note) == (0.5, True, ONE_CLUSTER)
