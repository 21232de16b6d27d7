"""Candidates whose scores have thresholds of their own."""

from pathlib import Path

import pytest

from trustreport.api import assess, read_study

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
