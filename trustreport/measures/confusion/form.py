"""What a measure of the four cells is: its formula, what it divides by, and the kind of its interval.

The rows of `trustreport.vocabulary.quantities` are made of this, so that nothing here imports NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from trustreport.measures.confusion.counts import ConfusionCounts
    from trustreport.measures.estimate import Estimate


NO_CASE = "no case"
NO_POSITIVE = "no case has the condition"
NO_NEGATIVE = "every case has the condition"
NONE_CALLED_POSITIVE = "no case was called positive"
NONE_CALLED_NEGATIVE = "no case was called negative"
NOTHING_POSITIVE = "no case has the condition and none was called positive"
NOTHING_NEGATIVE = "every case has the condition and every case was called positive"
ALL_ALIKE = "all cases are of one class and all were called that class"
NO_FALSE_POSITIVE = "no false positive: the ratio is infinite"
NO_TRUE_NEGATIVE = "no true negative: the ratio is infinite"
NO_ERROR_IN_A_CLASS = "no error in one of the classes: the odds ratio is infinite"
ONE_CLASS_ALL_RIGHT = (
    "one class was called right throughout and the other wrong throughout: the odds ratio is undefined"
)
ONE_CLUSTER_OF_SUCH = "fewer than two clusters hold such a case: no interval"
AT_THE_EDGE = "the value is at the end of its range: this method has no interval"
NO_SPREAD_BETWEEN_CLUSTERS = "nothing varies between clusters: no interval"
CLUSTERS_AS_CASES = "nothing varies between clusters: each cluster is analysed as one case"
NO_POSITIVE_VERIFIED = "no case called positive has a truth: nothing is known of how many have the condition"
NO_NEGATIVE_VERIFIED = "no case called negative has a truth: nothing is known of how many have the condition"
NONE_PRESENT_VERIFIED = "no case with a truth has the condition"
NONE_ABSENT_VERIFIED = "no case with a truth is without the condition"


Formula = Callable[[Any, Any, Any, Any], Any]
"""A measure from tp, fp, fn, tn: numbers, shares or arrays of them, the result alike."""

Alone = Callable[["ConfusionCounts", float], "Estimate"]
"""The interval of a measure from independent cases: the counts and the level in, the estimate out."""

Need = Literal[
    "positives",
    "negatives",
    "called_positive",
    "called_negative",
    "any_positive",
    "any_negative",
    "two_cells",
]
ABSENT: dict[Need, str] = {
    "positives": NO_POSITIVE,
    "negatives": NO_NEGATIVE,
    "called_positive": NONE_CALLED_POSITIVE,
    "called_negative": NONE_CALLED_NEGATIVE,
    "any_positive": NOTHING_POSITIVE,
    "any_negative": NOTHING_NEGATIVE,
    "two_cells": ALL_ALIKE,
}
PARTS: dict[Need, tuple[int, ...]] = {
    "positives": (0, 2),
    "negatives": (1, 3),
    "called_positive": (0, 1),
    "called_negative": (2, 3),
}  # of tp, fp, fn, tn
EVERY = (0, 1, 2, 3)
TRIED = (3.0, 5.0, 7.0, 11.0)  # cells at which a formula shows which of them it depends on


@dataclass(frozen=True, slots=True)
class CaseShare:
    """A share of cases: Wilson's interval, in clusters with an effective number of cases.

    `counted` are the cells above the line, by their place in tp, fp, fn, tn; below it are those of its need.
    """

    counted: tuple[int, ...]
    word = "cluster_wilson"
    scale: Literal["logit"] = "logit"


@dataclass(frozen=True, slots=True)
class Delta:
    """Any function of the cells: limits propagated from those of its parts, in clusters the delta method.

    `scale` is where the estimate of clusters is taken as normal; `few` what to note with few clusters.
    """

    scale: Literal["logit", "log", "atanh"] = "logit"
    few: str = ""
    word = "cluster_delta"


@dataclass(frozen=True, slots=True)
class OfClasses:
    """A constant and a weighted sum of sensitivity and specificity, with limits made of theirs.

    `scale` is where estimates of sites are taken as normal.
    """

    constant: float
    sensitivity: float
    specificity: float
    scale: Literal["logit", "atanh"] = "logit"
    word = "cluster_mover"

    @property
    def weights(self) -> tuple[float, float]:
        """Those of sensitivity and specificity."""
        return self.sensitivity, self.specificity


@dataclass(frozen=True, slots=True)
class CellForm:
    """What is known of a measure of the four cells.

    Parameters
    ----------
    id : as in ``quantity`` of results.json
    formula : the measure as a function of tp, fp, fn, tn
    interval : how it is estimated, alone and in clusters
    needs : what the formula divides by
    alone : the interval of independent cases, where it is not that of `interval`
    better, unit, low, high, decimals : as in `trustreport.vocabulary.quantities.Quantity`
    by_prevalence : whether it changes with the prevalence while sensitivity and specificity stay
    of_decisions : whether it counts decisions of the device
    """

    id: str
    formula: Formula
    interval: CaseShare | Delta | OfClasses
    needs: tuple[Need, ...] = ()
    alone: Alone | None = None
    better: Literal["up", "down"] | None = "up"
    unit: Literal["proportion", "score", "ratio"] = "proportion"
    low: float = 0.0
    high: float = 1.0
    decimals: int | None = None
    by_prevalence: bool = False
    of_decisions: bool = True

    def of(self, counts: ConfusionCounts) -> float:
        """The value in these counts."""
        return float(self.formula(counts.tp, counts.fp, counts.fn, counts.tn))

    @property
    def among(self) -> tuple[int, ...]:
        """The cells below the line of a share."""
        return PARTS[self.needs[0]] if self.needs else EVERY

    def depends_on(self, cell: int) -> bool:
        """Whether the measure changes with a cell, by its place in tp, fp, fn, tn."""
        other = tuple(2 * x if i == cell else x for i, x in enumerate(TRIED))
        return bool(self.formula(*TRIED) != self.formula(*other))


def lacking(needs: tuple[Need, ...], counts: ConfusionCounts) -> str:
    """Which of the needs these counts do not meet, in words; nothing where they meet all."""
    absent: dict[Need, bool] = {
        "positives": not counts.positives,
        "negatives": not counts.negatives,
        "called_positive": not counts.called_positive,
        "called_negative": not counts.called_negative,
        "any_positive": counts.n == counts.tn,
        "any_negative": counts.n == counts.tp,
        "two_cells": counts.n in (counts.tp, counts.tn),
    }
    return next((ABSENT[need] for need in needs if absent[need]), "")


def one_class(counts: ConfusionCounts) -> str:
    """Which class is absent, or nothing."""
    return lacking(("positives", "negatives"), counts) if counts.n else NO_CASE
