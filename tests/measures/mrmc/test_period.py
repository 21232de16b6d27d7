"""A change adjusted for the period: against statsmodels and sums by hand, properties, simulated studies."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from statsmodels.regression.linear_model import OLS

from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import fit_auc
from trustreport.measures.mrmc.crossed_clusters import clustered_areas, clustered_means, means_of_classes
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.measures.mrmc.period import (
    PeriodAdjusted,
    an_arm_each,
    can_adjust,
    needs_adjusting,
    period_adjusted,
)
from trustreport.measures.mrmc.youden import fit_youden

RNG = np.random.default_rng(8)
READERS, CASES = 7, 60
TRUTH = np.arange(CASES) % 3 == 0
CORRECT = (RNG.random((2, READERS, CASES)) < 0.7).astype(float)
RATING = RNG.normal(size=CORRECT.shape) + TRUTH
ONE_ODD = np.array([1.0, 1, 1, 1, 1, 1, -1])
MIXED = np.array([1.0, 0.2, 1, -0.4, 1, 0.9, -1])


def adjusted(outcome: NDArray[np.float64], later: NDArray[np.float64], cluster: Any = None) -> PeriodAdjusted:
    of = np.arange(outcome.shape[2]) if cluster is None else cluster
    each = clustered_means(an_arm_each(outcome), of)
    found = period_adjusted(each, later, clustered=cluster is not None)
    assert found is not None
    return found


def of_kind(kind: str, later: NDArray[np.float64]) -> tuple[PeriodAdjusted, Any]:
    """The adjustment of one kind of endpoint, and its Obuchowski-Rockette fit."""
    alone = np.arange(CASES)
    each, fit = {
        "share": (clustered_means(an_arm_each(CORRECT), alone), fit_proportions(CORRECT)),
        "youden": (means_of_classes(an_arm_each(CORRECT), TRUTH, alone), fit_youden(CORRECT, TRUTH)),
        "area": (clustered_areas(an_arm_each(RATING), TRUTH, alone), fit_auc(RATING, TRUTH)),
    }[kind]
    found = period_adjusted(each, later)
    assert found is not None
    return found, fit


@pytest.mark.parametrize("later", [ONE_ODD, MIXED], ids=["one odd", "mixed"])
@pytest.mark.parametrize("kind", ["share", "youden", "area"])
def test_the_change_is_the_intercept_of_least_squares(kind: str, later: NDArray[np.float64]) -> None:
    found, fit = of_kind(kind, later)
    e = found.difference()
    changes = fit.theta[0] - fit.theta[1]
    ols = OLS(changes, np.column_stack([np.ones(READERS), later])).fit()
    assert (e.value, e.details["period_effect"]) == pytest.approx(tuple(ols.params))
    assert e.details["unadjusted"] == pytest.approx(fit.means[0] - fit.means[1])
    # What statsmodels gives for readers alone, and the covariance of two readers' changes over cases.
    readers = ols.bse[0] ** 2
    total = readers + 2 * max(fit.cov2 - fit.cov3, 0)
    assert e.se**2 == pytest.approx(total)
    assert e.df == pytest.approx(min(total**2 * (READERS - 2) / readers**2, CASES - 1))


def test_the_change_is_that_of_a_model_of_reader_period_and_arm() -> None:
    """Fixed effects of every reader, the period and the arm, of the means of readers in an arm."""
    found, fit = of_kind("share", ONE_ODD)
    second = np.stack([ONE_ODD > 0, ONE_ODD < 0]).astype(float)
    readers = np.tile(np.eye(READERS), (2, 1))
    arm = np.repeat([1.0, 0.0], READERS)
    model = OLS(fit.theta.ravel(), np.column_stack([arm, second.ravel(), readers])).fit()
    e = found.difference()
    assert (e.value, e.details["period_effect"]) == pytest.approx(tuple(model.params[:2]))


def test_the_change_is_the_mean_of_both_orders() -> None:
    found = adjusted(CORRECT, ONE_ODD)
    changes = CORRECT.mean(axis=2)[0] - CORRECT.mean(axis=2)[1]
    by_hand = (changes[:6].mean() + changes[6]) / 2
    assert found.difference().value == pytest.approx(by_hand)
    assert found.weights == pytest.approx([1 / 12] * 6 + [1 / 2])
    # Both arms over both periods.
    shares = CORRECT.mean(axis=2)
    for arm in (0, 1):
        assert found.arm_mean(arm).value == pytest.approx((shares[arm, :6].mean() + shares[arm, 6]) / 2)


def test_the_variance_is_that_of_loops_over_readers_and_cases() -> None:
    """Readers within their order, one of whom has nobody beside him, and cases left out one by one."""
    found = adjusted(CORRECT, ONE_ODD)
    changes = CORRECT[0] - CORRECT[1]
    d = changes.mean(axis=1)
    spread = sum((x - d[:6].mean()) ** 2 for x in d[:6]) / (READERS - 2)
    pairs = [(j, k) for j in range(READERS) for k in range(READERS) if j != k]

    def covariance(j: int, k: int) -> float:
        one, other = (np.array([np.delete(changes[i], case).mean() for case in range(CASES)]) for i in (j, k))
        return float((CASES - 1) / CASES * ((one - one.mean()) * (other - other.mean())).sum())

    alike = sum(covariance(j, k) for j, k in pairs) / len(pairs)
    weights = [1 / 12] * 6 + [1 / 2]
    assert found.difference().se ** 2 == pytest.approx(spread * (6 / 144 + 1 / 4) + max(alike, 0))
    of_cases = sum(weights[j] * weights[k] * covariance(j, k) for j in range(READERS) for k in range(READERS))
    # Of these readers alone.
    assert found._variance(d, found.left_out[0] - found.left_out[1], random=False)[0] == pytest.approx(
        of_cases
    )


def test_the_covariance_of_the_arms_is_that_behind_the_change() -> None:
    found = adjusted(CORRECT, ONE_ODD)
    e = found.difference()
    (first, between), (_, second) = found.mean_covariance(e.method)
    assert first + second - 2 * between == pytest.approx(e.se**2)
    assert (first, second) == pytest.approx((found.arm_mean(0).se ** 2, found.arm_mean(1).se ** 2))


def test_as_many_readers_in_either_order_need_no_adjusting() -> None:
    later = np.array([1.0, -1, 1, -1, 1, -1])
    outcome = CORRECT[:, :6]
    each = clustered_means(an_arm_each(outcome), np.arange(CASES))
    assert period_adjusted(each, later) is None
    by_force = PeriodAdjusted(
        each.means.reshape(2, 6), each.by_cluster.reshape(2, 6, CASES), later, 6 * CASES, CASES
    )
    plain = fit_proportions(outcome)
    assert by_force.difference().value == pytest.approx(plain.means[0] - plain.means[1])


@pytest.mark.parametrize(
    "later, can, needs",
    [
        ([1, 1, 1, 1], False, True),  # one order: nothing to tell it from the aid
        ([1, -1], False, False),  # two readers: no spread within an order
        ([1, 1, -1], True, True),
        ([1, 1, -1, -1], True, False),
        ([0.1, -0.1, 0.2, 0.1], True, False),  # each read in both orders
        ([0.1, 0.2, 0.1], False, False),
        ([1, np.nan, 1, -1], True, True),  # one of unknown order
    ],
)
def test_when_to_adjust(later: list[float], can: bool, needs: bool) -> None:
    assert can_adjust(np.array(later, float)) == can
    assert needs_adjusting(np.array(later, float)) == needs


@given(st.floats(-0.5, 0.5), st.lists(st.sampled_from([1.0, -1.0, 0.3]), min_size=7, max_size=7))
def test_an_effect_of_the_period_changes_nothing_but_itself(effect: float, orders: list[float]) -> None:
    """Whatever is added to all second readings: of a reader of both orders to that share of them."""
    later = np.array(orders)
    if not (can_adjust(later) and needs_adjusting(later)):
        return
    one = adjusted(CORRECT, later).difference()
    shifted = CORRECT + effect * np.stack([1 + later, 1 - later])[:, :, None] / 2
    other = adjusted(shifted, later).difference()
    assert (other.value, other.se) == pytest.approx((one.value, one.se))
    assert other.details["period_effect"] - one.details["period_effect"] == pytest.approx(effect, abs=1e-9)


def test_arms_and_orders_change_places_together() -> None:
    one = adjusted(CORRECT, ONE_ODD).difference()
    other = adjusted(CORRECT[::-1].copy(), -ONE_ODD).difference()
    assert (other.value, other.low, other.high) == pytest.approx((-one.value, -one.high, -one.low))


def test_readers_without_a_value_or_of_unknown_order_are_left_out() -> None:
    more = np.concatenate([CORRECT, CORRECT[:, :2]], axis=1)
    more[1, READERS] = np.nan
    later = np.append(ONE_ODD, [1.0, np.nan])
    assert adjusted(more, later).difference() == adjusted(CORRECT, ONE_ODD).difference()


def test_with_missing_readings_readers_have_the_mean_of_their_own() -> None:
    gaps = np.where(np.random.default_rng(2).random(CORRECT.shape) < 0.2, np.nan, CORRECT)
    e = adjusted(gaps, MIXED).difference()
    changes = np.nanmean(gaps[0], axis=1) - np.nanmean(gaps[1], axis=1)
    ols = OLS(changes, np.column_stack([np.ones(READERS), MIXED])).fit()
    assert e.value == pytest.approx(ols.params[0])
    assert e.se >= ols.bse[0] * (1 - 1e-9)


def test_cases_that_are_copies_add_nothing_where_they_are_of_one_patient() -> None:
    twice = np.repeat(CORRECT, 2, axis=2)
    once, both = (
        adjusted(CORRECT, ONE_ODD).difference(),
        adjusted(twice, ONE_ODD, np.arange(2 * CASES) // 2).difference(),
    )
    assert (both.value, both.se, both.df) == pytest.approx((once.value, once.se, once.df))
    assert both.method == "or_rrrc_clustered_period"
    assert both.details["clusters"] == CASES


def test_under_five_readers_the_wider_interval_leads() -> None:
    """Readers who gain alike, each on cases of the own."""
    rng = np.random.default_rng(0)
    right = [[rng.permutation(CASES) < n for _ in range(3)] for n in (45, 40)]
    alike = np.array(right, float)
    e = adjusted(alike, np.array([1.0, 1, -1])).difference()
    assert e.method == "or_frrc_period"
    assert notes.FIXED_LEADS in e.note
    assert notes.ADJUSTED in e.note


def test_what_does_not_vary_has_no_interval() -> None:
    e = adjusted(np.ones((2, 4, 10)), np.array([1.0, 1, 1, -1])).difference()
    assert (e.value, np.isnan(e.low), notes.NO_VARIATION in e.note) == (0.0, True, True)
    one = adjusted(CORRECT[:, :, :1], ONE_ODD).difference()
    assert notes.ONE_CASE in one.note


@pytest.mark.parametrize("odd", [1, 2])
def test_studies_without_an_effect_of_the_aid_pass_no_more_often_than_declared(odd: int) -> None:
    """Readers are some 8 points better in their second session; all but one or two have the aid then."""
    rng, n, readers, cases = np.random.default_rng(odd), 1000, 8, 60
    later = np.where(np.arange(readers) < odd, -1.0, 1.0)
    passed = {"gain": 0, "loss": 0, "plain": 0}
    for _ in range(n):
        skill = rng.normal(0.8, 0.4, (1, readers, 1)) + rng.normal(0, 0.15, (2, readers, 1))
        shift = 0.15 * np.stack([later, -later])[:, :, None]
        liability = (
            skill + shift + rng.normal(0, 0.6, (1, 1, cases)) + rng.normal(0, 0.8, (2, readers, cases))
        )
        correct = (liability > 0).astype(float)
        e = adjusted(correct, later).difference()
        passed["gain"] += e.low > 0
        passed["loss"] += e.high < 0
        passed["plain"] += fit_proportions(correct).difference(0, 1).low > 0
    assert max(passed["gain"], passed["loss"]) / n <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / n)
    assert passed["plain"] / n > 0.05
