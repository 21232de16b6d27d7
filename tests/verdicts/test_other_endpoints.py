"""Verdicts on ratings, counts, preferences and labels with error, both ways, from tables to the word."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.studies import with_table
from trustreport.api import assess, read_study
from trustreport.assessment.verdicts import Verdict
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")


def verdict(folder: Path, manifest: str, header: str, rows: Iterable[Sequence[Any]]) -> Verdict:
    (found,) = assess(*read_study(with_table(folder, manifest, header, rows))).verdicts
    return found


@pytest.mark.parametrize(("drop", "word"), [(0.0, "pass"), (1.2, "fail")])
def test_drafts_are_no_less_acceptable(tmp_path: Path, drop: float, word: str) -> None:
    rng = np.random.default_rng(4)
    rows = [
        (f"R{j}", k, source, int(np.clip(round(4 - drop * (source == "model") + rng.normal(0, 0.6)), 1, 5)))
        for j in range(6)
        for source in ("model", "human")
        for k in range(50)
    ]
    manifest = (
        "measurements: [{measurement: quality, kind: ordinal, scale: [1, 5], better: up}]\n"
        "tables: {values: {file: table.csv}}\ncandidates: [{candidate: model}, {candidate: human}]\n"
        "endpoints: [{endpoint: e, measure: reader_measurement.mean_score_difference, of: quality,"
        " candidate: [model, human], hypothesis: non-inferiority, bound_or_margin: 0.5}]\n"
    )
    assert verdict(tmp_path, manifest, "reader case candidate measured", rows).word == word


@pytest.mark.parametrize(("times", "word"), [(0.4, "pass"), (2.0, "fail")])
def test_fewer_errors_are_made(tmp_path: Path, times: float, word: str) -> None:
    rng = np.random.default_rng(5)
    rows = [(k, rng.poisson(2.0 * times), rng.poisson(2.0)) for k in range(120)]
    manifest = (
        "measurements: [{measurement: errors, kind: count, better: down}]\n"
        "tables: {values: {file: table.csv, columns: {measured: {new: new, old: old}}}}\n"
        "candidates: [{candidate: new}, {candidate: old}]\n"
        "endpoints: [{endpoint: e, measure: measurement.count_ratio, of: errors, candidate: [new, old],"
        " hypothesis: superiority, bound_or_margin: 1}]\n"
    )
    assert verdict(tmp_path, manifest, "case new old", rows).word == word


@pytest.mark.parametrize(("chosen", "word"), [(0.75, "pass"), (0.3, "fail")])
def test_one_output_is_preferred(tmp_path: Path, chosen: float, word: str) -> None:
    rng = np.random.default_rng(6)
    rows = [
        (f"R{j}", k, *pair, "A" if rng.random() < chosen else "B")
        for j in range(6)
        for k in range(50)
        for pair in ((("A", "B") if (j + k) % 2 else ("B", "A")),)
    ]
    manifest = (
        "tables: {preferences: {file: table.csv}}\ncandidates: [{candidate: A}, {candidate: B}]\n"
        "endpoints: [{endpoint: e, measure: reader_measurement.preference_share, candidate: [A, B],"
        " hypothesis: superiority, bound_or_margin: 0.5}]\n"
    )
    assert verdict(tmp_path, manifest, "reader case first second preferred", rows).word == word


def labelled(folder: Path, sensitivity: float, reference: str) -> Verdict:
    rng = np.random.default_rng(7)
    present = rng.random(4000) < 0.15
    label = np.where(present, rng.random(4000) < 0.95, rng.random(4000) < 0.04)
    called = np.where(present, rng.random(4000) < sensitivity, rng.random(4000) < 0.05)
    manifest = (
        f"reference_standard: {reference}\n"
        "datasets: [{dataset: routine, role: external, file: table.csv}]\n"
        "endpoints: [{endpoint: e, measure: advice_accuracy.sensitivity, dataset: routine,"
        " hypothesis: performance goal, bound_or_margin: 0.8}]\n"
    )
    rows = zip(range(4000), label.astype(int), called.astype(int))
    return verdict(folder, manifest, "case truth decision", rows)


@pytest.mark.parametrize(("sensitivity", "word"), [(0.95, "pass"), (0.6, "fail")])
def test_labels_of_known_error_judge_the_corrected_value(
    tmp_path: Path, sensitivity: float, word: str
) -> None:
    found = labelled(tmp_path, sensitivity, "{kind: error_prone, sensitivity: 0.95, specificity: 0.96}")
    assert found.result is not None
    assert found.result.name == "label_corrected_sensitivity"
    assert found.word == word


@pytest.mark.parametrize(
    "reference",
    ["{kind: error_prone}", "{kind: surrogate}", "{definition: extracted from radiology reports by an LLM}"],
)
def test_labels_of_unknown_error_judge_nothing(tmp_path: Path, reference: str) -> None:
    found = labelled(tmp_path, 0.95, reference)
    assert found.word == "not assessable"
    assert "P73" in EN(found.reason)


def test_an_exact_reference_is_taken_as_right(tmp_path: Path) -> None:
    found = labelled(tmp_path, 0.95, "{kind: exact, definition: extracted from pathology reports}")
    assert found.word != "pass"  # the apparent value of a good device, against labels with 4% false positives
    assert found.result is not None
    assert found.result.name == "sensitivity"
