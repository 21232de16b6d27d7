"""Cases in clusters: by hand, against statsmodels, copies that add nothing, one case per cluster."""

from math import isnan, nan, sqrt

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from trustreport.measures.cluster import ONE_CLUSTER, ONE_OF_A_CLASS, clustered_variance
from trustreport.measures.confusion.clustered import all_cells, cluster_cells
from trustreport.measures.h_accuracy.measure import h_accuracy, two_class_scores
from trustreport.measures.means import case_mean, case_ratio
from trustreport.measures.net_benefit import (
    decision_curve,
    net_benefit,
    net_benefit_difference,
    net_benefit_mover,
)
from trustreport.measures.roc import notes
from trustreport.measures.roc.auc import delong
from trustreport.measures.roc.clustered import (
    clustered_auc,
    clustered_difference,
    clustered_unpaired_difference,
)
from trustreport.measures.roc.curve import logit_influence
from trustreport.measures.roc.difference import auc_group, paired_difference, unpaired_difference
from trustreport.measures.standardized_net_benefit import standardized_net_benefit
from trustreport.measures.utility.ranking import rank, share_of_ranges
from trustreport.measures.utility.utility_yield import utility_yield, yield_at_prevalence, yield_of_clusters

RNG = np.random.default_rng(12)
N = 90
TRUTH = RNG.random(N) < 0.4
SCORE = np.round(RNG.normal(TRUTH * 1.0, 1), 1)
OTHER = np.round(SCORE + RNG.normal(0, 1, N), 1)
RISK = 1 / (1 + np.exp(-SCORE))
ALONE = np.arange(N)


def twice(values):
    return np.repeat(values, 2)


def test_a_mean_has_the_standard_error_of_cluster_robust_regression():
    # statsmodels 0.15.0, OLS on a constant, cov_type "cluster".
    worth = np.array([1, 0, 0, 1, 1, -0.25, 0, 1, 1, 1, 0, -0.25])
    found = case_mean(worth, 0.95, np.array([1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5]), tested=True)
    assert (found.value, found.se) == pytest.approx((0.45833333, 0.24075048), abs=1e-8)
    assert (found.df, found.details["clusters"]) == (4, 5)


def test_area_by_hand():
    # Positives .9 (cluster a), .4 (b); negatives .5 (a), .1 (b). X = 1, 1/2; Y = 1/2, 1; A = 3/4.
    # S10 = 2/(1 2) (1/16 + 1/16) = 1/8 = S01; S11 = 2/1 ((1/4)(-1/4) + (-1/4)(1/4)) = -1/4.
    # V = 1/16 + 1/16 + 2 (-1/4) / 4 = 0.
    truth, score = np.array([True, True, False, False]), np.array([0.9, 0.4, 0.5, 0.1])
    found = clustered_auc(truth, score, np.array([1, 2, 1, 2]))
    assert (found.value, found.note) == (0.75, notes.ALL_PAIRS_ALIKE)
    # Each pair the other way round: S11 = +1/4, V = 1/4.
    found = clustered_auc(truth, score, np.array([1, 2, 2, 1]))
    assert found.se**2 == pytest.approx(0.25)
    assert found.df == 1


def test_difference_of_two_sets_by_hand():
    # Both sets hold the pairs of `test_area_by_hand`, in other clusters. With each case on its own
    # S10 = S01 = 2/(1 2) (1/16 + 1/16) = 1/8, so V = S10 / 2 + S01 / 2 = 1/8; with the clusters 1, 2, 2, 1
    # V = 1/4. The sum is 3/8; df = (3/8)^2 / (1/64 + 1/16) = 9/5.
    truth, score = np.array([True, True, False, False]), np.array([0.9, 0.4, 0.5, 0.1])
    found = clustered_unpaired_difference(
        truth, score, np.array([1, 2, 2, 1]), truth, score, np.array([1, 2, 3, 4])
    )
    assert found.value == 0
    assert found.se**2 == pytest.approx(3 / 8)
    assert found.df == pytest.approx(9 / 5)
    assert found.p == pytest.approx(1)


def test_difference_of_two_sets_is_the_plain_one_where_each_cluster_is_one_case():
    half = N // 2
    sets = (TRUTH[:half], SCORE[:half]), (TRUTH[half:], OTHER[half:])
    plain = unpaired_difference(*sets[0], *sets[1])
    found = clustered_unpaired_difference(*sets[0], ALONE[:half], *sets[1], ALONE[half:])
    assert (found.value, found.se, found.n) == pytest.approx((plain.value, plain.se, plain.n))
    assert found.df < plain.df  # of the rarer class, not of all cases


def test_difference_of_two_sets_needs_both_classes_in_two_clusters_of_each():
    truth, score, alone = TRUTH[:20], SCORE[:20], ALONE[:20]
    one = clustered_unpaired_difference(truth, score, alone, truth, score, np.zeros(20, int))
    assert (one.value, one.note) == (0, ONE_CLUSTER)
    assert isnan(one.low)
    none = clustered_unpaired_difference(truth, score, alone, ~np.zeros(20, bool), score, alone)
    assert isnan(none.value)
    assert none.note == notes.NO_NEGATIVE


