"""Pieces of an answer: a sentence with the results that it rests on, and how criteria are named in it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts import Verdict
from trustreport.assessment.verdicts.entries import entry
from trustreport.assessment.verdicts.judge import amount, measure
from trustreport.measures.notes import of_simulations
from trustreport.report.answer.acceptance import bound_text, measured, verdict_estimate
from trustreport.report.tables import in_words
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import is_named
from trustreport.vocabulary.quantity import CORRECTED, DIFFERENCE
from trustreport.vocabulary.results import Result

SHORT = ("auc", "oe_ratio", "harmful_switch_rate")  # measures whose name is too long for a title
MOST_PAIRS = 3  # results of one kind that are said one by one
MOST_NAMED = 3  # criteria named one by one in a sentence
SCORED = ("candidates", "advice_accuracy")  # dimensions of scores and decisions
MEASURING = ("measurement", "reader_measurement")  # dimensions of measured values, ratings and counts
ACCURACIES = ("advice_accuracy.accuracy", "advice_accuracy.class_accuracy")
MEASURES = ("advice_accuracy.sensitivity", "advice_accuracy.auc")  # of which the worst data set is said


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and the results whose numbers it states."""

    text: str
    results: tuple[Result, ...] = ()


Said = tuple[list[Statement], list[Statement]]  # the sentences of an answer, and what supports them


def stated(say: Catalogue, key: str, /, *results: Result, **values: object) -> Statement:
    """A sentence of the catalogue, with the results whose numbers it states."""
    return Statement(say(key, **values), results)


def set_aside(sentences: Sequence[Statement], support: Sequence[Statement], say: Catalogue) -> Said:
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
    named = word[1:] != word[1:].lower() or word[1:2] == "-"  # AUC, H-accuracy
    return text if say.language == "de" or named else text[:1].lower() + text[1:]


def first_few(items: Sequence[str], n: int, say: Catalogue) -> list[str]:
    """The first items of `n`, and how many more there are as the last."""
    return [*items[:MOST_NAMED], say("word.more", n=n - MOST_NAMED)] if n > MOST_NAMED else list(items)


def on_data(candidates: Iterable[str], data: str, say: Catalogue) -> str:
    """Candidates, where there are any, and the data that a number of theirs is of: "A and B, knees"."""
    names = say.listed([name for name in candidates if name])
    return say("word.pair", first=names, second=data) if names and data else names or data


def in_brackets(found: Result, say: Catalogue) -> str:
    """An estimate with its interval, as it stands within brackets: "87.1%, 79.8% to 92.0%"."""
    return _without_brackets(in_words(found, say))


def _without_brackets(estimate: str) -> str:
    return estimate.replace(" (", ", ", 1).replace(")", "", 1)


# ---------------------------------------------------------------- results


def known(assessment: Assessment, *ids: str, **scope: object) -> list[Result]:
    """The primary results of these ids in a scope that have a value; None asks that a key is absent."""
    return [
        r
        for r in assessment.results
        if r.id in ids and r.primary and not isnan(r.estimate.value) and r.within(**scope)
    ]


def at_declared(assessment: Assessment, found: Result) -> Result:
    """The same change at the declared prevalence where there is one, else as it was measured."""
    share = assessment.plan.declared_prevalence
    if share is None:
        return found
    there = known(assessment, found.id, parameters={"prevalence": share})
    same = (r for r in there if (r.place, r.endpoint) == (found.place, found.endpoint))
    return next((r for r in same if not isnan(r.estimate.low)), found)


