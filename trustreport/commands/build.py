"""`trustreport build`: from a study to the files of its report."""

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trustreport.commands.fleet import LANGUAGES, backend_option
from trustreport.commands.init import KINDS
from trustreport.commands.output import allow_outside_option, problems_on_stderr, steps

if TYPE_CHECKING:
    from datetime import datetime

    from trustreport.api import Backend
    from trustreport.study.plan import Plan
    from trustreport.study.study import Study

FAILED = 3
VERDICTS = ("fail", "inconclusive", "not-assessable", "not-tested")
FORMATS = ("html", "pdf", "annex", "json", "xlsx", "csv", "figures", "questions", "plain")
DEFAULT_FORMATS = ("html", "pdf", "annex", "json")
DRAWING = {"html", "pdf", "annex", "figures", "questions"}
PRINTED = (  # files whose paths are printed
    *("report.pdf", "annex.pdf", "report.html", "results.json", "results.xlsx", "results.csv"),
    *("plain.pdf", "plain.html"),
)
RELEASES = ("internal", "public")


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Output folder.",
)
@click.option("--kind", type=click.Choice(KINDS), help="Kind of report; overrides the manifest.")
@click.option(
    "--formats",
    default=None,
    help=f"Comma-separated list of formats: {', '.join(FORMATS)}. "
    f"[default: {','.join(DEFAULT_FORMATS)}]",
)
@click.option(
    "--release",
    type=click.Choice(RELEASES),
    help="Audience; overrides the manifest. A public report hides readers and sites.",
)
@click.option("--language", type=click.Choice(LANGUAGES), help="Language; overrides the manifest.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the random numbers.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of parallel workers."
)
@backend_option
@click.option(
    "--fail-on",
    metavar="VERDICTS",
    help=f"Comma-separated verdicts that give exit status 3: {', '.join(VERDICTS)}.",
)
@click.option("--purpose", default="", help="Purpose of this look at the data, for the register of looks.")
@click.option(
    "--on",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Day of this look, for the register of looks. [default: date of the report in the manifest]",
)
@allow_outside_option
def build(
    study: Path,
    out: Path,
    kind: str | None,
    formats: str | None,
    release: str | None,
    language: str | None,
    seed: int | None,
    jobs: int,
    backend: "Backend",
    fail_on: str | None,
    purpose: str,
    on: "datetime | None",
    allow_outside: bool,
) -> None:
    """Read STUDY, compute the results, and write the report to a folder."""
    fatal = [word.strip() for word in (fail_on or "").split(",") if word.strip()]
    unknown = [word for word in fatal if word not in VERDICTS]
    if unknown:
        known = ", ".join(VERDICTS)
        raise click.BadParameter(f"{', '.join(unknown)}; choose from {known}", param_hint="--fail-on")
    wanted = None if formats is None else [word.strip() for word in formats.split(",") if word.strip()]
    unknown = [word for word in wanted or () if word not in FORMATS]
    if unknown or wanted == []:
        raise click.BadParameter(
            f"{', '.join(unknown) or 'nothing'}; choose from {', '.join(FORMATS)}", param_hint="--formats"
        )
    home = study if study.is_dir() else study.parent
    if out.resolve() == home.resolve():
        raise click.BadParameter("is the folder of the study; choose another folder", param_hint="--out")
    import os
    from time import perf_counter

    # Memory that Arrow gives back at once saves a fortieth of the time.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # Products that are worth several threads are shared out as a whole; the library's own threads would keep
    # a core busy with waiting for the next small one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    start = perf_counter()
    from trustreport.report.layout.processes import DrawingProcess, LayoutProcesses

    drawn = DRAWING & set(wanted or DEFAULT_FORMATS)
    with (
        DrawingProcess(files="figures" in drawn) if drawn else nullcontext() as drawing,
        LayoutProcesses() as layout,
        steps() as tell,
    ):
        from trustreport.api import assess, read_study, workers, write_report
        from trustreport.vocabulary.errors import MissingLibrary

        imported = perf_counter()
        tell("read", 0.0)
        with problems_on_stderr():
            read, plan = read_study(study, allow_outside=allow_outside)
        read = _look(study, read, plan, on, purpose)
        said = {"kind": kind, "release": release, "language": language}
        of_report = {name: value for name, value in said.items() if value}
        if of_report:
            plan = plan.model_copy(update={"report": plan.report.model_copy(update=of_report)})
        if seed is not None:
            plan = plan.model_copy(update={"similarity": plan.similarity.model_copy(update={"seed": seed})})
        layout.start(len({"pdf", "annex"} & set(wanted or DEFAULT_FORMATS)))
        ingested = perf_counter()
        try:
            with workers(jobs, backend) as run, problems_on_stderr():
                assessment = assess(
                    read,
                    plan,
                    progress=lambda step, share: tell(step, 0.1 + 0.3 * share),
                    # What a public report hides is known at the end only.
                    seen=partial(drawing.begin, language=plan.report.language)
                    if drawing and plan.report.release != "public"
                    else None,
                    run=run,
                )
        except MissingLibrary as error:
            raise click.UsageError(str(error)) from error
        timed = {
            "import": round(imported - start, 3),
            "read": round(ingested - imported, 3),
            "assess": round(perf_counter() - ingested, 3),
        }
        try:
            written = write_report(
                assessment,
                out,
                formats=wanted,
                progress=lambda step, share: tell(step, 0.4 + 0.6 * share),
                timed=timed,
                drawing=drawing,
                layout=layout,
            )
        except OSError as error:
            raise click.ClickException(f"cannot write to {out}: {error.strerror or error}") from error
    for name, reason in written.failed.items():
        click.echo(f"{name} was not written. {reason}", err=True)
    for name in PRINTED:
        if (out / name).is_file():
            click.echo(out / name)
    failed = [v for v in assessment.verdicts if v.word.replace(" ", "-") in fatal]
    for verdict in failed:
        click.echo(f"{verdict.criterion.endpoint}: {verdict.word}", err=True)
    if failed:
        sys.exit(FAILED)


def _look(path: Path, study: "Study", plan: "Plan", on: "datetime | None", purpose: str) -> "Study":
    """The study with this look in its register."""
    from trustreport.api import record_look

    try:
        return record_look(path, study, plan, on=on.date().isoformat() if on else "", purpose=purpose)
    except OSError as error:
        reason = error.strerror or error
        raise click.ClickException(f"cannot enter this look in the register: {reason}") from error
