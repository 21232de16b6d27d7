"""Criteria with their evidence, what checks found, what is left out, and what goes back to the maker."""

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from trustreport.assessment.narrative.texts import quantity_name
from trustreport.report import declared
from trustreport.report.answer.acceptance import criterion_rows, families, verdict_word
from trustreport.report.answer.answer import answer
from trustreport.report.answer.forest import forest
from trustreport.report.answer.limits import ranked
from trustreport.report.answer.next_step import proposed
from trustreport.report.answer.sentences import estimate_of, title
from trustreport.report.declared import day, shorten
from trustreport.report.elements.element import Context, Element, numbered
from trustreport.report.numbering import ReportPlace
from trustreport.report.tables import Cell, Line, Table, heads, line_of
from trustreport.study.plan import Incident, Plan, Vigilance, required
from trustreport.vocabulary.messages import Catalogue

LONG = 300  # characters of a remark; whole in the annex
MOST_FOUND = 10  # remarks of checks in the report; the register in the annex has all
# Where the inputs of a safety update report stand, by the words of the outline; the report has no conclusion.
UPDATE = {"conclusion": (), "findings": ("vigilance", "E38", "E42", "E43"), "use": ("E36", "E03")}
READERS = {"pragmatic_utility", "decision_benefit", "reliance"}
CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A criterion, its verdict, and where the report shows what it rests on."""

    title: str
    name: str
    text: str
    amended: tuple[str, ...]
    mark: str
    word: str
    anchor: str
    place: ReportPlace | None


def matrix(context: Context) -> Element | None:
    """One row for each criterion: what was found, the verdict, and where the evidence is."""
    assessment, say = context.assessment, context.say
    if not assessment.verdicts:
        return None
    held = {row.name: row for row in criterion_rows(assessment, say)}
    shown = {row.name: row for group in forest(assessment, say) for row in group.rows}
    rows = []
    for verdict in assessment.verdicts:
        name = verdict.criterion.endpoint
        found = estimate_of(verdict, assessment)
        own, words = held[name], tuple[str, ...]()
        if found is not None:
            words = ("versions", found.dimension) if found.place.candidates else (found.dimension,)
        text = own.sentence
        if verdict.word == "pass":
            text = own.estimate
            if verdict.level != assessment.plan.report.confidence_level:
                text = say("report.matrix.at_level", estimate=text, level=verdict.level)
        rows.append(
            EvidenceRow(
                shown[name].title,
                name,
                f"{text}." if own.amended and not text.endswith(".") else text,
                own.amended,
                own.mark,
                own.word,
                f"evidence-{shown[name].anchor}",
                next((context.standing[word] for word in words if word in context.standing), None),
            )
        )
    return Element(tuple(families(assessment, say)), template="report/matrix.html.j2", extra={"rows": rows})


def found(context: Context) -> Element | None:
    """What the checks found, what does most to the answer first."""
    assessment, say = context.assessment, context.say
    said = answer(assessment, say)
    shown = [r for one in (*said.sentences, *said.support) for r in one.results]
    every = [limit for own in ranked(assessment, shown, say) for limit in own[:1]]
    heavy = [limit for limit in every if limit.severity != "N"]
    if not every:
        return Element((say("report.found.none"),))
    notes = len(every) - len(heavy[:MOST_FOUND])
    quiet = (say("report.found.more", n=notes, where=context.within),) if notes else ()
    return Element(
        limits=tuple(
            replace(one, text=shorten(one.text, LONG, say).removesuffix(".")) for one in heavy[:MOST_FOUND]
        ),
        quiet=quiet,
    )


def left_out(context: Context) -> Element | None:
    """How many fields are not declared and checks could not run, and which questions stay open."""
    assessment, say = context.assessment, context.say
    n = len(assessment.not_declared)
    idle = {o.check for o in assessment.checks} - {
        o.check for o in assessment.checks if o.status != "cannot run"
    }
    sentences = []
    if n:
        of = len(list(required(assessment.plan, assessment.plan.report.kind)))
        sentences.append(say("report.left_out.undeclared", n=n, of=of, where=context.within))
    if idle:
        sentences.append(say("report.left_out.idle", n=len(idle), where=context.within))
    names = [say(f"{u.dimension}.short") for u in assessment.unanswered]
    if names:
        sentences.append(say("report.left_out.open", n=len(names), names=names))
    return Element(remarks=tuple(sentences)) if sentences else None


def feedback(context: Context) -> Element | None:
    """Points for the risk file and the follow-up after market entry; a list, not a conclusion."""
    say, plan = context.say, context.assessment.plan
    if plan.report.kind == "procurement":
        return None
    kinds = {
        "signals": list(_signals(plan, say)),
        "incidents": list(_incidents(plan, say)),
        "criteria": list(_criteria(context)),
        "checks": list(_checks(context)) if context.in_annex else [],
    }
    lines = tuple(line for of_kind in kinds.values() for line in of_kind)
    counts = [say(f"element.feedback.{kind}", n=len(of_kind)) for kind, of_kind in kinds.items() if of_kind]
    finding = say("element.feedback.none")
    if lines:
        finding = say("element.feedback.finding", n=len(lines), counts=counts)
    if not lines and not context.in_annex:
        return None
    columns = heads(say, "element.feedback", "point why harm action owner")
    table = Table(say("element.feedback.caption"), columns, lines)
    vigilant = plan.report.kind == "vigilance"
    more = (_next(plan, say),) if vigilant else ()
    more = (_update(context), *more) if vigilant and context.in_annex else more
    risks = plan.intended_use.known_risks
    said = [finding, *([say("element.feedback.hazards", names=declared.text(risks, say))] if risks else [])]
    return Element(tuple(said), tables=numbered(context, table, *more))


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A point to follow up: what and why, whom it may harm, what to do, by whom and when; as declared."""

    point: str
    why: str
    about: str = ""
    harm: str | None = None
    hazard: str | None = None
    action: str = ""
    owner: str | None = None
    due: dt.date | None = None

    def line(self, say: Catalogue) -> Line:
        """Its row; what nobody declared is said so."""
        owner = self.owner or say("answer.due.no_owner")
        return line_of(
            Cell(self.point, aside=self.about),
            self.why,
            Cell(self.hazard or self.harm or say("table.empty"), aside=(self.hazard and self.harm) or ""),
            self.action or say("table.empty"),
            Cell(owner, aside=day(self.due, say) if self.due else ""),
        )


