"""Calibration and advice value: contract, other software, hand counts, properties, edges."""

import csv
import json
from math import isnan, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit, logit

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.advice import advice_values, advisory_value
from trustreport.measures.calibration.binned import calibration_curve, ece, gici, local_index
from trustreport.measures.calibration.bins import equal_mass, equal_mass_and_places, equal_width
from trustreport.measures.calibration.logistic import calibration_intercept, calibration_slope
from trustreport.measures.calibration.overall import brier, oe_ratio
from trustreport.measures.calibration.smooth import smooth_curve, smooth_error
from trustreport.measures.estimate import Estimate

Scored = tuple[NDArray[np.bool_], NDArray[np.float64]]
Expected = dict[tuple[str, str], Any]


def estimate(id: str, parameters: dict[str, Any], case: Scored) -> Estimate:
    measure = id.removeprefix("advice_value.")
    if measure == "gici":
        return gici(*case, binning=parameters["binning"], bins=parameters["bins"]).overall
    simple = {
        "brier": brier,
        "ece": ece,
        "advisory_value": advisory_value,
        "calibration_intercept": calibration_intercept,
        "calibration_slope": calibration_slope,
        "oe_ratio": oe_ratio,
    }
    return simple[measure](*case, **parameters)


def test_agrees_with_the_contract(name: str, scored: dict[str, Scored], reference: Path) -> None:
    with (reference / "contract" / name.split("_")[0] / "expected.csv").open() as lines:
        rows = [
            (row, json.loads(row["scope"]))
            for row in csv.DictReader(lines)
            if row["id"].startswith("advice_value.") and json.loads(row["scope"])["dataset"] == name
        ]
    assert len(rows) >= 12
    for row, scope in rows:
        found = estimate(row["id"], scope.get("parameters", {}), scored[name])
        assert getattr(found, row["field"]) == pytest.approx(float(row["value"]), abs=float(row["tol"])), row


def test_agrees_with_other_software(name: str, scored: dict[str, Scored], expected: Expected) -> None:
    truth, score = scored[name]
    assert brier(truth, score).details["variance_per_case"] == pytest.approx(
        expected[name, "var_brier_per_case"], abs=1e-10
    )
    slope = calibration_slope(truth, score)
    assert slope.details["intercept"] == pytest.approx(expected[name, "cal_intercept_joint"], abs=1e-6)
    # R takes standard errors one step before convergence: see SOURCES.md beside the values.
    assert (slope.low, slope.high) == pytest.approx(expected[name, "cal_slope_ci95"], abs=6e-5)
    intercept = calibration_intercept(truth, score)
    assert (intercept.low, intercept.high) == pytest.approx(expected[name, "cal_in_the_large_ci95"], abs=6e-5)
    assert oe_ratio(truth, score).se == pytest.approx(expected[name, "oe_ln_se"], abs=1e-9)
    assert ece(truth, score).details["largest_gap"] == pytest.approx(
        expected[name, "mce_equal_width_10"], abs=1e-9
    )
    smooth, rms = smooth_error(truth, score), expected[name, "rms_val_prob"]
    assert smooth.ici.value == pytest.approx(expected[name, "ici_lowess"], abs=2e-4)
    assert (smooth.e90.value, smooth.emax.value) == pytest.approx((rms["E90"], rms["Emax"]), abs=1e-6)


def test_local_bins(name: str, scored: dict[str, Scored], expected: Expected) -> None:
    points = calibration_curve(*scored[name])
    for point, wanted in zip(points, expected[name, "local_bins_equal_width_10"], strict=True):
        assert point.observed.n == wanted["n"]
        assert round(point.low * 10) == wanted["bin"]
        assert point.mean_score == pytest.approx(wanted["mean_score"], abs=1e-9)
        assert point.observed.value == pytest.approx(wanted["observed"], abs=1e-9)
        assert point.local_gici == pytest.approx(wanted["local_gici"], abs=1e-9)


