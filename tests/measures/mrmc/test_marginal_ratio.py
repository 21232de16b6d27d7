"""Marginal ratios: hand calculation, swaps, agreement with the log of a 2x2 table, empty cells."""

from math import exp, inf, isnan, log, sqrt

import numpy as np
import pytest
from scipy.special import stdtrit

from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.clustered import or_delta, rr_delta
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.measures.mrmc.ustatistic import ustatistic

COVARIANCE = np.array([[4e-4, 2e-4], [2e-4, 5e-4]])


def test_by_hand():
    rr = rr_delta(0.2, 0.3, COVARIANCE, 500, df=6.5)
    se = sqrt(4e-4 / 0.04 + 5e-4 / 0.09 - 4e-4 / 0.06)
    t = stdtrit(6.5, 0.975)
    assert (rr.value, rr.low, rr.high) == pytest.approx(
        (2 / 3, exp(log(2 / 3) - t * se), exp(log(2 / 3) + t * se))
    )
    odds = or_delta(0.2, 0.3, COVARIANCE, 500)
    se = sqrt(4e-4 / 0.16**2 + 5e-4 / 0.21**2 - 4e-4 / (0.16 * 0.21))
    assert odds.value == pytest.approx(0.25 / (3 / 7))
    assert log(odds.high / odds.value) == pytest.approx(1.959964 * se, rel=1e-6)


def test_independent_rates_give_woolf():
    """Without covariance and with binomial variances the odds ratio is Woolf's: 352/1548 and 367/1548."""
    p, q = 352 / 1548, 367 / 1548
    diagonal = np.diag([p * (1 - p) / 1548, q * (1 - q) / 1548])
    got = or_delta(p, q, diagonal, 1548)
    assert (got.value, got.low, got.high) == pytest.approx((0.947, 0.8015, 1.1191), abs=5e-4)
    katz = rr_delta(p, q, diagonal, 1548)
    assert (katz.low, katz.high) == pytest.approx((0.844, 1.090), abs=5e-4)


@pytest.mark.parametrize("ratio", [or_delta, rr_delta])
def test_swapping_the_arms_inverts(ratio):
    one, other = ratio(0.2, 0.3, COVARIANCE, 9), ratio(0.3, 0.2, COVARIANCE[::-1, ::-1], 9)
    assert (one.value, one.low, one.p) == pytest.approx((1 / other.value, 1 / other.high, other.p))


def test_with_both_covariances_of_a_reader_study(studies):
    """Crossed, cov2 > cov3: both estimators give the same variance, their degrees of freedom differ."""
    error = studies["vandyke"].outcome("error")
    fit, u = fit_proportions(error), ustatistic(error)
    one = or_delta(fit.means[1], fit.means[0], fit.mean_covariance(), fit.n, df=fit.reference_df())
    other = or_delta(u.means[1], u.means[0], u.mean_covariance(), fit.n, df=u.reference_df())
    assert one.value == other.value == pytest.approx(0.7833668678739103)
    assert one.details["log_se"] == pytest.approx(other.details["log_se"])
    assert (one.df, other.df) == (pytest.approx(7.655571396551984), 7)


def test_the_sequential_contract(contract):
    """47 errors of 240 with the aid, 52 of 240 without: (47/193) / (52/188)."""
    rows = {
        (row.id, row.scope.get("arm")): row.value
        for row in contract["sequential"]
        if row.id in ("pragmatic_utility.error_rate", "pragmatic_utility.odds_ratio")
    }
    aided, unaided = (rows["pragmatic_utility.error_rate", arm] for arm in ("aided", "unaided"))
    got = or_delta(aided, unaided, COVARIANCE, 240)
    assert got.value == pytest.approx(rows["pragmatic_utility.odds_ratio", None], abs=1e-9)


@pytest.mark.parametrize(
    "ratio, compared, baseline, value",
    [
        (or_delta, 0.0, 0.2, 0.0),
        (or_delta, 0.2, 0.0, inf),
        (or_delta, 1.0, 0.2, inf),
        (or_delta, 0.2, 1.0, 0.0),
        (or_delta, 1.0, 0.0, inf),
        (rr_delta, 0.0, 0.2, 0.0),
        (rr_delta, 0.2, 0.0, inf),
    ],
)
def test_an_empty_cell_has_a_value_but_no_interval(ratio, compared, baseline, value):
    got = ratio(compared, baseline, COVARIANCE, 9)
    assert (got.value, isnan(got.low), got.note) == (value, True, notes.ZERO_CELL)


def test_undefined_ratios():
    assert or_delta(0.0, 0.0, COVARIANCE, 9).note == notes.NO_EVENT_EITHER
    assert or_delta(1.0, 1.0, COVARIANCE, 9).note == notes.ALL_EVENTS_EITHER
    assert rr_delta(0.0, 0.0, COVARIANCE, 9).note == notes.NO_EVENT_EITHER
    assert rr_delta(1.0, 1.0, COVARIANCE, 9).value == 1


def test_no_variance_and_no_degrees_of_freedom():
    negative = or_delta(0.2, 0.3, np.array([[1e-4, 9e-4], [9e-4, 1e-4]]), 9, note=notes.CLIPPED)
    assert (isnan(negative.low), negative.note) == (True, notes.CLIPPED + notes.NO_LOG_VARIANCE)
    assert or_delta(0.2, 0.3, COVARIANCE, 9, df=float("nan")).note == notes.NO_DF
