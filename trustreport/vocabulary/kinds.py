"""The kinds of endpoints, a row each: what a cell and its truth may be, what leads, what may be claimed.

A decision, a class and a choice are read by tables of their own; the values of a table of measurements
declare their kind. `trustreport.vocabulary.quantities` has what each quantity can claim.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "ordinal", "count"]  # of a table of values
# What a number can show at most. Accuracy needs a truth that is right; against labels that are wrong at times
# the same number is concordance. A rating and a preference are what people think; a description is of values
# without a reference.
Claim = Literal[
    "accuracy", "agreement", "concordance", "rating", "preference", "description", "workflow", "stability"
]


@dataclass(frozen=True, slots=True)
class EndpointKind:
    """What is known of a kind of endpoint; a pair is with a truth, and without.

    Parameters
    ----------
    truth : what may be taken as right; empty where nothing can
    claim : the most that can be claimed
    leads : the quantities that lead a report, those compared between arms and candidates first
    whole : whether only whole numbers are values
    least : the smallest possible value
    expected : what a cell holds, in the words of an error message
    """

    truth: str
    claim: tuple[Claim, Claim]
    leads: tuple[tuple[str, ...], tuple[str, ...]]
    whole: bool = False
    least: float | None = None
    expected: str = "a number"


# Against a value taken as right; and means, by the side that is better: neither, more, less.
AGAINST_A_VALUE = ("mean_absolute_error", "bias")
MEANS = ("mean_value", "mean_score", "mean_loss")
OF_VALUES = (AGAINST_A_VALUE, MEANS)

KINDS: Mapping[str, EndpointKind] = {
    "yes_no": EndpointKind(
        "yes or no",
        ("accuracy", "workflow"),
        (("sensitivity", "specificity"), ("called_share",)),
        expected="0 or 1",
    ),
    "class": EndpointKind(
        "one of the classes",
        ("accuracy", "agreement"),
        (("class_accuracy",), ("krippendorff_alpha",)),
        expected="a name",
    ),
    "number": EndpointKind("a number in the same unit", ("agreement", "description"), OF_VALUES),
    "ordinal": EndpointKind(
        "a rating on the same scale",
        ("agreement", "rating"),
        OF_VALUES,
        whole=True,
        expected="a whole number",
    ),
    "count": EndpointKind(
        "a count",
        ("agreement", "rating"),
        OF_VALUES,
        whole=True,
        least=0.0,
        expected="a count: 0, 1, 2 ...",
    ),
    "preference": EndpointKind(
        "",
        ("preference", "preference"),
        (("preference_share",), ("preference_share",)),
        expected="one of the two outputs, or a tie",
    ),
}
