"""Studies whose evidence allows only some verdicts: none that it does not allow may be given."""

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

from trustreport.api import assess, lock_criteria, read_study
from trustreport.errors import StudyError

CASES = sorted((Path(__file__).resolve().parents[1] / "reference" / "verdicts").glob("*/verdicts.csv"))
# Cases with a verdict that the evidence does not allow. One that is corrected leaves this set.
KNOWN_FAILURES = {
    "alpha-half",
    "clustered-brier",
    "lock-clusters",
    "lock-columns",
    "no-discordant",
    "one-number-101",
    "one-number-103",
    "one-number-111",
    "period-direction",
    "separated",
    "superiority-below-no-effect",
    "threshold-on-test-data",
}


def cases() -> list[Any]:
    """Every case; a known failure that no longer fails is an error, until it has left the set."""
    mark = pytest.mark.xfail(raises=AssertionError, strict=True)
    names = {table.parent.name for table in CASES}
    assert names >= KNOWN_FAILURES, KNOWN_FAILURES - names
    return [
        pytest.param(t.parent, id=t.parent.name, marks=[mark] if t.parent.name in KNOWN_FAILURES else [])
        for t in CASES
    ]


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


@pytest.mark.parametrize("folder", cases())
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
