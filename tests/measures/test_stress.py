"""Numbers at the edge of what a computer holds: huge counts, narrow types, scores next to 0, many readers.

Expected values are exact fractions, counts by hand, or the same scores in another unit or type.
"""

from fractions import Fraction
from math import exp, isnan, log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, t

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.binned import ece, gici
from trustreport.measures.calibration.local_regression import loess
from trustreport.measures.calibration.logistic import calibration_intercept, calibration_slope
from trustreport.measures.calibration.overall import brier, oe_ratio
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.mrmc.auc import fit_auc, reader_auc
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.measures.net_benefit import AT_ZERO, interventions_avoided, net_benefit
from trustreport.measures.paired.difference import PairedTable
from trustreport.measures.paired.ratios import mcnemar_exact
from trustreport.measures.proportion import clopper_pearson, wilson
from trustreport.measures.roc.auc import auc_logit_larger, delong, newcombe_auc
from trustreport.measures.roc.curve import roc_curve
from trustreport.measures.sites.binomial_normal import LEAST_TAU, binomial_normal
from trustreport.measures.two_arm.difference import newcombe

Bools = NDArray[np.bool_]
HUGE = 10**12
LEAST = 5e-324  # the number next to 0
TRUTH: Bools = np.arange(40) % 3 == 0
SCORE = np.random.default_rng(3).integers(1, 60, 40) / 64  # exact in every type of numbers
TIES: Bools = np.full(40, 0.25)

# ---------------------------------------------------------------- counts


def exact(name: str, tp: int, fp: int, fn: int, tn: int) -> float:
    """The measure by fractions."""
    a, b, c, d = map(Fraction, (tp, fp, fn, tn))
    root = float((a + b) * (a + c) * (d + b) * (d + c)) ** 0.5
    return {
        "sensitivity": float(a / (a + c)),
        "specificity": float(d / (b + d)),
        "accuracy": float((a + d) / (a + b + c + d)),
        "f1": float(2 * a / (2 * a + b + c)),
        "mcc": float(a * d - b * c) / root,
        "lr_positive": float(a / (a + c) / (b / (b + d))),
        "diagnostic_odds_ratio": float(a * d / (b * c)),
        "youden_j": float(a / (a + c) + d / (b + d) - 1),
    }[name]


CELLS = (9 * HUGE, 2 * HUGE, HUGE, 7 * HUGE)
NAMES = "sensitivity specificity accuracy f1 mcc lr_positive diagnostic_odds_ratio youden_j".split()


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_1e12_counts(name: str) -> None:
    found = estimated(MEASURES[name], ConfusionCounts(*CELLS))
    assert found.value == pytest.approx(exact(name, *CELLS), rel=1e-12)
    assert found.low < found.value < found.high
    assert found.high - found.low < 1e-5 * found.value  # a millionth of what 19 cases would give
    assert found.n >= 9 * HUGE  # cases, or those of one class


@pytest.mark.parametrize("name", MEASURES)
def test_products_of_counts_do_not_overflow(name: str) -> None:
    plain = estimated(MEASURES[name], ConfusionCounts(*CELLS))
    of_numpy = estimated(MEASURES[name], ConfusionCounts(*np.array(CELLS, np.int64)))  # tp * tn is 6e25
    assert of_numpy == plain


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    "cells", [(HUGE, 0, 0, HUGE), (0, HUGE, HUGE, 0), (HUGE, 1, 1, HUGE), (1, HUGE, 0, 0)]
)
def test_limits_of_huge_counts_stay_in_the_range(name: str, cells: tuple[int, ...]) -> None:
    found = estimated(MEASURES[name], ConfusionCounts(*cells))
    if isnan(found.value):
        assert found.note
        return
    assert found.low <= found.value <= found.high
    if name in ("mcc", "cohen_kappa", "youden_j"):
        assert -1 <= found.low <= found.high <= 1
    elif name not in ("lr_positive", "lr_negative", "diagnostic_odds_ratio"):
        assert 0 <= found.low <= found.high <= 1


