"""Published figures: do they come from one table of counts, and what do published studies show together?"""

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.reported.pooled import pooled_part, pools_of
from trustreport.assessment.dimensions.reported.results import ID, examined_sets, results_of
from trustreport.assessment.dimensions.reported.words import figure_parts, not_shown, text
from trustreport.assessment.finding import Finding
from trustreport.study.plan import Plan
from trustreport.study.study import Study


def has_data(study: Study, plan: Plan) -> bool:
    """Whether figures were printed somewhere, or tables of studies are to be pooled."""
    return bool(study.reported or plan.pools)


def answer(study: Study, plan: Plan) -> Finding:
    """What printed figures allow, then each pool of studies."""
    sets, pools = examined_sets(study), pools_of(study, plan)
    parts = figure_parts(sets) if sets else ()
    results = [r for name, one in sets for r in results_of(name, one, plan.report.confidence_level)]
    lacking = [*not_shown(sets)] if sets else []
    if pools:
        lacking += [text(f"not_shown.{what}") for what in ("studies", "selection")]
    parts = (*parts, *(pooled_part(pool, i) for i, pool in enumerate(pools, 1)))
    return Finding(ID, parts, (*results, *(r for pool in pools for r in pool.results)), tuple(lacking))


DIMENSION = Dimension(ID, has_data, answer)
