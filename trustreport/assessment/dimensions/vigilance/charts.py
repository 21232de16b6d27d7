"""Sequential charts of the declared indicators: CUSUM and SPRT over the cases of all periods in order.

How late each chart would be: cases and periods from the declared harm to its alert.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.vigilance.periods import ID, Timeline
from trustreport.assessment.dimensions.vigilance.readers_over_time import Reliances
from trustreport.assessment.dimensions.vigilance.results import (
    BEFORE_TRUTH,
    OF_READINGS,
    WITHOUT_TRUTH,
    bare,
    indicators,
    of_right,
    stream,
)
from trustreport.assessment.narrative.texts import heading
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.monitoring.charts import METHOD as CUSUM
from trustreport.measures.monitoring.charts import SPRT_METHOD as SPRT
from trustreport.measures.monitoring.charts import CusumChart, SprtChart, cusum, planned_looks, sprt
from trustreport.measures.monitoring.detection_delay import STATISTICS, cusum_delay, sprt_delay
from trustreport.measures.monitoring.notes import NO_BUDGET, USUAL_LOOK
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.study.plan import Indicator, Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

MISSED = 0.1  # chance of a missed alert where none is declared
NO_RATES = note("rate_in_control_and_rate_to_detect")
NOT_OF_CASES = note("no_share_cases_or_readings_followed")
NO_READINGS = note("not_available_from_readings_periods")
NO_ORDER = note("order_cases_within_period_not_known")
OTHER_CHART = note("another_chart_than_cusum_or_sprt")
METHODS = {"cusum": CUSUM, "sprt": SPRT}


@dataclass(frozen=True, eq=False)
class Looks:
    """What an indicator counts in the order of time: events and cases of each look, its period and its day.

    A look is a case where each case has a date, else a period.
    """

    events: NDArray[np.int64]
    sizes: NDArray[np.int64]
    period: tuple[str, ...]
    day: tuple[dt.date | None, ...]

    @property
    def by_case(self) -> bool:
        """Whether each look is one case."""
        return bool((self.sizes == 1).all())


@dataclass(frozen=True, eq=False)
class Charted:
    """One chart of one indicator: its entry, and what is drawn of it."""

    indicator: Indicator
    kind: str
    result: Result
    looks: Looks | None = None
    run: CusumChart | SprtChart | None = None
    follow_up: dt.timedelta = dt.timedelta()  # that the reference result of a case needs

    @property
    def endpoint(self) -> str:
        """What it is a chart of."""
        return bare(self.indicator.measure)

    @property
    def name(self) -> Message:
        """The name of what it is a chart of."""
        return heading(self.endpoint)

    @property
    def type(self) -> Message:
        """The name of its kind."""
        return say(f"{ID}.chart.{self.kind}")

    @property
    def title(self) -> Message:
        """What it is a chart of, and of which kind it is."""
        return say(f"{ID}.figure.chart", name=self.name, chart=self.type)

    @property
    def rates(self) -> Message | None:
        """The rates that it is designed for, in words."""
        rates = {"in_control": self.indicator.in_control, "to_detect": self.indicator.to_detect}
        return None if None in rates.values() else say(f"{ID}.rates", **rates)

    @property
    def design(self) -> Mapping[str, Any]:
        """What the chart was designed with, and how often it alerted."""
        return self.result.estimate.details

    @property
    def alert(self) -> int | None:
        """The look of the first alert, 0-based."""
        return self.run.alerts[0] if self.run and self.run.alerts else None

    @property
    def alert_period(self) -> str:
        """The period of the first alert, or nothing."""
        return "" if self.alert is None or self.looks is None else self.looks.period[self.alert]

    @property
    def alert_day(self) -> dt.date | None:
        """The day of the case of the first alert, where days are known."""
        return None if self.alert is None or self.looks is None else self.looks.day[self.alert]

    @property
    def known(self) -> dt.date | None:
        """The day from which the first alert could be known: when the reference result of its case came."""
        return None if self.alert_day is None else self.alert_day + self.follow_up


def keeps_budget(chart: Result) -> bool:
    """Whether the probability of a false alert so far is within the budget of the chart."""
    spent, budget = (chart.estimate.details.get(f"false_alert_{name}", nan) for name in ("spent", "budget"))
    return spent <= budget


def charted(timeline: Timeline, reliances: Sequence[Reliances], plan: Plan) -> list[Charted]:
    """Every chart that the manifest declares."""
    return [
        _chart(timeline, indicator, kind, reliances, plan)
        for indicator in indicators(plan)
        for kind in kinds(indicator)
    ]


def kinds(indicator: Indicator) -> list[str]:
    """The charts of an indicator: those that its text names, a CUSUM without one."""
    text = (indicator.chart or "cusum").lower()
    return [kind for kind in METHODS if kind in text] or ["none"]


def _chart(
    timeline: Timeline, indicator: Indicator, kind: str, reliances: Sequence[Reliances], plan: Plan
) -> Charted:
    endpoint, level = bare(indicator.measure), plan.report.confidence_level
    found = looks(timeline, endpoint, reliances)
    why = _why(indicator, kind, endpoint, found)
    shown = "cusum" if kind == "none" else kind
    parameters: dict[str, Any] = {
        name: value
        for name in ("in_control", "to_detect", "false_alert_budget")
        if (value := getattr(indicator, name)) is not None
    }

    def entry(e: Estimate, **details: Any) -> Result:
        """A result of this chart, with what it was designed for."""
        return Result(
            f"{ID}.{shown}",
            timeline.place,
            e,
            endpoint=endpoint,
            parameters=parameters,
            primary=True,
            details=details,
        )

    if found is None or why:
        n = int(found.sizes.sum()) if found else 0
        none = undefined(n, why or NOT_OF_CASES, level=level, method=METHODS[shown])
        return Charted(indicator, shown, entry(none), found)
    days = plan.reference_standard.maturity_days
    wait = dt.timedelta(days=float(days)) if days and endpoint not in BEFORE_TRUTH else dt.timedelta()
    run: CusumChart | SprtChart | None
    assert indicator.in_control is not None
    assert indicator.to_detect is not None
    rates = (indicator.in_control, indicator.to_detect)
    budget = indicator.false_alert_budget or 0.0
    if kind == "cusum":
        planned = _planned(found, timeline, indicator, plan)
        one, run = cusum(found.events, found.sizes, *rates, budget=budget, planned=planned, level=level)
    else:
        missed = MISSED if indicator.missed_alert_budget is None else indicator.missed_alert_budget
        one, run = sprt(found.events, *rates, budget=budget, missed=missed, level=level)
    made = Charted(indicator, shown, entry(one), found, run, wait)
    return replace(made, result=entry(one, **_details(made)))


def _why(indicator: Indicator, kind: str, endpoint: str, found: Looks | None) -> Note:
    if kind == "none":
        return OTHER_CHART
    if found is None:
        return NO_READINGS if endpoint in OF_READINGS else NOT_OF_CASES
    if indicator.in_control is None or indicator.to_detect is None:
        return NO_RATES
    if indicator.false_alert_budget is None:
        return NO_BUDGET
    return NO_ORDER if kind == "sprt" and not found.by_case else NO_NOTE


def _details(made: Charted) -> dict[str, Any]:
    """What is no number: whether looks are cases or periods, where and when the first alert came."""
    details: dict[str, Any] = {"look": "case" if made.looks and made.looks.by_case else "period"}
    if made.alert_period:
        details["first_alert_period"] = made.alert_period
    if made.alert_day:
        details["first_alert_date"] = made.alert_day.isoformat()
    if made.known:
        details["first_alert_known"] = made.known.isoformat()
    return details


def _planned(found: Looks, timeline: Timeline, indicator: Indicator, plan: Plan) -> Sequence[int]:
    """The looks for which the budget is meant: as many cases as declared, else as periods are planned."""
    sizes = found.sizes.tolist()
    cases = indicator.planned_cases
    if cases is None and plan.vigilance and plan.vigilance.planned_looks:
        held = sum(len(p) > 0 for p in timeline.periods)
        cases = round(sum(sizes) * plan.vigilance.planned_looks / held) if held else None
    return () if cases is None else planned_looks(sizes, cases)


def looks(timeline: Timeline, endpoint: str, reliances: Sequence[Reliances]) -> Looks | None:
    """What an indicator counts, in the order of time; None where no case or reading tells it."""
    if endpoint in OF_READINGS:
        return _of_readings(timeline, endpoint, reliances)
    if not of_right(endpoint) and endpoint not in WITHOUT_TRUTH:
        return None
    rows = []
    for k, period in enumerate(timeline.periods):
        if not len(period):
            continue
        counted, event = stream(period, endpoint)
        at = np.flatnonzero(counted)
        day = None if period.date is None else period.date[at]
        rows.append((k, event[at].astype(np.int64), day))
    return _in_order(timeline, rows)


def _of_readings(timeline: Timeline, endpoint: str, reliances: Sequence[Reliances]) -> Looks | None:
    rows = []
    for k, period in enumerate(timeline.periods):
        for reliance in reliances:
            outcome, day = reliance.outcomes(period.name, endpoint)
            if outcome.size:
                rows.append((k, outcome, day))
    return _in_order(timeline, rows) if rows else None


def _in_order(
    timeline: Timeline, rows: Sequence[tuple[int, NDArray[np.int64], NDArray[np.datetime64] | None]]
) -> Looks:
    """Cases by period, then day, then place; whole periods where some case has no day."""
    dated = all(day is not None and not np.isnat(day).any() for _, _, day in rows)
    events: list[NDArray[np.int64]] = []
    periods: list[str] = []
    days: list[dt.date | None] = []
    sizes: list[int] = []
    for k, event, day in rows:
        name = timeline.periods[k].name
        if dated and day is not None:
            order = np.argsort(day, kind="stable")
            events.append(event[order])
            sizes += [1] * len(event)
            periods += [name] * len(event)
            days += [dt.date.fromisoformat(str(d.astype("datetime64[D]"))) for d in day[order]]
        elif len(event):
            events.append(np.array([int(event.sum())], np.int64))
            sizes.append(len(event))
            periods.append(name)
            days.append(timeline.periods[k].end)
    joined = np.concatenate(events) if events else np.zeros(0, np.int64)
    return Looks(joined, np.array(sizes, np.int64), tuple(periods), tuple(days))


def in_control(chart: Charted) -> str:
    """What a chart says: "alert", "in control", or nothing where it could not be drawn."""
    if isnan(chart.result.estimate.value) or chart.run is None:
        return ""
    return "in_control" if chart.alert is None else "alert"


@dataclass(frozen=True, eq=False)
class Delay:
    """The delay of one chart: its two entries, by statistic."""

    chart: Charted
    results: Mapping[str, Result]

    @property
    def known(self) -> bool:
        """Whether there is a chart that alerts."""
        return all("periods" in r.details for r in self.results.values())

    def cases(self, statistic: str) -> float:
        """Cases until the alert."""
        return self.results[statistic].estimate.value

    def periods(self, statistic: str) -> float:
        """The same in periods of the usual number of cases."""
        return float(self.results[statistic].details["periods"])


def delays(charts: Sequence[Charted], timeline: Timeline) -> list[Delay]:
    """The delay of every chart, undefined for the reason that there is no chart where there is none."""
    return [_delay(chart, timeline) for chart in charts]


def _delay(chart: Charted, timeline: Timeline) -> Delay:
    parameters = {**chart.result.parameters, "chart": chart.kind}
    made = {}
    for name, e in _estimates(chart).items():
        details = {}
        if "looks" in e.details and chart.looks is not None:
            per_period = float(chart.looks.sizes.sum()) / len(set(chart.looks.period))
            details = {"periods": e.value / per_period, "cases_per_period": per_period}
        made[name] = Result(
            f"{ID}.detection_delay",
            timeline.place,
            e,
            endpoint=chart.endpoint,
            parameters={**parameters, "statistic": name},
            primary=True,
            details=details,
        )
    return Delay(chart, made)


def _estimates(chart: Charted) -> dict[str, Estimate]:
    e, looks, run = chart.result.estimate, chart.looks, chart.run
    if looks is None or run is None:
        none = undefined(e.n, e.note, level=e.level, method=METHODS[chart.kind])
        return dict.fromkeys(STATISTICS, none)
    if isinstance(run, CusumChart):
        sizes = set(looks.sizes.tolist())
        usual = max(1, round(float(looks.sizes.mean())))
        note = USUAL_LOOK if len(sizes) > 1 else NO_NOTE
        return cusum_delay(run.design, cases=usual, n=e.n, level=e.level, note=note)
    return sprt_delay(run, n=e.n, level=e.level)
