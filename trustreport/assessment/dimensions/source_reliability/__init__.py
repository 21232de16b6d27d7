"""Source reliability: do those who set the reference standard agree, and what accuracy can it show?"""

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.source_reliability.advice_truth import of_advice, of_stated
from trustreport.assessment.dimensions.source_reliability.narrative import parts, sets_part
from trustreport.assessment.dimensions.source_reliability.rater_panel import panel_of
from trustreport.assessment.dimensions.source_reliability.raters import LEAST_RATERS_TO_DRAW, results_of
from trustreport.assessment.finding import Finding, Part
from trustreport.measures.seeds import generator
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

NAME = "source_reliability"


def has_data(study: Study, plan: Plan) -> bool:
    """Whether there are labels of raters, or a stated concordance with a measured accuracy."""
    return bool(study.raters or study.nomogram)


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences, tables and figures of every panel of raters, and of the stated sets together."""
    level = plan.report.confidence_level
    shown: list[Part] = []
    results: list[Result] = []
    for number, ratings in enumerate(study.raters, 1):
        place = Place(panel=ratings.task if len(study.raters) > 1 else "")
        panel = panel_of(ratings, plan, place)
        own = results_of(panel, level, generator(plan.similarity.seed, NAME, ratings.task))
        advice = list(of_advice(panel, own, study, plan))
        results += own
        results += [r for one in advice for r in one.results]
        shown += parts(panel, own, advice, number)
    sets = of_stated(study.nomogram, level)
    results += [r for one in sets for r in one.results]
    if sets:
        shown.append(sets_part(sets, alone=not study.raters))
    few = any(len(ratings.raters) < LEAST_RATERS_TO_DRAW for ratings in study.raters)
    reasons = (["few_raters"] if few else []) + (["shared_errors"] if study.raters else [])
    not_shown = tuple(say(f"{NAME}.not_shown.{reason}") for reason in (*reasons, "actual"))
    return Finding(NAME, tuple(shown), tuple(results), not_shown)


DIMENSION = Dimension(NAME, has_data, answer)
