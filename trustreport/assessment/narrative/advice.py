"""The advice that a study holds: scores of data sets, and what readers were shown."""

from collections.abc import Iterator

import numpy as np

from trustreport.assessment.performance.cases import Outputs, ScoredCases, made, scored_cases
from trustreport.study.clusters import clustering
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Floats, Readings, Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import of_task

SHOWN = "advice_value.shown"


def advised(study: Study, plan: Plan) -> Iterator[tuple[Message | str, ScoredCases]]:
    """Every set of advice with a name: of each data set and candidate, then of each task of readings."""
    for case in scored_cases(study, plan):
        yield case.name, case
    several = len(study.readings) > 1
    for readings in study.readings:
        shown = _shown(readings, plan, several=several)
        if shown is not None:
            yield say(f"{SHOWN}_in", task=readings.task) if several else say(SHOWN), shown


def _shown(readings: Readings, plan: Plan, *, several: bool) -> ScoredCases | None:
    """The scores shown to the readers of the first aided arm that has any, for cases that had one score.

    A case for which readers were shown different scores is left out: it has no advice of its own. The advice
    is as it was recorded for every case, else by the operating point.
    """
    if readings.advice_score is None:
        return None
    for arm in dict.fromkeys(aided for aided, _ in plan.contrasts if aided in readings.arms):
        rows = readings.arm == readings.arms.index(arm)
        score = _one_each(readings, rows, readings.advice_score)
        if not np.isnan(score).all():
            break
    else:
        return None
    known, point = ~np.isnan(score), plan.operating_point
    counted = known & (readings.cases.truth >= 0)
    below = point.score_direction == "lower_is_positive"
    decision, recorded = np.full(score.shape, -1, np.int8), False
    if readings.advice is not None:
        given = np.where(readings.advice >= 0, readings.advice.astype(float), np.nan)
        advice = _one_each(readings, rows, given)
        recorded = bool(counted.any()) and not np.isnan(advice[counted]).any()
        decision = np.where(np.isnan(advice), -1, advice).astype(np.int8)
    if not recorded and point.threshold is not None:
        called = score <= point.threshold if below else score >= point.threshold
        decision = np.where(known, called, -1).astype(np.int8)
    decides = recorded or point.threshold is not None
    found = Outputs(score, decision, np.zeros(score.shape, bool), known, True, decides, not recorded)
    place, clusters = of_task(readings.task, several=several), clustering(readings.cases).of_case
    return made(place, Dataset(readings.task, "local", readings.cases), "", found, counted, clusters, plan)


def _one_each(readings: Readings, rows: np.ndarray, values: Floats) -> Floats:
    """The value of each case, (n_cases,), NaN where nobody was shown one or readers were shown several."""
    rows = rows & ~np.isnan(values)
    least, most = np.full(len(readings.cases), np.inf), np.full(len(readings.cases), -np.inf)
    np.minimum.at(least, readings.case[rows], values[rows])
    np.maximum.at(most, readings.case[rows], values[rows])
    return np.where(least == most, least, np.nan)
