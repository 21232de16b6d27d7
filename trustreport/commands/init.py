"""`trustreport init`: a first manifest, empty or proposed from tables."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trustreport.commands.output import PROBLEMS, print_not_declared, print_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trustreport.study.plan import Kind
    from trustreport.study.proposal import Doubt

BY_HAND = (
    "docs/study.md (Tables) lists the columns of every kind of table. In a manifest of your own name yours: "
    "columns: {reader: <your header>, case: <your header>}"
)
KINDS = ("certification", "procurement", "vigilance")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER] [TABLE]...")
@click.option("--from", "from_tables", is_flag=True, help="Propose the manifest from the tables that follow.")
@click.option("--kind", type=click.Choice(KINDS), default="certification", show_default=True)
@click.option(
    "--all", "every", is_flag=True, help="Write every field, with what it means and who requires it."
)
def init(paths: tuple[Path, ...], from_tables: bool, kind: "Kind", every: bool) -> None:
    """Write a first manifest into FOLDER, with empty tables or from those that you have.

    With --from the manifest is written beside the first table, or into FOLDER, with copies of the tables.
    What the tables do not settle is asked on a terminal, and marked UNCERTAIN elsewhere. The study is read
    with the manifest: what is refused, or answers no question, is read another way, and said.
    """
    if from_tables:
        _init_from(paths, kind)
        return
    if len(paths) != 1:
        raise click.UsageError("name one folder, or --from and the tables")
    from trustreport.study.proposal.manifest import write_starter

    folder = paths[0]
    try:
        files = write_starter(folder, kind, every=every)
    except FileExistsError as error:
        raise click.UsageError(str(error)) from error
    for file in files:
        click.echo(file)
    click.echo(f"Fill them in, then run: trustreport check {folder}", err=True)


def _init_from(paths: tuple[Path, ...], kind: "Kind") -> None:
    import shutil
    from functools import cache
    from tempfile import TemporaryDirectory

    tables = [path for path in paths if path.is_file()]
    others = [path for path in paths if not path.is_file()]
    absent = [path for path in others if path.suffix]
    if not tables or len(others) > 1 or absent:
        lost = (
            f"there is no file {absent[0]}"
            if absent
            else "name the tables after --from, and at most one folder"
        )
        raise click.UsageError(lost)
    folder = others[0] if others else tables[0].parent
    file = folder / "study.yaml"
    if file.exists():
        raise click.UsageError(f"{file} is there already; name another folder")
    from trustreport.study.proposal import propose, write_proposal

    with TemporaryDirectory() as work:
        tables = list(_under_own_names(tables, Path(work)))
        choose = cache(_choose) if sys.stdin.isatty() else None
        proposal = propose(tables, kind, choose)
        if not proposal.entries and not proposal.datasets:
            for name, why in proposal.unread.items():
                click.echo(f"{name}: {why}", err=True)
            click.echo(BY_HAND, err=True)
            sys.exit(PROBLEMS)
        folder.mkdir(parents=True, exist_ok=True)
        for table in tables:
            if table.parent.resolve() != folder.resolve():
                shutil.copyfile(table, folder / table.name)
        proposal = write_proposal(tables, file, kind, choose, proposal)
    click.echo(file)
    for note in proposal.notes:
        click.echo(note, err=True)
    for name, why in proposal.unread.items():
        click.echo(f"{name} is not used: {why}", err=True)
    _say_what_remains(file)


def _under_own_names(tables: list[Path], work: Path) -> "Iterator[Path]":
    """The tables, in `work` those that need another name or form: files called alike, what is no table."""
    import shutil
    from collections import Counter

    from trustreport.study.interop.converted import converted
    from trustreport.study.proposal.contours import nnunet_rows
    from trustreport.vocabulary.errors import StudyError

    made, tables, problems = converted(tables)
    if problems:
        print_problems(StudyError(problems))
        sys.exit(PROBLEMS)
    for name, rows in made.items():
        yield _written(work / name, rows)
    called = Counter(table.name for table in tables)
    for table in tables:
        name = table.name if called[table.name] == 1 else f"{table.resolve().parent.name}_{table.name}"
        rows = nnunet_rows(table.read_text("utf-8", "replace")) if table.suffix == ".json" else []
        if rows:
            table = _written((work / name).with_suffix(".csv"), rows)
        elif name != table.name:
            table = Path(shutil.copyfile(table, work / name))
        yield table


def _written(file: Path, rows: list[list[str]]) -> Path:
    import csv

    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(rows)
    return file


def _choose(doubt: "Doubt") -> str:
    """Ask on the terminal."""
    answer: str = click.prompt(
        doubt.question, type=click.Choice(doubt.options), default=doubt.likeliest, err=True
    )
    return answer


def _say_what_remains(file: Path) -> None:
    """What a reader of the manifest that was written still has to look at."""
    from trustreport.study.ingest import read
    from trustreport.vocabulary.errors import StudyError
    from trustreport.vocabulary.messages import catalogue

    for line in file.read_text(encoding="utf-8").splitlines():
        _, mark, question = line.partition("# UNCERTAIN: ")
        if mark:
            click.echo(f"uncertain: {question}", err=True)
    try:
        study, plan = read(file)
    except StudyError as error:
        print_problems(error)
        sys.exit(PROBLEMS)
    for key, values in study.cautions:
        click.echo(f"warning: {catalogue('en')(f'cautions.{key}', **values)}", err=True)
    print_not_declared(plan)
    click.echo(f"Look at it, then run: trustreport build {file.parent} -o OUT", err=True)
