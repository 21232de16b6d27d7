"""`trustreport demo`: a report of each kind from data that come with the package."""

from pathlib import Path

import click

DEMOS = {
    "certification": "certification-dossier",
    "procurement": "procurement-triage",
    "vigilance": "vigilance-audit",
}


@click.command()
@click.argument("out", type=click.Path(path_type=Path, file_okay=False), default="trustreport-demo")
@click.option(
    "--kind", type=click.Choice(tuple(DEMOS)), multiple=True, help="One kind only; may be repeated."
)
@click.option("--open/--no-open", "shown", default=True, help="Open each report in the browser.")
def demo(out: Path, kind: tuple[str, ...], shown: bool) -> None:
    """Build a report of each kind into OUT from simulated data that come with trustreport.

    OUT/KIND/study holds the study to look at and change, OUT/KIND the report.
    """
    import shutil

    from trustreport.api import assess, read_study, write_report
    from trustreport.vocabulary.resources import folder

    for name in kind or tuple(DEMOS):
        study = out / name / "study"
        if study.exists():
            raise click.ClickException(f"{study} is there already; name another folder")
        shutil.copytree(folder("examples") / DEMOS[name], study)
        write_report(assess(*read_study(study)), out / name)
        report = out / name / "report.html"
        click.echo(report)
        if shown:
            click.launch(report.resolve().as_uri())
    click.echo(
        f"Next: trustreport init --from YOUR-TABLE, or change a study and build it:\n"
        f"  trustreport build {out}/{(kind or tuple(DEMOS))[0]}/study -o OUT",
        err=True,
    )
