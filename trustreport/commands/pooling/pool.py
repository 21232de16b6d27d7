"""`trustreport pool`: the report of several sites, made of their files."""

from pathlib import Path

import click

from trustreport.commands.build import FORMATS
from trustreport.commands.fleet import LANGUAGES
from trustreport.commands.init import KINDS
from trustreport.commands.output import problems_on_stderr, steps


@click.command()
@click.argument(
    "files", type=click.Path(path_type=Path, dir_okay=False, exists=True), nargs=-1, required=True
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Output folder."
)
@click.option(
    "--signers",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Public keys (PEM) of the sites; the line before each key names its site.",
)
@click.option("--unverified", is_flag=True, help="Take files whoever signed them, or nobody.")
@click.option("--kind", type=click.Choice(KINDS), help="Kind of report; overrides what the sites declare.")
@click.option("--title", help="Title; overrides what the sites declare.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Language; overrides what the sites declare.")
@click.option("--formats", help=f"Comma-separated list of formats: {', '.join(FORMATS)}.")
def pool(
    files: tuple[Path, ...],
    out: Path,
    signers: Path | None,
    unverified: bool,
    kind: str | None,
    title: str | None,
    language: str | None,
    formats: str | None,
) -> None:
    """Write one report of several sites from their FILES, which `trustreport site` made.

    All must be under the same lock and signed by a key of --signers. Where a site withheld something, what
    rests on it is not assessable.
    """
    if signers is None and not unverified:
        raise click.UsageError(
            "name the keys of the sites with --signers, or take any file with --unverified"
        )
    from trustreport.api import assess, write_report
    from trustreport.api.sites import Signers, pool_sites, read_sites
    from trustreport.commands.signing import signers_of

    known = {} if signers is None else signers_of(signers)
    said = {"kind": kind, "title": title, "language": language}
    wanted = None if formats is None else [word.strip() for word in formats.split(",") if word.strip()]
    unknown = [word for word in wanted or () if word not in FORMATS]
    if unknown:
        raise click.BadParameter(
            f"{', '.join(unknown)}; choose from {', '.join(FORMATS)}", param_hint="--formats"
        )
    with steps() as tell:
        tell("read", 0.0)
        with problems_on_stderr():
            received = read_sites(files, Signers(known, unverified))
            study, plan = pool_sites(received, report={k: v for k, v in said.items() if v})
            assessment = assess(study, plan, progress=lambda step, share: tell(step, 0.1 + 0.3 * share))
        try:
            written = write_report(
                assessment, out, formats=wanted, progress=lambda step, share: tell(step, 0.4 + 0.6 * share)
            )
        except OSError as error:
            raise click.ClickException(f"cannot write to {out}: {error.strerror or error}") from error
    for name, reason in written.failed.items():
        click.echo(f"{name} was not written. {reason}", err=True)
    for name in ("report.pdf", "annex.pdf", "report.html", "results.json"):
        if (out / name).is_file():
            click.echo(out / name)
