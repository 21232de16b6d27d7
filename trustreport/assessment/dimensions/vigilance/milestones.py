"""What happened on which day: versions, thresholds, new equipment, alerts, signals, incidents."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.vigilance.charts import Charted
from trustreport.assessment.dimensions.vigilance.periods import ID, Period, Timeline, mix_columns, names_of
from trustreport.assessment.narrative.texts import heading
from trustreport.assessment.narrative.where import labelled
from trustreport.figures.monitoring import TimelineMark, TimelineTrack
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say

MOST_NEW = 6  # new groups of one column that are drawn


@dataclass(frozen=True, slots=True)
class DeviceChange:
    """A version, a threshold or a group of cases that was not there before: its first day and its name."""

    day: dt.date
    column: str
    name: Message | str


def changes(timeline: Timeline, plan: Plan) -> list[DeviceChange]:
    """What changed about the device and its cases, in order of time."""
    found = [
        DeviceChange(day, "version", say(f"{ID}.mark.version", name=v)) for v, day in _versions(timeline)
    ]
    for column in dict.fromkeys((*mix_columns(timeline, plan), "site")):
        new = list(_first_days(timeline, lambda p, c=column: names_of(p.column(c), len(p))))
        found += [
            DeviceChange(day, column, name if column == "site" else labelled(column, name))
            for name, day in new[:MOST_NEW]
        ]
    found += _thresholds(plan)
    return sorted(found, key=lambda c: (c.day, c.column))


def _versions(timeline: Timeline) -> Iterator[tuple[str, dt.date]]:
    def names(period: Period) -> Any:
        column = period.scores.version if period.scores is not None else None
        return names_of(column, len(period))

    return _first_days(timeline, names)


def _first_days(timeline: Timeline, names: Any) -> Iterator[tuple[str, dt.date]]:
    """The names that are not in the first set of cases, and the first day of each."""
    seen: set[str] = set()
    for k, period in enumerate(p for p in timeline.all if len(p)):
        here = names(period)
        for name in sorted({str(one) for one in here if one is not None} - seen):
            seen.add(name)
            day = _first_day(period, here == name)
            if k and day is not None:
                yield name, day


def _first_day(period: Period, of: Any) -> dt.date | None:
    if period.date is None or np.isnat(period.date[of]).all():
        return period.start
    return dt.date.fromisoformat(str(np.nanmin(period.date[of]).astype("datetime64[D]")))


def _thresholds(plan: Plan) -> Iterator[DeviceChange]:
    for one in plan.amendments:
        day = _day(one.date)
        if day is not None and (one.field or "").rpartition(".")[2] == "threshold":
            yield DeviceChange(day, "threshold", say(f"{ID}.mark.threshold", old=one.old, new=one.new))


def _day(text: str | None) -> dt.date | None:
    try:
        return dt.date.fromisoformat((text or "")[:10])
    except ValueError:
        return None


def tracks(timeline: Timeline, charts: Sequence[Charted], plan: Plan) -> list[TimelineTrack]:
    """Everything that has a day within the periods or after them, by kind."""
    start = min((p.start for p in timeline.periods if p.start), default=None)
    if start is None:
        return []
    by_column: dict[str, list[TimelineMark]] = {}
    for change in changes(timeline, plan):
        kind: Any = change.column if change.column in ("version", "threshold") else "group"
        by_column.setdefault(change.column, []).append(TimelineMark(change.day, change.name, kind))
    every = [(_track_name(column), marks) for column, marks in by_column.items()]
    every += [
        (say(f"{ID}.lane.alert"), list(_alerts(charts))),
        (say(f"{ID}.lane.signal"), list(_signals(plan))),
        (say(f"{ID}.lane.incident"), list(_incidents(plan))),
    ]
    found = [(name, tuple(m for m in marks if m.day >= start)) for name, marks in every]
    return [TimelineTrack(name, marks) for name, marks in found if marks]


def _track_name(column: str) -> Message:
    if column in ("version", "threshold", "site"):
        return say(f"{ID}.lane.{column}")
    return say("word.heading", text=column.replace("_", " "))


def _alerts(charts: Sequence[Charted]) -> Iterator[TimelineMark]:
    for chart in charts:
        if chart.alert_day is not None:
            name = say(
                f"{ID}.figure.chart", name=heading(chart.endpoint), chart=say(f"{ID}.chart.{chart.kind}")
            )
            yield TimelineMark(chart.alert_day, name, "alert")


def _signals(plan: Plan) -> Iterator[TimelineMark]:
    for signal in plan.signals:
        if signal.detected:
            yield TimelineMark(signal.detected, signal.signal, "signal")
        if signal.closed:
            yield TimelineMark(signal.closed, say(f"{ID}.mark.closed", name=signal.signal), "closed")


def _incidents(plan: Plan) -> Iterator[TimelineMark]:
    for one in plan.incidents:
        day = one.event_date or one.awareness_date
        if day is not None:
            yield TimelineMark(day, one.incident, one.kind)
