"""What looks wrong at first sight: worse than chance, times that no reader takes, arms without rows."""

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Readings, Study

Doubtful = tuple[str, Mapping[str, Any]]
SURE = 3.0  # standard errors below chance
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
    for candidate, scores in dataset.scores.items():
        if scores.score is None:
            continue
        step = -(-len(scores.score) // LOOKED_AT)
        score, truth = scores.score[::step], dataset.cases.truth[::step]
        known = np.isfinite(score) & (truth >= 0)
        area, spread = _area(score[known], truth[known] == 1)
        higher = plan.operating_point.score_direction != "lower_is_positive"
        area = area if higher else 1 - area
        if area + SURE * spread < 0.5:
            name = f"{dataset.name}, {candidate}" if candidate else dataset.name
            yield "scores_below_chance", {"name": name, "area": area}


def _area(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Area under the ROC curve and its standard error after Hanley and McNeil; 1/2 and 1 with one class."""
    m, n = int(positive.sum()), int((~positive).sum())
    if not (m and n):
        return 0.5, 1.0
    _, place, count = np.unique(score, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    area = (float(rank[place][positive].sum()) - m * (m + 1) / 2) / (m * n)
    twice = area / (2 - area), 2 * area * area / (1 + area)
    variance = area * (1 - area) + (m - 1) * (twice[0] - area**2) + (n - 1) * (twice[1] - area**2)
    return area, sqrt(max(variance, 0.0) / (m * n))
