"""Studies whose evidence allows only some verdicts: none that it does not allow may be given."""

import csv
import shutil
from pathlib import Path

import pytest

from trustreport.api import assess, lock_criteria, read_study
from trustreport.errors import StudyError

CASES = (Path(__file__).resolve().parents[1] / "reference" / "verdicts").glob("*/verdicts.csv")
FOLDERS = sorted(table.parent for table in CASES)


def verdicts_of(folder: Path) -> dict[str, str] | None:
    """The verdict on each criterion, None where the study is refused; some manifests are locked first."""
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
    return {v.criterion.endpoint: v.word.replace(" ", "_") for v in assess(study, plan).verdicts}


def allowed_by(words: str, found: dict[str, str]) -> list[str]:
    """The verdicts that a row allows: separated by |, or `=NAME` for the verdict on another criterion."""
    return [found[words[1:]]] if words.startswith("=") else words.split("|")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_verdict_is_one_that_the_evidence_allows(folder: Path, tmp_path: Path) -> None:
    with (folder / "verdicts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    found = verdicts_of(Path(shutil.copytree(folder, tmp_path / "study")))
    if found is None:  # "problem" allows that the study is refused
        assert all("problem" in row["allowed"].split("|") for row in rows)
        return
    wrong = [
        f"{row['endpoint']}: {given or 'no verdict'}, allowed {row['allowed']} ({row['why']})"
        for row in rows
        if (given := found.get(row["endpoint"])) not in allowed_by(row["allowed"], found)
    ]
    assert not wrong, "\n".join(wrong)
