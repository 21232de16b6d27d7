"""Vigilance: has anything changed since the baseline, is anybody being harmed, and what is due?"""

from dataclasses import replace

from trustreport.dimensions.dimension import Dimension
from trustreport.dimensions.vigilance import recorded, telling, watching
from trustreport.dimensions.vigilance.charts import charted
from trustreport.dimensions.vigilance.compared import funnel_results, funnels
from trustreport.dimensions.vigilance.drifted import called_results, drift_results
from trustreport.dimensions.vigilance.events import rate_results
from trustreport.dimensions.vigilance.measured import period_results
from trustreport.dimensions.vigilance.people import people_results, reliances
from trustreport.dimensions.vigilance.periods import ID, Timeline, readings_of, timelines
from trustreport.dimensions.vigilance.told import Told
from trustreport.dimensions.vigilance.used import exposure_results, maturity_results, use_of
from trustreport.finding import Finding, Part
from trustreport.messages import say
from trustreport.plan import Plan
from trustreport.study import Readings, Study


def has_data(study: Study, plan: Plan) -> bool:
    """Whether a period of routine use was handed in."""
    del plan
    return any(d.role == "period" for d in study.datasets)


def gathered(study: Study, plan: Plan, timeline: Timeline, number: int) -> Told:
    """Every number of one candidate over the periods."""
    people = reliances(study, timeline, plan)
    readings: dict[str, Readings] = {}
    for _, by_period in readings_of(study, timeline):
        readings |= by_period
    uses = [use_of(period, readings) for period in timeline.periods]
    charts = charted(timeline, people, plan)
    found = funnels(timeline, people, plan)
    results = [
        *exposure_results(uses, timeline, plan),
        *maturity_results(timeline, plan),
        *period_results(timeline, plan),
        *called_results(timeline, plan),
        *drift_results(timeline, plan),
        *(c.result for c in charts),
        *funnel_results(found, timeline),
        *(people_results(people, timeline, plan) if number == 1 else ()),
        *rate_results(timeline, uses, plan),
    ]
    return Told(
        timeline, plan, number, tuple(results), tuple(uses), tuple(people), tuple(charts), tuple(found)
    )


def answer(study: Study, plan: Plan) -> Finding:
    """Status, exposure, ripeness, performance, early warnings, charts, people, events, signals."""
    told = [gathered(study, plan, line, i) for i, line in enumerate(timelines(study, plan), 1)]
    parts: list[Part] = []
    for one in told:
        parts += [
            telling.status(one),
            replace(telling.exposure(one), element="E36"),
            replace(telling.maturity(one), element="E09"),
            telling.performance(one),
            replace(watching.drift(one), element="E38"),
            replace(watching.charts(one), element="E39"),
        ]
    parts += [
        replace(recorded.people(told[0]), element="E41"),
        replace(recorded.events(told[0]), element="E42"),
        replace(recorded.signals(told[0]), element="E43"),
    ]
    not_shown = [say(f"{ID}.not_shown.{name}") for name in ("cause", "drift", "events", "decision")]
    return Finding(ID, tuple(parts), tuple(r for one in told for r in one.results), tuple(not_shown))


DIMENSION = Dimension(ID, has_data, answer)
