"""`trustreport serve`, `worker`, `audit-log`, `backup` and `restore`: the service and its data."""

import gc
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustreport.commands.output import PROBLEMS
from trustreport.report.layout.pipes import collect_as_usual

if TYPE_CHECKING:
    from trustreport.service.audit import Verified
    from trustreport.service.settings import Settings

SERVICE_BACKENDS = ("dask",)
MONTH = 30 * 24  # hours

data_folder = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("trustreport-data"),
    show_default=True,
    envvar="TRUSTREPORT_DATA",
    show_envvar=True,
    help="Data folder of the service.",
)
database_address = click.option(
    "--database",
    metavar="URL",
    help="Database to use instead of SQLite in the data folder: postgresql://user@host/name.",
)
files_address = click.option(
    "--files", metavar="URL", help="Bucket for the files instead of the data folder: s3://bucket/prefix."
)


cluster_backend = click.option(
    "--backend",
    type=click.Choice(SERVICE_BACKENDS),
    help="Cluster that computes heavy steps of reports, at DASK_SCHEDULER_ADDRESS (default: this process).",
)


@click.command()
@click.option("--host", help="Address to listen on (default: 127.0.0.1).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on (default: 8000).")
@click.option(
    "--workers", type=click.IntRange(min=0), help="Number of reports built at the same time (default: 1)."
)
@click.option(
    "--single",
    is_flag=True,
    help="For one person on this machine: no account; the start prints the link to come in by.",
)
@cluster_backend
@click.option(
    "--tls-certificate",
    metavar="FILE",
    help="Certificate in PEM, with those between it and its authority; without it a reverse proxy does TLS.",
)
@click.option("--tls-key", metavar="FILE", help="Key of the certificate in PEM.")
@data_folder
@database_address
@files_address
def serve(data: Path, single: bool, **given: Any) -> None:
    """Start the service: web API, pages and a worker.

    The first start prints a single-use link for creating the first account. Other settings are environment
    variables TRUSTREPORT_*, listed in docs/service.md.
    """
    if single:
        given |= {"single": 1, "session_hours": MONTH, "idle_minutes": 60 * MONTH}
    with service_settings(data, **given) as settings:
        from trustreport.service.server import serve as run

        _keep_imported()
        run(settings)


@click.command()
@click.option(
    "--workers", type=click.IntRange(min=1), help="Number of reports built at the same time (default: 1)."
)
@cluster_backend
@data_folder
@database_address
@files_address
def worker(data: Path, **given: Any) -> None:
    """Run a worker for a service, on any machine with access to its files and database."""
    with service_settings(data, **given) as settings:
        from trustreport.service.server import work

        _keep_imported()
        work(settings)


@click.group(name="audit-log")
def audit_log() -> None:
    """Inspect the audit log of a service."""


@audit_log.command(name="verify")
@click.option(
    "--heads",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File of log heads that was kept elsewhere; the log must contain them.",
)
@click.option(
    "--write-heads",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write the heads of the log to, signed (FILE.sig); keep both elsewhere.",
)
@data_folder
@database_address
@files_address
def verify_audit_log(
    data: Path, database: str | None, files: str | None, heads: Path | None, write_heads: Path | None
) -> None:
    """Verify the audit log. Exit status 1 if an entry has been changed or is missing.

    The log is compared with itself, the other tables, signed statements and the heads written every day.
    """
    with service_settings(data, database=database, files=files, exists=True) as settings:
        from trustreport.service.server import verify_log

        try:
            found = verify_log(settings, heads, write_heads)
        except ValueError as error:
            raise click.ClickException(str(error)) from error
    if not found:
        raise click.ClickException("the log is empty: there is no organisation")
    print_chains(found)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--recipient",
    "recipients",
    multiple=True,
    metavar="AGE1...",
    help="Public key of age to encrypt the backup for; may be repeated.",
)
@data_folder
@database_address
@files_address
def backup(
    file: Path, recipients: tuple[str, ...], data: Path, database: str | None, files: str | None
) -> None:
    """Back up all data of a service to FILE (.tar.gz, or .tar.gz.age with --recipient).

    The service may be running. Whoever has an unencrypted backup has all data and the signing key.
    """
    with service_settings(data, database=database, files=files, exists=True) as settings:
        from trustreport.service.record.backup import backup as write

        held = write(settings, file, recipients)
    rows = sum(held["tables"].values())
    how = "encrypted" if recipients else "not encrypted: keep it like the data folder"
    click.echo(f"{file}: {rows} rows, {held['blobs']} files, {how}.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--identity",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File of the secret key of age, for an encrypted backup.",
)
@click.option(
    "--keep-tokens",
    is_flag=True,
    help="Keep API tokens valid, also those revoked after the backup, and webhooks active.",
)
@data_folder
@database_address
@files_address
def restore(
    file: Path,
    identity: Path | None,
    keep_tokens: bool,
    data: Path,
    database: str | None,
    files: str | None,
) -> None:
    """Restore a backup to an empty folder and verify its audit log."""
    with service_settings(data, database=database, files=files) as settings:
        from trustreport.service.record.backup import restore as read

        found = read(settings, file, identity=identity, keep_tokens=keep_tokens)
    print_chains(found)


def _keep_imported() -> None:
    """What was imported stays to the end, so nobody is to look through it for rubbish; the rest as usual."""
    gc.freeze()
    collect_as_usual()


@contextmanager
def service_settings(data: Path, *, exists: bool = False, **given: Any) -> Iterator["Settings"]:
    """The service's settings; refused settings are a usage error, other failures a message."""
    if exists and not data.is_dir():
        raise click.UsageError(f"folder {data} does not exist")
    try:
        from trustreport.service.settings import Unsuitable, from_environment
        from trustreport.service.storage.migrate import TooNew
    except ImportError as error:
        fix = "pip install 'trustreport[service]'"
        raise click.ClickException(f"the service needs additional packages ({error}): {fix}") from error
    from trustreport.service.record.backup import BackupError
    from trustreport.service.storage.blobs import StorageAway

    try:
        yield from_environment(data, **given)
    except Unsuitable as error:
        raise click.UsageError(str(error)) from error
    except (BackupError, StorageAway, TooNew) as error:
        raise click.ClickException(str(error)) from error


def print_chains(found: "Iterable[Verified]") -> None:
    """A line for each chain of the audit log; exit status 1 where one is broken."""
    broken = False
    for chain in found:
        broken = broken or bool(chain.faults)
        said = "; ".join(chain.faults) or "intact"
        line = f"{chain.chain}: {chain.entries} entries, last {chain.head}: {said}."
        click.echo(line, err=bool(chain.faults))
    sys.exit(PROBLEMS if broken else 0)
