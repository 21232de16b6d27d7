"""A number is written in one way: a share is 90.8% in sentences, and 90.8% in every table of its chapter."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest

from trustreport.api import Assessed
from trustreport.assessment.finding import Finding
from trustreport.report.tables import FIGURE_SPACE, table
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

SAY = catalogue("en")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LEAST = 100  # cases: a share of fewer is often the same two digits as another number
# Known as fractions: the axis of an ROC curve, confidence and calibration, figures as somebody printed them.
AS_FRACTIONS = ("auc_groups_", "advice_accuracy_declared", "reported_", "advice_value")


def fraction(result: Result) -> str:
    """How a share would be written that is no percentage."""
    e, fixed = result.estimate, SAY.numbers.fixed
    value, low, high = (fixed(x, result.places) for x in (e.value, e.low, e.high))
    return f"{value} ({low} to {high})"


def cells(finding: Finding) -> Iterator[tuple[str, str]]:
    """The id of each table of a chapter with the text of each of its cells."""
    for part in finding.parts:
        for one in part.tables:
            if not one.id.startswith(AS_FRACTIONS):
                for cell in chain.from_iterable(line.cells for line in table(one, SAY).lines):
                    yield one.id, cell.text.replace(FIGURE_SPACE, "").strip()


@pytest.mark.parametrize("name", sorted(p.parent.name for p in EXAMPLES.glob("*/study.yaml")))
def test_a_share_is_no_fraction_in_a_table(
    name: str, assessed_example: Callable[[str], Assessed]
) -> None:
    assessment = assessed_example(name)
    shares = {
        fraction(r)
        for r in assessment.results
        if r.written == "proportion" and r.estimate.n >= LEAST and r.estimate.low < r.estimate.high
    }
    assert shares
    found = {id for one in assessment.findings for id, text in cells(one) if text in shares}
    assert not found
