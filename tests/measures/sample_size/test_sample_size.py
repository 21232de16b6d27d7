"""Cases needed: worked examples, real sets, never under the need, edges."""

import csv
import json
from math import isnan, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special

from trustreport.measures import sample_size
from trustreport.measures.estimate import Estimate
from trustreport.measures.sample_size import (
    Information,
    information,
    mss_auc,
    mss_brier,
    mss_calibration_slope,
    mss_net_benefit,
    mss_oe,
)


def information_normal(mean: float, sd: float) -> Information:
    """Of scores whose logit is normal: by the trapezoidal rule, exact to rounding for smooth integrands."""
    step = min(0.05, 0.2 / sd)  # far under the distance pi / sd of the integrand's nearest pole
    z = np.arange(-9.5, 9.5 + step, step)
    density = np.exp(-(z**2) / 2) * step / np.sqrt(2 * np.pi)
    predictor = mean + sd * z
    weight = density * special.expit(predictor) * special.expit(-predictor)
    return Information(
        float(weight.sum()), float((predictor**2 * weight).sum()), float((predictor * weight).sum())
    )


def information_beta(a: float, b: float) -> Information:
    """Of scores with a beta distribution: p (1 - p) makes it another one, whose logit has known moments."""
    alpha = float(special.beta(a + 1, b + 1) / special.beta(a, b))
    mean = float(special.digamma(a + 1) - special.digamma(b + 1))
    variance = float(special.polygamma(1, a + 1) + special.polygamma(1, b + 1))
    return Information(alpha, alpha * (variance + mean**2), alpha * mean)


def newcombe_se(auc: float, prevalence: float, n: float) -> float:
    """Newcombe (2006), Stat. Med. 25, 559-573, method 4."""
    g = (1 - auc) / (2 - auc) + auc / (1 + auc)
    return float(np.sqrt(auc * (1 - auc) * (1 + (n / 2 - 1) * g) / (n * n * prevalence * (1 - prevalence))))


# Prevalence, C, scores, width of O/E, then sensitivity, specificity and threshold.
EXAMPLES: dict[str, tuple[float, float, Information, float, tuple[float, float, float] | None]] = {
    "valve_normal": (0.018, 0.8, information_normal(-5, 2.5), 1.0, None),
    "valve_beta": (0.018, 0.8, information_beta(0.5, 0.5), 1.0, None),
    "dvt": (0.22, 0.82, information_normal(-1.75, 1.47), 0.2, (0.95, 0.35, 0.1)),
    "generic": (0.3, 0.75, information_normal(-0.95, 0.9), 0.3, (0.8, 0.6, 0.3)),
}
SETS = [
    f"{family}_{part}"
    for family, parts in {
        "heart": ("train", "ext_hungarian", "ext_switzerland", "ext_va"),
        "breast": ("train", "ext_gbsg", "ext_rotterdam_1990_1993"),
    }.items()
    for part in parts
]


@pytest.fixture(scope="session")
def expected(reference: Path) -> dict[tuple[str, str], Any]:
    entries = json.loads((reference / "external" / "expected.json").read_text())["entries"]
    return {(entry["dataset"], entry["metric"]): entry["value"] for entry in entries}


