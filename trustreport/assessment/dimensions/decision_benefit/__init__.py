"""Decision benefit: which readers decide better with the aid, which worse, and what of readers in general?"""

import json
from collections.abc import Iterable, Iterator

from trustreport.assessment.dimensions.decision_benefit.ai_alone import advice_of, ai_part, ai_results
from trustreport.assessment.dimensions.decision_benefit.all_arms import all_arms, all_arms_part
from trustreport.assessment.dimensions.decision_benefit.hypotheses import declared_hypotheses, hypotheses_part
from trustreport.assessment.dimensions.decision_benefit.next_study import next_study, next_study_part
from trustreport.assessment.dimensions.decision_benefit.protocols import (
    compare,
    of_published,
    protocols_part,
    published_part,
)
from trustreport.assessment.dimensions.decision_benefit.published import (
    published_readers,
    published_readers_part,
)
from trustreport.assessment.dimensions.decision_benefit.quarters import quarter_part, quarter_results
from trustreport.assessment.dimensions.decision_benefit.results import (
    ID,
    TaskBenefit,
    at_prevalences,
    baseline_slope,
    change_counts,
    results_of,
    strata_results,
)
from trustreport.assessment.dimensions.decision_benefit.secondary_endpoints import (
    NOT_IN_BOTH,
    secondary_results,
)
from trustreport.assessment.dimensions.decision_benefit.variance_sources import source_results
from trustreport.assessment.dimensions.decision_benefit.words import part, text
from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.finding import Finding, Part
from trustreport.assessment.narrative.repeats import repeat_parts
from trustreport.assessment.narrative.texts import title_of
from trustreport.assessment.performance.readers import every_endpoint, place_of_task, primary_first
from trustreport.assessment.performance.repeated import has_second, repeat_results, repeated_readings
from trustreport.study.plan import Plan
from trustreport.study.study import Readings, Study
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.results import Result


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
    alone = len(pairs) == 1
    parts: list[Part] = []
    by_itself: list[Part] = []
    by_baseline: list[Part] = []
    planned: list[Part] = []
    known: dict[str, list[Result]] = {}

    def kept(results: Iterable[Result]) -> list[Result]:
        """The results; where two contrasts share an arm those of the first, whatever its analysis."""
        own: dict[str, list[Result]] = {}
        for r in results:
            own.setdefault(_question(r), []).append(r)
        return [r for question, found in own.items() for r in known.setdefault(question, found)]

    def every() -> list[Result]:
        """All results that are kept."""
        return [r for found in known.values() for r in found]

    for number, (readings, arms) in enumerate(pairs, 1):
        place = place_of_task(readings, study)
        name = title_of(readings, arms)
        found = primary_first(every_endpoint(readings, arms, level), readings, arms, plan)
        own = [r for endpoint in found for r in results_of(endpoint, readings, arms, level, place)]
        own += [r for endpoint in found for r in strata_results(endpoint, readings, arms, level, place)]
        own += at_prevalences(readings, arms, plan, place)
        own += change_counts(readings, arms, level, place)
        own += [r for endpoint in found[:1] for r in baseline_slope(endpoint, arms, level, place)]
        own += [r for endpoint in found for r in source_results(endpoint, readings, arms, level, place)]
        own += secondary_results(readings, arms, plan, place)
        parts += part(TaskBenefit(kept(own), found, readings, arms, number), alone=alone)
        quarters = quarter_results(readings, arms, level, place, plan.similarity.seed)
        by_baseline += quarter_part(kept(quarters), name, number, alone=alone)
        advice = advice_of(readings, arms)
        if advice:
            several = sum(r is readings for r, _ in pairs) > 1
            compared = ai_results(readings, arms, advice, level, place, several_contrasts=several)
            by_itself += ai_part(kept(compared), advice, name, number, alone=alone)
        study_to_come = next_study(found[0], readings, arms, plan, place) if found else None
        if study_to_come:
            kept(study_to_come.results)
            planned += next_study_part(study_to_come, name, number, alone=alone)
    together: list[Part] = []
    for number, readings in enumerate(dict.fromkeys(r for r, _ in pairs), 1):
        of_all = all_arms(readings, plan, level, place_of_task(readings, study), every())
        if of_all:
            kept(of_all.results)
            together += all_arms_part(of_all, readings.task, number)
    used = list(_protocols(study, plan, pairs))
    for one, _ in used:
        kept(one)
    as_published = published_readers(plan)
    for table in as_published:
        kept(table.results)
    twice = [(one, repeat_results(ID, one, level)) for one in repeated_readings(study)]
    for _, own in twice:
        kept(own)
    tested = declared_hypotheses(study, plan, every())
    kept(t.result for t in tested)
    parts += [
        *by_baseline,
        *together,
        *hypotheses_part(tested, several_tasks=len(study.readings) > 1),
        *by_itself,
        *(shown for _, shown in used),
        *planned,
        *(published_readers_part(table, i) for i, table in enumerate(as_published, 1)),
        *repeat_parts(twice),
    ]
    not_shown = [text("not_shown.regression"), text("not_shown.prevalence")]
    if as_published:
        not_shown.append(text("not_shown.published"))
    if any(readings.sequential for readings, _ in pairs):
        not_shown.append(say("pragmatic_utility.not_shown.sequential"))
    if len(planned) < len(pairs):
        not_shown.append(text("not_shown.power"))
    if any(readings.seconds is None for readings, _ in pairs):
        not_shown.append(text("not_shown.seconds"))
    elif any(r.estimate.note == NOT_IN_BOTH for r in every()):
        not_shown.append(text("not_shown.one_arm"))
    return Finding(ID, tuple(parts), tuple(every()), tuple(not_shown))


def _protocols(
    study: Study, plan: Plan, pairs: list[tuple[Readings, tuple[str, str]]]
) -> Iterator[tuple[Iterable[Result], Part]]:
    """How the device could be used: each task with its first contrast, then published sets by formula."""
    first = {id(readings): (readings, arms) for readings, arms in reversed(pairs)}
    for number, (readings, arms) in enumerate(reversed(first.values()), 1):
        found = compare(readings, arms, plan, place_of_task(readings, study))
        if found is not None:
            name = title_of(readings, arms)
            yield found.results, protocols_part(found, name, number, alone=len(first) == 1)
    published = of_published(study, plan)
    shown = published_part(published)
    if shown is not None:
        yield published, shown


def has_data(study: Study, plan: Plan) -> bool:
    """Whether readers read in both arms or a case twice, or something was published of readers."""
    twice = any(has_second(readings) for readings in study.readings)
    published = plan.published_readers or of_published(study, plan)
    return bool(comparable(study, plan) or published) or twice


def _question(result: Result) -> str:
    """What a result answers, by whatever analysis."""
    scope = {key: value for key, value in result.scope.items() if key != "analysis"}
    return json.dumps([result.id, scope], sort_keys=True)


DIMENSION = Dimension(ID, has_data, answer)
