"""Which blocks of the register withhold the verdict on a result: by what it is of, and what it rests on."""

from collections.abc import Iterable

from trustreport.assessment.checks import CHECKS
from trustreport.assessment.checks.check import EVERYTHING
from trustreport.assessment.finding import CheckOutcome
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

# A check that is not known withholds everything.
WITHHELD_BY = {check.id: check.withholds for check in CHECKS}
# Parts of data that a block can name: it then concerns numbers of that part, and those that name none.
PARTS = ("site", "reader", "version", "class_")


def blocking(result: Result, checks: Iterable[CheckOutcome]) -> list[CheckOutcome]:
    """The blocks that fired and concern a result, each check once, in the order of the register."""
    found: dict[str, CheckOutcome] = {}
    for outcome in checks:
        blocks = outcome.severity == "B" and outcome.status == "fired"
        if blocks and concerns(outcome, result):
            found.setdefault(outcome.check, outcome)
    return list(found.values())


def concerns(outcome: CheckOutcome, result: Result) -> bool:
    """Whether an outcome is about a result: it rests on its data, and is what the check is about.

    A result of unknown data rests on all of them.
    """
    if not result.place.rests_on(outcome.place) or not _holds_part(result.place, outcome.place):
        return False
    return WITHHELD_BY.get(outcome.check, EVERYTHING).concerns(result, outcome)


def of_precision(outcome: CheckOutcome) -> bool:
    """Whether a block is about precision alone, so that it withholds inconclusive verdicts only."""
    return WITHHELD_BY.get(outcome.check, EVERYTHING).only_inconclusive


def _holds_part(at: Place, said: Place) -> bool:
    """Whether a number holds the part of the data that a block names; one that names no part holds all."""
    for name in PARTS:
        named, own = getattr(said, name), getattr(at, name)
        if named is not None and own is not None and named != own:
            return False
    return _meet(_arms(at), _arms(said)) and _meet(_candidates(at), _candidates(said))


def _arms(at: Place) -> set[str]:
    return {*(at.arms or ()), *([at.arm] if at.arm is not None else [])}


def _candidates(at: Place) -> set[str]:
    return {*(at.candidates or ()), *([at.candidate] if at.candidate is not None else [])}


def _meet(one: set[str], other: set[str]) -> bool:
    """Whether two lists of names share one; an empty list means all."""
    return not one or not other or bool(one & other)


def of_the_sample(outcome: CheckOutcome) -> bool:
    """Whether a block is about the prevalence of the sample, which a criterion may mean."""
    return WITHHELD_BY.get(outcome.check, EVERYTHING).numbers == "sample"
