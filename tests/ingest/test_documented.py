"""What the pages of docs/ show is read as it is there: studies, pieces of manifests, commands."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from openpyxl import Workbook
from ruamel.yaml import YAML

from trustreport.commands.cli import main
from trustreport.planning import SizingRequest, size_study
from trustreport.study.ingest import read
from trustreport.study.ingest.contracts import CONTRACTS
from trustreport.study.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
# A file after its name; of a workbook the sheet is named too.
FILE = re.compile(
    r"^`(?P<name>[\w.-]+)`(?:, sheet `(?P<sheet>\w+)`)?[^\n]*\n\n```\w*\n(?P<content>.*?)^```", re.M | re.S
)
PIECE = re.compile(r"^```yaml\n(.*?)^```", re.M | re.S)
COMMAND = re.compile(
    r"^(?:\$ |    )?trustreport (?P<rest>[a-z].*)$|`trustreport (?P<inline>[a-z][^`]*)`", re.M
)

File = tuple[str, str | None, str]  # name, sheet, content


def readable(page: Path) -> str:
    """A page up to the folder that is shown because it cannot be read."""
    return page.read_text("utf-8").partition("## When something is wrong")[0]


def shown() -> Iterator[Any]:
    """Each manifest with the tables that follow it."""
    for page in PAGES:
        studies: list[list[File]] = []
        for found in FILE.finditer(readable(page)):
            if found["name"] == "study.yaml":
                studies.append([])
            if studies:
                studies[-1].append((found["name"], found["sheet"], found["content"]))
        for study in studies:
            if len(study) > 1:
                yield pytest.param(study, id=f"{page.stem}-{study[1][0]}")


@pytest.mark.parametrize("files", list(shown()))
def test_a_study_is_read(files: list[File], tmp_path: Path) -> None:
    for name, sheet, content in files:
        if sheet is not None:
            book = Workbook()
            lines = book.create_sheet(sheet)  # behind the first, which is empty
            for row in csv.reader(content.splitlines()):
                lines.append(row)
            book.save(tmp_path / name)
            continue
        head = HEAD if name == "study.yaml" and "report:" not in content else ""
        (tmp_path / name).write_text(head + content, "utf-8")
    study, _ = read(tmp_path)
    assert study.readings or study.datasets or study.raters or study.localisations or study.confusion


def pieces() -> Iterator[Any]:
    """All YAML: manifests and parts of them."""
    for page in PAGES:
        for number, content in enumerate(PIECE.findall(readable(page))):
            yield pytest.param(content, id=f"{page.stem}-{number}")


@pytest.mark.parametrize("content", list(pieces()))
def test_a_piece_of_a_manifest_is_one(content: str) -> None:
    given = YAML(typ="safe").load(content)
    if "design" in given and "endpoint" in given:  # what a study to come is sized from
        assert size_study(SizingRequest.model_validate(given | {"simulate": 0})).smallest
        return
    plan = Plan.model_validate({"report": {"kind": "certification"}, "device": {}, **given})
    assert plan


def commands() -> Iterator[Any]:
    """What readers are shown to type."""
    for page in [*PAGES, ROOT / "README.md"]:
        for found in COMMAND.finditer(page.read_text("utf-8")):
            typed = (found["rest"] or found["inline"]).partition("#")[0]
            if typed.startswith("criteria lock"):  # the name of a form of files
                continue
            yield pytest.param(typed.split(), id=f"{page.stem}-{typed.strip()}")


@pytest.mark.parametrize("words", list(commands()))
def test_a_command_exists_with_its_options(words: list[str]) -> None:
    command: click.Command = main
    while isinstance(command, click.Group):
        if not words or words[0].startswith("-") or words[0].isupper():  # the group by its name
            break
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    known = {
        opt for p in command.params if isinstance(p, click.Option) for opt in (*p.opts, *p.secondary_opts)
    }
    used = {word.partition("=")[0].rstrip(",.;") for word in words if word.startswith("--")}
    assert used <= known | {"--help"}, used - known


@pytest.mark.parametrize("kind", sorted(CONTRACTS.keys() - {"dataset"}))
def test_a_kind_of_table_is_listed_with_its_columns(kind: str) -> None:
    page = (DOCS / "study.md").read_text("utf-8")
    of_cases = (
        page[page.index("*Of cases*: ") :]
        .partition("\n\n")[0]
        .replace("`utility_00` to", "`utility_00` `utility_01` `utility_10`")
    )
    (row,) = re.findall(rf"^\| `{kind}` \|.*$", page, re.M)
    listed = set(re.findall(r"`(\w+)`", row.replace("*of cases*", of_cases)))
    assert set(CONTRACTS[kind].words) <= listed
