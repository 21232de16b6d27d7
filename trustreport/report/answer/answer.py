"""The answer of each kind of report, by rule."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from trustreport.assessment.assess import Assessment
from trustreport.assessment.verdicts.judge import as_share, bound_amount
from trustreport.report.answer import over_time, without_criteria
from trustreport.report.answer.by_criteria import candidate_statuses, candidates_answer, criteria_answer
from trustreport.report.answer.other_evidence import measurements, of_raters_alone, worst_sites
from trustreport.report.answer.sentences import (
    MOST_NAMED,
    Statement,
    by_minimum_accuracy,
    first_few,
    on_data,
    set_aside,
    stated,
)
from trustreport.report.tables import in_words
from trustreport.vocabulary.digits import share
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result

MOST_ASKED = 4  # candidates in the question


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
    accepted = list(_least_accepted(assessment, say))
    if accepted and kind != "vigilance" and not assessment.verdicts:
        answered = [one for one in sentences if one.text != say("answer.open.nothing")]
        sentences, support = accepted[:1], [*accepted[1:], *answered, *support]
    else:
        support = [*accepted, *support]
    if kind == "vigilance" and not assessment.verdicts:
        support += measurements(assessment, say)
    support += worst_sites(assessment, say)
    if not assessment.verdicts:
        sentences, support = set_aside(sentences, support, say)
    if not assessment.verdicts and kind != "vigilance":
        if assessment.plan.utility.minimum_accuracy is None:
            key = "only_raters" if of_raters_alone(assessment) else "no_criteria"
            sentences = [*sentences, stated(say, f"answer.open.{key}")]
        else:
            support = [*support, stated(say, "answer.open.no_other_criteria")]
    return Answer(question(assessment, say), tuple(sentences), tuple(support))


def question(assessment: Assessment, say: Catalogue) -> str:
    """The question of this kind of report; of several candidates their names."""
    plan = assessment.plan
    names = without_criteria.candidates(assessment)
    compared_only = assessment.verdicts and not candidate_statuses(assessment)
    if plan.report.kind == "procurement" and len(names) > 1 and not compared_only:
        several = "several" if len(names) <= MOST_ASKED else "many"
        required = assessment.verdicts or plan.utility.minimum_accuracy is not None
        asked = "" if required else "_open"
        key = f"answer.question.procurement_{several}{asked}"
        return say(key, names=[say.called(name) for name in names], n=len(names))
    return say(f"answer.question.{plan.report.kind}")


def _least_accepted(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """The accuracies beside the least that users declared to accept: those below, else those above.

    Beside criteria only those speak that are below.
    """
    least = assessment.plan.utility.minimum_accuracy
    sides = by_minimum_accuracy(assessment)
    if least is None:
        return
    if assessment.verdicts:
        sides = {side: [r for r in own if r.estimate.value < least] for side, own in sides.items()}
    if sides["missed"] or sides["unsure"]:
        sides["reached"] = []
    for key, of in sides.items():
        if of:
            yield _of_minimum(key, of, least, assessment, say)


def _of_minimum(
    key: str, of: list[Result], least: float, assessment: Assessment, say: Catalogue
) -> Statement:
    """Accuracies on one side of the least that is accepted; those of one value on the same data together.

    An accuracy at the declared prevalence says so; one of data with another prevalence names both.
    """
    there, here = assessment.plan.declared_prevalence, {}
    for mix in assessment.case_mixes if there is not None else ():
        if known := mix.positive + mix.negative:
            here[mix.name] = share(mix.positive, known)
    names: dict[tuple[str, str, bool], list[str]] = {}
    for r in of:
        data, declared = replace(r.place, candidate=None).data_name, "prevalence" in r.parameters
        names.setdefault((data, in_words(r, say), declared), []).append(r.place.candidate or "")
    items = []
    for (data, estimate, declared), own in names.items():
        text = say("answer.minimum.item", data=on_data(own, data, say), estimate=estimate)
        found = here.get(data)
        if declared:
            text = say("answer.minimum.declared", text=text, there=as_share(there or 0.0))
        elif found is not None and round(found, 2) != round(there or 0.0, 2):
            values = {"here": found, "there": as_share(there or 0.0)}
            text = say("answer.minimum.here", text=text, **values)
        items.append(text)
    values = {"items": first_few(items, len(items), say), "least": bound_amount(of[0].quantity, least)}
    return stated(say, f"answer.minimum.{key}", *of[:MOST_NAMED], **values)
