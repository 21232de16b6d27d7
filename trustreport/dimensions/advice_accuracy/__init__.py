"""Advice accuracy: how often is the advice right where the condition is present, and where it is absent?"""

from collections.abc import Sequence

from trustreport.claims import held
from trustreport.dimensions.advice_accuracy.clusters import clustering
from trustreport.dimensions.advice_accuracy.compared import difference_results, pairs
from trustreport.dimensions.advice_accuracy.curves import charts, curves, scored
from trustreport.dimensions.advice_accuracy.h_accuracy import confident
from trustreport.dimensions.advice_accuracy.measured import (
    Judged,
    cells_of_clusters,
    counts_of,
    few_thresholds,
    indeterminate_results,
    judged,
    matrix_results,
    published,
    score_results,
    three_way_of,
)
from trustreport.dimensions.advice_accuracy.mixes import mix_figures
from trustreport.dimensions.advice_accuracy.sites import FEWER, resamples, sites_in
from trustreport.dimensions.advice_accuracy.telling import in_full, overview, with_declared
from trustreport.dimensions.advice_accuracy.telling_beside import said_of
from trustreport.dimensions.advice_accuracy.telling_candidates import compared_parts
from trustreport.dimensions.advice_accuracy.telling_h import h_parts
from trustreport.dimensions.advice_accuracy.told import Told
from trustreport.dimensions.advice_accuracy.utility import (
    contest_results,
    contests,
    utility_results,
    yield_differences,
    yield_results,
)
from trustreport.dimensions.dimension import Dimension
from trustreport.dimensions.ripe import left_out, said_at_once
from trustreport.dimensions.undrawn import undrawn
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
    return [case for dataset in study.datasets for case in judged(dataset, study, plan)]


def has_data(study: Study, plan: Plan) -> bool:
    """Whether anything says what the device advised for cases of known truth."""
    declared = any(d.h_accuracy for d in plan.datasets)
    return bool(study.confusion) or declared or bool(cases_of(study, plan))


def decision_results(case: Judged, plan: Plan) -> list[Result]:
    """What the decisions of a data set, or of a site within one, come to: nothing where there are none."""
    counted, third = counts_of(case), three_way_of(case)
    own = matrix_results(counted, case.scope, plan, cells_of_clusters(case)) if counted else []
    if third:
        own += indeterminate_results(third, case.scope, plan, cells_of_clusters(case, decided=True))
    return own + yield_results(case, plan)


def site_results(cases: Sequence[Judged], study: Study, plan: Plan) -> list[Result]:
    """The same of each site inside each data set, net benefit at few thresholds."""
    results = []
    some, drawn = few_thresholds(plan), resamples(study.datasets) or FEWER
    for case in cases:
        for site in sites_in(case, plan):
            own = decision_results(site.case, plan)
            own += score_results(site.case, plan, at=some, resamples=drawn)
            results += site.told(own, plan)
    return results


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences and tables of every published table and data set."""
    told = []
    for counts in study.confusion:
        for name, cells, own in published(counts, plan):
            own += utility_results(cells, {"set": name}, plan)
            told.append(Told(name, {"set": name}, tuple(own)))
    n_published = len(told)
    cases = cases_of(study, plan)
    for case in cases:
        own = [*decision_results(case, plan), *score_results(case, plan)]
        said = tuple(said_of(case, clustering(case.dataset, plan), own))
        told.append(Told(case.name, case.scope, tuple(own), said))
    not_drawn = undrawn(study)
    sets = [one for one in scored(cases, told[n_published:]) if one.name not in not_drawn]
    drawn = [one for one in told if one.scope.get("dataset") not in not_drawn]
    weighed = list(confident(study, plan))
    ranked = contests(cases, plan)
    beside: list[Result] = [r for one in weighed for r in one.results]
    for compared, baseline in pairs(cases):
        beside += difference_results(compared, baseline, plan)
        beside += yield_differences(compared, baseline, plan)
    beside += [r for contest in ranked for r in contest_results(contest, plan)]
    beside += site_results(cases, study, plan)
    figures = [
        *(charts(told) if len(told) > 1 else ()),
        *curves(sets, study, plan),
        *mix_figures(drawn, plan),
    ]
    if len(told) <= EACH_UP_TO:
        parts = in_full(told, figures)
    else:
        parts = overview(told, figures, undrawn=len(not_drawn))
    results: tuple[Result, ...] = (*(r for one in told for r in one.results), *beside)
    parts = (*parts, *compared_parts(results, ranked, plan), *h_parts(weighed, plan))
    parts = with_declared(said_at_once(left_out(study, plan), parts), held(plan, results))
    not_shown = (say(f"{NAME}.not_shown.population"), say(f"{NAME}.not_shown.readers"))
    return Finding(NAME, parts, results, not_shown)


DIMENSION = Dimension(NAME, has_data, answer)
