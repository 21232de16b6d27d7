"""Advice accuracy: how often is the advice right where the condition is present, and where it is absent?"""

from trustreport.claims import held
from trustreport.dimensions.advice_accuracy.curves import charts, curves, scored
from trustreport.dimensions.advice_accuracy.measured import (
    Judged,
    counted_as_wrong,
    counts_of,
    judged,
    matrix_results,
    score_results,
)
from trustreport.dimensions.advice_accuracy.telling import in_full, overview, with_declared
from trustreport.dimensions.advice_accuracy.told import Told
from trustreport.dimensions.advice_accuracy.weighed import h_accuracy_results, utility_results
from trustreport.dimensions.dimension import Dimension
from trustreport.finding import Finding
from trustreport.messages import say
from trustreport.plan import Plan
from trustreport.results import Result
from trustreport.study import Study

NAME = "advice_accuracy"
# More sets than this are told in one overview instead of a page each.
EACH_UP_TO = 4


def cases_of(study: Study, plan: Plan) -> list[Judged]:
    """Every data set and candidate with scores or decisions."""
    return [case for dataset in study.datasets for case in judged(dataset, plan)]


def has_data(study: Study, plan: Plan) -> bool:
    """Whether anything says what the device advised for cases of known truth."""
    declared = any(d.h_accuracy for d in plan.datasets)
    return bool(study.confusion) or declared or bool(cases_of(study, plan))


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences and tables of every published table and data set."""
    told = []
    for counts in study.confusion:
        cells = counted_as_wrong(counts)
        own = matrix_results(cells, {"set": counts.set}, plan)
        own += utility_results(cells, {"set": counts.set}, plan)
        told.append(Told(counts.set, {"set": counts.set}, tuple(own)))
    cases = cases_of(study, plan)
    for case in cases:
        counted = counts_of(case)
        own = matrix_results(counted, case.scope, plan) if counted else []
        own += utility_results(counted, case.scope, plan) if counted else []
        own += score_results(case, plan)
        told.append(Told(case.name, case.scope, tuple(own)))
    sets = scored(cases, told[len(study.confusion) :])
    weighed = [r for dataset in study.datasets for r in h_accuracy_results(dataset, plan)]
    figures = [*(charts(told) if len(told) > 1 else ()), *curves(sets, study, plan)]
    if len(told) <= EACH_UP_TO:
        parts = in_full(told, figures)
    else:
        parts = overview(told, figures)
    results: tuple[Result, ...] = (*(r for one in told for r in one.results), *weighed)
    parts = with_declared(parts, held(plan, results))
    not_shown = (say(f"{NAME}.not_shown.population"), say(f"{NAME}.not_shown.readers"))
    return Finding(NAME, parts, results, not_shown)


DIMENSION = Dimension(NAME, has_data, answer)
