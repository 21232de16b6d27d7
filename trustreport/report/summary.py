"""The summary page: what leads, what limits it, what was tested; bounded, so that it fits one page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trustreport.assessment import Assessment
from trustreport.finding import CheckOutcome, EstimateTable, Finding, Row
from trustreport.messages import Catalogue
from trustreport.plan import Plan
from trustreport.report import acceptance, asked
from trustreport.report.tables import common_places, in_words
from trustreport.report.wording import day, shorten
from trustreport.study import Study
from trustreport.verdicts import WORDS

LIMITS = 3
ROLES = ("primary", "safety", "secondary", "exploratory", "")  # of criteria, in the order of the page
# Before what blocks: people do worse with the aid, or follow it where it is wrong. After that, within a
# severity: what is measured here does not hold where the device is to be used, or does not tell the
# candidates apart. Then all others.
HARM = ("P29", "P27")
ELSEWHERE = ("P31", "P45", "P47", "P50", "P02", "P32", "P52")
REMARKS = 5  # of one check in a section
MOST_NAMED = 4  # candidates in the question
NAMES = 8  # of the places of one remark
# How many sentences are an answer, where the first alone would be a number without its interval.
SENTENCES = {"pragmatic_utility": 2}
WORTH = "utility_difference"  # what decisions are worth comes before how often they are right
FIRST = {"procurement": "candidates", "vigilance": "vigilance"}  # whose answer a kind of report begins with


@dataclass(frozen=True, slots=True)
class Room:
    """How much the page holds: lines, and characters of texts that may have any length.

    What is shortened here is printed whole elsewhere.
    """

    findings: int = 3
    results: int = 4
    criteria: int = 14
    name: int = 40
    short: int = 60
    medium: int = 110
    long: int = 230
    notice: int = 120
    style: str = ""


# The first that fits is taken: as the rest of the report, then smaller, shorter, and less of it.
# A criterion gives way last: before it, further results and findings, which stand in their sections too.
_TIGHT = Room(medium=80, long=190, style="tight")
_SHORT = Room(
    findings=1,
    results=1,
    name=24,
    short=36,
    medium=60,
    long=130,
    notice=60,
    style="tight tighter",
)
ROOMS = (
    Room(),
    _TIGHT,
    replace(_TIGHT, findings=2, results=2),
    replace(_TIGHT, findings=2, results=3, style="tight tighter"),
    replace(_TIGHT, findings=2, results=3, criteria=4),
    replace(_SHORT, criteria=6),
    replace(_SHORT, results=3, criteria=2),
)


MANY = 8  # criteria; more need all the room there is
CROWDED = 6  # findings and criteria; with more the page is never as the rest of the report


def rooms(assessment: Assessment) -> tuple[Room, ...]:
    """The rooms worth trying for an assessment, in their order."""
    if len(assessment.plan.endpoints) > MANY:
        return ROOMS[3:]
    crowded = len(assessment.findings) + len(assessment.plan.endpoints) > CROWDED
    return ROOMS[1:] if crowded else ROOMS


# Nobody lays out what a browser prints: its summary is set small on paper, whole on the screen.
FOR_BROWSERS = Room(style="tight")


@dataclass(frozen=True, slots=True)
class Limit:
    """What one check said, of one or several scopes; `names` is empty where the study has one set only."""

    check: str
    severity: str
    names: tuple[str, ...]
    where: str
    text: str
    cases: float = 0  # that it counts; 0 where it counts none


@dataclass(frozen=True, slots=True)
class KeyResult:
    """A leading result: what it is, where it belongs, and the number with its interval."""

    label: str
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Bounded:
    """The first of a list, and how many more there are."""

    shown: tuple[Any, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All that the page says."""

    style: str
    title: str
    notice: str
    standing: str
    verdict_line: str
    findings: Bounded
    due: Bounded
    results: Bounded
    criteria: Bounded
    criteria_more: str
    limits: Bounded
    limits_more: str
    tested: tuple[tuple[str, str], ...]


