"""Candidates: does it do here what is claimed, and better than another, for our patients?"""

from trustreport.assessment.dimensions.candidates.counts import (
    candidates_of_counts,
    part_of_counts,
    results_of_counts,
)
from trustreport.assessment.dimensions.candidates.results import ID, Common, common_cases, results_of
from trustreport.assessment.dimensions.candidates.versions import versions_of
from trustreport.assessment.dimensions.candidates.words import parts_of, text, versions_part
from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.finding import Finding
from trustreport.assessment.narrative.periods import immature, prepend_sentences
from trustreport.assessment.performance.cases import by_set, scored_cases
from trustreport.study.plan import Plan
from trustreport.study.study import Study


def sets(study: Study, plan: Plan) -> list[Common]:
    """The data sets with decisions of at least one candidate, on the cases that all were given."""
    found = (common_cases(candidates, plan) for candidates in by_set(scored_cases(study, plan)).values())
    return [common for common in found if common is not None]


def applies(study: Study, plan: Plan) -> bool:
    """Whether anybody has to choose: a procurement review, or several candidates."""
    several = any(len(common.runs) > 1 for common in sets(study, plan))
    several = several or any(len(one.tables) > 1 for one in candidates_of_counts(study, plan))
    return plan.report.kind == "procurement" or several


def has_data(study: Study, plan: Plan) -> bool:
    """Whether cases of known truth were decided by a candidate, or tables of candidates were published."""
    return bool(sets(study, plan)) or bool(candidates_of_counts(study, plan))


def answer(study: Study, plan: Plan) -> Finding:
    """Each candidate on the common cases, the differences, what they mean here, and what was claimed."""
    found = sets(study, plan)
    results = {common.dataset: tuple(results_of(common, plan)) for common in found}
    parts = [part for common in found for part in parts_of(common, results[common.dataset], plan, len(found))]
    every = tuple(r for own in results.values() for r in own)
    for number, one in enumerate(candidates_of_counts(study, plan), 1):
        own = results_of_counts(one, plan)
        parts.append(part_of_counts(one, own, number))
        every = (*every, *own)
    versions = versions_of(study, plan)
    if versions is not None:
        parts.append(versions_part(versions))
        every = (*every, *versions.results)
    return text.finding(prepend_sentences(immature(study, plan), parts), every, ("readers", "site"))


DIMENSION = Dimension(ID, has_data, answer, applies=applies)
