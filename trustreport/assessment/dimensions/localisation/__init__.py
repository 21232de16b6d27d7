"""Localisation: are lesions found where they are, and at what price in false marks?

Two questions: of candidates by themselves, and of readers with and without the aid.
"""

from collections.abc import Iterable

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.localisation.results import (
    ID,
    READERS_ID,
    candidate_results,
    difference_results,
    reader_results,
)
from trustreport.assessment.dimensions.localisation.words import candidate_part, reader_part, text
from trustreport.assessment.finding import Finding, Part
from trustreport.assessment.narrative.periods import immature, prepend_sentences
from trustreport.assessment.performance.lesions import marked_cases
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.results import Result


def of_candidates(study: Study, plan: Plan) -> bool:
    """Whether marks of candidates on cases of known lesions were provided."""
    return any(one.readers is None for one in study.localisations)


def of_readers(study: Study, plan: Plan) -> bool:
    """Whether marks of readers on cases of known lesions were provided."""
    return any(one.readers is not None for one in study.localisations)


def answer(study: Study, plan: Plan) -> Finding:
    """Areas, sensitivity at fixed false marks and the FROC curve of the candidates on each data set."""
    parts: list[Part] = []
    results: list[Result] = []
    found = (one for one in marked_cases(study, plan) if not one.by_readers)
    for number, one in enumerate(found, 1):
        own = [*candidate_results(one, plan), *difference_results(one, plan)]
        parts.append(candidate_part(one, own, plan, number))
        results += own
    return _finding(ID, prepend_sentences(immature(study, plan), tuple(parts)), results)


def answer_of_readers(study: Study, plan: Plan) -> Finding:
    """The same measures of each reader, their mean in each arm, and its change."""
    parts: list[Part] = []
    results: list[Result] = []
    found = (one for one in marked_cases(study, plan) if one.by_readers)
    for number, one in enumerate(found, 1):
        own = reader_results(one, plan)
        parts.append(reader_part(one, own, plan, number))
        results += own
    return _finding(READERS_ID, parts, results)


def _finding(name: str, parts: Iterable[Part], results: Iterable[Result]) -> Finding:
    not_shown = (text("not_shown.search"), text("not_shown.matching"))
    return Finding(name, tuple(parts), tuple(results), not_shown)


DIMENSION = Dimension(ID, of_candidates, answer, applies=of_candidates)
READERS = Dimension(READERS_ID, of_readers, answer_of_readers, applies=of_readers)
