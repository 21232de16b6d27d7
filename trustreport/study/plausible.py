"""What looks wrong at first sight: worse than chance, times that no reader takes, arms without rows."""

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any

import numpy as np

from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Readings, Study

Doubtful = tuple[str, Mapping[str, Any]]
SURE, LEVEL = 3.0, 0.9973  # standard errors below chance, and the level of an interval of as many
CHANCE, FEWEST = 0.5, 5  # the area of guesses, and cases of a class of which an area of 0 is no chance
LOOKED_AT = 200_000  # scores
LONGEST = 3600.0  # seconds: half of the readings of a study take no longer


def implausible(study: Study, plan: Plan) -> Iterator[Doubtful]:
    """Doubts about truths, times and arms, each a key of the catalogue with its values."""
    for readings in study.readings:
        yield from _of_readings(readings, plan)
    for dataset in study.datasets:
        yield from _of_scores(dataset, plan)


def _of_readings(readings: Readings, plan: Plan) -> Iterator[Doubtful]:
    empty = [a.arm for a in plan.arms if a.arm not in readings.arms]
    empty += [name for i, name in enumerate(readings.arms) if not (readings.arm == i).any()]
    if empty:
        yield "arms_without_rows", {"arms": empty}
    if len(readings.cases.classes) == 2 and readings.decision is not None:
        truth = readings.cases.truth[readings.case]
        known = (readings.decision >= 0) & (truth >= 0)
        called = [readings.decision[known & (truth == k)] for k in (0, 1)]
        if all(map(len, called)):
            n0, n1 = map(len, called)
            p0, p1 = (float(own.mean()) for own in called)
            spread = sqrt(p0 * (1 - p0) / n0 + p1 * (1 - p1) / n1)
            if p1 - p0 + SURE * spread < 0:
                yield "readers_below_chance", {"found": p1, "other": 1 - p0}
    if readings.seconds is not None:
        given = readings.seconds[np.isfinite(readings.seconds)]
        if len(given) and float(np.median(given)) > LONGEST:
            yield "readings_too_long", {"seconds": float(np.median(given))}


def _of_scores(dataset: Dataset, plan: Plan) -> Iterator[Doubtful]:
    if len(dataset.cases.classes) != 2:
        return
    from trustreport.measures.roc.auc import delong  # it brings scipy, which readings alone do not need

    for candidate, scores in dataset.scores.items():
        if scores.score is None:
            continue
        step = -(-len(scores.score) // LOOKED_AT)
        score, truth = scores.score[::step], dataset.cases.truth[::step]
        known = np.isfinite(score) & (truth >= 0)
        higher = plan.operating_point.score_direction != "lower_is_positive"
        area = delong(truth[known] == 1, score[known] if higher else -score[known], level=LEVEL)
        few = min(area.details.values(), default=0.0) < FEWEST  # of a class
        if area.high < CHANCE or (area.value == 0 and not few):  # which has no limits
            name = f"{dataset.name}, {candidate}" if candidate else dataset.name
            yield "scores_below_chance", {"name": name, "area": area.value}
