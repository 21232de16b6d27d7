"""One comparison of two arms with its results."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Any

from trustreport.measures.estimate import Estimate
from trustreport.measures.two_arm.difference import number_needed
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result, leading, results_for

ID = "pragmatic_utility"


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """An arm against its baseline in one set or task, with every result about the pair.

    `place` names the set or task; `aided` and `unaided` are the names of the compared and the baseline arm.
    """

    place: Place
    aided: str
    unaided: str
    results: tuple[Result, ...]
    prevalence: float = nan  # among the cases of the readings

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        return self.place.set or self.place.task or ""

    def lead(self, quantity: str, arm: str | None = None) -> Result:
        """The primary entry of a quantity, of one arm or of the contrast."""
        place = self.place.narrowed(arm=arm) if arm else self.place.narrowed(arms=(self.aided, self.unaided))
        found = leading(self.results, f"{ID}.{quantity}", **place.scope)
        if found is None:
            raise LookupError(f"no primary entry of {quantity} in {place.scope}")
        return found

    def entries(self, quantity: str) -> list[Result]:
        """Every entry of a quantity of the contrast, in the order of computing."""
        return [r for r in self.results if r.id == f"{ID}.{quantity}" and r.place.arms]


def contrast_results(
    place: Place,
    *,
    arr: Iterable[Estimate] = (),
    rr: Iterable[Estimate] = (),
    odds_ratio: Iterable[Estimate] = (),
    leads: Mapping[str, str] | None = None,
    **of: Any,
) -> list[Result]:
    """Entries of a contrast, with NND after every ARR and RRR after every RR; `leads` names methods."""
    first = leads or {}
    arr, rr = list(arr), list(rr)

    def add(name: str, estimates: Iterable[Estimate], like: str) -> Iterator[Result]:
        """The results of one quantity, primary by the method that leads."""
        yield from results_for(f"{ID}.{name}", place, estimates, leads=first.get(like, ""), **of)

    return [
        *add("arr", arr, "arr"),
        *add("nnd", map(number_needed, arr), "arr"),
        *add("rr", rr, "rr"),
        *add("rrr", map(relative_reduction, rr), "rr"),
        *add("odds_ratio", odds_ratio, "odds_ratio"),
    ]


def relative_reduction(rr: Estimate) -> Estimate:
    """Relative risk reduction, 1 - RR, with the limits of the relative risk turned about."""
    return replace(rr, value=1 - rr.value, low=1 - rr.high, high=1 - rr.low, se=rr.se, details={})


def crosses(estimate: Estimate, null: float) -> bool | None:
    """Whether the interval includes the value of no effect; None where there is no interval to ask."""
    if not (isfinite(estimate.low) or isfinite(estimate.high)):
        return None
    return bool(estimate.low <= null <= estimate.high)
