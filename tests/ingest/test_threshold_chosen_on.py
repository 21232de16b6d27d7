"""On which data a threshold was chosen is a word of the list, or the name of a data set."""

from pathlib import Path

import pytest

from trustreport.study.ingest import read
from trustreport.vocabulary.errors import StudyError


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
