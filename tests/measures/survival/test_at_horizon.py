"""Measures at a horizon: values of R and of Python packages, counts by hand, properties, edges."""

import csv
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.duration.survfunc import SurvfuncRight

from trustreport.measures.estimate import Estimate
from trustreport.measures.survival import notes
from trustreport.measures.survival.calibration import (
    brier_at_horizon,
    intercept_at_horizon,
    oe_at_horizon,
    risk_groups,
    scaled_brier_at_horizon,
    slope_at_horizon,
)
from trustreport.measures.survival.horizon import AtHorizon, at_horizon, censoring_by_score
from trustreport.measures.survival.shares import auc_at_horizon, risk_at_horizon, share_at_horizon

REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "survival"
OF_SCORES = {
    "auc": auc_at_horizon,
    "brier": brier_at_horizon,
    "scaled_brier": scaled_brier_at_horizon,
    "slope": slope_at_horizon,
    "intercept": intercept_at_horizon,
}


def data(name: str) -> tuple[Any, Any, Any]:
    table = np.genfromtxt(REFERENCE / f"{name}.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    return table["follow_up"].astype(float), table["event"].astype(np.int64), table["risk"].astype(float)


def expected() -> list[dict[str, str]]:
    found = []
    for name in ("expected_r", "expected_python"):
        with (REFERENCE / f"{name}.csv").open(encoding="utf-8") as lines:
            found += list(csv.DictReader(lines))
    return found


def estimated(quantity: str, time: Any, codes: Any, score: Any, horizon: float) -> Estimate:
    state = at_horizon(time, codes, horizon)
    if quantity in OF_SCORES:
        return OF_SCORES[quantity](state, score)
    if quantity in ("sensitivity", "specificity"):
        return share_at_horizon(quantity, state, score >= 0.2)
    if quantity == "risk_upper":
        upper = score > np.median(score)
        state = at_horizon(time[upper], codes[upper], horizon)
    return risk_at_horizon(state)


def ids(row: dict[str, str]) -> str:
    return f"{row['data']} {row['horizon']} {row['quantity']} {row['software'].split()[0]}"


@pytest.mark.parametrize("row", expected(), ids=ids)
def test_values_of_other_software(row: dict[str, str]) -> None:
    time, codes, score = data(row["data"])
    horizon, value = float(row["horizon"]), float(row["value"])
    if row["quantity"] == "followed":
        assert at_horizon(time, codes, horizon).followed == pytest.approx(value, abs=1e-11)
    elif row["quantity"] == "censoring_chi2":  # Breslow's variance, without the correction for ties
        assert censoring_by_score(time, codes, score, horizon).z ** 2 == pytest.approx(value, rel=1e-3)
    else:
        e = estimated(row["quantity"], time, codes, score, horizon)
        # lifelines breaks ties of competing events at random.
        assert e.value == pytest.approx(value, rel=2e-3 if "random" in row["software"] else 1e-8)
        if row["se"]:
            # Greenwood's variance has divisor n, not n - 1; of tied times ours allows for the ties.
            greenwood = sqrt(e.n / (e.n - 1)) if row["software"].startswith("survival") else 1.0
            assert e.se == pytest.approx(float(row["se"]) * greenwood, rel=1e-3 if greenwood > 1 else 1e-4)


def test_kaplan_meier_of_statsmodels() -> None:
    time, codes, _ = data("flchain")
    of = SurvfuncRight(time, codes)
    for horizon in (700.5, 2500.5, 4000.5):
        survived = of.surv_prob[of.surv_times <= horizon][-1]
        assert at_horizon(time, codes, horizon).risk == pytest.approx(1 - survived, abs=1e-12)


# ---------------------------------------------------------------- counted by hand


def test_at_equal_times_events_come_first() -> None:
    """At 2 one event and one censored: of 4 at risk one event, of the 3 others one censored."""
    state = at_horizon(np.array([1.0, 2, 2, 5, 5]), np.array([1, 1, 0, 0, 1]), 4.0)
    assert state.followed == pytest.approx(2 / 3)
    assert state.weight == pytest.approx([1, 1, 0, 1.5, 1.5])
    assert state.risk == pytest.approx(1 - 4 / 5 * 3 / 4)


def test_who_is_censored_at_the_horizon_was_followed_to_it() -> None:
    time, codes = np.array([1.0, 2, 3, 3, 3]), np.array([1, 0, 1, 0, 0])
    state = at_horizon(time, codes, 3.0)
    assert state.known.tolist() == [True, False, True, True, True]
    assert state.followed == pytest.approx(3 / 4)
    assert state.risk == pytest.approx(1 - 4 / 5 * 2 / 3)


def test_a_competing_event_is_not_the_event() -> None:
    """Without censoring the risk is the share with the event; Kaplan and Meier's is higher."""
    time, codes = np.array([1.0, 2, 3, 9]), np.array([1, 2, 1, 0])
    state = at_horizon(time, codes, 5.0)
    assert (state.n_events, state.n_competing, state.risk) == (2, 1, pytest.approx(0.5))
    treated_as_censored = at_horizon(time, np.where(codes == 2, 0, codes), 5.0)
    assert treated_as_censored.risk == pytest.approx(1 - 3 / 4 * 1 / 2)


def test_calibration_by_hand() -> None:
    """Weights 1, 0, 1.5, 1.5: risk 2.5 / 4; Brier (0.01 + 1.5 * 0.16 + 1.5 * 0.04) / 4."""
    state, score = (
        at_horizon(np.array([1.0, 2, 3, 4]), np.array([1, 0, 1, 0]), 3.5),
        np.array([0.9, 0.5, 0.6, 0.2]),
    )
    assert brier_at_horizon(state, score).value == pytest.approx((0.01 + 0.24 + 0.06) / 4)
    assert oe_at_horizon(state, score).value == pytest.approx((2.5 / 4) / 0.55)


# ---------------------------------------------------------------- properties

cases = st.integers(8, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 12), min_size=n, max_size=n),
        st.lists(st.sampled_from([0, 0, 1, 2]), min_size=n, max_size=n),
    )
)