def test_local_index_and_sides_as_calfram(name: str, expected: Expected) -> None:
    """On CalFram's own bins: the index, the two sides and the direction."""
    if (name, "calfram_as_is") not in expected:
        return
    value = expected[name, "calfram_as_is"]
    mean, observed, weight = (np.array(value[key]) for key in ("bin_mean", "bin_obs", "bin_weight"))
    local = local_index(observed, mean)
    assert weight @ local == pytest.approx(value["ec_g"], abs=1e-9)
    sides = [
        np.average(local[some], weights=weight[some]) if some.any() else None
        for some in (observed < mean, observed > mean)
    ]
    for side, wanted in zip(sides, (value["over"], value["under"])):
        assert (side is None) == (wanted is None)
        assert side is None or side == pytest.approx(wanted, abs=1e-9)
    distance = [0 if side is None else 1 - side for side in sides]
    assert distance[0] - distance[1] == pytest.approx(value["ec_dir"], abs=1e-9)


def test_advisory_value_of_the_paper(reference: Path) -> None:
    """Twenty pieces of advice a bin, as many right as give the local calibrations of the seed."""
    (seed,) = json.loads((reference / "seeds" / "trust_scalars.json").read_text())["advisory"]
    gaps = 1 - np.array(seed["local_calibration"])
    right = np.rint(20 * (np.array(seed["confidence"]) - gaps)).astype(int)  # 14, 12 and 3 of 20
    truth = np.concatenate([np.arange(20) < k for k in right])
    score = np.repeat(seed["confidence"], 20)
    values = {round(one.confidence, 6): one.advice_value.value for one in advice_values(truth, score)}
    assert [values[c] for c in seed["confidence"]] == pytest.approx(seed["AV"])
    assert advisory_value(truth, score).value == pytest.approx(seed["AdV"])


def test_hand_count() -> None:
    """Ten cases in three bins: scores .2, .2, .2, .2 (1 event), .6, .6, .6, .6 (3 events), 1, 1 (1 event)."""
    truth = np.array([1, 0, 0, 0, 1, 1, 1, 0, 1, 0], bool)
    score = np.array([0.2] * 4 + [0.6] * 4 + [1.0] * 2)
    assert ece(truth, score).value == pytest.approx((4 * 0.05 + 4 * 0.15 + 2 * 0.5) / 10)
    found = gici(truth, score)
    local = [1 - 0.05 / 0.8, 1 - 0.15 / 0.6, 1 - 0.5]
    assert found.overall.value == pytest.approx((4 * local[0] + 4 * local[1] + 2 * local[2]) / 10)
    assert found.over.value == pytest.approx(local[2])
    assert found.under.value == pytest.approx((local[0] + local[1]) / 2)
    assert found.overall.details["direction"] == pytest.approx(0.5 - (0.05 / 0.8 + 0.15 / 0.6) / 2)
    assert (found.over.n, found.under.n) == (2, 8)
    assert oe_ratio(truth, score).value == pytest.approx(5 / 5.2)
    squares = [0.64, 0.04, 0.04, 0.04, 0.16, 0.16, 0.16, 0.36, 0, 1]
    score_of = brier(truth, score)
    assert score_of.value == pytest.approx(np.mean(squares))
    assert score_of.se == pytest.approx(np.std(squares) / sqrt(10))
    assert score_of.details["reliability"] == pytest.approx((4 * 0.05**2 + 4 * 0.15**2 + 2 * 0.25) / 10)
    assert score_of.details["resolution"] == pytest.approx((4 * 0.25**2 + 4 * 0.25**2) / 10)
    assert score_of.details["within_bins"] == pytest.approx(0, abs=1e-15)
    # Advice: negative at .2 (confidence .8, 3 of 4 right), positive at .6 (3 of 4), at 1 (1 of 2).
    bins = advice_values(truth, score)
    assert [one.confidence for one in bins] == pytest.approx([0.6, 0.8, 1.0])
    assert [one.advice_value.value for one in bins] == pytest.approx([0.6 * 0.85, 0.8 * 0.95, 0.5])
    assert advisory_value(truth, score).value == pytest.approx((4 * 0.51 + 4 * 0.76 + 2 * 0.5) / 10)


