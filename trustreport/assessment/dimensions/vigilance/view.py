"""Everything found over the periods of one candidate, for its sentences, tables and figures."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.vigilance.charts import Charted, Delay
from trustreport.assessment.dimensions.vigilance.compared import Compared
from trustreport.assessment.dimensions.vigilance.periods import (
    ID,
    Period,
    Timeline,
    is_month,
    mix_columns,
    names_of,
)
from trustreport.assessment.dimensions.vigilance.readers_over_time import Reliances
from trustreport.assessment.dimensions.vigilance.results import Use
from trustreport.assessment.narrative.where import labelled
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

MOST_EVENTS = 8
MOST_NEW = 6  # new groups of one column that are drawn


@dataclass(frozen=True, eq=False)
class MonitoringView:
    """One candidate over its periods; `number` tells its tables and figures from those of another."""

    timeline: Timeline
    plan: Plan
    number: int
    results: tuple[Result, ...]
    uses: tuple[Use, ...]
    reliances: tuple[Reliances, ...]
    charts: tuple[Charted, ...]
    delays: tuple[Delay, ...]
    funnels: tuple[Compared, ...]

    @property
    def place(self) -> Place:
        """Where what is said of all periods belongs."""
        return self.timeline.place

    @property
    def level(self) -> float:
        return self.plan.report.confidence_level

    @property
    def suffix(self) -> str:
        """What ends the ids of tables and figures."""
        return f"_{self.number}"

    def find(self, quantity: str, **scope: Any) -> Result | None:
        """The leading entry of a quantity in a scope."""
        for r in self.results:
            if r.id == f"{ID}.{quantity}" and r.primary and r.within(**scope):
                return r
        return None

    def estimate(self, quantity: str, **scope: Any) -> Estimate:
        """Its estimate; undefined where there is none."""
        found = self.find(quantity, **scope)
        return found.estimate if found else Estimate(nan, nan, nan, 0)

    def change(self, period: Period, endpoint: str, against: str) -> Estimate:
        """The change of an endpoint since the baseline, or since the period before."""
        chosen = {"against": against}
        return self.estimate("period_change", period=period.name, endpoint=endpoint, parameters=chosen)

    def value(self, period: Period, endpoint: str) -> Estimate:
        """An endpoint of one period."""
        return self.estimate("period_value", period=period.name, endpoint=endpoint)

    def value_result(self, period: Period, endpoint: str) -> Result | None:
        """The same as a number of its quantity."""
        return self.find("period_value", period=period.name, endpoint=endpoint)

    def change_result(self, period: Period, endpoint: str, against: str) -> Result | None:
        """The change of an endpoint as a number of its quantity."""
        chosen = {"against": against}
        return self.find("period_change", period=period.name, endpoint=endpoint, parameters=chosen)

    def numbered(self, period: Period) -> Message:
        """A period with its number, as the axes of the figures have it."""
        if period is self.timeline.baseline:
            return say(f"{ID}.numbered_baseline", name=period.name)
        at = self.timeline.periods.index(period) + 1
        return say(f"{ID}.numbered", number=at, name=period.name)

    def short(self, periods: Sequence[Period]) -> tuple[Message | str, ...]:
        """The periods as an axis names them: by the months, where each is one; else by nothing."""
        if not all(p is self.timeline.baseline or is_month(p) for p in periods):
            return ()
        return tuple("" if p is self.timeline.baseline else say("figure.month", day=p.start) for p in periods)

    def events(self) -> tuple[tuple[float, Message | str], ...]:
        """What changed about device and cases, by its place on an axis of all periods."""
        found: list[tuple[float, Message | str]] = []
        for change in changes(self.timeline, self.plan):
            for k, p in enumerate(self.timeline.with_baseline):
                if p is not self.timeline.baseline and p.start and p.end and p.start <= change.day <= p.end:
                    through = ((change.day - p.start).days + 0.5) / ((p.end - p.start).days + 1)
                    found.append((k - 0.5 + through, change.name))
        return tuple(found[:MOST_EVENTS])


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
        """The version of each case of a period."""
        column = period.scores.version if period.scores is not None else None
        return names_of(column, len(period))

    return _first_days(timeline, names)


def _first_days(timeline: Timeline, names: Any) -> Iterator[tuple[str, dt.date]]:
    """The names that are not in the first set of cases, and the first day of each."""
    seen: set[str] = set()
    for k, period in enumerate(p for p in timeline.with_baseline if len(p)):
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
