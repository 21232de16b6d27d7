"""Differences between groups of cases: values of R and statsmodels, hand counts, edges."""

from math import isnan

import numpy as np
import pytest
from scipy.stats import norm, t

from trustreport.measures.confusion.notes import CLUSTERS_AS_CASES
from trustreport.measures.subgroups import (
    EMPTY_GROUP,
    FEWER_THAN_TWO,
    areas_alike,
    clustered_auc_difference,
    clustered_share_difference,
    share_difference,
)
from trustreport.measures.two_arm.difference import miettinen_nurminen

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


def test_clustered_limits_are_those_of_the_score_test_at_a_wider_quantile() -> None:
    import statsmodels.regression.linear_model as linear

    rng = np.random.default_rng(4)
    patient, group = np.arange(120) // 3, rng.random(120) < 0.4
    for alike in (0.0, 4.0):
        event = rng.normal(0, 1, 120) + alike * rng.normal(0, 1, 40)[patient] < 0.7
        e = clustered_share_difference(event, group, ~group, patient)
        wide = t.ppf(0.975, e.df) * e.details["design_effect"] ** 0.5
        counts = [int(of.sum()) for of in (event & group, group, event & ~group, ~group)]
        alone = miettinen_nurminen(*counts, level=1 - 2 * norm.sf(wide))
        assert (e.value, e.low, e.high) == pytest.approx((alone.value, alone.low, alone.high))
        model = linear.OLS(event.astype(float), np.column_stack([np.ones(120), group]))
        of = {"groups": patient, "use_correction": False}
        errors = model.fit(cov_type="cluster", cov_kwds=of).bse[1], model.fit(cov_type="HC0").bse[1]
        effect = (errors[0] / errors[1]) ** 2 * (40 / 39) / (120 / 119)
        assert effect > 1
        assert e.details["design_effect"] == pytest.approx(effect)


def test_one_case_a_cluster_has_the_limits_of_independent_cases_and_copies_keep_them() -> None:
    rng = np.random.default_rng(4)
    event, group = rng.random(20_000) < 0.8, np.arange(20_000) % 2 == 0
    counts = [int(of.sum()) for of in (event & group, group, event & ~group, ~group)]
    alone, e = share_difference(*counts), clustered_share_difference(event, group, ~group, np.arange(20_000))
    assert (e.low, e.high, e.p) == pytest.approx((alone.low, alone.high, alone.p), rel=1e-3)
    for n in (12, 30):
        own = (event[:n], group[:n], ~group[:n], np.arange(n))
        once, thrice = (clustered_share_difference(*(np.repeat(of, k) for of in own)) for k in (1, 3))
        assert (once.low, once.high, once.p) == pytest.approx((thrice.low, thrice.high, thrice.p))


def test_groups_in_which_nothing_varies_count_a_cluster_as_one_case() -> None:
    group = np.arange(40) % 2 == 0
    e = clustered_share_difference(np.ones(40, bool), group, ~group, np.arange(40) // 4)
    assert (e.value, e.details["design_effect"], e.note, e.p) == (0.0, 4.0, CLUSTERS_AS_CASES, 1.0)
    assert e.low == pytest.approx(-e.high)
    assert isnan(clustered_share_difference(group, group, ~group, np.zeros(40, np.int64)).low)


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