def test_advice_at_another_threshold_by_hand() -> None:
    """From .2 on positive: three with confidence .75 (score .6, two right), two of .625 (.4, one right).

    Negative: three at .1 with confidence .75 (all right) and two at 0 with 1 (one right). So the bin of .75
    has 5 of 6 right where the scores predict a mean of .6 and .9.
    """
    score = np.array([0.6] * 3 + [0.4] * 2 + [0.1] * 3 + [0.0] * 2)
    truth = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 1], bool)
    bins = advice_values(truth, score, threshold=0.2)
    assert [one.confidence for one in bins] == pytest.approx([0.625, 0.75, 1])
    assert [one.predicted for one in bins] == pytest.approx([0.4, 0.75, 1])
    assert [one.share_right.value for one in bins] == pytest.approx([1 / 2, 5 / 6, 1 / 2])
    local = [1 - 0.1, 1 - (5 / 6 - 0.75), 1 - 0.5]
    worth = [0.625 * local[0], 0.75 * local[1], local[2]]
    assert [one.local_calibration.value for one in bins] == pytest.approx(local)
    assert [one.advice_value.value for one in bins] == pytest.approx(worth)
    found = advisory_value(truth, score, threshold=0.2)
    assert found.value == pytest.approx((2 * worth[0] + 6 * worth[1] + 2 * worth[2]) / 10)
    assert found.details["mean_confidence"] == pytest.approx((2 * 0.625 + 6 * 0.75 + 2) / 10)
    assert found.details["share_right"] == pytest.approx(0.7)
    gici_form = [0.625 * (1 - 0.1 / 0.6), 0.75 * (1 - (5 / 6 - 0.75) / 0.75), 0.5]
    by_gici = advice_values(truth, score, threshold=0.2, local="gici")
    assert [one.advice_value.value for one in by_gici] == pytest.approx(gici_form)
    total = (2 * gici_form[0] + 6 * gici_form[1] + 2 * gici_form[2]) / 10
    assert advisory_value(truth, score, threshold=0.2, local="gici").value == pytest.approx(total)


@given(st.floats(0.01, 0.99), st.integers(0, 2**32 - 1), st.sampled_from(["absolute_gap", "gici"]))
def test_advice_at_any_threshold(threshold: float, seed: int, local: Any) -> None:
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 41, 60) / 40
    truth = rng.random(60) < score
    found = advisory_value(truth, score, threshold=threshold, local=local)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.value <= found.details["mean_confidence"] + 1e-12
    # The classes named the other way round: the same advice, but for scores at the threshold itself.
    if not np.isclose(score, threshold).any():
        mirrored = advisory_value(~truth, 1 - score, threshold=1 - threshold, local=local)
        assert (mirrored.value, mirrored.low) == pytest.approx((found.value, found.low), abs=1e-6)


def test_advice_near_a_threshold_of_a_half_is_that_of_the_papers() -> None:
    rng = np.random.default_rng(4)
    score = rng.integers(0, 100, 500) / 100 + 0.003
    truth = rng.random(500) < score**2
    plain = advisory_value(truth, score)
    assert advisory_value(truth, score, threshold=0.5) == plain
    near = advisory_value(truth, score, threshold=0.5 + 1e-9)
    assert (near.value, near.low, near.high) == pytest.approx((plain.value, plain.low, plain.high), abs=1e-6)


def test_advice_of_calibrated_scores_is_worth_its_confidence() -> None:
    score = np.repeat([0.1, 0.3, 0.6], 10)
    truth = np.concatenate([np.arange(10) < k for k in (1, 3, 6)])
    found = advisory_value(truth, score, threshold=0.2)
    assert found.value == pytest.approx(np.mean([0.75, 0.5625, 0.75]))
    assert found.value == pytest.approx(found.details["mean_confidence"])


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.1, 50.0])
def test_a_threshold_without_two_sides_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match=r"threshold must lie in \(0, 1\)"):
        advisory_value(np.array([True, False]), np.array([0.9, 0.6]), threshold=threshold)


