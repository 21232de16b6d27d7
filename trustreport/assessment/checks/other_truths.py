"""Pitfalls of time to event: much censoring, censoring that depends on the score, competing events."""

from collections.abc import Iterator

import numpy as np

from trustreport.assessment.checks.check import Check, Evidence, Remark
from trustreport.assessment.performance.lesions import marked_cases, rates_of
from trustreport.assessment.performance.time_to_event import followed_cases
from trustreport.measures.lesions.froc import froc_curve
from trustreport.vocabulary.digits import share
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.place import NOWHERE

DIMENSION = "advice_accuracy"
# Below this p the weights are wrong beyond doubt, and no number that rests on them is judged.
BEYOND_DOUBT = 0.001


def much_censoring(evidence: Evidence) -> Iterator[Remark]:
    """P63: the state at the horizon is unknown for many, so that few with large weights decide."""
    for one in followed_cases(evidence.study, evidence.plan):
        state = one.state
        if not len(state):
            continue
        part = share(state.n_censored, len(state))
        values = {
            "n": state.n_censored,
            "total": len(state),
            "share": part,
            "effective": state.size(state.event),
        }
        fires = part > evidence.limit("P63_share")
        yield Remark(one.place, say("checks.P63.fired", **values) if fires else None)


def censoring_by_score(evidence: Evidence) -> Iterator[Remark]:
    """P64: follow-up ends sooner at some scores than at others, which the weights do not allow for."""
    for one in followed_cases(evidence.study, evidence.plan):
        found = one.censoring()
        if found is None or found.note:
            continue
        apart = abs(found.lower - found.upper) > evidence.limit("P64_gap")
        message = say("checks.P64.fired", lower=found.lower, upper=found.upper, p=found.p)
        if apart and found.p < BEYOND_DOUBT:
            yield Remark(one.place, say("checks.P64.withheld", first=message))
        else:
            fires = apart and found.p < evidence.limit("P64_p")
            yield Remark(one.place, message if fires else None, severity="W")


def competing_undeclared(evidence: Evidence) -> Iterator[Remark]:
    """P65: nobody said whether another event can come before, and whether it was coded as censored."""
    declared = evidence.plan.time_to_event
    if declared is not None and followed_cases(evidence.study, evidence.plan):
        yield Remark(NOWHERE, say("checks.P65.fired") if declared.competing is None else None)


LOCALISATION = "localisation"
WIDER = 2.0  # how many times wider, and narrower, the radius is taken
OF_RATES = ("froc_sensitivity", "froc_mean_sensitivity")


def radius_decides(evidence: Evidence) -> Iterator[Remark]:
    """P66: many marks would change between hit and false mark at half or twice the acceptance radius."""
    for one in marked_cases(evidence.study, evidence.plan):
        radius, distance = one.of.radius, one.of.distance
        if radius is None or distance is None:
            continue
        away = distance[one.known[one.of.case]]
        near = int((away <= WIDER * radius).sum())
        changed = near - int((away <= radius / WIDER).sum())
        found = near > 0 and changed / near > evidence.limit("P66_share")
        message = say("checks.P66.fired", n=changed, of=near, radius=radius) if found else None
        yield Remark(one.place, message)


def rates_not_reached(evidence: Evidence) -> Iterator[Remark]:
    """P67: a candidate made fewer false marks a case than a rate at which its sensitivity is given."""
    for one in marked_cases(evidence.study, evidence.plan):
        rates = np.array(rates_of(evidence.plan))
        for maker in () if one.by_readers or not one.with_lesion else range(len(one.makers)):
            last = float(froc_curve(one.marked(0, maker)).false_marks[-1])
            lost, place = int((rates > last).sum()), one.place_of(maker)
            values = {"name": place.data_name, "n": lost, "of": len(rates), "last": last}
            yield Remark(place, say("checks.P67.fired", **values) if lost else None, OF_RATES if lost else ())


CHECKS = (
    Check("P63", DIMENSION, "W", much_censoring),
    Check("P64", DIMENSION, "B", censoring_by_score),
    Check("P65", DIMENSION, "W", competing_undeclared),
    Check("P66", LOCALISATION, "W", radius_decides),
    Check("P67", LOCALISATION, "N", rates_not_reached),
)
