"""`trustreport infer`: tables of counts behind published figures."""

import sys
from typing import TYPE_CHECKING

import click

from trustreport.commands.output import PROBLEMS

if TYPE_CHECKING:
    from trustreport.measures.reported.printed import Rounding


@click.command()
@click.option("--positives", type=click.IntRange(min=0), help="Number of cases with the condition.")
@click.option("--negatives", type=click.IntRange(min=0), help="Number of cases without the condition.")
@click.option(
    "--total", type=click.IntRange(min=0), help="Number of all cases, if the classes are not known."
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="MEASURE=FIGURE",
    help="Published figure, with the digits as printed.",
)
@click.option("--rounding", type=click.Choice(("rounded", "truncated")), default="rounded", show_default=True)
def infer(
    positives: int | None,
    negatives: int | None,
    total: int | None,
    sets: tuple[str, ...],
    rounding: "Rounding",
) -> None:
    """List the tables of counts that are consistent with published figures.

    Example: infer --total 210 --set recall=0.68. Exit status 1 if the figures contradict each other.
    """
    from trustreport.infer import infer as find

    wrong = [given for given in sets if "=" not in given]
    if wrong or not sets:
        hint = ", ".join(wrong) or "none given"
        raise click.BadParameter(f"{hint}; write MEASURE=FIGURE, for example recall=0.68", param_hint="--set")
    figures = [(name.strip(), figure.strip()) for name, _, figure in (s.partition("=") for s in sets)]
    try:
        found = find(positives, negatives, total, figures, rounding=rounding)
    except ValueError as error:
        click.echo(str(error), err=True)
        sys.exit(PROBLEMS)
    for line in found.lines:
        click.echo(line)
    sys.exit(PROBLEMS if found.contradictory else 0)
