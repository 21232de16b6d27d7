"""The first page: question, answer, verdicts, what would change them, and the limits that matter most."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan

from markupsafe import Markup

from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.vigilance.since import state
from trustreport.assessment.finding import PlainTable
from trustreport.assessment.narrative.texts import endpoint_name, quantity_name
from trustreport.assessment.verdicts.judge import amount, as_share, at_prevalence
from trustreport.report.answer.answer import Answer, answer
from trustreport.report.answer.by_criteria import candidate_statuses
from trustreport.report.answer.forest import ForestGroup, forest
from trustreport.report.answer.limits import LABELS, Limitation, of_page, ranked
from trustreport.report.answer.next_step import next_step
from trustreport.report.answer.over_time import Course, courses, has_baseline
from trustreport.report.answer.review import Review, to_explain
from trustreport.report.answer.row_picture import NARROW, Row, axes, has_strip, picture, unit_of
from trustreport.report.answer.sentences import first_letter, on_data
from trustreport.report.answer.what_if import WhatIf, what_would_change_it
from trustreport.report.declared import month, shorten
from trustreport.report.tables import in_words
from trustreport.study.criteria import DIVIDING, Bound
from trustreport.vocabulary.messages import Catalogue, Message
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.quantity import DIFFERENCE
from trustreport.vocabulary.results import Result

LIMITS = 3
LONG, SHORT = 190, 60  # characters of a limit and of a place
MANY_ROWS = 9  # of criteria, indicators and candidates; with more the page is set smaller
PER = 1000
MOST_DUE = 5
COUNTED = ("missed_rate", "false_alarm_rate", "failure_rate")
DUE = "vigilance_due"


@dataclass(frozen=True, slots=True)
class DueItem:
    """Something that is due: when, what, whose; `late` is empty where it is not."""

    day: str
    what: str
    owner: str
    late: str


@dataclass(frozen=True, slots=True)
class IndicatorRow:
    """An indicator of an audit: baseline, period before, this period, and whether it has changed."""

    title: str
    about: str
    baseline: str
    before: str
    now: str
    required: str
    mark: str
    word: str
    picture: Markup


@dataclass(frozen=True, slots=True)
class PrimaryRow:
    """A result that the answer rests on, where no criteria were declared."""

    measure: str
    data: str
    estimate: str


@dataclass(frozen=True, slots=True)
class PerThousand:
    """What to expect of a candidate in 1,000 local patients."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """Everything that the first page prints."""

    answer: Answer
    next_step: str
    style: str
    groups: tuple[ForestGroup, ...]
    key: str
    indicators: tuple[IndicatorRow, ...]
    period: str
    before: str
    changes: tuple[WhatIf, ...]
    limits: tuple[Limitation, ...]
    limits_more: int
    per_thousand: tuple[PerThousand, ...]
    prevalence: str
    questions: tuple[tuple[str, str], ...]  # for the supplier of a candidate
    due: tuple[DueItem, ...]
    due_more: int
    primary: tuple[PrimaryRow, ...]


def front(assessment: Assessment, say: Catalogue) -> Front:
    """The first page of the report."""
    found = answer(assessment, say)
    groups = forest(assessment, say)
    changes = what_would_change_it(assessment, say)
    shown = [r for said in (*found.sentences, *found.support) for r in said.results]
    shown += [r for change in changes for r in change.results]
    every = ranked(assessment, shown, say)
    limits = of_page(assessment, shown, every, say, LIMITS)
    followed = courses(assessment) if assessment.plan.report.kind == "vigilance" else []
    per, prevalence = _per_thousand(assessment, say)
    waiting = _due(assessment, say)
    due = say("answer.next.due", what=waiting[0].what, day=waiting[0].day) if waiting else ""
    questions = tuple(_questions(assessment, say))
    rows = sum(len(group.rows) for group in groups) + len(followed) + len(per)
    return Front(
        found,
        next_step(assessment, say, limits[0][0] if limits else None, due, [name for name, _ in questions]),
        "tight" if rows > MANY_ROWS else "",
        groups,
        _key(groups, assessment, say),
        tuple(_indicators([c for c in followed if c.latest or c.values], assessment, say)),
        *_periods(followed, say),
        changes,
        tuple(_limit(own, assessment, say) for own in limits),
        sum(bool(own[0].check) for own in every if own not in limits),
        per,
        prevalence,
        questions,
        tuple(waiting[:MOST_DUE]),
        max(len(waiting) - MOST_DUE, 0),
        () if groups or followed else tuple(_primary_rows(found, say)),
    )


def _primary_rows(found: Answer, say: Catalogue) -> Iterator[PrimaryRow]:
    """The results that the answer rests on, each once, by their data; of candidates alike together."""
    rested = dict.fromkeys(r for said in (*found.sentences, *found.support) for r in said.results)
    rows: dict[tuple[str, str, str], list[str]] = {}
    for r in rested:
        if r.estimate.low < r.estimate.high and not r.estimate.short:
            measure = first_letter(say(quantity_name(r.name, r.endpoint)))
            rows.setdefault((measure, _data_of(r, say), _primary_estimate(r, say)), []).append(
                r.place.candidate or ""
            )
    shown = list(rows.items())[:MANY_ROWS]
    order = [data for (_, data, _), _ in shown]
    for (measure, data, estimate), names in sorted(shown, key=lambda row: order.index(row[0][1])):
        yield PrimaryRow(measure, on_data(names, data, say), estimate)


def _data_of(r: Result, say: Catalogue) -> str:
    """What is compared, on which data, and what else was chosen: a prevalence, a utility."""
    at = r.place
    compared = ""
    if pair := at.candidates or at.arms:
        minus = r.name.endswith(DIFFERENCE) or r.name == "mean_benefit"
        compared = say(f"answer.primary.{'minus' if minus else 'against'}", one=pair[0], other=pair[1])
    share = r.parameters.get("prevalence")
    prevalence = say(at_prevalence(share)) if share is not None else ""
    data = (at.arm, at.task, at.dataset or at.set, at.site, say.group(at.subgroup or ""), at.period)
    named = (compared, *data, prevalence, str(r.parameters.get("utility") or ""))
    raters = say("report.use.raters") if r.dimension == "source_reliability" else ""
    return ", ".join(dict.fromkeys(filter(None, named))) or raters


def _primary_estimate(r: Result, say: Catalogue) -> str:
    """An estimate with its interval; of a new site or study, where it is expected."""
    if r.name != "prediction_interval":
        return in_words(r, say)
    low, high = (amount(r, x) for x in (r.estimate.low, r.estimate.high))
    return say("answer.primary.prediction", low=low, high=high, level=r.estimate.level)


def _key(groups: tuple[ForestGroup, ...], assessment: Assessment, say: Catalogue) -> str:
    """What the marks of the forest mean, and why an interval has a level of its own."""
    dotted = any('class="alike"' in row.picture for group in groups for row in group.rows)
    alike = say("answer.forest.alike") if dotted else ""
    key, share = say("answer.forest.key", alike=alike), assessment.plan.declared_prevalence
    judged = (v.result for v in assessment.verdicts if v.result is not None)
    if share is not None and any(r.parameters.get("prevalence") == share for r in judged):
        key = f"{key} {say('answer.forest.key_prevalence', prevalence=as_share(share))}"
    own = {row.name for group in groups for row in group.rows if row.own_level}
    if not own:
        return key
    level = assessment.plan.report.confidence_level
    families = [v.family for v in assessment.verdicts if v.family and v.criterion.endpoint in own]
    rules = list(dict.fromkeys(f.rule for f in families if f.rule in DIVIDING))
    if not rules:
        return f"{key} {say('answer.forest.key_levels_plain', level=level)}"
    names = [say(f"value.{rule}") for rule in rules]
    return f"{key} {say('answer.forest.key_levels', level=level, rules=names)}"


def _limit(own: list[Limitation], assessment: Assessment, say: Catalogue) -> Limitation:
    """The first remark of a check: the same pitfall in four sets is one limit, of the worst.

    What is said of labels that err is of their definition.
    """
    if own[0].check == LABELS and (labels := assessment.plan.reference_standard.definition):
        own = [replace(own[0], names=(labels,)), *own[1:]]
    names = list(dict.fromkeys(name for limit in own for name in limit.names))
    where = shorten(own[0].names[0], SHORT, say) if own[0].names else ""
    # What is said of no check is a text of the catalogue, and no list.
    text = (_cut(own[0].text, say) if own[0].check else own[0].text).removesuffix(".")
    if len(names) > 1:
        text = say("answer.limits.similar", text=text, n=len(names) - 1)
    return Limitation(own[0].check, own[0].severity, tuple(names), where, text)


def _cut(text: str, say: Catalogue) -> str:
    """A long text up to a sentence, else to the last item of a list that has room, else to a word."""
    if len(text) <= LONG or ". " in text[LONG // 2 : LONG]:
        return shorten(text, LONG, say)
    depth, last = 0, 0
    for i, letter in enumerate(text[:LONG]):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in ",;" and text[i + 1 : i + 2] == " ":  # no decimal comma
            last = i
    listed = last > LONG / 2
    return say("answer.limits.cut", text=text[:last].rstrip()) if listed else shorten(text, LONG, say)


# ---------------------------------------------------------------- procurement


def _per_thousand(assessment: Assessment, say: Catalogue) -> tuple[tuple[PerThousand, ...], str]:
    """Missed, false alarms and failures of each candidate in 1,000 patients at the local prevalence."""
    if assessment.plan.report.kind != "procurement":
        return (), ""
    rows, prevalence = [], ""
    names = [s.name for s in candidate_statuses(assessment)] or [
        c.candidate for c in assessment.plan.candidates
    ]
    for name in names:
        found = [_rate(quantity, name, assessment) for quantity in COUNTED]
        if any(found):
            cells = tuple(_in_thousand(r, say) if r else say("table.empty") for r in found)
            rows.append(PerThousand(name, cells))
            share = next((r.parameters.get("prevalence") for r in found if r), None)
            prevalence = say.numbers.level(share) if share is not None else prevalence
    return tuple(rows), prevalence


def _questions(assessment: Assessment, say: Catalogue) -> Iterator[tuple[str, str]]:
    """What the supplier of each candidate that may be bought has to explain."""
    review = Review(assessment, say)
    if assessment.plan.report.kind != "procurement":
        return
    for name in review.names:
        if review.standings[name] in ("pass", "inconclusive"):
            said = [
                say(f"answer.supplier.{'claim' if one.claimed else 'group'}", **asdict(one))
                for one in to_explain(review, name)
            ]
            if said:
                yield review.shown(name), " ".join(said)


def _rate(quantity: str, candidate: str, assessment: Assessment) -> Result | None:
    own = (r for r in assessment.results if r.id == f"candidates.{quantity}" and r.primary)
    return next((r for r in own if r.place.candidate == candidate and "prevalence" in r.parameters), None)


def _in_thousand(r: Result, say: Catalogue) -> str:
    e = r.estimate
    if isnan(e.value):
        return say("table.empty")
    value, low, high = (say.numbers.count(PER * x) for x in (e.value, e.low, e.high))
    return say("word.interval", value=value, interval=say("word.to", low=low, high=high))


# ---------------------------------------------------------------- vigilance


def _periods(followed: list[Course], say: Catalogue) -> tuple[str, str]:
    """The names of the latest period and of the one before it."""
    names = [r.place.period or "" for course in followed[:1] for r in course.values]
    latest = followed[0].latest if followed else None
    at = names.index(latest.place.period or "") if latest and latest.place.period in names else len(names) - 1
    now = month(names[at], say) if names else ""
    return now, month(names[at - 1], say) if at > 0 else ""


def _indicators(followed: Sequence[Course], assessment: Assessment, say: Catalogue) -> Iterator[IndicatorRow]:
    """A row each, drawn on the axis of their unit."""
    rows = [(_now(course), _alarm_bound(course, assessment)) for course in followed]
    shared, strips = axes(rows, say, NARROW), has_strip([unit_of(now) for now, _ in rows])
    for course, row, strip in zip(followed, rows, strips):
        alt = in_words(row[0], say) if row[0] else ""

        def drawn(mark: str, row: Row = row, alt: str = alt, strip: bool = strip) -> Markup:
            """The picture of the row, by the mark of what it shows."""
            return picture(row, mark, shared.get(unit_of(row[0])), alt, strip=strip)

        yield _indicator(course, row, drawn, assessment, say)


def _now(course: Course) -> Result | None:
    """The latest value."""
    if course.latest:
        return course.value_in(course.latest.place.period)
    return next(reversed(list(course.values)), None)


def _alarm_bound(course: Course, assessment: Assessment) -> Bound | None:
    """The side of the declared level of alarm on which values should be."""
    declared, better = _alarm(course.endpoint, assessment), endpoint_row(course.endpoint).better
    if declared is None or better not in ("up", "down"):
        return None
    return Bound(low=declared) if better == "up" else Bound(high=declared)


def _indicator(
    course: Course, row: Row, drawn: Callable[[str], Markup], assessment: Assessment, say: Catalogue
) -> IndicatorRow:
    """One row: values, the level of alarm where one is declared, and whether the latest change is shown."""
    latest, order = course.latest, list(course.values)
    now, bound = row
    before = order[order.index(now) - 1] if now in order and order.index(now) else None
    declared = _alarm(course.endpoint, assessment)
    moved = "unknown"
    if latest is not None and has_baseline(assessment):
        moved = state(latest.estimate, course.endpoint, assessment.plan)
    said = say(f"vigilance.since.state.{moved}")
    if moved == "unchanged" and now is not None and bound is not None and _is_beyond(now, bound):
        said = say(f"answer.indicator.{'below' if bound.low is not None else 'above'}")
    mark = "fail" if moved in ("worse", "changed") else "none"
    title = first_letter(say(endpoint_name(course.endpoint)))
    required = ""
    if declared is not None and now is not None:
        required = say("answer.indicator.alarm", value=amount(now, declared))
    return IndicatorRow(
        say("word.pair", first=course.candidate, second=title) if course.candidate else title,
        say("answer.indicator.n", n=now.estimate.n) if now else "",
        _estimate(course.baseline, say),
        _estimate(before, say),
        _estimate(now, say),
        required,
        mark,
        said,
        drawn(mark),
    )


def _estimate(r: Result | None, say: Catalogue) -> str:
    return in_words(r, say) if r else say("table.empty")


def _is_beyond(now: Result, bound: Bound) -> bool:
    value, low, high = now.estimate.value, bound.low, bound.high
    return (low is not None and value < low) or (high is not None and value > high)


def _alarm(endpoint: str, assessment: Assessment) -> float | None:
    vigilance = assessment.plan.vigilance
    declared = (vigilance.indicators if vigilance else None) or ()
    return next((i.to_detect for i in declared if i.measure.rpartition(".")[2] == endpoint), None)


def _due(assessment: Assessment, say: Catalogue) -> list[DueItem]:
    """What the part on where things stand says is due, where the report asks that."""
    asked = assessment.plan.report.kind == "vigilance"
    findings = [f for f in assessment.findings if asked and f.dimension == "vigilance"]
    tables = [t for f in findings for part in f.parts for t in part.tables if t.id.startswith(DUE)]
    rows = [row for table in tables if isinstance(table, PlainTable) for row in table.rows]
    return [
        DueItem(*(say(cell) if isinstance(cell, Message) else cell or "" for cell in row)) for row in rows
    ]
