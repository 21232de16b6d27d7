"""The questions of the committee, each answered with a number, or said not to be answerable and why."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan

from trustreport.assessment.claims import observed
from trustreport.assessment.dimensions.candidates.results import RATES
from trustreport.assessment.dimensions.candidates.words import PATIENTS
from trustreport.assessment.dimensions.decision_benefit.protocols import TABLE as COMPARED
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts.entries import blocking, entry
from trustreport.report.answer.by_criteria import conclusion
from trustreport.report.answer.review import (
    GROUP_DIFFERENCE,
    ID,
    Review,
    claimed_text,
    claims_of,
    compared_with,
    pair_sentence,
    per_patients,
)
from trustreport.report.answer.sentences import first_letter, within
from trustreport.report.elements.element import Context, Element, numbered
from trustreport.report.tables import Table, heads, in_words, line_of
from trustreport.study.plan import Endpoint, Question
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.results import Result

LONGEST_BLOCK = 600  # characters of an answer in one cell


def questions(context: Context) -> Element | None:
    """Every declared question with its answer."""
    site, say = context.assessment.plan.site_context, context.say
    asked = (site and site.committee_questions) or ()
    if not asked:
        return None
    review = Review(context.assessment, say)
    answers = [_answer(question, review) for question in asked]
    lines = tuple(
        line_of("" if i else q.question, text)
        for q, (said, why) in zip(asked, answers)
        for i, text in enumerate(_paragraphs(said) or [_not_answerable(why, review)])
    )
    columns = heads(say, "procurement.questions", "question answer")
    n = sum(not said for said, _ in answers)
    finding = (say("procurement.questions.open", n=n, of=len(asked)),) if n else ()
    level = review.plan.report.confidence_level
    table = Table(say("procurement.questions.caption", level=level), columns, lines)
    return Element(finding, tables=numbered(context, table))


def _paragraphs(said: Sequence[str]) -> list[str]:
    """The sentences of an answer together, or each by itself where that would be a block nobody reads."""
    whole = " ".join(said)
    return [*said] if len(whole) > LONGEST_BLOCK else [whole] * bool(whole)


Answer = tuple[list[str], str]
"""The sentences of an answer, none where there is none; then why."""


def _answer(question: Question, review: Review) -> Answer:
    """The answers to all that a question asks; why there is none, where none of it can be answered."""
    ways = [WAYS[way](question, review) for way in question.asks]
    return [text for said, _ in ways for text in said], next((why for _, why in ways if why), "")


def _not_answerable(why: str, review: Review) -> str:
    """A reason goes on in the same sentence, unless it begins with a word in capitals."""
    return review.say("procurement.questions.not_answerable", reason=within(why, review.say))


def _result(question: Question, measure: str, sides: str | tuple[str, str], review: Review) -> Result | str:
    """The result that a question means, or why there is none; with an estimate, or why that is not known."""
    say, assessment = review.say, review.assessment
    for unanswered in assessment.unanswered:
        if measure.partition(".")[0] == unanswered.dimension:
            return say(unanswered.reason)
    meant = Endpoint(
        endpoint=question.question,
        measure=measure,
        of=question.of,
        candidate=sides or None,
        dataset=question.dataset,
        site=question.site,
        subgroup=question.subgroup,
        period=question.period,
    )
    found = entry(meant, assessment.study, assessment.plan, assessment.results)
    if isinstance(found, Message):
        return say(found)
    if isnan(found.estimate.value):
        return say(found.estimate.note) or say("table.not_estimable_plain")
    return found


def _of_each(question: Question, review: Review) -> tuple[dict[str, Result], str]:
    """The result of each candidate that a question is about; why there is none of the first that has none."""
    if not question.measure:
        return {}, review.say("procurement.questions.no_measure")
    names = [question.candidate] if question.candidate else review.names
    found = {name: _result(question, question.measure, name, review) for name in names}
    reasons = [r for r in found.values() if isinstance(r, str)]
    return {name: r for name, r in found.items() if isinstance(r, Result)}, next(iter(reasons), "")


def _withheld(results: Sequence[Result], review: Review) -> Iterator[str]:
    """Which blocks of the register concern the numbers of an answer."""
    found = {b.check for r in results for b in blocking(r, review.assessment.checks)}
    if found:
        yield review.say("procurement.questions.blocked", checks=sorted(found))


# ---------------------------------------------------------------- the ways to ask


def _estimates(question: Question, review: Review) -> Answer:
    """The estimate of each candidate; of a group also its difference from the other cases."""
    say = review.say
    found, why = _of_each(question, review)
    if not found:
        return [], why
    first = next(iter(found.values()))
    is_rate = first.dimension == ID and first.name in RATES and "prevalence" in first.parameters
    items = {
        name: per_patients(r, PATIENTS, say) if is_rate else in_words(r, say) for name, r in found.items()
    }
    key = "per_patients" if is_rate else "estimates"
    said = [
        say(f"procurement.questions.{key}", measure=_measure(question, review), items=_named(items, review))
    ]
    differences = {name: d for name, r in found.items() if (d := _difference(r, review)) is not None}
    if differences:
        items = {name: in_words(d, say) for name, d in differences.items()}
        others = compared_with(next(iter(differences.values())), say)
        values = {"group": question.subgroup, "others": others, "items": _named(items, review)}
        said.append(say("procurement.questions.difference", **values))
    return [*said, *_withheld(list(found.values()), review)], ""


def _measure(question: Question, review: Review) -> str:
    """What is measured and where, beside the candidate."""
    measure = (question.measure or "").rpartition(".")[2]
    name = review.say(quantity_name(measure, question.of))
    group = review.say.group(question.subgroup or "")
    where = ", ".join(filter(None, (group, question.site, question.dataset, question.period)))
    text = review.say("word.interval", value=name, interval=where) if where else name
    return first_letter(text)


def _named(items: Mapping[str, str], review: Review) -> list[str]:
    say = review.say
    return [
        say("procurement.questions.of_candidate", name=review.shown(name), estimate=text)
        for name, text in items.items()
    ]


def _difference(r: Result, review: Review) -> Result | None:
    """The difference between the group of a result and the other cases."""
    at = r.place
    found = (d for d in review.results if d.id == GROUP_DIFFERENCE and d.primary and d.endpoint == r.endpoint)
    same = (d for d in found if at.subgroup is not None and d.place.narrowed(reference=at.reference) == at)
    return next((d for d in same if not isnan(d.estimate.value)), None)


def _claims(question: Question, review: Review) -> Answer:
    """The estimate of each candidate beside what was claimed of it."""
    say = review.say
    found, why = _of_each(question, review)
    said = []
    for name, r in found.items():
        for claim, of in claims_of(review, name):
            how = observed(claim, r.estimate) if of.name == r.name else None
            if how is not None:
                values = {"name": review.shown(name), "claimed": claimed_text(claim, r, say)}
                said.append(say(f"procurement.questions.claim_{how}", estimate=in_words(r, say), **values))
    if not said:
        return [], why or say("procurement.questions.no_claim")
    return [*said, *_withheld(list(found.values()), review)], ""


def _comparisons(question: Question, review: Review) -> Answer:
    """The candidates two by two."""
    if not question.measure:
        return [], review.say("procurement.questions.no_measure")
    pairs = [(one, other) for i, other in enumerate(review.names) for one in review.names[i + 1 :]]
    if question.candidate:
        pairs = [pair for pair in pairs if question.candidate in pair]
    measure = f"{question.measure.removesuffix('_difference')}_difference"
    found = [_result(question, measure, pair, review) for pair in pairs]
    results = [r for r in found if isinstance(r, Result)]
    if not results:
        reasons = [why for why in found if isinstance(why, str)]
        return [], next(iter(reasons), review.say("procurement.questions.no_pair"))
    of = review.say(quantity_name(measure.removesuffix("_difference").rpartition(".")[2], question.of))
    return [*(pair_sentence(r, "measure", of, review) for r in results), *_withheld(results, review)], ""


def _requirements(question: Question, review: Review) -> Answer:
    """Who meets what is required."""
    del question
    if not review.required:
        return [], review.say("procurement.questions.nothing_required")
    return [one.text for one in conclusion(review.assessment, review.say)], ""


def _protocols(question: Question, review: Review) -> Answer:
    """How the device could be used: what the comparison of protocols found."""
    del question
    parts = (part for finding in review.assessment.findings for part in finding.parts)
    compared = [part for part in parts if any(t.id.startswith(COMPARED) for t in part.tables)]
    if not compared:
        return [], review.say("procurement.questions.no_protocols")
    return [review.say(message) for part in compared for message in part.finding], ""


WAYS: Mapping[str, Callable[[Question, Review], Answer]] = {
    "estimate": _estimates,
    "claim": _claims,
    "comparison": _comparisons,
    "requirements": _requirements,
    "protocols": _protocols,
}

ELEMENTS: dict[str, Callable[[Context], Element | None]] = {"questions": questions}
