"""How people, incidents and signals are told."""

from collections.abc import Iterator
from math import isnan
from typing import Any

from trustreport.dimensions.vigilance.events import KINDS, days_between, outside, stage
from trustreport.dimensions.vigilance.people import FOLLOWED
from trustreport.dimensions.vigilance.periods import ID
from trustreport.dimensions.vigilance.told import Told, heading
from trustreport.figures import trend
from trustreport.finding import Column, Figure, Part, PlainTable
from trustreport.messages import Message, say

FOLLOWED_TIMES = (*FOLLOWED.values(), "seconds")
PER = 1000


def people(told: Told) -> Part:
    """Agreement, overrides, harmful switches and reading time by period, or what cannot be said of them."""
    title = say(f"{ID}.title_people")
    if not told.reliances:
        return Part((say(f"{ID}.people.none"),), title, scope=told.timeline.scope)
    return Part(
        tuple(_people_sentences(told)),
        title,
        tuple(_people_tables(told)),
        tuple(_people_figures(told)),
        told.timeline.scope,
    )


def _shown_periods(told: Told) -> list[Any]:
    held = {name for one in told.reliances for name in one.held}
    return [p for p in told.timeline.all if p.name in held]


def _people_sentences(told: Told) -> Iterator[Message]:
    periods = _shown_periods(told)
    first, last = periods[0], periods[-1]
    for one in told.reliances:
        word = "override_rate"
        scope = {**one.scope, "endpoint": word, "arm": one.arms[0]}
        then, now = (told.estimate("reliance_value", period=p.name, **scope) for p in (first, last))
        if isnan(then.value) or isnan(now.value):
            continue
        yield say(
            f"{ID}.people.override",
            value=now.value,
            period=last.name,
            before=then.value,
            first=first.name,
            low=now.low,
            high=now.high,
            level=now.level,
            n=now.n,
        )
        harmful = told.estimate(
            "reliance_value", period=last.name, endpoint="harmful_switch_rate", **one.scope
        )
        if isnan(harmful.value):
            yield say(f"{ID}.people.no_switch", reason=harmful.note)
        else:
            yield say(f"{ID}.people.switch", value=harmful.value, n=harmful.n, period=last.name)


def _people_tables(told: Told) -> Iterator[PlainTable]:
    for i, one in enumerate(told.reliances, 1):
        columns = (
            Column(say(f"{ID}.column.period")),
            Column(say(f"{ID}.column.readings"), "count"),
            *(Column(heading(word), "number") for word in FOLLOWED_TIMES),
        )
        rows = []
        for p in _shown_periods(told):
            found = [
                told.estimate("reliance_value", period=p.name, endpoint=word, **one.scope)
                for word in FOLLOWED_TIMES
            ]
            rows.append((told.numbered(p), found[0].n, *(None if isnan(e.value) else e for e in found)))
        level = told.plan.report.confidence_level
        yield PlainTable(
            f"vigilance_people{told.suffix}_{i}", say(f"{ID}.table.people", level=level), columns, tuple(rows)
        )


def _people_figures(told: Told) -> Iterator[Figure]:
    periods = _shown_periods(told)
    base = bool(periods) and periods[0] is told.timeline.baseline
    for i, one in enumerate(told.reliances, 1):
        panels = []
        for word in FOLLOWED_TIMES[1:]:
            found = tuple(
                told.estimate("reliance_value", period=p.name, endpoint=word, **one.scope) for p in periods
            )
            if not all(isnan(e.value) for e in found):
                panels.append(trend.TrendPanel(heading(word), found, percent=word != "seconds"))
        if panels:
            yield Figure(
                f"vigilance_people{told.suffix}_{i}",
                trend.Trend(tuple(p.name for p in periods), tuple(panels), baseline=base),
                say(f"{ID}.figure.people", level=told.plan.report.confidence_level),
                say(f"{ID}.figure.people_alt", n=len(periods)),
            )


# ---------------------------------------------------------------- incidents, complaints, signals


def events(told: Told) -> Part:
    """Incidents and complaints with their rates per case processed, and the log."""
    plan = told.plan
    return Part(
        tuple(_event_sentences(told)),
        say(f"{ID}.title_events"),
        (_rate_table(told), *(_log(told) if plan.incidents else ())),
        scope=told.timeline.scope,
    )


