"""What the lock means for a verdict: why it is withheld, and what it is under the locked criterion."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from trustreport import criteria
from trustreport.lock import Change, LockStatus, concerned, exploratory, removed, rests_on
from trustreport.messages import Message, say
from trustreport.plan import Endpoint, Family, Plan, Report
from trustreport.verdicts.verdict import Locked, Verdict, Word

if TYPE_CHECKING:
    from trustreport.verdicts.judge import Judge

Decide = Callable[["Judge"], dict[str, Verdict]]
"""Gives the verdict on every criterion of the plan of a judge, by name."""

MOST_NAMED = 3  # fields that a sentence names
# Where the criteria themselves are declared, in both forms of the lock.
OF_CRITERIA = (("endpoints",), ("families",), ("report", "confidence_level"), ("confidence_level",))


def withheld(
    status: LockStatus, plan: Plan, criterion: Endpoint
) -> tuple[Word, Message, tuple[str, ...]] | None:
    """Word, sentence and check where a criterion, or what it rests on, was not fixed in advance."""
    check = exploratory(status, plan, criterion)
    if check is None:
        return None
    how = {"P34": "undeclared", "P35": "after"}[check]
    own = [c for c in status.changes if c.how == how and rests_on(criterion, c, plan)]
    fields = [c.field for c in own if c.why == own[0].why]
    if status.late or not fields:
        return "not assessable", say("verdicts.reason.P35"), (check,)
    more = [say("word.more", n=len(fields) - MOST_NAMED)] if len(fields) > MOST_NAMED else []
    reason = say(f"verdicts.reason.{own[0].why}", n=len(fields), fields=[*fields[:MOST_NAMED], *more])
    return "not assessable", reason, (check,)


def with_locked(found: Mapping[str, Verdict], judge: "Judge", decide: Decide) -> dict[str, Verdict]:
    """The verdicts, each whose criterion was amended with the verdict under the criterion that was locked.

    All criteria are judged again as they were locked, each with its family, on the results of the report.
    What was changed elsewhere in the manifest withholds that verdict as it does the other.
    """
    status, plan = judge.lock_status, judge.plan
    apart = elsewhere(status)
    of_criteria = [c for c in status.changes if c not in apart]
    amended = {e.endpoint for c in of_criteria for e in concerned(c, plan)} | set(removed(status, plan))
    before = as_locked(status, plan) if amended else None
    if before is None:
        return dict(found)
    then = decide(replace(judge, plan=before, lock_status=replace(status, changes=apart)))
    return {
        name: replace(verdict, locked=_locked(then[name])) if name in amended and name in then else verdict
        for name, verdict in found.items()
    }


def elsewhere(status: LockStatus) -> tuple[Change, ...]:
    """The changes since the lock that are none of the criteria themselves."""
    return tuple(c for c in status.changes if not any(c.path[: len(own)] == own for own in OF_CRITERIA))


def _locked(verdict: Verdict) -> Locked:
    return Locked(verdict.criterion.bound_or_margin, verdict.word, verdict.alpha, verdict.level)


def as_locked(status: LockStatus, plan: Plan) -> Plan | None:
    """The plan with the criteria as they were locked; None where this version cannot read them."""
    if status.lock is None:
        return None
    given = status.lock.first.criteria
    default = Report.model_fields["confidence_level"].default
    level = given.get("confidence_level", given.get("report", {}).get("confidence_level", default))
    try:
        endpoints = tuple(Endpoint.model_validate(e) for e in given.get("endpoints", ()))
        families = tuple(Family.model_validate(f) for f in given.get("families", ()))
    except ValidationError:
        return None
    report = plan.report.model_copy(update={"confidence_level": level})
    before = plan.model_copy(update={"endpoints": endpoints, "families": families, "report": report})
    try:
        criteria.as_they_open(criteria.families(before))
    except ValueError:  # they wait for each other: a lock is written before the criteria are looked at
        return None
    return before
