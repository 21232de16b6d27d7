"""Verdicts of families: alpha shared by a rule, tests in an order, families that open when others are met."""

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.verdicts.judge import Judge, with_locked
from trustreport.assessment.verdicts.verdict import FamilyOutcome, Verdict, named_family
from trustreport.measures.association import NO_SHARE, handed_on
from trustreport.study import criteria, lock
from trustreport.study.criteria import Criterion, FamilyOf
from trustreport.study.plan import Endpoint, Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.results import Result

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
    contradicted : numbers (`trustreport.vocabulary.one_number`) of which the report gives two intervals
    """
    judge = Judge(study, plan, results, checks, at_level, lock.lock_status(study, plan), contradicted)
    found = _verdicts(judge)
    gone = {name: _gone(name) for name in lock.removed(judge.lock_status, plan)}
    found = with_locked(found | gone, judge, _verdicts)
    names = [name for name in (*(declared.endpoint for declared in plan.endpoints), *gone) if name in found]
    return tuple(replace(found[name], tried=tuple(judge.tried.get(name, ()))) for name in names)


def _verdicts(judge: Judge) -> dict[str, Verdict]:
    """The verdict on every criterion that asks for one, by its name."""
    families = criteria.families(judge.plan)
    asked = {name for family in families for name in family.after}
    met: dict[str, bool] = {}
    found: dict[str, Verdict] = {}
    for of in criteria.as_they_open(families):
        is_open = _is_open(of, met)
        own = _of_rule(_Family(of, judge)) if is_open else _closed(of, met)
        met[of.name] = all(v.word == "pass" for v in own)
        if of.name:
            whole = met[of.name] if of.rule == "co-primary" or of.name in asked else None
            gate = (of.after, of.any_opens, is_open)
            said = FamilyOutcome(of.name, of.rule or "none", len(of.members), whole, *gate)
            own = [replace(v, family=said) for v in own]
        found |= {v.criterion.endpoint: v for v in own}
    return found


def _is_open(family: FamilyOf, met: Mapping[str, bool]) -> bool:
    """Whether the families that it waits for are met; one without a criterion to be judged never is."""
    before = [met.get(name, False) for name in family.after]
    return not before or (any(before) if family.any_opens else all(before))


def _closed(family: FamilyOf, met: Mapping[str, bool]) -> list[Verdict]:
    """Nothing of a family is tested while what it waits for is not met."""
    unmet = [name for name in family.after if not met.get(name, False)]
    key = "closed_any" if family.any_opens else "closed"
    reason = say(f"verdicts.reason.{key}", n=len(unmet), families=[named_family(name) for name in unmet])
    return [Verdict(member.declared, "not tested", reason) for member in family.members]


def _gone(name: str) -> Verdict:
    """A criterion that was locked and is declared no longer: nothing may vanish."""
    reason = say("verdicts.reason.removed")
    return Verdict(Endpoint(endpoint=name), "not assessable", reason, checks=("P34",))


@dataclass(frozen=True, slots=True)
class _Family:
    """A family with what judges it."""

    of: FamilyOf
    judge: Judge

    @property
    def alpha(self) -> float:
        """The alpha that the members share."""
        return self.of.shared_alpha

    def own(self, member: Criterion) -> float:
        """The alpha of one member that shares it with none: the family's, else its own."""
        return self.of.alpha or member.alpha


def _of_rule(family: _Family) -> list[Verdict]:
    """The verdicts on the members of a family that is open."""
    rules = {
        "holm": _holm,
        "hochberg": _hochberg,
        "bonferroni": _bonferroni,
        "fixed sequence": _in_order,
        "graph": _graph,
    }
    return rules.get(family.of.rule or "", _each)(family)


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
        left = [member for member in left if member.name not in found]
    return [found[member.name] for member in family.of.members]


def _hochberg(family: _Family) -> list[Verdict]:
    """Step up: all at alpha, then at a half, a third, until so many pass that at most k - 1 do not."""
    members = family.of.members
    found: list[Verdict] = []
    for k in range(1, len(members) + 1):
        found = [family.judge(member, family.alpha / k) for member in members]
        if sum(v.word != "pass" for v in found) < k:
            break
    return found


def _graph(family: _Family) -> list[Verdict]:
    """Each at its share of alpha; one that passes leaves, and hands its share on."""
    names = [member.name for member in family.of.members]
    shares = np.array([family.of.weights.get(name, 0.0) for name in names])
    rows = [family.of.transitions.get(name, {}) for name in names]
    transitions = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    found: dict[int, Verdict] = {}
    while True:
        left = [i for i in range(len(names)) if i not in found]
        judged: dict[int, Verdict] = {}
        for i in left:
            if shares[i] > NO_SHARE:
                judged[i] = family.judge(family.of.members[i], family.alpha * float(shares[i]))
                if judged[i].word == "pass":
                    break
        else:
            break
        found[i] = judged[i]
        shares, transitions = handed_on(shares, transitions, i)
    found |= judged
    nothing = say("verdicts.reason.no_alpha")
    return [
        found.get(i) or Verdict(m.declared, "not tested", nothing) for i, m in enumerate(family.of.members)
    ]


def _in_order(family: _Family) -> list[Verdict]:
    """Each at the whole alpha as long as those before it passed."""
    found: list[Verdict] = []
    for member in family.of.members:
        stopped = next((v for v in found if v.word != "pass"), None)
        if stopped is None:
            found.append(family.judge(member, family.own(member)))
        else:
            reason = say("verdicts.reason.behind", criterion=stopped.criterion.endpoint)
            found.append(Verdict(member.declared, "not tested", reason, alpha=family.own(member)))
    return found
