"""SPR, WPR and their parts, correlation and heterogeneity over sites: references, properties, edges."""

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
from scipy import stats
from scipy.special import chdtrc

from trustreport.measures.sites import heterogeneity as heterogeneity_notes
from trustreport.measures.sites import robustness
from trustreport.measures.sites.heterogeneity import heterogeneity
from trustreport.measures.sites.robustness import (
    p_acceptability,
    p_performance,
    similarity_performance_correlation,
    spr,
    wpr,
)

EXTERNAL = [
    "heart_ext_hungarian",
    "heart_ext_switzerland",
    "heart_ext_va",
    "breast_ext_gbsg",
    "breast_ext_rotterdam_1990_1993",
]
shares = st.floats(0, 1)


@pytest.fixture(scope="session")
def entries(reference: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((reference / "external" / "expected.json").read_text())[
        "entries"
    ]
    return found


def delong(truth: NDArray[np.bool_], score: NDArray[np.float64]) -> tuple[float, float]:
    """Area and variance by comparing every pair."""
    up, down = score[truth][:, None], score[~truth]
    won = (up > down) + 0.5 * (up == down)
    return float(won.mean()), float(
        won.mean(axis=1).var(ddof=1) / len(up) + won.mean(axis=0).var(ddof=1) / len(down)
    )


def area(reference: Path, name: str) -> tuple[float, float, int]:
    with (reference / "contract" / name.split("_")[0] / f"{name}.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    truth = np.array([row["label"] == "1" for row in rows])
    return *delong(truth, np.array([float(row["score"]) for row in rows])), len(rows)


def least_internal(reference: Path, family: str) -> float:
    text = (reference / "contract" / family / "study.yaml").read_text()
    return min(json.loads(text.split("internal_splits:")[1].split("values:")[1].strip()))


@pytest.mark.parametrize("name", EXTERNAL)
def test_agrees_with_the_contract(name: str, reference: Path, entries: list[dict[str, Any]]) -> None:
    """With the reference's own degree of correspondence, so that no permutation noise is between."""
    value = {entry["metric"]: entry["value"] for entry in entries if entry["dataset"] == name}
    family = name.split("_")[0]
    here, training = area(reference, name), area(reference, f"{family}_train")
    test = p_performance(*here, *training)
    delong = value["auc_vs_train_delong_unpaired"]
    assert test.value == pytest.approx(delong["p"], abs=1e-6)
    assert test.df == pytest.approx(delong["df"], abs=1e-6)
    assert test.details["statistic"] == pytest.approx(-delong["D"], abs=1e-6)
    assert spr(test.value, value["psi_p"]).value == pytest.approx(value["spr_auc"], abs=1e-6)
    acceptable = p_acceptability(here[0], here[1], least_internal(reference, family))
    with (reference / "contract" / family / "expected.csv").open() as lines:
        wanted = {
            row["id"]: float(row["value"])
            for row in csv.DictReader(lines)
            if row["id"].startswith("potential_robustness.") and json.loads(row["scope"])["dataset"] == name
        }
    assert spr(test.value, value["psi_p"]).value == pytest.approx(
        wanted["potential_robustness.spr"], abs=1e-6
    )
    assert wpr(acceptable.value, value["psi_p"]).value == pytest.approx(
        wanted["potential_robustness.wpr"], abs=1e-6
    )


def test_seeds_and_formula_values(reference: Path, entries: list[dict[str, Any]]) -> None:
    seeds = json.loads((reference / "seeds" / "trust_scalars.json").read_text())["spr"]
    for seed in seeds:
        for index in (spr, wpr):
            assert index(seed["p_perf"], seed["p_sim"]).value == pytest.approx(seed["value"], abs=1e-12)
    formulas = [entry for entry in entries if entry["metric"] == "spr_or_wpr"]
    assert len(formulas) == 6
    for entry in formulas:
        pair = [float(part.split("=")[1]) for part in entry["method"].replace(";", ",").split(",")[1:3]]
        assert spr(*pair).value == pytest.approx(entry["value"], abs=1e-12)


def test_printed_scores_are_those_of_the_k_that_gives_them(reference: Path) -> None:
    """The paper prints scores alone; the k that gives each was solved for outside this project."""
    seed = json.loads((reference / "seeds" / "seed003.json").read_text())["spr_wpr"]
    solved = {name: k for name, k in seed["printed_values_inverted"].items() if not isinstance(k, str)}
    assert len(solved) == 5
    for name, k in solved.items():
        index = {"SPR": spr, "WPR": wpr}[name.split()[0]]
        assert index(k, 0.0).value == pytest.approx(float(name.split()[1]), abs=1e-9)
    assert spr(0.0005, 0.0).value < 0.005  # printed ".0": any k under .0006


@given(p=st.floats(1e-12, 1), similarity=st.floats(0, 0.999))
def test_is_fishers_combination(p: float, similarity: float) -> None:
    k = p * (1 - similarity)
    assert spr(p, similarity).value == pytest.approx(float(chdtrc(4, -2 * log(k))), abs=1e-12)


@given(p=shares, similarity=shares)
def test_index_stays_in_range_and_follows_its_parts(p: float, similarity: float) -> None:
    value = wpr(p, similarity).value
    assert 0 <= value <= 1
    assert wpr(p, min(1, similarity + 0.1)).value <= value + 1e-12
    assert wpr(min(1, p + 0.1), similarity).value >= value - 1e-12


def test_index_of_undefined_parts() -> None:
    assert spr(float("nan"), 0.5).note == robustness.NO_PERFORMANCE
    assert spr(0.5, float("nan")).note == robustness.NO_SIMILARITY
    with pytest.raises(ValueError, match="p_similarity must lie in"):
        wpr(0.5, 1.2)
    with pytest.raises(ValueError, match="p_performance must lie in"):
        spr(-0.1, 0.2)


def test_parts_without_variance() -> None:
    assert p_performance(1.0, 0.0, 50, 0.8, 0.001, 50).note == robustness.NO_VARIANCE
    assert p_performance(0.9, 0.001, 1, 0.8, 0.001, 50).note == robustness.NO_VARIANCE
    assert p_acceptability(1.0, 0.0, 0.8).note == robustness.NO_VARIANCE
    assert p_acceptability(0.8, 0.01, 0.8).value == 0.5
    assert p_performance(0.8, 0.01, 50, 0.8, 0.01, 50).value == 1


def test_correlation_reproduces_the_published_p_values(entries: list[dict[str, Any]]) -> None:
    """Eight sites built to have exactly the published r."""
    rng = np.random.default_rng(0)
    table = [entry for entry in entries if entry["metric"] == "meta_validation_pearson_p"]
    assert len(table) == 3
    for entry in table:
        x, noise = rng.normal(size=(2, 8))
        x -= x.mean()
        noise -= noise.mean()
        noise -= x * (x @ noise) / (x @ x)
        y = entry["r"] * x / np.linalg.norm(x) + sqrt(1 - entry["r"] ** 2) * noise / np.linalg.norm(noise)
        found = similarity_performance_correlation(x, y)
        assert found.value == pytest.approx(entry["r"], abs=1e-12)
        assert found.p == pytest.approx(entry["value"], abs=1e-9)
        assert found.low == pytest.approx(np.tanh(np.arctanh(entry["r"]) - 1.959964 / sqrt(5)), abs=1e-6)
        assert found.n == 8


def test_correlation_of_few_or_equal_sites() -> None:
    x = np.array([0.1, 0.5, 0.9])
    assert similarity_performance_correlation(x[:2], x[:2]).note == robustness.TWO_SITES
    three = similarity_performance_correlation(x, np.array([0.7, 0.6, 0.9]))
    assert three.note == robustness.THREE_SITES
    assert isnan(three.low)
    assert similarity_performance_correlation(x, np.full(3, 0.7)).note == robustness.ONE_LINE
    assert similarity_performance_correlation(x, 1 - x).value == -1
    assert similarity_performance_correlation(x, 1 - x).note == robustness.ON_A_LINE
    missing = similarity_performance_correlation(np.array([0.1, 0.5, np.nan]), x)
    assert (missing.n, missing.note) == (2, robustness.TWO_SITES)
    with pytest.raises(ValueError, match="one value a site"):
        similarity_performance_correlation(x, x[:2])


# Colditz et al. (1994), JAMA 271, 698-702, 13 trials of BCG vaccine: cases and others, vaccinated and not.
BCG = np.array(
    [
        (4, 119, 11, 128),
        (6, 300, 29, 274),
        (3, 228, 11, 209),
        (62, 13536, 248, 12619),
        (33, 5036, 47, 5761),
        (180, 1361, 372, 1079),
        (8, 2537, 10, 619),
        (505, 87886, 499, 87892),
        (29, 7470, 45, 7232),
        (17, 1699, 65, 1600),
        (186, 50448, 141, 27197),
        (5, 2493, 3, 2338),
        (27, 16886, 29, 17825),
    ],
    float,
)


def bcg() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b, c, d = BCG.T
    return np.log(a / (a + b)) - np.log(c / (c + d)), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)


def test_heterogeneity_agrees_with_metafor() -> None:
    """Values printed in the documentation of metafor (rma.uni and confint.rma.uni, data dat.bcg)."""
    found = heterogeneity(*bcg())
    assert found.mean.value == pytest.approx(-0.7145, abs=5e-5)
    assert (found.tau2.value, found.tau2.low, found.tau2.high) == pytest.approx(
        (0.3132, 0.1197, 1.1115), abs=5e-5
    )
    assert (found.i2.value, found.i2.low, found.i2.high) == pytest.approx((0.9222, 0.8192, 0.9768), abs=5e-5)
    assert found.mean.details["q"] == pytest.approx(152.2330, abs=5e-5)
    assert heterogeneity(*bcg(), tau_method="dl").tau2.value == pytest.approx(0.3088, abs=5e-5)


def test_heterogeneity_agrees_with_statsmodels() -> None:
    from statsmodels.stats.meta_analysis import combine_effects

    y, v = bcg()
    other = combine_effects(y, v, method_re="dl", use_t=True)
    found = heterogeneity(y, v, tau_method="dl")
    assert found.tau2.value == pytest.approx(other.tau2)
    assert found.mean.value == pytest.approx(other.mean_effect_re)
    assert found.mean.se == pytest.approx(other.sd_eff_w_re_hksj)
    # statsmodels takes k - 1 = 12 degrees of freedom, whatever the sizes.
    half = (found.mean.high - found.mean.low) / 2
    wider = stats.t.ppf(0.975, found.mean.df) / stats.t.ppf(0.975, 12)
    assert half == pytest.approx((other.conf_int()[3][1] - other.conf_int()[3][0]) / 2 * wider)
    assert wider > 1


# tests/reference/uneven_sites.R: tau^2 and df by metafor and clubSandwich, a new site by draws.
UNEVEN = {
    "uneven": ([1.2, 0.4, 1.9, 1.5], [0.9, 0.7, 0.12, 0.008], 0.0, 1.065129, (-0.892, 3.606)),
    "equal": ([1.2, 0.4, 1.9, 1.5, 0.8], [0.05] * 5, 0.293, 4.0, (-0.709, 3.053)),
    "many": (
        [1.9, 1.1, 1.4, 0.6, 1.3, 2.2],
        [0.5, 0.3, 0.06, 0.01, 0.2, 0.25],
        0.2384047,
        4.318588,
        (-0.162, 2.850),
    ),
}


@pytest.mark.parametrize("name", UNEVEN)
def test_sites_of_unequal_size_have_the_degrees_of_freedom_of_clubsandwich(name: str) -> None:
    y, v, tau2, df, new = UNEVEN[name]
    found = heterogeneity(np.array(y), np.array(v))
    assert (found.tau2.value, found.mean.df) == pytest.approx((tau2, df), rel=1e-6, abs=1e-9)
    assert found.mean.high - found.mean.value == pytest.approx(
        stats.t.ppf(0.975, df) * found.mean.se, rel=1e-5
    )
    e = found.prediction_interval
    assert (e.low, e.high) == pytest.approx(new, abs=0.035)  # two Monte Carlo errors of a quantile


def test_equal_sites_have_no_spread() -> None:
    found = heterogeneity(np.array([0.8, 0.81, 0.79, 0.8]), np.full(4, 0.01))
    assert found.tau2.value == 0
    assert found.tau2.note == heterogeneity_notes.NO_SPREAD_FOUND
    assert found.mean.se == pytest.approx(0.05)
    assert found.prediction_interval.low < found.mean.low
    assert found.i2.low == 0 <= found.i2.high


@given(
    values=st.lists(st.tuples(st.floats(-3, 3), st.floats(0.01, 4)), min_size=3, max_size=8),
    shift=st.floats(-5, 5),
    factor=st.floats(0.1, 10),
)
def test_heterogeneity_follows_the_unit(
    values: list[tuple[float, float]], shift: float, factor: float
) -> None:
    y, v = np.array(values).T
    one, other = heterogeneity(y, v), heterogeneity(shift + factor * y, factor**2 * v)
    assert other.tau2.value == pytest.approx(factor**2 * one.tau2.value, rel=1e-4, abs=1e-6 * factor**2)
    assert other.mean.value == pytest.approx(shift + factor * one.mean.value, rel=1e-4, abs=1e-4)
    assert one.tau2.low <= one.tau2.value <= one.tau2.high
    assert one.prediction_interval.low <= one.mean.low <= one.mean.value


def test_scales_carry_there_and_back() -> None:
    y, v = bcg()
    ratios = heterogeneity(np.exp(y), v * np.exp(y) ** 2, scale="log")
    assert ratios.mean.value == pytest.approx(np.exp(heterogeneity(y, v).mean.value))
    carried = heterogeneity(1 - np.exp(-y), v * np.exp(-2 * y), scale="log_shortfall")
    of_y = heterogeneity(y, v)
    for name in ("mean", "prediction_interval"):
        there, here = getattr(of_y, name), getattr(carried, name)
        wanted = [1 - np.exp(-x) for x in (there.value, there.low, there.high)]
        assert [here.value, here.low, here.high] == pytest.approx(wanted)
    areas = heterogeneity(np.array([0.95, 0.9, 0.99]), np.array([4e-4, 4e-4, 1e-4]), scale="logit")
    assert areas.prediction_interval.high < 1
    assert 0.9 < areas.mean.value < 0.99


@pytest.mark.parametrize(
    "value, variance, scale, note",
    [
        ([0.8], [0.01], "identity", heterogeneity_notes.ONE_SITE),
        ([], [], "identity", heterogeneity_notes.ONE_SITE),
        ([0.8, 0.9], [0.01, 0.0], "identity", heterogeneity_notes.NO_SITE_VARIANCE),
        ([0.8, 0.9], [0.01, float("nan")], "identity", heterogeneity_notes.NO_SITE_VARIANCE),
        ([0.8, 1.0], [0.01, 0.01], "logit", heterogeneity_notes.AT_THE_END),
        ([0.8, 1.0], [0.01, 0.01], "log_shortfall", heterogeneity_notes.AT_THE_END),
        ([0.8, float("nan")], [0.01, 0.01], "identity", heterogeneity_notes.NO_VALUE),
    ],
)
def test_heterogeneity_undefined(value: list[float], variance: list[float], scale: Any, note: str) -> None:
    found = heterogeneity(np.array(value), np.array(variance), scale=scale)
    for estimate in (found.mean, found.tau2, found.i2, found.prediction_interval):
        assert isnan(estimate.value)
        assert estimate.note == note


def test_two_sites_have_a_mean_but_no_prediction() -> None:
    found = heterogeneity(np.array([0.7, 0.9]), np.array([0.001, 0.002]))
    assert found.prediction_interval.note == heterogeneity_notes.NO_PREDICTION
    assert found.mean.low < 0.8 < found.mean.high
    with pytest.raises(ValueError, match="one entry a site"):
        heterogeneity(np.ones(3), np.ones(2))
