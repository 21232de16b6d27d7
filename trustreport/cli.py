"""The command line. Imports nothing heavy before a command needs it."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import trustreport
from trustreport.fleet.command import BACKENDS, LANGUAGES, fleet

if TYPE_CHECKING:
    from datetime import datetime

    from trustreport.api import Backend
    from trustreport.assessment import Assessment
    from trustreport.errors import StudyError
    from trustreport.measures.reported.printed import Rounding
    from trustreport.messages import Catalogue
    from trustreport.plan import Kind, Plan
    from trustreport.proposal import Doubt
    from trustreport.service.audit import Verified
    from trustreport.service.settings import Settings
    from trustreport.study import Study

PROBLEMS = 1
SOME = 5  # undeclared fields that check names
FAILED = 3
VERDICTS = ("fail", "inconclusive", "not-assessable", "not-tested")
KINDS = ("certification", "procurement", "vigilance")
SERVICE_BACKENDS = ("dask",)
FORMATS = ("html", "pdf", "annex", "json", "xlsx", "csv", "figures", "questions")
DEFAULT_FORMATS = ("html", "pdf", "json")
EXPORTS = (
    *("imrmc", "csv", "dcurves", "chai", "cyclonedx", "fhir", "huggingface"),
    *("psur", "pmcf", "annex-iv"),
)
DRAWING = {"html", "pdf", "annex", "figures", "questions"}
RELEASES = ("internal", "public")
SIGNATURE_FORMS = ("statement", "in-toto", "pdf")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(trustreport.__version__, prog_name="trustreport")
def main() -> None:
    """Build reports on the trustworthiness of a medical AI from a folder of data and a manifest.

    Exit status: 0 done, 1 problems in the input, 2 wrong usage, 3 done, but a criterion has a verdict that
    --fail-on names.
    """


@main.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER] [TABLE]...")
@click.option("--from", "from_tables", is_flag=True, help="Propose the manifest from the tables that follow.")
@click.option("--kind", type=click.Choice(KINDS), default="certification", show_default=True)
@click.option(
    "--all", "every", is_flag=True, help="Write every field, with what it means and who requires it."
)
def init(paths: tuple[Path, ...], from_tables: bool, kind: "Kind", every: bool) -> None:
    """Write a first manifest into FOLDER, with empty tables or from those that you have.

    With --from the manifest is written beside the first table, or into FOLDER, with copies of the tables.
    What the tables do not settle is asked on a terminal, and marked UNCERTAIN elsewhere.
    """
    if from_tables:
        _init_from(paths, kind)
        return
    if len(paths) != 1:
        raise click.UsageError("name one folder, or --from and the tables")
    from trustreport.starter import write_starter

    folder = paths[0]
    try:
        files = write_starter(folder, kind, every=every)
    except FileExistsError as error:
        raise click.UsageError(str(error)) from error
    for file in files:
        click.echo(file)
    click.echo(f"Fill them in, then run: trustreport check {folder}", err=True)


def _init_from(paths: tuple[Path, ...], kind: "Kind") -> None:
    import shutil

    tables = [path for path in paths if path.is_file()]
    others = [path for path in paths if not path.is_file()]
    absent = [path for path in others if path.suffix]
    if not tables or len(others) > 1 or absent:
        lost = (
            f"there is no file {absent[0]}"
            if absent
            else "name the tables after --from, and at most one folder"
        )
        raise click.UsageError(lost)
    folder = others[0] if others else tables[0].parent
    file = folder / "study.yaml"
    if file.exists():
        raise click.UsageError(f"{file} is there already; name another folder")
    from trustreport.proposal import propose, text

    proposal = propose(tables, kind, _choose if sys.stdin.isatty() else None)
    if not proposal.entries and not proposal.datasets:
        for name, why in proposal.unread.items():
            click.echo(f"{name}: {why}", err=True)
        sys.exit(PROBLEMS)
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        if table.parent.resolve() != folder.resolve():
            shutil.copyfile(table, folder / table.name)
    file.write_text(text(proposal, folder.resolve().name), encoding="utf-8")
    click.echo(file)
    for note in proposal.notes:
        click.echo(note, err=True)
    for name, why in proposal.unread.items():
        click.echo(f"{name} is not used: {why}", err=True)
    _say_what_remains(file)


def _choose(doubt: "Doubt") -> str:
    """Ask on the terminal."""
    answer: str = click.prompt(
        doubt.question, type=click.Choice(doubt.options), default=doubt.likeliest, err=True
    )
    return answer


def _say_what_remains(file: Path) -> None:
    """What a reader of the manifest that was written still has to look at."""
    from trustreport.errors import StudyError
    from trustreport.ingest import read
    from trustreport.messages import catalogue

    for line in file.read_text(encoding="utf-8").splitlines():
        _, mark, question = line.partition("# UNCERTAIN: ")
        if mark:
            click.echo(f"uncertain: {question}", err=True)
    try:
        study, _ = read(file)
    except StudyError as error:
        print_problems(error)
        sys.exit(PROBLEMS)
    for key, values in study.cautions:
        click.echo(f"warning: {catalogue('en')(f'cautions.{key}', **values)}", err=True)
    click.echo(f"Look at it, then run: trustreport build {file.parent} -o OUT", err=True)


@main.command()
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
@click.option("--allow-outside", is_flag=True, help="Allow the manifest to name files outside its folder.")
def check(study: Path, full: bool, quiet: bool, form: str, allow_outside: bool) -> None:
    """Check manifest and tables of STUDY: every problem, and what is not used. Write no files."""
    from trustreport.errors import StudyError
    from trustreport.identity.release import released
    from trustreport.ingest import read
    from trustreport.messages import catalogue

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
    return {"checks": checks, "unanswered": open_, "not_declared": list(assessment.not_declared)}


def _print_objections(found: dict[str, Any], *, quiet: bool) -> int:
    for one in found["checks"]:
        place = f" ({one['scope']})" if one["scope"] else ""
        click.echo(f"{one['check']} {one['severity']}{place}: {one['text']}")
    if not quiet:
        if found["unanswered"]:
            click.echo(f"Not assessed: {'; '.join(one['question'] for one in found['unanswered'])}")
        fields = found["not_declared"]
        if fields:
            rest = f" and {len(fields) - SOME} more" if len(fields) > SOME else ""
            click.echo(f"Not declared: {', '.join(fields[:SOME])}{rest}")
    return len(found["checks"])


@main.command()
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
    f"[default: {','.join(DEFAULT_FORMATS)}; annex too for a certification dossier with criteria]",
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
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default=BACKENDS[0],
    show_default=True,
    help="Parallel backend; results do not depend on it.",
)
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
@click.option("--allow-outside", is_flag=True, help="Allow the manifest to name files outside its folder.")
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
    import atexit
    import gc
    import os
    from time import perf_counter

    # One report and the process ends: looking for rubbish more rarely saves a tenth of the time, and memory
    # that Arrow gives back at once a fortieth of it.
    gc.set_threshold(100_000, 50, 1000)
    atexit.register(gc.freeze)  # nor does anybody gain by the search at the end, which takes a second
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # Products that are worth several threads are shared out as a whole; the library's own threads would keep
    # a core busy with waiting for the next small one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    start = perf_counter()
    from trustreport.subprocess_reader import BackgroundReader

    # Both import for themselves what only they need, while this process imports the rest.
    reading = BackgroundReader(study, allow_outside=allow_outside)
    from trustreport.report.drawing import DrawingProcess
    from trustreport.report.layout_process import LayoutProcess

    drawn = DRAWING & set(wanted or DEFAULT_FORMATS)
    with (
        DrawingProcess(files="figures" in drawn) if drawn else nullcontext() as drawing,
        LayoutProcess() as layout,
        steps() as tell,
    ):
        from trustreport.api import assess, workers, write_report
        from trustreport.errors import MissingLibrary
        from trustreport.report.write import default_formats, prepare

        prepare(wanted or DEFAULT_FORMATS)
        imported = perf_counter()
        tell("read", 0.0)
        with problems_on_stderr():
            read, plan = reading()
        read = _look(study, read, plan, on, purpose)
        said = {"kind": kind, "release": release, "language": language}
        of_report = {name: value for name, value in said.items() if value}
        if of_report:
            plan = plan.model_copy(update={"report": plan.report.model_copy(update=of_report)})
        if seed is not None:
            plan = plan.model_copy(update={"similarity": plan.similarity.model_copy(update={"seed": seed})})
        if {"pdf", "annex"} <= set(wanted or default_formats(plan)):
            layout.start()  # once the process that read has made room for it
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
    for name in ("report.pdf", "annex.pdf", "report.html", "results.json", "results.xlsx", "results.csv"):
        if (out / name).is_file():
            click.echo(out / name)
    failed = [v for v in assessment.verdicts if v.word.replace(" ", "-") in fatal]
    for verdict in failed:
        click.echo(f"{verdict.criterion.endpoint}: {verdict.word}", err=True)
    if failed:
        sys.exit(FAILED)


main.add_command(fleet)


def _look(path: Path, study: "Study", plan: "Plan", on: "datetime | None", purpose: str) -> "Study":
    """The study with this look in its register."""
    from trustreport.api import record_look

    try:
        return record_look(path, study, plan, on=on.date().isoformat() if on else "", purpose=purpose)
    except OSError as error:
        reason = error.strerror or error
        raise click.ClickException(f"cannot enter this look in the register: {reason}") from error


@main.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--amend", is_flag=True, help="Add the current manifest to a lock that differs from it.")
@click.option("--reason", default="", help="Reason for the amendment, recorded in the lock.")
@click.option(
    "--token",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Time stamp (RFC 3161) of the hash that this command prints, recorded in the lock.",
)
def lock(study: Path, amend: bool, reason: str, token: Path | None) -> None:
    """Lock the manifest of STUDY before the data are opened.

    The lock covers every field that affects a number: the whole manifest except titles, notices, names of
    people and other text without effect. Data may be added later. A lock shows whether the manifest has
    changed since; it does not show when it was made. For that, add a time stamp from a third party.
    """
    from trustreport.api import lock_criteria

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


@main.command()
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
@click.option("--allow-outside", is_flag=True, help="Allow the manifest to name files outside its folder.")
def export(study: Path, form: str, out: Path, task: str | None, allow_outside: bool) -> None:
    """Export the readings of STUDY for another tool, or its results as a card, a table or a form."""
    from trustreport.api import assess, export_report, read_study
    from trustreport.errors import MissingLibrary

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
    from trustreport.interop.imrmc import write_imrmc

    tasks = [readings.task for readings in read.readings]
    found = [readings for readings in read.readings if task in (None, readings.task)]
    if len(found) != 1:
        known = f"the study has {', '.join(filter(None, tasks)) or 'one, without a name'}"
        raise click.BadParameter(known if tasks else "the study has no readings", param_hint="--task")
    out.write_text(write_imrmc(found[0], title=plan.report.title or "Readings of a study"), encoding="utf-8")


@main.command()
@click.option("--positives", type=click.IntRange(min=0), help="Number of cases with the condition.")
@click.option("--negatives", type=click.IntRange(min=0), help="Number of cases without the condition.")
@click.option(
    "--total", type=click.IntRange(min=0), help="Number of all cases, if the classes are not known."
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="MEASURE=FIGURE",
    help="Published figure, with the digits as printed.",
)
@click.option("--rounding", type=click.Choice(("rounded", "truncated")), default="rounded", show_default=True)
def infer(
    positives: int | None,
    negatives: int | None,
    total: int | None,
    sets: tuple[str, ...],
    rounding: "Rounding",
) -> None:
    """List the tables of counts that are consistent with published figures.

    Example: infer --total 210 --set recall=0.68. Exit status 1 if the figures contradict each other.
    """
    from trustreport.infer import infer as find

    wrong = [given for given in sets if "=" not in given]
    if wrong or not sets:
        hint = ", ".join(wrong) or "none given"
        raise click.BadParameter(f"{hint}; write MEASURE=FIGURE, for example recall=0.68", param_hint="--set")
    figures = [(name.strip(), figure.strip()) for name, _, figure in (s.partition("=") for s in sets)]
    try:
        found = find(positives, negatives, total, figures, rounding=rounding)
    except ValueError as error:
        click.echo(str(error), err=True)
        sys.exit(PROBLEMS)
    for line in found.lines:
        click.echo(line)
    sys.exit(PROBLEMS if found.contradictory else 0)


@main.command()
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
    default=SIGNATURE_FORMS[:1],
    show_default=True,
    help="statement: ACT.json with its signature. in-toto: ACT.dsse.json, for cosign. pdf: signed copies "
    "(PAdES). May be repeated.",
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
    from trustreport.commands.sign import SignRequest, run

    for file in run(SignRequest(out, key, signatory, act, meaning, forms, certificate, tsa)):
        click.echo(file)


@main.command()
@click.argument("out", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--study", type=click.Path(path_type=Path), help="Study from which to recompute the report.")
@click.option("--allow-outside", is_flag=True, help="Allow the manifest to name files outside its folder.")
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
def verify(
    out: Path, study: Path | None, allow_outside: bool, signers: Path | None, roots: Path | None
) -> None:
    """Verify that the files of the report in OUT are unchanged.

    With --study, also verify that the report was made from this study and that the numbers come out the
    same. Signed statements in OUT (approval.json with approval.json.sig, approval.dsse.json) are checked too:
    the signature, and that the statement refers to these files. With --signers, at least one statement must
    be signed by one of them. Signed copies of PDF and time stamps are checked, with --roots their
    certificates too, and with --study the time stamps of its lock. Exit status 1 if anything differs.
    """
    from trustreport.commands.keys import roots_of, signers_of
    from trustreport.report.bundle import verify as look

    trusted = None if roots is None else roots_of(roots)
    lines = look(out, None if signers is None else signers_of(signers), trusted)
    if study is not None:
        from trustreport.commands.locks import lock_stamps

        lines += lock_stamps(study, trusted)
        from trustreport.api import reproduce

        with problems_on_stderr():
            lines += reproduce(out, study, allow_outside=allow_outside)
    wrong = [line for line in lines if line.status == "wrong"]
    for line in lines:
        if line.status != "ok":
            click.echo(f"{line.file} {line.said}.", err=line.status == "wrong")
    click.echo(f"{sum(line.status == 'ok' for line in lines)} unchanged, {len(wrong)} changed or missing.")
    sys.exit(PROBLEMS if wrong else 0)


@main.command()
@click.argument("old", type=click.Path(path_type=Path, exists=True))
@click.argument("new", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare(old: Path, new: Path, as_json: bool) -> None:
    """Compare two reports: numbers, verdicts and checks.

    OLD and NEW are report folders or results.json files.
    """
    import json

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


@main.command(name="plan")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    help="File of the request (YAML or JSON), or the folder of a pilot study.",
)
@click.option("--design", help="crossed, split_plot, sequential, sites or device.")
@click.option("--endpoint", help="sensitivity, specificity, accuracy or auc.")
@click.option("--hypothesis", help="superiority, non_inferiority or equivalence.")
@click.option("--effect", help="True difference to find.")
@click.option("--margin", help="Largest acceptable loss, or difference of no consequence.")
@click.option("--power", help="Wished power (default: 0.8).")
@click.option("--width", help="Wished width of the interval, instead of a power.")
@click.option("--readers", help="Comma-separated numbers of readers.")
@click.option("--cases", help="Comma-separated numbers of cases of the endpoint's class.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Any other field of the request, such as components.model=roe_metz; may be repeated.",
)
@click.option(
    "--chart",
    help="cusum or sprt: how late a monitoring chart alerts, instead of a reader study; its rates by --set.",
)
@click.option("--simulate", help="Number of simulated studies of each smallest size (default: 0).")
@click.option("--seed", help="Seed of the random numbers (default: 1).")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for plan.json, protocol.md, protocol.pdf and figure.svg.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("markdown", "json")),
    default="markdown",
    show_default=True,
    help="Form of what is printed.",
)
def plan_study(
    source: Path | None, sets: tuple[str, ...], out: Path | None, form: str, **given: str | None
) -> None:
    """Size a reader study before any data: readers x cases for a wished power or interval width.

    Example: plan --endpoint auc --effect 0.06 --set expected=0.8 --set components.model=roe_metz --set
    components.structure=HL. Prints the section of a protocol, with its assumptions.
    """
    wrong = [one for one in sets if "=" not in one]
    if wrong:
        raise click.BadParameter(f"{', '.join(wrong)}; write FIELD=VALUE", param_hint="--set")
    options: dict[str, Any] = dict(one.split("=", 1) for one in sets)
    chart = given.pop("chart")
    if chart is not None:
        if source is not None or out is not None or any(value is not None for value in given.values()):
            raise click.UsageError("--chart goes with --set and --format alone")
        _print_chart({"chart": chart, **options}, form)
        return
    if given["power"] is not None and given["width"] is not None:
        raise click.UsageError("--power and --width are two goals: choose one")
    for goal in ("power", "width"):
        target = given.pop(goal)
        if target is not None:
            options |= {"goal": goal, "target": target}
    for name, value in given.items():
        if value is not None:
            options[name] = value.split(",") if name in ("readers", "cases") else value
    file = source if source is not None and source.is_file() else None
    if source is not None and file is None:
        options["pilot"] = str(source)
    from trustreport.api import plan_reader_study, write_sizes

    with problems_on_stderr():
        sizes = plan_reader_study(file, **options)
    from trustreport.sizing import protocol

    click.echo(protocol.to_json(sizes) if form == "json" else protocol.to_markdown(sizes), nl=False)
    if out is not None:
        written = write_sizes(sizes, out)
        for file in written:
            click.echo(file, err=True)
        if not any(file.suffix == ".pdf" for file in written):
            click.echo("No PDF: a library is missing. `trustreport doctor` says which.", err=True)


def _print_chart(fields: dict[str, Any], form: str) -> None:
    """How late a monitoring chart alerts, as a sentence or as JSON."""
    from trustreport.messages import catalogue
    from trustreport.report.document import canonical
    from trustreport.sizing.chart_delay import chart_sentence, plan_chart

    with problems_on_stderr():
        found = plan_chart(fields)
    click.echo(
        canonical(found) if form == "json" else catalogue("en")(chart_sentence(found)) + "\n", nl=False
    )


@main.command()
@click.option("--host", help="Address to listen on (default: 127.0.0.1).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on (default: 8000).")
@click.option(
    "--workers", type=click.IntRange(min=0), help="Number of reports built at the same time (default: 1)."
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
def serve(data: Path, **given: Any) -> None:
    """Start the service: web API, pages and a worker.

    The first start prints a single-use link for creating the first account. Other settings are environment
    variables TRUSTREPORT_*, listed in docs/service.md.
    """
    with service_settings(data, **given) as settings:
        from trustreport.service.server import serve as run

        run(settings)


@main.command()
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

        work(settings)


@main.group(name="audit-log")
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


@main.command()
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


@main.command()
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


@main.command(name="packs")
@click.argument("pack", required=False)
def list_packs(pack: str | None) -> None:
    """List the rule packs (checklists of frameworks), or the items of PACK.

    The manifest names packs under report.rule_packs. Items are computed (C), declared (D) or supplied
    elsewhere (O). "Verified" means that the item number was compared with the text of the framework.
    """
    from trustreport import packs

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


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Rows as lines, their columns under each other."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


@main.command()
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
        from trustreport.commands.qualify import run

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


@contextmanager
def problems_on_stderr() -> Iterator[None]:
    """Turn the problems of a study into lines on stderr and exit status 1."""
    from trustreport.errors import StudyError

    try:
        yield
    except StudyError as error:
        print_problems(error)
        sys.exit(PROBLEMS)


def print_problems(error: "StudyError") -> None:
    """Every problem on a line of its own, then how many there are."""
    for problem in error.problems:
        click.echo(str(problem), err=True)
    n = len(error.problems)
    click.echo(f"{n} problem{'s' * (n != 1)}; nothing was written.", err=True)


@contextmanager
def steps() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on a terminal, a plain line per step elsewhere; both on stderr."""
    if not sys.stderr.isatty():
        last: list[str] = []

        def line(step: str, share: float) -> None:
            if step not in last:
                last.append(step)
                click.echo(f"{step.replace('_', ' ')} ...", err=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns: tuple[Any, ...] = (TextColumn("{task.description:<24}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda step, share: bar.update(task, description=step.replace("_", " "), completed=share)
