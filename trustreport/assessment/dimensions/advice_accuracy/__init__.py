"""Advice accuracy: how often is the advice right where the condition is present, and where it is absent?"""

from collections.abc import Sequence

from trustreport.assessment.claims import claim_checks
from trustreport.assessment.dimensions.advice_accuracy.contest_words import compared_parts
from trustreport.assessment.dimensions.advice_accuracy.contests import (
    called_of,
    class_yields,
    contest_results,
    contests,
    differences_of_tables,
    yield_differences,
)
from trustreport.assessment.dimensions.advice_accuracy.coverage import coverage_of, coverage_parts
from trustreport.assessment.dimensions.advice_accuracy.curves import (
    charts,
    curves,
    decision_parts,
    prevalence_figures,
    scored,
)
from trustreport.assessment.dimensions.advice_accuracy.h_accuracy import candidates_compared, weighed
from trustreport.assessment.dimensions.advice_accuracy.h_words import h_parts
from trustreport.assessment.dimensions.advice_accuracy.label_words import (
    corrected_for_label_error,
    reference_tests,
)
from trustreport.assessment.dimensions.advice_accuracy.results import (
    ResultView,
    are_risks,
    corrected_results,
    decision_results,
    difference_results,
    few_thresholds,
    label_results,
    pairs,
    published,
    score_results,
    weighted_results,
)
from trustreport.assessment.dimensions.advice_accuracy.several import (
    Called,
    called_classes,
    class_part,
    class_results,
    tabulated_classes,
)
from trustreport.assessment.dimensions.advice_accuracy.time_to_event import horizon_part, horizon_results
from trustreport.assessment.dimensions.advice_accuracy.utility import utility_results, yield_results
from trustreport.assessment.dimensions.advice_accuracy.words import (
    in_full,
    overview,
    remarks_on,
    reweighed,
    text,
    unverified,
    with_declared,
)
from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.finding import Finding
from trustreport.assessment.narrative.periods import immature, not_plotted, prepend_sentences
from trustreport.assessment.performance.cases import ScoredCases, by_set, in_common, scored_cases
from trustreport.assessment.performance.decision_table import decision_table_results
from trustreport.assessment.performance.labels import why_labels_err
from trustreport.assessment.performance.sites import FEWER, resamples, sites_in
from trustreport.assessment.performance.time_to_event import followed_cases
from trustreport.assessment.release.cuts import declared_thresholds as thresholds
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.results import Result

NAME = "advice_accuracy"
# More sets than this are in one overview instead of a page each.
EACH_UP_TO = 4


def has_data(study: Study, plan: Plan) -> bool:
    """Whether anything says what the device advised for cases of known truth."""
    declared = any(d.h_accuracy for d in plan.datasets)
    several = any(called_classes(study, plan)) or bool(followed_cases(study, plan))
    published = bool(study.confusion or plan.confusion_tables)
    return published or declared or several or bool(scored_cases(study, plan))


def site_results(cases: Sequence[ScoredCases], study: Study, plan: Plan) -> list[Result]:
    """The results of each site inside each data set, net benefit at few thresholds."""
    results = []
    some, drawn = few_thresholds(plan), resamples(study.datasets) or FEWER
    for case in cases:
        for site in sites_in(case, plan):
            own = [*decision_results(site.case, plan), *yield_results(site.case, plan)]
            own += score_results(site.case, plan, at=some, resamples=drawn)
            results += site.shown(own, plan)
    return results


def _called(cases: Sequence[ScoredCases]) -> list[Called]:
    """Candidates of two classes whose scores are risks, for utilities of other decisions than two."""
    return [one for case in cases if (one := called_of(case)) is not None]


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences, tables and figures of every published table and data set."""
    views = []
    labels_err = why_labels_err(plan) is not None
    for counts in study.confusion:
        for place, cells, own in published(counts, plan):
            own += utility_results(cells, place, plan)
            views.append(ResultView(place.data_name, place, tuple(own), labels_err=labels_err))
    n_published = len(views)
    cases = scored_cases(study, plan)
    for case in cases:
        own = [*decision_results(case, plan), *yield_results(case, plan), *score_results(case, plan)]
        own += [r for called in _called([case]) for r in class_yields(called, plan)]
        own += [*corrected_results(case, study, plan), *weighted_results(case, plan)]
        own += label_results(case, plan)
        if are_risks(case):
            own += decision_table_results(case, thresholds(plan), plan.report.confidence_level)
        remarks = (
            *remarks_on(case, clusters_of(case.dataset, plan), own),
            *unverified(case, study, plan, own),
            *reweighed(own),
            *corrected_for_label_error(own, plan),
            *reference_tests(own, plan, list(case.dataset.cases.tests)),
        )
        views.append(ResultView(case.name, case.place, tuple(own), remarks, case.dataset.role, labels_err))
    not_drawn = not_plotted(study)
    sets = [one for one in scored(cases, views[n_published:]) if one.name not in not_drawn]
    drawn = [one for one in views if one.place.dataset not in not_drawn]
    h_weighed = list(weighed(study, plan))
    h_compared = list(candidates_compared(h_weighed, plan))
    in_classes = (*called_classes(study, plan), *tabulated_classes(plan))
    of_classes = [(one, [*class_results(one, plan), *class_yields(one, plan)]) for one in in_classes]
    calling = [*in_classes, *(one for some in by_set(cases).values() for one in _called(in_common(some)))]
    followed = [(one, horizon_results(one, plan)) for one in followed_cases(study, plan)]
    ranked = contests(study, cases, calling, plan)
    secondary: list[Result] = [r for one in h_weighed for r in one.results]
    secondary += [r for pair in h_compared for _, r in pair.shown]
    secondary += [r for _, own in (*of_classes, *followed) for r in own]
    covered = [one for case in cases if (one := coverage_of(case, plan)) is not None]
    secondary += [r for one in covered for r in one.results]
    for compared, baseline in pairs(cases):
        secondary += difference_results(compared, baseline, plan)
        secondary += yield_differences(compared, baseline, plan)
    secondary += differences_of_tables(study, calling, plan)
    secondary += [r for contest in ranked for r in contest_results(contest, plan)]
    secondary += site_results(cases, study, plan)
    figures = [
        *(charts(views) if len(views) > 1 else ()),
        *curves(sets, study, plan),
        *prevalence_figures(drawn, plan),
    ]
    if len(views) <= EACH_UP_TO:
        parts = in_full(views, figures)
    else:
        parts = overview(views, figures, undrawn=len(not_drawn))
    results: tuple[Result, ...] = (*(r for one in views for r in one.results), *secondary)
    parts = (*parts, *(class_part(one, own, i) for i, (one, own) in enumerate(of_classes, 1)))
    parts = (*parts, *(horizon_part(one, own, plan, i) for i, (one, own) in enumerate(followed, 1)))
    parts = (*parts, *compared_parts(results, ranked, plan), *h_parts(h_weighed, h_compared, results, plan))
    parts = (*parts, *decision_parts(results))
    parts = (
        *parts,
        *coverage_parts([one for one in covered if one.case.dataset.name not in not_drawn], plan),
    )
    parts = with_declared(prepend_sentences(immature(study, plan), parts), claim_checks(plan, results))
    censored = any(one.state.n_censored for one, _ in followed)
    not_shown = [*(["censoring"] if censored else []), "population", "readers"]
    return text.finding(parts, results, not_shown)


DIMENSION = Dimension(NAME, has_data, answer)
