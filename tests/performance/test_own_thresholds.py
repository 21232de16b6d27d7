"""Candidates whose scores have thresholds of their own."""

from pathlib import Path
from typing import Any

import pytest

from trustreport.api import assess, read_study
from trustreport.assessment.performance.measures import NO_PROBABILITIES, NOT_RISKS
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: procurement}\ndevice: {trade_name: D}\n"
TABLE = "truth,share,percent\n" + "".join(
    f"{i % 2},{(i % 7) / 7:.3f},{100 * (i % 7) / 7:.1f}\n" for i in range(70)
)
SETS = (
    "datasets: [{dataset: a, role: local, file: a.csv, columns: {score: {Alder: share, Birch: percent}}}]\n"
)


def rates(folder: Path, manifest: str) -> dict[tuple[str, str], float]:
    (folder / "a.csv").write_text(TABLE)
    (folder / "study.yaml").write_text(HEAD + SETS + manifest)
    found = assess(*read_study(folder)).to_frame(primary=True)
    own = found[found["id"].isin(["advice_accuracy.sensitivity", "advice_accuracy.specificity"])]
    return {(row.candidate, row.id.partition(".")[2]): row.value for row in own.itertuples()}


def test_the_same_decisions_on_two_scales(tmp_path: Path) -> None:
    point = "operating_point: {threshold: 0.5}\n"
    found = rates(tmp_path, point + "candidates: [{candidate: Alder}, {candidate: Birch, threshold: 50}]\n")
    for measure in ("sensitivity", "specificity"):
        assert found["Alder", measure] == pytest.approx(found["Birch", measure])
    without = rates(tmp_path, point + "candidates: [{candidate: Alder}, {candidate: Birch}]\n")
    assert without["Birch", "specificity"] != found["Birch", "specificity"]
    assert without["Alder", "specificity"] == found["Alder", "specificity"]


def test_a_threshold_of_the_candidate_alone_is_enough(tmp_path: Path) -> None:
    found = rates(tmp_path, "candidates: [{candidate: Alder}, {candidate: Birch, threshold: 50}]\n")
    assert {candidate for candidate, _ in found} == {"Birch"}


def test_check_holds_scores_against_their_own_threshold(tmp_path: Path) -> None:
    rates(tmp_path, "operating_point: {threshold: 0.5}\n")
    study, _ = read_study(tmp_path)
    assert [(key, values["candidate"]) for key, values in study.cautions] == [
        ("threshold_of_another_scale", "Birch")
    ]
    both = "candidates: [{candidate: Alder}, {candidate: Birch, threshold: 50}]\n"
    rates(tmp_path, "operating_point: {threshold: 0.5}\n" + both)
    assert not read_study(tmp_path)[0].cautions


DRAWN = ("ici", "e50", "e90", "emax")
ON_BOTH = (
    "candidates: [{candidate: Alder}, {candidate: Birch, threshold: 50, "
    "score_range: [0, 100], scores_are_probabilities: true}]\n"
)
POINT = "operating_point: {threshold: 0.5}\nutility: {thresholds: [0.2, 0.5]}\n"


def all_results(folder: Path, manifest: str, table: str = TABLE, sets: str = SETS) -> dict[Any, Estimate]:
    (folder / "a.csv").write_text(table)
    (folder / "study.yaml").write_text(HEAD + sets + manifest)
    results = assess(*read_study(folder), only=["advice_accuracy", "advice_value"]).results
    found = {}
    for r in results:
        if r.primary and not r.place.candidates:
            chosen = str(sorted(r.parameters.items()))
            found[r.place.candidate, r.name, r.place.threshold, chosen, r.place.class_] = r.estimate
    return found


def test_probabilities_in_percent_are_calibrated_as_shares_are(tmp_path: Path) -> None:
    rows = ["truth,share,percent", *(f"{i % 2},{(i % 7) / 8},{100 * (i % 7) / 8}" for i in range(70))]
    found = all_results(tmp_path, POINT + ON_BOTH, "\n".join(rows) + "\n")
    compared = 0
    for (candidate, *what), one in found.items():
        if candidate != "Alder" or what[0] == "optimal_threshold":
            continue
        other = found["Birch", *what]
        compared += 1
        assert other.value == pytest.approx(one.value, nan_ok=True, abs=1e-9), what
        if what[0] in DRAWN:  # each candidate has resamples of its own
            continue
        assert (other.low, other.high) == pytest.approx((one.low, one.high), nan_ok=True, abs=1e-6), what
    assert compared > 60
    names = {what[0] for candidate, *what in found if candidate == "Birch"}
    assert {"brier", "oe_ratio", "calibration_slope", "net_benefit", "ici"} <= names


def test_a_range_alone_makes_no_probability(tmp_path: Path) -> None:
    ranged = "candidates: [{candidate: Alder}, {candidate: Birch, threshold: 50, score_range: [0, 100]}]\n"
    found = all_results(tmp_path, POINT + ranged)
    (e,) = [e for (candidate, name, *_), e in found.items() if (candidate, name) == ("Birch", "brier")]
    assert e.value != e.value
    assert e.note == NOT_RISKS


def test_scores_within_0_and_1_may_be_declared_to_be_none(tmp_path: Path) -> None:
    point = "operating_point: {threshold: 0.5, scores_are_probabilities: false}\n"
    sets = "datasets: [{dataset: a, role: local, file: a.csv, columns: {score: share}}]\n"
    found = all_results(tmp_path, point, sets=sets)
    assert found[None, "brier", None, "[]", None].note == NO_PROBABILITIES
    assert found[None, "auc", None, "[]", None].value > 0
    assert not [name for _, name, *_ in found if name == "net_benefit"]


def test_the_threshold_of_the_operating_point_acts_as_a_probability(tmp_path: Path) -> None:
    sets = "datasets: [{dataset: a, role: local, file: a.csv, columns: {score: percent}}]\n"
    point = "operating_point: {threshold: 50, score_range: [0, 100], scores_are_probabilities: true}\n"
    here = all_results(tmp_path, point, sets=sets)
    percent = {k: e.value for k, e in here.items() if k[1] in ("net_benefit", "sensitivity")}
    sets = sets.replace("percent", "share")
    there = all_results(tmp_path, "operating_point: {threshold: 0.5}\n", sets=sets)
    share = {k: e.value for k, e in there.items() if k[1] in ("net_benefit", "sensitivity")}
    assert {k[2] for k in percent} == {None, 0.5}
    assert percent == pytest.approx(share)


def test_scores_outside_their_range_are_refused_with_their_rows(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as refused:
        all_results(tmp_path, "operating_point: {threshold: 0.5, score_range: [0, 1]}\n")
    (problem,) = [line for line in str(refused.value).splitlines() if "percent" in line]
    assert "a.csv" in problem
    assert (
        "column percent: found scores from 0 to 85.7, expected from 0 to 1, the declared score_range."
        in problem
    )
    assert "declare candidates: [{candidate: Birch, score_range: [LOW, HIGH]}]." in problem
    all_results(tmp_path, "operating_point: {threshold: 0.5, score_range: [0, 1]}\n" + ON_BOTH)


def test_a_range_has_its_lower_end_first(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="two numbers, the lower one first"):
        all_results(tmp_path, "candidates: [{candidate: Birch, score_range: [100, 0]}]\n")
