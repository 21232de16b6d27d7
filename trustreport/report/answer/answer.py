"""The answer of each kind of report, by rule."""

from dataclasses import dataclass
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.verdicts.judge import bound_amount
from trustreport.report.answer import over_time, without_criteria
from trustreport.report.answer.by_criteria import candidates_answer, criteria_answer, named
from trustreport.report.answer.sentences import Statement, set_aside, text_of
from trustreport.report.tables import in_words
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result

MOST_ASKED = 4  # candidates in the question
ACCURACIES = ("advice_accuracy.accuracy", "advice_accuracy.class_accuracy")
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, the sentences that answer it, and what supports or qualifies them."""

    question: str
    sentences: tuple[Statement, ...]
    support: tuple[Statement, ...]

    @property
    def sentence(self) -> str:
        """The answer as one text."""
        return text_of(self.sentences)

    @property
    def supporting(self) -> str:
        """What supports it, as one text."""
        return text_of(self.support)


def answer(assessment: Assessment, say: Catalogue) -> Answer:
    """What the report answers to the question of its kind.

    A periodic audit says what changed. Elsewhere declared criteria decide; without any, the primary results
    of the data that are there. An accuracy below the least that users accept comes first in what supports
    it. Numbers of training and tuning data never speak here.
    """
    kind = assessment.plan.report.kind
    if kind == "vigilance":
        found = over_time.answer(assessment, say)
    elif not assessment.verdicts:
        found = without_criteria.answer(assessment, say)
    elif kind == "procurement" and named(assessment):
        found = candidates_answer(assessment, say)
    else:
        found = criteria_answer(assessment, say)
    sentences, support = found
    support = [*missed(assessment, say), *support]
    if not assessment.verdicts:
        sentences, support = set_aside(sentences, support, say)
    return Answer(question(assessment, say), tuple(sentences), tuple(support))


def question(assessment: Assessment, say: Catalogue) -> str:
    """The question of this kind of report; of several candidates their names."""
    plan = assessment.plan
    names = without_criteria.candidates(assessment)
    if plan.report.kind == "procurement" and len(names) > 1:
        several = "several" if len(names) <= MOST_ASKED else "many"
        asked = "" if assessment.verdicts else "_open"
        return say(f"answer.question.procurement_{several}{asked}", names=names, n=len(names))
    return say(f"answer.question.{plan.report.kind}")


def missed(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """The accuracies below the declared minimum, the lowest first; none where none is declared.

    Those whose whole interval is below it, then those whose interval includes it. Of the periods of routine
    use the latest speaks; data that the device was made with never do.
    """
    least = assessment.plan.utility.minimum_accuracy
    if least is None:
        return []
    below = sorted(
        (r for r in _accuracies(assessment) if r.estimate.value < least), key=lambda r: r.estimate.value
    )
    surely = [r for r in below if r.estimate.high < least]
    kinds = {"missed": surely, "unsure": [r for r in below if r not in surely]}
    said = []
    for key, found in kinds.items():
        if found:
            items = [
                say("answer.minimum.item", data=r.place.set or r.place.data_name, estimate=in_words(r, say))
                for r in found[:MOST_NAMED]
            ]
            if len(found) > MOST_NAMED:
                items.append(say("word.more", n=len(found) - MOST_NAMED))
            bound = say(bound_amount(found[0].quantity, least))
            text = say(f"answer.minimum.{key}", items=items, least=bound)
            said.append(Statement(text, tuple(found[:MOST_NAMED])))
    return said


def _accuracies(assessment: Assessment) -> list[Result]:
    """The accuracy of each set and candidate that the device was not made with."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    periods = [name for name, role in roles.items() if role == "period"]
    earlier = set(periods[:-1])
    plain = {"subgroup": None, "site": None, "parameters": None}
    return [
        r
        for r in assessment.results
        if r.id in ACCURACIES
        and r.primary
        and r.within(**plain)
        and roles.get(str(r.place.dataset)) not in DEVELOPMENT_ROLES
        and r.place.dataset not in earlier
        and not isnan(r.estimate.value)
    ]
