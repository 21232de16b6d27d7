"""Advice value: do the scores mean what they say, and what is advice of such confidence worth?"""

from trustreport.assessment.dimensions.advice_value.information import (
    compares,
    of_advice,
    of_readings,
    utilities,
)
from trustreport.assessment.dimensions.advice_value.results import ID, calibrated, results_of, shared_results
from trustreport.assessment.dimensions.advice_value.words import (
    EACH_UP_TO,
    information_part,
    not_assessed,
    overview,
    part,
    shared_part,
    text,
)
from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.finding import Finding, Part
from trustreport.assessment.narrative.advice import advised
from trustreport.assessment.narrative.periods import immature, not_plotted, prepend_sentences
from trustreport.assessment.performance.sites import FEWER, load, sites_in
from trustreport.study.plan import Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Study
from trustreport.vocabulary.results import Result

# Sites up to which the smooth curve of each is resampled.
MOST_CURVES = 20
# Columns of cases with which advice accuracy computes weighted utility.
WEIGHTS = ("relevance", "case_threshold")


def has_data(study: Study, plan: Plan) -> bool:
    """Whether there are scores of known truth, or utilities and readings in two arms."""
    if any(case.ranks for _, case in advised(study, plan)):
        return True
    return bool(utilities(plan)) and any(compares(readings, plan) for readings in study.readings)


def site_results(study: Study, plan: Plan) -> list[Result]:
    """The same of each site inside each data set."""
    results: list[Result] = []
    sites, _ = load(study.datasets)
    resamples = FEWER if sites <= MOST_CURVES else None
    for name, case in advised(study, plan):
        for site in sites_in(case, plan):
            one, own = site.case, []
            if one.score is not None:
                own += results_of(one, plan, resamples=resamples, of_site=True)
            elif one.shared is not None:
                own += shared_results(one, plan)
            own += [r for informed in of_advice([(name, one)], plan) for r in informed.results]
            results += site.shown(own, plan)
    return results


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences, tables and figures of every data set and candidate, and of every contrast."""
    sets = [
        calibrated(name, case, results_of(case, plan), plan)
        for name, case in advised(study, plan)
        if case.score is not None
    ]
    informed = [*of_readings(study, plan), *of_advice(advised(study, plan), plan)]
    not_drawn = not_plotted(study)
    read = sorted(
        (one for one in sets if not one.why_not), key=lambda one: one.dataset.role in DEVELOPMENT_ROLES
    )
    drawn = [one for one in read if one.dataset.name not in not_drawn]
    parts: list[Part] = list(overview(read, drawn)) if len(read) > 1 else []
    if len(read) <= EACH_UP_TO:
        single, several = len(read) == 1, len(sets) > 1
        alone = not several and not informed
        parts += [part(one, single=single, alone=alone, named=several) for one in read]
    parts += not_assessed([one for one in sets if one.why_not], all_of_them=not read)
    shared = [(n, shared_results(c, plan)) for n, c in advised(study, plan) if c.shared is not None]
    parts += [shared_part(name, own, i) for i, (name, own) in enumerate(shared, 1)]
    if informed:
        parts.append(information_part(informed, alone=not sets))
    if any(case.number(word) is not None for _, case in advised(study, plan) for word in WEIGHTS):
        parts.append(text.part((text("weighted_utility"),)))
    results: list[Result] = [r for one in sets for r in one.results]
    results += [r for _, own in shared for r in own]
    results += [r for one in informed for r in one.results]
    results += site_results(study, plan)
    not_shown = ["training"] if any(one.dataset.role == "training" for one in sets) else []
    not_shown += ["within"] if sets and not plan.subgroups else []
    not_shown.append("utilities" if informed else "readers")
    return text.finding(prepend_sentences(immature(study, plan), parts), results, not_shown)


DIMENSION = Dimension(ID, has_data, answer)
