"""A study read in a process of its own is the study read here, with the same problems."""

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trustreport import subprocess_reader
from trustreport.api import read_study
from trustreport.errors import StudyError
from trustreport.study import Labels
from trustreport.subprocess_reader import BackgroundReader

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def same(a: Any, b: Any) -> bool:
    """Whether two results hold the same, arrays closed against writing."""
    if isinstance(a, np.ndarray):
        kinds = {"equal_nan": True} if a.dtype.kind in "fM" else {}
        return not b.flags.writeable and a.dtype == b.dtype and np.array_equal(a, b, **kinds)
    if isinstance(a, Labels):
        return tuple(a) == tuple(b)
    if is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, dict) or hasattr(a, "items"):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


@pytest.mark.parametrize("name", ["knee-mri-readings", "published-studies", "procurement-triage"])
def test_what_is_read_apart_is_what_is_read_here(name: str) -> None:
    study, plan = BackgroundReader(EXAMPLES / name)()
    here, plan_here = read_study(EXAMPLES / name)
    assert plan == plan_here
    assert same(here, study)


def test_problems_come_back_whole(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("report: {kind: certifcation}\ndevice: {}\nnothing: 1\n")
    with pytest.raises(StudyError) as apart_error:
        BackgroundReader(tmp_path)()
    with pytest.raises(StudyError) as error:
        read_study(tmp_path)
    assert apart_error.value.problems == error.value.problems


def test_a_large_folder_is_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "study.yaml").write_text("report: {kind: certification}\ndevice: {}\n" + "#" * 100)
    monkeypatch.setattr(subprocess_reader, "LARGEST", 50)
    reading = BackgroundReader(tmp_path)
    assert reading._answer is None
    with pytest.raises(StudyError):  # no table
        reading()


def test_a_process_that_dies_is_stood_in_for(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = BackgroundReader(EXAMPLES / "published-studies")

    class Closed:
        def recv(self) -> None:
            raise EOFError

    monkeypatch.setattr(reading, "_answer", Closed())
    study, _ = reading()
    assert study.reported or study.confusion
