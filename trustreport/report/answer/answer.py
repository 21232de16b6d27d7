"""The answer of each kind of report, by rule."""

from collections.abc import Iterator
from dataclasses import dataclass

from trustreport.assessment.assess import Assessment
from trustreport.assessment.verdicts.judge import bound_amount
from trustreport.report.answer import over_time, without_criteria
from trustreport.report.answer.by_criteria import candidate_statuses, candidates_answer, criteria_answer
from trustreport.report.answer.other_evidence import claims, measurements, worst_sites
from trustreport.report.answer.sentences import (
    MOST_NAMED,
    Statement,
    first_few,
    known,
    outside_development,
    set_aside,
    stated,
)
from trustreport.report.tables import in_words
from trustreport.vocabulary.messages import Catalogue

MOST_ASKED = 4  # candidates in the question
ACCURACIES = ("advice_accuracy.accuracy", "advice_accuracy.class_accuracy")


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, the sentences that answer it, and what supports or qualifies them."""

    question: str
    sentences: tuple[Statement, ...]
    support: tuple[Statement, ...]

    @property
    def sentence(self) -> str:
        """The answer as one text."""
        return " ".join(one.text for one in self.sentences)

    @property
    def supporting(self) -> str:
        """What supports it, as one text."""
        return " ".join(one.text for one in self.support)


def answer(assessment: Assessment, say: Catalogue) -> Answer:
    """What the report answers to the question of its kind.

    A periodic audit says what changed, then what was measured. Elsewhere declared criteria decide; without
    any, the primary results of the data that are there. An accuracy below the least that users accept comes
    first in what supports it, and last what values and preferences can show at most. Numbers of training and
    tuning data never speak here.
    """
    kind = assessment.plan.report.kind
    if kind == "vigilance":
        found = over_time.answer(assessment, say)
    elif not assessment.verdicts:
        found = without_criteria.answer(assessment, say)
    elif kind == "procurement" and candidate_statuses(assessment):
        found = candidates_answer(assessment, say)
    else:
        found = criteria_answer(assessment, say)
    sentences, support = found
    support = [*_less_than_accepted(assessment, say), *support]
    if kind == "vigilance" and not assessment.verdicts:
        support += measurements(assessment, say)
    support += [*worst_sites(assessment, say), *claims(assessment, say)]
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


def _less_than_accepted(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """The accuracies below the least that users declared to accept, the lowest first.

    Those whose whole interval is below it, then those whose interval includes it. Of the periods of routine
    use the latest speaks; data that the device was made with never do.
    """
    least = assessment.plan.utility.minimum_accuracy
    if least is None:
        return
    earlier = [d.name for d in assessment.study.datasets if d.role == "period"][:-1]
    found = known(assessment, *ACCURACIES, subgroup=None, site=None, parameters=None)
    below = [
        r
        for r in filter(outside_development(assessment), found)
        if r.place.dataset not in earlier and r.estimate.value < least
    ]
    below.sort(key=lambda r: r.estimate.value)
    surely = [r for r in below if r.estimate.high < least]
    for key, own in (("missed", surely), ("unsure", [r for r in below if r not in surely])):
        if own:
            items = [
                say("answer.minimum.item", data=r.place.set or r.place.data_name, estimate=in_words(r, say))
                for r in own[:MOST_NAMED]
            ]
            values = {"items": first_few(items, len(own), say), "least": bound_amount(own[0].quantity, least)}
            yield stated(say, f"answer.minimum.{key}", *own[:MOST_NAMED], **values)
