"""The elements of a report that are not answers of a dimension, by the id that frameworks refer to."""

from collections.abc import Callable

from trustreport.report.elements import (
    annexes,
    candidates,
    conclusions,
    data,
    feedback,
    frameworks,
    plan,
    questions,
    results,
)
from trustreport.report.elements.element import Context, Element, ReportPlace

__all__ = ["ELEMENTS", "GROUPS_OF", "Context", "Element", "ReportPlace"]

# Groups of the manifest that an element prints; those of no element of an outline stand in its annex.
GROUPS_OF = {**plan.GROUPS, **data.GROUPS, **results.GROUPS, **annexes.GROUPS}

ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    **plan.ELEMENTS,
    **data.ELEMENTS,
    **results.ELEMENTS,
    **feedback.ELEMENTS,
    **candidates.ELEMENTS,
    **questions.ELEMENTS,
    **annexes.ELEMENTS,
    **frameworks.ELEMENTS,
    **conclusions.ELEMENTS,
}
