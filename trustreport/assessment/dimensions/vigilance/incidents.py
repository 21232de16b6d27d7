"""Readers over time, incidents and signals: sentences, tables and figures."""

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import partial
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.vigilance.due import late_signals
from trustreport.assessment.dimensions.vigilance.events import KINDS, days_between, outside, stage
from trustreport.assessment.dimensions.vigilance.periods import ID, Period
from trustreport.assessment.dimensions.vigilance.readers_over_time import FOLLOWED, Reliances
from trustreport.assessment.dimensions.vigilance.view import MonitoringView
from trustreport.assessment.finding import Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import Spec, table
from trustreport.assessment.narrative.texts import heading, numbers
from trustreport.figures import trend
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Signal
from trustreport.vocabulary.digits import per
from trustreport.vocabulary.messages import Message, say

FOLLOWED_TIMES = (*FOLLOWED.values(), "seconds")
PER = 1000
COLUMN = f"{ID}.column"


def readers_part(view: MonitoringView) -> Part:
    """Agreement, overrides, harmful switches and reading time by period, or what cannot be said of them."""
    title = say(f"{ID}.title_people")
    if not view.reliances:
        return Part((say(f"{ID}.people.none"),), title, place=view.timeline.place)
    return Part(
        tuple(_reader_sentences(view)),
        title,
        tuple(_reader_tables(view)),
        tuple(_reader_figures(view)),
        view.timeline.place,
    )


def _shown_periods(view: MonitoringView) -> list[Any]:
    held = {name for one in view.reliances for name in one.held}
    return [p for p in view.timeline.all if p.name in held]


def _reader_sentences(view: MonitoringView) -> Iterator[Message]:
    periods = _shown_periods(view)
    first, last = periods[0], periods[-1]
    for one in view.reliances:
        then, now = (_of(view, one, p, "override_rate") for p in (first, last))
        if isnan(then.value) or isnan(now.value):
            continue
        yield say(
            f"{ID}.people.override",
            period=last.name,
            before=then.value,
            first=first.name,
            n=now.n,
            **numbers(now),
        )
        harmful = _of(view, one, last, "harmful_switch_rate")
        if isnan(harmful.value):
            yield say(f"{ID}.people.no_switch", reason=harmful.note)
        else:
            yield say(f"{ID}.people.switch", value=harmful.value, n=harmful.n, period=last.name)


def _reader_tables(view: MonitoringView) -> Iterator[PlainTable]:
    for i, one in enumerate(view.reliances, 1):
        caption = say(f"{ID}.table.people", level=view.plan.report.confidence_level)
        id, periods = f"vigilance_readings{view.suffix}_{i}", _shown_periods(view)
        yield table(id, caption, periods, _reader_columns(view, one))


def _reader_columns(view: MonitoringView, one: Reliances) -> Iterator[Spec[Period]]:
    yield (f"{COLUMN}.period", view.numbered)
    yield (f"{COLUMN}.readings", lambda p: _of(view, one, p, FOLLOWED_TIMES[0]).n, "count")
    for word in FOLLOWED_TIMES:
        yield (_head(word), partial(_shown_of, view, one, word), "number")


def _shown_of(view: MonitoringView, one: Reliances, word: str, period: Period) -> Estimate | None:
    e = _of(view, one, period, word)
    return None if isnan(e.value) else e


def _of(view: MonitoringView, one: Reliances, period: Period, word: str) -> Estimate:
    """What readers did with the advice in a period."""
    return view.estimate("reliance_value", period=period.name, endpoint=word, **one.place.scope)


def _head(word: str) -> Message:
    return say(f"{ID}.seconds") if word == "seconds" else heading(word)


def _reader_figures(view: MonitoringView) -> Iterator[Figure]:
    periods = _shown_periods(view)
    base = bool(periods) and periods[0] is view.timeline.baseline
    for i, one in enumerate(view.reliances, 1):
        panels = []
        for word in FOLLOWED_TIMES[1:]:
            found = tuple(_of(view, one, p, word) for p in periods)
            if not all(isnan(e.value) for e in found):
                panels.append(trend.TrendPanel(_head(word), found, percent=word != "seconds"))
        if panels:
            yield Figure(
                f"vigilance_people{view.suffix}_{i}",
                trend.Trend(
                    tuple(p.name for p in periods), tuple(panels), baseline=base, short=view.short(periods)
                ),
                say(f"{ID}.figure.people", level=view.plan.report.confidence_level),
                say(f"{ID}.figure.people_alt", n=len(periods)),
            )


# ---------------------------------------------------------------- incidents, complaints, signals


def events(view: MonitoringView) -> Part:
    """Incidents and complaints with their rates per case processed, and the log."""
    plan = view.plan
    return Part(
        tuple(_event_sentences(view)),
        say(f"{ID}.title_events"),
        (_rate_table(view), *(_log(view) if plan.incidents else ())),
        place=view.timeline.place,
    )


def _event_sentences(view: MonitoringView) -> Iterator[Message]:
    if "incidents" not in view.plan.model_fields_set:
        yield say(f"{ID}.events.no_log")
    for kind in KINDS:
        e = view.estimate("event_rate", period=None, parameters={"kind": kind})
        name = say(f"{ID}.events.{kind}s")
        if isnan(e.value):
            yield say(f"{ID}.events.undefined", name=name, reason=e.note)
        elif e.value == 0:
            yield say(f"{ID}.events.zero", name=name, cases=e.n, high=per(e, PER).high, level=e.level)
        else:
            yield say(
                f"{ID}.events.rate",
                events=say(f"{ID}.events.n_{kind}s", n=round(e.value * e.n)),
                cases=e.n,
                **numbers(per(e, PER)),
            )
    left = outside(view.plan, view.timeline)
    if left:
        yield say(f"{ID}.events.outside", n=left)


