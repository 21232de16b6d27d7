"""The answer of each kind of report, by rule."""

from dataclasses import dataclass

from trustreport.assessment.assess import Assessment
from trustreport.report.answer import by_candidate, by_criteria, minimum_accuracy, over_time, without_criteria
from trustreport.report.answer.sentences import Statement, set_aside, text_of
from trustreport.vocabulary.messages import Catalogue

MOST_NAMED = 4  # candidates in the question


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
    elif kind == "procurement" and by_candidate.named(assessment):
        found = by_candidate.answer(assessment, say)
    else:
        found = by_criteria.answer(assessment, say)
    sentences, support = found
    support = [*minimum_accuracy.missed(assessment, say), *support]
    if not assessment.verdicts:
        sentences, support = set_aside(sentences, support, say)
    return Answer(question(assessment, say), tuple(sentences), tuple(support))


def question(assessment: Assessment, say: Catalogue) -> str:
    """The question of this kind of report; of several candidates their names."""
    plan = assessment.plan
    names = without_criteria.candidates(assessment)
    if plan.report.kind == "procurement" and len(names) > 1:
        several = "several" if len(names) <= MOST_NAMED else "many"
        asked = "" if assessment.verdicts else "_open"
        return say(f"answer.question.procurement_{several}{asked}", names=names, n=len(names))
    return say(f"answer.question.{plan.report.kind}")
