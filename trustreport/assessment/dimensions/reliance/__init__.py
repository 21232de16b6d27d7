"""Reliance: do readers follow the advice when it is right, and keep their own judgement when it is wrong?"""

from trustreport.assessment.dimensions.dimension import Dimension
from trustreport.assessment.dimensions.reliance.results import Reliance, from_counts, from_readings
from trustreport.assessment.dimensions.reliance.words import (
    interaction_part,
    overview,
    part,
    text,
    title_of,
    types_part,
)
from trustreport.assessment.finding import Finding, Part
from trustreport.assessment.performance.reader_errors import advice_of
from trustreport.assessment.performance.readers import place_of_task
from trustreport.study.plan import Plan
from trustreport.study.study import Binary, Readings, Study

NAME = "reliance"
# More published sets than this are in one overview instead of a page each.
EACH_UP_TO = 4
ARMS = ("aided", "unaided")


def advised(study: Study, plan: Plan) -> list[tuple[Readings, tuple[str, str], Binary]]:
    """The readings and contrasts in whose aided arm somebody decided with advice, and that advice."""
    found = []
    for readings in study.readings:
        advice = advice_of(readings, plan)
        if advice is None or readings.decision is None:
            continue
        for arms in plan.contrasts:
            if arms[0] in readings.arms:
                aided = readings.arm == readings.arms.index(arms[0])
                if (aided & (advice >= 0) & (readings.decision >= 0)).any():
                    found.append((readings, arms, advice))
    return found


def has_data(study: Study, plan: Plan) -> bool:
    """Whether there are published counts of reliance, or decisions made with advice."""
    return bool(study.reliance_counts or advised(study, plan))


def answer(study: Study, plan: Plan) -> Finding:
    """Results, sentences, tables and figures of every published set and every task."""
    level = plan.report.confidence_level
    arms = plan.contrasts[0] if plan.contrasts else ARMS
    sets = [from_counts(counts, arms, level) for counts in study.reliance_counts]
    tasks = []
    for readings, contrast, advice in advised(study, plan):
        place = place_of_task(readings, study)
        seed = plan.similarity.seed
        tasks.append(from_readings(readings, contrast, advice, level, place=place, seed=seed))
    each = tasks if len(sets) > EACH_UP_TO else [*sets, *tasks]
    parts: list[Part] = [overview(sets)] if len(sets) > EACH_UP_TO else []
    alone = len(parts) + len(each) == 1
    titled = [(one, None if alone else title_of(one), i) for i, one in enumerate(each, 1)]
    for one, title, i in titled:
        parts += [part(one, i, alone=alone), *types_part(one, title, i)]
    parts += [interaction_part(*named) for named in titled]
    results = tuple(r for one in (*sets, *tasks) for r in one.results)
    return text.finding(parts, results, _not_shown(sets, tasks))


def _not_shown(sets: list[Reliance], tasks: list[Reliance]) -> list[str]:
    shown = ["reason"]
    if any(one.sequential for one in tasks):
        shown.append("sequential")
    if any(not one.sequential for one in tasks):
        shown.append("sittings")
    if sets:
        shown.append("independent")
    shown.append("mix")
    return shown


DIMENSION = Dimension(NAME, has_data, answer)
