"""The studies that docs/study.md shows are read as they stand there."""

import re
from pathlib import Path

import pytest

from trustreport.ingest import read

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "study.md").read_text("utf-8")
HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
FILE = re.compile(r"^`([\w.-]+)`[^\n]*\n\n```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
WRONG = TEXT.index("## When something is wrong")


def shown() -> list[dict[str, str]]:
    """Each manifest with the tables that follow it."""
    studies: list[dict[str, str]] = []
    for name, content in FILE.findall(TEXT[:WRONG]):
        if name == "study.yaml":
            studies.append({})
        studies[-1][name] = content
    return [one for one in studies if len(one) > 1]


@pytest.mark.parametrize("files", shown(), ids=lambda files: next(n for n in files if n != "study.yaml"))
def test_it_is_read(files: dict[str, str], tmp_path: Path) -> None:
    for name, content in files.items():
        head = HEAD if name == "study.yaml" and "report:" not in content else ""
        (tmp_path / name).write_text(head + content, "utf-8")
    study, _ = read(tmp_path)
    assert study.readings or study.datasets or study.raters or study.localisations
