"""Published figures: do they come from one table of counts, and what do published studies show together?"""

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.reported.figures_in_print import ID, printed, text
from trustreport.assessment.dimensions.reported.pooled import pooled_part, pools_of
from trustreport.assessment.finding import Finding
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Message


def has_data(study: Study, plan: Plan) -> bool:
    """Whether figures were printed somewhere, or tables of studies are to be pooled."""
    return bool(study.reported or plan.pools)


def answer(study: Study, plan: Plan) -> Finding:
    """What printed figures allow, then each pool of studies."""
    parts, results, not_shown = printed(study, plan) if study.reported else ((), (), list[Message]())
    pools = pools_of(study, plan)
    parts = (*parts, *(pooled_part(pool, i) for i, pool in enumerate(pools, 1)))
    results = (*results, *(r for pool in pools for r in pool.results))
    if pools:
        not_shown += [text(f"not_shown.{what}") for what in ("studies", "selection")]
    return Finding(ID, parts, results, tuple(not_shown))


DIMENSION = Dimension(ID, has_data, answer)
