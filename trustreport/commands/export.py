"""`trustreport export` and `compare`: a report in the forms of others, and what differs between two."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trustreport.commands.output import PROBLEMS, allow_outside_option, problems_on_stderr

if TYPE_CHECKING:
    from trustreport.study.plan import Plan
    from trustreport.study.study import Study


EXPORTS = (
    *("imrmc", "csv", "dcurves", "chai", "cyclonedx", "fhir", "huggingface"),
    *("psur", "pmcf", "annex-iv"),
)


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(EXPORTS),
    required=True,
    help="imrmc: input of the FDA's iMRMC. csv: every number. dcurves: decision curves in numbers. "
    "chai: CHAI Applied Model Card. cyclonedx: bill of materials. fhir: FHIR R5. "
    "huggingface: model-index. psur, pmcf, annex-iv: forms (.html or .docx).",
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="Output file."
)
@click.option("--task", help="Task to export (imrmc), if the study has several.")
@allow_outside_option
def export(study: Path, form: str, out: Path, task: str | None, allow_outside: bool) -> None:
    """Export the readings of STUDY for another tool, or its results as a card, a table or a form."""
    from trustreport.api import assess, export_report, read_study
    from trustreport.vocabulary.errors import MissingLibrary

    if task is not None and form != "imrmc":
        raise click.BadParameter("only iMRMC files are of one task", param_hint="--task")
    with problems_on_stderr():
        read, plan = read_study(study, allow_outside=allow_outside)
    try:
        if form == "imrmc":
            _export_imrmc(read, plan, out, task)
        else:
            with problems_on_stderr():
                export_report(assess(read, plan), form, out)
    except MissingLibrary as error:
        raise click.ClickException(str(error)) from error
    except ValueError as error:
        click.echo(str(error), err=True)
        sys.exit(PROBLEMS)
    except OSError as error:
        raise click.ClickException(f"cannot write to {out}: {error.strerror or error}") from error
    click.echo(out)


def _export_imrmc(read: "Study", plan: "Plan", out: Path, task: str | None) -> None:
    """Write the readings of one task for iMRMC."""
    from trustreport.study.interop.imrmc import write_imrmc

    tasks = [readings.task for readings in read.readings]
    found = [readings for readings in read.readings if task in (None, readings.task)]
    if len(found) != 1:
        known = f"the study has {', '.join(filter(None, tasks)) or 'one, without a name'}"
        raise click.BadParameter(known if tasks else "the study has no readings", param_hint="--task")
    out.write_text(write_imrmc(found[0], title=plan.report.title or "Readings of a study"), encoding="utf-8")


@click.command()
@click.argument("old", type=click.Path(path_type=Path, exists=True))
@click.argument("new", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare(old: Path, new: Path, as_json: bool) -> None:
    """Compare two reports: numbers, verdicts and checks.

    OLD and NEW are report folders or results.json files.
    """
    from trustreport.report.compare import compare as hold
    from trustreport.report.compare import lines, load, table

    try:
        found = hold(load(old), load(new))
    except (OSError, ValueError) as error:
        click.echo(str(error), err=True)
        sys.exit(PROBLEMS)
    if as_json:
        click.echo(json.dumps(found.as_dict(), sort_keys=True, ensure_ascii=False, indent=1))
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(table(found))
    else:
        for line in lines(found):
            click.echo(line)
