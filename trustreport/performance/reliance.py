"""What readers did with advice: readings laid out by reader and case, for the rates of reliance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.patterns import RATES, patterns, tertiles
from trustreport.performance.readers import AIDED, UNAIDED, patients_of
from trustreport.plan import Plan
from trustreport.study import Binary, Floats, Readings

# Up to so many values of complexity are levels; more are put together in thirds.
MOST_LEVELS = 10


def advice_of(readings: Readings, plan: Plan) -> Binary | None:
    """What the model advised at each reading: as stored, or its score against the declared threshold."""
    if readings.advice is not None:
        return readings.advice
    score, threshold = readings.advice_score, plan.operating_point.threshold
    if score is None or threshold is None:
        return None
    below = plan.operating_point.score_direction == "lower_is_positive"
    positive = score <= threshold if below else score >= threshold
    return np.where(np.isnan(score), -1, positive).astype(np.int8)


@dataclass(frozen=True, eq=False)
class Grids:
    """Readings laid out as (n_readers, n_cases); NaN where unknown.

    `patterns` needs both decisions, advice and truth; `outcomes` holds each rate of the measures, those of
    disagreement from the decisions themselves, so that they need no truth. `decision` and `sureness` (the
    reader's confidence) are of both arms, `advice` of the aided one. `levels` holds the level of complexity
    of each case, -1 where it is not known; `types` the type of advice of each reading, `cluster` which cases
    are of one patient.
    """

    patterns: Floats
    outcomes: Mapping[str, Floats]
    correct: Floats
    advice_right: Floats
    truth: Binary
    confidence: Floats
    decision: Floats
    advice: Floats
    sureness: Floats
    levels: NDArray[np.int8]
    level_names: tuple[str, ...]
    types: Floats
    cluster: Clusters | None

    def lacking(self, rate: str) -> str:
        """Why a rate is undefined where no reading belongs to its base."""
        return notes.NO_READING if np.isnan(self.patterns).all() else RATES[rate].lacking


def grids(readings: Readings, arms: tuple[str, str], advice: Binary) -> Grids:
    """Lay out one contrast of a task; the advice is that of the aided reading."""
    decision, advice_grid = (
        _both(readings, np.where(column >= 0, column, np.nan), arms)
        for column in (_decisions(readings), advice)
    )
    advised = advice_grid[AIDED]
    truth = np.where(readings.cases.truth >= 0, readings.cases.truth, np.nan)
    correct, advice_right = _same(decision, truth), _same(advised, truth)
    codes = patterns(correct[UNAIDED], advice_right, correct[AIDED])
    outcomes = {name: which.of(codes) for name, which in RATES.items()}
    agrees = {name: _same(decision[arm], advised) for name, arm in (("aided", AIDED), ("unaided", UNAIDED))}
    outcomes |= {f"agreement_{name}": grid for name, grid in agrees.items()}
    outcomes["override_rate"] = 1 - agrees["aided"]
    outcomes["override_of_right_advice"] = np.where(advice_right == 1, 1 - agrees["aided"], np.nan)
    outcomes["override_of_wrong_advice"] = np.where(advice_right == 0, 1 - agrees["aided"], np.nan)
    outcomes["switch_rate"] = np.where(agrees["unaided"] == 0, agrees["aided"], np.nan)
    outcomes["accuracy_of_advice"] = advice_right
    sureness, types = (
        np.full(decision.shape, np.nan) if column is None else _both(readings, column, arms)
        for column in (readings.confidence, readings.advice_type)
    )
    return Grids(
        codes,
        outcomes,
        correct,
        advice_right,
        readings.cases.truth,
        np.where(np.isnan(codes), np.nan, sureness[UNAIDED]),
        decision,
        advised,
        sureness,
        *_levels(readings.cases.complexity, len(readings.cases)),
        types[AIDED],
        patients_of(readings),
    )


def _levels(complexity: Floats | None, n: int) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """The level of complexity of each case and what the levels are called: thirds where values are many."""
    if complexity is None or np.isnan(complexity).all():
        return np.full(n, -1, np.int8), ()
    values, codes = np.unique(complexity[~np.isnan(complexity)], return_inverse=True)
    if len(values) > MOST_LEVELS:
        bands, ranges = tertiles(complexity)
        return bands, tuple(f"{low:g}\N{EN DASH}{high:g}" for low, high in ranges)
    levels = np.full(n, -1, np.int8)
    levels[~np.isnan(complexity)] = codes
    return levels, tuple(f"{value:g}" for value in values)


def _decisions(readings: Readings) -> Binary:
    assert readings.decision is not None
    return readings.decision


def _both(readings: Readings, values: NDArray[Any], arms: tuple[str, str]) -> Floats:
    """Both arms laid out; one that the task lacks is empty."""
    there = [arm for arm in arms if arm in readings.arms]
    out = np.full((2, len(readings.readers), len(readings.cases)), np.nan)
    out[[arms.index(arm) for arm in there]] = readings.grid(values, there)
    return out


def _same(a: Floats, b: Floats) -> Floats:
    """1.0 where both are known and equal, 0.0 where unequal, NaN where one is unknown."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, (a == b).astype(np.float64))
