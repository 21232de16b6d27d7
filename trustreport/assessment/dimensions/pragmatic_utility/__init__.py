"""Pragmatic utility: do readers make fewer errors with the aid than without it?"""

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.pragmatic_utility.results import (
    ArmComparison,
    from_counts,
    from_paired_counts,
    from_readings,
)
from trustreport.assessment.dimensions.pragmatic_utility.words import overview, part, text
from trustreport.assessment.finding import Finding
from trustreport.assessment.performance.readers import place_of_task
from trustreport.study.plan import Plan
from trustreport.study.study import Study

# More comparisons than this are in one overview instead of a page each.
EACH_UP_TO = 4


def has_data(study: Study, plan: Plan) -> bool:
    """Whether two arms can be compared anywhere: counts, paired counts, or readings with decisions."""
    return bool(study.counts or study.paired_counts) or any(
        r.decision is not None and {a, b} <= set(r.arms) for r in study.readings for a, b in plan.contrasts
    )


def compare(study: Study, plan: Plan) -> list[ArmComparison]:
    """Every comparison that the study holds, published sets first."""
    level = plan.report.confidence_level
    found = []
    for arms in plan.contrasts:
        found += [from_counts(c, arms, level) for c in study.counts if set(arms) <= set(c.arms)]
        found += [from_paired_counts(c, arms, level) for c in study.paired_counts]
        for readings in study.readings:
            if readings.decision is not None and set(arms) <= set(readings.arms):
                found.append(from_readings(readings, arms, plan, place=place_of_task(readings, study)))
    return found


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences, tables and figures of every comparison."""
    comparisons = compare(study, plan)
    if len(comparisons) <= EACH_UP_TO:
        parts = tuple(part(c, i, alone=len(comparisons) == 1) for i, c in enumerate(comparisons, 1))
    else:
        parts = overview(comparisons)
    not_shown = ["outcome"]
    if any(c.lead("arr").analysis == "two_sample" for c in comparisons):
        not_shown.append("independent")
    if any(r.sequential for r in study.readings):
        not_shown.append("sequential")
    not_shown.append("prevalence")
    results = tuple(r for c in comparisons for r in c.results)
    return text.finding(parts, results, not_shown)


DIMENSION = Dimension("pragmatic_utility", has_data, answer)
