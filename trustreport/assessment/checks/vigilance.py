"""Pitfalls of watching over time: truths that come late, a moving baseline, many looks, case mix, silence."""

import datetime as dt
from collections.abc import Iterator
from math import isnan

import numpy as np

from trustreport.assessment.checks.check import Check, Evidence, Remark, outputs
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.performance.readers import place_of_task
from trustreport.measures.monitoring.rates import any_false_alert, event_rate
from trustreport.study.study import Dataset, Scores
from trustreport.vocabulary.digits import per
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

DIMENSION = "vigilance"


def _entries(evidence: Evidence, quantity: str) -> Iterator[Result]:
    return evidence.leading(f"{DIMENSION}.{quantity}")


def _place_of(result: Result) -> Place:
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
        yield Remark(_place_of(r), message if missing > evidence.limit("P53_immature") else None)


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
    facts = evidence.facts(name)
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
        yield Remark(_place_of(held), say("checks.P56.fired", **values) if fires else None)


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
        yield Remark(_place_of(r), message)
    for r in _entries(evidence, "reliance_value"):
        e = r.estimate
        if r.endpoint == "override_rate" and e.n:
            upper = event_rate(0, e.n, level=e.level).high
            fires = e.value == 0
            values = {"n": e.n, "rate": min(upper, 1.0), "level": e.level}
            yield Remark(_place_of(r), say("checks.P57.overrides", **values) if fires else None)


def versions_of(scores: Scores) -> list[str]:
    """The versions that the scores of a set name, in order of name."""
    if scores.version is None:
        return []
    codes = np.unique(scores.version.codes[scores.version.codes >= 0])
    return sorted(scores.version.labels[int(code)] for code in codes)


def mixture(evidence: Evidence) -> Iterator[Remark]:
    """P48: more than one software version, or decisions that no single threshold gives, in one set."""
    below = evidence.plan.operating_point.score_direction == "lower_is_positive"
    for place, _, _, scores in outputs(evidence.study.datasets):
        versions = versions_of(scores)
        both = scores.score is not None and scores.decision is not None
        if not versions and not both:
            continue
        message = say("checks.P48.fired", versions=versions) if len(versions) > 1 else None
        yield Remark(place, message or _thresholds(scores, below=below))


def _thresholds(scores: Scores, *, below: bool) -> Message | None:
    """What is wrong where positive and negative decisions overlap in their scores."""
    if scores.score is None or scores.decision is None:
        return None
    known = ~np.isnan(scores.score)
    called = [scores.score[known & (scores.decision == d)] for d in (1, 0)]
    if not all(part.size for part in called):
        return None
    positive, negative = called if not below else called[::-1]
    low, high = float(positive.min()), float(negative.max())
    return say("checks.P48.thresholds", low=low, high=high) if low <= high else None


def other_version(evidence: Evidence) -> Iterator[Remark]:
    """P49: scores, or readings with the aid, of another version than the manifest declares."""
    declared = evidence.plan.device.software_version
    vigilance = evidence.plan.vigilance
    known = {v for v in (declared, *((vigilance.versions_in_use if vigilance else None) or ())) if v}
    if not declared:
        return
    for place, _, _, scores in outputs(evidence.study.datasets):
        versions = versions_of(scores)
        if versions:
            other = [v for v in versions if v not in known]
            message = say("checks.P49.fired", versions=other, declared=sorted(known)) if other else None
            yield Remark(place, message)
    for arm in evidence.plan.arms:
        if arm.software_version and arm.is_aided:
            fires = arm.software_version not in known
            values = {"versions": [arm.software_version], "declared": sorted(known)}
            for place in _read_in(arm.arm, evidence):
                yield Remark(place, say("checks.P49.fired", **values) if fires else None)


def _read_in(arm: str, evidence: Evidence) -> Iterator[Place]:
    """The tasks and published tables that hold decisions of an arm."""
    study = evidence.study
    for readings in study.readings:
        if arm in readings.arms:
            yield place_of_task(readings, study).narrowed(arm=arm)
    for counts in study.counts:
        if arm in counts.arms:
            yield Place(set=counts.name, arm=arm)
    for paired in study.paired_counts:
        yield Place(set=paired.set, arm=arm)


CHECKS = (
    Check("P53", DIMENSION, "B", immature, of_rows=True),
    Check("P54", DIMENSION, "B", contaminated),
    Check("P55", DIMENSION, "W", repeated_looks),
    Check("P56", DIMENSION, "W", case_mix),
    Check("P57", DIMENSION, "W", silence),
    Check("P48", DIMENSION, "B", mixture, of_rows=True),
    Check("P49", DIMENSION, "B", other_version, of_rows=True),
)