def test_decimal_limits_belong_to_the_upper_bin() -> None:
    for bins in (10, 20, 100):
        limits = np.array([float(f"{k / bins:.2f}") for k in range(bins + 1)])
        found = equal_width(np.zeros(bins + 1, bool), limits, bins)
        assert found.n.tolist() == [1] * (bins - 1) + [2]
    halves = np.array([0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0])
    assert equal_width(np.zeros(11, bool), halves, low=0.5).n.tolist() == [1] * 9 + [2]
    # Advised negative: 1 - score must fall where the same confidence of a positive falls.
    negative = np.array([0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.0])
    assert [one.share_right.n for one in advice_values(np.zeros(10, bool), negative)] == [1] * 8 + [2]


def test_equal_mass_bins() -> None:
    found = equal_mass(np.arange(13) % 2 == 0, np.linspace(0.9, 0.1, 13), 5)
    assert found.n.tolist() == [3, 3, 3, 2, 2]
    assert (np.diff(found.mean_score) > 0).all()
    assert equal_mass(np.ones(3, bool), np.full(3, 0.4), 10).n.tolist() == [1, 1, 1]
    score = np.random.default_rng(0).random(50)
    _, place = equal_mass_and_places(score < 0.5, score, 7)
    assert np.bincount(place).tolist() == [8] + [7] * 6
    assert (np.diff(place[np.argsort(score)]) >= 0).all()


cases = st.integers(2, 60).flatmap(
    lambda n: st.tuples(
        st.lists(st.booleans(), min_size=n, max_size=n).map(lambda x: np.array(x, bool)),
        st.lists(st.integers(0, 40).map(lambda x: x / 40), min_size=n, max_size=n).map(np.array),
    )
)


@given(case=cases, seed=st.integers(0, 2**32 - 1))
def test_case_order_does_not_matter(case: Scored, seed: int) -> None:
    truth, score = case
    order = np.random.default_rng(seed).permutation(len(score))
    for measure in (ece, brier, oe_ratio, advisory_value, calibration_intercept, calibration_slope):
        one, other = measure(truth, score), measure(truth[order], score[order])
        assert one.value == pytest.approx(other.value, rel=1e-9, abs=1e-9, nan_ok=True)
        assert one.note == other.note


@given(case=cases)
def test_ranges_and_exchange_of_the_classes(case: Scored) -> None:
    truth, score = case
    assert 0 <= ece(truth, score).value <= 1
    assert 0 <= gici(truth, score).overall.value <= 1
    assert 0 <= advisory_value(truth, score).value <= 1
    assert brier(~truth, 1 - score).value == pytest.approx(brier(truth, score).value)
    one, other = calibration_slope(truth, score), calibration_slope(~truth, 1 - score)
    assert one.value == pytest.approx(other.value, rel=1e-6, abs=1e-9, nan_ok=True)
    one, other = calibration_intercept(truth, score), calibration_intercept(~truth, 1 - score)
    assert one.value == pytest.approx(-other.value, rel=1e-6, abs=1e-6, nan_ok=True)


@settings(max_examples=50)
@given(shift=st.floats(-2, 2), stretch=st.floats(0.3, 3))
def test_recalibrated_scores_have_intercept_0_and_slope_1(shift: float, stretch: float) -> None:
    rng = np.random.default_rng(1)
    score = rng.uniform(0.05, 0.95, 400)
    truth = rng.random(400) < expit(shift + stretch * logit(score))
    found = calibration_slope(truth, score)
    line = expit(found.details["intercept"] + found.value * logit(score))
    assert calibration_slope(truth, line).value == pytest.approx(1, abs=1e-6)
    assert calibration_intercept(truth, line).value == pytest.approx(0, abs=1e-6)
    moved = expit(logit(score) + calibration_intercept(truth, score).value)
    assert moved.sum() == pytest.approx(truth.sum(), abs=1e-6)