def leave_one_out(of: Any, time: Any, codes: Any, score: Any, horizon: float) -> Any:
    """What each case contributes, by leaving it out."""
    n, found = len(time), []
    for i in range(n):
        rest = np.arange(n) != i
        found.append(of(at_horizon(time[rest], codes[rest], horizon), score[rest]).value)
    return np.array(found)


@given(cases)
def test_weights_sum_to_the_cases(drawn: tuple[list[int], list[int]]) -> None:
    time, codes = np.array(drawn[0], float), np.array(drawn[1])
    state = at_horizon(time, codes, 7.5)
    if state.why_not not in (notes.NOT_REACHED, notes.NO_CASE):
        assert state.weight.sum() == pytest.approx(len(time))
        assert state.influence(np.linspace(0, 1, len(time))).sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["auc", "brier", "scaled_brier", "slope", "intercept"])
@pytest.mark.parametrize("of", ["flchain", "mgus2"])
def test_the_standard_error_is_that_of_the_jackknife(name: str, of: str) -> None:
    """An independent route to the variance, the estimation of the weights included."""
    time, codes, score = (column[:250] for column in data(of))
    horizon = 3652.5 if of == "flchain" else 120.5
    values = leave_one_out(OF_SCORES[name], time, codes, score, horizon)
    jackknife = sqrt((len(time) - 1) / len(time) * ((values - values.mean()) ** 2).sum())
    assert OF_SCORES[name](at_horizon(time, codes, horizon), score).se == pytest.approx(jackknife, rel=0.08)


def test_without_censoring_it_is_the_plain_measure() -> None:
    from trustreport.measures.calibration.logistic import calibration_intercept, calibration_slope
    from trustreport.measures.calibration.overall import brier, oe_ratio
    from trustreport.measures.roc.auc import delong

    rng = np.random.default_rng(3)
    score = rng.uniform(0.05, 0.9, 120)
    truth = rng.random(120) < score
    state = at_horizon(np.where(truth, 1.0, 3.0), truth.astype(np.int64), 2.0)
    for ours, plain in (
        (auc_at_horizon(state, score), delong(truth, score)),
        (brier_at_horizon(state, score), brier(truth, score)),
        (oe_at_horizon(state, score), oe_ratio(truth, score, interval="oe_delta")),
        (slope_at_horizon(state, score), calibration_slope(truth, score, interval="sandwich")),
        (intercept_at_horizon(state, score), calibration_intercept(truth, score, interval="sandwich")),
    ):
        assert ours.value == pytest.approx(plain.value, rel=1e-9)
        assert ours.se == pytest.approx(plain.se, rel=0.02)


