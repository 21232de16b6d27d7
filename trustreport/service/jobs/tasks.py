"""The tasks of the limited process: check a study, write a report. Plain data in, plain data out."""

import json
import os
import shutil
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trustreport.service.blank import SUFFIXES
from trustreport.service.editor.criteria_task import fix, foretold
from trustreport.service.engine import FETCHED, Plan, TableSource, proposed_days
from trustreport.service.jobs.site_files import read_lock, study_of, verify_site
from trustreport.service.jobs.trend_points import trend_of
from trustreport.vocabulary.errors import MissingLibrary, Problem, StudyError

if TYPE_CHECKING:  # load numpy
    from trustreport.service.engine import Run, Study, lock, proposal

OnProgress = Callable[[str, float], None]
MOST_PROBLEMS = 10_000
MOST_PRIMARY = 20
MOST_PROPOSED = 50_000  # characters of a manifest
TABLES = tuple(suffix for suffix in SUFFIXES if suffix != ".imrmc")  # that a manifest is proposed from
NO_MANIFEST = Problem(
    "",
    "tables without a manifest",
    "study.yaml, study.yml or study.json with the tables",
    "Complete the manifest that is proposed from the tables, and add it.",
)
LOCK = "criteria.lock.json"
OF_SOURCE = {"sql", "parameters", "newest", "after", "taken", "connection"}
READ_UNTIL = 0.1  # shares of the work, as the command line tells them
ASSESSED_UNTIL = 0.4