def test_profile_interval_is_where_the_likelihood_has_dropped() -> None:
    """Intercept with scores of 1/2: the binomial likelihood, 3 of 10, solved on its own."""
    from scipy.optimize import brentq

    truth = np.arange(10) < 3

    def drop(a: float) -> float:
        return float(
            2 * (3 * log(0.3) + 7 * log(0.7) - 3 * np.log(expit(a)) - 7 * np.log(expit(-a))) - 3.8414588
        )

    found = calibration_intercept(truth, np.full(10, 0.5), interval="profile")
    top = log(3 / 7)
    assert (found.low, found.high) == pytest.approx((brentq(drop, -6, top), brentq(drop, top, 4)), abs=1e-6)
    assert found.method == "profile"
    many = np.random.default_rng(2).random(20_000)
    hit = np.random.default_rng(3).random(20_000) < many
    wald, profile = (calibration_slope(hit, many, interval=interval) for interval in ("wald", "profile"))
    assert (profile.low, profile.high) == pytest.approx((wald.low, wald.high), abs=5e-4)


def test_scores_of_0_and_1_are_moved_and_said() -> None:
    truth = np.array([0, 1, 0, 1, 1, 0], bool)
    score = np.array([0.0, 0.3, 0.4, 0.6, 1.0, 0.7])
    found = calibration_slope(truth, score)
    assert found.note == notes.CLIPPED
    assert found.value > 0
    wrong = calibration_intercept(~truth, score)
    assert wrong.note == notes.CLIPPED
    assert np.isfinite([wrong.value, wrong.low, wrong.high]).all()


@pytest.mark.parametrize(
    "truth, score, note",
    [
        ([], [], notes.NO_CASE),
        ([1, 1, 1], [0.2, 0.5, 0.7], notes.ONE_CLASS),
        ([0, 0], [0.2, 0.5], notes.ONE_CLASS),
        ([0, 1, 0, 1], [0.4] * 4, notes.CONSTANT_SCORE),
        ([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9], notes.SEPARATED),
        ([1, 1, 0, 0], [0.1, 0.3, 0.4, 0.9], notes.SEPARATED),
    ],
)
def test_slope_undefined_with_its_reason(truth: list[int], score: list[float], note: str) -> None:
    found = calibration_slope(np.array(truth, bool), np.array(score, float))
    assert isnan(found.value)
    assert found.note == note


def test_edges_of_the_others() -> None:
    none = np.zeros(0, bool), np.zeros(0)
    for estimate in (
        ece(*none),
        ece(*none, binning="equal_mass"),
        gici(*none).over,
        brier(*none),
        oe_ratio(*none),
        advisory_value(*none),
        calibration_intercept(*none),
        smooth_error(*none).ici,
    ):
        assert isnan(estimate.value)
        assert estimate.note == notes.NO_CASE
    assert calibration_curve(*none) == ()
    assert advice_values(*none) == ()
    one = np.ones(1, bool), np.array([0.9])
    assert brier(*one).note == notes.ONE_CASE
    assert ece(*one).note == notes.ONE_CASE
    sure = np.array([1, 0, 1], bool), np.array([1.0, 0.0, 1.0])
    assert brier(*sure).note == notes.NO_SPREAD
    assert ece(*sure).low == 0 < ece(*sure).high
    perfect = gici(*sure)
    assert perfect.overall.value == 1
    assert (perfect.over.note, perfect.under.note) == (notes.NO_OVER, notes.NO_UNDER)
    assert oe_ratio(np.array([True]), np.zeros(1)).note == notes.NOTHING_EXPECTED
    assert oe_ratio(np.zeros(3, bool), np.full(3, 0.1)).note == notes.NO_EVENT
    assert oe_ratio(np.zeros(3, bool), np.full(3, 0.1)).value == 0
    assert oe_ratio(np.ones(3, bool), np.full(3, 0.5)).note == notes.ALL_EVENTS
    tied = smooth_error(np.arange(40) % 3 == 0, np.repeat([0.2, 0.7], 20))
    assert isnan(tied.ici.value) or 0 <= tied.ici.value <= 1
    assert smooth_error(np.arange(5) < 2, np.linspace(0, 1, 5)).ici.note == notes.FEW_SCORES