def read(reference: Path, name: str) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    with (reference / "contract" / name.split("_")[0] / f"{name}.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    return np.array([row["label"] == "1" for row in rows]), np.array([float(row["score"]) for row in rows])


def of_set(reference: Path, name: str, auc: float) -> dict[str, Estimate]:
    truth, score = read(reference, name)
    called = score >= 0.5
    squared = (score - truth) ** 2
    return {
        "mss_auc": mss_auc(auc, truth.mean()),
        "mss_net_benefit": mss_net_benefit(called[truth].mean(), (~called[~truth]).mean(), truth.mean(), 0.5),
        "mss_brier": mss_brier(float((squared**2).mean() - squared.mean() ** 2), truth.mean()),
    }


@pytest.mark.parametrize("name", SETS)
def test_agrees_with_the_contract_and_other_code(
    name: str, reference: Path, expected: dict[tuple[str, str], Any]
) -> None:
    found = of_set(reference, name, expected[name, "auc"])
    with (reference / "contract" / name.split("_")[0] / "expected.csv").open() as lines:
        rows = [
            row
            for row in csv.DictReader(lines)
            if row["id"].startswith("potential_robustness.mss_")
            and json.loads(row["scope"])["dataset"] == name
        ]
    assert len(rows) == 3
    for row in rows:
        assert found[row["id"].split(".")[1]].value == float(row["value"]), row["id"]
    real = expected[name, "mss"]
    assert found["mss_net_benefit"].details["exact"] == pytest.approx(real["snb_t0p5_width_0p2"], abs=1e-6)
    assert found["mss_brier"].details["exact"] == pytest.approx(real["brier_width_0p05"], abs=1e-6)
    truth, _ = read(reference, name)
    assert newcombe_se(expected[name, "auc"], truth.mean(), len(truth)) == pytest.approx(
        expected[name, "auc_se_newcombe"], abs=1e-10
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples(name: str, expected: dict[tuple[str, str], Any]) -> None:
    prevalence, auc, of_case, width, calls = EXAMPLES[name]
    value = expected["mss_worked_examples", name]
    oe = mss_oe(prevalence, width=width)
    assert oe.value == value["oe_n"]
    assert oe.details["target_se"] == pytest.approx(value["oe_se"], abs=1e-12)
    assert [of_case.alpha, of_case.slope, of_case.both] == pytest.approx(value["fisher"], abs=1e-9)
    slope = mss_calibration_slope(of_case)
    assert slope.details["exact"] == pytest.approx(value["cslope_n_exact"], abs=1e-6)
    assert slope.value == value["cslope_n"]
    assert mss_auc(auc, prevalence).value == value["c_n"]
    if calls:
        assert mss_net_benefit(calls[0], calls[1], prevalence, calls[2]).value == value["nb_n"]


@pytest.mark.parametrize("auc, prevalence, n", [(0.75, 0.5, 364), (0.8, 0.1, 837), (0.7, 0.3, 496)])
def test_auc_where_a_widespread_code_drops_a_factor(auc: float, prevalence: float, n: int) -> None:
    """The values were computed with the target rounded to .0255, one case more than its exact value asks."""
    assert mss_auc(auc, prevalence, width=2 * 1.96 * 0.0255).value == n


@given(auc=st.floats(0.5, 0.999), prevalence=st.floats(0.005, 0.995), width=st.floats(0.02, 0.4))
def test_auc_is_the_smallest_number_that_suffices(auc: float, prevalence: float, width: float) -> None:
    found = mss_auc(auc, prevalence, width=width)
    target = width / 3.92
    assert newcombe_se(auc, prevalence, found.value) <= target * (1 + 1e-9)
    if found.value > 10:
        assert newcombe_se(auc, prevalence, found.value - 1) > target * (1 - 1e-9)


@given(prevalence=st.floats(0.005, 0.995), oe=st.floats(0.2, 5), width=st.floats(0.05, 2))
def test_oe_is_the_smallest_number_that_suffices(prevalence: float, oe: float, width: float) -> None:
    def wide(n: float) -> float:
        se = sqrt((1 - prevalence) / (n * prevalence))
        return float(oe * (np.exp(1.96 * se) - np.exp(-1.96 * se)))

    n = mss_oe(prevalence, oe=oe, width=width).value
    assert wide(n) <= width * (1 + 1e-9)
    if n > 1:
        assert wide(n - 1) > width * (1 - 1e-9)


@given(sd=st.floats(0.3, 6), mean=st.floats(-6, 6))
def test_normal_scores_by_quadrature_and_by_quantiles(sd: float, mean: float) -> None:
    from scipy.special import expit, ndtri

    scores = expit(mean + sd * ndtri((np.arange(200_000) + 0.5) / 200_000))
    exact, many = information_normal(mean, sd), information(scores)
    assert [many.alpha, many.slope, many.both] == pytest.approx(
        [exact.alpha, exact.slope, exact.both], rel=2e-3, abs=1e-5
    )


def test_slope_of_two_scores_by_hand() -> None:
    """Scores 1/5 and 4/5: Ia = .16, Iab = 0, Ib = .16 (ln 4)^2; n = (3.92 / width)^2 / Ib."""
    found = mss_calibration_slope(information(np.array([0.2, 0.8])))
    assert found.details["exact"] == pytest.approx(19.6**2 / (0.16 * log(4) ** 2))


def test_a_whole_number_is_not_rounded_up_by_its_last_digits() -> None:
    assert mss_brier(100 / 78.4**2, 0.5).value == 100
    assert mss_brier(100.001 / 78.4**2, 0.5).value == 101


@pytest.mark.parametrize(
    "prevalence, least", [(0.001, 10_000), (0.999, 10_000), (0.03, 334), (0.1, 100), (0.5, 100)]
)
def test_brier_expects_ten_of_the_rarer_class(prevalence: float, least: int) -> None:
    """A width of .05 alone would take 100 cases, and 4 where every score is as small as the prevalence."""
    assert mss_brier(100 / 78.4**2, prevalence).value == least
    few = mss_brier(0.0006, prevalence)
    assert few.details["exact"] == pytest.approx(3.69, abs=0.01)
    assert few.value == pytest.approx(10 / min(prevalence, 1 - prevalence), abs=1)


def test_other_levels_take_the_exact_quantile() -> None:
    sizes = [mss_brier(0.04, 0.3, level=level).value for level in (0.9, 0.95, 0.99)]
    assert sizes[0] < sizes[1] < sizes[2]
    assert mss_brier(0.04, 0.3).details["target_se"] == 0.05 / 3.92


@pytest.mark.parametrize(
    "found, note",
    [
        (mss_auc(1.0, 0.5), sample_size.SEPARATED),
        (mss_auc(0.8, 0.0), sample_size.ONE_CLASS),
        (mss_net_benefit(0.0, 1.0, 0.3, 0.5), sample_size.NOBODY_CALLED),
        (mss_net_benefit(1.0, 1.0, 0.3, 0.5), sample_size.ALL_RIGHT),
        (mss_net_benefit(float("nan"), 0.5, 0.0, 0.5), sample_size.ONE_CLASS),
        (mss_brier(0.0, 0.3), sample_size.NO_VARIANCE),
        (mss_brier(0.01, 1.0), sample_size.ONE_CLASS),
        (mss_oe(1.0), sample_size.ONE_CLASS),
        (mss_calibration_slope(information(np.full(9, 0.3))), sample_size.NO_SPREAD),
    ],
)
def test_undefined_with_its_reason(found: Estimate, note: str) -> None:
    assert isnan(found.value)
    assert found.note == note


def test_scores_of_0_and_1_are_moved_and_said() -> None:
    found = mss_calibration_slope(information(np.array([0.0, 0.3, 0.6, 1.0])))
    assert found.value > 0
    assert found.note == sample_size.EXTREME


@pytest.mark.parametrize(
    "call, match",
    [
        (lambda: mss_auc(0.8, 0.2, width=0), "width must be positive"),
        (lambda: mss_auc(80, 0.2), r"auc must lie in \[0, 1\]"),
        (lambda: mss_auc(0.8, 20), "prevalence must lie"),
        (lambda: mss_oe(0.2, oe=0), "oe must be positive"),
        (lambda: mss_net_benefit(0.9, 0.9, 0.3, 1), "threshold must lie"),
        (lambda: mss_net_benefit(9, 0.9, 0.3, 0.1), "sensitivity must lie"),
        (lambda: mss_brier(-1, 0.5), "must not be negative"),
        (lambda: information(np.array([1.2])), "scores must lie"),
    ],
)
def test_wrong_input_is_refused(call: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        call()
