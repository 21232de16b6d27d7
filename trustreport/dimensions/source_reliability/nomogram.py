"""Stated pairs of measured accuracy and weighted concordance, and the accuracy behind them."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import nan

from trustreport.dimensions.source_reliability.raters import ID
from trustreport.estimate import Estimate
from trustreport.measures.label_accuracy import (
    NO_SAMPLING_ERROR,
    ActualAccuracy,
    actual_accuracy,
    nomogram_accuracy,
)
from trustreport.plan import Nomogram
from trustreport.results import Result, answers


@dataclass(frozen=True, slots=True)
class StatedSet:
    """One pair as it was stated, and what follows from it."""

    name: str
    measured: float
    concordance: float
    label: Estimate
    actual: ActualAccuracy
    results: tuple[Result, ...]


def of_sets(sets: Iterable[Nomogram], level: float) -> list[StatedSet]:
    """Label accuracy, actual accuracy and its bounds for each stated pair."""
    return [_of_set(one, level) for one in sets]


def _of_set(stated: Nomogram, level: float) -> StatedSet:
    rho = Estimate(stated.weighted_concordance, nan, nan, 0, level, note=NO_SAMPLING_ERROR)
    label = nomogram_accuracy(rho)
    actual = actual_accuracy(stated.accuracy, label, level=level)
    named = {
        "label_accuracy": label,
        "actual_accuracy": actual.value,
        "actual_accuracy_low_bound": actual.low_bound,
        "actual_accuracy_high_bound": actual.high_bound,
    }
    scope = {"set": stated.set}
    results = [r for name, e in named.items() for r in answers(f"{ID}.{name}", scope, [e], leads=e.method)]
    return StatedSet(stated.set, stated.accuracy, stated.weighted_concordance, label, actual, tuple(results))
