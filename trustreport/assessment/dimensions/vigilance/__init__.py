"""Vigilance: has anything changed since the baseline, is anybody being harmed, and what is due?"""

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.vigilance import chart_words, register_words, words
from trustreport.assessment.dimensions.vigilance.charts import charted, delays
from trustreport.assessment.dimensions.vigilance.compared import funnel_results, funnels
from trustreport.assessment.dimensions.vigilance.drift import called_results, drift, drift_results
from trustreport.assessment.dimensions.vigilance.events import rate_results
from trustreport.assessment.dimensions.vigilance.periods import ID, Timeline, readings_of, timelines
from trustreport.assessment.dimensions.vigilance.readers_over_time import reader_results, reliances
from trustreport.assessment.dimensions.vigilance.results import (
    exposure_results,
    maturity_results,
    period_results,
    use_of,
)
from trustreport.assessment.dimensions.vigilance.since import since
from trustreport.assessment.dimensions.vigilance.view import MonitoringView
from trustreport.assessment.dimensions.vigilance.words import text
from trustreport.assessment.finding import Finding, Part
from trustreport.assessment.narrative.where import where
from trustreport.assessment.performance.sites import Pool, pooled
from trustreport.study.plan import Plan
from trustreport.study.study import Readings, Study
from trustreport.vocabulary.results import Result


def has_data(study: Study, plan: Plan) -> bool:
    """Whether a period of routine use was provided."""
    del plan
    return any(d.role == "period" for d in study.datasets)


def gathered(study: Study, plan: Plan, timeline: Timeline, number: int) -> MonitoringView:
    """Every number of one candidate over the periods."""
    people = reliances(study, timeline, plan)
    readings: dict[str, Readings] = {}
    for _, by_period in readings_of(study, timeline):
        readings |= by_period
    uses = [use_of(period, readings) for period in timeline.periods]
    charts = charted(timeline, people, plan)
    late = delays(charts, timeline)
    found = funnels(timeline, people, charts, plan)
    results = [
        *exposure_results(uses, timeline, plan),
        *maturity_results(timeline, plan),
        *period_results(timeline, plan),
        *called_results(timeline, plan),
        *drift_results(timeline, plan),
        *(c.result for c in charts),
        *(r for delay in late for r in delay.results.values()),
        *funnel_results(found, timeline),
        *(reader_results(people, timeline, plan) if number == 1 else ()),
        *rate_results(timeline, uses, plan),
    ]
    return MonitoringView(
        timeline,
        plan,
        number,
        tuple(results),
        tuple(uses),
        tuple(people),
        tuple(charts),
        tuple(late),
        tuple(found),
    )


def pool_of(timeline: Timeline, plan: Plan) -> Pool | None:
    """The analysed cases of the baseline and every period together."""
    cases = [p.cases for p in timeline.with_baseline if p.cases is not None]
    return pooled(cases, plan, in_time=True)


def answer(study: Study, plan: Plan) -> Finding:
    """Status, exposure, maturity, performance, early warnings, charts, people, events, signals."""
    views = [gathered(study, plan, line, i) for i, line in enumerate(timelines(study, plan), 1)]
    parts: list[Part] = []
    concentrated: list[Result] = []
    for one in views:
        lies, found = where(pool_of(one.timeline, plan), ID, plan, one.suffix)
        concentrated += found
        parts += [
            words.status(one),
            words.due_list(one),
            since(one),
            words.exposure(one),
            words.maturity(one),
            words.performance(one),
            *((lies,) if lies else ()),
            drift(one),
            chart_words.charts(one),
        ]
    parts += [of(views[0]) for of in (words.readers_part, register_words.events, register_words.signals)]
    results = (*(r for one in views for r in one.results), *concentrated)
    return text.finding(parts, results, ("cause", "drift", "events", "decision"))


DIMENSION = Dimension(ID, has_data, answer)
