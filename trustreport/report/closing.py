"""What is said of the whole report: title page, open questions, files read, checks, methods, provenance."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trustreport.assessment import Assessment
from trustreport.finding import CheckOutcome
from trustreport.messages import Catalogue
from trustreport.report import declared
from trustreport.report.figures import Drawn
from trustreport.report.sections import Numbering
from trustreport.report.tables import (
    Cell,
    Head,
    Line,
    Table,
    common_places,
    interval_text,
    method_text,
    value_text,
)
from trustreport.results import Result

BLOCKS = ("verdicts", "open", "read", "declared", "checks", "methods", "provenance")


@dataclass(frozen=True, slots=True)
class Block:
    """The head of a closing section; its number is a letter."""

    name: str
    number: str
    short: str
    title: str
    question: str


def blocks(say: Catalogue) -> dict[str, Block]:
    """The closing sections in their order, A to G."""
    return {
        name: Block(name, letter, *(_said(name, key, say) for key in ("short", "title", "question")))
        for letter, name in zip("ABCDEFG", BLOCKS, strict=True)
    }


def _said(block: str, key: str, say: Catalogue) -> str:
    return say(f"verdicts.{key}" if block == "verdicts" else f"report.{block}.{key}")


# ---------------------------------------------------------------- title page


def cover(assessment: Assessment, results_hash: str, say: Catalogue) -> list[tuple[str, str, bool]]:
    """Label, value, and whether it is declared; what a report of this kind requires and lacks is said."""
    plan = assessment.plan
    device, study, report = plan.device, plan.study, plan.report
    missing = set(assessment.not_declared)
    rows = []
    for key, path, value in (
        ("device", "device.trade_name", device.trade_name),
        ("model", "device.model", device.model),
        ("version", "device.software_version", device.software_version),
        ("manufacturer", "device.manufacturer", device.manufacturer),
        ("udi", "device.udi_di", device.udi_di),
        ("risk_class", "device.risk_class", device.risk_class),
        ("study", "study.study_id", study.study_id),
        ("design", "study.design", study.design),
        ("supersedes", "report.supersedes", report.supersedes),
        ("confidentiality", "report.confidentiality", report.confidentiality),
    ):
        if value or path in missing:
            rows.append((say(f"report.cover.{key}"), value or say("word.not_declared"), bool(value)))
    date = str(report.date) if report.date else say("report.cover.undated")
    rows.append((say("report.cover.date"), date, True))
    rows.append((say("report.cover.status"), say(f"status.{report.status}"), True))
    rows.append((say("report.cover.results"), results_hash, True))
    return rows


def approvals(assessment: Assessment, say: Catalogue) -> Table | None:
    """Who approved the report, or is to."""
    if not assessment.plan.approvals:
        return None
    none = say("word.not_declared")
    lines = []
    for a in assessment.plan.approvals:
        signed = str(a.signed_at) if a.signed_at else say("report.cover.unsigned")
        lines.append(Line(tuple(Cell(text or none) for text in (a.name, a.role, a.meaning, signed))))
    heads = tuple(Head(say(f"report.cover.approval_{key}")) for key in ("name", "role", "meaning", "signed"))
    return Table(say("report.cover.approvals"), heads, tuple(lines))


# ---------------------------------------------------------------- open questions, what was read


def open_questions(assessment: Assessment, say: Catalogue) -> dict[str, Any]:
    """The questions without an answer, each with its reason."""
    heads = tuple(Head(say(f"report.open.{key}")) for key in ("dimension", "asks", "reason"))
    lines = tuple(
        Line((Cell(say(f"{u.dimension}.short")), Cell(say(f"{u.dimension}.question")), Cell(say(u.reason))))
        for u in assessment.unanswered
    )
    asked = len(assessment.findings) + len(lines)
    finding = say("report.open.finding", n=len(lines), asked=asked) if lines else say("report.open.none")
    return {"finding": finding, "table": Table("", heads, lines) if lines else None}


def read(assessment: Assessment, drawn: Mapping[str, Drawn], say: Catalogue) -> dict[str, Any]:
    """Files with their rows, readings per arm, doubts that reading met."""
    numbering = Numbering(blocks(say)["read"].number, drawn, say)
    study = assessment.study
    finding = [say("report.read.finding", n=len(study.sources)) if study.sources else say("report.read.none")]
    if study.sources:
        dropped = sum(n for source in study.sources for n in source.dropped.values())
        if dropped:
            finding.append(say("report.read.finding_dropped", n=dropped))
        elif any(source.n_rows for source in study.sources):
            finding.append(say("report.read.finding_all_used"))
    tables = [_sources(assessment, say)] if study.sources else []
    if assessment.flows:
        tables.append(_readings(assessment, say))
    return {
        "finding": tuple(finding),
        "figures": tuple(numbering.figure(figure) for figure in assessment.flow_figures),
        "tables": tuple(numbering.table(t) for t in tables),
        "doubts": tuple(say(f"cautions.{key}", **values) for key, values in study.cautions),
    }


def _sources(assessment: Assessment, say: Catalogue) -> Table:
    keys = ("file", "table", "rows", "used", "dropped")
    heads = tuple(Head(say(f"report.read.{key}"), key in ("rows", "used")) for key in keys)
    lines = []
    for source in assessment.study.sources:
        reasons = [
            say("report.read.dropped_reason", n=n, reason=_reason(why, say))
            for why, n in source.dropped.items()
            if n
        ]
        whole = say("report.read.dropped_none" if source.n_rows else "table.empty")
        numbers = [
            Cell(say.numbers.count(n) if source.n_rows else say("table.empty"), True)
            for n in (source.n_rows, source.n_used)
        ]
        lines.append(
            Line((Cell(source.file), Cell(source.table), *numbers, Cell("; ".join(reasons) or whole)))
        )
    return Table(say("report.read.caption"), heads, tuple(lines))


def _reason(why: str, say: Catalogue) -> str:
    key = f"dropped.{why}"
    return say(key) if key in say else why


def _readings(assessment: Assessment, say: Catalogue) -> Table:
    keys = ("task", "arm", "readers", "cases", "present", "expected", "missing")
    heads = tuple(Head(say(f"report.read.{key}"), i > 1) for i, key in enumerate(keys))
    several = len(assessment.flows) > 1
    lines = []
    for flow in assessment.flows:
        task = flow.task if several else say("report.read.the_task")
        for arm, present in flow.readings.items():
            if flow.missing is None:
                missing, aside = say("table.empty"), say("report.read.missing_by_design")
            else:
                missing, aside = say.numbers.count(flow.missing[arm]), ""
            counts = (flow.n_readers, flow.n_cases, present, flow.expected)
            numbers = (Cell(say.numbers.count(n), True) for n in counts)
            lines.append(Line((Cell(task, aside=aside), Cell(arm), *numbers, Cell(missing, True))))
    return Table(say("report.read.missing_caption"), heads, tuple(lines))


# ---------------------------------------------------------------- checks


@dataclass(frozen=True, slots=True)
class Registered:
    """A check of the register; `severity` is empty where it found nothing."""

    id: str
    title: str
    outcome: str
    severity: str


def checks(assessment: Assessment, say: Catalogue) -> dict[str, Any]:
    """The register: one line per check, its outcomes over all scopes taken together."""
    by_id: dict[str, list[CheckOutcome]] = {}
    for outcome in assessment.checks:
        by_id.setdefault(outcome.check, []).append(outcome)
    lines = [_registered(check, outcomes, say) for check, outcomes in sorted(by_id.items())]
    n_fired = sum(bool(line.severity) for line in lines)
    n_run = sum(any(o.status != "cannot run" for o in outcomes) for outcomes in by_id.values())
    if not n_run:
        finding = [say("report.checks.finding_none_run")]
    elif n_fired:
        finding = [say("report.checks.finding", n=n_fired, run=n_run)]
    else:
        finding = [say("report.checks.finding_nothing", run=n_run)]
    if len(lines) > n_run:
        finding.append(say("report.checks.finding_cannot", n=len(lines) - n_run))
    return {"finding": tuple(finding), "lines": lines}


def _registered(check: str, outcomes: Sequence[CheckOutcome], say: Catalogue) -> Registered:
    fired = sum(outcome.status == "fired" for outcome in outcomes)
    if fired > 1:
        said = say("report.checks.fired_times", n=fired)
    elif fired:
        said = say("report.checks.fired")
    elif any(outcome.status == "clear" for outcome in outcomes):
        said = say("report.checks.clear")
    else:
        said = say("report.checks.cannot_run", reason=say(outcomes[0].message))
    return Registered(check, say(f"checks.{check}.title"), said, outcomes[0].severity if fired else "")


# ---------------------------------------------------------------- methods and every result


# A result with one of these in its scope is one of many that a section tells together.
PARTS = frozenset({"reader", "raters", "subgroup", "parameters"})


def methods(assessment: Assessment, most: int | None, say: Catalogue) -> dict[str, Any]:
    """Every method with its source and what it was used for; at most so many of the results."""
    results = assessment.results
    used: dict[str, dict[str, dict[str, None]]] = {}
    for r in results:
        dimension, _, quantity = r.id.partition(".")
        used.setdefault(r.method, {}).setdefault(dimension, {})[quantity] = None
    listed = []
    for word in sorted(used, key=lambda w: method_text(w, say)):
        key = f"method.{word}.source"
        source = say(key) if key in say else say("report.methods.unknown")
        listed.append({"word": word, "text": method_text(word, say), "source": source, "used": used[word]})
    finding = say("report.methods.none")
    if results:
        finding = say("report.methods.finding", n=len(results), methods=len(used))
    # On paper those that lead are enough; parts of a whole stand in the tables of their sections.
    leads = tuple(r for r in results if r.primary and PARTS.isdisjoint(r.scope))
    shown = results if most is None else leads[:most]
    return {
        "finding": finding,
        "methods": listed,
        "results": [
            _all_results(name, shown, say) for name in dict.fromkeys(r.id.split(".")[0] for r in shown)
        ],
        "n": len(results),
        "shown": len(shown),
    }


def _all_results(dimension: str, results: Sequence[Result], say: Catalogue) -> Table:
    """The results of one question of trust; their ids without the name of the question."""
    heads = (
        Head(say("report.methods.id")),
        Head(say("report.methods.scope")),
        Head(say("table.estimate"), True),
        Head(say("table.interval_mixed"), True),
        Head(say("table.n"), True),
        Head(say("table.method")),
    )
    lines = []
    for r in results:
        name, _, quantity = r.id.partition(".")
        if name != dimension:
            continue
        places = common_places([r])[r.unit]
        cells = (
            Cell(quantity),
            Cell("; ".join(_scope(r.scope, say))),
            Cell(value_text(r, say, places), True),
            Cell(interval_text(r, say, places), True),
            Cell(say.numbers.count(r.estimate.n), True),
            Cell(r.method, aside=r.estimate.note),
        )
        lines.append(Line(cells, r.primary))
    return Table(say("report.methods.all_caption", id=dimension), heads, tuple(lines))


def _scope(scope: Mapping[str, Any], say: Catalogue) -> Iterator[str]:
    """What a number is of, each value in words."""
    for key, value in scope.items():
        if value is None:
            continue
        if key == "arms":
            yield say("report.tested.contrast", aided=value[0], unaided=value[1])
        elif isinstance(value, Mapping):
            yield from (f"{name} {declared.text(given, say)}" for name, given in value.items())
        else:
            yield declared.text(value, say)


# ---------------------------------------------------------------- provenance


def provenance(given: Mapping[str, Any], say: Catalogue) -> dict[str, Any]:
    """Inputs with their hashes, versions, seed, and the command that makes the report again."""
    heads = (
        Head(say("report.provenance.input")),
        Head(say("report.provenance.bytes"), True),
        Head(say("report.provenance.sha256")),
    )
    lines = tuple(
        Line((Cell(i["file"]), Cell(say.numbers.count(i["bytes"]), True), Cell(i["sha256"])))
        for i in given.get("inputs", ())
    )
    facts = [
        (say("report.provenance.command"), given.get("command") or say("report.provenance.default_command"))
    ]
    if given.get("seed") is not None:
        facts.append((say("report.provenance.seed"), str(given["seed"])))
    facts += [
        (say("report.provenance.iterations_of", name=name), str(n))
        for name, n in given.get("iterations", {}).items()
    ]
    versions = {"trustreport": given.get("trustreport"), **given.get("versions", {})}
    software = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    facts.append((say("report.provenance.software"), software))
    return {
        "inputs": Table(say("report.provenance.inputs_caption"), heads, lines) if lines else None,
        "facts": facts,
    }
