"""Pieces of an answer: a sentence with the results that it rests on, and how criteria are named in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts import Verdict
from trustreport.assessment.verdicts.entries import entry
from trustreport.assessment.verdicts.judge import measure
from trustreport.measures.notes import of_simulations
from trustreport.report.acceptance import bound_text, ends_of
from trustreport.report.tables import in_words
from trustreport.study import criteria
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import DIFFERENCE, is_named
from trustreport.vocabulary.results import Result

# Measures whose name is too long for a title.
SHORT = {
    "auc": "answer.short.auc",
    "oe_ratio": "answer.short.oe_ratio",
    "harmful_switch_rate": "answer.short.harmful_switch_rate",
}
MOST_NAMED = 3  # criteria named one by one in a sentence


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and the results whose numbers it states."""

    text: str
    results: tuple[Result, ...] = ()


def set_aside(
    sentences: Sequence[Statement], support: Sequence[Statement], say: Catalogue
) -> tuple[list[Statement], list[Statement]]:
    """An answer without the numbers of which a limit decides nothing; a sentence says which, and why."""
    found = [one for one in (*sentences, *support) if any(r.estimate.short for r in one.results)]
    short = {r: None for one in found for r in one.results if r.estimate.short}
    said = [Statement(why_not_stated(r, say)) for r in list(short)[:MOST_NAMED]]
    kept = [one for one in sentences if one not in found]
    rest = [one for one in support if one not in found]
    return (kept, rest + said) if kept else (said[:1] or rest[:1], rest + said[1:])


def why_not_stated(r: Result, say: Catalogue) -> str:
    """Why a number that has a limit on which nothing rests leads nowhere."""
    named = first_letter(say(measure(r)))
    return say("answer.open.set_aside", measure=named, reason=of_simulations(r.estimate.note))


def first_letter(text: str) -> str:
    """The text with a capital where it begins."""
    return text[:1].upper() + text[1:]


def within(text: str, say: Catalogue) -> str:
    """A title as it stands within a sentence: a capital only where the word is a name or an abbreviation.

    German keeps the capitals of its nouns.
    """
    word = text.split(" ", 1)[0]
    return text if say.language == "de" or word[1:] != word[1:].lower() else text[:1].lower() + text[1:]


def estimate_of(verdict: Verdict, assessment: Assessment) -> Result | None:
    """The result of a criterion; of one that was not tested, what it would have been compared with."""
    if verdict.result is not None:
        return verdict.result
    found = entry(verdict.criterion, assessment.study, assessment.plan, assessment.results)
    return found if isinstance(found, Result) else None


def _name(id: str, say: Catalogue, of: str | None = None) -> str:
    """A measure by the name that a title has room for."""
    return say(SHORT[id]) if id in SHORT and not of else say(quantity_name(id, of))


def measure_of(id: str, endpoint: str, place: Place, say: Catalogue) -> str:
    """What was measured: a measure, its change with the aid, or its difference between candidates."""
    if id.endswith(DIFFERENCE) and is_named(id.removesuffix(DIFFERENCE)):
        measure = _name(id.removesuffix(DIFFERENCE), say)
        if place.candidates:
            one, other = place.candidates
            return say("answer.difference", measure=measure, one=one, other=other)
        return say("answer.change_in", measure=measure)
    return first_letter(_name(id, say, endpoint or None))


def where(place: Place, *, data: bool = True) -> str:
    """The part of the data that a title names, and the data set where there are several."""
    group = (place.subgroup or "").rpartition(": ")[2]
    names = (place.task, place.set, place.dataset if data else None, place.site, group)
    return ", ".join(dict.fromkeys(name for name in names if name))


def _several_data(assessment: Assessment) -> bool:
    """Whether criteria are about more than one data set."""
    named = {v.result.place.dataset for v in assessment.verdicts if v.result is not None}
    return len(named) > 1


def title(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    """What a criterion is about, without the candidate: "Sensitivity, internal test"."""
    criterion, found = verdict.criterion, estimate_of(verdict, assessment)
    if found is not None:
        measure = measure_of(_id(found), "", found.place, say)
        place = where(found.place, data=_several_data(assessment))
    elif criterion.measure:
        measure = first_letter(say(quantity_name(criteria.quantity(criterion), criterion.of)))
        place = criterion.dataset or criterion.set or criterion.subgroup or criterion.site or ""
    else:
        return criterion.endpoint
    return say("word.pair", first=measure, second=place) if place else measure


def _id(found: Result) -> str:
    """The quantity by which a result is named; one of a kind of its own keeps the name of its kind."""
    of_endpoint = found.endpoint and found.quantity.base == found.endpoint
    return found.quantity.id if of_endpoint or not is_named(found.name) else found.name


def candidate_of(verdict: Verdict) -> str:
    """The candidate that a criterion is about; empty for a comparison and where there is none."""
    criterion = verdict.criterion
    if verdict.result is not None:
        return verdict.result.place.candidate or ""
    return criterion.candidate if isinstance(criterion.candidate, str) else ""


def with_requirement(
    verdict: Verdict, assessment: Assessment, say: Catalogue, *, in_short: bool = False
) -> str:
    """Title, estimate and what was required; in short for a list."""
    name, found = within(title(verdict, assessment, say), say), verdict.result
    if found is None:
        return name
    required = bound_text(verdict, say)
    if in_short:
        estimate = in_brackets(found, say, bounds=ends_of(verdict))
        return say("answer.in_short", title=name, estimate=estimate, required=required)
    estimate = in_words(found, say, bounds=ends_of(verdict))
    return say("answer.with_requirement", title=name, estimate=estimate, required=required)


def in_brackets(found: Result, say: Catalogue, *, bounds: Iterable[float] = ()) -> str:
    """An estimate with its interval, as it stands within brackets: "87.1%, 79.8% to 92.0%"."""
    return in_words(found, say, bounds=bounds).replace(" (", ", ", 1).replace(")", "", 1)


def results_of(verdicts: Iterable[Verdict]) -> tuple[Result, ...]:
    """The results that verdicts rest on."""
    return tuple(v.result for v in verdicts if v.result is not None)


def text_of(sentences: Sequence[Statement]) -> str:
    """Sentences one after another."""
    return " ".join(one.text for one in sentences)
