"""Verdicts of families: alpha shared by Holm or Bonferroni, tests in a fixed order, or all of them needed."""

from collections.abc import Callable, Container, Hashable, Sequence
from dataclasses import dataclass, replace

from trustreport import criteria, lock
from trustreport.criteria import FamilyOf
from trustreport.finding import CheckOutcome
from trustreport.messages import say
from trustreport.plan import Endpoint, Plan
from trustreport.results import Result
from trustreport.study import Study
from trustreport.verdicts.judge import Judge
from trustreport.verdicts.locked import with_locked
from trustreport.verdicts.verdict import FamilyOutcome, Verdict

AtLevel = Callable[[str, float], Sequence[Result]]
"""The results of a dimension with intervals of a level."""


def verdicts(
    study: Study,
    plan: Plan,
    results: Sequence[Result],
    checks: Sequence[CheckOutcome],
    at_level: AtLevel,
    contradicted: Container[Hashable] = (),
) -> tuple[Verdict, ...]:
    """A verdict on every criterion that asks for one, in the manifest's order; then on those taken away.

    Parameters
    ----------
    results : the entries of the report, at its level
    checks : the outcomes of the register
    at_level : gives the entries of a dimension again at another level
    contradicted : numbers (`trustreport.one_number`) of which the report gives two intervals
    """
    judge = Judge(study, plan, results, checks, at_level, lock.lock_status(study, plan), contradicted)
    found = _verdicts(judge)
    gone = {name: _gone(name) for name in lock.removed(judge.lock_status, plan)}
    found = with_locked(found | gone, judge, _verdicts)
    names = [name for name in (*criteria.named(plan.endpoints), *gone) if name in found]
    return tuple(replace(found[name], tried=tuple(judge.tried.get(name, ()))) for name in names)


def _verdicts(judge: Judge) -> dict[str, Verdict]:
    """The verdict on every criterion that asks for one, by its name."""
    families = criteria.families(judge.plan)
    level = judge.plan.report.confidence_level
    return {v.criterion.endpoint: v for own in families for v in _of_family(_Family(own, judge, level))}


def _gone(name: str) -> Verdict:
    """A criterion that was locked and is declared no longer: nothing may vanish."""
    reason = say("verdicts.reason.removed")
    return Verdict(Endpoint(endpoint=name), "not assessable", reason, checks=("P34",))


@dataclass(frozen=True, slots=True)
class _Family:
    """A family with what judges it; `level` is that of the report."""

    of: FamilyOf
    judge: Judge
    level: float

    @property
    def alpha(self) -> float:
        """The alpha that the members share."""
        return criteria.family_alpha(self.of, self.level)

    def own(self, member: Endpoint) -> float:
        """The alpha of one member that shares it with none: the family's, else its own."""
        return self.of.alpha or criteria.alpha_of(member, self.level)


def _of_family(family: _Family) -> list[Verdict]:
    rules = {"holm": _holm, "bonferroni": _bonferroni, "fixed sequence": _in_order}
    size = len(family.of.members)
    found = rules.get(family.of.rule or "", _each)(family)
    if not family.of.name:
        return found
    met = all(v.word == "pass" for v in found) if family.of.rule == "co-primary" else None
    said = FamilyOutcome(family.of.name, family.of.rule or "none", size, met)
    return [replace(v, family=said) for v in found]


def _each(family: _Family) -> list[Verdict]:
    return [family.judge(member, family.own(member)) for member in family.of.members]


def _bonferroni(family: _Family) -> list[Verdict]:
    share = family.alpha / len(family.of.members)
    return [family.judge(member, share) for member in family.of.members]


def _holm(family: _Family) -> list[Verdict]:
    """Step down: with k left each is held at alpha / k; those that pass leave, until none does."""
    left = list(family.of.members)
    found: dict[str, Verdict] = {}
    while left:
        judged = [family.judge(member, family.alpha / len(left)) for member in left]
        passed = [v for v in judged if v.word == "pass"]
        found |= {v.criterion.endpoint: v for v in passed or judged}
        left = [member for member in left if member.endpoint not in found]
    return [found[member.endpoint] for member in family.of.members]


def _in_order(family: _Family) -> list[Verdict]:
    """Each at the whole alpha as long as those before it passed."""
    found: list[Verdict] = []
    for member in family.of.members:
        stopped = next((v for v in found if v.word != "pass"), None)
        if stopped is None:
            found.append(family.judge(member, family.own(member)))
        else:
            reason = say("verdicts.reason.behind", criterion=stopped.criterion.endpoint)
            found.append(Verdict(member, "not tested", reason, alpha=family.own(member)))
    return found
