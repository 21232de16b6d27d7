"""The tasks of the limited process: check a study, write a report. Plain data in, plain data out."""

import json
import os
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trustreport.service.engine import Plan
from trustreport.service.jobs.trend_facts import trend_of
from trustreport.vocabulary.errors import Problem, StudyError

if TYPE_CHECKING:  # loads numpy
    from trustreport.service.engine import Run

OnProgress = Callable[[str, float], None]
MOST_PROBLEMS = 10_000
MOST_PRIMARY = 20
MOST_PROPOSED = 50_000  # characters of a manifest
TABLES = (".csv", ".parquet", ".xlsx")
NO_MANIFEST = Problem(
    "",
    "tables without a manifest",
    "study.yaml, study.yml or study.json with the tables",
    "Complete the manifest that is proposed from the tables, and add it.",
)
READ_UNTIL = 0.1  # shares of the work, as the command line tells them
ASSESSED_UNTIL = 0.4


def check(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """Unpack what came as an archive into ``work/study``, read it all; the facts, or every problem."""
    study = work / "study"
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
    on_progress("read", 0.1)
    from trustreport.api import read_study

    proposed = _proposed(study)
    facts = {"proposal": proposed} if proposed else {}
    answer = {"facts": facts, "tables": _tables(study), "unpacked": True}
    try:
        _, plan = read_study(study)
    except StudyError as error:
        without = proposed and not _manifests(study)
        return {**answer, "problems": _problems([NO_MANIFEST] if without else error.problems)}
    return {**answer, "problems": [], "facts": facts_of(plan) | facts, "device": device_of(plan)}


def _manifests(study: Path) -> list[Path]:
    from trustreport.service.engine import found_in

    return found_in(study)


def _tables(study: Path) -> dict[str, Any]:
    """The headers of the tables, which the form of a manifest offers."""
    from trustreport.service.editor.table_columns import files_of

    return files_of(study) if study.is_dir() else {}


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
    try:
        proposed = proposal.propose(tables, "certification")
    except (ValueError, LookupError, OSError):  # a table that nothing can be made of
        return ""
    made = proposal.text(proposed, "") if proposed.entries or proposed.datasets else ""
    if made and manifests:
        made = merged(manifests[0].read_text("utf-8-sig"), manifests[0].name, made)
    return made if len(made) <= MOST_PROPOSED else ""


def report(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """Write the report of ``work/study`` into ``work/out``; what lists and timelines show of it."""
    on_progress("read", 0.0)
    from trustreport.api import assess, read_study, write_report
    from trustreport.service.jobs.pieces import NotComputed
    from trustreport.service.jobs.register import with_looks

    study, plan = read_study(work / "study")
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


def pilot(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """The variance components of a stored reader study."""
    from trustreport.service.jobs.planning_tasks import pilot as answer

    return answer(task, work)


def section(task: dict[str, Any], work: Path, on_progress: OnProgress) -> dict[str, Any]:
    """The section of a protocol on sample size, as PDF."""
    from trustreport.service.jobs.planning_tasks import section as answer

    return answer(task)


TASKS: dict[str, Callable[[dict[str, Any], Path, OnProgress], dict[str, Any]]] = {
    "check": check,
    "report": report,
    "edit": edit,
    "pilot": pilot,
    "section": section,
}
