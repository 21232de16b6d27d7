"""Advice value: do the scores mean what they say, and what is advice of such confidence worth?"""

from trustreport.dimensions.advice_accuracy.measured import judged
from trustreport.dimensions.advice_value.measured import ID, calibrated, results_of
from trustreport.dimensions.advice_value.telling import EACH_UP_TO, overview, part
from trustreport.dimensions.dimension import Dimension
from trustreport.finding import Finding
from trustreport.messages import say
from trustreport.plan import Plan
from trustreport.study import Study


def has_data(study: Study, plan: Plan) -> bool:
    """Whether a data set holds scores of cases whose truth can be known."""
    return any(case.score is not None for d in study.datasets for case in judged(d, plan))


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences, tables and figures of every data set and candidate."""
    told = [
        calibrated(case, results_of(case, plan), plan)
        for dataset in study.datasets
        for case in judged(dataset, plan)
        if case.score is not None
    ]
    parts = [] if len(told) == 1 else list(overview(told))
    if len(told) <= EACH_UP_TO:
        parts += [part(one, i, alone=len(told) == 1) for i, one in enumerate(told, 1)]
    not_shown = [say(f"{ID}.not_shown.within"), say(f"{ID}.not_shown.readers")]
    if any(one.dataset.role == "training" for one in told):
        not_shown.insert(0, say(f"{ID}.not_shown.training"))
    return Finding(ID, tuple(parts), tuple(r for one in told for r in one.results), tuple(not_shown))


DIMENSION = Dimension(ID, has_data, answer)
