"""`trustreport doctor` and `packs`: what this machine has, whether it computes right, and the rule packs."""

import sys
from pathlib import Path

import click

from trustreport.commands.output import PROBLEMS, print_columns, steps


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
        from trustreport.commands.qualification.record import run

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


@click.command(name="packs")
@click.argument("pack", required=False)
def list_packs(pack: str | None) -> None:
    """List the rule packs (checklists of frameworks), or the items of PACK.

    The manifest names packs under report.rule_packs. Items are computed (C), declared (D) or supplied
    elsewhere (O). "Verified" means that the item number was compared with the text of the framework.
    """
    from trustreport.vocabulary import packs

    if pack is None:
        rows = [("id", "framework", "edition", "items", "verified")]
        for name in packs.ids():
            one = packs.load(name)
            rows.append((name, one.framework, one.edition, str(len(one.items)), str(one.verified)))
        print_columns(rows)
        return
    found = next((one.id for one in packs.find([pack])), "")
    if not found:
        raise click.BadParameter(f"{pack}; choose from {', '.join(packs.ids())}", param_hint="PACK")
    one = packs.load(found)
    click.echo(f"{one.framework}. {one.edition}. {one.legal_status} (as of {one.legal_status_on}).")
    click.echo(f"Text: {one.source}. Item numbers compared with {one.compared_with}.")
    rows = [("item", "status", "elements", "number", "about")]
    for item in one.items:
        number = f"verified {item.verified_on}" if item.verified else "not verified"
        rows.append((item.id, item.status, " ".join(item.elements), number, item.description))
    print_columns(rows)
