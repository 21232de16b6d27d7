"""The characteristic by which the errors of a device lie furthest apart, where intervals part them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from trustreport.assessment.case_mix import Errors
from trustreport.measures.proportion import wilson

Kind = Literal["missed", "alarms"]


@dataclass(frozen=True, slots=True)
class Share:
    """`k` errors in `n` cases of one level of a characteristic."""

    level: str
    k: int
    n: int


@dataclass(frozen=True, slots=True)
class LargestDifference:
    """The two levels of a characteristic that lie furthest apart."""

    kind: Kind
    who: str
    name: str
    worst: Share
    best: Share


def largest_differences(found: Sequence[Errors], level: float) -> Iterator[LargestDifference]:
    """The largest gap of each device, in missed cases and in false alarms, all its sets taken together.

    Only levels whose Wilson intervals at `level` do not overlap are held against each other; a device
    without such a pair has none. Each case counts once, so what readers decided is not for this.
    """
    for who in dict.fromkeys(one.who for one in found):
        own = [one for one in found if one.who == who]
        for kind, at in (("missed", 0), ("alarms", 2)):
            largest = _largest(own, at, level)
            if largest:
                name, worst, best = largest
                yield LargestDifference("missed" if kind == "missed" else "alarms", who, name, worst, best)


def _largest(found: Sequence[Errors], at: int, level: float) -> tuple[str, Share, Share] | None:
    counts: dict[str, dict[str, list[int]]] = {}
    for one in found:
        for name, label, *numbers in one.by:
            so_far = counts.setdefault(name, {}).setdefault(label, [0, 0])
            so_far[0] += numbers[at]
            so_far[1] += numbers[at + 1]
    pairs = []
    for name, labels in counts.items():
        shares = [Share(label, k, n) for label, (n, k) in labels.items() if n]
        ends = {s.level: wilson(s.k, s.n, level) for s in shares}
        pairs += [
            (name, worst, best)
            for worst, best in permutations(shares, 2)
            if ends[worst.level].low > ends[best.level].high
        ]
    return max(pairs, key=lambda p: p[1].k / p[1].n - p[2].k / p[2].n, default=None)
