"""`trustreport sign` and `trustreport verify`."""

import sys
from pathlib import Path

import click

from trustreport.commands.output import PROBLEMS, allow_outside_option, problems_on_stderr

SIGNATURE_FORMS = ("statement", "in-toto", "pdf")


@click.command()
@click.argument("out", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--key",
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Private key (PEM): Ed25519; for signed copies of PDF any that a certificate may have.",
)
@click.option("--signer", "signatory", required=True, metavar="'NAME <ADDRESS>'", help="Who signs.")
@click.option("--act", default="approval", show_default=True, help="Act in one word; it names the files.")
@click.option("--meaning", required=True, help="Meaning of the signature, in a sentence.")
@click.option(
    "--form",
    "forms",
    multiple=True,
    type=click.Choice(SIGNATURE_FORMS),
    default=SIGNATURE_FORMS[:2],
    show_default=True,
    help="statement: ACT.json with its signature. in-toto: ACT.dsse.json with the verdicts, for cosign. "
    "pdf: signed copies (PAdES). May be repeated.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Certificate of the key (PEM), with those between it and the root; for signed copies.",
)
@click.option(
    "--tsa", default="", metavar="URL", help="Time-stamping authority (RFC 3161); it sees hashes only."
)
def sign(
    out: Path,
    key: Path,
    signatory: str,
    act: str,
    meaning: str,
    forms: tuple[str, ...],
    certificate: Path | None,
    tsa: str,
) -> None:
    """Sign the report in OUT. Its files stay as they are: signatures are files of their own.

    Verify them with trustreport verify. Nothing is signed where the report has been changed, and nothing is
    written where a signature or a time stamp cannot be had.
    """
    from trustreport.commands.signing import SignRequest, run

    for file in run(SignRequest(out, key, signatory, act, meaning, forms, certificate, tsa)):
        click.echo(file)


@click.command()
@click.argument("out", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--study", type=click.Path(path_type=Path), help="Study from which to recompute the report.")
@allow_outside_option
@click.option(
    "--signers",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Public keys (PEM) of those who must have signed statements on the report.",
)
@click.option(
    "--roots",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Trusted certificates (PEM), to which those of signed PDF and time stamps must lead.",
)
@click.option(
    "--verdicts",
    is_flag=True,
    help="Derive each verdict again from results.json, by code that shares nothing with what gave it.",
)
@click.option(
    "--statsmodels",
    is_flag=True,
    help="Compute again, with statsmodels, what it can compute from results.json.",
)
def verify(
    out: Path,
    study: Path | None,
    allow_outside: bool,
    signers: Path | None,
    roots: Path | None,
    verdicts: bool,
    statsmodels: bool,
) -> None:
    """Verify that the files of the report in OUT are unchanged.

    With --study, also verify that the report was made from this study and that the numbers come out the
    same. Signed statements in OUT (approval.json with approval.json.sig, approval.dsse.json) are checked too:
    the signature, and that the statement refers to these files. With --signers, at least one statement must
    be signed by one of them. Signed copies of PDF and time stamps are checked, with --roots their
    certificates too, and with --study the time stamps of its lock and statements on it. With --verdicts, each
    verdict is derived again from criteria, numbers and checks of results.json, and each that differs is
    printed. With --statsmodels, intervals of shares, those of two independent groups and exact McNemar tests
    are computed again by that library, and each number that differs is printed. Exit status 1 if anything
    differs.
    """
    from trustreport.commands.signing import roots_of, signers_of
    from trustreport.report.signatures.bundle import verify as look

    trusted = None if roots is None else roots_of(roots)
    known = None if signers is None else signers_of(signers)
    lines = look(out, known, trusted)
    if study is not None:
        from trustreport.commands.signing import lock_stamps, lock_statements

        lines += [*lock_stamps(study, trusted), *lock_statements(study, known)]
        from trustreport.api import reproduce

        with problems_on_stderr():
            lines += reproduce(out, study, allow_outside=allow_outside)
    wrong = [line for line in lines if line.status == "wrong"]
    for line in lines:
        if line.status != "ok":
            click.echo(f"{line.file} {line.said}.", err=line.status == "wrong")
    click.echo(f"{sum(line.status == 'ok' for line in lines)} unchanged, {len(wrong)} changed or missing.")
    agree = _derived_again(out) if verdicts else True
    equal = _computed_again(out) if statsmodels else True
    sys.exit(PROBLEMS if wrong or not (agree and equal) else 0)


def _derived_again(out: Path) -> bool:
    """Print each verdict that differs from the one derived again; whether none does."""
    from trustreport.commands import second_judge
    from trustreport.report.compare import load

    try:
        document = load(out)
        found = second_judge.dissents(document)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"no verdict was derived again: {error}") from error
    for dissent in found:
        click.echo(dissent, err=True)
    n, differ = len(document["verdicts"]), len({d.criterion for d in found})
    click.echo(f"{max(n - differ, 0)} of {n} verdicts derived again.")
    return not found


def _computed_again(out: Path) -> bool:
    """Print each number that statsmodels gives otherwise; whether none does."""
    from trustreport.commands import second_opinion
    from trustreport.report.compare import load

    try:
        found = second_opinion.recompute(load(out))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"nothing was computed again: {error}") from error
    other = [one for one in found if not one.equal]
    for one in other:
        click.echo(one, err=True)
    click.echo(
        f"{len(found) - len(other)} of {len(found)} limits and p-values computed again are equal to "
        f"{second_opinion.software()} to {second_opinion.TOLERANCE:.0e}."
    )
    return not other
