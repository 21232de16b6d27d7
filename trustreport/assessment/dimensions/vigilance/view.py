"""Everything found over the periods of one candidate, for its sentences, tables and figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from trustreport.assessment.dimensions.vigilance.charts import Charted
from trustreport.assessment.dimensions.vigilance.compared import Compared
from trustreport.assessment.dimensions.vigilance.delays import Delay
from trustreport.assessment.dimensions.vigilance.exposure import Use
from trustreport.assessment.dimensions.vigilance.milestones import changes
from trustreport.assessment.dimensions.vigilance.periods import ID, Period, Timeline, is_month
from trustreport.assessment.dimensions.vigilance.readers_over_time import Reliances
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

MOST_EVENTS = 8


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
            for k, p in enumerate(self.timeline.all):
                if p is not self.timeline.baseline and p.start and p.end and p.start <= change.day <= p.end:
                    through = ((change.day - p.start).days + 0.5) / ((p.end - p.start).days + 1)
                    found.append((k - 0.5 + through, change.name))
        return tuple(found[:MOST_EVENTS])

    @property
    def several_tasks(self) -> bool:
        """Whether readings of more than one task fall into the periods."""
        return len({one.task for one in self.reliances}) > 1
