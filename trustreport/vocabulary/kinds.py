"""The kinds of values of a table of measurements, a row each: what a cell may be, and what may be claimed.

Decisions, classes and scores of suspicion are no such values: the dimensions that are named after their
questions analyse them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "ordinal", "count"]
# What a number can show at most. Accuracy needs a truth that is right; against labels that are wrong at times
# the same number is concordance. A rating and a preference are what people think; a description is of values
# that nothing is held against.
Claim = Literal[
    "accuracy", "agreement", "concordance", "rating", "preference", "description", "workflow", "stability"
]


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What is known of a kind of values.

    Parameters
    ----------
    claim : the most that can be claimed with a reference, and without
    whole : whether only whole numbers are values
    least : the smallest possible value
    expected : what a cell holds, in the words of an error message
    """

    claim: tuple[Claim, Claim]
    whole: bool = False
    least: float | None = None
    expected: str = "a number"


KINDS: Mapping[Kind, ValueKind] = {
    "number": ValueKind(("agreement", "description")),
    "ordinal": ValueKind(("agreement", "rating"), whole=True, expected="a whole number"),
    "count": ValueKind(("agreement", "rating"), whole=True, least=0.0, expected="a count: 0, 1, 2 ..."),
}
