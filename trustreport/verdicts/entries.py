"""Which entry answers a criterion: the one that leads for what it names, at the place that it names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trustreport.messages import Message, say
from trustreport.plan import Endpoint, Plan
from trustreport.results import Result
from trustreport.study import Study

# What makes an entry one of several kinds of a quantity; a criterion that is silent means the plain one.
SPECIAL = ("subgroup", "reader", "raters", "site", "period", "class", "parameters")
PLACES = ("dataset", "set", "task", "candidate", "subgroup", "site", "period")
NOT_JUDGED_ROLES = ("training", "tuning")
NAMES = 4  # entries named where several could be meant


def entry(criterion: Endpoint, study: Study, plan: Plan, results: Iterable[Result]) -> Result | Message:
    """The primary entry that a criterion is about, or why there is none or more than one."""
    if not criterion.measure:
        return say("verdicts.reason.no_measure")
    found = [r for r in results if r.primary and _is_named(criterion.measure, r.id)]
    if not found:
        return say("verdicts.reason.no_result", measure=criterion.measure)
    found = [r for r in found if _stands_where(criterion, r.scope)]
    if not found:
        return say("verdicts.reason.no_place", measure=criterion.measure)
    return _one(found, criterion, study, plan)


def _is_named(measure: str, id: str) -> bool:
    """Whether a criterion names a result, in full or without the dimension."""
    return id == measure or ("." not in measure and id.rpartition(".")[2] == measure)


def _stands_where(criterion: Endpoint, scope: Mapping[str, Any]) -> bool:
    if criterion.of is not None and scope.get("endpoint") != criterion.of:
        return False
    if criterion.threshold is not None and scope.get("threshold") != criterion.threshold:
        return False
    for place in PLACES:
        said = getattr(criterion, place)
        if isinstance(said, tuple):
            if list(scope.get("candidates", ())) != list(said):
                return False
        elif said is not None and scope.get(place) != said and said not in scope.get("candidates", ())[:1]:
            return False
    return _of_arm(criterion.arm_or_contrast, scope)


def _of_arm(said: str | tuple[str, str] | None, scope: Mapping[str, Any]) -> bool:
    """An arm, a contrast of arms or candidates, or a candidate or data set by its name."""
    if said is None:
        return True
    if isinstance(said, tuple):
        return list(said) in (list(scope.get("arms", ())), list(scope.get("candidates", ())))
    named = {scope.get(key) for key in ("arm", "task", "dataset", "candidate", "set")}
    return said in named | {*scope.get("arms", ())[:1], *scope.get("candidates", ())[:1]}


def _one(found: Sequence[Result], criterion: Endpoint, study: Study, plan: Plan) -> Result | Message:
    """The one entry that is meant, plain before special, or which ones could be."""
    silent = [key for key in SPECIAL if getattr(criterion, key, None) is None]
    fewest = min(sum(key in r.scope for key in silent) for r in found)
    found = [r for r in found if sum(key in r.scope for key in silent) == fewest]
    if len(found) > 1:
        roles = {d.name: d.role for d in study.datasets}
        tested = [r for r in found if roles.get(r.scope.get("dataset", "")) not in NOT_JUDGED_ROLES]
        found = tested or found
    if len(found) > 1:
        threshold = plan.operating_point.threshold
        found = [r for r in found if r.scope.get("threshold") == threshold] or found
    if len(found) == 1:
        return found[0]
    differ = [key for key in found[0].scope if len({str(r.scope.get(key)) for r in found}) > 1]
    names = [", ".join(_name(r.scope.get(key)) for key in differ) for r in found]
    more = [say("word.more", n=len(names) - NAMES)] if len(names) > NAMES else []
    return say("verdicts.reason.several", n=len(names), names=[*names[:NAMES], *more])


def _name(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return " / ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
