"""`trustreport calculate`: a table of counts, the nomogram, robustness scores, H-accuracy."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustreport.commands.output import PROBLEMS

if TYPE_CHECKING:
    from trustreport.measures.reported.printed import Rounding
    from trustreport.report.calculate import Area, Calculation

COUNT = click.IntRange(min=0)
SHARE = click.FloatRange(0, 1)
CELLS = ("tp", "fp", "fn", "tn")


@click.group()
def calculate() -> None:
    """Compute single numbers without a study: table, nomogram, robustness, h-accuracy."""


@click.command(name="table")
@click.option("--tp", type=COUNT, help="Number of true positives.")
@click.option("--fp", type=COUNT, help="Number of false positives.")
@click.option("--fn", type=COUNT, help="Number of false negatives.")
@click.option("--tn", type=COUNT, help="Number of true negatives.")
@click.option("--positives", type=COUNT, help="Number of cases with the condition.")
@click.option("--negatives", type=COUNT, help="Number of cases without the condition.")
@click.option("--total", type=COUNT, help="Number of all cases, if the classes are not known.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="MEASURE=FIGURE",
    help="Published figure, with the digits as printed.",
)
@click.option("--rounding", type=click.Choice(("rounded", "truncated")), default="rounded", show_default=True)
def table(
    positives: int | None,
    negatives: int | None,
    total: int | None,
    sets: tuple[str, ...],
    rounding: "Rounding",
    **cells: int | None,
) -> None:
    """List the tables of counts that are consistent with published figures; of one table, every measure.

    Example: --total 210 --set recall=0.68, or --tp 97 --fp 12 --fn 46 --tn 55. Exit status 1 if the figures
    contradict each other.
    """
    from trustreport.report.calculate import of_counts

    wrong = [given for given in sets if "=" not in given]
    figures = [(name.strip(), figure.strip()) for name, _, figure in (s.partition("=") for s in sets)]
    figures += [(name, str(cells[name])) for name in CELLS if cells[name] is not None]
    if wrong or not figures:
        hint = ", ".join(wrong) or "none given"
        raise click.BadParameter(f"{hint}; write MEASURE=FIGURE, for example recall=0.68", param_hint="--set")
    _print(
        lambda: of_counts(figures, positives=positives, negatives=negatives, total=total, rounding=rounding)
    )


@click.command(name="nomogram")
@click.option("--concordance", type=SHARE, required=True, help="Weighted concordance (rho) of the raters.")
@click.option("--accuracy", type=SHARE, required=True, help="Accuracy measured against their labels.")
@click.option("--classes", type=click.IntRange(min=2), default=2, show_default=True)
def nomogram(concordance: float, accuracy: float, classes: int) -> None:
    """Accuracy of labels, and the actual accuracy behind a measured one.

    Example: nomogram --concordance 0.57 --accuracy 0.9.
    """
    from trustreport.report.calculate import of_nomogram

    _print(lambda: of_nomogram(concordance, accuracy, n_categories=classes))


@click.command(name="robustness")
@click.option("--similarity", type=SHARE, required=True, help="Degree of correspondence.")
@click.option("--performance", type=SHARE, help="p-value for equal performance, two-sided.")
@click.option("--acceptability", type=SHARE, help="p-value for acceptable performance, one-sided.")
@click.option(
    "--auc", nargs=3, type=float, metavar="AUC SE N", help="AUC of the external set, in place of p-values."
)
@click.option(
    "--internal-auc", nargs=3, type=float, metavar="AUC SE N", help="AUC of the training data, out of fold."
)
@click.option("--least", type=SHARE, help="Least acceptable AUC.")
def robustness(
    similarity: float,
    performance: float | None,
    acceptability: float | None,
    auc: tuple[float, float, float] | None,
    internal_auc: tuple[float, float, float] | None,
    least: float | None,
) -> None:
    """Strong and weak potential robustness (SPR, WPR) from p-values, or from AUCs.

    Example: robustness --similarity 0.05 --performance 0.8.
    """
    from trustreport.report.calculate import of_robustness

    _print(
        lambda: of_robustness(
            similarity,
            performance=performance,
            acceptability=acceptability,
            external=_area(auc),
            internal=_area(internal_auc),
            least=least,
        )
    )


@click.command(name="h-accuracy")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--tau", type=SHARE, help="Confidence below which a right answer earns part of its credit.")
@click.option("--priority", help="Comma-separated weights of the classes, such as 0.3,0.7.")
def weighted_accuracy(file: Path, tau: float | None, priority: str | None) -> None:
    """H-accuracy of a CSV with columns truth and score (or score_0, score_1 ...), and complexity if known.

    Example: h-accuracy cases.csv --tau 0.8 --priority 0.3,0.7.
    """
    from trustreport.report.calculate import of_scores

    try:
        weights = None if priority is None else [float(text) for text in priority.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"{priority}; write numbers such as 0.3,0.7", param_hint="--priority"
        ) from None
    _print(lambda: of_scores(file.read_text("utf-8-sig"), tau=tau, priority=weights))


def _area(given: tuple[float, float, float] | None) -> "Area | None":
    from trustreport.report.calculate import Area

    return None if given is None else Area(given[0], given[1], int(given[2]))


def _print(made: "Callable[[], Calculation]") -> None:
    """The answer on stdout, or the faults of the input on stderr."""
    try:
        found: Any = made()
    except ValueError as error:
        click.echo(str(error), err=True)
        sys.exit(PROBLEMS)
    for line in found.lines():
        click.echo(line)
    sys.exit(PROBLEMS if found.contradictory else 0)


for command in (table, nomogram, robustness, weighted_accuracy):
    calculate.add_command(command)