@pytest.mark.parametrize(
    "truth, score, match",
    [
        (np.array([0, 1]), np.array([0.1, 0.2]), "truth must be bool"),
        (np.array([True]), np.array([0.1, 0.2]), "one value a case"),
        (np.array([True, False]), np.array([0.1, 1.2]), r"probability in \[0, 1\], found 0.1 to 1.2"),
        (np.array([True, False]), np.array([0.1, np.nan]), "nan = missing"),
    ],
)
def test_wrong_input_is_refused(truth: Any, score: Any, match: str) -> None:
    for measure in (
        ece,
        gici,
        brier,
        oe_ratio,
        advisory_value,
        calibration_slope,
        smooth_error,
        calibration_curve,
    ):
        with pytest.raises(ValueError, match=match):
            measure(truth, score)


def test_bins_and_levels_are_checked() -> None:
    truth, score = np.array([True, False]), np.array([0.2, 0.7])
    with pytest.raises(ValueError, match="bins must be a whole number"):
        ece(truth, score, bins=0)
    with pytest.raises(ValueError, match=r"Did you mean 0\.95"):
        gici(truth, score, level=95)


def simulated(n: int, slope: float, shift: float, rng: np.random.Generator) -> Scored:
    predictor = rng.normal(-0.5, 1.5, n)
    return rng.random(n) < expit(shift + slope * predictor), expit(predictor)


@pytest.mark.slow
@pytest.mark.parametrize("slope, shift", [(1, 0), (0.6, 0.3)])
def test_intervals_hold_the_truth(slope: float, shift: float) -> None:
    """Own simulation; percentile intervals of resampled cases hold it in 0 and about 75 of 100."""
    rng = np.random.default_rng(5)
    large = simulated(2_000_000, slope, shift, rng)
    measures = [
        ece,
        lambda *case: gici(*case).overall,
        advisory_value,
        lambda *case: advisory_value(*case, threshold=0.2),
    ]
    true = [measure(*large).value for measure in measures]
    held = np.zeros(4)
    for _ in range(100):
        case = simulated(400, slope, shift, rng)
        for k, measure in enumerate(measures):
            found = measure(*case)
            held[k] += found.low <= true[k] <= found.high
    assert (held >= 97).all()


def test_smooth_error_interval_holds_a_right_score() -> None:
    rng = np.random.default_rng(6)
    found = smooth_error(*simulated(300, 1, 0, rng), rng=rng, replicates=60)
    for estimate in (found.ici, found.e50, found.e90):
        assert 0 <= estimate.low <= 0.01
        assert estimate.low < estimate.value < 0.2
    assert smooth_curve(np.linspace(0, 1, 50), np.full(50, 0.3)) == pytest.approx(0.3)


def test_same_seed_same_interval() -> None:
    case = simulated(200, 1, 0.3, np.random.default_rng(7))
    one, other = (smooth_error(*case, rng=np.random.default_rng(1), replicates=20) for _ in range(2))
    assert one == other


@pytest.mark.slow
def test_ten_million_cases() -> None:
    rng = np.random.default_rng(9)
    score = rng.random(10_000_000)
    truth = rng.random(10_000_000) < score
    assert ece(truth, score).value < 0.001
    assert ece(truth, score, binning="equal_mass").value < 0.001
    assert gici(truth, score).overall.value > 0.998
    assert brier(truth, score).value == pytest.approx(1 / 6, abs=3e-4)
    assert advisory_value(truth, score).value == pytest.approx(0.75, abs=1e-3)
    assert oe_ratio(truth, score).low <= 1.001