def summary(assessment: Assessment, say: Catalogue, room: Room, acceptance_in: str) -> Summary:
    """The summary page of an assessment, in so much room; `acceptance_in` is the chapter of all criteria."""
    plan = assessment.plan
    asked = len(assessment.findings) + len(assessment.unanswered)
    answered = len(assessment.findings)
    every = _criteria(assessment, room, say)
    criteria = _bounded(every, room.criteria)
    said = _by_weight(limits(assessment.fired(), say))
    return Summary(
        style=room.style,
        title=_question(plan, room, say),
        notice=shorten(plan.report.notice or "", room.notice, say),
        standing=(
            say("report.summary.answered", n=answered, asked=asked)
            if answered
            else say("report.summary.answered_none", asked=asked)
        ),
        verdict_line=shorten(acceptance.line(assessment, say), 2 * room.long, say),
        findings=_bounded(
            _leading_sentences(assessment, room, say),
            room.findings,
        ),
        due=_bounded(_due(assessment, room, say), room.results),
        results=_key_results(assessment, room.results, room, say),
        criteria=criteria,
        criteria_more=_further(every[len(criteria.shown) :], acceptance_in, say),
        limits=_strongest(said, room, say),
        limits_more=_further_limits(said[LIMITS:], say),
        tested=tuple(
            (say(f"report.tested.{key}"), shorten(text, room.medium, say))
            for key, text in _tested(assessment, say)
            if text
        ),
    )


def _question(plan: Plan, room: Room, say: Catalogue) -> str:
    """The question of this kind of report, of the device or of the candidates."""
    names = [shorten(one.candidate, room.name, say) for one in plan.candidates]
    if plan.report.kind == "procurement" and 1 < len(names) <= MOST_NAMED:
        return say("report.question.procurement_several", names=names)
    name = shorten(device_name(plan, say), room.short, say)
    return say(f"report.question.{plan.report.kind}", device=name)


def device_name(plan: Plan, say: Catalogue) -> str:
    """Trade name and version, as declared; of several candidates each has a version of its own."""
    device = plan.device
    if not device.trade_name:
        return say("report.this_device")
    if not device.software_version or len(plan.candidates) > 1:
        return device.trade_name
    return say("word.version", name=device.trade_name, version=device.software_version)


def limits(fired: Iterable[CheckOutcome], say: Catalogue) -> list[Limit]:
    """What the checks said, the same words about several scopes said once."""
    places: dict[tuple[str, str, str], list[str]] = {}
    counts: dict[tuple[str, str, str], float] = {}
    fired = list(fired)
    one_set = len({o.scope.get("dataset") for o in fired if o.scope.get("candidate")}) == 1
    for outcome in fired:
        key = (outcome.check, outcome.severity, say(outcome.message))
        found = places.setdefault(key, [])
        n = outcome.message.values.get("n")
        counts[key] = float(n) if isinstance(n, int | float) else 0.0
        where, candidate = scope_name(outcome.scope), str(outcome.scope.get("candidate") or "")
        if candidate:
            where = candidate if one_set else say("word.interval", value=candidate, interval=where)
        if where and where not in found:
            found.append(where)
    return [
        Limit(
            check,
            severity,
            tuple(found),
            _where(found, say),
            text.removesuffix("."),
            counts[check, severity, text],
        )
        for (check, severity, text), found in places.items()
    ]


def listed(said: Sequence[Limit], say: Catalogue) -> list[Limit]:
    """What the checks said, for a section: a check that speaks of many places speaks of the first few."""
    by_check: dict[str, list[Limit]] = {}
    for limit in said:
        by_check.setdefault(limit.check, []).append(limit)
    shown = []
    for check, same in by_check.items():
        shown += same[:REMARKS]
        if len(same) > REMARKS:
            names = [name for limit in same[REMARKS:] for name in limit.names]
            text = say("report.section.further", n=len(same) - REMARKS, names=_first(names, say))
            shown.append(Limit(check, same[0].severity, tuple(names), "", text.removesuffix(".")))
    return shown


def _where(names: Sequence[str], say: Catalogue) -> str:
    return say("report.section.where", names=_first(names, say)) if names else ""


def _first(names: Sequence[str], say: Catalogue) -> list[str]:
    """The first names, and how many more there are as the last."""
    if len(names) <= NAMES + 1:
        return list(names)
    return [*names[:NAMES], say("word.more", n=len(names) - NAMES)]


def scope_name(scope: Any) -> str:
    """The set, task, data set or group that a scope names."""
    keys = ("set", "task", "dataset", "site", "subgroup", "period")
    return str(next((scope[key] for key in keys if scope.get(key)), ""))


def _by_weight(said: Sequence[Limit]) -> list[list[Limit]]:
    """The remarks of each check together, the check that weighs most first, in each what counts most cases.

    What harms comes first, then by severity, by what it means for use elsewhere, and by how many places.
    """
    by_check: dict[str, list[Limit]] = {}
    for limit in said:
        by_check.setdefault(limit.check, []).append(limit)

    def weight(own: list[Limit]) -> tuple[Any, ...]:
        check, severity = own[0].check, min(map("BWN".index, (one.severity for one in own)))
        places = len({name for one in own for name in one.names})
        return check not in HARM, severity, check not in ELSEWHERE, -places, -max(one.cases for one in own)

    inner = [
        sorted(own, key=lambda one: ("BWN".index(one.severity), -one.cases)) for own in by_check.values()
    ]
    return sorted(inner, key=weight)


