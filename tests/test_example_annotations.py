"""The example of annotations: the same bytes again, and the numbers that its manifest states."""

import csv
import runpy
from pathlib import Path

import numpy as np
import pytest

from trustreport.api import read_study

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "annotations"
MAKE = runpy.run_path(str(FOLDER / "make.py"))


def test_made_again_the_table_is_the_same_bytes(tmp_path: Path) -> None:
    MAKE["write"](tmp_path)
    assert (tmp_path / "raters.csv").read_bytes() == (FOLDER / "raters.csv").read_bytes()


def test_the_manifest_states_what_the_simulation_gave() -> None:
    truth, label, confidence, given = MAKE["simulate"]()
    study, plan = read_study(FOLDER)
    (ratings,) = study.raters
    assert (
        (len(ratings.raters), len(ratings.cases), len(ratings.case))
        == (8, 300, int(given.sum()))
        == (8, 300, 2332)
    )
    right = [(label[given[:, j], j] == truth[given[:, j]]).mean() for j in range(8)]
    stated = plan.reference_standard.rater_accuracy
    assert isinstance(stated, dict)
    assert list(stated.values()) == [round(float(share), 2) for share in right]
    votes = np.where(given, np.where(label, 1, -1), 0).sum(axis=1)
    of_majority = np.where(votes == 0, 0.5, (votes > 0) == truth).mean()
    text = (FOLDER / "study.yaml").read_text(encoding="utf-8")
    assert f"Right labels of the majority: {of_majority:.3f}" in text
    assert truth.sum() == 120
    assert set(np.unique(confidence)) == {0.2, 0.4, 0.6, 0.8, 1.0}


def test_the_simulated_study_says_so() -> None:
    _, plan = read_study(FOLDER)
    assert plan.study.simulated
    assert plan.report.notice == "Simulated data: no patient, no rater and no device behind these numbers"
    with (FOLDER / "raters.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["case", "rater", "label", "confidence", "truth"]


def test_the_stated_concordance_is_that_of_the_raters() -> None:
    from trustreport.assessment.dimensions.source_reliability import answer
    from trustreport.vocabulary.results import leading

    study, plan = read_study(FOLDER)
    rho = leading(answer(study, plan).results, "source_reliability.weighted_concordance")
    assert rho is not None
    assert rho.estimate.value == pytest.approx(plan.nomogram[0].weighted_concordance, abs=0.005)
