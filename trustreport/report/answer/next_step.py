"""What to do next, in one line of the first page: an action of whoever reads it, never a permission."""

from collections.abc import Sequence

from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.vigilance.events import is_open
from trustreport.assessment.verdicts.judge import further_cases
from trustreport.assessment.verdicts.verdict import ROLES, Verdict
from trustreport.report.answer.by_criteria import candidate_statuses
from trustreport.report.answer.limits import Limitation
from trustreport.report.answer.other_evidence import of_raters_alone
from trustreport.report.answer.over_time import has_baseline
from trustreport.report.answer.sentences import (
    MOST_NAMED,
    by_minimum_accuracy,
    candidate_of,
    title_within,
)
from trustreport.report.answer.without_criteria import CONFLICT, depends_on_utility
from trustreport.vocabulary.messages import Catalogue

SAFETY, AGREEMENT = "safety", "P14"
# What would settle what no check said: by the kind of limit.
SETTLED_BY = {"agreement": "reference", "one_set": "elsewhere"} | dict.fromkeys(
    ("rating", "preference", "description", "judge"), "truth"
)
GRAVEST = ("fail", "inconclusive", "not assessable", "not tested")


def next_step(
    assessment: Assessment,
    say: Catalogue,
    limit: Limitation | None = None,
    due: str = "",
    asked: Sequence[str] = (),
) -> str:
    """What would settle the gravest criterion that is not met, or the first limit of the page.

    Beside the gravest also the gravest of the safety criteria. Of candidates that may be chosen the suppliers
    that are `asked` something, and what is open. An audit has the action on its open signal, or what is `due`
    first.
    """
    kind, verdicts = assessment.plan.report.kind, assessment.verdicts
    if kind == "vigilance":
        return _of_audit(assessment, say) or due or say(f"answer.next.{_monitored(assessment)}")
    choice = [s for s in candidate_statuses(assessment) if s.standing != "fail"]
    if kind == "procurement" and choice:
        first = [say("answer.next.suppliers", names=asked, n=len(asked))] if asked else []
        if wanted := [*first, *(_action(s.open[0], assessment, say) for s in choice if s.open)]:
            return _numbered(wanted[:MOST_NAMED], say)
    if not verdicts:
        return say(f"answer.next.{_without_criteria(assessment, limit)}")
    unmet = [v for v in verdicts if v.word != "pass"]
    if not unmet:
        return say(f"answer.next.{SETTLED_BY.get(limit.kind, 'limits') if limit else 'rest'}")
    unmet.sort(key=lambda v: (GRAVEST.index(v.word), ROLES.index(v.criterion.role)))
    safety = [v for v in unmet[1:] if v.criterion.role == SAFETY and unmet[0].criterion.role != SAFETY]
    return _numbered([_action(v, assessment, say) for v in [*unmet[:1], *safety[:1]]], say)


def _numbered(actions: Sequence[str], say: Catalogue) -> str:
    """One action as it is, several with their numbers."""
    if len(actions) == 1:
        return actions[0]
    return " ".join(say("answer.next.numbered", n=n, action=one) for n, one in enumerate(actions, 1))


def _action(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    """What is proposed, and for which criterion of whom."""
    criterion = title_within(verdict, assessment, say)
    if name := candidate_of(verdict):
        criterion = say("word.pair", first=say.called(name), second=criterion)
    action = proposed(verdict, say).removesuffix(".")
    return say("answer.next.criterion", criterion=criterion, action=action)


def _of_audit(assessment: Assessment, say: Catalogue) -> str:
    """The actions that are proposed for signals that are open."""
    proposed = [s for s in assessment.plan.signals if is_open(s) and s.action]
    return " ".join(
        say("answer.next.signal", signal=s.signal, action=(s.action or "").rstrip(".")) for s in proposed
    )


def _monitored(assessment: Assessment) -> str:
    return "monitor" if has_baseline(assessment) else "baseline"


def _without_criteria(assessment: Assessment, limit: Limitation | None) -> str:
    """What comes first where nothing was required, by what the data are of."""
    study = assessment.study
    if by_minimum_accuracy(assessment)["missed"]:
        return "below"
    if of_raters_alone(assessment):
        return "raters" if limit is not None and limit.check == AGREEMENT else "device"
    if depends_on_utility(assessment):
        return "utility"
    if any(r.id == CONFLICT for r in assessment.results):
        return "conflict"
    return "declare" if study.datasets or study.readings or study.values else "published"


def proposed(verdict: Verdict, say: Catalogue) -> str:
    """What would settle a criterion that is not met; of one that the cases leave open how many new ones."""
    if verdict.word != "inconclusive":
        return say(f"element.feedback.propose.{verdict.word.replace(' ', '_')}")
    more, against = further_cases(verdict), "_against" if _is_outside(verdict) else ""
    if more is None:
        if verdict.result is not None and verdict.result.place.task is not None and not against:
            return say("element.feedback.propose.readers")
        return say(f"element.feedback.propose.study{against}")
    n, unit = more[0], say(f"verdicts.unit.{more[1]}")
    if not against and verdict.result is not None:
        n += verdict.result.estimate.n  # cases added after a look would be tested twice
    return say(f"element.feedback.propose.cases{against}", n=n, unit=unit)


def _is_outside(verdict: Verdict) -> bool:
    """Whether the estimate itself is on the wrong side, so that more such cases decide against it."""
    bound, found = verdict.bound, verdict.result
    if bound is None or found is None:
        return False
    value = found.estimate.value
    return (bound.low is not None and value < bound.low) or (bound.high is not None and value > bound.high)
