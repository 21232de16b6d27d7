"""Incidents and complaints with their rates, the signal register, and what is due when."""

import datetime as dt
import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from trustreport.assessment.dimensions.vigilance.charts import Charted, keeps_budget
from trustreport.assessment.dimensions.vigilance.periods import ID, Timeline
from trustreport.assessment.dimensions.vigilance.results import Use
from trustreport.assessment.narrative.texts import heading
from trustreport.measures.monitoring.rates import event_rate
from trustreport.study.plan import Incident, Plan, Signal
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

KINDS = ("incident", "complaint")
STAGES = ("detected", "validated", "assessed", "acted", "closed")
UNITS = {
    "day": ("d", "day", "days", "daily"),
    "week": ("w", "week", "weeks", "weekly"),
    "month": ("m", "month", "months", "monthly"),
    "quarter": ("q", "quarter", "quarters", "quarterly"),
    "year": ("y", "year", "years", "yearly", "annual", "annually"),
}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
DAYS = {"day": 1, "week": 7}
WEEK = 7
NUMBERS = (
    "a an one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_TERM = re.compile(r"\bwithin\s+([a-z]+|\d+)\s+(?:working\s+)?([a-z]+)", re.IGNORECASE)


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


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is due: what, whose, and when; `late` where the day is before that of the report.

    `name` is how a sentence calls it. `day` is None where no term is declared, `owner` empty where none is.
    """

    what: Message
    name: Message | str
    kind: str
    owner: str
    day: dt.date | None
    late: bool


@dataclass(frozen=True, slots=True)
class Alerted:
    """The first alert of the leading chart of an indicator, and from when on it could be known."""

    chart: Charted
    known: dt.date

    @property
    def endpoint(self) -> str:
        """What gave the alert."""
        return self.chart.endpoint


def alerted(charts: Sequence[Charted]) -> Iterator[Alerted]:
    """The first alert of each indicator that has given any with a day.

    A chart that has kept its budget of false alerts leads, then the one whose alert was known first.
    """
    found = [Alerted(c, c.known) for c in charts if c.known is not None]
    found.sort(key=lambda one: (not keeps_budget(one.chart.result), one.known))
    for endpoint in dict.fromkeys(c.endpoint for c in charts):
        yield from [one for one in found if one.endpoint == endpoint][:1]


def day_of_report(plan: Plan, timeline: Timeline) -> dt.date | None:
    """The declared date of the report, or that of the data where it is later or alone. No clock is read."""
    return max(filter(None, (plan.report.date, timeline.cut)), default=None)


def due(plan: Plan, timeline: Timeline, charts: Sequence[Charted] = ()) -> list[Due]:
    """What is still to be done, the earliest first; late is what was due before the day of the report."""
    found: list[Due] = []
    today = day_of_report(plan, timeline)

    def add(what: Message, name: Message | str, kind: str, owner: str | None, day: dt.date | None) -> None:
        """Append something that is due; late where its day is before that of the report."""
        late = day is not None and today is not None and day < today
        found.append(Due(what, name, kind, owner or "", day, late))

    for signal in plan.signals:
        if is_open(signal) and signal.due:
            proposed = "signal_action" if signal.action and not signal.acted else "signal"
            what = say(f"{ID}.due.{proposed}", name=signal.signal)
            add(what, signal.signal, "signal", signal.owner, signal.due)
    for incident in plan.incidents:
        if not incident.is_closed and incident.due:
            key = f"{ID}.due.{incident.kind}"
            what = say(f"{key}_serious" if incident.is_serious else key, name=incident.incident)
            add(what, incident.incident, incident.kind, None, incident.due)
    for one in alerted(charts):
        action = one.chart.indicator.action
        if action and not any(s.acted for s in named(plan.signals, one.endpoint)):
            owner = next((s.owner for s in named(plan.signals, one.endpoint) if s.owner), None)
            name = say(f"{ID}.due.action_name", name=heading(one.endpoint))
            what = say(f"{ID}.due.action", action=action, day=one.known, name=heading(one.endpoint))
            add(what, name, "action", owner, term(action, one.known))
    vigilance = plan.vigilance
    if vigilance and vigilance.period_end and vigilance.observation_period:
        day = after(vigilance.period_end, vigilance.observation_period)
        if day is not None:
            plan_id = vigilance.plan_id or ""
            over = plan.report.date is not None and day < plan.report.date
            ends = f"{ID}.due.period_over" if over else f"{ID}.due.period"
            what = say(ends, name=plan_id) if plan_id else say(f"{ends}_plain")
            add(what, plan_id, "period", None, day)
    return sorted(found, key=lambda d: (d.day or dt.date.max, str(d.name)))


def term(action: str, start: dt.date) -> dt.date | None:
    """The day until which an action is to be taken; None where its text states no term that is understood.

    >>> term("Review the missed fractures within ten days", dt.date(2026, 6, 22))
    datetime.date(2026, 7, 2)
    """
    found = _TERM.search(action)
    if found is None:
        return None
    word = found[1].casefold()
    n = next((i for i, words in enumerate(NUMBERS, 1) if word in words.split()), None)
    return after(start, f"{word if n is None else n} {found[2]}") if word.isdigit() or n else None


def late_signals(charts: Sequence[Charted], plan: Plan) -> Iterator[tuple[Signal, Alerted, int]]:
    """The first signal of each alert, where it was registered a week or more after that could be known, and
    the days between them."""
    for one in alerted(charts):
        days = [(s.detected, s) for s in named(plan.signals, one.endpoint) if s.detected]
        if days:
            detected, signal = min(days, key=lambda pair: pair[0])
            late = (detected - one.known).days
            if late >= WEEK:
                yield signal, one, late
