"""`trustreport doctor --qualify`: what the command prints and the exit status that it gives."""

from pathlib import Path

import click

from trustreport.commands.keys import name_and_address, signer_of
from trustreport.commands.qualification.operation import Progress
from trustreport.commands.qualification.peers import HERE
from trustreport.commands.qualification.record import JSON, PDF, qualify, refuse_used, write
from trustreport.commands.second_opinion import TOLERANCE, software
from trustreport.vocabulary.errors import MissingLibrary

MOST_PRINTED = 20  # failures; the record lists all


def run(out: Path, key: Path | None, signatory: str | None, on_progress: Progress) -> bool:
    """Qualify the installation, write the record, and return whether all passed."""
    try:
        refuse_used(out)
    except FileExistsError as error:
        raise click.BadParameter(str(error), param_hint="--out") from error
    signer = signer_of(key) if key is not None else None
    name, email = name_and_address(signatory) if key is not None else ("", "")
    found = qualify(on_progress=on_progress)
    on_progress("record", 1.0)
    try:
        write(found, out, signer, name, email)
    except MissingLibrary as error:
        raise click.ClickException(f"{error}. Nothing was written") from error
    except OSError as error:
        raise click.ClickException(f"cannot write to {out}: {error.strerror or error}") from error
    for file in (PDF, JSON):
        click.echo(out / file)
    for line in found.failures[:MOST_PRINTED]:
        click.echo(f"failed: {line}", err=True)
    for item in found.not_checked:
        click.echo(f"not checked: {item.name}: {item.note}", err=True)
    if signer is None:
        click.echo("The record is not signed: no key was given (--key).", err=True)
    n, compared = len(found.failures), len(found.operation)
    click.echo(f"{compared} reference values compared; {n} failure{'s' * (n != 1)}.", err=True)
    own = [c.passed for c in found.operation if c.reference.source.endswith(HERE)]
    click.echo(f"{sum(own)} of {len(own)} values are equal to {software()} to {TOLERANCE:.0e}.", err=True)
    return found.passed
