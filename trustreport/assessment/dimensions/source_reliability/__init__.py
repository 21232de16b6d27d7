"""Source reliability: do those who set the reference standard agree, and what accuracy can it show?"""

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.source_reliability.actual_accuracy import (
    of_advice,
    of_stated,
    sets_part,
)
from trustreport.assessment.dimensions.source_reliability.results import (
    LEAST_RATERS_TO_DRAW,
    NAME,
    panel_of,
    results_of,
)
from trustreport.assessment.dimensions.source_reliability.words import parts, text
from trustreport.assessment.finding import Finding, Part
from trustreport.measures.seeds import generator
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result


def has_data(study: Study, plan: Plan) -> bool:
    """Whether there are labels of raters, or a stated concordance with a measured accuracy."""
    return bool(study.raters or study.nomogram)


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences, tables and figures of every panel of raters, and of the stated sets together."""
    shown: list[Part] = []
    results: list[Result] = []
    for number, ratings in enumerate(study.raters, 1):
        panel = panel_of(ratings, plan, Place(panel=ratings.task if len(study.raters) > 1 else ""))
        own = results_of(panel, generator(plan.similarity.seed, NAME, ratings.task))
        advice = list(of_advice(panel, own, study, plan))
        results += [*own, *(r for one in advice for r in one.results)]
        shown += parts(panel, own, advice, number)
    sets = list(of_stated(study.nomogram, plan.report.confidence_level))
    if sets:
        results += [r for one in sets for r in one.results]
        shown.append(sets_part(sets, alone=not study.raters))
    few = any(len(ratings.raters) < LEAST_RATERS_TO_DRAW for ratings in study.raters)
    reasons = [*(["few_raters"] if few else []), *(["shared_errors"] if study.raters else []), "actual"]
    return text.finding(shown, results, reasons)


DIMENSION = Dimension(NAME, has_data, answer)
