"""Differences between groups of cases: values of R and statsmodels, hand counts, edges."""

from math import isnan

import numpy as np
import pytest

from trustreport.measures.subgroup_difference import (
    EMPTY_GROUP,
    FEWER_THAN_TWO,
    areas_alike,
    clustered_auc_difference,
    clustered_share_difference,
    share_difference,
)

# tests/reference/subgroup_difference.R, R 4.2.2 and metafor 3.8.1.


@pytest.mark.parametrize(
    "x1, n1, x2, n2, p",
    [
        (56, 70, 48, 80, 0.00825828792938),
        (9, 10, 3, 10, 0.00760164147522),
        (29, 40, 61, 73, 0.164412133572),
        (2, 31, 30, 211, 0.234241811887),
    ],
)
def test_p_of_r(x1: int, n1: int, x2: int, n2: int, p: float) -> None:
    assert share_difference(x1, n1, x2, n2).p == pytest.approx(p, rel=1e-9)


def test_the_interval_excludes_zero_where_the_test_rejects() -> None:
    for x1, n1, x2, n2 in ((56, 70, 48, 80), (29, 40, 61, 73), (5, 10, 5, 11), (0, 12, 6, 14)):
        level = 1 - share_difference(x1, n1, x2, n2).p
        at_edge = share_difference(x1, n1, x2, n2, level=level)
        assert min(abs(at_edge.low), abs(at_edge.high)) == pytest.approx(0, abs=1e-6)


def test_all_alike_and_no_case() -> None:
    assert share_difference(7, 7, 9, 9).p == 1.0
    empty = share_difference(0, 0, 3, 9)
    assert isnan(empty.value)
    assert empty.note == EMPTY_GROUP


EVENT = np.array([1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1], bool)
GROUP = np.array([1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1], bool)
PATIENT = np.array([1, 1, 2, 3, 4, 4, 5, 6, 6, 7, 7, 8])


def test_clustered_shares_of_r() -> None:
    e = clustered_share_difference(EVENT, GROUP, ~GROUP, PATIENT)
    assert (e.value, e.se) == pytest.approx((0.5, 0.258881054449))
    assert (e.n, e.df) == (12, 3)  # four patients hold a case of the second group


def test_clustered_shares_of_statsmodels() -> None:
    import statsmodels.regression.linear_model as linear

    design = np.column_stack([np.ones(12), GROUP])
    groups = {"groups": PATIENT, "use_correction": False}
    fit = linear.OLS(EVENT.astype(float), design).fit(cov_type="cluster", cov_kwds=groups)
    e = clustered_share_difference(EVENT, GROUP, ~GROUP, PATIENT)
    assert e.se**2 == pytest.approx(fit.bse[1] ** 2 * 8 / 7)


def test_clustered_areas_of_r() -> None:
    truth = np.array([0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1], bool)
    score = np.array([1, 3, 2, 2, 4, 5, 2, 1, 3, 3, 6, 2, 5, 4])
    first = np.arange(14) < 7
    patient = np.repeat(np.arange(7), 2)
    e = clustered_auc_difference(truth, score, first, ~first, patient)
    assert (e.value, e.se) == pytest.approx((-0.125, 0.259512318626))
    without = clustered_auc_difference(truth, score, first & truth, ~first, patient)
    assert isnan(without.value)
    assert without.note == EMPTY_GROUP


def test_areas_alike_of_metafor() -> None:
    groups = [
        ([5, 4, 4, 3, 6, 2], [1, 2, 3, 1, 4]),
        ([3, 2, 5, 1, 4], [2, 3, 1, 4, 2, 3]),
        ([1, 2, 6, 3], [4, 2, 3, 1, 2]),
    ]
    truth = np.concatenate([np.repeat([True, False], [len(a), len(b)]) for a, b in groups])
    score = np.concatenate([np.array(a + b, float) for a, b in groups])
    group = np.repeat(np.arange(3), [len(a) + len(b) for a, b in groups])
    test = areas_alike(truth, score, group)
    assert (test.details["statistic"], test.p) == pytest.approx((1.79562380958, 0.407460246854))
    assert test.value == pytest.approx(0.833333333 - 0.55)
    alone = areas_alike(truth, score, np.where(group == 0, 0, -1))
    assert (isnan(alone.value), alone.note) == (True, FEWER_THAN_TWO)
