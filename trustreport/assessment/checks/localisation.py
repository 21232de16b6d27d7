"""Pitfalls of localisation: hits that hang on the radius, and rates of false marks that were not reached."""

from collections.abc import Iterator

import numpy as np

from trustreport.assessment.checks.check import Check, Evidence, Remark
from trustreport.assessment.performance.lesions import marked_cases, rates_of
from trustreport.measures.lesions.froc import froc_curve
from trustreport.vocabulary.messages import say

DIMENSION = "localisation"
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
    Check("P66", DIMENSION, "W", radius_decides),
    Check("P67", DIMENSION, "N", rates_not_reached),
)
