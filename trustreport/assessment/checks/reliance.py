"""Pitfalls of reliance: automation bias, reliance that cannot be measured, overrides read as errors."""

from collections.abc import Iterator
from math import isfinite, isnan

from trustreport.assessment.checks.check import Check, Evidence, Remark, data_of
from trustreport.assessment.narrative.texts import numbers
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

DIMENSION = "reliance"


def _place_of(result: Result) -> Place:
    """Where a result belongs, for a check: its set or task, and its arms."""
    return Place(set=result.place.set, task=result.place.task, arms=result.place.arms)


def _leading(evidence: Evidence, quantity: str) -> Iterator[Result]:
    """The leading entries of a quantity over all readers and readings."""
    return (r for r in evidence.leading(f"{DIMENSION}.{quantity}") if r.place.reader is None)


def automation_bias(evidence: Evidence) -> Iterator[Remark]:
    """P29: right decisions given up for wrong advice, or fewer right decisions with the aid after it."""
    limit = evidence.limit("P29_harmful_switch_rate")
    for r in _leading(evidence, "harmful_switch_rate"):
        if isnan(r.estimate.value):
            continue
        lower = [c for c in _leading(evidence, "accuracy_change") if _after_wrong_advice(c, r)]
        lower = [c for c in lower if c.estimate.high < 0]
        fires = r.estimate.value >= limit or lower
        yield Remark(_place_of(r), _given_up(r, lower) if fires else None)


def _after_wrong_advice(change: Result, of: Result) -> bool:
    one, other = change.place, of.place
    same = (one.set, one.task) == (other.set, other.task) and other.arms in (None, one.arms)
    return same and change.parameters == {"advice": "wrong"}


def _given_up(r: Result, lower: list[Result]) -> Message:
    e = r.estimate
    if isnan(e.low):
        said = say("checks.P29.fired_no_interval", value=e.value, n=e.n, reason=e.note)
    else:
        said = say("checks.P29.fired", value=e.value, low=e.low, high=e.high, level=e.level, n=e.n)
    by_class = [change for change in lower if change.endpoint != "accuracy"]
    endpoints = [(say(f"checks.P29.endpoint.{c.endpoint}"), numbers(c.estimate)) for c in by_class or lower]
    items = [say("checks.P29.lower_item", endpoint=endpoint, **e) for endpoint, e in endpoints]
    return say("checks.P29.lower", first=said, items=items) if items else said


def not_measurable(evidence: Evidence) -> Iterator[Remark]:
    """P30: decisions with the aid, but no advice, no decision before it, or no truth to judge by."""
    for counts in evidence.study.reliance_counts:
        yield Remark(Place(set=counts.set))
    for readings, place in evidence.tasks():
        for arms in evidence.plan.contrasts:
            if arms[0] in readings.arms:
                why = _lacking(evidence, place, arms)
                message = say("checks.P30.fired", reason=say(f"checks.P30.reason.{why}")) if why else None
                yield Remark(place.narrowed(arms=arms), message)


def _lacking(evidence: Evidence, place: Place, arms: tuple[str, str]) -> str:
    """What keeps reliance from being measured; nothing where some reading has a pattern."""
    counted = [r for r in _leading(evidence, "switch_count") if r.place == place.narrowed(arms=arms)]
    if not counted:
        return "no_advice"
    if any(r.estimate.n for r in counted):
        return ""
    first = [r for r in _leading(evidence, "agreement_with_advice") if r.place == place.narrowed(arm=arms[1])]
    return "no_truth" if any(r.estimate.n for r in first) else "no_first"


def overrides_without_truth(evidence: Evidence) -> Iterator[Remark]:
    """P58: overrides counted where it is not known who was right."""
    rates = list(_leading(evidence, "override_rate"))
    for r in rates:
        if not r.parameters:
            # After right and after wrong advice: the readings whose truth is known.
            parts = (other for other in rates if "advice" in other.parameters)
            known = sum(other.estimate.n for other in parts if other.place == r.place)
            message = say("checks.P58.fired", known=known, n=r.estimate.n)
            yield Remark(_place_of(r), message if known < r.estimate.n else None)


DECISION_BENEFIT = "decision_benefit"


def harmed_readers(evidence: Evidence) -> Iterator[Remark]:
    """P27: an average that hides readers who did worse with the aid."""
    limit = evidence.limit("P27_share")
    by_task: dict[Place, list[Result]] = {}
    for r in evidence.results:
        if r.id == f"{DECISION_BENEFIT}.benefit" and r.endpoint == "accuracy" and isfinite(r.estimate.value):
            by_task.setdefault(Place(task=r.place.task, arms=r.place.arms), []).append(r)
    for readers in by_task.values():
        worse = sum(r.estimate.value < 0 for r in readers)
        below = sum(r.estimate.high < 0 for r in readers)
        fires = below > 0 or worse / len(readers) > limit
        if below:
            message = say("checks.P27.fired_below", n=worse, total=len(readers), below=below)
        else:
            message = say("checks.P27.fired", n=worse, total=len(readers))
        yield Remark(data_of(readers[0]), message if fires else None)


def regression_to_the_mean(evidence: Evidence) -> Iterator[Remark]:
    """P28: low starters seem to gain more; part of it is the term that change and baseline share."""
    for r in evidence.results:
        if r.id == f"{DECISION_BENEFIT}.baseline_slope" and isfinite(r.estimate.value):
            e = r.estimate
            naive = e.details["slope_on_baseline"]
            if isfinite(e.low):
                message = say("checks.P28.fired", naive=naive, value=e.value, low=e.low, high=e.high)
            else:
                message = say("checks.P28.fired_no_interval", naive=naive, value=e.value, reason=e.note)
            yield Remark(data_of(r), message if naive < 0 else None)


CHECKS = (
    Check("P29", DIMENSION, "W", automation_bias),
    Check("P30", DIMENSION, "N", not_measurable),
    Check("P58", DIMENSION, "N", overrides_without_truth),
    Check("P27", DECISION_BENEFIT, "W", harmed_readers),
    Check("P28", DECISION_BENEFIT, "N", regression_to_the_mean),
)
