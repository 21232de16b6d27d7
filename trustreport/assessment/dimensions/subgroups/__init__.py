"""Subgroups: for whom does the device, or reading with it, work less well?"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.subgroups.groups import NAME, GroupedCases
from trustreport.assessment.dimensions.subgroups.overview import overview
from trustreport.assessment.dimensions.subgroups.readers import effects
from trustreport.assessment.dimensions.subgroups.results import adjusted, measurements, tested
from trustreport.assessment.dimensions.subgroups.words import story_of_readers, story_of_set, text
from trustreport.assessment.finding import Finding, Part
from trustreport.assessment.narrative.periods import immature, prepend_sentences
from trustreport.assessment.narrative.where import where
from trustreport.assessment.performance.cases import ScoredCases, scored_cases
from trustreport.assessment.performance.sites import pooled
from trustreport.study.plan import Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Study
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.results import Result


def has_data(study: Study, plan: Plan) -> bool:
    """Whether groups are declared, and there are cases that were judged or read."""
    judged = any(d.scores and d.role not in DEVELOPMENT_ROLES for d in study.datasets)
    return bool(plan.subgroups) and (judged or bool(study.readings))


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences, tables and figures of every data set, candidate, task and contrast."""
    sets, read = list(map(adjusted, measurements(study, plan))), list(map(adjusted, effects(study, plan)))
    of_sets, of_readers = _formed(sets), _formed(read)
    sets = [replace(one, unknown=_unknown_here(one, of_readers)) for one in sets]
    read = [replace(one, unknown=_unknown_here(one, of_sets)) for one in read]
    parts: list[Part | None] = [overview(sets, read)]
    alone = parts == [None] and len(sets) == 1
    for number, one in enumerate(sets, 1):
        title = None if alone else say("word.name", name=one.name)
        parts.append(text.part(story_of_set(one, plan, number, of_readers), title, one.place))
    for number, one in enumerate(read, 1):
        title = text("readers_title" if len(read) == 1 else "readers_title_of", name=one.name)
        parts.append(text.part(story_of_readers(one, plan, number, of_sets), title, one.place))
    every = [r for one in (*sets, *read) for r in one.results]
    for number, cases in enumerate(_by_candidate(study, plan), 1):
        part, found = where(pooled(cases, plan), NAME, plan, f"_{number}", tested(sets))
        parts.append(part)
        every += found
    known: dict[str, Result] = {}
    for r in every:
        known.setdefault(_question(r), r)
    shown = prepend_sentences(immature(study, plan), [part for part in parts if part])
    return text.finding(shown, known.values(), ("cause", "other"))


def _by_candidate(study: Study, plan: Plan) -> Iterator[list[ScoredCases]]:
    """The sets of use of each candidate, but those that are followed over time."""
    periods = any(d.role == "period" for d in study.datasets)
    baseline = plan.vigilance.baseline_dataset if plan.vigilance and periods else None
    found: dict[str, list[ScoredCases]] = {}
    for case in scored_cases(study, plan):
        if case.dataset.role not in (*DEVELOPMENT_ROLES, "period") and case.dataset.name != baseline:
            found.setdefault(case.candidate, []).append(case)
    yield from found.values()


def _formed(found: Sequence[GroupedCases]) -> frozenset[str]:
    """The declared groups that could be formed somewhere."""
    return frozenset(g.declared.name for one in found for d in one.divisions for g in d.groups)


def _unknown_here(one: GroupedCases, elsewhere: frozenset[str]) -> dict[str, Result]:
    """What is unknown of these cases, apart from groups that are a matter of other cases."""
    other = {d.attribute for d in one.divisions if d.absent is not None and d.attribute in elsewhere}
    return {attribute: r for attribute, r in one.unknown.items() if attribute not in other}


def _question(result: Result) -> str:
    """What a result answers: two contrasts that share an arm ask once for its mean."""
    scope = {key: value for key, value in result.scope.items() if key != "analysis"}
    return json.dumps([result.id, scope], sort_keys=True)


DIMENSION = Dimension(NAME, has_data, answer)
