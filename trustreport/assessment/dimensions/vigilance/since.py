"""Since the last audit: what is new, closed, worse or better, and when everything happened."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal

from trustreport.assessment.dimensions.vigilance.charts import Charted
from trustreport.assessment.dimensions.vigilance.entries import OF_READINGS, endpoints, indicator_of
from trustreport.assessment.dimensions.vigilance.events import CLOSED
from trustreport.assessment.dimensions.vigilance.milestones import tracks
from trustreport.assessment.dimensions.vigilance.periods import ID, Period
from trustreport.assessment.dimensions.vigilance.view import MonitoringView
from trustreport.assessment.finding import Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import heading, numbers
from trustreport.figures import monitoring as figure
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.quantities import endpoint_row

ELEMENT = "since"
COLUMN = f"{ID}.column"
Moved = Literal["worse", "better", "changed"]
State = Moved | Literal["unchanged", "unknown"]
Standing = Literal["new", "closed", "open"]
CHANGED: tuple[Moved, ...] = ("worse", "better", "changed")


@dataclass(frozen=True, slots=True)
class IndicatorChange:
    """An indicator in this period, the one before and the baseline, and what its changes show."""

    endpoint: str
    baseline: Estimate
    previous: Estimate
    now: Estimate
    since_previous: Estimate
    since_baseline: Estimate
    against_previous: State
    against_baseline: State


@dataclass(frozen=True, slots=True)
class RegisterEntry:
    """An alert, signal, incident or complaint: when it came, and whether it is new, open or closed."""

    what: Message | str
    kind: str
    day: dt.date | None
    standing: Standing


def since(view: MonitoringView) -> Part:
    """What changed against the period before and the baseline; new, open and closed entries; the timeline."""
    last = view.timeline.last
    title = say(f"{ID}.title_since")
    if last is None:
        return Part((say(f"{ID}.no_cases"),), title, place=view.timeline.place, element=ELEMENT)
    rows, entries = compared(view, last), entries_of(view, last)
    previous = view.timeline.before(view.timeline.periods.index(last))
    return Part(
        tuple(_sentences(view, rows, entries, last, previous)),
        title,
        tuple(_tables(view, rows, entries, last, previous)),
        tuple(_figure(view)),
        view.timeline.place,
        ELEMENT,
    )


# ---------------------------------------------------------------- indicators


def compared(view: MonitoringView, last: Period) -> list[IndicatorChange]:
    """The declared indicators, else the first two measures."""
    followed = [e for e in endpoints(view.plan) if e not in OF_READINGS]
    declared = [e for e in followed if indicator_of(e, view.plan)]
    return [_compared(view, last, endpoint) for endpoint in declared or followed[:2]]


def _compared(view: MonitoringView, last: Period, endpoint: str) -> IndicatorChange:
    timeline = view.timeline
    before = timeline.before(timeline.periods.index(last))
    none = Estimate(nan, nan, nan, 0)
    since_previous, since_baseline = (view.change(last, endpoint, a) for a in ("previous", "baseline"))
    return IndicatorChange(
        endpoint,
        view.value(timeline.baseline, endpoint) if timeline.baseline else none,
        view.value(before, endpoint) if before else none,
        view.value(last, endpoint),
        since_previous,
        since_baseline,
        state(since_previous, endpoint, view.plan),
        state(since_baseline, endpoint, view.plan),
    )


def state(change: Estimate, endpoint: str, plan: Plan) -> State:
    """What the interval of a change shows, by the side on which the indicator is worse."""
    row = endpoint_row(endpoint).change()
    none = row.no_effect or 0.0
    if isnan(change.low) or isnan(change.high):
        return "unknown"
    if change.low <= none <= change.high:
        return "unchanged"
    declared = indicator_of(endpoint, plan)
    better = row.better
    if declared and declared.in_control is not None and declared.to_detect is not None:
        better = "up" if declared.to_detect < declared.in_control else "down"
    if better not in ("up", "down"):
        return "changed"
    return "better" if (change.value > none) == (better == "up") else "worse"


# ---------------------------------------------------------------- alerts, signals, incidents


def entries_of(view: MonitoringView, last: Period) -> list[RegisterEntry]:
    """Every entry that is new in this period, was closed in it, or is still open."""
    first = _first_day(view.plan, last)
    found = [*_alerts(view.charts, view.plan, first), *_registered(view.plan, first)]
    order = {"new": 0, "open": 1, "closed": 2}
    return sorted(found, key=lambda e: (order[e.standing], e.day or dt.date.max))


def _first_day(plan: Plan, last: Period) -> dt.date | None:
    declared = plan.vigilance.period_start if plan.vigilance else None
    return declared or last.start


def _is_new(day: dt.date | None, first: dt.date | None) -> bool:
    return day is not None and first is not None and day >= first


def _alerts(charts: Sequence[Charted], plan: Plan, first: dt.date | None) -> Iterator[RegisterEntry]:
    """The first alert of each chart: open until a signal on its indicator is closed."""
    for chart in charts:
        if chart.alert is None:
            continue
        name = say("word.interval", value=heading(chart.endpoint), interval=say(f"{ID}.chart.{chart.kind}"))
        named = [s for s in plan.signals if (s.indicator or "").rpartition(".")[2] == chart.endpoint]
        ended = [s.closed for s in named if s.closed]
        over = bool(named) and len(ended) == len(named)
        if over and not _is_new(max(ended), first):
            continue
        standing: Standing = "closed" if over else "new" if _is_new(chart.alert_day, first) else "open"
        yield RegisterEntry(name, "alert", chart.alert_day, standing)


def _registered(plan: Plan, first: dt.date | None) -> Iterator[RegisterEntry]:
    for signal in plan.signals:
        if signal.closed and not _is_new(signal.closed, first):
            continue
        what: Message | str = signal.signal
        if signal.description:
            what = say("word.named", label=signal.signal, name=signal.description)
        new = _is_new(signal.detected, first)
        standing: Standing = "closed" if signal.closed else "new" if new else "open"
        yield RegisterEntry(what, "signal", signal.detected, standing)
    for one in plan.incidents:
        closed = (one.status or "").strip().casefold() in CLOSED
        day = one.event_date or one.awareness_date
        new = _is_new(one.awareness_date or day, first)
        if closed and not new:
            continue
        of = say("word.interval", value=one.incident, interval=one.seriousness or say("word.not_declared"))
        yield RegisterEntry(of, one.kind, day, "closed" if closed else "new" if new else "open")


# ---------------------------------------------------------------- sentences and tables


def _sentences(
    view: MonitoringView,
    rows: Sequence[IndicatorChange],
    entries: Sequence[RegisterEntry],
    last: Period,
    previous: Period | None,
) -> Iterator[Message]:
    if view.timeline.baseline is not None:
        said = [_moved(r, how, r.since_baseline, last, None, r.baseline) for how, r in _by(rows, "baseline")]
        yield from said
        if not said and any(r.against_baseline == "unchanged" for r in rows):
            yield say(f"{ID}.since.none_baseline", period=last.name)
    if previous is not None:
        moved = _by(rows, "previous")
        said = [_moved(r, how, r.since_previous, last, previous, r.previous) for how, r in moved]
        yield from said
        if not said and any(r.against_previous == "unchanged" for r in rows):
            yield say(f"{ID}.since.none_previous", period=last.name, previous=previous.name)
    for standing in ("new", "closed", "open"):
        names = [_short(e) for e in entries if e.standing == standing]
        if names:
            yield say(f"{ID}.since.{standing}", names=names)


def _by(
    rows: Sequence[IndicatorChange], against: Literal["baseline", "previous"]
) -> list[tuple[Moved, IndicatorChange]]:
    """The indicators that moved, what became worse first."""
    return [(how, r) for how in CHANGED for r in rows if getattr(r, f"against_{against}") == how]


def _unit(one: IndicatorChange) -> str:
    share = endpoint_row(one.endpoint).written == "proportion"
    return "share" if share else "ratio" if endpoint_row(one.endpoint).scale == "log" else "number"


def _moved(
    one: IndicatorChange, how: Moved, change: Estimate, last: Period, other: Period | None, before: Estimate
) -> Message:
    """What changed by how much; since the baseline where no other period is given."""
    then = say(f"{ID}.since.in_period", period=other.name) if other else say(f"{ID}.since.at_baseline")
    return say(
        f"{ID}.since.{how}_{_unit(one)}",
        name=heading(one.endpoint),
        period=last.name,
        other=then,
        before=before.value,
        now=one.now.value,
        **numbers(change),
    )


def _short(entry: RegisterEntry) -> Message:
    return say(f"{ID}.since.entry_{entry.kind}", what=entry.what)


def _tables(
    view: MonitoringView,
    rows: Sequence[IndicatorChange],
    entries: Sequence[RegisterEntry],
    last: Period,
    previous: Period | None,
) -> Iterator[PlainTable]:
    level = view.plan.report.confidence_level
    yield table(
        f"since_indicators{view.suffix}",
        say(f"{ID}.table.since", period=last.name, previous=previous.name if previous else None, level=level),
        rows,
        [
            (f"{COLUMN}.indicator", lambda r: heading(r.endpoint)),
            (f"{COLUMN}.baseline", lambda r: _known(r.baseline), "number"),
            (f"{COLUMN}.previous", lambda r: _known(r.previous), "number"),
            (f"{COLUMN}.now", lambda r: _known(r.now), "number"),
            (f"{COLUMN}.since_previous", lambda r: _known(r.since_previous), "number"),
            (f"{COLUMN}.since_baseline", lambda r: _known(r.since_baseline), "number"),
            (f"{COLUMN}.standing_baseline", lambda r: say(f"{ID}.since.state.{r.against_baseline}")),
        ],
    )
    if entries:
        yield table(
            f"since_entries{view.suffix}",
            say(f"{ID}.table.since_entries", period=last.name),
            entries,
            [
                (f"{COLUMN}.standing", lambda e: say(f"{ID}.since.standing.{e.standing}")),
                (f"{COLUMN}.what", _short),
                (f"{COLUMN}.happened", lambda e: say("word.on", day=e.day) if e.day else None),
            ],
        )


def _known(e: Estimate) -> Estimate | None:
    return None if isnan(e.value) else e


# ---------------------------------------------------------------- the timeline


def _figure(view: MonitoringView) -> Iterator[Figure]:
    """Everything that happened, above the first charted indicator that is known by period."""
    timeline, plan = view.timeline, view.plan
    dated = [p for p in timeline.periods if p.start and p.end]
    drawn = tracks(timeline, view.charts, plan) if len(dated) == len(timeline.periods) else []
    endpoint = next(
        (e for e in endpoints(plan) if any(not isnan(view.value(p, e).value) for p in dated)), None
    )
    if not drawn or endpoint is None:
        return
    declared = indicator_of(endpoint, plan)
    in_control, to_detect = (declared.in_control, declared.to_detect) if declared else (None, None)
    base = timeline.baseline
    yield Figure(
        f"since_timeline{view.suffix}",
        figure.EventTimeline(
            tuple(drawn),
            heading(endpoint),
            tuple(
                figure.TimelinePeriod(p.name, p.start, p.end, view.value(p, endpoint))
                for p in dated
                if p.start and p.end
            ),
            view.value(base, endpoint) if base is not None and len(base) else None,
            nan if in_control is None else in_control,
            nan if to_detect is None else to_detect,
            percent=endpoint_row(endpoint).written == "proportion",
        ),
        say(f"{ID}.figure.timeline", name=heading(endpoint), level=plan.report.confidence_level),
        say(f"{ID}.figure.timeline_alt", name=heading(endpoint), n=sum(len(lane.marks) for lane in drawn)),
    )
