"""Since the last audit: what is new, closed, worse or better, and when everything happened."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Literal

from trustreport.assessment.dimensions.vigilance.charts import Charted
from trustreport.assessment.dimensions.vigilance.events import named
from trustreport.assessment.dimensions.vigilance.periods import ID, Period, Timeline
from trustreport.assessment.dimensions.vigilance.results import endpoints, indicator_of
from trustreport.assessment.dimensions.vigilance.view import MonitoringView, changes
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts, heading, on_day
from trustreport.figures import monitoring as figure
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result

ELEMENT = "since"
Moved = Literal["worse", "better", "changed"]
State = Moved | Literal["unchanged", "unknown"]
Standing = Literal["new", "closed", "open"]
CHANGED: tuple[Moved, ...] = ("worse", "better", "changed")

text = Texts(ID)


@dataclass(frozen=True, slots=True)
class IndicatorChange:
    """An indicator in this period, the one before and the baseline, and what its changes show."""

    endpoint: str
    values: Mapping[str, Result | None]
    changes: Mapping[str, Result | None]
    states: Mapping[str, State]


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
    items = _since(view, last) if last is not None else [text("no_cases")]
    return text.part(items, text("title_since"), view.place, ELEMENT)


def compared(view: MonitoringView, last: Period) -> list[IndicatorChange]:
    """The declared indicators, else the first two measures."""
    followed = endpoints(view.plan)
    declared = [e for e in followed if indicator_of(e, view.plan)]
    return [_compared(view, last, endpoint) for endpoint in declared or followed[:2]]


def _compared(view: MonitoringView, last: Period, endpoint: str) -> IndicatorChange:
    timeline = view.timeline
    before = timeline.before(timeline.periods.index(last))
    periods = {"baseline": timeline.baseline, "previous": before, "now": last}
    values = {name: view.value_result(p, endpoint) if p else None for name, p in periods.items()}
    against = ("previous", "baseline")
    changes = {then: view.change_result(last, endpoint, then) for then in against}
    states = {then: state(view.change(last, endpoint, then), endpoint, view.plan) for then in against}
    return IndicatorChange(endpoint, values, changes, states)


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
        name = say("word.interval", value=chart.name, interval=chart.type)
        signals = named(plan.signals, chart.endpoint)
        ended = [s.closed for s in signals if s.closed]
        over = bool(signals) and len(ended) == len(signals)
        if over and not _is_new(max(ended), first):
            continue
        standing: Standing = "closed" if over else "new" if _is_new(chart.known, first) else "open"
        yield RegisterEntry(name, "alert", chart.known, standing)


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
        day = one.event_date or one.awareness_date
        new = _is_new(one.awareness_date or day, first)
        if one.is_closed and not new:
            continue
        declared = one.seriousness
        serious = say("word.as_declared", value=declared) if declared else say("word.not_declared")
        of = say("word.interval", value=one.incident, interval=serious)
        yield RegisterEntry(of, one.kind, day, "closed" if one.is_closed else "new" if new else "open")


def _since(view: MonitoringView, last: Period) -> Iterator[Item]:
    rows, entries = compared(view, last), entries_of(view, last)
    before = view.timeline.before(view.timeline.periods.index(last))
    names = {"period": last.name, "previous": before.name if before else None}
    thens = {}
    if view.timeline.baseline is not None:
        thens["baseline"] = text("since.at_baseline")
    if before is not None:
        thens["previous"] = text("since.in_period", period=before.name)
    for against, then in thens.items():
        # What became worse comes first.
        moved = [r for how in CHANGED for r in rows if r.states[against] == how]
        for one in moved:
            yield _moved(one, against, other=then, period=last.name)
        if not moved and any(r.states[against] == "unchanged" for r in rows):
            yield text(f"since.none_{against}", **names)
    for standing in ("new", "closed", "open"):
        items = [_short(e) for e in entries if e.standing == standing]
        if items:
            yield text(f"since.{standing}", names=items)
    yield text.table(
        f"since_indicators{view.suffix}",
        text("table.since", level=view.level, **names),
        ".indicator .baseline:number .previous:number .now:number .since_previous:number"
        " .since_baseline:number .standing_baseline",
        [
            (
                heading(r.endpoint),
                *r.values.values(),
                *r.changes.values(),
                text(f"since.state.{r.states['baseline']}"),
            )
            for r in rows
        ],
    )
    if entries:
        yield text.table(
            f"since_entries{view.suffix}",
            text("table.since_entries", period=last.name),
            ".standing .what .happened",
            [(text(f"since.standing.{e.standing}"), _short(e), on_day(e.day)) for e in entries],
        )
    yield from _figure(view)


def _moved(one: IndicatorChange, against: str, **of: Message | str) -> Message:
    """What changed by how much."""
    row = endpoint_row(one.endpoint)
    unit = "share" if row.written == "proportion" else "ratio" if row.scale == "log" else "number"
    known = one.changes[against], one.values[against], one.values["now"]
    change, before, now = (r.estimate for r in known if r is not None)
    values = {"name": heading(one.endpoint), "before": before.value, "now": now.value}
    return text(f"since.{one.states[against]}_{unit}", change, **values, **of)


def _short(entry: RegisterEntry) -> Message:
    return text(f"since.entry_{entry.kind}", what=entry.what)


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
    declared, base = indicator_of(endpoint, plan), timeline.baseline
    rates = (declared.in_control, declared.to_detect) if declared else (None, None)
    in_control, to_detect = (nan if rate is None else rate for rate in rates)
    drawing = figure.EventTimeline(
        tuple(drawn),
        heading(endpoint),
        tuple(
            figure.TimelinePeriod(p.name, p.start, p.end, view.value(p, endpoint))
            for p in dated
            if p.start and p.end
        ),
        view.value(base, endpoint) if base is not None and len(base) else None,
        in_control,
        to_detect,
        endpoint_row(endpoint).written == "proportion",
    )
    marks = sum(len(lane.marks) for lane in drawn)
    values: dict[str, Any] = {"name": heading(endpoint), "level": view.level, "n": marks}
    yield text.figure(f"since_timeline{view.suffix}", drawing, "timeline", **values)


def tracks(timeline: Timeline, charts: Sequence[Charted], plan: Plan) -> list[figure.TimelineTrack]:
    """Everything that has a day within the periods or after them, by kind."""
    start = min((p.start for p in timeline.periods if p.start), default=None)
    if start is None:
        return []
    by_column: dict[str, list[figure.TimelineMark]] = {}
    for change in changes(timeline, plan):
        kind: Any = change.column if change.column in ("version", "threshold") else "group"
        by_column.setdefault(change.column, []).append(figure.TimelineMark(change.day, change.name, kind))
    every = [(_track_name(column), marks) for column, marks in by_column.items()]
    every += [
        (text("lane.alert"), list(_alert_marks(charts))),
        (text("lane.signal"), list(_signal_marks(plan))),
        (text("lane.incident"), list(_incident_marks(plan))),
    ]
    found = [(name, tuple(m for m in marks if m.day >= start)) for name, marks in every]
    return [figure.TimelineTrack(name, marks) for name, marks in found if marks]


def _track_name(column: str) -> Message:
    if column in ("version", "threshold", "site"):
        return text(f"lane.{column}")
    return say("word.heading", text=column.replace("_", " "))


def _alert_marks(charts: Sequence[Charted]) -> Iterator[figure.TimelineMark]:
    for chart in charts:
        if chart.known is not None:
            yield figure.TimelineMark(chart.known, chart.title, "alert")


def _signal_marks(plan: Plan) -> Iterator[figure.TimelineMark]:
    for signal in plan.signals:
        if signal.detected:
            yield figure.TimelineMark(signal.detected, signal.signal, "signal")
        if signal.closed:
            yield figure.TimelineMark(signal.closed, text("mark.closed", name=signal.signal), "closed")


def _incident_marks(plan: Plan) -> Iterator[figure.TimelineMark]:
    for one in plan.incidents:
        day = one.event_date or one.awareness_date
        if day is not None:
            yield figure.TimelineMark(day, one.incident, one.kind)
