"""Studies whose evidence allows only some verdicts: none that it does not allow may be given."""

import csv
import shutil
from pathlib import Path

import pytest

from trustreport.api import Assessed, assess, lock_criteria, read_study
from trustreport.commands.second_judge import dissents
from trustreport.report.write import as_data
from trustreport.vocabulary.errors import StudyError

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
CASES = (
    table
    for name in ("verdicts", "verdicts_of_endpoints")
    for table in (REFERENCE / name).glob("*/verdicts.csv")
)
FOLDERS = sorted(table.parent for table in CASES)


def assessed(folder: Path) -> Assessed | None:
    """The assessment of a study, None where it is refused; some manifests are locked first."""
    locked = folder / "study.locked.yaml"
    if locked.exists():
        declared = (folder / "study.yaml").read_text()
        locked.replace(folder / "study.yaml")
        lock_criteria(folder)
        (folder / "study.yaml").write_text(declared)
    try:
        study, plan = read_study(folder)
    except StudyError:
        return None
    return assess(study, plan)


def allowed_by(words: str, found: dict[str, str]) -> list[str]:
    """The verdicts that a row allows: separated by |, or `=NAME` for the verdict on another criterion."""
    return [found[words[1:]]] if words.startswith("=") else words.split("|")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_verdict_is_one_that_the_evidence_allows(folder: Path, tmp_path: Path) -> None:
    with (folder / "verdicts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assessment = assessed(Path(shutil.copytree(folder, tmp_path / "study")))
    if assessment is None:  # "problem" allows that the study is refused
        assert all("problem" in row["allowed"].split("|") for row in rows)
        return
    assert not dissents(as_data(assessment)), "a second judge finds another verdict"
    found = {v.criterion.endpoint: v.word.replace(" ", "_") for v in assessment.verdicts}
    wrong = [
        f"{row['endpoint']}: {given or 'no verdict'}, allowed {row['allowed']} ({row['why']})"
        for row in rows
        if (given := found.get(row["endpoint"])) not in allowed_by(row["allowed"], found)
    ]
    assert not wrong, "\n".join(wrong)
