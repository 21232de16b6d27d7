"""A regime: studies of one design, how a report estimates them, and what is true of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.study.study import (
    Coded,
    Floats,
    Labels,
)
from trustreport.vocabulary.results import Result

Found = Iterable[tuple[str, Estimate]]
"""Primary estimates of one study by quantity."""
Truths = Mapping[str, float]
LEVEL = 0.95
ARMS = ("unaided", "aided")


@dataclass(frozen=True)
class Regime:
    """Studies of one design.

    Parameters
    ----------
    topic, design : what is estimated, and how the studies are made
    true : the values to be covered, by quantity
    study : one drawn study, estimated
    outcomes : every outcome with its probability, in place of drawn studies
    shares : quantities whose outcomes are few; they are judged together with their neighbours
    neighbours : what regimes have in common whose shares are averaged, and where this one is among them
    beside : whether it is there for its neighbours alone
    due : whether there are ten cases of the rarer class (in ten clusters), so that an interval is due
    """

    topic: str
    design: str
    true: Callable[[], Truths]
    study: Callable[[np.random.Generator], Found] | None = None
    outcomes: Callable[[], Iterable[tuple[float, Found]]] | None = None
    shares: frozenset[str] = frozenset()
    neighbours: tuple[str, float] | None = None
    beside: bool = False
    due: bool = True
    cost: float = field(default=0.02, compare=False)  # seconds a study, roughly


def plan(**groups: Any) -> Plan:
    """A manifest with what every manifest has."""
    return Plan.model_validate({"report": {"kind": "certification"}, "device": {}, **groups})


def primary(
    results: Iterable[Result], wanted: Mapping[str, str], **scope: Any
) -> Iterator[tuple[str, Estimate]]:
    """The primary estimates under these ids, by the names wanted."""
    for r in results:
        if r.primary and r.id in wanted and r.within(**scope):
            yield wanted[r.id], r.estimate


def less(e: Estimate, value: float) -> Estimate:
    """An interval less a value that is drawn anew in each study: it has the value where it has 0."""
    return replace(e, value=e.value - value, low=e.low - value, high=e.high - value)


def coded(of: NDArray[Any]) -> Coded:
    """A column of names from whole numbers."""
    names, codes = np.unique(of, return_inverse=True)
    return Coded(codes.astype(np.int32), Labels(tuple(map(str, names))))


def binomial(n: int, p: float) -> Floats:
    """The probability of 0 to n events."""
    found: Floats = binom.pmf(np.arange(n + 1), n, p)
    return found
