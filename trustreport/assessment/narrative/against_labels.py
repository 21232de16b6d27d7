"""What sentences, tables and figures say where the truth is a label that is wrong at times."""

from dataclasses import replace
from typing import TypeVar

from trustreport.assessment.finding import CheckOutcome, EstimateTable, Figure, Finding, Part, PlainTable
from trustreport.assessment.narrative.texts import Texts
from trustreport.vocabulary.quantity import CORRECTED

# Their numbers rest on no truth: distances from other values, and raters compared with each other.
WITHOUT_TRUTH = ("measurement", "reader_measurement", "source_reliability")

# Words in the names of tables and figures of the other dimensions that rest on no truth.
OF_NO_TRUTH = ("similarity", "exposure")
# Checks whose message gives numbers of accuracy.
QUOTING = ("P03", "P05", "P08", "P29", "P31", "P45", "P50")

Shown = TypeVar("Shown", bound=EstimateTable | PlainTable | Figure)

text = Texts("against_labels")


def mark_finding(finding: Finding) -> Finding:
    """A finding whose sentences, tables and figures say that the truth is a label with errors.

    Unchanged where no number of it needs a right label. Sentences say it at the first part of each element
    of the report, but where one of them does so by itself: its key begins with ``label_``.
    """
    needed = any(r.quantity.needs_right_labels for r in finding.results)
    if finding.dimension in WITHOUT_TRUTH or not needed:
        return finding
    parts: list[Part] = []
    for part in finding.parts:
        said = any(part.element == earlier.element for earlier in parts)
        said = said or any(".label_" in message.key for message in part.finding)
        parts.append(_captioned(part if said else _opened(part)))
    return replace(finding, parts=tuple(parts))


def mark_check(outcome: CheckOutcome) -> CheckOutcome:
    """A check that gives numbers of accuracy, which here are agreement with labels."""
    if outcome.check not in QUOTING or outcome.status != "fired":
        return outcome
    return replace(outcome, message=text("check", said=outcome.message))


def _opened(part: Part) -> Part:
    """A part whose first sentence says it, so that a report that prints few sentences loses none by it."""
    first, others = part.finding[:1], part.finding[1:]
    opening = text("before", said=first[0]) if first else text("sentence")
    return replace(part, finding=(opening, *others))


def _captioned(part: Part) -> Part:
    return replace(
        part,
        tables=tuple(_with_caption(table) for table in part.tables),
        figures=tuple(_with_caption(figure) for figure in part.figures),
    )


def _with_caption(shown: Shown) -> Shown:
    """The same with what its truth is; unchanged where it says so, is all corrected, or is of no truth."""
    corrected = isinstance(shown, EstimateTable) and all(
        r.result.name.startswith(CORRECTED) for r in shown.rows
    )
    if corrected or ".label_" in shown.caption.key or any(word in shown.id for word in OF_NO_TRUTH):
        return shown
    return replace(shown, caption=text("caption", caption=shown.caption))