def test_order_and_unit_do_not_matter() -> None:
    time, codes, score = data("mgus2")
    rng = np.random.default_rng(1)
    order = rng.permutation(len(time))
    one = auc_at_horizon(at_horizon(time, codes, 60.5), score)
    other = auc_at_horizon(at_horizon(time[order] * 30, codes[order], 60.5 * 30), score[order])
    assert (other.value, other.low) == pytest.approx((one.value, one.low))


def test_each_case_a_cluster_is_nearly_no_cluster_and_twins_widen() -> None:
    time, codes, score = data("flchain")
    twice = np.repeat(np.arange(len(time)), 2)
    alone = brier_at_horizon(at_horizon(time, codes, 3652.5), score)
    apart = brier_at_horizon(at_horizon(time, codes, 3652.5), score, cluster=np.arange(len(time)))
    twins = brier_at_horizon(
        at_horizon(time[twice], codes[twice], 3652.5), score[twice], cluster=twice.astype(np.int64)
    )
    assert apart.se == pytest.approx(alone.se)
    assert twins.se == pytest.approx(alone.se, rel=1e-3)


# ---------------------------------------------------------------- edges


def state_of(time: list[float], codes: list[int], horizon: float = 2.0) -> AtHorizon:
    return at_horizon(np.array(time, float), np.array(codes, np.int64), horizon)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (state_of([], []), notes.NO_CASE),
        (state_of([1, 1.5, 1.9], [0, 1, 0]), notes.NOT_REACHED),
        (state_of([3, 3, 1], [1, 0, 0]), notes.NO_EVENT),
        (state_of([1, 1.2, 1.5], [1, 0, 1]), notes.ALL_EVENTS),
    ],
)
def test_what_cannot_be_estimated_says_why(state: AtHorizon, why: str) -> None:
    score = np.linspace(0.1, 0.9, len(state))
    for e in (
        auc_at_horizon(state, score),
        slope_at_horizon(state, score),
        scaled_brier_at_horizon(state, score),
    ):
        assert isnan(e.value)
        assert e.note == why


def test_no_event_still_has_a_risk_with_an_upper_limit() -> None:
    e = risk_at_horizon(state_of([3, 3, 3, 1], [0, 0, 1, 0]))
    assert (e.value, e.low) == (0.0, 0.0)
    assert 0.4 < e.high < 0.8


def test_perfect_separation_has_limits() -> None:
    state = state_of([1] * 5 + [3] * 20, [1] * 5 + [0] * 20)
    e = auc_at_horizon(state, np.linspace(1, 0, 25))
    assert (e.value, e.high, e.method) == (1.0, 1.0, "ipcw_newcombe")
    assert 0.6 < e.low < 0.95
    assert slope_at_horizon(state, np.linspace(0.9, 0.1, 25)).note == notes.SEPARATED


def test_ties_count_half() -> None:
    state = state_of([1, 1, 3, 3], [1, 1, 0, 0])
    assert auc_at_horizon(state, np.full(4, 0.5)).value == 0.5


def test_one_event_has_no_interval() -> None:
    e = auc_at_horizon(state_of([1, 3, 3, 3], [1, 0, 0, 0]), np.array([0.9, 0.1, 0.2, 0.95]))
    assert (isnan(e.low), e.note) == (True, notes.ONE_EVENT)


def test_negative_follow_up_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        state_of([-1, 3], [1, 0])
    with pytest.raises(ValueError, match="0 or more"):
        state_of([nan, 3], [1, 0])


def test_groups_of_tied_scores_stay_together() -> None:
    time, codes, _ = data("flchain")
    score = np.where(np.arange(len(time)) % 2, 0.1, 0.3)
    found = risk_groups(time, codes, score, 3652.5)
    assert [(g.low, g.high) for g in found] == [(0.1, 0.1), (0.3, 0.3)]
    assert sum(g.observed.n for g in found) == len(time)


def test_censoring_that_follows_the_score_is_found() -> None:
    rng = np.random.default_rng(5)
    score = rng.random(300)
    ends = rng.exponential(np.where(score > 0.5, 0.5, 2.0))
    found = censoring_by_score(ends, np.zeros(300, np.int64), score, 1.0)
    assert found.z > 5
    assert found.upper < 0.4 < found.lower
    assert (
        censoring_by_score(np.full(9, 3.0), np.ones(9, np.int64), score[:9], 1.0).note == notes.NO_CENSORING
    )
