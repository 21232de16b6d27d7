"""Localisation: are lesions found where they are, and at what price in false marks?"""

from trustreport.dimensions.dimension import Dimension
from trustreport.dimensions.localisation.entries import (
    ID,
    candidate_results,
    difference_results,
    reader_results,
)
from trustreport.dimensions.localisation.narrative import candidate_part, reader_part
from trustreport.finding import Finding, Part
from trustreport.messages import say
from trustreport.narrative.follow_up import immature, prepend_sentences
from trustreport.performance.lesions import marked_cases
from trustreport.plan import Plan
from trustreport.results import Result
from trustreport.study import Study


def has_data(study: Study, plan: Plan) -> bool:
    """Whether marks on cases of known lesions were provided."""
    return bool(study.localisations)


def answer(study: Study, plan: Plan) -> Finding:
    """Candidates on each data set, then readers of each task."""
    parts: list[Part] = []
    results: list[Result] = []
    for number, one in enumerate(marked_cases(study, plan), 1):
        if one.by_readers:
            own = reader_results(one, plan)
            parts.append(reader_part(one, own, plan, number))
        else:
            own = [*candidate_results(one, plan), *difference_results(one, plan)]
            parts.append(candidate_part(one, own, plan, number))
        results += own
    not_shown = (say(f"{ID}.not_shown.search"), say(f"{ID}.not_shown.matching"))
    return Finding(ID, prepend_sentences(immature(study, plan), tuple(parts)), tuple(results), not_shown)


DIMENSION = Dimension(ID, has_data, answer, applies=has_data)
