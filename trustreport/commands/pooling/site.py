"""`trustreport site`: what one site hands over, and no row of a patient."""

import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trustreport.commands.output import PROBLEMS, allow_outside_option, problems_on_stderr

if TYPE_CHECKING:
    from trustreport.study.pooled.site_file import SiteFile


@click.command()
@click.argument("study", type=click.Path(path_type=Path, exists=True))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="Site file."
)
@click.option("--site", "name", required=True, help="Name of the site in the pooled report.")
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Private Ed25519 key (PEM) that signs the file.",
)
@click.option(
    "--fewest",
    type=click.IntRange(min=0, max=1000),
    default=5,
    show_default=True,
    help="Counts of fewer cases are withheld, and what would give them back.",
)
@click.option(
    "--digits",
    type=click.IntRange(min=2, max=17),
    help="Significant digits of sums and estimates.  [default: all]",
)
@allow_outside_option
def site(
    study: Path, out: Path, name: str, key: Path | None, fewest: int, digits: int | None, allow_outside: bool
) -> None:
    """Summarise STUDY for a report that pools several sites: counts, sums and estimates, no row of a patient.

    The study must be under the lock that all sites share. What the rules withhold is named. Before the file
    is written, a program tries to compute the withheld counts from it; if it can, nothing is written.
    """
    from trustreport.api.sites import site_bytes, summarise_site
    from trustreport.assessment.site_summary.summary import DisclosureError
    from trustreport.commands.signing import signer_of
    from trustreport.study.pooled.site_file import DisclosureRules

    signer = None if key is None else signer_of(key)
    try:
        with problems_on_stderr():
            rules = DisclosureRules(fewest=fewest, digits=digits)
            summary = summarise_site(study, name, rules, allow_outside=allow_outside)
    except DisclosureError as error:
        click.echo(f"{study}: nothing was written: withheld counts follow from the others. {error}", err=True)
        sys.exit(PROBLEMS)
    new = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
    try:
        new.write_bytes(site_bytes(summary, signer))
        os.replace(new, out)
    except OSError as error:
        raise click.ClickException(f"cannot write {out}: {error.strerror or error}") from error
    finally:
        new.unlink(missing_ok=True)
    click.echo(out)
    _print_withheld(summary, signed=signer is not None)


def _print_withheld(summary: "SiteFile", *, signed: bool) -> None:
    """What leaves and what does not, on the error stream."""
    for one in summary.datasets:
        n = sum(pattern.n for pattern in one.patterns)
        click.echo(f"{one.dataset}: {n} cases in {len(one.patterns)} counts", err=True)
    for kept in summary.withheld:
        what = " ".join(word for word in (kept.what, kept.name, kept.candidate) if word)
        click.echo(f"{kept.dataset}: {what} withheld ({kept.reason.replace('_', ' ')})", err=True)
    if not signed:
        click.echo(
            "The file is not signed. Sign it with --key KEY.pem; see: openssl genpkey -algorithm ed25519",
            err=True,
        )