def _rate_table(view: MonitoringView) -> PlainTable:
    processed = {use.period: use.processed for use in view.uses}

    def rate(p: Period, kind: str) -> Estimate:
        return view.estimate("event_rate", period=p.name, parameters={"kind": kind})

    def happened(p: Period, kind: str) -> int | None:
        e = rate(p, kind)
        return None if isnan(e.value) else round(e.value * e.n)

    def of(kind: str) -> tuple[Spec[Period], Spec[Period]]:
        head = say(f"{COLUMN}.up_to", kind=say(f"{ID}.events.{kind}s"))
        return (
            (f"{COLUMN}.{kind}s", lambda p: happened(p, kind), "count"),
            (head, lambda p: PER * rate(p, kind).high, "number.1"),
        )

    specs = [
        (f"{COLUMN}.period", view.numbered),
        (f"{COLUMN}.processed", lambda p: processed[p.name], "count"),
        *(spec for kind in KINDS for spec in of(kind)),
    ]
    caption = say(f"{ID}.table.rates", level=view.plan.report.confidence_level)
    return table(f"vigilance_rates{view.suffix}", caption, view.timeline.periods, specs)


def _log(view: MonitoringView) -> Iterator[PlainTable]:
    yield table(
        f"vigilance_log{view.suffix}",
        say(f"{ID}.table.log"),
        view.plan.incidents,
        [
            (f"{COLUMN}.event", "incident"),
            (f"{COLUMN}.happened", lambda i: _date(i.event_date)),
            (f"{COLUMN}.description", lambda i: _described(i.description, i.imdrf_codes)),
            (f"{COLUMN}.seriousness", "seriousness"),
            (f"{COLUMN}.causality", "causality"),
            (f"{COLUMN}.days_to_report", lambda i: days_between(i.awareness_date, i.report_date), "count"),
            (f"{COLUMN}.status", "status"),
        ],
    )


def _date(day: dt.date | None) -> Message | None:
    return say("word.on", day=day) if day else None


def _described(text: str | None, codes: Any) -> Any:
    if codes and text:
        return say("word.interval", value=text, interval=say(f"{ID}.listed", items=list(codes)))
    return text or (say(f"{ID}.listed", items=list(codes)) if codes else None)


def signals(view: MonitoringView) -> Part:
    """The signal register: how far each has come, what else may explain it, who decides."""
    plan = view.plan
    title = say(f"{ID}.title_signals")
    if not plan.signals:
        return Part((say(f"{ID}.status.no_signals"),), title, place=view.timeline.place)
    register = table(
        f"vigilance_signals{view.suffix}",
        say(f"{ID}.table.signals"),
        plan.signals,
        [
            (f"{COLUMN}.signal", _signal),
            (f"{COLUMN}.detected", lambda s: _date(s.detected)),
            (f"{COLUMN}.stage", _stage),
            (f"{COLUMN}.explanations", _explanations),
            (f"{COLUMN}.proposed", "action"),
            (f"{COLUMN}.owner", _owner),
            (f"{COLUMN}.due", lambda s: _date(s.due)),
        ],
    )
    standing = [s.signal for s in plan.signals if s.closed is None]
    finding = say(f"{ID}.signals", n=len(plan.signals), open=len(standing))
    more = (*_not_acted(plan.signals), *_registered_late(view))
    return Part((finding, *more), title, (register,), place=view.timeline.place)


def _not_acted(signals: Sequence[Signal]) -> Iterator[Message]:
    """Open signals without an action that was taken: what is proposed, or that nothing is."""
    waiting = [s for s in signals if s.closed is None and s.acted is None]
    for one in waiting:
        if one.action:
            yield say(f"{ID}.proposed", name=one.signal, action=one.action)
    bare = [s.signal for s in waiting if not s.action]
    if bare:
        yield say(f"{ID}.undecided", n=len(bare), names=bare)


def _registered_late(view: MonitoringView) -> Iterator[Message]:
    """Signals that came weeks after the alert that they name."""
    for signal, one, weeks in late_signals(view.charts, view.plan):
        values = {
            "n": weeks,
            "name": signal.signal,
            "detected": signal.detected,
            "indicator": heading(one.endpoint),
            "day": one.day,
        }
        if one.known == one.day:
            yield say(f"{ID}.detected_late", **values)
        else:
            days = view.plan.reference_standard.maturity_days
            yield say(f"{ID}.detected_late_known", days=days, known=one.known, **values)


def _signal(signal: Signal) -> Message | str:
    if not signal.description:
        return signal.signal
    return say("word.named", label=say("word.name", name=signal.signal), name=signal.description)


def _stage(signal: Signal) -> Message | None:
    reached = stage(signal)
    return say(f"{ID}.stage.{reached}", day=getattr(signal, reached)) if reached else None


def _explanations(signal: Signal) -> Message | None:
    found = signal.alternative_explanations
    return say(f"{ID}.listed", items=list(found)) if found else None


def _owner(signal: Signal) -> Message | str | None:
    if not signal.decided_by:
        return signal.owner
    return say(f"{ID}.decides", owner=signal.owner, decided_by=signal.decided_by)
