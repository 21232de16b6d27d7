"""What was declared and fixed in advance: device, purpose, design, readers, criteria, changes."""

from collections.abc import Callable, Iterator
from functools import partial

from trustreport.report import declared
from trustreport.report.answer.acceptance import bound_text, fixed, measured
from trustreport.report.answer.limits import listed
from trustreport.report.declared import day
from trustreport.report.elements.element import Context, Element, groups_of, numbered
from trustreport.report.tables import Cell, Line, Table, heads, line_of
from trustreport.study import lock
from trustreport.study.plan import Endpoint, Plan
from trustreport.vocabulary.messages import Catalogue


def stated(context: Context, element: str) -> Element | None:
    """The groups of an element, as they were declared."""
    groups = groups_of(context, element)
    return Element(groups=groups) if groups else None


def prespecification(context: Context) -> Element:
    """When the criteria were fixed, how they stand against their lock, and the estimand of each."""
    say, assessment = context.say, context.assessment
    plan = assessment.plan
    none = say("word.not_declared")
    by_service, _ = lock.lock_status(assessment.study, plan).clocked
    moments = (plan.study.sap_locked_at or by_service, plan.study.data_opened_at)
    locked, opened = (day(m, say) if m else none for m in moments)
    key = "finding" if plan.endpoints else "finding_none"
    finding = [say(f"element.E05.{key}", n=len(plan.endpoints), locked=locked, opened=opened)]
    altered = None
    if plan.endpoints:
        standing, altered = fixed(assessment, say)
        finding += standing
    return Element(
        tuple(finding),
        groups_of(context, "E05", but="endpoints"),
        tables=numbered(context, _estimands(plan, context), altered),
        limits=tuple(listed(assessment.fired("prespecification"), say)),
    )


def _estimands(plan: Plan, context: Context) -> Table:
    columns = heads(context.say, "element.E05", "endpoint quantity population hypothesis rule")
    lines = tuple(_estimand(e, context) for e in plan.endpoints)
    return Table(context.say("element.E05.caption"), columns, lines)


def _estimand(endpoint: Endpoint, context: Context) -> Line:
    say, none = context.say, context.say("word.not_declared")

    def text(value: object) -> str:
        return declared.text(value, say) if value else none

    bound = _bound(endpoint, context)
    asked = say("element.E05.bound_of", hypothesis=text(endpoint.hypothesis), value=bound)
    family = endpoint.multiplicity_family
    return line_of(
        Cell(endpoint.endpoint, aside=text(endpoint.role)),
        Cell(measured(endpoint, say) if endpoint.measure else none, aside=", ".join(_places(endpoint, say))),
        endpoint.population or none,
        Cell(asked, aside=endpoint.margin_rationale or ""),
        Cell(
            say("element.E05.family", family=family) if family else none,
            aside="" if endpoint.alpha is None else say("element.E05.alpha", alpha=endpoint.alpha),
        ),
    )


def _bound(endpoint: Endpoint, context: Context) -> str:
    """Where the interval has to lie, as the table of verdicts writes it; else the declared number."""
    for verdict in context.assessment.verdicts:
        told = verdict.bound or verdict.word == "not tested"
        if told and verdict.criterion.endpoint == endpoint.endpoint:
            return bound_text(verdict, context.say)
    bound = endpoint.bound_or_margin
    if isinstance(bound, tuple):
        low, high = map(context.say.numbers.plain, bound)
        return context.say("word.to", low=low, high=high)
    return context.say("word.not_declared") if bound is None else context.say.numbers.plain(bound)


def _places(endpoint: Endpoint, say: Catalogue) -> Iterator[str]:
    """Arm, contrast, data set, group and whatever else says of which result a criterion is."""
    for sides in (endpoint.arm_or_contrast, endpoint.candidate):
        if isinstance(sides, tuple):
            yield say("report.tested.contrast", aided=sides[0], unaided=sides[1])
        elif sides:
            yield sides
    group = say.group(endpoint.subgroup or "")
    named = (endpoint.dataset, endpoint.set, endpoint.task, endpoint.site, group, endpoint.period)
    yield from filter(None, named)


def changes(context: Context) -> Element:
    """What changed after the criteria were fixed, and what may change in the device."""
    say, plan = context.say, context.assessment.plan
    none = say("word.not_declared")
    lines = []
    for a in plan.amendments:
        before = a.before_data_opened
        when = none if before is None else declared.text(before, say)
        lines.append(line_of(*(text or none for text in (a.date, a.field, a.old, a.new, a.reason)), when))
    columns = heads(say, "element.E44", "date field old new reason before")
    table = Table(say("element.E44.caption"), columns, tuple(lines))
    n, predetermined = len(lines), plan.device.predetermined_changes
    finding = (
        say("element.E44.finding", n=n) if n else say("element.E44.none"),
        say("element.E44.predetermined", text=predetermined)
        if predetermined
        else say("element.E44.no_predetermined"),
    )
    return Element(finding, groups_of(context, "E44", but="amendments"), tables=numbered(context, table))


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    **{name: partial(stated, element=name) for name in ("E01", "E02", "E04", "E08", "E24")},
    "E05": prespecification,
    "E44": changes,
}
