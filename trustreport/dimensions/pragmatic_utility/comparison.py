"""One comparison of two arms: its results, and how they are told."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

from trustreport.estimate import Estimate
from trustreport.measures.number_needed import number_needed
from trustreport.results import Result, answers, leading

ID = "pragmatic_utility"
Method = Callable[..., Estimate]


@dataclass(frozen=True, slots=True)
class Comparison:
    """An arm against its baseline in one set or task, with every result about the pair.

    `scope` names the set or task (empty where a study has one only); `aided` and `unaided` are the names
    of the compared and the baseline arm.
    """

    scope: Mapping[str, Any]
    aided: str
    unaided: str
    results: tuple[Result, ...]

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        return str(self.scope.get("set") or self.scope.get("task") or "")

    def lead(self, quantity: str, arm: str | None = None) -> Result:
        """The leading entry of a quantity, of one arm or of the contrast."""
        scope = {**self.scope, "arm": arm} if arm else {**self.scope, "arms": [self.aided, self.unaided]}
        found = leading(self.results, f"{ID}.{quantity}", **scope)
        if found is None:
            raise LookupError(f"no leading entry of {quantity} in {scope}")
        return found

    def all(self, quantity: str) -> list[Result]:
        """Every entry of a quantity of the contrast, in the order of computing."""
        return [r for r in self.results if r.id == f"{ID}.{quantity}" and "arms" in r.scope]


def contrast_results(
    scope: Mapping[str, Any],
    *,
    arr: Iterable[Estimate] = (),
    rr: Iterable[Estimate] = (),
    odds_ratio: Iterable[Estimate] = (),
    leads: Mapping[str, str] | None = None,
) -> list[Result]:
    """Entries of a contrast, with NND after every ARR and RRR after every RR; `leads` names methods."""
    first = leads or {}
    arr, rr = list(arr), list(rr)
    add = partial(answers, scope=scope)
    return [
        *add(f"{ID}.arr", estimates=arr, leads=first.get("arr", ""), unit="difference"),
        *add(f"{ID}.nnd", estimates=map(number_needed, arr), leads=first.get("arr", ""), unit="decisions"),
        *add(f"{ID}.rr", estimates=rr, leads=first.get("rr", ""), unit="ratio"),
        *add(
            f"{ID}.rrr", estimates=map(relative_reduction, rr), leads=first.get("rr", ""), unit="difference"
        ),
        *add(f"{ID}.odds_ratio", estimates=odds_ratio, leads=first.get("odds_ratio", ""), unit="ratio"),
    ]


def relative_reduction(rr: Estimate) -> Estimate:
    """Relative risk reduction, 1 - RR, with the limits of the relative risk turned about."""
    from dataclasses import replace

    return replace(rr, value=1 - rr.value, low=1 - rr.high, high=1 - rr.low, se=rr.se, details={})


def crosses(estimate: Estimate, null: float) -> bool | None:
    """Whether the interval holds the value of no effect; None where there is no interval to ask."""
    if not (isfinite(estimate.low) or isfinite(estimate.high)):
        return None
    return bool(estimate.low <= null <= estimate.high)
