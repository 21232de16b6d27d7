"""What is found of where errors concentrate: groups, their contrasts, and the crossing of the leading one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

import numpy as np

from trustreport.assessment.performance.cases import Mask
from trustreport.assessment.performance.pooled import PooledColumn
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.results import Result

Event = Literal["missed", "alarms"]
# What makes two comparisons of shares of errors one: the candidate, the rate, and both groups of cases.
Comparison = tuple[str, str, frozenset[str]]
EVENTS: Mapping[Event, str] = {"missed": "false_negative_rate", "alarms": "false_positive_rate"}
CLASSES: Mapping[Event, str] = {"missed": "positives", "alarms": "negatives"}


@dataclass(frozen=True, eq=False)
class ErrorGroup:
    """Some cases by one characteristic, and all others of which it is known, (n,) each.

    Of periods a group is all cases from one on, and the others are those before it. `other` is the name of
    the only other level, where there is one.
    """

    of: PooledColumn
    level: str
    mask: Mask
    rest: Mask
    other: str = ""

    @property
    def inside(self) -> dict[str, Any]:
        """What a result of the group says it is of."""
        return {"from": self.level} if self.of.kind == "period" else {"groups": {self.of.name: self.level}}

    @property
    def outside(self) -> dict[str, Any]:
        """What a result of the others says it is of."""
        return {"before": self.level} if self.of.kind == "period" else {"without": {self.of.name: self.level}}


@dataclass(frozen=True, eq=False)
class CrossCell:
    """`k` errors in `n` cases with their rate, and the entry that says so."""

    k: int
    n: int
    result: Result

    @property
    def rate(self) -> Estimate:
        """The rate with its interval."""
        return self.result.estimate


@dataclass(frozen=True, eq=False)
class Contrast:
    """The error rate of some cases against that of others.

    `adjusted` is the p-value after adjustment, over the family of the comparison; NaN where it is of none.
    """

    group: ErrorGroup
    first: CrossCell
    second: CrossCell
    result: Result
    adjusted: float = np.nan

    @property
    def comparison(self) -> Comparison:
        """What makes another comparison the same as this one."""
        groups = frozenset((self.first.result.cases, self.second.result.cases))
        return self.result.place.candidate or "", self.result.endpoint, groups

    @property
    def difference(self) -> Estimate:
        """First rate minus second rate."""
        return self.result.estimate

    @property
    def higher(self) -> bool:
        """Whether the rate is higher by the whole interval and, where it was adjusted, the p-value."""
        p = self.adjusted
        return self.difference.low > 0 and (isnan(p) or p <= 1 - self.difference.level)

    @property
    def says_adjusted(self) -> bool:
        """Whether its entry holds the p-value after adjustment."""
        return "p_holm" in self.result.details

    @property
    def results(self) -> tuple[Result, ...]:
        """Its entries."""
        return self.first.result, self.second.result, self.result


@dataclass(frozen=True, eq=False)
class Crossing:
    """The leading group crossed with other characteristics: the cells of each combination of their levels.

    `cells` are (levels, in the group, outside it); `shared` compares the two where both are found, None where
    they are found nowhere together.
    """

    by: tuple[PooledColumn, ...]
    cells: tuple[tuple[tuple[str, ...], CrossCell, CrossCell], ...]
    shared: Contrast | None
    common: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Concentration:
    """What was found of one kind of error.

    `lead` is the group that errs more than all other cases after adjustment, by the most certain difference;
    None where no group does. `largest` is then the largest difference that was seen. `outside` compares each
    other group that seemed to err more with its others among the cases outside the leading group; `same` are
    those groups that are the very same cases. `hidden`: the characteristics of which a public report
    shows nothing.
    """

    event: Event
    k: int
    n: int
    compared: int
    lead: Contrast | None
    largest: Contrast | None
    crossings: tuple[Crossing, ...] = ()
    outside: tuple[Contrast, ...] = ()
    same: tuple[ErrorGroup, ...] = ()
    hidden: tuple[PooledColumn, ...] = ()

    @property
    def results(self) -> list[Result]:
        """Every entry once."""
        leading = self.lead or self.largest
        found = list(leading.results) if leading else []
        for crossing in self.crossings:
            found += [cell.result for _, *pair in crossing.cells for cell in pair]
            found += crossing.shared.results if crossing.shared else ()
        found += [r for one in self.outside for r in one.results]
        return list({_scope(r): r for r in found}.values())


def _scope(r: Result) -> str:
    return json.dumps([r.id, r.scope], sort_keys=True, default=str)
