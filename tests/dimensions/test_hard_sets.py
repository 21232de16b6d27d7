"""External sets that yield no answer, through the whole assessment: a reason each, never a crash or a 0."""

import json
from collections.abc import Callable
from math import isinf, isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.english import english
from trustreport.api import assess, read_study, write_report
from trustreport.assessment.assess import Assessment

RNG = np.random.default_rng(11)
N = 60
TRUTH = (np.arange(N) % 2).astype(int)
SCORE = np.clip(0.3 + 0.4 * TRUTH + RNG.normal(0, 0.15, N), 0.01, 0.99)
FEATURES = {name: RNG.normal(size=N) for name in ("a", "b", "c")}
ROBUST, ACCURACY, VALUE = "potential_robustness", "advice_accuracy", "advice_value"
Columns = dict[str, Any]


def columns(**changed: Any) -> Columns:
    """An external set; `None` takes a column away."""
    held = {"truth": TRUTH, "score": SCORE, **FEATURES, **changed}
    return {name: column for name, column in held.items() if column is not None}


def training(**changed: Any) -> Columns:
    rng = np.random.default_rng(12)
    truth = (np.arange(120) % 2).astype(int)
    score = np.clip(0.3 + 0.4 * truth + rng.normal(0, 0.2, 120), 0.01, 0.99)
    held = {"truth": truth, "score": score, **{n: rng.normal(size=120) for n in "abc"}, **changed}
    return {name: column for name, column in held.items() if column is not None}


def cut(n: int) -> Columns:
    return {name: column[:n] for name, column in columns().items()}


# Name: the external set, the training set, and what is to be undefined there.
HARD: dict[str, tuple[Columns, Columns, tuple[str, ...]]] = {
    "one class": (
        columns(truth=np.ones(N, int)),
        training(),
        (
            f"{ACCURACY}.auc",
            f"{ACCURACY}.specificity",
            f"{VALUE}.calibration_slope",
            f"{ROBUST}.spr",
            *(f"{ROBUST}.mss_{name}" for name in ("auc", "net_benefit", "oe")),
        ),
    ),
    "three rows": (
        cut(3),
        training(),
        (f"{ROBUST}.degree_of_correspondence", f"{ROBUST}.mmd", f"{ROBUST}.spr"),
    ),
    "constant features": (
        columns(a=np.zeros(N), b=np.zeros(N), c=np.zeros(N)),
        training(a=np.zeros(120), b=np.zeros(120), c=np.zeros(120)),
        (f"{ROBUST}.degree_of_correspondence", f"{ROBUST}.energy_distance", f"{ROBUST}.similarity_effect"),
    ),
    "a feature missing": (columns(b=None), training(), ()),
    "a feature empty": (columns(b=np.full(N, np.nan)), training(), ()),
    "every feature missing": (
        columns(a=None, b=None, c=None),
        training(),
        (f"{ROBUST}.degree_of_correspondence", f"{ROBUST}.spr", f"{ROBUST}.wpr"),
    ),
    "scores all equal": (
        columns(score=np.full(N, 0.3)),
        training(),
        (f"{VALUE}.calibration_slope", f"{ROBUST}.mss_calibration_slope", f"{ROBUST}.mss_net_benefit"),
    ),
    "scores outside": (
        columns(score=10 * SCORE - 2),
        training(),
        (f"{VALUE}.brier", f"{ROBUST}.mss_brier", f"{ROBUST}.mss_net_benefit", f"{ROBUST}.mss_oe"),
    ),
    "scores 0 and 1": (columns(score=np.where(np.arange(N) % 7, TRUTH, 1 - TRUTH)), training(), ()),
    "separated": (
        columns(score=np.where(TRUTH, 0.9, 0.1)),
        training(),
        (f"{VALUE}.calibration_slope", f"{ROBUST}.mss_auc", f"{ROBUST}.p_performance"),
    ),
    "nobody called positive": (
        columns(score=SCORE / 4),
        training(),
        (f"{ACCURACY}.ppv", f"{ROBUST}.mss_net_benefit"),
    ),
    "training without scores": (
        columns(),
        training(score=None),
        (f"{ROBUST}.p_performance", f"{ROBUST}.spr"),
    ),
}


def table(held: Columns) -> str:
    """A CSV; an empty cell where a number lacks."""
    rows = (["" if isnan(float(x)) else f"{x:.6g}" for x in row] for row in zip(*held.values()))
    return "\n".join(",".join(cells) for cells in (list(held), *rows)) + "\n"


@pytest.fixture(scope="module")
def assessed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assessment]:
    """The assessment of a hard case, made once."""
    done: dict[str, Assessment] = {}

    def assessment_of(name: str) -> Assessment:
        if name not in done:
            folder = tmp_path_factory.mktemp("hard")
            hard, known, _ = HARD[name]
            (folder / "site.csv").write_text(table(hard))
            (folder / "train.csv").write_text(table(known))
            sets = []
            for dataset, role, file, held in (
                ("train", "training", "train.csv", known),
                ("site", "external", "site.csv", hard),
            ):
                features = [f for f in "abc" if f in held]
                sets.append(
                    {"dataset": dataset, "role": role, "file": file}
                    | ({"features": features} if features else {})
                )
            manifest = {
                "report": {"kind": "certification"},
                "device": {"trade_name": "Test"},
                "datasets": sets,
                "operating_point": {"threshold": 0.5},
                "similarity": {"permutations": 99, "seed": 1},
                "internal_splits": {"metric": "auc", "values": [0.8, 0.9]},
            }
            (folder / "study.yaml").write_text(json.dumps(manifest))
            done[name] = assess(*read_study(folder))
        return done[name]

    return assessment_of


@pytest.mark.parametrize("name", HARD)
def test_what_cannot_be_estimated_is_undefined_for_a_reason(
    name: str, assessed: Callable[[str], Assessment]
) -> None:
    found = assessed(name)
    for id in HARD[name][2]:
        of = [r for r in found.results if r.id == id and r.primary and r.scope.get("dataset") == "site"]
        of = [r for r in of if r.name not in ("spr", "wpr") or r.endpoint == "auc"]
        assert of, id
        assert all(isnan(r.estimate.value) for r in of), id
    for r in found.results:
        e = r.estimate
        missing = isnan(e.value) or isnan(e.low) or isnan(e.high) or isinf(e.value)
        assert not missing or e.note, (r.id, r.scope)


@pytest.mark.parametrize("name", ["one class", "three rows", "training without scores"])
def test_the_report_is_written_all_the_same(
    name: str, assessed: Callable[[str], Assessment], tmp_path: Path
) -> None:
    write_report(assessed(name), tmp_path, formats=["json", "html"])
    text = (tmp_path / "report.html").read_text("utf-8")
    assert ">nan<" not in text
    assert "NaN" not in (tmp_path / "results.json").read_text("utf-8")


def test_a_feature_that_lacks_is_said_not_filled(assessed: Callable[[str], Assessment]) -> None:
    for name in ("a feature missing", "a feature empty"):
        one = next(r for r in assessed(name).results if r.id == f"{ROBUST}.degree_of_correspondence")
        assert not isnan(one.estimate.value)
        assert one.estimate.details["features"] == 2
        assert "feature" in english(one.estimate.note)
