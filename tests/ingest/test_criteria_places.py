"""Criteria, claims and the threshold that name a data set, candidate or set: known ones, and others."""

from pathlib import Path

import pytest

from trustreport.api import read_study
from trustreport.study.ingest import read
from trustreport.vocabulary.errors import StudyError

MANIFEST = """\
report: {kind: procurement}
device: {}
datasets: [{dataset: here, role: local, file: scores.csv}]
GROUP
"""


@pytest.mark.parametrize(
    "group, told",
    [
        (
            "endpoints: [{endpoint: E, dataset: hear}]",
            'endpoints[0].dataset: found "hear", expected a data set: "here"',
        ),
        (
            "endpoints: [{endpoint: E, candidate: C}]",
            'endpoints[0].candidate: found "C", expected a candidate: "A" or "B"',
        ),
        ("endpoints: [{endpoint: E, candidate: [A, C]}]", 'endpoints[0].candidate: found "C"'),
        ("endpoints: [{endpoint: E, set: S}]", 'endpoints[0].set: found "S"'),
        (
            "intended_use: {known_risks: [Missed, Late]}\nendpoints: [{endpoint: E, hazard: Missd}]",
            'expected a declared hazard: "Missed" or "Late". Did you mean "Missed"?',
        ),
        (
            "endpoints: [{endpoint: E, hazard: Missed}]",
            'endpoints[0].hazard: the hazard "Missed", which intended_use.known_risks does not declare',
        ),
        (
            "performance_claims: [{measure: auc, value: 0.9, candidate: C}]",
            'performance_claims[0].candidate: found "C"',
        ),
    ],
)
def test_a_place_that_there_is_not_is_a_problem(tmp_path: Path, group: str, told: str) -> None:
    (tmp_path / "study.yaml").write_text(MANIFEST.replace("GROUP", group))
    rows = ["case,truth,candidate,score", "1,1,A,0.9", "1,1,B,0.8", "2,0,A,0.1", "2,0,B,0.2"]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(StudyError) as raised:
        read_study(tmp_path)
    assert told in str(raised.value)


def test_places_that_there_are_are_read(tmp_path: Path) -> None:
    group = "endpoints: [{endpoint: E, dataset: here, candidate: [B, A]}]"
    (tmp_path / "study.yaml").write_text(MANIFEST.replace("GROUP", group))
    rows = ["case,truth,candidate,score", "1,1,A,0.9", "1,1,B,0.8", "2,0,A,0.1", "2,0,B,0.2"]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n")
    _, plan = read_study(tmp_path)
    assert plan.endpoints[0].candidate == ("B", "A")


def test_more_candidates_than_can_be_compared(tmp_path: Path) -> None:
    names = [f"C{i}" for i in range(51)]
    rows = ["case,truth,candidate,score", *(f"{k},{k},{name},0.{k + 3}" for name in names for k in (0, 1))]
    manifest = MANIFEST.replace("GROUP", "")
    (tmp_path / "study.yaml").write_text(manifest)
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(StudyError) as raised:
        read_study(tmp_path)
    assert str(raised.value).startswith(
        "scores.csv: found more than 50 candidates, expected at most 50 candidates. Each is compared"
    )
    declared = "candidates: [" + ", ".join(f"{{candidate: {name}}}" for name in names) + "]"
    (tmp_path / "study.yaml").write_text(MANIFEST.replace("GROUP", declared))
    with pytest.raises(
        StudyError, match="candidates: found a list of 51 values, expected at most 50 candidates"
    ):
        read_study(tmp_path)
    (tmp_path / "study.yaml").write_text(manifest)
    (tmp_path / "scores.csv").write_text("\n".join(rows[:101]) + "\n")
    study, _ = read_study(tmp_path)
    assert list(study.datasets[0].scores) == names[:50]


def study(folder: Path, word: str) -> Path:
    (folder / "s.csv").write_text("case,truth,score\na,1,0.9\nb,0,0.2\n")
    (folder / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\n"
        "datasets: [{dataset: clinic, role: external, file: s.csv}, {dataset: making, role: training}]\n"
        f"operating_point: {{threshold: 0.5, threshold_chosen_on: {word}}}\n"
    )
    return folder


@pytest.mark.parametrize("word", ["tuning", "test data", "manufacturer", "clinic", "making"])
def test_a_word_of_the_list_or_a_data_set_is_read(word: str, tmp_path: Path) -> None:
    _, plan = read(study(tmp_path, word))
    assert plan.operating_point.threshold_chosen_on == word


def test_any_other_word_is_a_problem_that_names_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"column operating_point\.threshold_chosen_on") as error:
        read(study(tmp_path, "tunning"))
    assert 'Did you mean "tuning"?' in str(error.value)
    assert '"clinic"' in str(error.value)
