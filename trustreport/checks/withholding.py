"""What a block keeps from being judged, among the numbers that rest on the data that it names.

A check says it by what a number is, never by a list of ids. One that says nothing withholds everything.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan

from trustreport.finding import CheckOutcome
from trustreport.results import Result


@dataclass(frozen=True, slots=True)
class Withholding:
    """Which numbers a block concerns; `word` names the sentence that says so, ``checks.withholds.<word>``."""

    word: str
    concerns: Callable[[Result, CheckOutcome], bool]


def _of_quantities(result: Result, outcome: CheckOutcome) -> bool:
    """Whether it is of a quantity that the outcome names, or a difference of one."""
    row = result.quantity
    return not outcome.quantities or row.id in outcome.quantities or row.base in outcome.quantities


def _of_these_cases(result: Result, outcome: CheckOutcome) -> bool:
    """Whether it rests on no other data than those of the outcome."""
    return result.place.data <= outcome.place.data


def _of_the_group(result: Result, outcome: CheckOutcome) -> bool:
    return result.place.subgroup == outcome.place.subgroup


EVERYTHING = Withholding("everything", lambda result, outcome: _of_quantities(result, outcome))
COUNTED_DECISIONS = Withholding("decisions", lambda result, outcome: result.counts_decisions)
UNDEFINED = Withholding("undefined", lambda result, outcome: isnan(result.estimate.value))
TOO_FEW = Withholding(
    "too_few", lambda result, outcome: _of_quantities(result, outcome) and _of_these_cases(result, outcome)
)
GROUP = Withholding(
    "group", lambda result, outcome: _of_quantities(result, outcome) and _of_the_group(result, outcome)
)
# What is looked at criterion by criterion, and what concerns the release of the report and no number in it.
CRITERIA = Withholding("criteria", lambda result, outcome: False)
RELEASE = Withholding("release", lambda result, outcome: False)
