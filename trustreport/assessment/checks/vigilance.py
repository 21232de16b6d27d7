"""Pitfalls of watching over time: truths that come late, a moving baseline, many looks, case mix, silence."""

import datetime as dt
from collections.abc import Iterator
from math import isnan

import numpy as np

from trustreport.assessment.checks.check import Check, Evidence, Remark
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.measures.monitoring.rates import any_false_alert, event_rate
from trustreport.study.study import Dataset
from trustreport.vocabulary.digits import per
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

DIMENSION = "vigilance"


def _entries(evidence: Evidence, quantity: str) -> Iterator[Result]:
    return evidence.leading(f"{DIMENSION}.{quantity}")


def _of(result: Result) -> Place:
    """Where a result belongs: its period, or periods, and candidate."""
    at = result.place
    return Place(dataset=at.dataset, period=at.period, datasets=at.datasets, candidate=at.candidate)


def immature(evidence: Evidence) -> Iterator[Remark]:
    """P53: a period of which many cases are too young for a truth."""
    for r in _entries(evidence, "mature_share"):
        until = r.details.get("judged_until")
        if until is None or isnan(r.estimate.value):
            continue
        missing = 1 - r.estimate.value
        message = say("checks.P53.fired", value=missing, until=dt.date.fromisoformat(until))
        if undated := r.details.get("undated"):
            days = evidence.plan.reference_standard.maturity_days
            message = say("checks.P53.undated", value=missing, n=undated, days=days)
        yield Remark(_of(r), message if missing > evidence.limit("P53_immature") else None)


def contaminated(evidence: Evidence) -> Iterator[Remark]:
    """P54: no fixed baseline, or cases of a period within its days."""
    periods = [d for d in evidence.study.datasets if d.role == "period"]
    if not periods:
        return
    name = evidence.plan.vigilance.baseline_dataset if evidence.plan.vigilance else None
    every = Place(datasets=tuple(d.name for d in periods))
    known = {d.dataset for d in evidence.plan.datasets} | {d.name for d in evidence.study.datasets}
    if name is None:
        yield Remark(every, say("checks.P54.undeclared"))
        return
    if name not in known:
        yield Remark(every, say("checks.P54.unknown", name=name))
        return
    start, end = _days(evidence, name)
    for period in periods:
        if period.name == name:
            continue
        inside = _inside(evidence, period, start, end)
        if inside is not None:
            message = say("checks.P54.fired", n=inside, start=start, end=end) if inside else None
            yield Remark(Place(dataset=period.name, period=period.name), message)


def _days(evidence: Evidence, name: str) -> tuple[dt.date | None, dt.date | None]:
    """First and last day of a data set: declared, else of its cases."""
    facts = next((d for d in evidence.plan.datasets if d.dataset == name), None)
    held = next((d for d in evidence.study.datasets if d.name == name), None)
    day = held.cases.date if held is not None else None
    given = day[~np.isnat(day)] if day is not None else np.zeros(0, "datetime64[D]")
    ends = (
        [dt.date.fromisoformat(str(d.astype("datetime64[D]"))) for d in (given.min(), given.max())]
        if (given.size)
        else [None, None]
    )
    return (facts and facts.start_date) or ends[0], (facts and facts.end_date) or ends[1]


def _inside(evidence: Evidence, period: Dataset, start: dt.date | None, end: dt.date | None) -> int | None:
    """Cases of a period that fall into the days of the baseline; None where the days are not known."""
    if start is None or end is None:
        return None
    day = period.cases.date
    if day is not None and not np.isnat(day).all():
        return int(((day >= np.datetime64(start)) & (day <= np.datetime64(end))).sum())
    first, last = _days(evidence, period.name)
    if first is None or last is None:
        return None
    return len(period.cases) if first <= end and last >= start else 0


