"""Numbers that a small fault in a formula would change, found by such faults (benchmarks/mutation.py).

Expected values are counted by hand, made by scipy or statsmodels, or are derivatives taken numerically.
"""

from fractions import Fraction
from itertools import pairwise
from math import exp, inf, isfinite, log, nan, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import norm, t
from statsmodels.discrete.discrete_model import Logit

from trustreport.measures.agreement.bootstrap import _draws
from trustreport.measures.agreement.interval import SCORE
from trustreport.measures.agreement.kappa import percent_agreement
from trustreport.measures.calibration.advice import advice_values
from trustreport.measures.calibration.recalibrated import _shown
from trustreport.measures.confusion.clustered import clustered
from trustreport.measures.confusion.counts import specificity_needed
from trustreport.measures.confusion.several import NO_CASE_OF_A_CLASS, mean_of_classes
from trustreport.measures.estimate import Estimate
from trustreport.measures.h_accuracy.parameters import complexity_from_ratings
from trustreport.measures.label_accuracy import NO_SAMPLING_ERROR, actual_accuracy, nomogram_accuracy
from trustreport.measures.lesions.area import Marked, _variance, lesion_area_difference
from trustreport.measures.lesions.froc import CUSTOMARY
from trustreport.measures.means import case_share
from trustreport.measures.monitoring import notes as monitoring_notes
from trustreport.measures.monitoring.change import mover_change
from trustreport.measures.monitoring.rates import Funnel, event_rate
from trustreport.measures.mrmc.auc import auc_ustatistic
from trustreport.measures.mrmc.each_reader import reader_auc_benefit
from trustreport.measures.mrmc.one_reader import fixed_against_readers
from trustreport.measures.note import Note
from trustreport.measures.proportion import wilson
from trustreport.measures.reliance.odds import adjusted_odds, share_difference, spread_ratio
from trustreport.measures.reported.matrices import _mcc_reaches_exactly
from trustreport.measures.reported.printed import cases, declared, enclose, printed
from trustreport.measures.roc.clustered import clustered_difference
from trustreport.measures.similarity.permutation import upper_tail
from trustreport.measures.sites import pooling as pooling_notes
from trustreport.measures.sites.pooling import pooled
from trustreport.measures.standardized_net_benefit import snb_jackknife
from trustreport.measures.survival.calibration import (
    brier_at_horizon,
    oe_at_horizon,
    scaled_brier_at_horizon,
    slope_at_horizon,
)
from trustreport.measures.survival.horizon import at_horizon
from trustreport.measures.survival.shares import share_at_horizon
from trustreport.measures.utility.information import voi_of_readings
from trustreport.measures.utility.matrices import utility_map
from trustreport.measures.utility.operating import equal_yield_slope
from trustreport.measures.utility.ranking import yield_difference
from trustreport.measures.utility.utility_yield import confusion_matrix
from trustreport.vocabulary import quantities
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.quantity import Quantity

EVENT = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0], bool)
RISK = np.array([0.9, 0.3, 0.6, 0.4, 0.5, 0.2, 0.7, 0.6, 0.8, 0.1, 0.3, 0.2])
N = len(EVENT)
DF = int(EVENT.sum()) - 1  # of the scarcer class


def followed() -> Any:
    """Everybody is followed to the horizon: each case weighs 1, and all is as without time."""
    return at_horizon(np.where(EVENT, 1.0, 5.0), EVENT.astype(np.int64), 3.0)


def mean_and_error(values: NDArray[Any]) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / sqrt(len(values)))


# ---------------------------------------------------------------- survival, nobody censored


def test_brier_score_of_cases_that_were_all_followed() -> None:
    value, se = mean_and_error((EVENT - RISK) ** 2)
    found = brier_at_horizon(followed(), RISK)
    half = t.ppf(0.975, DF) * se / (value * (1 - value))
    limits = expit([logit(value) - half, logit(value) + half])
    assert (found.value, found.se) == pytest.approx((value, se))
    assert (found.low, found.high) == pytest.approx(limits)


def test_scaled_brier_score_of_cases_that_were_all_followed() -> None:
    squared, share = (EVENT - RISK) ** 2, EVENT.mean()
    value, worst = squared.mean(), share * (1 - share)
    _, of_log = mean_and_error(squared / value - (1 - 2 * share) * EVENT / worst)  # delta method by hand
    factor = exp(t.ppf(0.975, DF) * of_log)
    found = scaled_brier_at_horizon(followed(), RISK)
    assert found.value == pytest.approx(1 - value / worst)
    assert (found.low, found.high) == pytest.approx((1 - value / worst * factor, 1 - value / worst / factor))


