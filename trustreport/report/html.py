"""The report as one HTML file; `body` builds the same document for the PDF."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from trustreport.assessment import Assessment
from trustreport.dimensions import DIMENSIONS
from trustreport.finding import Figure, Finding, Part
from trustreport.messages import Catalogue, catalogue
from trustreport.report import declared, summary
from trustreport.report.figures import Drawn
from trustreport.report.tables import Cell, Head, Line, Table, align, common_places, interval_text, method_text, table
from trustreport.report.tables import value_text
from trustreport.report.wording import breakable, shorten
from trustreport.resources import folder
from trustreport.results import Result

# More rows make the tagged PDF slow and nobody reads them in print; results.json has all of them.
ROWS_ON_PAPER = 200
HASH_DIGITS = 8
SHORT_TABLE = 12  # rows; a shorter table is not split between pages
NAME_IN_HEAD, NOTICE_IN_HEAD, NAME_IN_CONTENTS = 60, 85, 60  # characters

Medium = Literal["screen", "page"]


@dataclass(frozen=True, slots=True)
class NumberedTable:
    """A table with its number; a short one stays on one page."""

    number: str
    table: Table
    anchor: str

    @property
    def short(self) -> bool:
        return len(self.table.lines) <= SHORT_TABLE


@dataclass(frozen=True, slots=True)
class NumberedFigure:
    """A figure with its number: the image as a data URL, and the values drawn."""

    number: str
    anchor: str
    src: str
    alt: str
    caption: str
    values: Table | None


@dataclass(frozen=True, slots=True)
class PartView:
    """One set or task of a finding."""

    title: str
    in_contents: str
    anchor: str
    finding: tuple[str, ...]
    figures: tuple[NumberedFigure, ...]
    tables: tuple[NumberedTable, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A dimension that was answered."""

    name: str
    number: str
    short: str
    title: str
    question: str
    template: str
    parts: tuple[PartView, ...]
    limits: tuple[summary.Limit, ...]
    not_shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A closing section: what is said of the whole report."""

    name: str
    number: str
    short: str
    title: str
    question: str


def render(
    assessment: Assessment, *, results_hash: str, provenance: Mapping[str, Any], drawn: Mapping[str, Drawn]
) -> str:
    """The report as one HTML file that loads nothing from anywhere.

    Parameters
    ----------
    results_hash : sha256 of results.json, in hexadecimal
    provenance : ``inputs`` (file, sha256, bytes), ``versions``, ``seed``, ``iterations``, ``trustreport``
    drawn : figures by id, from `figures.draw_all`
    """
    sheets = style(_faces(), assessment.plan.report.page, "report.css", "page.css", "screen.css")
    return body(
        assessment,
        medium="screen",
        results_hash=results_hash,
        provenance=provenance,
        drawn=drawn,
        sheets=sheets,
        policy=_policy(sheets),
    )


def body(
    assessment: Assessment,
    *,
    medium: Medium,
    results_hash: str,
    provenance: Mapping[str, Any],
    drawn: Mapping[str, Drawn],
    sheets: Markup,
    policy: str = "",
    summary_level: int = 0,
) -> str:
    """The document as HTML for a medium; nothing in it depends on time or place.

    `summary_level` makes the summary shorter where it runs over its page (`summary.ROOMS`).
    """
    plan = assessment.plan
    say = catalogue(plan.report.language)
    device = summary.device_name(plan, say)
    shown = plan.device.trade_name or say("word.not_declared")
    sections = tuple(_section(finding, assessment, drawn, say) for finding in assessment.findings)
    return _environment().get_template("report.html.j2").render(
        say=say,
        medium=medium,
        style=sheets,
        policy=policy,
        lang=plan.report.language,
        kind=plan.report.kind,
        plan=plan,
        title=plan.report.title or say("report.default_title", device=device),
        device=device if plan.device.trade_name else shown,
        running_device=shorten(device if plan.device.trade_name else shown, NAME_IN_HEAD, say),
        notice=plan.report.notice or "",
        running_notice=shorten(plan.report.notice or "", NOTICE_IN_HEAD, say),
        results_hash=results_hash,
        short_hash=results_hash[:HASH_DIGITS],
        level=plan.report.confidence_level,
        cover=_cover(assessment, results_hash, say),
        approvals=_approvals(assessment, say),
        summary=summary.summary(assessment, say, summary_level),
        sections=sections,
        blocks=_blocks(say),
        open=_open(assessment, say),
        read=_read(assessment, drawn, say),
        declared=declared.groups(plan, assessment.not_declared, say),
        n_not_declared=len(assessment.not_declared),
        checks=_checks(assessment, say),
        methods=_methods(assessment, medium, say),
        provenance=_provenance(provenance, assessment, say),
    )


@cache
def _environment() -> Environment:
    """Packaged templates only: what a study says is data for them, never a template."""
    environment = Environment(
        loader=FileSystemLoader(folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["breakable"] = breakable
    return environment


# ---------------------------------------------------------------- style


def style(faces: str, paper: str, *sheets: str) -> Markup:
    """The style of the document: faces, packaged sheets, and the paper where it is not A4."""
    text = faces + "".join((folder("templates") / name).read_text(encoding="utf-8") for name in sheets)
    if paper != "A4":
        text += f"@page {{ size: {paper.lower()}; }}\n"
    return Markup(text)  # noqa: S704 -- packaged text only


@cache
def _faces() -> str:
    """The faces of the text within the file, for a browser."""
    faces = []
    for weight, name in ((400, "Regular"), (600, "SemiBold")):
        file = folder("templates") / "assets" / "fonts" / f"Inter-{name}.woff2"
        data = b64encode(file.read_bytes()).decode()
        faces.append(
            f'@font-face {{ font-family: "Report Text"; font-weight: {weight}; '
            f'src: url(data:font/woff2;base64,{data}) format("woff2"); }}\n'
        )
    return "".join(faces)


def _policy(sheets: str) -> str:
    """A content security policy that allows this style, images and fonts of the file, and nothing else."""
    digest = b64encode(sha256(sheets.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


# ---------------------------------------------------------------- sections


class _Numbering:
    """Numbers the tables and figures of a section: 3.1, 3.2 ..."""

    def __init__(self, section: str, drawn: Mapping[str, Drawn], say: Catalogue) -> None:
        self._section, self._drawn, self._say = section, drawn, say
        self._tables = self._figures = 0

    def table(self, source: Table) -> NumberedTable:
        self._tables += 1
        number = f"{self._section}.{self._tables}"
        return NumberedTable(number, source, f"table-{number.replace('.', '-')}")

    def figure(self, figure: Figure) -> NumberedFigure:
        self._figures += 1
        number = f"{self._section}.{self._figures}"
        drawn = self._drawn[figure.id]
        return NumberedFigure(
            number,
            f"figure-{number.replace('.', '-')}",
            "data:image/svg+xml;base64," + b64encode(drawn.svg).decode(),
            self._say(figure.alt),
            self._say(figure.caption),
            _values(drawn.values, self._say),
        )


def _section(finding: Finding, assessment: Assessment, drawn: Mapping[str, Drawn], say: Catalogue) -> Section:
    name = finding.dimension
    number = str(1 + [d.name for d in DIMENSIONS].index(name))
    numbering = _Numbering(number, drawn, say)
    return Section(
        name,
        number,
        say(f"{name}.short"),
        say(f"{name}.title"),
        say(f"{name}.question"),
        f"dimensions/{name}.html.j2",
        tuple(_part(part, f"{name}-{i}", numbering, say) for i, part in enumerate(finding.parts, 1)),
        tuple(summary.limits(assessment.fired(name), say)),
        tuple(say(text) for text in finding.not_shown),
    )


def _part(part: Part, anchor: str, numbering: _Numbering, say: Catalogue) -> PartView:
    title = say(part.title) if part.title else ""
    return PartView(
        title,
        shorten(title, NAME_IN_CONTENTS, say),
        anchor,
        tuple(say(text) for text in part.finding),
        tuple(numbering.figure(figure) for figure in part.figures),
        tuple(numbering.table(table(source, say)) for source in part.tables),
    )


def _values(rows: Sequence[Mapping[str, Any]], say: Catalogue) -> Table | None:
    """The values of a figure as a table, columns in the order of their first row."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        return None
    columns = [[_value(row.get(name), say) for row in rows] for name in names]
    numeric = [any(_is_number(row.get(name)) for row in rows) for name in names]
    heads = [Head(_value_name(name, say), is_numeric) for name, is_numeric in zip(names, numeric)]
    cells = [[Cell(text, n) for text in (align(column) if n else column)] for column, n in zip(columns, numeric)]
    return Table("", tuple(heads), tuple(Line(line) for line in zip(*cells)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _value(value: Any, say: Catalogue) -> str:
    if value is None or value != value:
        return say("table.empty")
    if isinstance(value, float):
        return say.numbers.fixed(value, 4).rstrip("0").rstrip(".") if abs(value) < 1000 else say.numbers.count(value)
    return declared.text(value, say)


def _value_name(name: str, say: Catalogue) -> str:
    key = f"figure.value.{name}"
    return say(key) if key in say else name.replace("_", " ")


BLOCKS = ("open", "read", "declared", "checks", "methods", "provenance")


def _blocks(say: Catalogue) -> dict[str, Block]:
    return {
        name: Block(name, letter, *(say(f"report.{name}.{key}") for key in ("short", "title", "question")))
        for letter, name in zip("ABCDEF", BLOCKS, strict=True)
    }


# ---------------------------------------------------------------- title page


def _cover(assessment: Assessment, results_hash: str, say: Catalogue) -> list[tuple[str, str, bool]]:
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


def _approvals(assessment: Assessment, say: Catalogue) -> Table | None:
    approvals = assessment.plan.approvals
    if not approvals:
        return None
    none = say("word.not_declared")
    lines = tuple(
        Line(
            (
                Cell(a.name or none),
                Cell(a.role or none),
                Cell(a.meaning or none),
                Cell(str(a.signed_at) if a.signed_at else say("report.cover.unsigned")),
            )
        )
        for a in approvals
    )
    heads = tuple(Head(say(f"report.cover.approval_{key}")) for key in ("name", "role", "meaning", "signed"))
    return Table(say("report.cover.approvals"), heads, lines)


# ---------------------------------------------------------------- closing sections


def _open(assessment: Assessment, say: Catalogue) -> dict[str, Any]:
    heads = tuple(Head(say(f"report.open.{key}")) for key in ("dimension", "asks", "reason"))
    lines = tuple(
        Line((Cell(say(f"{u.dimension}.short")), Cell(say(f"{u.dimension}.question")), Cell(say(u.reason))))
        for u in assessment.unanswered
    )
    asked = len(assessment.findings) + len(lines)
    finding = say("report.open.finding", n=len(lines), asked=asked) if lines else say("report.open.none")
    return {"finding": finding, "table": Table("", heads, lines) if lines else None}


def _read(assessment: Assessment, drawn: Mapping[str, Drawn], say: Catalogue) -> dict[str, Any]:
    numbering = _Numbering(_blocks(say)["read"].number, drawn, say)
    sources = assessment.study.sources
    dropped = sum(n for source in sources for n in source.dropped.values())
    if sources:
        rest = say("report.read.finding_dropped", n=dropped) if dropped else say("report.read.finding_all_used")
        finding = (say("report.read.finding", n=len(sources)), rest)
    else:
        finding = (say("report.read.none"),)
    tables = [_sources(assessment, say)] if sources else []
    if assessment.flows:
        tables.append(_readings(assessment, say))
    return {
        "finding": finding,
        "figures": tuple(numbering.figure(figure) for figure in assessment.flow_figures),
        "tables": tuple(numbering.table(t) for t in tables),
        "doubts": tuple(say(f"cautions.{key}", **values) for key, values in assessment.study.cautions),
    }


def _sources(assessment: Assessment, say: Catalogue) -> Table:
    heads = (
        Head(say("report.read.file")),
        Head(say("report.read.table")),
        Head(say("report.read.rows"), True),
        Head(say("report.read.used"), True),
        Head(say("report.read.dropped")),
    )
    lines = []
    for source in assessment.study.sources:
        reasons = [
            say("report.read.dropped_reason", n=n, reason=_reason(why, say)) for why, n in source.dropped.items() if n
        ]
        lines.append(
            Line(
                (
                    Cell(source.file),
                    Cell(source.table),
                    Cell(say.numbers.count(source.n_rows), True),
                    Cell(say.numbers.count(source.n_used), True),
                    Cell("; ".join(reasons) or say("report.read.dropped_none")),
                )
            )
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
        for arm, present in flow.readings.items():
            by_design = flow.missing is None
            counts = (flow.n_readers, flow.n_cases, present, flow.expected)
            missing = say("table.empty") if flow.missing is None else say.numbers.count(flow.missing[arm])
            task = flow.task if several else say("report.read.the_task")
            lines.append(
                Line(
                    (
                        Cell(task, aside=say("report.read.missing_by_design") if by_design else ""),
                        Cell(arm),
                        *(Cell(say.numbers.count(n), True) for n in counts),
                        Cell(missing, True),
                    )
                )
            )
    return Table(say("report.read.missing_caption"), heads, tuple(lines))


def _checks(assessment: Assessment, say: Catalogue) -> dict[str, Any]:
    """The register: one row per check, its outcomes over all scopes taken together."""
    by_id: dict[str, list[Any]] = {}
    for outcome in assessment.checks:
        by_id.setdefault(outcome.check, []).append(outcome)
    lines = []
    fired = run = 0
    for check, outcomes in sorted(by_id.items()):
        n_fired = sum(o.status == "fired" for o in outcomes)
        fired += n_fired > 0
        run += any(o.status != "cannot run" for o in outcomes)
        if n_fired > 1:
            outcome = say("report.checks.fired_times", n=n_fired)
        elif n_fired:
            outcome = say("report.checks.fired")
        elif any(o.status == "clear" for o in outcomes):
            outcome = say("report.checks.clear")
        else:
            outcome = say("report.checks.cannot_run", reason=say(outcomes[0].message))
        severity = outcomes[0].severity if n_fired else ""
        lines.append({"id": check, "title": say(f"checks.{check}.title"), "outcome": outcome, "severity": severity})
    cannot = len(by_id) - run
    if not run:
        finding = [say("report.checks.finding_none_run")]
    elif fired:
        finding = [say("report.checks.finding", n=fired, run=run)]
    else:
        finding = [say("report.checks.finding_nothing", run=run)]
    if cannot:
        finding.append(say("report.checks.finding_cannot", n=cannot))
    return {"finding": tuple(finding), "lines": lines}


def _methods(assessment: Assessment, medium: Medium, say: Catalogue) -> dict[str, Any]:
    results = assessment.results
    words: dict[str, list[str]] = {}
    for r in results:
        used = words.setdefault(r.method, [])
        if r.id not in used:
            used.append(r.id)
    methods = []
    for word in sorted(words, key=lambda w: method_text(w, say)):
        key = f"method.{word}.source"
        methods.append(
            {
                "word": word,
                "text": method_text(word, say),
                "source": say(key) if key in say else say("report.methods.unknown"),
                "used": words[word],
            }
        )
    shown = results[:ROWS_ON_PAPER] if medium == "page" else results
    return {
        "finding": say("report.methods.finding", n=len(results), methods=len(words)) if results else say("report.methods.none"),
        "methods": methods,
        "results": _all_results(shown, say),
        "n": len(results),
        "shown": len(shown),
    }


def _all_results(results: Sequence[Result], say: Catalogue) -> Table:
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
        places = common_places([r])[r.unit]
        lines.append(
            Line(
                (
                    Cell(r.id),
                    Cell(scope_text(r.scope, say)),
                    Cell(value_text(r, say, places), True),
                    Cell(interval_text(r, say, places), True),
                    Cell(say.numbers.count(r.estimate.n), True),
                    Cell(r.method, aside=r.estimate.note),
                ),
                r.primary,
            )
        )
    return Table(say("report.methods.all_caption"), heads, tuple(lines))


def scope_text(scope: Mapping[str, Any], say: Catalogue) -> str:
    """What a number is of: the values of its scope, in the order of the catalogue's words."""
    return "; ".join(_scope_values(scope, say))


def _scope_values(scope: Mapping[str, Any], say: Catalogue) -> Iterator[str]:
    for key, value in scope.items():
        if value is None:
            continue
        if key == "arms":
            yield say("report.tested.contrast", aided=value[0], unaided=value[1])
        elif key == "analysis":
            yield say(f"analysis.{value}") if f"analysis.{value}" in say else str(value)
        elif isinstance(value, Mapping):
            yield from (f"{name} {declared.text(given, say)}" for name, given in value.items())
        else:
            yield declared.text(value, say)


def _provenance(provenance: Mapping[str, Any], assessment: Assessment, say: Catalogue) -> dict[str, Any]:
    inputs = Table(
        say("report.provenance.inputs_caption"),
        (
            Head(say("report.provenance.input")),
            Head(say("report.provenance.bytes"), True),
            Head(say("report.provenance.sha256")),
        ),
        tuple(
            Line((Cell(i["file"]), Cell(say.numbers.count(i["bytes"]), True), Cell(i["sha256"])))
            for i in provenance.get("inputs", ())
        ),
    )
    versions = {"trustreport": provenance.get("trustreport"), **provenance.get("versions", {})}
    facts = [(say("report.provenance.seed"), provenance.get("seed"))]
    facts += [(name, n) for name, n in provenance.get("iterations", {}).items()]
    return {
        "inputs": inputs if inputs.lines else None,
        "versions": [(name, str(version)) for name, version in versions.items() if version],
        "facts": [(name, str(value)) for name, value in facts if value is not None],
        "command": provenance.get("command") or say("report.provenance.default_command"),
    }
