"""Clustered cases: independent cases as a special case, the ratio estimator by hand, properties, edges."""

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import beta, norm
from scipy.stats import t as student

from trustreport.measures.confusion import notes
from trustreport.measures.confusion.clustered import cluster_cells, clustered, korn_graubard
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES

CELLS = np.array([[3, 0, 1, 4], [0, 1, 2, 5], [2, 0, 0, 2], [1, 1, 0, 6], [4, 0, 1, 3]])


def test_ratio_estimator_by_hand():
    est = clustered("sensitivity", CELLS)
    tp, n = CELLS[:, 0], CELLS[:, 0] + CELLS[:, 2]
    value = tp.sum() / n.sum()
    residual = tp - value * n
    assert est.value == value
    assert est.se == pytest.approx(sqrt(5 / 4 * (residual**2).sum()) / n.sum(), rel=1e-12)
    assert est.details["design_effect"] == pytest.approx(est.se**2 / (value * (1 - value) / n.sum()))
    assert (est.n, est.df, est.details["clusters"]) == (14, 4, 5)


def test_gradient_against_differences():
    for name in set(MEASURES) - {"prevalence"}:
        for prevalence in (None, 0.1):
            base = CELLS.astype(float)

            def pooled(weights, name=name, prevalence=prevalence, base=base):
                tp, fp, fn, tn = weights @ base
                if prevalence is not None:
                    p, q = prevalence / (tp + fn), (1 - prevalence) / (fp + tn)
                    tp, fp, fn, tn = tp * p, fp * q, fn * p, tn * q
                return MEASURES[name].formula(tp, fp, fn, tn)

            steps = np.eye(5) * 1e-6
            influence = [(pooled(1 + h) - pooled(1 - h)) / 2e-6 for h in steps]
            est = clustered(name, CELLS, prevalence=prevalence)
            assert est.se == pytest.approx(sqrt(5 / 4 * np.square(influence).sum()), rel=1e-5), name


def test_one_case_per_cluster_is_nearly_independent():
    rng = np.random.default_rng(5)
    truth, decision = rng.random((2, 4000)) < 0.4
    cells = cluster_cells(truth, decision, np.arange(4000))
    counts = ConfusionCounts.of_decisions(truth, decision)
    for name in ("sensitivity", "specificity", "accuracy", "ppv", "npv", "mcc", "f1", "youden_j"):
        one, other = clustered(name, cells), estimated(MEASURES[name], counts)
        got, wanted = (one.value, one.low, one.high), (other.value, other.low, other.high)
        assert got == pytest.approx(wanted, abs=5e-4), name


def test_exact_limits_are_those_of_the_beta_distribution():
    """By hand: 10 of 14 with a design effect D, worth 14 / D cases lessened by the quantiles of t and z."""
    e = korn_graubard(share := clustered("sensitivity", CELLS))
    worth = 14 / share.details["design_effect"] * (norm.ppf(0.975) / student.ppf(0.975, 4)) ** 2
    x = 10 / 14 * worth
    wanted = beta.ppf([0.025, 0.975], [x, x + 1], [worth - x + 1, worth - x])
    assert [e.low, e.high] == pytest.approx(wanted)
    assert (e.value, e.se, e.method) == (share.value, share.se, "korn_graubard")
    none = korn_graubard(clustered("sensitivity", np.tile([0, 1, 2, 3], (5, 1))))
    worth = 5 * (norm.ppf(0.975) / student.ppf(0.975, 4)) ** 2
    assert (none.low, none.high) == (0.0, pytest.approx(beta.ppf(0.975, 1, worth)))
    one = clustered("sensitivity", CELLS[:1])
    assert korn_graubard(one) is one