def outside_development(assessment: Assessment) -> Callable[[Result], bool]:
    """Whether a result is of other data than those that the device was made with."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    return lambda r: roles.get(str(r.place.dataset)) not in DEVELOPMENT_ROLES


def tested_results(assessment: Assessment, id: str) -> list[Result]:
    """The primary results of an id outside development data, the first of them."""
    of_tests = outside_development(assessment)
    found = (r for r in assessment.results if r.id == id and r.primary)
    return list(filter(of_tests, found))[:MOST_PAIRS]


def excludes_zero(difference: Result) -> bool:
    """Whether the whole interval of a difference is on one side of zero."""
    return difference.estimate.low > 0 or difference.estimate.high < 0


def by_minimum_accuracy(assessment: Assessment) -> dict[str, list[Result]]:
    """Accuracies, lowest first, by the side of the least that users accept on which their interval is.

    Each is at the declared prevalence where it can be. Of the periods of routine use the latest speaks; data
    that the device was made with never do.
    """
    least = assessment.plan.utility.minimum_accuracy
    sides: dict[str, list[Result]] = {"missed": [], "unsure": [], "reached": []}
    if least is not None:
        earlier = [d.name for d in assessment.study.datasets if d.role == "period"][:-1]
        found = known(assessment, *ACCURACIES, subgroup=None, site=None, parameters=None)
        tested = (at_declared(assessment, r) for r in filter(outside_development(assessment), found))
        for r in sorted(tested, key=lambda r: r.estimate.value):
            e = r.estimate
            if r.place.dataset not in earlier:
                sides["missed" if e.high < least else "reached" if e.low >= least else "unsure"].append(r)
    return sides


def of_data_sets(assessment: Assessment, id: str, candidate: str | None = None) -> list[Result]:
    """The primary entries of a measure, one for each data set outside training and tuning.

    None of a data set whose measures are corrected for the error of its labels: those speak for it.
    """
    plain = {"subgroup": None, "site": None, "parameters": None, "candidate": candidate}
    found: dict[str, Result] = {}
    chosen = assessment.plan.operating_point.threshold
    for r in filter(outside_development(assessment), known(assessment, id, **plain)):
        name = r.place.dataset
        if name and (name not in found or r.place.threshold == chosen):
            found[name] = r
    of_labels = (r for r in assessment.results if r.name.startswith(CORRECTED))
    corrected = {r.place.dataset for r in of_labels if not isnan(r.estimate.low)}
    return [r for name, r in found.items() if name not in corrected]


def worst_data(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """The lowest sensitivity, or else area, of several data sets, and what the others reach at least."""
    found = next((own for id in MEASURES if len(own := of_data_sets(assessment, id)) > 1), [])
    if not found:
        return []
    low = min(found, key=lambda r: r.estimate.value)
    rest = [r for r in found if r is not low]
    trained = any(d.role in DEVELOPMENT_ROLES for d in assessment.study.datasets)
    where = say("answer.worst.outside_training") if trained else say("answer.worst.of_all", n=len(found))
    least = amount(low, min(r.estimate.value for r in rest))
    several = "others" if len(rest) > 1 else "other"
    elsewhere = say(f"answer.worst.{several}", least=least, place=rest[0].place.dataset)
    values = {
        "place": low.place.dataset,
        "estimate": in_words(low, say),
        "missed": round(low.estimate.n * (1 - low.estimate.value)),
        "n": low.estimate.n,
        "least": least,
    }
    return [stated(say, f"answer.worst.{low.name}", low, *rest, where=where, elsewhere=elsewhere, **values)]


# ---------------------------------------------------------------- criteria


def estimate_of(verdict: Verdict, assessment: Assessment) -> Result | None:
    """The result of a criterion; of one that was not tested, what it would have been compared with."""
    if verdict.result is not None:
        return verdict.result
    found = entry(verdict.criterion, assessment.study, assessment.plan, assessment.results)
    return found if isinstance(found, Result) else None


def _measure_of(id: str, place: Place, say: Catalogue, measurement: str = "") -> str:
    """What was measured: a measure, its change with the aid, or its difference between candidates.

    A measure of values is named with the `measurement` that it is of.
    """

    def name(id: str) -> str:
        """The name of a quantity, short in a title where it has a short one."""
        return say(f"answer.short.{id}" if id in SHORT else quantity_name(id, measurement))

    base = id.removesuffix(DIFFERENCE)
    if base == id or not is_named(base):
        return first_letter(name(id))
    if place.candidates:
        one, other = place.candidates
        return say("answer.difference", measure=name(base), one=one, other=other)
    return say("answer.change_in", measure=name(base))


OVER_SITES = ("typical_site", "new_site", "worst_site")


def title(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    """What a criterion is about, without the candidate: "Sensitivity, internal test"."""
    criterion, found = verdict.criterion, estimate_of(verdict, assessment)
    if found is not None:
        # A quantity of a kind of its own keeps the name of its kind.
        of_endpoint = found.endpoint and found.quantity.base == found.endpoint
        id = found.quantity.id if of_endpoint or not is_named(found.name) else found.name
        measurement = found.endpoint if found.dimension in MEASURING else ""
        measure, at = _measure_of(id, found.place, say, measurement), found.place
        several = len({v.result.place.dataset for v in assessment.verdicts if v.result is not None}) > 1
        group = (at.subgroup or "").rpartition(": ")[2]
        over = (
            "worst_site" if found.name == "worst_site" else at.population and at.population.replace(" ", "_")
        )
        sites = say(f"verdicts.{over}") if over in OVER_SITES else None
        names = (at.task, at.set, at.dataset if several else None, at.site, sites, group)
        place = ", ".join(dict.fromkeys(name for name in names if name))
    elif criterion.measure:
        measure = first_letter(measured(criterion, say))
        group = say.group(criterion.subgroup or "")
        place = criterion.dataset or criterion.set or group or criterion.site or ""
    else:
        return criterion.endpoint
    return say("word.pair", first=measure, second=place) if place else measure


def title_within(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    """The title of a criterion as it stands within a sentence."""
    return within(title(verdict, assessment, say), say)


def candidate_of(verdict: Verdict) -> str:
    """The candidate that a criterion is about; empty for a comparison and where there is none."""
    criterion = verdict.criterion
    if verdict.result is not None:
        return verdict.result.place.candidate or ""
    return criterion.candidate if isinstance(criterion.candidate, str) else ""


def with_requirement(
    verdict: Verdict, assessment: Assessment, say: Catalogue, *, key: str = "with_requirement"
) -> str:
    """Title, estimate and what was required; in short for a list, or as a sentence with a verb."""
    name = title_within(verdict, assessment, say)
    if verdict.result is None:
        return name
    estimate = (bracketed if key == "in_short" else verdict_estimate)(verdict, say)
    return say(f"answer.{key}", title=name, estimate=estimate, required=bound_text(verdict, say))


def bracketed(verdict: Verdict, say: Catalogue) -> str:
    """The estimate of a verdict with its interval, as it stands within brackets."""
    return _without_brackets(verdict_estimate(verdict, say))


def results_of(verdicts: Iterable[Verdict]) -> tuple[Result, ...]:
    """The results that verdicts rest on."""
    return tuple(v.result for v in verdicts if v.result is not None)
