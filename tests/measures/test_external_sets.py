"""The seven scored sets, against what R, scikit-learn, dcurves and others computed of them."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from trustreport.measures.calibration.binned import ece, gici
from trustreport.measures.calibration.logistic import calibration_intercept, calibration_slope
from trustreport.measures.calibration.overall import brier, oe_ratio
from trustreport.measures.calibration.smooth import loess_error, smooth_error
from trustreport.measures.net_benefit import net_benefit, treat_all
from trustreport.measures.roc.auc import delong
from trustreport.measures.similarity.correspondence import correspondence
from trustreport.measures.similarity.features import standardise
from trustreport.measures.standardized_net_benefit import standardized_net_benefit, weighted_utility

Scored = tuple[NDArray[np.bool_], NDArray[np.float64]]
FEATURES = {
    "heart": "age sex cp trestbps restecg thalach exang oldpeak".split(),
    "breast": "age meno size grade3 nodes pgr er hormon".split(),
}
# Held by tests of their own, beside what they are about.
ELSEWHERE = {
    "local_bins_equal_width_10": "calibration/test_calibration.py",
    "calfram_as_is": "calibration/test_calibration.py",
    "rms_val_prob": "calibration/test_calibration.py",
    "mss": "sample_size/test_sample_size.py",
    "valve_normal": "sample_size/test_sample_size.py",
    "valve_beta": "sample_size/test_sample_size.py",
    "dvt": "sample_size/test_sample_size.py",
    "generic": "sample_size/test_sample_size.py",
    "pmvalsampsize [O/E, slope, C, sNB]": "sample_size/test_sample_size.py",
    "psi_statistic": "similarity/test_correspondence.py",
    "auc_vs_train_delong_unpaired": "robustness/test_robustness.py",
    "psi_p": "robustness/test_robustness.py",
    "spr_auc": "robustness/test_robustness.py",
    "spr_or_wpr": "robustness/test_robustness.py",
    "meta_validation_pearson_p": "robustness/test_robustness.py",
}
OF_SIMILARITY = ("energy_statistic", "energy_p_999", "psi_p_qualiMLpy_100")


def newcombe_se(auc: float, prevalence: float, n: int) -> float:
    """Newcombe (2006), Stat. Med. 25, 559-573, method 4."""
    g = (1 - auc) / (2 - auc) + auc / (1 + auc)
    return float(np.sqrt(auc * (1 - auc) * (1 + (n / 2 - 1) * g) / (n * n * prevalence * (1 - prevalence))))


def columns(table: Path, names: list[str]) -> NDArray[np.float64]:
    with table.open() as lines:
        return np.array([[float(row[name]) for name in names] for row in csv.DictReader(lines)])


def table_of(reference: Path, name: str) -> Path:
    return reference / "contract" / name.split("_")[0] / f"{name}.csv"


@pytest.fixture(scope="module")
def entries(reference: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((reference / "external" / "expected.json").read_text())[
        "entries"
    ]
    return found


def measured(metric: str, truth: NDArray[np.bool_], score: NDArray[np.float64]) -> Any:
    """What the package finds, in the form of the reference."""
    if metric.startswith("net_benefit@"):
        return at_threshold(float(metric.split("@")[1]), truth, score)
    area, intercept, slope = (f(truth, score) for f in (delong, calibration_intercept, calibration_slope))
    prevalence = float(truth.mean())
    values = {
        "n": lambda: len(truth),
        "events": lambda: int(truth.sum()),
        "brier": lambda: brier(truth, score).value,
        "var_brier_per_case": lambda: brier(truth, score).details["variance_per_case"],
        "ece_equal_width_10": lambda: ece(truth, score).value,
        "mce_equal_width_10": lambda: ece(truth, score).details["largest_gap"],
        "ece_equal_mass_10": lambda: ece(truth, score, binning="equal_mass").value,
        "gici_equal_width_10": lambda: gici(truth, score).overall.value,
        "auc": lambda: area.value,
        "auc_var_delong": lambda: area.se**2,
        "auc_delong_ci95": lambda: [area.low, area.high],
        "auc_se_newcombe": lambda: newcombe_se(area.value, prevalence, len(truth)),
        "cal_in_the_large": lambda: intercept.value,
        "cal_in_the_large_ci95": lambda: [intercept.low, intercept.high],
        "cal_slope": lambda: slope.value,
        "cal_slope_ci95": lambda: [slope.low, slope.high],
        "cal_intercept_joint": lambda: slope.details["intercept"],
        "oe_ratio": lambda: oe_ratio(truth, score).value,
        "oe_ln_se": lambda: oe_ratio(truth, score).se,
        "ici_lowess": lambda: smooth_error(truth, score).ici.value,
        "ici_loess": lambda: loess_error(truth, score)[0].value,
        "eci_loess_x100": lambda: loess_error(truth, score)[1].value,
    }
    return values[metric]()


def at_threshold(threshold: float, truth: NDArray[np.bool_], score: NDArray[np.float64]) -> dict[str, Any]:
    called = score >= threshold
    standardized = standardized_net_benefit(truth, score, threshold)
    return {
        "tp": int((called & truth).sum()),
        "fp": int((called & ~truth).sum()),
        "sens": float(called[truth].mean()),
        "spec": float((~called[~truth]).mean()),
        "nb": net_benefit(truth, score, threshold).value,
        "nb_treat_all": treat_all(truth, threshold).value,
        "snb": standardized.value,
        "snb_se": standardized.se,
        "snb_ci95_wald": [standardized.low, standardized.high],
        "wu_relevance_1_pos_0p5_neg": weighted_utility(
            truth, score, np.full(len(truth), threshold), np.where(truth, 1.0, 0.5)
        ).value,
    }


def test_every_value_of_a_scored_set(entries: list[dict[str, Any]], reference: Path) -> None:
    sets: dict[str, Scored] = {}
    seen = 0
    for entry in entries:
        name, metric = entry["dataset"], entry["metric"]
        if metric in ELSEWHERE or metric in OF_SIMILARITY or "BUGGY" in metric:
            continue
        if name not in sets:
            label, score = columns(table_of(reference, name), ["label", "score"]).T
            sets[name] = label == 1, score
        # R takes standard errors one step before convergence: see SOURCES.md beside the values.
        within = 6e-5 if metric in ("cal_slope_ci95", "cal_in_the_large_ci95") else entry["tol_abs"]
        found, wanted = measured(metric, *sets[name]), entry["value"]
        if isinstance(wanted, dict):
            for key, value in wanted.items():
                assert found[key] == pytest.approx(value, abs=within), (name, metric, key)
        else:
            assert found == pytest.approx(wanted, abs=within), (name, metric)
        seen += 1
    assert seen == 7 * 26


def test_similarity_of_the_external_sets(entries: list[dict[str, Any]], reference: Path) -> None:
    """The energy statistic of R's energy package, its p, and the p of qualiMLpy's hundred permutations."""
    seen = 0
    for name in {entry["dataset"] for entry in entries if entry["metric"] in OF_SIMILARITY}:
        family = name.split("_")[0]
        training, external = (
            columns(table_of(reference, one), FEATURES[family]) for one in (f"{family}_train", name)
        )
        both = correspondence(standardise(training, external), np.random.default_rng(1), permutations=999)
        for entry in entries:
            if entry["dataset"] != name or entry["metric"] not in OF_SIMILARITY:
                continue
            seen += 1
            if entry["metric"] == "psi_p_qualiMLpy_100":
                # It adds no 1: a hundred permutations without a larger statistic are printed as p = 0.
                for value in entry["value"].values():
                    assert both.degree_of_correspondence.value == pytest.approx(
                        value, abs=max(entry["tol_abs"], 4 * np.sqrt(value * (1 - value) / 100))
                    ), name
                continue
            energy = both.energy_distance
            found = energy.value if entry["metric"] == "energy_statistic" else energy.p
            assert found == pytest.approx(entry["value"], abs=entry["tol_abs"]), (name, entry["metric"])
    assert seen == 15


def test_no_value_is_left_out(entries: list[dict[str, Any]]) -> None:
    here = Path(__file__).parent
    for path in set(ELSEWHERE.values()):
        assert (here / path).is_file()
    known = {*ELSEWHERE, *OF_SIMILARITY}
    scored = {e["metric"] for e in entries} - known
    assert len(scored) == 26
