"""A measure of the four cells: its formula, what it divides by, and its interval, alone and in clusters.

A measure is a decorated formula. The rows of `trustreport.vocabulary.quantities` are made of the measures,
so that nothing here imports NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from trustreport.measures.confusion import notes
from trustreport.measures.note import NO_NOTE, Note

if TYPE_CHECKING:
    from trustreport.measures.confusion.counts import ConfusionCounts
    from trustreport.measures.estimate import Estimate

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
ABSENT: dict[Need, Note] = {
    "positives": notes.NO_POSITIVE,
    "negatives": notes.NO_NEGATIVE,
    "called_positive": notes.NONE_CALLED_POSITIVE,
    "called_negative": notes.NONE_CALLED_NEGATIVE,
    "any_positive": notes.NOTHING_POSITIVE,
    "any_negative": notes.NOTHING_NEGATIVE,
    "two_cells": notes.ALL_ALIKE,
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
    few: Note = NO_NOTE
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
class CellMeasure:
    """What is known of a measure of the four cells.

    Parameters
    ----------
    id : as in ``quantity`` of results.json
    formula : the measure as a function of tp, fp, fn, tn
    interval : how it is estimated, alone and in clusters
    needs : what the formula divides by
    alone : the interval of independent cases, where it is not that of `interval`
    ratio : the likelihood ratio that a predictive value follows from at a stated prevalence
    better, unit, low, high, decimals : as in `trustreport.vocabulary.quantities.Quantity`
    by_prevalence : whether it changes with the prevalence while sensitivity and specificity stay
    of_decisions : whether it counts decisions of the device
    of_readers : whether it is an endpoint of readers; a share of right decisions, or a sum over both classes
    """

    id: str
    formula: Formula
    interval: CaseShare | Delta | OfClasses
    needs: tuple[Need, ...] = ()
    alone: Alone | None = None
    ratio: str = ""
    better: Literal["up", "down"] | None = "up"
    unit: Literal["proportion", "score", "ratio"] = "proportion"
    low: float = 0.0
    high: float = 1.0
    decimals: int | None = None
    by_prevalence: bool = False
    of_decisions: bool = True
    of_readers: bool = False

    def value_in(self, counts: ConfusionCounts) -> float:
        return float(self.formula(counts.tp, counts.fp, counts.fn, counts.tn))

    @property
    def is_linear(self) -> bool:
        """Whether it is a sum over cases of what each decision is worth: it divides by no decisions."""
        return isinstance(self.interval, CaseShare) and self.needs in ((), ("positives",), ("negatives",))

    @property
    def is_share_of_right(self) -> bool:
        """Whether it is the share of right decisions, of all cases, of one class or of those so called."""
        if not isinstance(self.interval, CaseShare):
            return False
        return self.interval.counted == tuple(i for i in self.among if i in (0, 3))  # tp and tn

    @property
    def among(self) -> tuple[int, ...]:
        """The cells below the line of a share."""
        return PARTS[self.needs[0]] if self.needs else EVERY

    def counts_of(self, cells: Sequence[int]) -> tuple[int, int]:
        """How many cases a share counts, of how many; `cells` are tp, fp, fn, tn."""
        assert isinstance(self.interval, CaseShare)
        return sum(cells[i] for i in self.interval.counted), sum(cells[i] for i in self.among)

    def cases(self, truth: Any, decision: Any = None) -> Any:
        """Which cases a share is of, (n_cases,): those of its class, those so called, or all with a truth."""
        need = self.needs[0] if self.needs else None
        if need is None:
            return truth >= 0
        of = truth if need in ("positives", "negatives") else decision
        return of == (need in ("positives", "called_positive"))

    def depends_on(self, cell: int) -> bool:
        """Whether the measure changes with a cell, by its place in tp, fp, fn, tn."""
        other = tuple(2 * x if i == cell else x for i, x in enumerate(TRIED))
        return bool(self.formula(*TRIED) != self.formula(*other))


MEASURES: dict[str, CellMeasure] = {}
"""The measures by their result ids, in the order of a report."""


def measured(
    interval: CaseShare | Delta | OfClasses, *needs: Need, **known: Any
) -> Callable[[Formula], Formula]:
    """Make a formula a measure under the name of its function; `known` as in `CellMeasure`."""

    def add(formula: Formula) -> Formula:
        if formula.__name__ in MEASURES:
            raise ValueError(f"{formula.__name__} is a measure already")
        measure = CellMeasure(formula.__name__, formula, interval, needs, **known)
        share = measure.is_share_of_right and measure.is_linear
        if measure.of_readers and not (share or isinstance(interval, OfClasses)):
            raise ValueError(f"{measure.id} is no share of right decisions and no sum over both classes")
        MEASURES[measure.id] = measure
        return formula

    return add


def lacking(needs: tuple[Need, ...], counts: ConfusionCounts) -> Note:
    """Which of the needs these counts do not meet; nothing where they meet all."""
    absent: dict[Need, bool] = {
        "positives": not counts.positives,
        "negatives": not counts.negatives,
        "called_positive": not counts.called_positive,
        "called_negative": not counts.called_negative,
        "any_positive": counts.n == counts.tn,
        "any_negative": counts.n == counts.tp,
        "two_cells": counts.n in (counts.tp, counts.tn),
    }
    return next((ABSENT[need] for need in needs if absent[need]), NO_NOTE)


def one_class(counts: ConfusionCounts) -> Note:
    """Which class is absent, or nothing."""
    return lacking(("positives", "negatives"), counts) if counts.n else notes.NO_CASE
