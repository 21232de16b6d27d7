"""`trustreport compare`: two reports beside each other."""

import json
import sys
from pathlib import Path

import click

from trustreport.commands.output import PROBLEMS


@click.command()
@click.argument("old", type=click.Path(path_type=Path, exists=True))
@click.argument("new", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare(old: Path, new: Path, as_json: bool) -> None:
    """Compare two reports: numbers, verdicts and checks.

    OLD and NEW are report folders or results.json files.
    """
    from trustreport.report.compare import compare as hold
    from trustreport.report.compare import lines, load, table

    try:
        found = hold(load(old), load(new))
    except (OSError, ValueError) as error:
        click.echo(str(error), err=True)
        sys.exit(PROBLEMS)
    if as_json:
        click.echo(json.dumps(found.as_dict(), sort_keys=True, ensure_ascii=False, indent=1))
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(table(found))
    else:
        for line in lines(found):
            click.echo(line)
