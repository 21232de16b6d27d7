"""A latent class of several tests: against another program, the truth that made the results, and by hand."""

import csv
from itertools import product
from math import isnan, log
from pathlib import Path

import numpy as np
import pytest

from trustreport.measures.confusion import latent_class as model
from trustreport.measures.confusion.latent_class import LatentClasses, latent_classes
from trustreport.measures.notes import NO_CASE

REFERENCE = Path(__file__).parents[2] / "reference" / "latent_class.csv"
N = 1_000_000
PATTERNS = {n: np.array(list(product((0, 1), repeat=n))) for n in (3, 4, 5)}


def results(counts: np.ndarray) -> np.ndarray:
    """So many cases with each pattern, (n_tests, n_cases)."""
    patterns = PATTERNS[int(np.log2(len(counts)))]
    return np.repeat(patterns, counts, axis=0).T.astype(bool)


def shares(rates: np.ndarray, n: int) -> np.ndarray:
    """How likely each pattern is where test j is positive in a share `rates[j]`, independently."""
    return np.prod(np.where(PATTERNS[n] == 1, rates, 1 - np.asarray(rates)), axis=1)


def fitted(tests: np.ndarray, **more: float) -> LatentClasses:
    return latent_classes(tests, rng=np.random.default_rng(1), **more)


def rates_of(found: LatentClasses) -> tuple[float, np.ndarray, np.ndarray]:
    """Prevalence, sensitivities and specificities."""
    device = found.device
    se = [device["sensitivity"].value, *(one.value for one, _ in found.references)]
    sp = [device["specificity"].value, *(other.value for _, other in found.references)]
    return device["prevalence"].value, np.array(se), np.array(sp)


def test_the_fit_is_that_of_another_program() -> None:
    """Five dentists, 3,869 radiographs; two classes by randomLCA, expected frequencies and BIC as printed."""
    with REFERENCE.open() as lines:
        rows = list(csv.DictReader(lines))
    assert [row["results"] for row in rows] == ["".join(map(str, p)) for p in PATTERNS[5]]
    observed = np.array([int(row["observed"]) for row in rows])
    found = fitted(results(observed))
    p, se, sp = rates_of(found)
    chance = p * shares(se, 5) + (1 - p) * shares(1 - sp, 5)
    n = observed.sum()
    assert n * chance == pytest.approx([float(row["fitted"]) for row in rows], abs=0.13)
    bic = -2 * float(observed @ np.log(chance)) + 11 * log(n)
    assert bic == pytest.approx(15021.6, abs=0.05)


def test_results_that_refute_the_assumption_have_no_limits() -> None:
    """The dentists err together: two classes do not fit, as the vignette of randomLCA says."""
    with REFERENCE.open() as lines:
        observed = np.array([int(row["observed"]) for row in csv.DictReader(lines)])
    e = fitted(results(observed)).device["sensitivity"]
    assert e.value == pytest.approx(0.403, abs=0.001)
    assert isnan(e.low)
    assert isnan(e.high)
    assert e.note.has("latent_class_does_not_fit")
    assert e.details["df"] == 31 - 11
    assert e.details["p_fit"] < 1e-10


@pytest.mark.parametrize("p", [0.1, 0.4, 0.7])
@pytest.mark.parametrize(
    ("se", "sp"), [((0.9, 0.8, 0.7), (0.95, 0.9, 0.85)), ((0.6, 0.95, 0.9, 0.8), (0.99, 0.8, 0.9, 0.95))]
)
def test_the_truth_that_made_the_results_is_found_again(
    p: float, se: tuple[float, ...], sp: tuple[float, ...]
) -> None:
    n = len(se)
    chance = p * shares(np.array(se), n) + (1 - p) * shares(1 - np.array(sp), n)
    found = fitted(results(np.round(N * chance).astype(int)))
    at, sensitivities, specificities = rates_of(found)
    assert at == pytest.approx(p, abs=2e-3)
    assert sensitivities == pytest.approx(np.array(se), abs=2e-3)
    assert specificities == pytest.approx(np.array(sp), abs=2e-3)
    called = p * se[0] + (1 - p) * (1 - sp[0])
    assert found.device["ppv"].value == pytest.approx(p * se[0] / called, abs=3e-3)
    assert found.device["npv"].value == pytest.approx((1 - p) * sp[0] / (1 - called), abs=3e-3)
    for e in found.device.values():
        assert e.low < e.value < e.high


