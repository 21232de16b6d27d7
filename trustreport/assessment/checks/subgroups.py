"""Pitfalls of subgroups: too few cases of a class, values that are not known, groups chosen afterwards."""

from collections.abc import Iterator

from trustreport.assessment.checks.check import Check, Evidence, Remark
from trustreport.assessment.checks.withholding import GROUP, SMALL_GROUP
from trustreport.study import criteria
from trustreport.study.plan import Subgroup
from trustreport.vocabulary import digits
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result

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
    """P38: an attribute that is not known of many cases, or a group that was not fixed in advance.

    Such a group can be explored, but no hypothesis about it can be confirmed: that blocks.
    """
    limit = evidence.limit("P38_share")
    for r in evidence.results:
        if r.id == f"{DIMENSION}.unknown" and r.estimate.n and r.estimate.value == r.estimate.value:
            share, attribute = digits.share(r.estimate.value, r.estimate.n), r.parameters["attribute"]
            if r.estimate.value == r.estimate.n:
                message = say("checks.P38.fired_never", attribute=attribute)
            else:
                message = say("checks.P38.fired", attribute=attribute, share=share)
            yield Remark(r.place, message if share > limit else None, severity="W")
    late = [group.name for group in evidence.plan.subgroups if group.prespecified is not True]
    if evidence.plan.subgroups:
        said = say("checks.P38.fired_late", n=len(late), names=late) if late else None
        yield Remark(NOWHERE, said, severity="W")
    yield from _confirmed_afterwards(evidence)


def _confirmed_afterwards(evidence: Evidence) -> Iterator[Remark]:
    """Groups that are declared as chosen afterwards, and that a criterion with a hypothesis names."""
    afterwards = [group for group in evidence.plan.subgroups if group.prespecified is False]
    for criterion in (one.declared for one in criteria.asked(evidence.plan)):
        name = criterion.subgroup
        if name and criterion.role != "exploratory" and any(_makes(group, name) for group in afterwards):
            names = {"group": name, "criterion": criterion.endpoint}
            yield Remark(Place(subgroup=name), say("checks.P38.fired_confirmed", **names))


def _makes(declared: Subgroup, group: str) -> bool:
    """Whether a declaration is that of a group: by its own name, or by the column that it divides."""
    if group == declared.name:
        return True
    columns = {name.strip().casefold() for name in (declared.name, declared.definition or "")} - {""}
    if declared.breaks:
        return any(column in group.casefold().split() for column in columns)
    return group.partition(": ")[0].casefold() in columns


CHECKS = (
    Check("P37", DIMENSION, "B", small_groups, SMALL_GROUP),
    Check("P38", DIMENSION, "B", unknown_attribute, GROUP),
)
