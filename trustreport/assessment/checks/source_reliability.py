"""Pitfalls of the reference standard: raters who hardly agree, cases with one rater, no blinding."""

from collections.abc import Iterator
from math import isnan

import numpy as np

from trustreport.assessment.checks.check import Check, Evidence, Remark
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result, leading

DIMENSION = "source_reliability"


def weak_reference(evidence: Evidence) -> Iterator[Remark]:
    """P14: agreement whose interval reaches below the limit, cases with one rater, assessors not blinded."""
    several = len(evidence.study.raters) > 1
    for ratings in evidence.study.raters:
        place = Place(panel=ratings.task if several else "")
        labels = np.bincount(ratings.case[ratings.label >= 0], minlength=len(ratings.cases))
        single, total = int(np.count_nonzero(labels == 1)), int(np.count_nonzero(labels))
        share = evidence.limit("P14_single")
        found = [say("checks.P14.single", n=single, total=total) if single > share * total else None]
        if (labels > 1).any():
            found.append(_agreement(evidence, place))
        fired = [Remark(place, message) for message in found if message]
        yield from fired or [Remark(place)]
    yield from _blinding(evidence)


def _agreement(evidence: Evidence, place: Place) -> Message | None:
    alpha = leading(evidence.results, f"{DIMENSION}.krippendorff_alpha", raters=None, **place.scope)
    if alpha is None:
        return None
    limit = evidence.limit("P14_agreement")
    e = alpha.estimate
    # What a perfect device could reach is that of labels that are the same or not: ranks are not.
    by_rank = alpha.parameters.get("weights") == "ordinal"
    label = leading(evidence.results, f"{DIMENSION}.label_accuracy", set=None, **place.scope)
    best = say("checks.P14.ranks") if by_rank else _best(label)
    if isnan(e.low):
        return say("checks.P14.no_interval", reason=e.note, best=best) if not e.value >= limit else None
    if e.low >= limit:
        return None
    whose = say(f"checks.P14.{'declared' if 'P14_agreement' in evidence.plan.limits else 'customary'}")
    return say("checks.P14.fired", value=e.value, low=e.low, high=e.high, limit=limit, best=best, whose=whose)


def _best(label: Result | None) -> Message:
    """The accuracy that a device which is always right would be measured at."""
    if label is None or isnan(label.estimate.value):
        return say("checks.P14.no_best")
    method = say(f"method.{label.method}.text")
    return say("checks.P14.best", value=label.estimate.value, method=method)


def _blinding(evidence: Evidence) -> Iterator[Remark]:
    reference = evidence.plan.reference_standard
    declared = {"index": reference.blinded_to_index, "readers": reference.blinded_to_readers}
    seen = [say(f"checks.P14.what_{name}") for name, blinded in declared.items() if blinded is False]
    if seen:
        yield Remark(NOWHERE, say("checks.P14.not_blinded", what=seen))
    elif not evidence.study.raters and None not in declared.values():
        yield Remark()


CHECKS = (Check("P14", DIMENSION, "W", weak_reference),)
