"""Incidents, complaints and signals: sentences and tables."""

import datetime as dt
from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.vigilance.events import (
    KINDS,
    day_of_report,
    days_between,
    is_open,
    late_signals,
    outside,
    stage,
)
from trustreport.assessment.dimensions.vigilance.periods import ID
from trustreport.assessment.dimensions.vigilance.view import MonitoringView
from trustreport.assessment.finding import Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, heading, on_day
from trustreport.study.plan import Incident, Signal
from trustreport.vocabulary.digits import per
from trustreport.vocabulary.messages import Message, say

PER = 1000

text = Texts(ID)


def events(view: MonitoringView) -> Part:
    """Incidents and complaints with their rates per case processed, and the log."""
    return text.part(_events(view), text("title_events"), view.place, "E42")


def _events(view: MonitoringView) -> Iterator[Item]:
    if "incidents" not in view.plan.model_fields_set:
        yield text("events.no_log")
    cases, processed = (sum(getattr(use, key) for use in view.uses) for key in ("cases", "processed"))
    if processed < cases:
        yield text("exposure", n=len(view.uses), cases=cases, processed=processed)
    for kind in KINDS:
        e = view.estimate("event_rate", period=None, parameters={"kind": kind})
        name = text(f"events.{kind}s")
        if isnan(e.value):
            yield text("events.undefined", name=name, reason=e.note)
        elif e.value == 0:
            yield text("events.zero", name=name, cases=e.n, high=per(e, PER).high, level=e.level)
        else:
            count = text(f"events.n_{kind}s", n=round(e.value * e.n))
            yield text("events.rate", per(e, PER), events=count, cases=e.n)
    left = outside(view.plan, view.timeline)
    if left:
        yield text("events.outside", n=left)
    yield _rate_table(view)
    if view.plan.incidents:
        yield text.table(
            f"vigilance_log{view.suffix}",
            text("table.log"),
            ".event .happened .description .seriousness:declared .causality:declared .status:declared",
            [
                (
                    i.incident,
                    on_day(i.event_date),
                    _described(i.description, i.imdrf_codes),
                    i.seriousness,
                    i.causality,
                    i.status,
                )
                for i in view.plan.incidents
            ],
        )
        yield text.table(
            f"vigilance_clock{view.suffix}",
            text("table.clock"),
            ".event .aware .report_by .reported .days_to_report:count"
            " .reported_to:declared .corrective:declared .state",
            [(*_clock(i), _state(i, day_of_report(view.plan, view.timeline))) for i in view.plan.incidents],
        )


def _clock(i: Incident) -> tuple[Any, ...]:
    """When an entry was known, until when it was to be reported, when, to whom, and what followed."""
    days = (i.awareness_date, i.report_by, i.report_date)
    taken = days_between(i.awareness_date, i.report_date)
    return i.incident, *map(on_day, days), taken, i.reported_to, i.capa_id


def _state(i: Incident, today: dt.date | None) -> Message | None:
    """Whether the report to the authority was in time; None where none is due."""
    if i.report_by is None:
        return None
    if i.report_date is not None:
        return text("clock.in_time" if i.report_date <= i.report_by else "clock.late")
    return text("clock.waiting" if today is None or today <= i.report_by else "clock.overdue")


def _rate_table(view: MonitoringView) -> PlainTable:
    up_to = [text.column("up_to", "number.1", kind=text(f"events.{kind}s")) for kind in KINDS]
    rows = []
    for period, use in zip(view.timeline.periods, view.uses, strict=True):
        row = [view.numbered(period), use.processed]
        for kind in KINDS:
            e = view.estimate("event_rate", period=period.name, parameters={"kind": kind})
            row += [None if isnan(e.value) else round(e.value * e.n), PER * e.high]
        rows.append(row)
    return text.table(
        f"vigilance_rates{view.suffix}",
        text("table.rates", level=view.level),
        (".period .processed:count .incidents:count", up_to[0], ".complaints:count", up_to[1]),
        rows,
    )


def _described(what: str | None, codes: Sequence[str] | None) -> Any:
    listed = text("listed", items=list(codes)) if codes else None
    return say("word.interval", value=what, interval=listed) if listed and what else what or listed


def signals(view: MonitoringView) -> Part:
    """The signal register: how far each has come, what else may explain it, who decides."""
    return text.part(_signals(view), text("title_signals"), view.place, "E43")


def _signals(view: MonitoringView) -> Iterator[Item]:
    found = view.plan.signals
    if not found:
        yield text("status.no_signals")
        return
    yield text("signals", n=len(found), open=sum(map(is_open, found)))
    yield from _not_acted(found)
    yield from _registered_late(view)
    yield text.table(
        f"vigilance_signals{view.suffix}",
        text("table.signals"),
        ".signal .detected .stage .explanations .proposed .owner .due",
        map(_row, found),
    )


def _row(signal: Signal) -> Iterator[Any]:
    name = say("word.name", name=signal.signal)
    described = signal.description
    yield say("word.named", label=name, name=described) if described else signal.signal
    yield on_day(signal.detected)
    reached = stage(signal)
    yield text(f"stage.{reached}", day=getattr(signal, reached)) if reached else None
    others = signal.alternative_explanations
    yield text("listed", items=list(others)) if others else None
    yield signal.action
    who = {"owner": signal.owner, "decided_by": signal.decided_by}
    yield text("decides", **who) if signal.decided_by else signal.owner
    yield on_day(signal.due)


def _not_acted(signals: Sequence[Signal]) -> Iterator[Message]:
    """Open signals without an action that was taken: what is proposed, or that nothing is."""
    waiting = [s for s in signals if is_open(s) and s.acted is None]
    for one in waiting:
        if one.action:
            yield text("proposed", name=one.signal, action=one.action)
    bare = [s.signal for s in waiting if not s.action]
    if bare:
        yield text("undecided", n=len(bare), names=bare)


def _registered_late(view: MonitoringView) -> Iterator[Message]:
    """Signals that came a week or more after the alert that they name could be known."""
    for signal, one, days in late_signals(view.charts, view.plan):
        yield text(
            "detected_late",
            n=days,
            name=signal.signal,
            detected=signal.detected,
            indicator=heading(one.endpoint),
            chart=one.chart.type,
            known=one.known,
        )