def test_one_case_per_cluster_is_the_independent_interval():
    assert clustered_auc(TRUTH, SCORE, ALONE).se == pytest.approx(delong(TRUTH, SCORE).se)
    pair = clustered_difference(TRUTH, SCORE, OTHER, ALONE)
    assert pair.se == pytest.approx(paired_difference(TRUTH, SCORE, OTHER).se)
    ap, alone = logit_influence(TRUTH, SCORE, cluster=ALONE), logit_influence(TRUTH, SCORE)
    # With few positives the variance is at least that of a share of them.
    least = sqrt(ap.value * (1 - ap.value) / TRUTH.sum())
    assert ap.se == pytest.approx(max(alone.se, least))
    factor = np.sqrt(N / (N - 1))  # variance with divisor n against n - 1
    for measure in (net_benefit, standardized_net_benefit):
        alone = measure(TRUTH, RISK, 0.3)
        assert measure(TRUTH, RISK, 0.3, cluster=ALONE).se == pytest.approx(factor * alone.se)


def test_copies_of_a_case_within_its_cluster_add_nothing():
    truth, score, other, cluster = twice(TRUTH), twice(SCORE), twice(OTHER), twice(ALONE)
    assert clustered_auc(truth, score, cluster).se == pytest.approx(delong(TRUTH, SCORE).se)
    assert clustered_auc(truth, score, cluster).details["design_effect"] == pytest.approx(2, rel=0.05)
    pair = clustered_difference(truth, score, other, cluster)
    assert pair.se == pytest.approx(paired_difference(TRUTH, SCORE, OTHER).se)
    precision = logit_influence(truth, score, cluster=cluster)
    alone, n1 = logit_influence(TRUTH, SCORE), TRUTH.sum()
    # Of few patients with the condition the variance is at least that of a share of them.
    least = sqrt(alone.value * (1 - alone.value) / n1)
    assert precision.se == pytest.approx(max(alone.se, least), rel=0.01)
    nb = net_benefit(truth, twice(RISK), 0.3, cluster=cluster)
    assert nb.se == pytest.approx(net_benefit(TRUTH, RISK, 0.3, cluster=ALONE).se)
    gap = net_benefit_difference(truth, twice(RISK), twice(RISK / 2), 0.3, cluster=cluster)
    assert gap.se == pytest.approx(net_benefit_difference(TRUTH, RISK, RISK / 2, 0.3, cluster=ALONE).se)


def test_the_curve_has_the_limits_of_its_points():
    cluster = ALONE // 3
    curve = decision_curve(TRUTH, RISK, [0.2, 0.4], cluster=cluster)
    for i, t in enumerate((0.2, 0.4)):
        one = net_benefit_mover(TRUTH, RISK, t, cluster=cluster)
        assert (curve.value[i], curve.high[i]) == pytest.approx((one.value, one.high))


@given(arrays(bool, 12), arrays(bool, 12), arrays(np.int64, 12, elements=st.integers(0, 4)))
def test_yield_of_clusters_is_the_mean_over_cases(truth, decision, cluster):
    utility = np.array([[15.0, -335], [-35, 165]])
    found = yield_of_clusters(cluster_cells(truth, decision, cluster), utility)
    worth = utility[decision.astype(int), truth.astype(int)]
    direct = case_mean(worth, 0.95, cluster)
    assert found.value == pytest.approx(utility_yield(_table(truth, decision), utility).value)
    assert found.value == pytest.approx(direct.value)
    if isnan(direct.low):
        assert found.note == ONE_CLUSTER
    elif isnan(found.low):
        assert found.note == ONE_OF_A_CLASS
    else:
        assert found.se == pytest.approx(direct.se or nan, abs=1e-9, nan_ok=True)
        assert utility.min() - 1e-9 <= found.low <= found.value <= found.high <= utility.max() + 1e-9
    if truth.any() and not truth.all():
        at = yield_of_clusters(cluster_cells(truth, decision, cluster), utility, 0.2)
        assert at.value == pytest.approx(
            yield_at_prevalence(_table(truth, decision), utility, [0.8, 0.2]).value
        )


def _table(truth, decision):
    return np.bincount(2 * decision + truth, minlength=4).reshape(2, 2)


