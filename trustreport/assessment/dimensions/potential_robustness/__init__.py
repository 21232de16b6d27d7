"""Potential robustness: does performance hold on data that differ from those the model learnt from?"""

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.potential_robustness.axes import on_axes, performance, size_results
from trustreport.assessment.dimensions.potential_robustness.handed_over import (
    numbers_of_sites,
    numbers_part,
)
from trustreport.assessment.dimensions.potential_robustness.published import (
    published_sites,
    published_sites_part,
)
from trustreport.assessment.dimensions.potential_robustness.recalibration import (
    recalibrated_sets,
    recalibration_part,
)
from trustreport.assessment.dimensions.potential_robustness.results import (
    ScoredSet,
    estimate,
    in_training,
    over_sets,
    score_results,
    sites_of,
)
from trustreport.assessment.dimensions.potential_robustness.similar import similarity_results
from trustreport.assessment.dimensions.potential_robustness.words import parts, text
from trustreport.assessment.finding import Finding
from trustreport.assessment.narrative.repeats import repeat_parts
from trustreport.assessment.performance.cases import scored_cases
from trustreport.assessment.performance.features import COMPARED, ID, compared_sets, paired, training_sets
from trustreport.assessment.performance.repeated import has_second, repeat_results, repeated_cases
from trustreport.measures.similarity.features import Run, one_by_one
from trustreport.study.plan import Plan
from trustreport.study.study import Study

# Sets whose sample size is judged.
SIZED = ("training", *COMPARED)


def has_data(study: Study, plan: Plan) -> bool:
    """Whether a set is from elsewhere, or comparable with training data, or run twice, or published."""
    twice = any(has_second(scores) for dataset in study.datasets for scores in dataset.scores.values())
    handed_over = study.pooled is not None and any(one.summary.results for one in study.pooled.files)
    return twice or handed_over or bool(plan.published_sites) or _compares(study)


def _compares(study: Study) -> bool:
    """Whether there is a set from elsewhere, or one that can be compared with a training set."""
    found = [d for d in compared_sets(study) if d.scores or d.features is not None]
    return bool(found) and (bool(training_sets(study)) or any(d.role == "external" for d in found))


def answer(study: Study, plan: Plan, *, run: Run = one_by_one) -> Finding:
    """Results, sentences, tables and figures over all sets; `run` shares out the permutation tests."""
    level = plan.report.confidence_level
    twice = [(one, repeat_results(ID, one, level)) for one in repeated_cases(study, plan)]
    as_published = published_sites(plan)
    of_sites = numbers_of_sites(study, plan)
    further = (
        *(r for _, own in twice for r in own),
        *(r for one in as_published for r in one.results),
        *(r for one in of_sites for r in one.results),
    )
    last = (
        *((numbers_part(of_sites),) if of_sites else ()),
        *(published_sites_part(one, plan, i) for i, one in enumerate(as_published, 1)),
        *repeat_parts(twice),
    )
    not_shown = ["p_value", "features", *(["published"] if as_published else [])]
    if not _compares(study):
        return text.finding(last, further, not_shown if as_published else ())
    training, compared = training_sets(study), compared_sets(study)
    results = similarity_results([paired(training, d, plan) for d in compared], plan, run)
    cases = [one for one in scored_cases(study, plan) if one.dataset.role in SIZED and one.ranks]
    scored = []
    for case in cases:
        reached = performance(case, plan)
        results += size_results(case, reached, plan)
        if case.dataset.role != "training":
            similarity = estimate(results, "degree_of_correspondence", dataset=case.dataset.name).value
            scored.append(
                ScoredSet(case, tuple(sites_of(case, plan)), reached, on_axes(case, plan), similarity)
            )
    candidates = list(dict.fromkeys(one.case.place.candidate for one in scored))
    seen = {candidate: in_training(cases, candidate, plan) for candidate in candidates}
    for one in scored:
        results += score_results(one, seen[one.case.place.candidate], plan)
    for candidate in candidates:
        own = [one for one in scored if one.case.place.candidate == candidate]
        results += over_sets(own, candidate, plan)
    if training:
        not_shown.append("training")
    said = (*parts(results, compared, scored, study, plan), *last)
    updated = recalibrated_sets([one for one in scored if one.case.score is not None], plan)
    if updated:
        said = (*said, recalibration_part(updated))
        results += [r for one in updated for r in one.results]
    return text.finding(said, (*results, *further), not_shown)


DIMENSION = Dimension(ID, has_data, answer, shared=True)
