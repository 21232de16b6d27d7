"""The kinds of endpoints, a row each: what a value is, what may be taken as right, what is computed of it.

An endpoint is a value of one kind for each case, reader (or device) and condition. Yes or no, classes and
ratings of suspicion are analysed by the dimensions that are named after their questions; values of the
other kinds by `trustreport.assessment.dimensions.measurement`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["yes_no", "class", "rank", "number", "ordinal", "count", "preference"]
# What a report may say at most: that it is right, that it agrees with something, or what people think of it.
Claim = Literal["accuracy", "agreement", "rating"]


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What is known of a kind of endpoint.

    Parameters
    ----------
    reference : what may be the truth of a case; empty where there is none
    primary : the quantity that leads where there is a reference, and where there is none
    claim : the most that can be claimed with a reference, and without
    whole : whether only whole numbers are values
    least : the smallest possible value
    expected : what a cell holds, in the words of an error message
    """

    kind: Kind
    reference: str
    primary: tuple[str, str]
    claim: tuple[Claim, Claim]
    whole: bool = False
    least: float | None = None
    expected: str = "a number"


KINDS: Mapping[str, ValueKind] = {
    row.kind: row
    for row in (
        ValueKind("yes_no", "0 or 1", ("accuracy", "agreement"), ("accuracy", "agreement"), whole=True),
        ValueKind("class", "a class", ("class_accuracy", "agreement"), ("accuracy", "agreement")),
        ValueKind("rank", "0 or 1", ("auc", "agreement"), ("accuracy", "agreement")),
        ValueKind("number", "a number", ("bias", "mean_value"), ("agreement", "agreement")),
        ValueKind("ordinal", "a rating", ("bias", "mean_value"), ("agreement", "rating"), whole=True,
                  expected="a whole number"),
        ValueKind("preference", "", ("preference_share", "preference_share"), ("rating", "rating")),
        ValueKind("count", "a count", ("bias", "mean_value"), ("agreement", "rating"), whole=True, least=0.0,
                  expected="a count: 0, 1, 2 ..."),
    )
}  # fmt: skip
