"""Trustworthiness at a glance: the six dimensions of "A Question of Trust", H-accuracy and utility yield.

Campagner, Angius and Cabitza name the dimensions, and this is their order. Each row has what leads for it, of
several data sets, arms or candidates the worst, what that says in words, and where more of it stands; a row
without data says what it needs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.advice_value.information import utilities
from trustreport.assessment.dimensions.measurement.words import names_compared
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts.judge import amount
from trustreport.report.answer.forest import own_level
from trustreport.report.answer.other_evidence import COMPARED, MEAN, is_corrected, labels_err
from trustreport.report.answer.sentences import MEASURING, known, outside_development, why_not_stated
from trustreport.report.answer.without_criteria import DECIDED, decided_alike
from trustreport.report.numbering import ReportPlace
from trustreport.report.tables import in_words, through_infinity
from trustreport.vocabulary.kinds import AGAINST_A_VALUE, KINDS, MEANS
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.quantity import DIFFERENCE
from trustreport.vocabulary.results import Result

DIMENSIONS = (
    *("source_reliability", "advice_accuracy", "pragmatic_utility"),
    *("advice_value", "decision_benefit", "potential_robustness"),
)
OF_VALUES = (AGAINST_A_VALUE[1], *MEANS[1:], MEANS[0])
# What is shown of each, and what of it speaks in words: the first that is there.
SHOWN: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "source_reliability": (("actual_accuracy", "label_accuracy", "krippendorff_alpha"),),
    "advice_accuracy": (
        (
            "label_corrected_sensitivity",
            *KINDS["yes_no"].leads[0][:1],
            *KINDS["class"].leads[0],
            "auc",
            "auc_at_horizon",
            "class_sensitivity",
        ),
        ("label_corrected_specificity", "specificity"),
    ),
    "pragmatic_utility": (("arr",), ("odds_ratio",)),
    "advice_value": (("advisory_value", "voi"),),
    "decision_benefit": (("mean_benefit", "published_mean_benefit"),),
    "potential_robustness": (("degree_of_correspondence",), ("spr",)),
    # Beside the dimensions of the paper, where there are values.
    "measurement": (OF_VALUES,),
    "reader_measurement": ((*(f"{name}_difference" for name in COMPARED), "preference_share", *OF_VALUES),),
    "advice_accuracy.h_accuracy": (("h_accuracy",),),
    "advice_accuracy.utility_yield": (("utility_yield",),),
}
# What is said in the words of another: of a publication as of a study, of each mean as of one.
SAID_AS = {"published_mean_benefit": "mean_benefit"} | {
    f"{m}{DIFFERENCE}": f"{MEAN}{DIFFERENCE}" for m in MEANS
}
OF_P = ("degree_of_correspondence", "spr")
NARROW = ("subgroup", "site", "reader", "class", "raters", "complexity", "version", "advice_type")


@dataclass(frozen=True, slots=True)
class GlanceRow:
    """A dimension by its name in the paper: what was measured, what it says or needs, and where it stands."""

    name: str
    measured: tuple[str, ...]
    says: str
    place: ReportPlace | None


def glance(assessment: Assessment, standing: Mapping[str, ReportPlace], say: Catalogue) -> list[GlanceRow]:
    """A row for each dimension, whether these data answer it or not."""
    asked = {finding.dimension for finding in assessment.findings}
    shown = [word for word in SHOWN if word not in MEASURING or word in asked]
    return [_row(word, assessment, standing, say) for word in shown]


def _row(word: str, assessment: Assessment, standing: Mapping[str, ReportPlace], say: Catalogue) -> GlanceRow:
    dimension, _, own = word.partition(".")
    name = say(f"glance.name.{own}") if own else say(f"{dimension}.short")
    first: Sequence[Result] = ()
    measured: list[str] = []
    for names in SHOWN[word]:
        found = next(filter(None, (_found(f"{dimension}.{n}", assessment) for n in names)), [])
        if found:
            lead = _from_criterion(_worst(found, first), assessment)
            measured.append(_stated(lead, assessment, say))
            first = first or (lead, *found)
    if not first:
        priced = own == "utility_yield" and bool(utilities(assessment.plan))
        return GlanceRow(name, (), say(f"glance.needs.{'costs' if priced else own or dimension}"), None)
    place, lead = standing.get(word) or standing.get(dimension), first[0]
    if lead.estimate.short:
        return GlanceRow(name, (), why_not_stated(lead, say), place)
    if lead.dimension == "advice_accuracy" and not is_corrected(lead) and labels_err(assessment):
        return GlanceRow(name, tuple(measured), say("glance.says.labels_unknown"), place)
    return GlanceRow(name, tuple(measured), _says(lead, first[1:], assessment, say), place)


def _from_criterion(r: Result, assessment: Assessment) -> Result:
    """The same number as a criterion judged it, whose interval may have another level than the report's."""
    number = (r.id, r.endpoint, r.place, r.parameters)
    judged = (v.result for v in assessment.verdicts if v.result is not None)
    return next((j for j in judged if (j.id, j.endpoint, j.place, j.parameters) == number), r)


