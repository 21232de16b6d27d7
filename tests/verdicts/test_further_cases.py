"""How many more cases would decide a criterion that the interval leaves open."""

from dataclasses import dataclass

import pytest

from trustreport.assessment.verdicts.judge import further_cases
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result


@dataclass(frozen=True)
class Limits:
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Open:
    """What the arithmetic reads of a verdict."""

    result: Result
    bound: Limits
    word: str = "inconclusive"


def sensitivity(value: float, low: float, high: float, n: int = 100, **place: str) -> Result:
    where = Place(**(place or {"dataset": "outside"}))
    return Result("advice_accuracy.sensitivity", where, Estimate(value, low, high, n))


@pytest.mark.parametrize(
    ("estimate", "bound", "found"),
    [
        # Half of .08 has to become .05: 100 * (.08 / .05)^2 = 256 in all.
        (sensitivity(0.85, 0.77, 0.91), Limits(low=0.80), (157, "positive")),
        # On the wrong side the upper limit has to fall below the bound: 100 * (.06 / .03)^2 = 400.
        (sensitivity(0.77, 0.68, 0.83), Limits(low=0.80), (301, "positive")),
        (sensitivity(0.80, 0.70, 0.88), Limits(low=0.80), None),
        (sensitivity(0.85, 0.77, 0.91, task="reader study"), Limits(low=0.80), None),
    ],
)
def test_further_cases_decide(estimate: Result, bound: Limits, found: tuple[int, str] | None) -> None:
    got = further_cases(Open(estimate, bound))  # type: ignore[arg-type]
    if found is None or got is None:
        assert got is found
    else:
        assert got[1] == found[1]
        assert abs(got[0] - found[0]) <= 1


def test_a_criterion_that_is_decided_needs_none() -> None:
    assert further_cases(Open(sensitivity(0.85, 0.77, 0.91), Limits(low=0.8), "pass")) is None  # type: ignore[arg-type]
