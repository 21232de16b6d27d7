"""The measures of the four cells: a decorated formula each, which says how it is estimated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trustreport.measures.confusion.form import CaseShare, CellForm, Delta, Formula, Need, OfClasses

if TYPE_CHECKING:
    from trustreport.measures.confusion.counts import ConfusionCounts
    from trustreport.measures.estimate import Estimate


@dataclass(frozen=True, slots=True)
class CellMeasure(CellForm):
    """A measure; called with counts, its estimate from independent cases."""

    def __call__(self, counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
        """The measure of independent cases; NaN with a note where it is 0/0."""
        if self.alone is not None:
            return self.alone(counts, level)
        from trustreport.measures.confusion import independent

        return independent.estimated(self, counts, level)


MEASURES: dict[str, CellMeasure] = {}
"""The measures by their result ids, in the order of a report."""


def measured(
    interval: CaseShare | Delta | OfClasses, *needs: Need, **known: Any
) -> Callable[[Formula], Formula]:
    """Make a formula a measure under the name of its function; `known` as in `CellMeasure`."""

    def add(formula: Formula) -> Formula:
        if formula.__name__ in MEASURES:
            raise ValueError(f"{formula.__name__} is a measure already")
        MEASURES[formula.__name__] = CellMeasure(formula.__name__, formula, interval, needs, **known)
        return formula

    return add
