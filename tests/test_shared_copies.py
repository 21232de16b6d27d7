"""The reference data are true copies: compared with their source where that is beside the checkout."""

from collections.abc import Iterator
from pathlib import Path

import pytest

REFERENCE = Path(__file__).resolve().parent / "reference"
BESIDE = REFERENCE.parents[2] / "shared"
# Files that the folder of the reference data has, and no other folder that is called the same.
MARKS = ("contract/check.py", "verdicts/check.py", "design.md")
# Where each folder of ours comes from.
COPIED = {
    "contract": "contract",
    "verdicts": "verdicts",
    "human-ai": "human-ai",
    "agreement": "reference/agreement",
    "external": "reference/external",
    "mrmc": "reference/mrmc",
    "seeds": "reference/seeds",
    "twobytwo": "reference/twobytwo",
}
NOT_COPIED = (".md", ".py")  # data are copied, not what is said about them, nor programs


def is_source(folder: Path) -> bool:
    """Whether a folder is the one that the reference data come from; its name does not matter."""
    return all((folder / mark).is_file() for mark in MARKS)


def files_of(folder: Path) -> dict[str, Path]:
    """The data files of a folder, by their path in it."""
    found = (file for file in folder.rglob("*") if file.is_file() and file.suffix not in NOT_COPIED)
    return {file.relative_to(folder).as_posix(): file for file in found}


def departures(source: Path, copies: Path) -> Iterator[str]:
    """Every data file that differs from its copy, has none, or is none of the source."""
    for name, origin in COPIED.items():
        theirs, ours = files_of(source / origin), files_of(copies / name)
        for file in sorted({*theirs, *ours}):
            if file not in ours:
                yield f"{name}/{file} is missing"
            elif file not in theirs:
                yield f"{name}/{file} is extra"
            elif theirs[file].read_bytes() != ours[file].read_bytes():
                yield f"{name}/{file} differs"
    known = set(COPIED.values())
    for folder in sorted((source / "reference").iterdir()):
        if f"reference/{folder.name}" not in known and files_of(folder):
            yield f"{folder.name}/ is missing"


@pytest.mark.skipif(not is_source(BESIDE), reason="the source of the reference data is not here")
def test_the_copies_are_those_of_the_source() -> None:
    found = list(departures(BESIDE, REFERENCE))
    assert not found, "tests/reference is not a copy of the reference data: " + "; ".join(found)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A source with a study, a value and programs."""
    folder = tmp_path / "source"
    data = ("contract/heart/study.yaml", "reference/mrmc/expected.json")
    for file in (*MARKS, *data, "reference/mrmc/SOURCES.md"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    return folder


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """Its data, copied."""
    folder = tmp_path / "copies"
    for file, text in {
        "contract/heart/study.yaml": "contract/heart/study.yaml",
        "mrmc/expected.json": "reference/mrmc/expected.json",
    }.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    return folder


def test_true_copies_have_no_departures(source: Path, copies: Path) -> None:
    (copies / "twobytwo.R").write_text("our own, in no folder that is copied")
    assert list(departures(source, copies)) == []


def test_each_departure_is_named(source: Path, copies: Path) -> None:
    (copies / "contract/heart/study.yaml").write_text("contract/heart/study.yaml\n")
    (copies / "mrmc/expected.json").rename(copies / "mrmc/other.json")
    (source / "verdicts/separated").mkdir()
    (source / "verdicts/separated/verdicts.csv").touch()
    (source / "reference/planning").mkdir()
    (source / "reference/planning/expected.json").touch()
    assert list(departures(source, copies)) == [
        "contract/heart/study.yaml differs",
        "verdicts/separated/verdicts.csv is missing",
        "mrmc/expected.json is missing",
        "mrmc/other.json is extra",
        "planning/ is missing",
    ]


def test_a_folder_of_somebody_else_is_no_source(source: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "shared"
    (theirs / "contract").mkdir(parents=True)
    (theirs / "contract/lease.txt").write_text("their own")
    assert is_source(source)
    assert not is_source(theirs)
    assert not is_source(tmp_path / "nothing")
