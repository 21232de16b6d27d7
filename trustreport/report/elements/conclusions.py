"""What only the report has: criteria and their evidence, what checks found, and what is left out."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from trustreport.report.answer import acceptance
from trustreport.report.answer import answer
from trustreport.report.answer.forest import forest
from trustreport.report.answer.sentences import estimate_of
from trustreport.report.elements.element import Context, Element, ReportPlace
from trustreport.report.answer.limits import ranked
from trustreport.report.wording import shorten
from trustreport.study.plan import required

LONG = 300  # characters of a remark; whole in the annex
MOST_FOUND = 10  # remarks of checks in the report; the register in the annex has all


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
    held = {row.name: row for row in acceptance.criterion_rows(assessment, say)}
    shown = {row.name: row for group in forest(assessment, say) for row in group.rows}
    rows = []
    for verdict in assessment.verdicts:
        name = verdict.criterion.endpoint
        found = estimate_of(verdict, assessment)
        place = context.standing.get(found.dimension) if found is not None else None
        own = held[name]
        rows.append(
            EvidenceRow(
                shown[name].title,
                name,
                own.estimate if verdict.word == "pass" else own.sentence,
                own.amended,
                own.mark,
                own.word,
                f"evidence-{shown[name].anchor}",
                place,
            )
        )
    families = tuple(acceptance.families(assessment, say))
    return Element(families, template="report/matrix.html.j2", extra={"rows": rows})


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
    quiet = (say("report.found.more", n=notes),) if notes else ()
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
        sentences.append(say("report.left_out.undeclared", n=n, of=of))
    if idle:
        sentences.append(say("report.left_out.idle", n=len(idle)))
    names = [say(f"{u.dimension}.short") for u in assessment.unanswered]
    if names:
        sentences.append(say("report.left_out.open", n=len(names), names=names))
    return Element(remarks=tuple(sentences)) if sentences else None


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    "matrix": matrix,
    "found": found,
    "left_out": left_out,
}
