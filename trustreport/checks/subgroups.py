"""Pitfalls of subgroups: too few cases of a class, values that are not known, groups chosen afterwards."""

from collections.abc import Iterator
from typing import Any

from trustreport.checks.check import Check, Evidence, Remark
from trustreport.messages import Message, say
from trustreport.results import Result

DIMENSION = "subgroups"
# Share of cases without a value from which a group says little of all; `limits.P38_share`.
UNKNOWN = 0.1
PLACE = ("dataset", "candidate", "task", "subgroup")


def small_groups(evidence: Evidence) -> Iterator[Remark]:
    """P37: a group with so few positives or negatives that only counts are told."""
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for r in evidence.results:
        if "subgroup" in r.scope and "too_few" in r.details:
            groups.setdefault(tuple(r.scope.get(key) for key in PLACE), []).append(r)
    for place, found in groups.items():
        scope = {key: value for key, value in zip(PLACE, place) if value is not None}
        short = [r for r in found if r.details["too_few"]]
        if not short:
            yield Remark(scope)
            continue
        measures = tuple(dict.fromkeys(r.id for r in short))
        yield Remark(scope, _counted(found, short), measures)


def _counted(found: list[Result], short: list[Result]) -> Message:
    """What was counted in place of a percentage."""
    facts = short[0].details
    cells = {r.id.rpartition(".")[2]: int(r.estimate.value) for r in found if r.unit == "count"}
    names = {r.id.rpartition(".")[2] for r in short}
    if not facts["positives"] or not facts["negatives"]:
        return say("checks.P37.fired_cases", n=facts["positives"], negatives=facts["negatives"])
    if "sensitivity" in names and "tp" in cells:
        return say("checks.P37.fired", k=cells["tp"], n=facts["positives"])
    if "specificity" in names and "tn" in cells:
        return say("checks.P37.fired_negatives", k=cells["tn"], n=facts["negatives"])
    return say("checks.P37.fired_cases", n=facts["positives"], negatives=facts["negatives"])


def unknown_attribute(evidence: Evidence) -> Iterator[Remark]:
    """P38: an attribute that is not known of many cases, or a group that was not fixed in advance."""
    limit = evidence.plan.limits.get("P38_share", UNKNOWN)
    for r in evidence.results:
        if r.id == f"{DIMENSION}.unknown" and r.estimate.n and r.estimate.value == r.estimate.value:
            share = r.estimate.value / r.estimate.n
            scope = {key: r.scope[key] for key in ("dataset", "candidate", "task") if key in r.scope}
            attribute = r.scope["parameters"]["attribute"]
            message = say("checks.P38.fired", attribute=attribute, share=share)
            yield Remark(scope, message if share > limit else None)
    late = [group.name for group in evidence.plan.subgroups if group.prespecified is not True]
    if evidence.plan.subgroups:
        yield Remark({}, say("checks.P38.fired_late", n=len(late), names=late) if late else None)


CHECKS = (
    Check("P37", DIMENSION, "B", small_groups),
    Check("P38", DIMENSION, "W", unknown_attribute),
)
