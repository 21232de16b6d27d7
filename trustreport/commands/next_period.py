"""`trustreport next`: the data of the next period into the manifest of an audit."""

import sys
from datetime import datetime
from pathlib import Path

import click

from trustreport.commands.output import PROBLEMS, print_problems

MIXED = (
    "{files}: not every row says that it is of {name}. The table is a change of the lock, because rows of a "
    "locked period could change its numbers. To keep the lock, restore the manifest, leave only the rows of "
    "{name} in the file and run this again. Otherwise declare the change under amendments."
)
DAY = click.DateTime(["%Y-%m-%d"])


@click.command("next")
@click.argument("study", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="A table of the new period; once for each. Tables from queries and exports need none.",
)
@click.option("--until", type=DAY, required=True, help="Last day of the period.")
@click.option("--since", type=DAY, help="First day.  [default: the day after the last period]")
@click.option("--name", default="", help="Name of the period.  [default: as the last one is named]")
def next_period(
    study: Path, data: tuple[Path, ...], until: datetime, since: datetime | None, name: str
) -> None:
    """Enter the next period of the audit in STUDY: its tables, data set and dates.

    A table that the last period has from a query with the parameters since and until is fetched for the
    new one; of exports in a folder or bucket the newest is taken. A file that has the earlier cases again
    replaces the table that it is like. Signals, incidents, indicators, the lock
    and the register of looks stay as they are. Nothing is changed unless the study can be read with the new
    data.
    """
    from trustreport.study.lock.file import FILE
    from trustreport.study.next_period import NoNextPeriod, enter_next_period
    from trustreport.vocabulary.errors import StudyError

    first = since.date() if since else None
    try:
        new = enter_next_period(study, data, until.date(), since=first, name=name)
    except NoNextPeriod as error:
        raise click.ClickException(str(error)) from error
    except StudyError as error:
        print_problems(error)
        sys.exit(PROBLEMS)
    click.echo(f"{new.name}: {new.start} to {new.end}, from {', '.join(new.files)}")
    if new.mixed and (study / FILE).is_file():
        click.echo(MIXED.format(files=", ".join(new.mixed), name=new.name), err=True)
    click.echo(f"Update signals and incidents, then run: trustreport build {study} -o OUT", err=True)
