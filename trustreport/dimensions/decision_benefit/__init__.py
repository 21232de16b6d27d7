"""Decision benefit: which readers decide better with the aid, which worse, and what of readers in general?"""

from trustreport.dimensions.decision_benefit.beside import beside_results
from trustreport.dimensions.decision_benefit.changes import baseline_slope, change_counts, strata_results
from trustreport.dimensions.decision_benefit.endpoints import endpoints, results_of
from trustreport.dimensions.decision_benefit.hypotheses import declared_hypotheses, hypotheses_part
from trustreport.dimensions.decision_benefit.next_study import next_study, next_study_part
from trustreport.dimensions.decision_benefit.telling import part, title_of
from trustreport.dimensions.dimension import Dimension
from trustreport.finding import Finding, Part
from trustreport.messages import say
from trustreport.plan import Plan
from trustreport.results import Result
from trustreport.study import Readings, Study

NAME = "decision_benefit"


def comparable(study: Study, plan: Plan) -> list[tuple[Readings, tuple[str, str]]]:
    """The readings and contrasts that hold both arms."""
    return [
        (readings, arms)
        for readings in study.readings
        for arms in plan.contrasts
        if set(arms) <= set(readings.arms)
    ]


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences, tables and figures of every task and contrast."""
    level = plan.report.confidence_level
    pairs = comparable(study, plan)
    parts: list[Part] = []
    after: list[Part] = []
    results: list[Result] = []
    for number, (readings, arms) in enumerate(pairs, 1):
        scope = {"task": readings.task} if len(study.readings) > 1 else {}
        found = endpoints(readings, arms, level)
        own = [r for endpoint in found for r in results_of(endpoint, readings, arms, level, scope)]
        own += [r for endpoint in found for r in strata_results(endpoint, readings, arms, level, scope)]
        own += change_counts(readings, arms, level, scope)
        own += [r for endpoint in found[:1] for r in baseline_slope(endpoint, arms, level, scope)]
        own += beside_results(readings, arms, plan, scope)
        results += own
        parts += part(own, found, readings, arms, number, alone=len(pairs) == 1)
        planned = next_study(found[0], readings, arms, plan, scope) if found else None
        if planned:
            results += planned.results
            after += next_study_part(planned, title_of(readings, arms), number, alone=len(pairs) == 1)
    tested = declared_hypotheses(study, plan, results)
    results += [t.result for t in tested]
    parts += hypotheses_part(tested, several_tasks=len(study.readings) > 1)
    parts += after
    not_shown = [say(f"{NAME}.not_shown.regression"), say(f"{NAME}.not_shown.prevalence")]
    if any(readings.sequential for readings, _ in pairs):
        not_shown.append(say("pragmatic_utility.not_shown.sequential"))
    if len(after) < len(pairs):
        not_shown.append(say(f"{NAME}.not_shown.power"))
    if any(readings.seconds is None for readings, _ in pairs):
        not_shown.append(say(f"{NAME}.not_shown.seconds"))
    return Finding(NAME, tuple(parts), tuple(results), tuple(not_shown))


DIMENSION = Dimension(NAME, lambda study, plan: bool(comparable(study, plan)), answer)
