"""The command `trustreport fleet`. Imports nothing heavy before it runs."""

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trustreport.report.layout.pipes import collect_as_usual

if TYPE_CHECKING:
    from trustreport.api.fleet.run import FleetSummary
    from trustreport.api.parallel import Backend

BACKENDS = ("loky", "threading", "dask", "ray")
LANGUAGES = ("en", "it", "fr", "de")
FAILED = 1
TIMEOUT = 3600.0  # seconds

backend_option = click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default=BACKENDS[0],
    show_default=True,
    help="Parallel backend; results do not depend on it.",
)


@click.command()
@click.argument("source", type=click.Path(path_type=Path, exists=True), metavar="FOLDER|LIST")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Output folder: reports, index.html, overview.csv and results.parquet.",
)
@click.option("--formats", help="Comma-separated list of formats of each report, as for build.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the random numbers.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of studies assessed at a time.",
)
@backend_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=TIMEOUT,
    show_default=True,
    help="Seconds that a study may take.",
)
@click.option("--again", is_flag=True, help="Build every study, also where nothing has changed.")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default=LANGUAGES[0],
    show_default=True,
    help="Language of the overview.",
)
@click.option("--allow-outside", is_flag=True, help="Allow manifests to name files outside their folder.")
def fleet(
    source: Path,
    out: Path,
    formats: str | None,
    seed: int | None,
    jobs: int,
    backend: "Backend",
    timeout: float,
    again: bool,
    language: str,
    allow_outside: bool,
) -> None:
    """Build the reports of many studies, and an overview of all of them.

    FOLDER holds the study folders; LIST is a text file with a path on each line, or a CSV file with the
    columns study and, if known, site and period. Studies that have not changed are not built again, so that
    the same command continues a run that was interrupted. Exit status 1 if a study could not be assessed.
    """
    from trustreport.api.fleet.run import build_fleet
    from trustreport.vocabulary.errors import MissingLibrary

    collect_as_usual()  # a run may last for a night
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever stops the job: what is done stays
    wanted = None if formats is None else [word.strip() for word in formats.split(",") if word.strip()]
    try:
        summary = build_fleet(
            source,
            out,
            backend=backend,
            jobs=jobs,
            formats=wanted,
            seed=seed,
            timeout=timeout,
            again=again,
            language=language,
            allow_outside=allow_outside,
            progress=_progress,
        )
    except BlockingIOError as error:
        raise click.ClickException(f"another run writes into {out}; wait until it has ended") from error
    except (ValueError, MissingLibrary) as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"cannot write to {out}: {error.strerror or error}") from error
    _print(summary)
    sys.exit(0 if summary.complete else FAILED)


def _progress(name: str, status: str, done: int, n: int) -> None:
    click.echo(f"{done} of {n}: {name}: {status}", err=True)


def _print(summary: "FleetSummary") -> None:
    """The files on stdout; counts, and each study that failed with the reason, on stderr."""
    from trustreport.vocabulary.messages import catalogue

    say = catalogue("en")
    for name in ("index.html", "overview.csv", "results.parquet"):
        click.echo(summary.out / name)
    for name, (why, values) in sorted(summary.failed.items()):
        click.echo(f"{name}: {say(f'fleet.failed.{why}', **values)}", err=True)
    counts = f"{summary.n_built} built, {summary.n_current} unchanged, {len(summary.failed)} failed"
    click.echo(f"{summary.n} studies: {counts}.", err=True)
    if summary.interrupted:
        click.echo(f"Interrupted; {summary.n_waiting} waiting. The same command continues.", err=True)
