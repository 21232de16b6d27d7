"""Pitfalls of subgroups: too few cases of a class, values that are not known, groups chosen afterwards."""

from collections.abc import Iterator

from trustreport import digits
from trustreport.checks.check import Check, Evidence, Remark
from trustreport.checks.withholding import GROUP
from trustreport.messages import Message, say
from trustreport.place import NOWHERE, Place
from trustreport.results import Result

DIMENSION = "subgroups"


def small_groups(evidence: Evidence) -> Iterator[Remark]:
    """P37: a group with so few positives or negatives that only counts are told."""
    groups: dict[Place, list[Result]] = {}
    for r in evidence.results:
        if r.place.subgroup is not None and "too_few" in r.details:
            at = r.place
            place = Place(dataset=at.dataset, candidate=at.candidate, task=at.task, subgroup=at.subgroup)
            groups.setdefault(place, []).append(r)
    for place, found in groups.items():
        short = [r for r in found if r.details["too_few"]]
        concerned = tuple(dict.fromkeys(r.quantity.base for r in short))
        yield Remark(place, _counted(found, short) if short else None, concerned)


def _counted(found: list[Result], short: list[Result]) -> Message:
    """What was counted in place of a percentage."""
    facts = short[0].details
    cells = {r.quantity.id: int(r.estimate.value) for r in found if r.unit == "count"}
    names = {r.quantity.id for r in short}
    if not facts["positives"] or not facts["negatives"]:
        return say("checks.P37.fired_cases", n=facts["positives"], negatives=facts["negatives"])
    if "sensitivity" in names and "tp" in cells:
        return say("checks.P37.fired", k=cells["tp"], n=facts["positives"])
    if "specificity" in names and "tn" in cells:
        return say("checks.P37.fired_negatives", k=cells["tn"], n=facts["negatives"])
    return say("checks.P37.fired_cases", n=facts["positives"], negatives=facts["negatives"])


def unknown_attribute(evidence: Evidence) -> Iterator[Remark]:
    """P38: an attribute that is not known of many cases, or a group that was not fixed in advance."""
    limit = evidence.limit("P38_share")
    for r in evidence.results:
        if r.id == f"{DIMENSION}.unknown" and r.estimate.n and r.estimate.value == r.estimate.value:
            share, attribute = digits.share(r.estimate.value, r.estimate.n), r.parameters["attribute"]
            if r.estimate.value == r.estimate.n:
                message = say("checks.P38.fired_never", attribute=attribute)
            else:
                message = say("checks.P38.fired", attribute=attribute, share=share)
            yield Remark(r.place, message if share > limit else None)
    late = [group.name for group in evidence.plan.subgroups if group.prespecified is not True]
    if evidence.plan.subgroups:
        yield Remark(NOWHERE, say("checks.P38.fired_late", n=len(late), names=late) if late else None)


CHECKS = (
    Check("P37", DIMENSION, "B", small_groups, GROUP),
    Check("P38", DIMENSION, "W", unknown_attribute),
)
