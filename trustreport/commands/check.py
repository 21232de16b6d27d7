"""`trustreport check`: what is wrong with a study, and what its report would object to."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustreport.commands.output import PROBLEMS, allow_outside_option, print_not_declared, print_problems

if TYPE_CHECKING:
    from trustreport.assessment.assess import Assessment
    from trustreport.study.plan import Plan
    from trustreport.study.study import Study
    from trustreport.vocabulary.messages import Catalogue


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--full", is_flag=True, help="Compute the results too, and print what the report would object to."
)
@click.option("--quiet", is_flag=True, help="Print problems and warnings only.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="Form of the output; JSON goes to stdout, problems included.",
)
@allow_outside_option
def check(study: Path, full: bool, quiet: bool, form: str, allow_outside: bool) -> None:
    """Check manifest and tables of STUDY: every problem, and what is not used. Write no files."""
    from trustreport.study.identity.pseudonyms import released
    from trustreport.study.ingest import read
    from trustreport.study.plan import undeclared_fields
    from trustreport.vocabulary.errors import StudyError
    from trustreport.vocabulary.messages import catalogue

    try:
        found, plan = read(study, allow_outside=allow_outside)
        released(found, plan)  # a public report is refused where a table names persons
        assessment = _assessed(found, plan) if full else None
    except StudyError as error:
        if form == "json":
            click.echo(json.dumps({"problems": [problem.as_dict() for problem in error.problems]}, indent=1))
        else:
            print_problems(error)
        sys.exit(PROBLEMS)
    say = catalogue(plan.report.language)
    warnings = [(key, say(f"cautions.{key}", **values)) for key, values in found.cautions]
    if form == "json":
        told = [{"warning": key, "text": text} for key, text in warnings]
        more = {} if assessment is None else _objections(assessment, say)
        more["not_declared"] = [place for places in undeclared_fields(plan).values() for place in places]
        click.echo(json.dumps({"problems": [], "warnings": told, **more}, indent=1, ensure_ascii=False))
        return
    for _, text in warnings:
        click.echo(f"warning: {text}")
    n = len(warnings)
    if assessment is not None:
        n += _print_objections(_objections(assessment, say), quiet=quiet)
    if not quiet:
        end = "No problems found." if n == 0 else f"No problems; {n} warning{'s' * (n != 1)}."
        hint = "" if full else " --full computes the results and checks for pitfalls."
        click.echo(end + hint, err=True)
        print_not_declared(plan)


def _assessed(study: "Study", plan: "Plan") -> "Assessment":
    from trustreport.api import assess

    return assess(study, plan)


def _objections(assessment: "Assessment", say: "Catalogue") -> dict[str, Any]:
    """What the report would say of pitfalls, open questions and undeclared fields."""
    from trustreport.report.elements.annexes import scope_words

    checks = [
        {
            "check": outcome.check,
            "severity": say(f"severity.{outcome.severity}"),
            "scope": ", ".join(scope_words(outcome.scope, say)),
            "text": say(outcome.message),
        }
        for outcome in assessment.fired()
    ]
    open_ = [{"question": say(f"{u.dimension}.title"), "why": say(u.reason)} for u in assessment.unanswered]
    return {"checks": checks, "unanswered": open_}


def _print_objections(found: dict[str, Any], *, quiet: bool) -> int:
    for one in found["checks"]:
        place = f" ({one['scope']})" if one["scope"] else ""
        click.echo(f"{one['check']} {one['severity']}{place}: {one['text']}")
    if found["unanswered"] and not quiet:
        click.echo(f"Not assessed: {'; '.join(one['question'] for one in found['unanswered'])}")
    return len(found["checks"])