def check(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """Unpack what came as an archive into ``work/study``, read it all; the facts, or every problem.

    Where tables come from queries or exports, the answer is `queries` at first; once `fetch` has put them
    into the folder, `fetched` of the task has its problems and `taken` the exports, and the study is read.
    """
    study = work / "study"
    wrong: list[Problem] = [Problem(**one) for one in task.get("fetched", ())]
    if archive := task.get("archive"):
        from trustreport.service.jobs.unpack import Refused, unpack

        on_progress("unpack", 0.0)
        study.mkdir()
        try:
            unpack(
                work / "archive", archive, study, most_bytes=task["most_bytes"], most_files=task["most_files"]
            )
        except Refused as error:
            return {"problems": _problems(error.problems), "unpacked": False}
        wrong += _with_lock(study, work / "lock", task.get("locks", ()))
    wishes, mixed = task["wishes"], list[str]()
    if "fetched" not in task:
        if "until" in wishes:
            wrong, mixed = _enter_period(study, wishes, task["events"])
        asked, refused = _queries(study)
        wrong += refused
        if asked and not wrong:
            return {"queries": asked}
    elif taken := task.get("taken"):
        from trustreport.service.engine import enter_taken

        enter_taken(_manifests(study)[0], taken)
    on_progress("read", 0.1)
    proposed = _proposed(study)
    facts: dict[str, Any] = {"proposal": proposed} if proposed else {}
    answer = {"facts": facts, "tables": _tables(study), "unpacked": True, "criteria": foretold(study)}
    if wrong:
        return {**answer, "problems": _problems(wrong), "passing": bool(task.get("passing"))}
    try:
        found, plan = study_of(study)
    except StudyError as error:
        without = proposed and not _manifests(study)
        if not proposed and (proposed := _with_period(study)):
            answer["facts"] = facts = {"proposal": proposed}
        facts |= {"undescribed": True} if without else {}
        return {**answer, "problems": _problems([NO_MANIFEST] if without else error.problems)}
    if "until" in wishes:
        locked = (study / LOCK).is_file()
        facts["entered"] = {"dataset": plan.datasets[-1].dataset, "mixed": mixed if locked else []}
    facts = facts_of(plan) | _facts_of_check(found, plan) | facts
    return {**answer, "problems": [], "facts": facts, "device": device_of(plan)}


def _facts_of_check(study: "Study", plan: Plan) -> dict[str, Any]:
    """What the report will print as NOT DECLARED, and why it would answer nothing, where that is so."""
    from trustreport.service.editor.draft_facts import UNANSWERED, not_declared
    from trustreport.vocabulary.messages import catalogue

    say = catalogue(plan.report.language)
    why = [say(f"cautions.{key}", **values) for key, values in study.cautions if key in UNANSWERED]
    return {"not_declared": not_declared(plan), "unanswered": " ".join(why)}


def _with_lock(study: Path, lock: Path, known: Sequence[str]) -> list[Problem]:
    """Put the lock of the study beside an unpacked manifest; a problem where another one is there."""
    if not lock.is_file() or not _manifests(study):
        return []
    own = study / LOCK
    if own.is_file() and sha256(own.read_bytes()).hexdigest() not in known:
        found, mend = "another lock than that of this study", "Leave it out: the lock of the study is added."
        return [Problem(LOCK, found, mend=mend)]
    shutil.copyfile(lock, own)
    return []


def _keep_only(folder: Path, names: Set[str]) -> None:
    """Make a folder without other files: what is there is of an earlier version, or of anybody's making."""
    folder.mkdir(exist_ok=True) if folder.is_dir() else folder.unlink(missing_ok=True)
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        if file.name not in names:
            shutil.rmtree(file) if file.is_dir() and not file.is_symlink() else file.unlink()


def _named(study: Path) -> str:
    return next((manifest.name for manifest in _manifests(study)), "study.yaml")


def _enter_period(
    study: Path, wishes: Mapping[str, Any], events: Mapping[str, Any]
) -> tuple[list[Problem], list[str]]:
    """Enter the next period into the manifest, from files or queries; why that cannot be, and mixed files.

    Incidents and signals are then those of the device's register, `events`.
    """
    from trustreport.service.engine import NoNextPeriod, enter_events, enter_next_period

    try:
        data = [study / name for name in wishes.get("files", ())]
        since = date.fromisoformat(wishes["since"]) if "since" in wishes else None
        until = date.fromisoformat(wishes["until"])
        new = enter_next_period(study, data, until, since=since, is_read=False)
        enter_events(_manifests(study)[0], events)
    except NoNextPeriod as error:
        return [Problem(_named(study), f"no next period: {error}")], []
    except Exception as error:  # of a manifest that is none; the check says what is wrong with it
        return [Problem(_named(study), f"no next period can be entered ({type(error).__name__})")], []
    for name in new.replaced:
        (study / name).unlink(missing_ok=True)
    return [], list(new.mixed)


def _queries(study: Path) -> tuple[list[dict[str, Any]], list[Problem]]:
    """What the tables of a study ask of databases, folders and buckets, and what may not be asked.

    Not of a faulty manifest. An export that was taken is not asked for where its copy is there, unchanged.
    """
    from trustreport.service.engine import is_export, read_plan

    try:
        _, plan = read_plan(study)
    except StudyError:
        return [], []
    named: list[tuple[str, str, TableSource]]
    named = [(f"tables.{name}", name, table) for name, table in plan.tables.items()]
    named += [(f"datasets[{i}]", d.dataset, d) for i, d in enumerate(plan.datasets)]
    manifest = _manifests(study)[0].name
    asked: list[dict[str, Any]] = []
    refused, kept = list[Problem](), set[str]()
    for place, name, source in named:
        if source.url_env is not None:
            expected = "connection: with a name that the operator of this service gave to its source"
            found = "url_env names a variable of the command line"
            refused.append(Problem(manifest, found, expected, column=f"{place}.url_env"))
        elif source.is_fetched:
            taken, file = source.taken, source.file_of(name)
            if taken and taken.sha256 and is_export(study / file, taken.sha256):
                kept.add(Path(file).name)
                continue
            keys = source.model_dump(mode="json", include=OF_SOURCE)
            asked.append({"file": file, "manifest": manifest, "place": place, **keys})
    if asked:
        _keep_only(study / FETCHED, kept)
    return asked, refused


def fetch(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """Put the rows of queries, and exports, into ``work/study``: every problem of them, which were taken.

    The answer is `passing` where each problem may pass. This task alone has the network. It reads no file of
    a user, and of each query only what `check` said.
    """
    from trustreport.service.engine import ExportLimits, NotFetched, QueryLimits, take_export
    from trustreport.service.engine import fetch as fetched

    folder, problems = work / "study" / FETCHED, list[Problem]()
    taken, passing = dict[str, Mapping[str, str]](), list[bool]()
    for i, one in enumerate(task["queries"]):
        on_progress("fetch", i / len(task["queries"]))
        address = task["connections"].get(one["connection"])
        file = folder / Path(one["file"]).name
        try:
            if not address:
                found = f"no connection {one['connection']!r} that this organisation may use"
                raise NotFetched(found, "", "Ask the operator of the service.")
            if one["sql"]:
                fetched(one["sql"], one["parameters"], address, file, QueryLimits(*task["query_limits"]))
                continue
            known, limits = one["taken"] or {}, ExportLimits(*task["export_limits"])
            how = {"after": one["after"] or "", "file": known.get("file", ""), "limits": limits}
            export = take_export(address, one["newest"], file, **how)
            if known.get("sha256") not in (None, export["sha256"]):
                raise NotFetched(f"{export['file']} is not the file that was taken", known["sha256"])
            taken[one["place"]] = export
        except NotFetched as error:
            place = f"{one['place']}.{'sql' if one['sql'] else 'newest'}"
            problems.append(Problem(one["manifest"], error.found, error.expected, error.mend, column=place))
            passing.append(error.passing)
    return {"problems": _problems(problems), "taken": taken, "passing": bool(passing) and all(passing)}


def _manifests(study: Path) -> list[Path]:
    from trustreport.service.engine import found_in

    return found_in(study)


def _tables(study: Path) -> dict[str, Any]:
    """The headers of the tables, which the form of a manifest offers."""
    from trustreport.service.editor.table_columns import files_of

    return files_of(study) if study.is_dir() else {}


def _with_period(study: Path, tables: Sequence[Path] = ()) -> str:
    """The manifest of an audit with the period that tables, or files it names, have rows of; or empty."""
    from trustreport.service.engine import text_with_period

    try:
        made = text_with_period(study, tables)
    except Exception:  # no next period, or a manifest that is none; the check says what is wrong with it
        return ""
    return made if len(made) <= MOST_PROPOSED else ""


def _proposed(study: Path) -> str:
    """A manifest with the tables that none names yet; empty where nothing can be proposed."""
    from trustreport.service.editor.edit_task import merged, named_files
    from trustreport.service.engine import proposal

    if not study.is_dir():
        return ""
    manifests = _manifests(study)
    named = named_files(manifests[0]) if len(manifests) == 1 else set() if not manifests else None
    tables = sorted(p for p in study.iterdir() if p.suffix.lower() in TABLES and p.name not in (named or ()))
    if not tables or named is None:
        return ""
    if named and (made := _with_period(study, tables)):
        return made
    try:
        proposed = proposal.propose(tables, "certification")
        if not manifests and (proposed.entries or proposed.datasets):
            proposed = _answering(tables, study / "study.yaml", proposed)
    except (ValueError, LookupError, OSError):  # a table that nothing can be made of
        return ""
    made = proposal.text(proposed, "") if proposed.entries or proposed.datasets else ""
    if made and manifests:
        made = merged(manifests[0].read_text("utf-8-sig"), manifests[0].name, made)
    return made if len(made) <= MOST_PROPOSED else ""


def _answering(tables: Sequence[Path], manifest: Path, first: "proposal.Proposal") -> "proposal.Proposal":
    """The first proposal, or another one where that is read and would answer nothing."""
    from trustreport.api import read_study
    from trustreport.service.editor.draft_facts import answers
    from trustreport.service.engine import proposal

    manifest.write_text(proposal.text(first, ""), "utf-8")
    try:
        if answers(read_study(manifest)[0].cautions):
            return first
        return proposal.write_proposal(tables, manifest, "certification", None, first)
    except StudyError:  # what is wrong is shown beside its field
        return first
    finally:
        manifest.unlink()


def report(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """Write the report of ``work/study`` into ``work/out``; what lists and timelines show of it."""
    on_progress("read", 0.0)
    from trustreport.api import assess, write_report
    from trustreport.service.jobs.pieces import NotComputed

    study, plan = study_of(work / "study")
    study, look = with_looks(study, plan, task["looks"])
    wishes = task["wishes"]
    if of_report := {name: wishes[name] for name in ("kind", "release") if wishes[name]}:
        plan = plan.model_copy(update={"report": plan.report.model_copy(update=of_report)})
    if wishes["seed"] is not None:
        plan = plan.model_copy(
            update={"similarity": plan.similarity.model_copy(update={"seed": wishes["seed"]})}
        )
    assessed = ASSESSED_UNTIL - READ_UNTIL
    try:
        assessment = assess(
            study,
            plan,
            progress=lambda step, share: on_progress(step, READ_UNTIL + assessed * share),
            run=_run_of(task),
        )
    except NotComputed as error:
        return {"failed": str(error)}
    written = write_report(
        assessment,
        work / "out",
        formats=wishes["formats"],
        progress=lambda step, share: on_progress(step, ASSESSED_UNTIL + (1 - ASSESSED_UNTIL) * share),
    )
    document = json.loads((work / "out" / "results.json").read_bytes())
    lacking = " ".join(f"{name} was not written: {reason}" for name, reason in written.failed.items())
    facts = facts_of(plan) | report_facts(document) | {"trend": trend_of(document, plan)} | look
    return {"facts": facts, "device": device_of(plan), "lacking": lacking}


def _run_of(task: dict[str, Any]) -> "Run":
    """How independent pieces of work are computed: one by one, or by the cluster behind the pipes."""
    from trustreport.service.engine import one_by_one

    if not task.get("pipes"):
        return one_by_one
    from trustreport.service.jobs.pieces import Pieces

    requests, answers = task["pipes"]
    return Pieces(os.fdopen(requests, "wb"), os.fdopen(answers, "rb")).run


def with_looks(study: "Study", plan: Plan, before: Mapping[str, Any]) -> "tuple[Study, dict[str, Any]]":
    """The study with its register, and the look of this report for `facts`; without a lock as it was."""
    from trustreport.service.engine import lock

    own = lock.look_of(study, plan, on=before["on"], purpose=before["purpose"])
    if not own.data or not study.lock:
        return study, {}
    register = study.looks
    for look in (*map(_look, before["earlier"]), own):
        if look.data:
            register = lock.entered(register, look)
    return replace(study, looks=register), {"look": lock.as_data(own)}


def _look(said: Mapping[str, Any]) -> "lock.Look":
    from trustreport.service.engine import lock

    return lock.Look(**{**said, "results": tuple(said["results"])})


def facts_of(plan: Plan) -> dict[str, Any]:
    """What lists show of a study: declared, short, nothing of a patient."""
    vigilance = plan.vigilance
    periods = [d for d in plan.datasets if d.role == "period"]
    starts = [vigilance.period_start] if vigilance else [d.start_date for d in periods]
    ends = [vigilance.period_end] if vigilance else [d.end_date for d in periods]
    return {
        "title": _short(plan.report.title),
        "kind": plan.report.kind,
        "status": plan.report.status,
        "study_id": _short(plan.study.study_id),
        "trade_name": _short(plan.device.trade_name),
        "software_version": _short(plan.device.software_version),
        "period_start": min((s.isoformat() for s in starts if s), default=None),
        "period_end": max((e.isoformat() for e in ends if e), default=None),
        "next": proposed_days(plan),
    }


def report_facts(document: dict[str, Any]) -> dict[str, Any]:
    """What lists and a timeline show: answer, verdicts, checks that fired, alerts, primary results."""
    fired = Counter(c["severity"] for c in document["checks"] if c["status"] == "fired")
    leading = [r for r in document["results"] if r["primary"] and "site" not in r["scope"]]
    keys = ("id", "scope", "value", "low", "high", "level", "n", "unit", "method", "note")
    answer = document["answer"]
    return {
        "answer": {key: answer[key] for key in ("question", "sentence", "support")},
        "verdicts": dict(Counter(v["verdict"] for v in document["verdicts"])),
        "checks": dict(fired),
        "alerts": sum(bool(r.get("details", {}).get("alerts")) for r in document["results"]),
        "unanswered": len(document["unanswered"]),
        "primary": [{key: r[key] for key in keys} for r in leading[:MOST_PRIMARY]],
    }


def device_of(plan: Plan) -> dict[str, str] | None:
    """What tells a device from others: its Basic UDI-DI, else manufacturer and trade name."""
    device = plan.device
    udi, name, maker = (_short(t) for t in (device.basic_udi_di, device.trade_name, device.manufacturer))
    if not (udi or name):
        return None
    named = f"udi {udi}" if udi else f"name {maker.casefold()} {name.casefold()}"
    key = sha256(named.encode()).hexdigest()
    return {"key": key, "basic_udi_di": udi, "trade_name": name, "manufacturer": maker}


def _problems(problems: list[Problem] | tuple[Problem, ...]) -> list[dict[str, Any]]:
    said = [p.as_dict() for p in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        said.append(Problem("", f"{len(problems) - MOST_PROBLEMS:,} more problems").as_dict())
    return said


def _short(text: str | None) -> str:
    return (text or "").strip().replace("\x00", "")[:500]


def edit(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """The form of a manifest, with what was typed into it."""
    from trustreport.service.editor.edit_task import edit as answer

    return answer(task, work)


def first_page(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """Page 1 of the report of ``work/study`` with the manifest of the task, or every problem of it."""
    from trustreport.api import assess, read_study
    from trustreport.service.engine import page_one

    (work / "study" / "study.yaml").write_text(task["manifest"], encoding="utf-8")
    try:
        return {"html": page_one(assess(*read_study(work / "study")))}
    except StudyError as error:
        return {"problems": [p.as_dict() for p in error.problems]}


def pilot(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """The components of ``work/study`` for an endpoint and a design, or every problem of it."""
    from trustreport.api import read_study
    from trustreport.service.engine import SizingRequest, pilot_parts

    asked = SizingRequest.model_construct(**task["asked"], pilot="study")
    try:
        found = pilot_parts(*read_study(work / "study"), asked)
    except StudyError as error:
        return {"problems": [p.as_dict() for p in error.problems]}
    components: dict[str, float] = {**asdict(found.parts), "cases": found.n_cases}
    if asked.endpoint == "auc":
        components["positives"] = found.n_positives
    return {"components": components, "expected": found.mean}


def section(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """The section of a protocol as PDF."""
    from trustreport.api import plan_reader_study
    from trustreport.service.engine import protocol

    try:
        made = protocol.to_pdf(plan_reader_study(**task["request"]))
    except MissingLibrary as error:
        return {"failed": str(error)}
    return {"pdf": b64encode(made).decode()}


def read_events(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """The incidents and signals that the manifest in ``work/study`` has, as its rows."""
    from trustreport.service.engine import read_plan

    try:
        _, plan = read_plan(work / "study")
    except StudyError:
        return {"failed": "the manifest has problems"}
    groups = {"incidents": plan.incidents, "signals": plan.signals}
    return {
        group: [one.model_dump(mode="json", exclude_none=True) for one in found]
        for group, found in groups.items()
    }


TASKS: dict[str, Callable[[dict[str, Any], Path, OnProgress], dict[str, Any]]] = {
    "check": check,
    "fetch": fetch,
    "report": report,
    "edit": edit,
    "events": read_events,
    "first_page": first_page,
    "pilot": pilot,
    "section": section,
    "lock": read_lock,
    "fix": fix,
    "site": verify_site,
}