def _strongest(by_check: Sequence[list[Limit]], room: Room, say: Catalogue) -> Bounded:
    """The first remark of each check: the same pitfall in four sets is one limit, of the worst."""
    shown = []
    for same in by_check[:LIMITS]:
        names = list(dict.fromkeys(name for limit in same for name in limit.names))
        where = shorten(same[0].names[0], room.name, say) if same[0].names else ""
        if where and len(names) > 1:
            where = say("report.section.where_more", name=where, n=len(names) - 1)
        text = shorten(same[0].text, room.long - len(where), say).removesuffix(".")
        shown.append(Limit(same[0].check, same[0].severity, tuple(names), where, text))
    return Bounded(tuple(shown), max(len(by_check) - LIMITS, 0))


def _further_limits(by_check: Sequence[list[Limit]], say: Catalogue) -> str:
    """How many checks found something that the page has no room for, by how they weigh; empty for none."""
    if not by_check:
        return ""
    words = [own[0].severity for own in by_check]
    counts = [say(f"report.summary.limits_{word}", n=words.count(word)) for word in "BWN" if word in words]
    return say("report.summary.limits_more", n=len(words), counts=counts)


def _bounded(items: Sequence[Any], most: int) -> Bounded:
    return Bounded(tuple(items[:most]), max(len(items) - most, 0))


def _leading_sentences(assessment: Assessment, room: Room, say: Catalogue) -> list[str]:
    """The answer of each finding in a sentence or two; first those of what the report asks above all."""
    found = []
    for finding in _in_order(assessment):
        if finding.dimension == FIRST.get(assessment.plan.report.kind):
            texts = asked.sentences(finding, assessment, say)
            found += [shorten(text, (1 if i else 3) * room.long, say) for i, text in enumerate(texts)]
            continue
        part = next((part for part in finding.parts if part.finding), None)
        if part:
            own = part.finding[: SENTENCES.get(finding.dimension, 1)]
            text = " ".join(say(one) for one in own)
            if part.title:
                name = shorten(say(part.title), room.name, say)
                text = say("report.section.of_part", part=name, sentence=text)
            found.append(shorten(text, len(own) * room.long, say))
    return found


def _due(assessment: Assessment, room: Room, say: Catalogue) -> list[asked.Due]:
    """What is due, where the report asks that above all."""
    if assessment.plan.report.kind != "vigilance":
        return []
    rows = [one for f in assessment.findings if f.dimension == "vigilance" for one in asked.due(f, say)]
    return [
        replace(one, what=shorten(one.what, room.medium, say), owner=shorten(one.owner, room.name, say))
        for one in rows
    ]


def _in_order(assessment: Assessment) -> list[Finding]:
    """The findings, those first that the report asks above all."""
    order = {name: i for i, name in enumerate(dict.fromkeys(_asked_first(assessment.plan)))}
    return sorted(assessment.findings, key=lambda f: order.get(f.dimension, len(order)))


def _asked_first(plan: Plan) -> Iterator[str]:
    """The dimension that this kind of report begins with, then those of the criteria, primary ones first."""
    yield FIRST.get(plan.report.kind, "")
    for criterion in sorted(plan.endpoints, key=lambda e: e.role != "primary"):
        yield (criterion.measure or "").split(".")[0]


def _key_results(assessment: Assessment, most: int, room: Room, say: Catalogue) -> Bounded:
    """Rows that lead, every part's first before its second; one that leads alone brings what it rests on."""
    found: list[tuple[int, int, str, Row]] = []
    for finding in _in_order(assessment):
        if finding.dimension == FIRST.get(assessment.plan.report.kind):
            for row in asked.change_rows(finding, assessment.plan):
                found.append((-1, len(found), str(row.result.scope.get("candidate") or ""), row))
        several = len(finding.parts) > 1
        for part in finding.parts:
            where = say(part.title) if several and part.title else ""
            rows = [row for t in part.tables if isinstance(t, EstimateTable) for row in t.rows]
            for i, row in enumerate(row for row in rows if row.leads):
                found.append((-1 if row.result.name == WORTH else i, len(found), where, row))
    if len(found) == 1:
        rows = [
            row
            for finding in assessment.findings
            for part in finding.parts
            for t in part.tables
            if isinstance(t, EstimateTable)
            for row in t.rows
        ]
        found += [(1, i, "", row) for i, row in enumerate(rows, 1) if row.result.primary and not row.leads]
    told: dict[tuple[str, str], tuple[int, int, str, Row]] = {}
    for item in sorted(found, key=lambda item: item[:2]):
        # A risk reduction and the change in accuracy may be one number: it is shown once.
        told.setdefault((item[2], in_words(item[3].result, say)), item)
    chosen = sorted(list(told.values())[:most], key=lambda item: (item[0] >= 0, item[1]))
    places = common_places(row.result for *_, row in chosen)
    shown = tuple(
        KeyResult(
            shorten(say(row.label), room.short, say),
            shorten(where, room.name, say),
            shorten(in_words(row.result, say, places[row.result.unit]), room.medium, say),
        )
        for *_, where, row in chosen
    )
    return Bounded(shown, len(found) - len(shown))