def test_observed_over_expected_of_cases_that_were_all_followed() -> None:
    value = EVENT.mean() / RISK.mean()
    _, se = mean_and_error(EVENT / EVENT.mean() - RISK / RISK.mean())
    factor = exp(t.ppf(0.975, DF) * se)
    found = oe_at_horizon(followed(), RISK)
    assert (found.value, found.low, found.high) == pytest.approx((value, value / factor, value * factor))
    assert found.p == pytest.approx(2 * t.sf(abs(log(value)) / se, DF))


def test_slope_of_cases_that_were_all_followed() -> None:
    """statsmodels: a logistic model with the sandwich, n / (n - 1) times as large."""
    fit = Logit(EVENT, np.stack([np.ones(N), logit(RISK)], axis=1)).fit(disp=0, cov_type="HC0")
    found = slope_at_horizon(followed(), RISK)
    assert found.value == pytest.approx(fit.params[1], rel=1e-6)
    assert found.se == pytest.approx(fit.bse[1] * sqrt(N / (N - 1)), rel=1e-5)


def test_a_share_of_cases_that_were_all_followed_has_wilson_limits() -> None:
    called = RISK >= 0.5
    share, z = 4 / 5, norm.ppf(0.975)
    size = 5 * (N - 1) / N  # the variance over all cases has the divisor n - 1
    middle, half = share + z * z / (2 * size), z * sqrt(share * (1 - share) / size + z * z / (4 * size**2))
    found = share_at_horizon("sensitivity", followed(), called)
    limits = [(middle + side * half) / (1 + z * z / size) for side in (-1, 1)]
    assert (found.value, found.low, found.high) == pytest.approx((share, *limits))


def test_a_case_may_be_followed_for_no_time() -> None:
    assert len(at_horizon(np.array([0.0, 1, 4]), np.array([0, 1, 0]), 3.0)) == 3


def test_two_events_are_enough_for_an_error() -> None:
    event = np.array([1, 0, 0, 1, 0, 0], bool)
    state = at_horizon(np.where(event, 1.0, 5.0), event.astype(np.int64), 3.0)
    found = brier_at_horizon(state, RISK[:6])
    assert isfinite(found.se)
    assert found.df == 1


# ---------------------------------------------------------------- quantities


def test_what_a_change_is_written_as() -> None:
    assert quantity("sensitivity").change().unit == "difference"
    assert quantity("brier").change().unit == "score"
    assert quantity("lr_positive").change().unit == "ratio"
    assert Quantity("made_up", "ratio", scale="identity").change().unit == "score"


def test_ranges_and_traits() -> None:
    assert (quantity("brier").low, quantity("brier").high) == (0, 1)  # squares of differences of shares
    assert quantity("dominance_direction").no_effect == 0  # as often one way as the other
    again = quantity("repeat_agreement")
    assert (again.counts_decisions, again.by_prevalence) == (True, True)


def test_a_quantity_has_one_row() -> None:
    with pytest.raises(ValueError, match="has a row already"):
        quantities.add(Quantity("sensitivity"))


# ---------------------------------------------------------------- reliance


def test_adjusted_odds_vary_as_their_derivative_says() -> None:
    """Each reading's influence is what its weight adds to the logarithm of the odds, by a small step."""
    outcome = np.array([[1.0, 0, 0, 1, 1, 0, nan, 1, 0, 1]])
    levels = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], np.int8)
    known = np.ones((1, 10), bool)
    found = adjusted_odds(outcome, known, levels, ("1", "2"))

    def log_odds(weight: NDArray[Any]) -> float:
        share = 0.0
        for level in (0, 1):
            of = levels == level
            base = of & ~np.isnan(outcome[0])
            rate = (weight * np.nan_to_num(outcome[0]))[base].sum() / weight[base].sum()
            share += weight[of].sum() / weight.sum() * rate
        return log(share / (1 - share))

    steps = [(log_odds(1 + 1e-6 * one) - log_odds(1 - 1e-6 * one)) / 2e-6 for one in np.eye(10)]
    assert found.influence[0] == pytest.approx(steps, abs=1e-6)