def repeated_looks(evidence: Evidence) -> Iterator[Remark]:
    """P55: an indicator without a budget of false alerts, more looks than planned, or a budget overspent."""
    vigilance = evidence.plan.vigilance
    looks = len({r.place.period for r in _entries(evidence, "mature_share") if r.estimate.n})
    if vigilance is None or not vigilance.indicators or not looks:
        return
    planned = vigilance.planned_looks
    periods = tuple(d.name for d in evidence.study.datasets if d.role == "period")
    for indicator in vigilance.indicators:
        endpoint = indicator.measure.rpartition(".")[2]
        name = quantity_name(endpoint)
        overspent = [
            r
            for chart in ("cusum", "sprt")
            for r in _entries(evidence, chart)
            if r.endpoint == endpoint and _overspent(r)
        ]
        message = None
        if indicator.false_alert_budget is None:
            p = any_false_alert(looks, 1 - evidence.plan.report.confidence_level)
            message = say("checks.P55.fired", n=looks, p=p, name=name)
        elif planned is not None and looks > planned:
            message = say("checks.P55.above_plan", n=looks, planned=planned, name=name)
        elif overspent:
            d = overspent[0].estimate.details
            values = {"p": d["false_alert_spent"], "budget": d["false_alert_budget"], "name": name}
            message = say("checks.P55.overspent", **values)
        yield Remark(Place(datasets=periods), message, (endpoint,) if message else ())


def _overspent(result: Result) -> bool:
    d = result.estimate.details
    return bool(d.get("false_alert_spent", 0.0) > d.get("false_alert_budget", 1.0))


def case_mix(evidence: Evidence) -> Iterator[Remark]:
    """P56: a change that shrinks when the case mix is held as it was at the baseline."""
    crude = {
        (r.place.period, r.place.candidate, r.endpoint): r
        for r in _entries(evidence, "period_change")
        if r.parameters.get("against") == "baseline"
    }
    for held in _entries(evidence, "standardised_change"):
        change = crude.get((held.place.period, held.place.candidate, held.endpoint))
        if change is None or isnan(held.estimate.value) or isnan(change.estimate.low):
            continue
        a, b = change.estimate, held.estimate
        shown = a.low > 0 or a.high < 0
        # What is left of the change, in its own direction.
        left = b.value / a.value if a.value else 1.0
        fires = shown and left < 1 - evidence.limit("P56_shrink")
        values = {
            "name": quantity_name(held.endpoint),
            "crude": a.value,
            "held": b.value,
            "low": b.low,
            "high": b.high,
            "level": b.level,
        }
        yield Remark(_of(held), say("checks.P56.fired", **values) if fires else None)


def silence(evidence: Evidence) -> Iterator[Remark]:
    """P57: no incident, or no override, where there were too few cases to say much, or no log."""
    for r in _entries(evidence, "event_rate"):
        if r.place.period is not None or r.parameters.get("kind") != "incident" or isnan(r.estimate.value):
            continue
        e, logged = r.estimate, "incidents" in evidence.plan.model_fields_set
        message = None
        if e.value == 0 and not logged:
            message = say("checks.P57.no_log", n=e.n, rate=per(e, 1000).high, level=e.level)
        elif e.value == 0 and e.high > evidence.limit("P57_rate"):
            message = say("checks.P57.fired", n=e.n, rate=per(e, 1000).high, level=e.level)
        yield Remark(_of(r), message)
    for r in _entries(evidence, "reliance_value"):
        e = r.estimate
        if r.endpoint == "override_rate" and e.n:
            upper = event_rate(0, e.n, level=e.level).high
            fires = e.value == 0
            values = {"n": e.n, "rate": min(upper, 1.0), "level": e.level}
            yield Remark(_of(r), say("checks.P57.overrides", **values) if fires else None)


CHECKS = (
    Check("P53", DIMENSION, "B", immature),
    Check("P54", DIMENSION, "B", contaminated),
    Check("P55", DIMENSION, "W", repeated_looks),
    Check("P56", DIMENSION, "W", case_mix),
    Check("P57", DIMENSION, "W", silence),
)
