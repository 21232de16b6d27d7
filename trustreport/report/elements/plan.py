"""What was declared and fixed in advance: device, purpose, design, readers, criteria, changes."""

from collections.abc import Callable, Iterator
from functools import partial

from trustreport.assessment.narrative.texts import quantity_name
from trustreport.report import acceptance, declared
from trustreport.report.elements.element import Context, Element, numbered
from trustreport.report.limits import limits, listed
from trustreport.report.tables import Cell, Head, Line, Table
from trustreport.report.wording import day
from trustreport.study import criteria
from trustreport.study.plan import Endpoint, Plan
from trustreport.vocabulary.messages import Catalogue

GROUPS = {
    "E01": ("device",),
    "E02": ("intended_use", "operating_point"),
    "E04": ("study", "arms", "reading"),
    "E05": (
        "endpoints",
        "utility",
        "precision_targets",
        "similarity",
        "localisation",
        "internal_splits",
        "limits",
    ),
    "E08": ("reference_standard", "time_to_event"),
    "E24": ("readers",),
    "E44": ("amendments",),
}


def stated(context: Context, element: str) -> Element | None:
    """The groups of an element, as they were declared."""
    groups = tuple(context.groups[name] for name in GROUPS[element] if name in context.groups)
    return Element(groups=groups) if groups else None


def prespecification(context: Context) -> Element:
    """When the criteria were fixed, how they stand against their lock, and the estimand of each."""
    say, assessment = context.say, context.assessment
    plan = assessment.plan
    none = say("word.not_declared")
    moments = (plan.study.sap_locked_at, plan.study.data_opened_at)
    locked, opened = (day(m, say) if m else none for m in moments)
    key = "finding" if plan.endpoints else "finding_none"
    finding = [say(f"element.E05.{key}", n=len(plan.endpoints), locked=locked, opened=opened)]
    altered = None
    if plan.endpoints:
        standing, altered = acceptance.fixed(assessment, say)
        finding += standing
    return Element(
        tuple(finding),
        _groups(context, "E05", but="endpoints"),
        tables=numbered(context, _estimands(plan, context), altered),
        limits=tuple(listed(limits(assessment.fired("prespecification"), say), say)),
    )


def _groups(context: Context, element: str, but: str = "") -> tuple[declared.DeclaredGroup, ...]:
    """The groups of an element; of the one that a table tells, only what it lacks."""
    groups = []
    for name in GROUPS[element]:
        group = context.groups.get(name)
        if group and name == but:
            group = declared.DeclaredGroup(group.title, (), group.missing) if group.missing else None
        if group:
            groups.append(group)
    return tuple(groups)


def _estimands(plan: Plan, context: Context) -> Table:
    say = context.say
    heads = tuple(
        Head(say(f"element.E05.{key}"))
        for key in ("endpoint", "quantity", "population", "hypothesis", "rule")
    )
    return Table(
        say("element.E05.caption"), heads, tuple(_estimand(e, plan, context) for e in plan.endpoints)
    )


def _estimand(endpoint: Endpoint, plan: Plan, context: Context) -> Line:
    say = context.say
    none = say("word.not_declared")
    quantity = say(quantity_name(criteria.quantity(endpoint), endpoint.of)) if endpoint.measure else none
    bound_text = _bound(endpoint, context)
    hypothesis = declared.text(endpoint.hypothesis, say) if endpoint.hypothesis else none
    family = endpoint.multiplicity_family
    rule = say("element.E05.family", family=family) if family else none
    alpha = "" if endpoint.alpha is None else say("element.E05.alpha", alpha=endpoint.alpha)
    return Line(
        (
            Cell(endpoint.endpoint, aside=declared.text(endpoint.role, say) if endpoint.role else none),
            Cell(quantity, aside=", ".join(_places(endpoint, say))),
            Cell(endpoint.population or none),
            Cell(
                say("element.E05.bound_of", hypothesis=hypothesis, value=bound_text),
                aside=endpoint.margin_rationale or "",
            ),
            Cell(rule, aside=alpha),
        )
    )


def _bound(endpoint: Endpoint, context: Context) -> str:
    """Where the interval has to lie, as the table of verdicts writes it; else the declared number."""
    for verdict in context.assessment.verdicts:
        told = verdict.bound or verdict.word == "not tested"
        if told and verdict.criterion.endpoint == endpoint.endpoint:
            return acceptance.bound_text(verdict, context.say)
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
    named = (endpoint.dataset, endpoint.set, endpoint.task, endpoint.site, endpoint.subgroup, endpoint.period)
    yield from filter(None, named)


def changes(context: Context) -> Element:
    """What changed after the criteria were fixed, and what may change in the device."""
    say, plan = context.say, context.assessment.plan
    n = len(plan.amendments)
    keys = ("date", "field", "old", "new", "reason", "before")
    none = say("word.not_declared")
    lines = tuple(
        Line(
            (
                Cell(a.date or none),
                Cell(a.field or none),
                Cell(a.old or none),
                Cell(a.new or none),
                Cell(a.reason or none),
                Cell(none if a.before_data_opened is None else declared.text(a.before_data_opened, say)),
            )
        )
        for a in plan.amendments
    )
    table = Table(say("element.E44.caption"), tuple(Head(say(f"element.E44.{key}")) for key in keys), lines)
    finding = [say("element.E44.finding", n=n) if n else say("element.E44.none")]
    predetermined = plan.device.predetermined_changes
    finding.append(
        say("element.E44.predetermined", text=predetermined)
        if predetermined
        else say("element.E44.no_predetermined")
    )
    return Element(tuple(finding), _groups(context, "E44", but="amendments"), tables=numbered(context, table))


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    **{name: partial(stated, element=name) for name in ("E01", "E02", "E04", "E08", "E24")},
    "E05": prespecification,
    "E44": changes,
}