def drawn(n: int = 600, seed: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    return rng.random((3, n)) < np.where(ill, [[0.9], [0.8], [0.85]], [[0.1], [0.05], [0.1]])


def test_order_of_cases_and_of_references_does_not_matter() -> None:
    tests = drawn()
    shuffled = tests[:, np.random.default_rng(5).permutation(tests.shape[1])]
    assert fitted(shuffled) == fitted(tests)
    other, found = fitted(tests[[0, 2, 1]]), fitted(tests)
    assert other.device["sensitivity"].value == pytest.approx(found.device["sensitivity"].value, abs=1e-6)
    assert other.references[0][0].value == pytest.approx(found.references[1][0].value, abs=1e-6)


def test_turned_results_turn_the_measures() -> None:
    found, turned = fitted(drawn()).device, fitted(~drawn()).device
    assert turned["sensitivity"].value == pytest.approx(found["specificity"].value, abs=1e-5)
    assert turned["prevalence"].value == pytest.approx(1 - found["prevalence"].value, abs=1e-5)


def test_three_tests_leave_no_degree_of_freedom_to_test_the_assumption() -> None:
    e = fitted(drawn()).device["sensitivity"]
    assert e.details["df"] == 0
    assert "p_fit" not in e.details


@pytest.mark.parametrize("way", [(0.3, 0.0), (0.0, 0.3), (0.3, 0.3)])
def test_the_declared_dependence_has_the_truth_within_its_range(way: tuple[float, float]) -> None:
    """The device errs together with the first reference, by 0.3 of the largest covariance."""
    p, se, well = 0.3, np.array([0.8, 0.7, 0.9]), np.array([0.1, 0.2, 0.05])
    same = np.where(PATTERNS[3][:, 0] == PATTERNS[3][:, 1], 1, -1)
    third = PATTERNS[3][:, 2] == 1

    def together(rates: np.ndarray, share: float) -> np.ndarray:
        a, b, c = rates
        extra = share * min(a * (1 - b), b * (1 - a)) * same * np.where(third, c, 1 - c)
        return shares(rates, 3) + extra

    chance = p * together(se, way[0]) + (1 - p) * together(well, way[1])
    tests = results(np.round(N * chance).astype(int))
    alone, allowed = fitted(tests).device, fitted(tests, dependence=0.3).device
    truth = {"sensitivity": 0.8, "specificity": 0.9, "prevalence": 0.3}
    assert any(abs(alone[name].value - true) > 0.01 for name, true in truth.items())  # taken as independent
    for name, true in truth.items():
        e = allowed[name]
        assert e.value == alone[name].value
        assert e.details["lowest"] - 2e-3 <= true <= e.details["highest"] + 2e-3
        assert e.low < true < e.high
        assert e.low <= alone[name].low
        assert e.high >= alone[name].high


def test_clusters_of_cases_are_drawn_together() -> None:
    """Each case four times over: limits as wide as those of the cases themselves, twice those of all."""
    tests = drawn(300)
    four = np.repeat(tests, 4, axis=1)
    cluster = np.repeat(np.arange(300), 4)
    width = {
        name: e.high - e.low
        for name, found in (
            ("once", fitted(tests)),
            ("clusters", fitted(four, cluster=cluster)),
            ("apart", fitted(four)),
        )
        for e in [found.device["specificity"]]
    }
    assert width["clusters"] == pytest.approx(width["once"], rel=0.15)
    assert width["apart"] == pytest.approx(width["once"] / 2, rel=0.2)
    e = fitted(four, cluster=cluster).device["specificity"]
    assert (e.method, e.details["clusters"], e.n) == ("latent_class_clusters", 300, 1200)


def test_tests_that_always_agree_are_right_at_the_end_of_the_range() -> None:
    e = fitted(np.repeat(np.array([[True, False]] * 3), [100, 300], axis=1)).device["sensitivity"]
    assert e.value == pytest.approx(1, abs=1e-6)
    assert 0.9 < e.low < 1
    assert model.AT_THE_END in e.note


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_test_that_knows_nothing_identifies_nothing(which: int) -> None:
    tests = drawn(2000)
    tests[which] = np.random.default_rng(8).random(2000) < 0.5
    found = fitted(tests)
    for e in (*found.device.values(), *(e for pair in found.references for e in pair)):
        assert isnan(e.value)
        assert e.note == model.NOT_IDENTIFIED


def test_a_third_reference_that_knows_nothing_does_no_harm() -> None:
    tests = np.vstack([drawn(2000), np.random.default_rng(8).random(2000) < 0.5])
    found = fitted(tests)
    assert found.device["sensitivity"].value == pytest.approx(0.9, abs=0.04)
    se, sp = found.references[2]
    assert se.value == pytest.approx(1 - sp.value, abs=0.06)


def test_what_cannot_be_estimated_says_so() -> None:
    assert fitted(np.zeros((3, 0), bool)).device["ppv"].note == NO_CASE
    one = fitted(drawn(), cluster=np.zeros(600, int)).device["ppv"]
    assert one.note.has("fewer_than_two_clusters_spread_between")
    with pytest.raises(ValueError, match="3 to 6 tests, got 2"):
        fitted(drawn()[:2])
    with pytest.raises(ValueError, match="dependence"):
        fitted(drawn(), dependence=1.5)
