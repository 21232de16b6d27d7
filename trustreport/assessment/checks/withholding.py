"""What a block keeps from being judged, among the numbers that rest on the data that it names.

A check says it by what a number is, never by a list of ids. One that says nothing withholds everything.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Literal

from trustreport.assessment.finding import CheckOutcome
from trustreport.measures.mrmc import notes
from trustreport.vocabulary.results import Result

Numbers = Literal["all", "decisions", "sample", "undefined", "these cases", "group", "changes", "none"]


@dataclass(frozen=True, slots=True)
class Withholding:
    """Which numbers a block concerns; `says` is how docs/checks.md has it, `numbers` how results.json does.

    A block about precision withholds `only_inconclusive` verdicts: an interval that lies on one side of the
    bound decides, however wide it is, in favour of a device as against it.
    """

    says: str
    numbers: Numbers
    concerns: Callable[[Result, CheckOutcome], bool]
    only_inconclusive: bool = False


def _of_quantities(result: Result, outcome: CheckOutcome) -> bool:
    """Whether it is of a quantity that the outcome names, or a difference of one; any where it names none."""
    row = result.quantity
    return not outcome.quantities or row.id in outcome.quantities or row.base in outcome.quantities


def _counts_decisions(result: Result, outcome: CheckOutcome) -> bool:
    del outcome
    return result.counts_decisions


def _at_the_prevalence_of_the_sample(result: Result, outcome: CheckOutcome) -> bool:
    """Whether it changes with the prevalence, and is not of a prevalence that was declared."""
    return _of_quantities(result, outcome) and "prevalence" not in result.parameters


def _has_no_value(result: Result, outcome: CheckOutcome) -> bool:
    del outcome
    return isnan(result.estimate.value)


def _of_these_cases_alone(result: Result, outcome: CheckOutcome) -> bool:
    return _of_quantities(result, outcome) and result.place.data <= outcome.place.data


def _of_the_group(result: Result, outcome: CheckOutcome) -> bool:
    return _of_quantities(result, outcome) and result.place.subgroup == outcome.place.subgroup


def _of_changes_as_read(result: Result, outcome: CheckOutcome) -> bool:
    """Whether it is of both arms, and is not adjusted for the order in which they were read."""
    del outcome
    return result.place.arms is not None and notes.ADJUSTED not in result.estimate.note


def _of_none(result: Result, outcome: CheckOutcome) -> bool:
    del result, outcome
    return False


EVERYTHING = Withholding("all numbers of these data", "all", _of_quantities)
COUNTED_DECISIONS = Withholding("what counts decisions of the device", "decisions", _counts_decisions)
OF_THE_SAMPLE = Withholding(
    "the measures named at the prevalence of the sample, unless the criterion names `population: sample`",
    "sample",
    _at_the_prevalence_of_the_sample,
)
UNDEFINED = Withholding("what has no value", "undefined", _has_no_value)
# Both are about precision.
TOO_FEW = Withholding(
    "the measures named, of these cases alone, where inconclusive",
    "these cases",
    _of_these_cases_alone,
    only_inconclusive=True,
)
SMALL_GROUP = Withholding(
    "the measures named, of this group, where inconclusive", "group", _of_the_group, only_inconclusive=True
)
GROUP = Withholding("the measures named, of this group", "group", _of_the_group)
BY_ORDER = Withholding(
    "what is of both arms and is not adjusted for reading order", "changes", _of_changes_as_read
)
# The verdict on a criterion looks at the lock itself; the release of a report concerns no number in it.
CRITERIA = Withholding("the criteria named", "none", _of_none)
RELEASE = Withholding("no verdict: a public report is refused", "none", _of_none)
