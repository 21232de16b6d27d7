"""`trustreport lock`: the manifest as it was before the data were opened."""

import sys
from pathlib import Path

import click

from trustreport.commands.output import PROBLEMS, problems_on_stderr


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--amend", is_flag=True, help="Add the current manifest to a lock that differs from it.")
@click.option("--reason", default="", help="Reason for the amendment, recorded in the lock.")
@click.option(
    "--token",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Time stamp (RFC 3161) of the hash that this command prints, recorded in the lock.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Private key (Ed25519, PEM) that signs the locked criteria, in a file beside the lock.",
)
@click.option("--signer", "signatory", metavar="'NAME <ADDRESS>'", help="Who signs; with --key.")
def lock(
    study: Path, amend: bool, reason: str, token: Path | None, key: Path | None, signatory: str | None
) -> None:
    """Lock the manifest of STUDY before the data are opened.

    The lock covers every field that affects a number: the whole manifest except titles, notices, names of
    people and other text without effect. Data may be added later. A lock shows whether the manifest has
    changed since; it does not show when it was made. For that, add a time stamp from a third party. With
    --key, who fixed the criteria is signed as a statement of in-toto (criteria.lock.1.dsse.json), which
    trustreport verify --study checks.
    """
    from trustreport.api import lock_criteria

    if (key is None) != (signatory is None):
        raise click.UsageError("--key and --signer go together")
    try:
        with problems_on_stderr():
            stamp = token.read_bytes() if token else b""
            file, locked = lock_criteria(study, amend=amend, reason=reason, token=stamp)
    except FileExistsError as error:
        click.echo(f"{error}. Restore it, or amend the lock: trustreport lock {study} --amend", err=True)
        sys.exit(PROBLEMS)
    except ValueError as error:
        click.echo(f"{error}.", err=True)
        sys.exit(PROBLEMS)
    except OSError as error:
        raise click.ClickException(f"cannot write the lock: {error.strerror or error}") from error
    click.echo(file)
    click.echo(f"sha256 {locked.last.sha256}", err=True)
    if key is not None:
        from trustreport.commands.signing import sign_lock

        click.echo(sign_lock(file.parent, locked, key, signatory))
    if locked.last.older:
        said = "This lock has an older form that covers the criteria only; --amend adds the whole manifest."
        click.echo(said, err=True)
    click.echo(
        "The lock does not show when it was made. To prove the date, add a time stamp from a third party:",
        err=True,
    )
    digest = f"openssl ts -query -sha256 -digest {locked.last.sha256} -cert -out criteria.tsq"
    click.echo(f"  {digest}", err=True)
    click.echo("  send criteria.tsq to a time-stamping authority, then:", err=True)
    click.echo(f"  trustreport lock {study} --token REPLY", err=True)
