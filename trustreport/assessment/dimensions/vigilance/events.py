"""Incidents and complaints with their rates, the signal register, and what is due when."""

import datetime as dt
import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from typing import Any

from trustreport.assessment.dimensions.vigilance.exposure import Use
from trustreport.assessment.dimensions.vigilance.periods import ID, Timeline
from trustreport.measures.monitoring.rates import event_rate
from trustreport.study.plan import Incident, Plan, Signal
from trustreport.vocabulary.results import Result

KINDS = ("incident", "complaint")
STAGES = ("detected", "validated", "assessed", "acted", "closed")
CLOSED = ("closed", "resolved", "done")
UNITS = {
    "day": ("d", "day", "days", "daily"),
    "week": ("w", "week", "weeks", "weekly"),
    "month": ("m", "month", "months", "monthly"),
    "quarter": ("q", "quarter", "quarters", "quarterly"),
    "year": ("y", "year", "years", "yearly", "annual", "annually"),
}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
DAYS = {"day": 1, "week": 7}


def counted(plan: Plan, timeline: Timeline, kind: str) -> dict[str, list[Incident]]:
    """The events of a kind in each period, by the day on which they happened, else became known."""
    found: dict[str, list[Incident]] = {p.name: [] for p in timeline.periods}
    for incident in plan.incidents:
        day = incident.event_date or incident.awareness_date
        if incident.kind == kind and day is not None:
            for period in timeline.periods:
                if period.start and period.end and period.start <= day <= period.end:
                    found[period.name].append(incident)
                    break
    return found


def rate_results(timeline: Timeline, uses: Sequence[Use], plan: Plan) -> Iterator[Result]:
    """Events per case processed, over all periods and in each whose days are known."""
    level = plan.report.confidence_level
    exposure = {use.period: use.processed for use in uses}
    for kind in KINDS:
        by_period = counted(plan, timeline, kind)
        total = sum(map(len, by_period.values()))
        known = [p for p in timeline.periods if p.start and p.end]
        for period in known:
            # No outcome of the cases: an event of the log is of no case known by name.
            one = event_rate(len(by_period[period.name]), exposure.get(period.name, 0), level=level)
            yield Result(f"{ID}.event_rate", period.place, one, parameters={"kind": kind}, primary=True)
        # Without the days of the periods every event of the log counts.
        events = total if known else sum(i.kind == kind for i in plan.incidents)
        one = event_rate(events, sum(exposure.values()), level=level)
        yield Result(f"{ID}.event_rate", timeline.place, one, parameters={"kind": kind}, primary=True)


def outside(plan: Plan, timeline: Timeline) -> int:
    """Events whose day is unknown or lies in no period."""
    inside = sum(len(found) for kind in KINDS for found in counted(plan, timeline, kind).values())
    return len(plan.incidents) - inside


def stage(signal: Signal) -> str:
    """How far a signal has come: the last step that has a date."""
    return next((s for s in reversed(STAGES) if getattr(signal, s) is not None), "")


def is_serious(incident: Incident) -> bool:
    """Whether an event is declared as serious, in whatever words."""
    declared = (incident.seriousness or "").strip().casefold()
    return bool(declared) and not declared.startswith(("not ", "non"))


def is_open(signal: Signal) -> bool:
    """Whether a signal is not closed."""
    return signal.closed is None


def is_new(signal: Signal, plan: Plan) -> bool:
    """Whether a signal was detected in the period that the report is about."""
    start = plan.vigilance.period_start if plan.vigilance else None
    return signal.detected is not None and start is not None and signal.detected >= start


def after(day: dt.date, length: str) -> dt.date | None:
    """The day so much later; None where the length is written in a way that is not understood.

    >>> after(dt.date(2026, 1, 31), "1 month"), after(dt.date(2026, 1, 31), "quarterly")
    (datetime.date(2026, 2, 28), datetime.date(2026, 4, 30))
    """
    found = re.fullmatch(r"(?:p\s*)?(\d+)?\s*([a-z]+)", length.strip().lower())
    unit = next((u for u, words in UNITS.items() if found and found[2] in words), "")
    if not found or not unit:
        return None
    n = int(found[1] or 1)
    if unit in DAYS:
        return day + dt.timedelta(days=n * DAYS[unit])
    months = day.month - 1 + n * MONTHS[unit]
    year, month = day.year + months // 12, months % 12 + 1
    end_of_month = day.day == monthrange(day.year, day.month)[1]
    last = monthrange(year, month)[1]
    return dt.date(year, month, last if end_of_month else min(day.day, last))


def named(signals: Sequence[Signal], endpoint: str) -> list[Signal]:
    """The signals that name an indicator."""
    return [s for s in signals if s.indicator and s.indicator.rpartition(".")[2] == endpoint]


def days_between(first: dt.date | None, then: dt.date | None) -> Any:
    """Whole days from one day to another, None where one is unknown."""
    return (then - first).days if first and then else None