def _event_sentences(told: Told) -> Iterator[Message]:
    if "incidents" not in told.plan.model_fields_set:
        yield say(f"{ID}.events.no_log")
    for kind in KINDS:
        e = told.estimate("event_rate", period=None, parameters={"kind": kind})
        name = say(f"{ID}.events.{kind}s")
        if isnan(e.value):
            yield say(f"{ID}.events.undefined", name=name, reason=e.note)
        elif e.value == 0:
            yield say(f"{ID}.events.zero", name=name, cases=e.n, high=PER * e.high, level=e.level)
        else:
            yield say(
                f"{ID}.events.rate",
                events=say(f"{ID}.events.n_{kind}s", n=round(e.value * e.n)),
                cases=e.n,
                value=PER * e.value,
                low=PER * e.low,
                high=PER * e.high,
                level=e.level,
            )
    left = outside(told.plan, told.timeline)
    if left:
        yield say(f"{ID}.events.outside", n=left)


def _rate_table(told: Told) -> PlainTable:
    columns = [Column(say(f"{ID}.column.period")), Column(say(f"{ID}.column.processed"), "count")]
    for kind in KINDS:
        columns += [
            Column(say(f"{ID}.column.{kind}s"), "count"),
            Column(say(f"{ID}.column.up_to", kind=say(f"{ID}.events.{kind}s")), "number.1"),
        ]
    rows = []
    for use, p in zip(told.uses, told.timeline.periods):
        row: list[Any] = [told.numbered(p), use.processed]
        for kind in KINDS:
            e = told.estimate("event_rate", period=p.name, parameters={"kind": kind})
            row += [None if isnan(e.value) else round(e.value * e.n), None if isnan(e.high) else PER * e.high]
        rows.append(tuple(row))
    level = told.plan.report.confidence_level
    return PlainTable(
        f"vigilance_rates{told.suffix}", say(f"{ID}.table.rates", level=level), tuple(columns), tuple(rows)
    )


def _log(told: Told) -> Iterator[PlainTable]:
    columns = (
        Column(say(f"{ID}.column.event")),
        Column(say(f"{ID}.column.happened")),
        Column(say(f"{ID}.column.description")),
        Column(say(f"{ID}.column.seriousness")),
        Column(say(f"{ID}.column.causality")),
        Column(say(f"{ID}.column.days_to_report"), "count"),
        Column(say(f"{ID}.column.status")),
    )
    rows = tuple(
        (
            i.incident,
            i.event_date.isoformat() if i.event_date else None,
            _described(i.description, i.imdrf_codes),
            i.seriousness,
            i.causality,
            days_between(i.awareness_date, i.report_date),
            i.status,
        )
        for i in told.plan.incidents
    )
    yield PlainTable(f"vigilance_log{told.suffix}", say(f"{ID}.table.log"), columns, rows)


def _described(text: str | None, codes: Any) -> Any:
    if codes and text:
        return say("word.interval", value=text, interval=say(f"{ID}.listed", items=list(codes)))
    return text or (say(f"{ID}.listed", items=list(codes)) if codes else None)


def signals(told: Told) -> Part:
    """The signal register: how far each has come, what else may explain it, who decides."""
    plan = told.plan
    title = say(f"{ID}.title_signals")
    if not plan.signals:
        return Part((say(f"{ID}.status.no_signals"),), title, scope=told.timeline.scope)
    columns = (
        Column(say(f"{ID}.column.signal")),
        Column(say(f"{ID}.column.detected")),
        Column(say(f"{ID}.column.stage")),
        Column(say(f"{ID}.column.explanations")),
        Column(say(f"{ID}.column.proposed")),
        Column(say(f"{ID}.column.owner")),
        Column(say(f"{ID}.column.due")),
    )
    rows = tuple(
        (
            say("word.named", label=say("word.name", name=s.signal), name=s.description)
            if s.description
            else s.signal,
            s.detected.isoformat() if s.detected else None,
            say(f"{ID}.stage.{stage(s)}", day=getattr(s, stage(s))) if stage(s) else None,
            say(f"{ID}.listed", items=list(s.alternative_explanations))
            if s.alternative_explanations
            else None,
            s.action,
            say(f"{ID}.decides", owner=s.owner, decided_by=s.decided_by) if s.decided_by else s.owner,
            s.due.isoformat() if s.due else None,
        )
        for s in plan.signals
    )
    table = PlainTable(f"vigilance_signals{told.suffix}", say(f"{ID}.table.signals"), columns, rows)
    standing = [s.signal for s in plan.signals if s.closed is None]
    finding = say(f"{ID}.signals", n=len(plan.signals), open=len(standing))
    undecided = [s.signal for s in plan.signals if s.closed is None and s.acted is None]
    more = [say(f"{ID}.undecided", n=len(undecided), names=undecided)] if undecided else []
    return Part((finding, *more), title, (table,), scope=told.timeline.scope)