def test_a_difference_of_shares_needs_one_reading_of_each() -> None:
    one, none = np.array([[1.0, nan]]), np.array([[nan, nan]])
    assert isinstance(share_difference(one, none), Note)
    assert share_difference(one, np.array([[nan, 0.0]])).value == 1  # one reading is enough


def test_readings_of_one_arm_alone_do_not_count_in_the_spread() -> None:
    correct = np.array([[[1.0, 1, 1, 0, nan], [1, 1, 0, 0, 1]], [[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]])
    found = spread_ratio(correct)(np.ones((1, 2)), np.ones((1, 5)))
    # Reader 1 without the last case: 3/4 and 4/4; reader 2 with it: 3/5 and 2/5.
    assert found == pytest.approx([(0.75 - 0.6) / (1 - 0.4)])


# ---------------------------------------------------------------- published figures


def test_figures_that_no_correlation_fits() -> None:
    n = cases(50, 50)
    good = [printed("sensitivity", "0.90"), printed("specificity", "0.90")]
    assert enclose([*good, printed("mcc", "0.80")], n) is not None
    assert enclose([*good, printed("mcc", "-0.50")], n) is None


def test_a_correlation_of_exactly_the_level_reaches_it() -> None:
    cells = (40, 20, 10, 10)  # tp tn = fp fn: a correlation of 0
    assert _mcc_reaches_exactly(*cells, Fraction(0), False)
    assert not _mcc_reaches_exactly(*cells, Fraction(0), True)


@pytest.mark.parametrize("computed, same", [(0.8512, True), (0.845, True), (0.8449, False), (0.8551, False)])
def test_a_claim_of_two_decimals(computed: float, same: bool) -> None:
    said = declared("0.85")
    assert said is not None
    assert said.is_of(computed) == same


# ---------------------------------------------------------------- monitoring


def test_a_ratio_of_two_periods_by_hand() -> None:
    now, then = wilson(30, 100), wilson(20, 100)
    found = mover_change(now, then, ratio=True)
    low = sqrt(log(now.value / now.low) ** 2 + log(then.high / then.value) ** 2)
    high = sqrt(log(now.high / now.value) ** 2 + log(then.value / then.low) ** 2)
    assert (found.value, found.low, found.high) == pytest.approx((1.5, 1.5 * exp(-low), 1.5 * exp(high)))
    assert mover_change(wilson(0, 10), then, ratio=True).note == monitoring_notes.INFINITE_RATIO


def test_each_funnel_has_its_own_allowance() -> None:
    held = Funnel(0.2, 4.0, 0.1, (), {})
    plain, z = 0.2 * 0.8 / 100, norm.ppf(0.975)
    for method, variance in (
        ("funnel_exact", plain),
        ("funnel_multiplicative", 4 * plain),
        ("funnel_additive", plain + 0.01),
    ):
        low, high = held.limits(np.array([100.0]), 0.95, method)
        assert (low[0], high[0]) == pytest.approx(
            (max(0, 0.2 - z * sqrt(variance)), 0.2 + z * sqrt(variance))
        )


def test_a_rate_without_exposure_counts_no_case() -> None:
    assert event_rate(0, 0).n == 0


# ---------------------------------------------------------------- readers


def test_one_comparison_is_an_area() -> None:
    rating = np.array([[[2.0, 1.0]], [[2.0, 3.0]]])
    assert auc_ustatistic(rating, np.array([True, False])).means.tolist() == [1.0, 0.0]


def test_two_positive_cases_are_enough_for_limits() -> None:
    truth = np.array([1, 1, 0, 0, 0], bool)
    found = reader_auc_benefit(np.array([3.0, 1, 2, 1, 0]), np.array([1.0, 2, 2, 3, 0]), truth)
    assert isfinite(found.low)
    assert isfinite(found.high)


def test_two_clusters_of_each_class_are_enough_for_limits() -> None:
    truth = np.array([0, 0, 0, 1, 1, 1], bool)
    found = clustered_difference(
        truth, np.array([1, 2, 3, 2, 3, 4]), np.array([2, 1, 3, 3, 1, 2]), np.array([1, 1, 2, 1, 2, 2])
    )
    assert isfinite(found.low)
    assert found.df == 1


def test_shares_of_the_fixed_reader_are_means_over_readings() -> None:
    fixed = np.array([1.0, 1, 0, 1, 0, 1])
    readers = np.array([[1.0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 1]])
    details = next(iter(fixed_against_readers(fixed, readers).values())).details
    assert (details["fixed"], details["readers"]) == pytest.approx((4 / 6, 7 / 12))


def test_value_of_information_counts_the_readings_of_the_smaller_arm() -> None:
    truth = np.arange(12) % 2 == 1
    right = np.stack([np.stack([truth, truth])] * 2).astype(float)
    right[1, 0, :4] = 1 - right[1, 0, :4]
    right[0, 1, 3] = nan
    assert voi_of_readings(right, truth, [[0, -5], [-1, 0]])[0].n == 23


def test_variance_of_marks_by_hand() -> None:
    """Obuchowski (1997), Biometrics 53, 567-578: 2/1 x 2 + 3/2 x 2 + 2 x 3/2 x (-1)."""
    up, down = np.array([1.0, -1, 0]), np.array([0.0, 1, -1])
    assert _variance(up, down, 2, 3) == pytest.approx(4.0)


def test_freedom_of_a_difference_of_marks_is_that_of_the_scarcer_class() -> None:
    cases_of, none = np.array([0, 1, 2]), np.zeros(0)
    one = Marked(7, cases_of, np.array([3.0, 1.0, 2.0]), np.array([3, 4]), np.array([2.5, 1.0]))
    other = Marked(7, cases_of, np.array([1.0, 2.0, -np.inf]), none.astype(np.int64), none)
    found = lesion_area_difference(one, other)
    assert found.df == 2  # three patients with a lesion, four without
    assert found.p == pytest.approx(2 * t.sf(abs(found.value) / found.se, 2))


# ---------------------------------------------------------------- agreement and labels


def test_every_resample_is_drawn_once() -> None:
    blocks = list(_draws(np.repeat([0, 1], [3, 2]), None, 4, np.random.default_rng(1), 10, 4))
    assert [len(times) for times, _ in blocks] == [4, 4, 2]
    assert all((drawn.sum(axis=1) == 5).all() for _, drawn in blocks)


def test_agreement_without_pairs_names_its_interval() -> None:
    nobody = np.full((3, 2), -1)
    assert percent_agreement(nobody, 2, interval="score").method == SCORE
    assert percent_agreement(nobody, 2, interval="influence").method != SCORE


def test_accuracy_of_labels_by_hand() -> None:
    found = actual_accuracy(Estimate(0.4, 0.3, 0.5, 100), 0.3)
    # 0.4 right of 0.3 right labels: both wrong is right again, .4 x .3 + .6 x .7
    assert found.value.value == pytest.approx(0.54)
    assert (found.low_bound.value, found.high_bound.value) == pytest.approx((0.3, 0.9))  # |.4 + .3 - 1|
    three = actual_accuracy(0.8, 0.9, n_categories=3)
    assert three.low_bound.value == pytest.approx(0.7)  # .8 and .9 of the cases share .7 at least
    assert nomogram_accuracy(Estimate(0.57, nan, nan, 9)).note == NO_SAMPLING_ERROR
    assert not nomogram_accuracy(Estimate(0.57, 0.55, 0.6, 9)).note


# ---------------------------------------------------------------- the rest


def test_specificity_for_one_ratio_alone() -> None:
    assert specificity_needed(0.9, 4.5) == pytest.approx(0.8)  # .9 / .2 = 4.5


def test_rates_of_false_marks_are_those_of_the_competition() -> None:
    assert CUSTOMARY[0] == 1 / 8
    assert all(b == 2 * a for a, b in pairwise(CUSTOMARY))  # Setio et al. (2017), Med. Image Anal. 42, 1-13


def test_clusters_of_the_scarcer_class() -> None:
    cells = np.array([[4, 1, 0, 5], [3, 2, 1, 4], [2, 3, 0, 0]])  # tp, fp, fn, tn: each has both classes
    assert clustered("mcc", cells).details["clusters"] == 3


def test_limits_of_two_rates_whose_clusters_err_together() -> None:
    """The square-and-add rule with the correlation of what each cluster adds to both rates."""
    cells = np.array([[9, 1, 1, 8], [5, 4, 4, 5], [8, 2, 3, 9], [6, 3, 2, 7]])  # tp, fp, fn, tn
    one, other = (clustered(name, cells) for name in ("sensitivity", "specificity"))
    tp, fp, fn, tn = cells.T
    of_one, of_other = tp - one.value * (tp + fn), tn - other.value * (tn + fp)
    r = of_one @ of_other / sqrt((of_one @ of_one) * (of_other @ of_other))
    a, b = one.value - one.low, other.value - other.low
    c, d = one.high - one.value, other.high - other.value
    found = clustered("youden_j", cells)
    assert found.value == pytest.approx(one.value + other.value - 1)
    assert found.low == pytest.approx(found.value - sqrt(a * a + b * b + 2 * r * a * b))
    assert found.high == pytest.approx(found.value + sqrt(c * c + d * d + 2 * r * c * d))


def test_a_spread_between_studies_with_an_upper_limit_says_nothing_of_none() -> None:
    model = pooled([47, 126, 19, 36], [101, 272, 12, 78], [9, 51, 10, 3], [738, 1543, 192, 276])
    assert not isinstance(model, Note)
    found = model.spread("specificity")
    assert isfinite(found.high)
    assert pooling_notes.NO_UPPER_LIMIT not in found.note


def test_a_class_that_is_called_and_never_true_has_no_sensitivity() -> None:
    truth, called = np.array([0, 1, 0, 1]), np.array([0, 1, 2, 1])
    assert mean_of_classes("sensitivity", truth, called, 3).note == NO_CASE_OF_A_CLASS
    assert mean_of_classes("f1", truth, called, 3).note != NO_CASE_OF_A_CLASS


def test_p_values_of_an_update() -> None:
    e = _shown(Estimate(1.2, nan, nan, 50), 0.1, 10, "oe_ratio")
    assert e.p == pytest.approx(2 * t.sf(log(1.2) / 0.1, 9))
    assert np.isnan(_shown(Estimate(0.2, nan, nan, 50), 0.1, 10, "brier").p)  # no null to test


def test_the_worst_value_of_advice_is_at_the_far_limit() -> None:
    (one,) = advice_values(np.array([True] * 8 + [False] * 2), np.full(10, 0.75))
    share = wilson(8, 10)
    far = max(abs(share.low - 0.75), abs(share.high - 0.75))
    assert one.advice_value.low == pytest.approx(0.75 * (1 - far))


def test_random_divisions_by_hand() -> None:
    permuted = np.array([1.0, 2.0, 4.0, 5.0])
    tail = upper_tail(4.0, permuted)
    assert (tail.p, tail.null_mean) == (0.6, 3.0)
    assert tail.null_sd == pytest.approx(sqrt(10 / 3))
    assert tail.details["monte_carlo_se"] == pytest.approx(sqrt(0.6 * 0.4 / 4))


def test_an_absent_share_names_its_method() -> None:
    nothing = np.zeros(0, bool)
    assert case_share(nothing).method == "wilson"
    assert case_share(nothing, cluster=np.zeros(0, np.int64)).method == "cluster_wilson"


@pytest.mark.parametrize("prevalence", [0.0, 1.0, 1.5])
def test_a_prevalence_lies_between_0_and_1(prevalence: float) -> None:
    with pytest.raises(ValueError, match="prevalence must lie"):
        equal_yield_slope([[1, 0], [0, 1]], prevalence)


def test_candidates_are_of_the_same_cases() -> None:
    with pytest.raises(ValueError, match="on the same cases"):
        utility_map([[[27, 15], [23, 35]], [[43, 18], [6, 32]]], steps=3)


def test_decisions_are_one_of_the_classes() -> None:
    with pytest.raises(ValueError, match="0 to 2, for each case"):
        confusion_matrix(np.array([0, 3]), np.array([0, 1]), 3)


def test_one_case_has_a_difference_of_yields() -> None:
    one = np.array([1])
    assert yield_difference(one, one, 1 - one, [[1, -4], [0, 5]]).value == 9
    none = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="there must be cases"):
        yield_difference(none, none, none, [[1, -4], [0, 5]])


def test_unrated_cases_are_counted() -> None:
    with pytest.raises(ValueError, match=r"^2 cases have no rating"):
        complexity_from_ratings(np.array([[0.5, nan, nan], [0.25, nan, nan]]))


def test_clusters_with_a_positive_are_counted() -> None:
    truth, score = np.arange(60) % 3 == 0, (np.arange(60) * 7 % 20) / 20
    truth[40:] = False  # the last five clusters of four hold negatives alone
    details = snb_jackknife(truth, score, 0.2, np.arange(60) // 4).details
    assert (details["clusters"], details["clusters_with_positive"]) == (15, 10)
    assert inf > details["clusters"]