def test_shares_of_1e12_cases() -> None:
    few, many = wilson(3, HUGE), wilson(HUGE - 3, HUGE)
    # Wilson's limits of a rare event are those of a Poisson count: x + z^2/2 -+ z sqrt(x + z^2/4)
    z = norm.ppf(0.975)
    limits = [(3 + z * z / 2 + side * z * sqrt(3 + z * z / 4)) / HUGE for side in (-1, 1)]
    assert (few.low, few.high) == pytest.approx(limits, rel=1e-9)
    assert (1 - many.high, 1 - many.low) == pytest.approx(limits, rel=1e-4)  # of numbers next to 1
    # No event: 1 - (alpha / 2)^(1 / n)
    assert clopper_pearson(0, HUGE).high == pytest.approx(-log(0.025) / HUGE, rel=1e-9)


def test_pairs_and_arms_of_1e12() -> None:
    # Of 2e12 discordant pairs 1e12 + 1e6 went one way: z = 2e6 / sqrt(2e12) = 1.414
    found = mcnemar_exact(PairedTable(HUGE, HUGE + 10**6, HUGE - 10**6, HUGE))
    assert found.p == pytest.approx(2 * norm.sf(sqrt(2)), rel=1e-4)
    gap = newcombe(HUGE // 4, HUGE, HUGE // 5, HUGE)
    assert abs(gap.value) == pytest.approx(0.05)
    assert gap.high - gap.low == pytest.approx(2 * norm.ppf(0.975) * sqrt((0.1875 + 0.16) / HUGE), rel=1e-5)


def test_sites_of_1e12_cases_are_known_logits() -> None:
    """Shares of 1/4, 1/2 and 3/4: logits -ln 3, 0 and ln 3, and nothing else varies."""
    found = binomial_normal([HUGE, 2 * HUGE, 3 * HUGE], [4 * HUGE] * 3)
    tau2 = 2 / 3 * log(3) ** 2
    assert found.mean.value == pytest.approx(0.5)
    assert found.mean.se == pytest.approx(sqrt(tau2 / 3), rel=1e-6)
    assert found.tau2.value == pytest.approx(tau2, rel=1e-6)
    away = t.ppf(0.975, 2) * sqrt(tau2 / 2)  # Student's interval of three normal numbers
    assert found.mean.high == pytest.approx(1 / (1 + exp(-away)), rel=1e-6)
    assert found.i2.value == pytest.approx(1)


def test_alike_sites_of_1e12_cases() -> None:
    found = binomial_normal([HUGE] * 3, [2 * HUGE] * 3)
    assert found.mean.se == pytest.approx(1 / sqrt(6 * HUGE / 4))
    assert (found.tau2.value, found.tau2.low) == (0, 0)
    assert found.tau2.high <= LEAST_TAU**2 * (1 + 1e-9)


# ---------------------------------------------------------------- scores

OF_RISKS = {
    "brier": brier,
    "ece": ece,
    "gici": lambda truth, score: gici(truth, score).overall,
    "intercept": calibration_intercept,
    "slope": calibration_slope,
    "oe": oe_ratio,
    "net benefit": lambda truth, score: net_benefit(truth, score, 0.25),
    "auc": auc_logit_larger,
    "delong": delong,
    "newcombe": newcombe_auc,
}


@pytest.mark.parametrize("measure", OF_RISKS)
@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_scores_of_few_bits(measure: str, kind: Any) -> None:
    """Sums are of 64 bits, whatever the scores came in."""
    found, known = (OF_RISKS[measure](TRUTH, SCORE.astype(of)) for of in (kind, np.float64))
    got, wanted = ((e.value, e.low, e.high) for e in (found, known))
    assert got == pytest.approx(wanted, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("measure", OF_RISKS)
def test_certain_scores_of_few_bits(measure: str) -> None:
    """1 - 1e-8 is 1 in 32 bits, where log odds are infinite."""
    certain = np.where(SCORE > 0.5, 1.0, 0.0)
    found, known = (OF_RISKS[measure](TRUTH, certain.astype(of)) for of in (np.float32, np.float64))
    assert found.value == pytest.approx(known.value, nan_ok=True)


@pytest.mark.parametrize("area", [delong, auc_logit_larger, newcombe_auc])
def test_ranks_of_scores_next_to_zero(area: Any) -> None:
    whole = (SCORE * 64).astype(np.int64)
    found, known = area(TRUTH, whole * LEAST), area(TRUTH, whole)
    assert (found.value, found.low, found.high) == (known.value, known.low, known.high)
    assert roc_curve(TRUTH, whole * LEAST).tpr.tolist() == roc_curve(TRUTH, whole).tpr.tolist()


def test_probabilities_next_to_zero() -> None:
    score = (SCORE * 64) * LEAST
    assert calibration_slope(TRUTH, score).note == notes.CONSTANT_SCORE  # all 1e-8 once moved inwards
    assert oe_ratio(TRUTH, score).note == notes.NOTHING_EXPECTED
    # Nothing is expected: the Brier score is the share of events, the intercept ln(odds) - ln(odds of 1e-8).
    share = TRUTH.mean()
    assert brier(TRUTH, score).value == pytest.approx(share)
    assert calibration_intercept(TRUTH, score).value == pytest.approx(
        log(share / (1 - share)) - log(1e-8 / (1 - 1e-8))
    )
    assert interventions_avoided(TRUTH, score > 0, 1e-300).note == AT_ZERO


def test_a_curve_of_scores_next_to_zero_has_the_same_shape() -> None:
    x = np.sort((SCORE * 64).astype(np.int64))
    y = np.sin(x / 9.0)
    assert loess(x * LEAST, y, span=0.75) == pytest.approx(loess(x * 1.0, y, span=0.75), rel=1e-9)


@pytest.mark.parametrize("measure", OF_RISKS)
@pytest.mark.parametrize("value", [0.0, LEAST, 0.25, np.nextafter(1, 0), 1.0])
def test_scores_of_all_ties(measure: str, value: float) -> None:
    found = OF_RISKS[measure](TRUTH, np.full(40, value))
    if "auc" in measure or measure in ("delong", "newcombe"):
        assert found.value == 0.5
    assert found.note if isnan(found.value) else found.value == found.value
    if not isnan(found.low):
        assert found.low <= found.value <= found.high


@pytest.mark.parametrize("measure", OF_RISKS)
@pytest.mark.parametrize("present", [False, True])
def test_a_constant_truth(measure: str, present: bool) -> None:
    found = OF_RISKS[measure](np.full(40, present), SCORE)
    assert found.note if isnan(found.value) else found.low <= found.value <= found.high or found.note


# ---------------------------------------------------------------- readers


def test_500_readers_without_spread_between_them() -> None:
    """Every reader decides alike: the difference is one reader's, and readers add no variance."""
    right = np.array([[1, 1, 0, 1], [1, 1, 1, 1]], float)
    fit = fit_proportions(np.repeat(right[:, None], 500, axis=1))
    assert fit.difference().value == pytest.approx(0.25)
    one = fit_proportions(np.repeat(right[:, None], 5, axis=1))
    assert fit.difference().se == pytest.approx(one.difference().se)


def test_areas_of_500_readers() -> None:
    """Areas by pairs, counted."""
    rng = np.random.default_rng(5)
    truth = np.array([1, 0, 1, 0, 0, 1], bool)
    rating = rng.integers(0, 5, (2, 500, 6)).astype(float)
    pairs = np.sign(rating[..., truth, None] - rating[..., None, ~truth]) / 2 + 0.5
    areas = pairs.mean(axis=(-2, -1))
    assert reader_auc(rating, truth) == pytest.approx(areas)
    found = fit_auc(rating, truth).difference()
    assert found.value == pytest.approx(float((areas[1] - areas[0]).mean()))
    assert found.low < found.value < found.high
