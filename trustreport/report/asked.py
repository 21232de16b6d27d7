"""What each kind of report is asked above all, for its summary page: sentences, results, and what is due."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite

from trustreport.assessment import Assessment
from trustreport.dimensions.vigilance.events import CLOSED
from trustreport.finding import Finding, PlainTable, Row
from trustreport.messages import Catalogue, Message
from trustreport.messages import say as message
from trustreport.narrative.names import endpoint_name, heading
from trustreport.plan import Plan
from trustreport.results import Result

STATUS, DUE = "vigilance.title_status", "vigilance_due"
CHANGE = "vigilance.period_change"
CLAIMED = "E34"
DEFAULT_ENDPOINTS = 2  # where no indicator is declared


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is due: when, what, whose; `late` is empty where it is not."""

    day: str
    what: str
    owner: str
    late: str


def sentences(finding: Finding, assessment: Assessment, say: Catalogue) -> list[str]:
    """What the dimension says that a kind of report begins with; the part named where there are several."""
    of = SENTENCES.get(finding.dimension)
    return [] if of is None else list(of(finding, assessment.plan, say))


def _of_candidates(finding: Finding, plan: Plan, say: Catalogue) -> Iterator[str]:
    """What was claimed against what was seen, then how the candidates stand to each other."""
    del plan
    own = [part for part in finding.parts if part.finding]
    for part in [p for p in own if p.element == CLAIMED] + [p for p in own if not p.element]:
        text = " ".join(say(one) for one in part.finding)
        yield say("report.section.of_part", part=say(part.title), sentence=text) if part.title else text


def _of_vigilance(finding: Finding, plan: Plan, say: Catalogue) -> Iterator[str]:
    """Alerts, signals and what is late; what has changed; which events of the log are not closed."""
    for part in finding.parts:
        if part.title is not None and part.title.key == STATUS:
            yield " ".join(say(one) for one in part.finding)
    yield from _changed(finding, plan, say)
    left = [i for i in plan.incidents if (i.status or "").strip().casefold() not in CLOSED]
    names = [
        say("word.interval", value=i.incident, interval=i.seriousness or say("word.not_declared"))
        for i in left
    ]
    if names:
        yield say("report.summary.events_open", n=len(names), names=names)


def _changed(finding: Finding, plan: Plan, say: Catalogue) -> Iterator[str]:
    by_period: dict[tuple[str, str], list[Result]] = {}
    for r in latest_changes(finding, plan):
        by_period.setdefault((r.place.candidate or "", r.place.period or ""), []).append(r)
    for (candidate, period), found in by_period.items():
        where = say("word.interval", value=period, interval=candidate) if candidate else period
        apart = [r for r in found if _apart(r)]
        names = [say(endpoint_name(r.endpoint)) for r in apart]
        if names:
            yield say("report.summary.changed", names=names, period=where, n=len(names))
        else:
            yield say("report.summary.unchanged", period=where)


def latest_changes(finding: Finding, plan: Plan) -> list[Result]:
    """The changes since the baseline in the latest period that has any, of the declared indicators."""
    if finding.dimension != "vigilance":
        return []
    every = [r for r in finding.results if r.id == CHANGE and r.parameters.get("against") == "baseline"]
    order = list(dict.fromkeys(r.place.period for r in every))
    known = [r for r in every if isfinite(r.estimate.value)]
    last: dict[str | None, int] = {}
    for r in known:
        at = r.place
        last[at.candidate] = max(last.get(at.candidate, 0), order.index(at.period))
    endpoints = list(dict.fromkeys(r.endpoint for r in every))
    indicators = (plan.vigilance and plan.vigilance.indicators) or ()
    declared = {(i.measure or "").rpartition(".")[2] for i in indicators}
    wanted = [e for e in endpoints if e in declared] or endpoints[:DEFAULT_ENDPOINTS]
    return [
        r for r in known if r.endpoint in wanted and order.index(r.place.period) == last[r.place.candidate]
    ]


def change_rows(finding: Finding, plan: Plan) -> list[Row]:
    """The same, as rows of a table."""
    return [
        Row(
            message("report.summary.change", name=heading(r.endpoint), period=r.place.period),
            r,
            leads=True,
        )
        for r in latest_changes(finding, plan)
    ]


def _apart(r: Result) -> bool:
    """Whether the whole interval lies on one side of no change; not, without an interval."""
    none = r.quantity.no_effect or 0.0
    return r.estimate.low > none or r.estimate.high < none


def due(finding: Finding, say: Catalogue) -> list[Due]:
    """What the part on where things stand says is due."""
    found = []
    for part in finding.parts:
        for table in part.tables:
            if isinstance(table, PlainTable) and table.id.startswith(DUE):
                found += [Due(*(_text(cell, say) for cell in row)) for row in table.rows]
    return found


def _text(cell: Message | str | None, say: Catalogue) -> str:
    return say(cell) if isinstance(cell, Message) else cell or ""


SENTENCES: Mapping[str, Callable[[Finding, Plan, Catalogue], Iterator[str]]] = {
    "candidates": _of_candidates,
    "vigilance": _of_vigilance,
}
