"""What to do next, in one line of the first page: an action of whoever reads it, never a permission."""

from trustreport.assessment.assess import Assessment
from trustreport.assessment.verdicts.judge import further_cases
from trustreport.assessment.verdicts.verdict import ROLES, Verdict
from trustreport.report.answer.by_criteria import candidate_statuses
from trustreport.report.answer.sentences import title
from trustreport.vocabulary.messages import Catalogue

GRAVEST = ("fail", "inconclusive", "not assessable", "not tested")


def next_step(assessment: Assessment, say: Catalogue, *, limited: bool) -> str:
    """What would settle the gravest criterion that is not met, or what comes first where there is none.

    Empty where the page has a list of its own (what is due in an audit, the supplier's part in a choice), and
    where all criteria are met and no limit was found.
    """
    kind, verdicts = assessment.plan.report.kind, assessment.verdicts
    if kind == "vigilance" or (kind == "procurement" and candidate_statuses(assessment)):
        return ""
    if not verdicts:
        return say("answer.next.declare")
    unmet = [v for v in verdicts if v.word != "pass"]
    if not unmet:
        return say("answer.next.limits") if limited else ""
    first = min(unmet, key=lambda v: (GRAVEST.index(v.word), ROLES.index(v.criterion.role)))
    values = {"criterion": title(first, assessment, say), "action": proposed(first, say)}
    return say("answer.next.criterion", **values)


def proposed(verdict: Verdict, say: Catalogue) -> str:
    """What would settle a criterion that is not met; of one that the cases leave open how many more would."""
    if verdict.word == "inconclusive":
        more = further_cases(verdict)
        if more is None:
            return say("element.feedback.propose.study")
        return say("element.feedback.propose.cases", n=more[0], unit=say(f"verdicts.unit.{more[1]}"))
    return say(f"element.feedback.propose.{verdict.word.replace(' ', '_')}")
