"""The advice that a study holds: scores of data sets, and what readers were shown."""

from collections.abc import Iterator

import numpy as np

from trustreport.dimensions.advice_accuracy.measured import Judged, judged
from trustreport.messages import Message, say
from trustreport.plan import Plan
from trustreport.study import Binary, Dataset, Floats, Readings, Study

SHOWN = "advice_value.shown"


def advised(study: Study, plan: Plan) -> Iterator[tuple[Message | str, Judged]]:
    """Every set of advice with a name: of each data set and candidate, then of each task of readings."""
    for dataset in study.datasets:
        for case in judged(dataset, study, plan):
            yield case.name, case
    for readings in study.readings:
        several = len(study.readings) > 1
        shown = _shown(readings, plan, {"task": readings.task} if several else {})
        if shown is not None:
            yield say(f"{SHOWN}_in", task=readings.task) if several else say(SHOWN), shown


def _shown(readings: Readings, plan: Plan, scope: dict[str, str]) -> Judged | None:
    """The scores shown to the readers of the first aided arm that has any, for cases that had one score.

    A case for which readers were shown different scores is left out: it has no advice of its own.
    """
    if readings.advice_score is None:
        return None
    score, decision = np.full(0, np.nan), np.full(0, -1, np.int8)
    for arm in dict.fromkeys(aided for aided, _ in plan.contrasts if aided in readings.arms):
        rows = readings.arm == readings.arms.index(arm)
        score = _one_each(readings, rows, readings.advice_score)
        if not np.isnan(score).all():
            break
    else:
        return None
    if readings.advice is not None:
        given = np.where(readings.advice >= 0, readings.advice.astype(float), np.nan)
        told = _one_each(readings, rows, given)
        decision = np.where(np.isnan(told), -1, told).astype(np.int8)
    known = ~np.isnan(score) & (readings.cases.truth >= 0)
    threshold = plan.operating_point.threshold
    below = plan.operating_point.score_direction == "lower_is_positive"
    return Judged(
        scope,
        Dataset(readings.task, "local", readings.cases),
        readings.cases.truth[known] == 1,
        score[known],
        _decided(decision[known] if len(decision) else None, score[known], threshold, below),
        threshold,
        known,
        reversed=below,
    )


def _one_each(readings: Readings, rows: np.ndarray, values: Floats) -> Floats:
    """The value of each case, (n_cases,), NaN where nobody was shown one or readers were shown several."""
    rows = rows & ~np.isnan(values)
    least, most = np.full(len(readings.cases), np.inf), np.full(len(readings.cases), -np.inf)
    np.minimum.at(least, readings.case[rows], values[rows])
    np.maximum.at(most, readings.case[rows], values[rows])
    return np.where(least == most, least, np.nan)


def _decided(advice: Binary | None, score: Floats, threshold: float | None, below: bool) -> np.ndarray | None:
    """The advice as it was recorded for every case, else by the operating point; None without either."""
    if advice is not None and len(advice) and (advice >= 0).all():
        return advice == 1
    if threshold is None:
        return None
    return score <= threshold if below else score >= threshold
