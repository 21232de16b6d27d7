"""What commands share: an option, printed problems and columns, progress, exit status."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from trustreport.study.plan import Plan
    from trustreport.vocabulary.errors import StudyError


PROBLEMS = 1


@contextmanager
def problems_on_stderr() -> Iterator[None]:
    """Turn the problems of a study into lines on stderr and exit status 1."""
    from trustreport.vocabulary.errors import StudyError

    try:
        yield
    except StudyError as error:
        print_problems(error)
        sys.exit(PROBLEMS)


def print_problems(error: "StudyError") -> None:
    """Every problem on a line of its own, then how many there are."""
    for problem in error.problems:
        click.echo(str(problem), err=True)
    n = len(error.problems)
    click.echo(f"{n} problem{'s' * (n != 1)}; nothing was written.", err=True)


def print_not_declared(plan: "Plan") -> None:
    """How many declarations the report will print as NOT DECLARED, and which."""
    from trustreport.study.plan import undeclared_fields

    fields = undeclared_fields(plan)
    n = sum(map(len, fields.values()))
    if n:
        are, them = ("is", "it") if n == 1 else ("are", "them")
        declarations = f"{n} declaration{'s' * (n != 1)} {are} missing"
        click.echo(f"{declarations}; the report will print NOT DECLARED for {them}:", err=True)
        groups: dict[str, list[str]] = {}
        for name, places in fields.items():
            group, _, field = name.partition(".")
            times = f" ({len(places)} times)" if len(places) > 1 else ""
            groups.setdefault(group, []).append(f"{field}{times}".strip())
        for group, names in groups.items():
            click.echo(f"  {group}: {', '.join(names)}" if any(names) else f"  {group}", err=True)


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Rows as lines, their columns under each other."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


@contextmanager
def steps() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on a terminal, a plain line per step elsewhere; both on stderr."""
    if not sys.stderr.isatty():
        last: list[str] = []

        def line(step: str, share: float) -> None:
            if step not in last:
                last.append(step)
                click.echo(f"{step.replace('_', ' ')} ...", err=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns: tuple[Any, ...] = (TextColumn("{task.description:<24}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda step, share: bar.update(task, description=step.replace("_", " "), completed=share)


allow_outside_option = click.option(
    "--allow-outside", is_flag=True, help="Allow the manifest to name files outside its folder."
)
