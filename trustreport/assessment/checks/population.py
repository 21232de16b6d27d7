"""Pitfalls of the population: another prevalence, easy cases, cases the device is not meant for."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.checks.check import GROUP, OF_THE_SAMPLE, SMALL_GROUP, Check, Evidence, Remark
from trustreport.assessment.checks.reference import decided
from trustreport.assessment.finding import Severity
from trustreport.assessment.performance.decision_table import place_of_counts
from trustreport.measures.proportion import wilson
from trustreport.study import criteria
from trustreport.study.plan import Endpoint, Plan, Subgroup
from trustreport.study.study import DEVELOPMENT_ROLES, Cases, Coded, Dataset
from trustreport.vocabulary import digits
from trustreport.vocabulary.digits import share
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.quantities import ROWS
from trustreport.vocabulary.results import Result

ACCURACY = "advice_accuracy"
ENRICHED = ("enriched", "case-control")
SEVERITY = "severity"  # the column of the cases
Mask = NDArray[np.bool_]


def _shares(evidence: Evidence) -> Iterator[tuple[Place, str, int, int]]:
    """Place, name, positives and cases of every set of use, every published table and every task."""
    study = evidence.study
    for dataset in evidence.sets_of_use():
        if len(dataset.cases.classes) == 2:
            truth = dataset.cases.truth
            yield Place(dataset=dataset.name), dataset.name, int((truth == 1).sum()), int((truth >= 0).sum())
    for table in study.confusion:
        positives = table.tp + table.fn
        yield place_of_counts(table), table.set, positives, positives + table.fp + table.tn
    for readings, place in evidence.tasks():
        truth = readings.cases.truth
        if len(readings.cases.classes) == 2:
            yield place, readings.task, int((truth == 1).sum()), int((truth >= 0).sum())


def enrichment(evidence: Evidence) -> Iterator[Remark]:
    """P31: more, or fewer, positives than where the device is to be used, by sampling or by count."""
    plan = evidence.plan
    expected = plan.declared_prevalence
    asked = [c.declared for c in criteria.confirmatory_criteria(plan) if c.means_the_sample]
    sampling = {facts.dataset: facts.sampling for facts in plan.datasets}
    by_prevalence = tuple(row.id for row in ROWS if row.by_prevalence)
    for place, name, positives, n in _shares(evidence):
        said = sampling.get(name)
        if not n or (expected is None and said is None):
            continue
        study = wilson(positives, n, plan.report.confidence_level)
        judged = any(_at_that_of_the_sample(c, evidence, place) for c in asked)
        severity: Severity = "B" if judged else "W"
        here = share(positives, n)
        if expected is not None and not study.low <= expected <= study.high:
            message = _other_share(evidence, place, here, expected)
            yield Remark(place, message, by_prevalence, severity=severity)
        elif said in ENRICHED:
            message = say("checks.P31.fired_enriched", study=here)
            yield Remark(place, message, by_prevalence, severity=severity)
        else:
            yield Remark(place)


def _at_that_of_the_sample(criterion: Endpoint, evidence: Evidence, place: Place) -> bool:
    """Whether what a criterion names, of these data, is not given at the declared prevalence everywhere."""
    measure, of = criterion.measure or "", criterion.of
    named = [
        r
        for r in evidence.results
        if r.primary and measure in (r.id, r.name) and of in (None, r.endpoint) and r.place.rests_on(place)
    ]
    plain, there = (
        {(r.id, r.place, r.endpoint) for r in named if ("prevalence" in r.parameters) is corrected}
        for corrected in (False, True)
    )
    return bool(plain - there)


def _other_share(evidence: Evidence, place: Place, study: float, expected: float) -> Message:
    def ppv(parameters: dict[str, float] | None) -> Result | None:
        """The one primary predictive value with these parameters; None where there are none or several."""
        found = [
            r
            for r in evidence.results
            if r.id == f"{ACCURACY}.ppv"
            and r.primary
            and r.within(subgroup=None, site=None, parameters=parameters, **place.scope)
        ]
        return found[0] if len(found) == 1 else None

    here, there = ppv(None), ppv({"prevalence": expected})
    if here is None or there is None or here.estimate.value != here.estimate.value:
        return say("checks.P31.fired_share", study=study, expected=expected)
    both = {"here": here.estimate.value, "there": there.estimate.value}
    return say("checks.P31.fired", study=study, expected=expected, **both)


def spectrum(evidence: Evidence) -> Iterator[Remark]:
    """P32: cases and controls chosen apart, or of another severity than where the device is to be used."""
    for facts in evidence.plan.datasets:
        if facts.role not in DEVELOPMENT_ROLES and facts.sampling is not None:
            fires = facts.sampling == "case-control"
            yield Remark(Place(dataset=facts.dataset), say("checks.P32.fired") if fires else None)
    population = evidence.plan.intended_use.intended_patient_population
    intended = population.severity if population else None
    if intended:
        for place, cases in _sets_of_cases(evidence):
            severity = _named(cases, (SEVERITY,))
            if severity is not None and (severity.codes >= 0).any():
                level = evidence.plan.report.confidence_level
                yield Remark(place, _other_severity(severity, intended, level))


def _sets_of_cases(evidence: Evidence) -> Iterator[tuple[Place, Cases]]:
    """The cases of every set of use and of every task, with their place."""
    for dataset in evidence.sets_of_use():
        yield Place(dataset=dataset.name), dataset.cases
    for readings, place in evidence.tasks():
        yield place, readings.cases


def _other_severity(severity: Coded, intended: Mapping[str, float], level: float) -> Message | None:
    """Levels whose share here excludes the intended one, all intervals together at the level (Bonferroni)."""
    known = severity.codes[severity.codes >= 0]
    held = {name.casefold(): int((known == i).sum()) for i, name in enumerate(severity.labels)}
    expected = {name.casefold(): (name, share) for name, share in intended.items()}
    names = {name.casefold(): name for name in severity.labels} | {key: n for key, (n, _) in expected.items()}
    each = 1 - (1 - level) / len(names)
    other = []
    for key, name in names.items():
        share, study = expected.get(key, (name, 0.0))[1], wilson(held.get(key, 0), len(known), each)
        if not study.low <= share <= study.high:
            other.append(say("checks.P32.level", name=name, study=study.value, expected=share))
    return say("checks.P32.fired_severity", n=len(known), levels=other) if other else None


# ---------------------------------------------------------------- P50

FEMALE = frozenset("f female w woman women weiblich femminile donna femme".split())
MALE = frozenset("m male man men männlich maschile uomo homme".split())
SPELLED = {
    "age": ("age", "age_years", "patient_age"),
    "sex": ("sex", "gender"),
    "setting": ("setting",),
    "equipment": ("equipment", "scanner", "device_model"),
}


def outside(evidence: Evidence) -> Iterator[Remark]:
    """P50: cases outside the age, sex, setting or equipment that is declared, with and without them."""
    for dataset in evidence.sets_of_use():
        masks = _outside(dataset.cases, evidence.plan, dataset)
        if masks:
            away = np.logical_or.reduce(list(masks.values()))
            yield Remark(Place(dataset=dataset.name), _outside_use(dataset, away, masks, evidence.plan))
    for readings, place in evidence.tasks():
        masks = _outside(readings.cases, evidence.plan)
        if masks:
            away = np.logical_or.reduce(list(masks.values()))
            values = {"n": int(away.sum()), "total": len(away), "by": _by(masks)}
            yield Remark(place, say("checks.P50.fired_plain", **values) if away.any() else None)


def _by(masks: Mapping[str, Mask]) -> list[Message]:
    return [say(f"checks.P50.by.{name}") for name, mask in masks.items() if mask.any()]


def _outside(cases: Cases, plan: Plan, dataset: Dataset | None = None) -> dict[str, Mask]:
    """The cases outside each thing that is declared and that a column tells of."""
    use = plan.intended_use
    population = use.intended_patient_population
    found: dict[str, Mask] = {}
    ages = (population.age_range if population else None) or use.age_range
    age = _numbers(cases, dataset, SPELLED["age"])
    if ages and age is not None:
        found["age"] = (age < ages[0]) | (age > ages[1])
    sex = _named(cases, SPELLED["sex"])
    wanted = _sexes((population.sex if population else None) or use.sex)
    if wanted and sex is not None:
        found["sex"] = _not_among(sex, wanted)
    setting = _named(cases, SPELLED["setting"])
    told = (population.setting if population else None) or use.setting
    if told and setting is not None:
        said = {told.casefold()}
        if said & {label.casefold() for label in setting.labels}:
            found["setting"] = _not_among(setting, said)
    equipment = _named(cases, SPELLED["equipment"])
    declared = plan.site_context.equipment if plan.site_context else None
    if declared and equipment is not None:
        found["equipment"] = _not_among(equipment, {name.casefold() for name in declared})
    return found


def _sexes(declared: str | None) -> set[str]:
    """Spellings of the one sex that is declared; empty where it is both, or a sentence."""
    word = (declared or "").strip().casefold()
    return set(FEMALE) if word in FEMALE else set(MALE) if word in MALE else set()


def _named(cases: Cases, names: tuple[str, ...]) -> Coded | None:
    return next((column for name, column in cases.groups.items() if name.casefold() in names), None)


def _not_among(column: Coded, wanted: set[str]) -> Mask:
    """Where a column holds something else; an empty cell is not outside."""
    other = np.append([label.casefold() not in wanted for label in column.labels], False).astype(bool)
    return np.asarray(other[column.codes])


def _numbers(cases: Cases, dataset: Dataset | None, names: tuple[str, ...]) -> NDArray[np.float64] | None:
    """A column of numbers among the features or the groups of the cases; NaN where empty."""
    if dataset is not None and dataset.features is not None:
        for i, name in enumerate(dataset.feature_names):
            if name.casefold() in names and name not in dataset.feature_levels:
                return dataset.features[:, i]
    column = _named(cases, names)
    if column is None:
        return None
    try:
        values = np.array([float(label) for label in column.labels] + [np.nan])
    except ValueError:
        return None
    return np.asarray(values[column.codes])


def _outside_use(dataset: Dataset, away: Mask, masks: Mapping[str, Mask], plan: Plan) -> Message | None:
    """How many, and accuracy on all cases and on those inside, where there are decisions."""
    if not away.any():
        return None
    values: dict[str, Any] = {"n": int(away.sum()), "total": len(away), "by": _by(masks)}
    alone = dataset.scores if len(dataset.scores) == 1 else {}
    decision = next((decided(scores, plan, name) for name, scores in alone.items()), None)
    if decision is None:
        return say("checks.P50.fired_plain", **values)
    known = (dataset.cases.truth >= 0) & (decision >= 0)
    right = dataset.cases.truth == decision
    if not (known & ~away).any():
        return say("checks.P50.fired_plain", **values)
    whole, inside = float(right[known].mean()), float(right[known & ~away].mean())
    return say("checks.P50.fired", whole=whole, inside=inside, **values)


SUBGROUPS = "subgroups"


def small_groups(evidence: Evidence) -> Iterator[Remark]:
    """P37: a group with so few positives or negatives that only counts are told."""
    groups: dict[Place, list[Result]] = {}
    for r in evidence.results:
        if r.place.subgroup is not None and "too_few" in r.details:
            at = r.place
            place = Place(dataset=at.dataset, candidate=at.candidate, task=at.task, subgroup=at.subgroup)
            groups.setdefault(place, []).append(r)
    for place, found in groups.items():
        short = [r for r in found if r.details["too_few"]]
        concerned = tuple(dict.fromkeys(r.quantity.base for r in short))
        yield Remark(place, _counted(found, short) if short else None, concerned)


def _counted(found: list[Result], short: list[Result]) -> Message:
    """What was counted in place of a percentage."""
    facts = short[0].details
    cells = {r.quantity.id: int(r.estimate.value) for r in found if r.unit == "count"}
    names = {r.quantity.id for r in short}
    if not facts["positives"] or not facts["negatives"]:
        return say("checks.P37.fired_cases", n=facts["positives"], negatives=facts["negatives"])
    if "sensitivity" in names and "tp" in cells:
        return say("checks.P37.fired", k=cells["tp"], n=facts["positives"])
    if "specificity" in names and "tn" in cells:
        return say("checks.P37.fired_negatives", k=cells["tn"], n=facts["negatives"])
    return say("checks.P37.fired_cases", n=facts["positives"], negatives=facts["negatives"])


def unknown_attribute(evidence: Evidence) -> Iterator[Remark]:
    """P38: an attribute that is not known of many cases, or a group that was not fixed in advance.

    Such a group can be explored, but no hypothesis about it can be confirmed: that blocks.
    """
    limit = evidence.limit("P38_share")
    for r in evidence.results:
        if r.id == f"{SUBGROUPS}.unknown" and r.estimate.n and r.estimate.value == r.estimate.value:
            share, attribute = digits.share(r.estimate.value, r.estimate.n), r.parameters["attribute"]
            if r.estimate.value == r.estimate.n:
                message = say("checks.P38.fired_never", attribute=attribute)
            else:
                message = say("checks.P38.fired", attribute=attribute, share=share)
            yield Remark(r.place, message if share > limit else None, severity="W")
    late = [group.name for group in evidence.plan.subgroups if group.prespecified is not True]
    if evidence.plan.subgroups:
        said = say("checks.P38.fired_late", n=len(late), names=late) if late else None
        yield Remark(NOWHERE, said, severity="W")
    yield from _confirmed_afterwards(evidence)


def _confirmed_afterwards(evidence: Evidence) -> Iterator[Remark]:
    """Groups that are declared as chosen afterwards, and that a criterion with a hypothesis names."""
    afterwards = [group for group in evidence.plan.subgroups if group.prespecified is False]
    for criterion in (one.declared for one in criteria.confirmatory_criteria(evidence.plan)):
        name = criterion.subgroup
        if name and criterion.role != "exploratory" and any(_makes(group, name) for group in afterwards):
            names = {"group": name, "criterion": criterion.endpoint}
            yield Remark(Place(subgroup=name), say("checks.P38.fired_confirmed", **names))


def _makes(declared: Subgroup, group: str) -> bool:
    """Whether a declaration is that of a group: by its own name, or by the column that it divides."""
    if group == declared.name:
        return True
    columns = {name.strip().casefold() for name in (declared.name, declared.definition or "")} - {""}
    if declared.breaks:
        return any(column in group.casefold().split() for column in columns)
    return group.partition(": ")[0].casefold() in columns


CHECKS = (
    Check("P31", ACCURACY, "B", enrichment, withholds=OF_THE_SAMPLE),
    Check("P32", ACCURACY, "W", spectrum),
    Check("P50", ACCURACY, "W", outside, of_rows=True),
    Check("P37", SUBGROUPS, "B", small_groups, SMALL_GROUP),
    Check("P38", SUBGROUPS, "B", unknown_attribute, GROUP),
)
