"""What is still to be done: signals, incidents, the plan's own action after an alert, the next period."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trustreport.assessment.dimensions.vigilance.charts import Charted
from trustreport.assessment.dimensions.vigilance.entries import OF_READINGS, WITHOUT_TRUTH
from trustreport.assessment.dimensions.vigilance.events import CLOSED, after, is_open, is_serious, named
from trustreport.assessment.dimensions.vigilance.periods import ID, Timeline
from trustreport.assessment.narrative.texts import heading
from trustreport.study.plan import Plan, Signal
from trustreport.vocabulary.messages import Message, say

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


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is due: what, whose, and when; `late` where the day is before that of the data.

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
    """The first alert of an indicator: the day of its case, and from when on it could be known."""

    chart: Charted
    day: dt.date
    known: dt.date

    @property
    def endpoint(self) -> str:
        """What gave the alert."""
        return self.chart.endpoint


def alerted(charts: Sequence[Charted], plan: Plan) -> Iterator[Alerted]:
    """The first alert of each indicator that has given any with a day.

    Where a truth is needed nobody can know of an alert before its case has been followed up long enough.
    """
    first: dict[str, Charted] = {}
    for chart in charts:
        if chart.alert_day is not None:
            best = first.setdefault(chart.endpoint, chart)
            assert best.alert_day is not None
            if chart.alert_day < best.alert_day:
                first[chart.endpoint] = chart
    for endpoint, chart in first.items():
        assert chart.alert_day is not None
        days = plan.reference_standard.maturity_days
        truth = endpoint not in (*OF_READINGS, *WITHOUT_TRUTH)
        wait = dt.timedelta(days=float(days)) if days is not None and truth else dt.timedelta()
        yield Alerted(chart, chart.alert_day, chart.alert_day + wait)


def due(plan: Plan, timeline: Timeline, charts: Sequence[Charted] = ()) -> list[Due]:
    """What is still to be done, the earliest first. No clock is read: late means before the data were cut."""
    found: list[Due] = []

    def add(what: Message, name: Message | str, kind: str, owner: str | None, day: dt.date | None) -> None:
        late = day is not None and timeline.cut is not None and day < timeline.cut
        found.append(Due(what, name, kind, owner or "", day, late))

    for signal in plan.signals:
        if is_open(signal) and signal.due:
            proposed = "signal_action" if signal.action and not signal.acted else "signal"
            what = say(f"{ID}.due.{proposed}", name=signal.signal)
            add(what, signal.signal, "signal", signal.owner, signal.due)
    for incident in plan.incidents:
        if (incident.status or "").lower() not in CLOSED and incident.due:
            key = f"{ID}.due.{incident.kind}"
            what = say(f"{key}_serious" if is_serious(incident) else key, name=incident.incident)
            add(what, incident.incident, incident.kind, None, incident.due)
    for one in alerted(charts, plan):
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
    """The first signal of each alert, where it was registered a week or more after the case that raised it,
    with the whole weeks between them."""
    for one in alerted(charts, plan):
        days = [(s.detected, s) for s in named(plan.signals, one.endpoint) if s.detected]
        if days:
            detected, signal = min(days, key=lambda pair: pair[0])
            weeks = (detected - one.day).days // WEEK
            if weeks >= 1:
                yield signal, one, weeks