def test_limits_of_youden_are_made_of_those_of_both_classes():
    """With no false negative the delta method leaves sensitivity out; each part here by its own function."""
    cells = np.array([[2, 1, 0, 9], [1, 0, 0, 12], [3, 2, 0, 8], [1, 4, 0, 6], [0, 1, 0, 11]])
    e, half = clustered("youden_j", cells), clustered("balanced_accuracy", cells)
    parts = [clustered(name, cells) for name in ("sensitivity", "specificity")]
    assert e.low == pytest.approx(e.value - sqrt(sum((p.value - p.low) ** 2 for p in parts)))
    assert e.high == pytest.approx(e.value + sqrt(sum((p.high - p.value) ** 2 for p in parts)))
    assert (half.low, half.high) == pytest.approx(((e.low + 1) / 2, (e.high + 1) / 2))
    assert e.low < clustered("specificity", cells).low


def test_copies_of_a_case_add_nothing():
    rng = np.random.default_rng(6)
    truth, decision = rng.random((2, 60)) < 0.5
    once = cluster_cells(truth, decision, np.arange(60))
    for name in ("sensitivity", "mcc"):
        one, thrice = clustered(name, once), clustered(name, 3 * once)
        assert (thrice.value, thrice.se) == pytest.approx((one.value, one.se), rel=1e-12)
    n_positives = int(truth.sum())
    assert clustered("sensitivity", 3 * once).n == 3 * n_positives
    assert clustered("sensitivity", 3 * once).details["design_effect"] == pytest.approx(
        3 * n_positives / (n_positives - 1) * (n_positives - 1) / n_positives * 60 / 59, rel=1e-9
    )


@given(arrays(np.int64, (6, 4), elements=st.integers(0, 9)), st.permutations(range(6)))
def test_order_and_names_of_clusters_do_not_matter(cells, order):
    for name in ("accuracy", "ppv", "mcc", "f1", "lr_positive"):
        one, other = clustered(name, cells), clustered(name, cells[list(order)])
        assert (one.value, one.low, one.high) == pytest.approx(
            (other.value, other.low, other.high), rel=1e-9, abs=1e-12, nan_ok=True
        )
        if not isnan(one.low):
            assert one.low <= one.value <= one.high


@given(arrays(bool, (2, 20)), arrays(np.int64, 20, elements=st.integers(-3, 3)))
def test_cells_add_up(both, cluster):
    truth, decision = both
    cells = cluster_cells(truth, decision, cluster)
    assert len(cells) == len(np.unique(cluster))
    assert ConfusionCounts(*map(int, cells.sum(axis=0))) == ConfusionCounts.of_decisions(truth, decision)


@given(arrays(np.int64, (6, 4), elements=st.integers(0, 9)))
def test_swapping_the_classes_swaps_sensitivity_and_specificity(cells):
    assume(cells[:, [1, 3]].sum() and cells[:, [0, 2]].sum())
    one, other = clustered("specificity", cells), clustered("sensitivity", cells[:, [3, 2, 1, 0]])
    assert (one.value, one.low, one.high) == pytest.approx(
        (other.value, other.low, other.high), abs=1e-12, nan_ok=True
    )


def test_edges():
    right = np.array([[2, 0, 0, 1], [1, 0, 0, 3], [4, 0, 0, 2]])
    est = clustered("sensitivity", right)
    assert (est.value, est.high, est.note) == (1.0, 1.0, notes.CLUSTERS_AS_CASES)
    assert est.low < 0.25  # three clusters, not seven cases
    assert clustered("mcc", right).note == notes.AT_THE_EDGE
    assert clustered("lr_positive", right).note == notes.AT_THE_EDGE
    one = clustered("sensitivity", np.array([[3, 0, 1, 4], [0, 1, 0, 5]]))
    assert (one.value, one.note) == (0.75, notes.ONE_CLUSTER)
    assert isnan(one.low)
    assert clustered("sensitivity", np.array([[0, 1, 0, 4], [0, 1, 0, 5]])).note == notes.NO_POSITIVE
    alike = clustered("mcc", np.array([[2, 1, 1, 3], [2, 1, 1, 3]]))
    assert alike.note == notes.NO_SPREAD_BETWEEN_CLUSTERS
    with pytest.raises(ValueError, match="one entry per case"):
        cluster_cells(np.zeros(3, bool), np.zeros(3, bool), np.zeros(2, np.int64))