def _criteria(assessment: Assessment, room: Room, say: Catalogue) -> list[acceptance.Held]:
    """The criteria by their role, in each the worst verdict first."""
    order = {v.criterion.endpoint: WORDS.index(v.word) for v in assessment.verdicts}
    rows = sorted(
        acceptance.held(assessment, say),
        key=lambda row: (ROLES.index(row.role), order.get(row.name, len(WORDS))),
    )
    return [replace(row, name=shorten(row.name, room.short, say)) for row in rows]


def _further(rows: Sequence[acceptance.Held], chapter: str, say: Catalogue) -> str:
    """How many criteria were left out for want of room, with which verdicts; empty where none were."""
    if not rows:
        return ""
    words = [row.word for row in rows]
    counts = [say("word.share_of_words", n=words.count(word), word=word) for word in dict.fromkeys(words)]
    return say("report.summary.criteria_more", n=len(rows), counts=counts, chapter=chapter)


# ---------------------------------------------------------------- what was tested


def _tested(assessment: Assessment, say: Catalogue) -> list[tuple[str, str]]:
    study, plan = assessment.study, assessment.plan
    return [
        ("device", _device(plan, say)),
        ("readers", _counted(study, "readers", say)),
        ("cases", _counted(study, "cases", say)),
        ("arms", _arms(study, plan)),
        ("design", _design(plan, say)),
        ("datasets", _datasets(study, say)),
        ("reference", _reference(plan, say)),
        ("locked", day(plan.study.sap_locked_at) if plan.study.sap_locked_at else say("word.not_declared")),
    ]


def _device(plan: Plan, say: Catalogue) -> str:
    name = device_name(plan, say) if plan.device.trade_name else say("word.not_declared")
    threshold = plan.operating_point.threshold
    if threshold is None:
        return name
    return say("report.tested.device_threshold", device=name, threshold=say.numbers.fixed(threshold))


def _counted(study: Study, what: str, say: Catalogue) -> str:
    """Readers or cases of each task and of each published set, as far as they are known."""
    found: list[tuple[str, str]] = []
    for readings in study.readings:
        if what == "readers":
            text = say("report.tested.n_readers", n=len(readings.readers))
        else:
            positive = int((readings.cases.truth > 0).sum())
            text = say("report.tested.n_cases_positive", n=len(readings.cases), positive=positive)
        found.append((text, readings.task))
    for group in (study.counts, study.paired_counts, study.confusion):
        for one in group:
            n = getattr(one, what, None)
            name = str(getattr(one, "set", None) or getattr(one, "name", ""))
            text = say(f"report.tested.n_{what}", n=n) if n is not None else say("word.not_declared")
            found.append((text, name))
    texts = list(dict.fromkeys(text for text, _ in found))
    if len(texts) <= 1:
        return texts[0] if texts else ""
    items = [say("report.tested.in_set", text=text, set=name) for text, name in found]
    return say("report.tested.list", items=items)


def _arms(study: Study, plan: Plan) -> str:
    labels = {arm.arm: arm.label or arm.arm for arm in plan.arms}
    return ", ".join(labels.get(name, name) for name in study.arms)


def _design(plan: Plan, say: Catalogue) -> str:
    given = [text for text in (plan.study.design, plan.reading.design) if text]
    return ", ".join(dict.fromkeys(given)) or say("word.not_declared")


def _datasets(study: Study, say: Catalogue) -> str:
    sets = len(study.counts) + len(study.paired_counts) + len(study.confusion) + len(study.reliance_counts)
    parts = []
    if study.datasets:
        parts.append(say("report.tested.n_datasets", n=len(study.datasets)))
    if sets:
        parts.append(say("report.tested.n_sets", n=sets))
    return ", ".join(parts)


def _reference(plan: Plan, say: Catalogue) -> str:
    given = [text for text in (plan.reference_standard.type, plan.reference_standard.definition) if text]
    return ": ".join(given) or say("word.not_declared")