def test_clusters_widen_the_interval_of_alike_cases():
    patient = np.repeat(np.arange(40), 5)
    rng = np.random.default_rng(5)
    truth = (rng.random(40) < 0.5)[patient]
    score = 1 / (1 + np.exp(-(1.2 * (2 * truth - 1) + rng.normal(0, 1.2, 40)[patient])))
    wide = h_accuracy(truth.astype(int), two_class_scores(score), tau=0.8, cluster=patient, rng=rng)
    narrow = h_accuracy(truth.astype(int), two_class_scores(score), tau=0.8, rng=rng)
    assert wide.value == narrow.value
    assert wide.method == "bootstrap_clusters"
    assert 1.5 < (wide.high - wide.low) / (narrow.high - narrow.low) < 3
    part = auc_group(truth, score, (0, 0.5), rng=rng, cluster=patient, resamples=300)
    alone = auc_group(truth, score, (0, 0.5), rng=rng, resamples=300)
    assert part.value == alone.value
    assert 1.4 < part.se / alone.se < 3.5
    assert clustered_auc(truth, score, patient).details["design_effect"] > 2


def test_interval_of_the_area_holds_it_as_often_as_it_says():
    rng, held = np.random.default_rng(8), 0
    true = 0.76  # by the model below: two normal classes 1 apart in units of sd 1 -> Phi(1 / sqrt(2))
    for _ in range(300):
        patient = np.repeat(np.arange(60), 3)
        truth = rng.random(180) < 0.5
        score = truth + (rng.normal(0, 0.8, 60)[patient] + rng.normal(0, 0.6, 180))
        found = clustered_auc(truth, score, patient)
        held += found.low <= true <= found.high
    assert 0.91 <= held / 300 <= 0.985


@settings(max_examples=30)
@given(arrays(np.int64, 10, elements=st.integers(0, 3)), st.permutations(range(10)))
def test_order_and_names_of_clusters_do_not_matter(cluster, order):
    value = np.arange(10.0) % 3
    influence = (value - value.mean()) / 10
    one = clustered_variance(influence, cluster)
    other = clustered_variance(influence[order], 7 * cluster[order] - 3)
    assert one[1] == other[1]
    assert one[0] == pytest.approx(other[0], nan_ok=True)


def test_one_cluster_has_no_interval():
    cluster = np.zeros(N, int)
    for found in (
        clustered_auc(TRUTH, SCORE, cluster),
        net_benefit(TRUTH, RISK, 0.3, cluster=cluster),
        logit_influence(TRUTH, SCORE, cluster=cluster),
        case_ratio(RISK, np.ones(N), cluster=cluster),
    ):
        assert isnan(found.low)
        assert found.note == ONE_CLUSTER
        assert not isnan(found.value)


def test_one_class_and_wrong_shapes():
    assert clustered_auc(np.ones(3, bool), np.arange(3.0), np.arange(3)).note == notes.NO_NEGATIVE
    none = clustered_difference(np.zeros(3, bool), SCORE[:3], OTHER[:3], np.arange(3))
    assert none.note == notes.NO_POSITIVE
    with pytest.raises(ValueError, match="one entry per case"):
        clustered_auc(TRUTH, SCORE, ALONE[:5])
    with pytest.raises(ValueError, match="one entry per case"):
        case_mean(SCORE, 0.95, ALONE[:5])


# The story of Dyrland et al., prices of the cheaper device anywhere between those of eqs 4 and 5: B is better
# where the sum of two uniform variables on [0, 30] exceeds 43.75, so A stays first with 1 - 16.25^2 / 1800.
def test_share_of_a_range_of_utilities_by_geometry():
    cells = np.array([[[27, 15], [23, 35]], [[43, 18], [7, 32]]])
    low, high = [[15, -335], [-65, 165]], [[45, -335], [-35, 165]]
    order, best, first = share_of_ranges(cells, [(low, high)], rng=np.random.default_rng(3), draws=40_000)
    assert best == pytest.approx(1 - 16.25**2 / 1800, abs=0.01)
    assert order == best
    assert first.sum() == pytest.approx(1)
    sure = share_of_ranges(cells, [(low, low), (high, high)], [0.25, 0.75], rng=np.random.default_rng(3))
    assert sure[1] in (0.25, 0.75, 1.0)
    with pytest.raises(ValueError, match="least utility"):
        share_of_ranges(cells, [(high, low)], rng=np.random.default_rng(3))


def test_own_utilities_of_cases_rank_like_a_shared_matrix_when_they_are_alike():
    truth = RNG.integers(0, 2, 50)
    decisions = np.stack([truth, RNG.integers(0, 2, 50)])
    matrix = np.array([[1.0, -4], [0, 5]])
    one = rank(truth, decisions, [matrix], rng=np.random.default_rng(1))
    own = rank(truth, decisions, [np.broadcast_to(matrix, (50, 2, 2))], rng=np.random.default_rng(1))
    assert one.order == own.order
    assert one.yields.tolist() == own.yields.tolist()
    in_clusters = rank(truth, decisions, [matrix], rng=np.random.default_rng(1), cluster=np.arange(50) // 5)
    assert in_clusters.yields.tolist() == one.yields.tolist()
    assert in_clusters.first.sum() == pytest.approx(1)


@given(arrays(bool, (2, 9)))
def test_the_cells_of_all_cases_are_those_of_one_cluster(both):
    alone = cluster_cells(*both, np.zeros(9, np.int64))
    np.testing.assert_array_equal(all_cells(*both), alone[0])
