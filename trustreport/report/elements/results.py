"""What is held against the results: claims, the register of checks, what stays open or undeclared."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from trustreport.assessment.claims import ClaimCheck, as_printed, claim_checks, elsewhere, inside, latest
from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.report import declared
from trustreport.report.answer import acceptance
from trustreport.report.answer.limits import Limitation, limits, listed
from trustreport.report.elements.data import CHECKED
from trustreport.report.elements.element import Context, Element, numbered
from trustreport.report.tables import Cell, Line, Table, heads, in_words, line_of
from trustreport.study.plan import Claim
from trustreport.vocabulary.messages import Catalogue

FEW_CLAIMS = 8  # declared figures; of more the report prints those that do not hold


def acceptance_table(context: Context) -> Element:
    """Every criterion with estimate, interval, bound and verdict."""
    finding, rows = acceptance.verdict_overview(context.assessment, context.say)
    return Element(finding, template="report/verdicts.html.j2", extra={"rows": rows})


def claims(context: Context) -> Element | None:
    """Declared figures beside what these data give; those that nothing here can speak of are named too."""
    plan, say = context.assessment.plan, context.say
    group = context.groups.get("performance_claims")
    if not plan.performance_claims:
        return Element(groups=(group,)) if group and context.in_annex else None
    # Claims about other cases stand beside the local figures of their candidate, where that was asked.
    told = any(f.dimension == "candidates" for f in context.assessment.findings)
    here = [claim for claim in plan.performance_claims if not (told and elsewhere(claim, plan))]
    found = [(claim, _claim_checks(claim, context)) for claim in here]
    now = [_now(claim, context) for claim in here]
    lines = tuple(
        line
        for (claim, those), (later, _) in zip(found, now)
        for line in (*_claim_lines(claim, those, say), *later)
    )
    spoken = [one for _, those in found for one in those]
    if not context.in_annex and len(lines) > FEW_CLAIMS:
        unmet = [(claim, [one for one in those if not one.agrees]) for claim, those in found]
        lines = tuple(line for claim, those in unmet if those for line in _claim_lines(claim, those, say))
    silent = sum(not those for _, those in found)
    agree = sum(one.agrees for one in spoken)
    values = {"n": agree, "of": len(spoken), "silent": silent, "claims": len(here)}
    if not spoken:
        finding = say("element.E34.none_recomputed", **values)
    elif silent:
        finding = say("element.E34.finding", **values)
    elif agree == len(spoken):
        finding = say("element.E34.finding_all", **values | {"n": agree})
    else:
        finding = say("element.E34.finding_some", **values)
    outside = [claim.measure for claim, (_, lies) in zip(here, now) if lies is False]
    later = [say("element.E34.outside", n=len(outside), names=_names(outside, say))] if outside else []
    columns = heads(say, "element.E34", "measure place declared recomputed agrees")
    if not any(line.cells[1].text for line in lines):  # nothing is of one set among several
        lines = tuple(replace(line, cells=(line.cells[0], *line.cells[2:])) for line in lines)
        columns = (columns[0], *columns[2:])
    table = Table(say("element.E34.caption"), columns, lines)
    lacks = (declared.DeclaredGroup(group.title, (), group.missing),) if group and group.missing else ()
    return Element((finding, *later) if here else (), lacks, tables=numbered(context, table))


def _claim_checks(claim: Claim, context: Context) -> list[ClaimCheck]:
    plan = context.assessment.plan.model_copy(update={"performance_claims": (claim,)})
    return claim_checks(plan, context.assessment.results)


def _now(claim: Claim, context: Context) -> tuple[tuple[Line, ...], bool | None]:
    """The last period beside a claim, and whether its interval holds the declared figure."""
    say, assessment = context.say, context.assessment
    periods = [d.name for d in assessment.study.datasets if d.role == "period"]
    found = latest(claim, periods, assessment.results)
    lies = inside(claim, found[1]) if found else None
    if found is None or lies is None:
        return (), None
    period, result = found
    line = line_of(
        Cell(_names([claim.measure], say)[0], aside=say("element.E34.latest")),
        period,
        say(as_printed(claim.value)),
        in_words(result, say),
        say("element.E34.inside" if lies else "element.E34.not_inside"),
    )
    return (line,), lies


def _names(measures: Iterable[str], say: Catalogue) -> list[str]:
    return [say(quantity_name(measure.rpartition(".")[2])) for measure in measures]


def _claim_lines(claim: Claim, found: Sequence[ClaimCheck], say: Catalogue) -> Iterator[Line]:
    source = ", ".join(filter(None, (claim.population, claim.source_document, claim.section)))
    if not found:
        where = ", ".join(filter(None, (claim.set, claim.dataset, claim.arm)))
        first = Cell(_names([claim.measure], say)[0], aside=source)
        silent = (say("element.E34.silent"), say("table.empty"))
        yield line_of(first, where, say(as_printed(claim.value)), *silent)
    for i, one in enumerate(found):
        measure = one.measure if isinstance(one.measure, str) else say(one.measure)
        yield line_of(
            Cell(measure, aside=source if i == 0 else ""),
            ", ".join(filter(None, (one.place.set, one.place.dataset))),
            say(one.printed),
            say(one.recomputed),
            say("element.E34.yes" if one.agrees else "element.E34.no"),
        )


# ---------------------------------------------------------------- register of checks


@dataclass(frozen=True, slots=True)
class Registered:
    """A check of the register; `severity` is empty where it found nothing, `reason` where it could run."""

    id: str
    title: str
    outcome: str
    severity: str
    reason: str = ""


def checks(context: Context) -> Element:
    """The register: one line per check, its outcomes over all scopes taken together."""
    say = context.say
    by_id: dict[str, list[CheckOutcome]] = {}
    for outcome in context.assessment.checks:
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
    idle: dict[str, list[str]] = {}
    for line in lines:
        if line.reason:
            idle.setdefault(line.reason, []).append(say("word.with_id", text=line.title, id=line.id))
    clear = [line for line in lines if not line.severity and not line.reason]
    # On paper what was found stands in the table; the rest is summarised.
    found = {
        "lines": lines if context.on_screen else [line for line in lines if line.severity],
        "not_found": [] if context.on_screen else [say("word.with_id", text=c.title, id=c.id) for c in clear],
        "not_run": {} if context.on_screen else idle,
        "untold": _untold(context),
    }
    return Element(tuple(finding), template="report/checks.html.j2", extra=found)


def _untold(context: Context) -> list[Limitation]:
    """What fired and is printed nowhere else: no section or element here has it, or has room for it.

    On paper what a section names as found in further places is not repeated.
    """
    say, assessment = context.say, context.assessment
    answered = {finding.dimension for finding in assessment.findings} & context.placed
    if "E05" in context.placed:
        answered.add("prespecification")
    elsewhere = {check for word in CHECKED.keys() & context.placed for check in CHECKED[word]}
    sections = [list(assessment.fired(name)) for name in sorted(answered)]
    sections += [[o for o in assessment.fired() if o.check in elsewhere]]
    told = {(one.check, one.text) for fired in sections for one in listed(fired, say)}
    if not context.on_screen:
        here = [o for o in assessment.fired() if o.dimension not in answered and o.check not in elsewhere]
        return listed(here, say)
    return [one for one in limits(assessment.fired(), say) if (one.check, one.text) not in told]


def _registered(check: str, outcomes: Sequence[CheckOutcome], say: Catalogue) -> Registered:
    weights = [outcome.severity for outcome in outcomes if outcome.status == "fired"]
    reason = ""
    if len(weights) > 1:
        said = say("report.checks.fired_times", n=len(weights))
    elif weights:
        said = say("report.checks.fired")
    elif any(outcome.status == "clear" for outcome in outcomes):
        said = say("report.checks.clear")
    else:
        reason = say(outcomes[0].message)
        said = say("report.checks.cannot_run", reason=reason)
    severity = min(weights, key="BWN".index, default="")
    return Registered(check, say(f"checks.{check}.title"), said, severity, reason)


# ---------------------------------------------------------------- what stays open


def open_questions(context: Context) -> Element:
    """The questions without an answer, each with its reason."""
    say, assessment = context.say, context.assessment
    lines = tuple(
        line_of(say(f"{u.dimension}.short"), say(f"{u.dimension}.question"), say(u.reason))
        for u in assessment.unanswered
    )
    asked = len(assessment.findings) + len(lines)
    finding = say("report.open.finding", n=len(lines), asked=asked) if lines else say("report.open.none")
    table = Table(say("report.open.caption"), heads(say, "report.open", "dimension asks reason"), lines)
    return Element((finding, say("report.open.not_supported")), tables=numbered(context, table))


def undeclared(context: Context) -> Element:
    """How many of the fields that a report of this kind requires are not declared."""
    say, n = context.say, len(context.assessment.not_declared)
    if not n:
        return Element((say("report.declared.finding_complete"),))
    return Element((say("report.declared.finding", n=n),), remarks=(say("report.declared.explain"),))


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    "E31": acceptance_table,
    "E34": claims,
    "E45": checks,
    "open": open_questions,
    "undeclared": undeclared,
}
