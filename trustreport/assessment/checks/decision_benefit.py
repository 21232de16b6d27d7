"""Pitfalls of decision benefit: readers who were harmed, and gains that are partly regression to the mean."""

from collections.abc import Iterator
from math import isfinite

from trustreport.assessment.checks.check import Check, Evidence, Remark, data_of
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

DIMENSION = "decision_benefit"


def harmed_readers(evidence: Evidence) -> Iterator[Remark]:
    """P27: an average that hides readers who did worse with the aid."""
    limit = evidence.limit("P27_share")
    by_task: dict[Place, list[Result]] = {}
    for r in evidence.results:
        if r.id == f"{DIMENSION}.benefit" and r.endpoint == "accuracy" and isfinite(r.estimate.value):
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
        if r.id == f"{DIMENSION}.baseline_slope" and isfinite(r.estimate.value):
            e = r.estimate
            naive = e.details["slope_on_baseline"]
            if isfinite(e.low):
                message = say("checks.P28.fired", naive=naive, value=e.value, low=e.low, high=e.high)
            else:
                message = say("checks.P28.fired_no_interval", naive=naive, value=e.value, reason=e.note)
            yield Remark(data_of(r), message if naive < 0 else None)


CHECKS = (
    Check("P27", DIMENSION, "W", harmed_readers),
    Check("P28", DIMENSION, "N", regression_to_the_mean),
)
