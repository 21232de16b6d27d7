"""`trustreport doctor`: whether this machine has what reports need, and computes what it should."""

import sys
from pathlib import Path

import click

from trustreport.commands.output import PROBLEMS, steps


@click.command()
@click.option(
    "--qualify",
    is_flag=True,
    help="Also compare the installation and what it computes with reference values.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="New folder for the record of --qualify (PDF and JSON).",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Private Ed25519 key (PEM) that signs the record.",
)
@click.option("--signer", "signatory", metavar="'NAME <ADDRESS>'", help="Who signs the record.")
def doctor(qualify: bool, out: Path | None, key: Path | None, signatory: str | None) -> None:
    """Check that this machine has the libraries that reports need, and say how to install the others.

    With --qualify, compare the packages with the locked versions, the package's files with the wheel's
    record, and results with reference values of other software (docs/validation.md). Exit status 1 if
    anything fails.
    """
    if qualify != (out is not None) or (not qualify and (key or signatory)):
        raise click.UsageError("--qualify goes with --out; --key and --signer sign its record")
    if qualify and out is not None:
        from trustreport.commands.qualify import run

        with steps() as on_progress:
            passed = run(out, key, signatory, on_progress)
        sys.exit(0 if passed else PROBLEMS)
    from trustreport.report.doctor import diagnose

    healthy = True
    for line in diagnose():
        healthy = healthy and line.fine
        click.echo(
            f"{'ok     ' if line.fine else 'missing'} {line.what}{'' if line.fine else f': {line.mend}'}"
        )
    sys.exit(0 if healthy else PROBLEMS)
