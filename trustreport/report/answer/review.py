"""What a review of candidates is made from: requirements, claims, how they differ, who misses how many."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.claims import as_printed, claimed, elsewhere, observed
from trustreport.assessment.dimensions.candidates.results import leading_measure, local_prevalences
from trustreport.assessment.dimensions.candidates.words import PATIENTS
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.performance.case_groups import REST
from trustreport.assessment.verdicts import Requirement, Standing, candidate_names, requirements, standings
from trustreport.assessment.verdicts.judge import bound_amount
from trustreport.measures.reported.printed import metric_named
from trustreport.report.answer.acceptance import CriterionRow, bound_text, criterion_rows, measured
from trustreport.report.answer.sentences import known
from trustreport.report.tables import in_words, written
from trustreport.study.plan import Claim
from trustreport.vocabulary.digits import per
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result, leading

ID = "candidates"
ACCURACY = "advice_accuracy"
GROUP_DIFFERENCE = "subgroups.subgroup_difference"
MOST_PAIRS = 6  # differences that are said in sentences


class Review:
    """The candidates of an assessment, what is required of them, and who meets it."""

    def __init__(self, assessment: Assessment, say: Catalogue) -> None:
        self.assessment, self.say = assessment, say
        self.plan, self.results = assessment.plan, assessment.results

    @cached_property
    def names(self) -> list[str]:
        """The candidates; one empty name for a device."""
        return candidate_names(self.plan, self.results) or [""]

    @cached_property
    def offers_choice(self) -> bool:
        """Whether somebody has to choose."""
        return self.plan.report.kind == "procurement" or len(self.names) > 1

    @cached_property
    def required(self) -> list[Requirement]:
        """What is required of the candidates."""
        return requirements(self.assessment.verdicts, self.names)

    @cached_property
    def standings(self) -> Mapping[str, Standing]:
        """Whether each meets all of it."""
        return standings(self.required, self.names)

    @cached_property
    def rows(self) -> Mapping[str, CriterionRow]:
        """Every criterion as the table of criteria prints it, by name."""
        return {row.name: row for row in criterion_rows(self.assessment, self.say)}

    def shown(self, name: str) -> str:
        """A candidate as the report names it."""
        return name or self.say(f"{ID}.the_device")

    def about(self, row: Requirement) -> str:
        """The quantity of a requirement and where it is to hold, beside the candidate."""
        return self.say("word.heading", text=self.measure(row))

    def measure(self, row: Requirement) -> str:
        """The same within a sentence."""
        c = row.criterion
        if not c.measure:
            return c.endpoint
        measure = measured(c, self.say)
        against = self.say("procurement.grid.against", baseline=row.baseline) if row.baseline else ""
        named = (against, self.say.group(c.subgroup or ""), c.site, c.dataset, c.set, c.period)
        return ", ".join(filter(None, (measure, *named)))

    def bound(self, row: Requirement) -> str:
        """What is required, as the table of criteria writes it."""
        verdicts = list(row.verdicts.values())
        return bound_text(next((v for v in verdicts if v.bound), verdicts[0]), self.say)


def claims_of(review: Review, name: str) -> Iterator[tuple[Claim, Result]]:
    """What was claimed of a candidate on other cases, each beside its result on these."""
    for claim in review.plan.performance_claims or ():
        of_it = claim.candidate == (name or None) or (claim.candidate is None and len(review.names) == 1)
        metric = metric_named(claim.measure.rpartition(".")[2])
        if elsewhere(claim, review.plan) and of_it and metric is not None:
            r = leading(review.results, f"{ID}.{metric}", candidate=name or None, parameters=None)
            if r is not None:
                yield claim, r


def claimed_text(claim: Claim, r: Result, say: Catalogue) -> str:
    """A claimed figure as the result beside it is written; as it was printed where it is no number."""
    value = claimed(claim, share=r.unit == "proportion")
    return say(as_printed(claim.value)) if value is None else say(bound_amount(r.quantity, value))


# ---------------------------------------------------------------- how they differ


def utilities(review: Review) -> list[str]:
    """The utilities under which the decisions of the candidates have a yield."""
    found = (r for r in review.results if r.id == f"{ACCURACY}.utility_yield" and r.primary)
    return list(dict.fromkeys(str(r.parameters["utility"]) for r in found if len(r.parameters) == 1))


def of_candidate(review: Review, id: str, name: str, dataset: str, **parameters: object) -> Result | None:
    """The primary result of a candidate on the cases of a data set, computed with these parameters alone."""
    where = {"candidate": name or None, "parameters": parameters or None, "site": None, "threshold": None}
    found = (r for r in review.results if r.id == id and r.primary and data_of(r) == dataset)
    return next((r for r in found if r.within(**where)), None)


def data_of(r: Result) -> str:
    """The data set or published set that a result is of; empty where it names none."""
    return r.place.dataset or r.place.set or ""


def compared(review: Review, dataset: str) -> Iterator[str]:
    """What decisions are worth, or the measure that comes first, pair by pair; misses; the weakest groups."""
    found = [
        r for u in utilities(review) for r in _pairs(review, f"{ACCURACY}.utility_difference", dataset, u)
    ]
    for r in found[:MOST_PAIRS]:
        yield pair_sentence(r, "utility", str(r.parameters["utility"]), review)
    measure = leading_measure(review.plan)
    for r in _pairs(review, f"{ID}.{measure}_difference", dataset)[:MOST_PAIRS] if measure else ():
        yield pair_sentence(r, "measure", review.say(quantity_name(measure)), review)
    yield from _missed(review, dataset)
    if measure:
        yield from _weak_groups(review, dataset, measure)


def _pairs(review: Review, id: str, dataset: str, utility: str = "") -> list[Result]:
    parameters = {"utility": utility} if utility else {}
    return [
        r
        for r in review.results
        if r.id == id and r.primary and data_of(r) == dataset and dict(r.parameters) == parameters
    ]


def pair_sentence(r: Result, kind: str, of: str, review: Review) -> str:
    """One candidate compared with another, in words for which side of zero the interval is on."""
    say, e = review.say, r.estimate
    one, other = r.place.candidates or ("", "")
    names = {"of": of, "compared": one, "baseline": other}
    if isnan(e.low):
        return say(f"procurement.compared.{kind}_no_interval", reason=e.note, **names)
    side = "higher" if e.low > 0 else "lower" if e.high < 0 else "close"
    return say(f"procurement.compared.{kind}_{side}", **names, **_size(r, say, turned=side == "lower"))


def _size(r: Result, say: Catalogue, *, turned: bool) -> dict[str, str | float]:
    """A difference with its limits for a sentence; turned where the sentence says how much lower."""
    e = r.estimate
    if turned:
        e = replace(e, value=-e.value, low=-e.high, high=-e.low)
    points = r.written == "difference"
    places, times = (max(r.places - 2, 0), 100) if points else (r.places, 1)
    value, low, high = (say.numbers.fixed(times * x, places) for x in (e.value, e.low, e.high))
    if points:
        value = say("unit.written.difference", text=value)
    return {"value": value, "low": low, "high": high, "level": e.level}


def weakest_group(review: Review, name: str, dataset: str, measures: Iterable[str]) -> Result | None:
    """The group of a candidate that is furthest below those that it is compared with, in one of measures."""
    asked = set(measures)
    found = [
        r
        for r in known(review.assessment, GROUP_DIFFERENCE, candidate=name or None, dataset=dataset or None)
        if r.endpoint in asked
        and r.quantity.better == "up"
        and r.estimate.value < 0
        and not isnan(r.estimate.low)
    ]
    return min(found, key=lambda r: r.estimate.value, default=None)


def compared_with(r: Result, say: Catalogue) -> str:
    """What a group is compared with: the other cases, or the group that is declared as the reference."""
    name = str(r.parameters["against"])
    return say("subgroups.rest") if name == REST else name


def _weak_groups(review: Review, dataset: str, measure: str) -> Iterator[str]:
    """The group furthest below the others of each candidate, whether or not the interval excludes zero."""
    say = review.say
    for name in review.names:
        r = weakest_group(review, name, dataset, (measure,))
        if r is not None:
            side = "lower" if r.estimate.high < 0 else "close"
            values = {"name": review.shown(name), "group": r.place.subgroup, "others": compared_with(r, say)}
            size = _size(r, say, turned=True)
            yield say(f"procurement.compared.group_{side}", of=quantity_name(measure), **values, **size)


def per_patients(r: Result, patients: float, say: Catalogue) -> str:
    """A rate in so many patients with its interval."""
    return written(per(r.estimate, round(patients)), "number", say)


def _missed(review: Review, dataset: str) -> Iterator[str]:
    say = review.say
    for share in local_prevalences(review.plan):
        items = []
        for name in review.names:
            r = of_candidate(review, f"{ID}.missed_rate", name, dataset, prevalence=share)
            if r is not None and not isnan(r.estimate.low):
                values = {"name": review.shown(name), "estimate": per_patients(r, PATIENTS, say)}
                items.append(say("procurement.compared.missed_by", **values))
        if items:
            positive = PATIENTS * share
            yield say("procurement.compared.missed", positive=positive, prevalence=share, items=items)


# ---------------------------------------------------------------- what a supplier has to explain


@dataclass(frozen=True, slots=True)
class ToExplain:
    """A claimed figure that lies above what was observed, or a group in which a candidate does worse."""

    measure: str
    claimed: str
    observed: str
    source: str


def to_explain(review: Review, name: str) -> Iterator[ToExplain]:
    """Claims above the whole interval here, then the weakest group where its interval is below the others."""
    say = review.say
    for claim, r in claims_of(review, name):
        if observed(claim, r.estimate) == "below":
            claimed_as = say("procurement.conditions.claimed", value=claimed_text(claim, r, say))
            source = ", ".join(filter(None, (claim.source_document, claim.section)))
            yield ToExplain(say(quantity_name(r.name)), claimed_as, in_words(r, say), source)
    required = [row for row in review.required if row.counts and row.word(name) is not None]
    asked = [row.criterion.quantity for row in required]
    for dataset in dict.fromkeys(r.place.dataset or "" for r in review.results if r.dimension == ID):
        weakest = weakest_group(review, name, dataset, asked)
        if weakest is not None and weakest.estimate.high < 0:
            group = say.group(weakest.place.subgroup or "")
            measure = say("word.interval", value=quantity_name(weakest.endpoint), interval=group)
            others = say("procurement.conditions.from_the_rest", others=compared_with(weakest, say))
            yield ToExplain(measure, "", in_words(weakest, say), others)