def _signals(plan: Plan, say: Catalogue) -> Iterator[Line]:
    for s in plan.signals:
        if s.closed is None:
            why = say("element.feedback.signal")
            point = FollowUp(
                s.signal, why, s.description or "", action=s.action or "", owner=s.owner, due=s.due
            )
            yield point.line(say)


def _open(plan: Plan) -> list[Incident]:
    return [one for one in plan.incidents if (one.status or "").strip().casefold() != CLOSED]


def _incidents(plan: Plan, say: Catalogue) -> Iterator[Line]:
    for one in _open(plan):
        why = say(f"element.feedback.{one.kind}", status=say.declared(one.status or say("word.not_declared")))
        action = say("element.feedback.corrective", id=one.capa_id) if one.capa_id else ""
        about, harm = one.description or "", say.declared(one.seriousness or "")
        yield FollowUp(one.incident, why, about, harm, action=action, due=one.due).line(say)


def _criteria(context: Context) -> Iterator[Line]:
    say = context.say
    for verdict in context.assessment.verdicts:
        if verdict.word != "pass":
            why, own = verdict_word(verdict.word, say), verdict.criterion
            point = FollowUp(
                title(verdict, context.assessment, say),
                why,
                harm=own.clinical_severity,
                hazard=own.hazard,
                action=proposed(verdict, say),
                owner=own.owner,
                due=own.due,
            )
            yield point.line(say)


def _checks(context: Context) -> Iterator[Line]:
    """The checks that block or warn, each once with the number of places where it does."""
    say = context.say
    found: dict[str, list[str]] = {}
    for outcome in context.assessment.fired():
        if outcome.severity != "N":
            found.setdefault(outcome.check, []).append(outcome.severity)
    for check, weights in found.items():
        weight = say(f"severity.{min(weights, key='BW'.index)}")
        why = say("element.feedback.check", n=len(weights), severity=weight)
        name = say("word.with_id", text=say(f"checks.{check}.title"), id=check)
        yield FollowUp(name, why).line(say)


def _next(plan: Plan, say: Catalogue) -> Table:
    """What is declared of the next period, and which date comes first."""
    v = plan.vigilance or Vigilance()
    none = say("word.not_declared")
    dates = [(s.due, s.signal) for s in plan.signals if s.closed is None and s.due]
    dates += [(one.due, one.incident) for one in _open(plan) if one.due]
    looks = none
    if v.period_index is not None and v.planned_looks is not None:
        looks = say("element.feedback.looks_of", n=v.period_index, planned=v.planned_looks)
    names = [say(quantity_name(i.measure.rpartition(".")[2])) for i in v.indicators or ()]
    due = [say("element.feedback.due_of", name=name, date=date) for date, name in sorted(dates)]
    recipients = declared.text(v.recipients, say) if v.recipients else none
    rows = (
        ("length", v.observation_period or none),
        ("looks", looks),
        ("indicators", ", ".join(names) or none),
        ("dates", ", ".join(due) or none),
        ("recipients", recipients),
    )
    lines = tuple(line_of(say(f"element.feedback.next.{key}"), text) for key, text in rows)
    columns = heads(say, "element.feedback.next", "what declared")
    return Table(say("element.feedback.next.caption"), columns, lines)


def _update(context: Context) -> Table:
    """Where the inputs of a safety update report stand here, and what stands elsewhere."""
    say = context.say
    lines = []
    for item, words in UPDATE.items():
        places = [context.standing[word] for word in words if word in context.standing]
        named = [say("element.feedback.place", chapter=p.chapter, title=p.heading) for p in places]
        where = say.between.join(named) or say("table.empty")
        key = f"element.feedback.update.{item}"
        lines.append(line_of(say(key), where, say(f"element.feedback.update.{item}_lacks")))
    columns = heads(say, "element.feedback.update", "input where lacks")
    return Table(say("element.feedback.update.caption"), columns, tuple(lines))


def repeatability(context: Context) -> Element | None:
    """A placeholder: no part of this version reads repeated or perturbed inputs."""
    if context.assessment.plan.report.kind != "certification":
        return None
    return Element((context.say("element.E22.finding"),))


def local_readers(context: Context) -> Element | None:
    """That no local reader study was handed in, where a committee looks for one."""
    assessment = context.assessment
    if assessment.plan.report.kind != "procurement" or READERS & {f.dimension for f in assessment.findings}:
        return None
    return Element((context.say("element.local_readers.finding"),))


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    "matrix": matrix,
    "found": found,
    "left_out": left_out,
    "E22": repeatability,
    "feedback": feedback,
    "local_readers": local_readers,
}
