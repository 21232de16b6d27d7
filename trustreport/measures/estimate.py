"""The number that every measure returns: a point, its interval, its denominator, how it was made."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isnan, nan
from typing import Literal

from trustreport.measures.note import NO_NOTE, Note, note

Limit = Literal["low", "high"]

# Where benchmarks/coverage.py finds an interval short on one side, and no better one is known (`LISTED`
# there). The limit on that side decides nothing, and the number does not lead.
OFTEN_ABOVE = note("in_simulated_studies_this_size_interval")
OFTEN_BELOW = note("in_simulated_studies_this_size_interval_lay")
_SHORT: Mapping[Note, Limit] = {OFTEN_ABOVE: "low", OFTEN_BELOW: "high"}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point estimate and its confidence interval.

    `n` counts the denominator; `method` is the fixed word of the interval (``wilson``, ``tango``).
    What is not estimable is NaN, what has no bound is infinite, and in both cases `note` says why.
    """

    value: float
    low: float
    high: float
    n: int
    level: float = 0.95
    method: str = ""
    note: Note = NO_NOTE
    se: float = nan
    df: float = nan
    p: float = nan
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def short(self) -> tuple[Limit, ...]:
        """The limits on which no verdict rests, since simulated intervals missed on their side too often."""
        return tuple(limit for said, limit in _SHORT.items() if said in self.note)

    def __eq__(self, other: object) -> bool:
        """Same fields; a number that is undefined in both is no difference.

        Dataclasses compare NaN by identity up to Python 3.12 and by value from 3.13 on.
        """
        if not isinstance(other, Estimate):
            return NotImplemented
        pairs = ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return all(a is b or a == b or (a != a and b != b) for a, b in pairs)

    def __str__(self) -> str:
        if isnan(self.value):
            return f"not estimable ({self.note})"
        return f"{self.value:.2f} ({self.level:.0%} CI {self.low:.2f} to {self.high:.2f}; n = {self.n})"


def undefined(n: int, note: Note, *, level: float = 0.95, method: str = "") -> Estimate:
    """An estimate that these data do not yield; `note` is the reason that the report prints."""
    return Estimate(nan, nan, nan, n, level, method, note)


def check_level(level: float) -> None:
    """Refuse a confidence level outside (0, 1), with the likely correction."""
    if not 0 < level < 1:
        hint = f" Did you mean {level / 100:g}?" if 1 < level < 100 else ""
        raise ValueError(f"level must lie in (0, 1), got {level:g}.{hint}")