def _stated(r: Result, assessment: Assessment, say: Catalogue) -> str:
    """The quantity with its value; its level and the prevalence that it is for where they are its own."""
    text = f"{_named(r, say)} {_written(r, say)}"
    if own_level(r, assessment):
        level = say("answer.forest.level", level=r.estimate.level)
        text = say("word.pair", first=text, second=level)
    share = r.parameters.get("prevalence")
    return text if share is None else say("glance.at", text=text, prevalence=share)


def _named(r: Result, say: Catalogue) -> str:
    """The quantity, an H-accuracy by the name that its source has for what weighs in it."""
    kind = r.details.get("kind") if r.name == "h_accuracy" else None
    return say(f"advice_accuracy.kind.{kind}" if kind else quantity_name(r.name, r.endpoint))


def _written(r: Result, say: Catalogue) -> str:
    """The value, with its interval where it has one; what is a p-value, or of two, as one."""
    if r.name in OF_P:
        return say.numbers.p(r.estimate.value).removeprefix("= ").replace(" ", "\N{NO-BREAK SPACE}")
    bare = isnan(r.estimate.low) and not through_infinity(r)
    return say(amount(r, r.estimate.value)) if bare else in_words(r, say)


def _found(id: str, assessment: Assessment) -> list[Result]:
    """The entries that lead for a quantity, of no part of the data and of no development data."""
    whole = known(assessment, id, **dict.fromkeys(NARROW))
    found = list(filter(outside_development(assessment), whole))
    if id.startswith("source_reliability."):  # what follows from a stated accuracy was not measured
        found = [r for r in found if r.estimate.n]
    if id in DECIDED:
        alike = decided_alike(*([r for r in assessment.results if r.id == one] for one in DECIDED))
        found = [r for r in found if r.place not in alike]
    chosen, declared = assessment.plan.operating_point.threshold, assessment.plan.declared_prevalence
    at = [r for r in found if r.place.threshold in (None, chosen)] or found
    judged = [r for r in at if declared is not None and r.parameters.get("prevalence") == declared]
    at = judged or at
    # Of several choices of one quantity (bins, endpoints, utilities) the first leads the report.
    return [r for r in at if (r.endpoint, r.parameters) == (at[0].endpoint, at[0].parameters)]


def _worst(found: Sequence[Result], first: Sequence[Result]) -> Result:
    """The worst; beside another quantity the one of the same place."""
    same = [r for r in found if first and r.place == first[0].place]
    target = found[0].quantity.target
    if target is not None:
        return max(same or found, key=lambda r: abs(r.estimate.value - target))
    worst = max if found[0].quantity.better == "down" else min
    return worst(same or found, key=lambda r: r.estimate.value)


def _says(lead: Result, found: Sequence[Result], assessment: Assessment, say: Catalogue) -> str:
    """What it says in words, after the name of what is the worst of several."""
    text = " ".join(_words(lead, assessment, say))
    if len(found) < 2:
        return text
    at = lead.place
    of_sets = len({r.place.dataset for r in found}) > 1  # of one candidate there are then several
    candidate = at.data_name if at.candidate and of_sets else at.candidate
    where = candidate or at.set or at.task or " / ".join(at.arms or at.candidates or ()) or at.data_name
    return say("glance.worst", name=where, n=len(found), measure=_named(lead, say), text=text)


def _words(lead: Result, assessment: Assessment, say: Catalogue) -> Iterator[str]:
    e = lead.estimate
    if lead.quantity.no_effect is not None:
        shown = e.low > lead.quantity.no_effect or e.high < lead.quantity.no_effect
        side = "better" if e.value > lead.quantity.no_effect else "worse"
        name = SAID_AS.get(lead.name, lead.name)
        compared, baseline = map(say.called, names_compared(lead.place))
        side = side if shown else "unclear"
        yield say(f"glance.says.{name}_{side}", compared=compared, baseline=baseline)
        if lead.name == "mean_benefit":
            yield from _of_readers(lead, assessment, say)
        return
    values = {"missed": round(e.n * (1 - e.value)), "n": e.n, "utility": lead.parameters.get("utility", "")}
    yield say(f"glance.says.{lead.name}", **values)


def _of_readers(lead: Result, assessment: Assessment, say: Catalogue) -> Iterator[str]:
    """How many readers did better, and how many worse."""
    same = (lead.endpoint, lead.place.arms, lead.place.task)
    every = known(assessment, "decision_benefit.benefit")
    own = [r.estimate.value for r in every if (r.endpoint, r.place.arms, r.place.task) == same]
    if own:
        values = {"better": sum(v > 0 for v in own), "worse": sum(v < 0 for v in own), "n": len(own)}
        yield say("answer.open.gained", measure=say(quantity_name(lead.endpoint)), **values)
