"""One number, one primary estimate: a report gives one interval of a quantity of the same cases."""

import json
from collections.abc import Hashable, Iterable, Mapping
from math import isclose, isnan

from trustreport.vocabulary.quantities import CHANGES, VALUES, known
from trustreport.vocabulary.quantity import DIFFERENCE
from trustreport.vocabulary.results import Result

# What says how a number is written or where it came from, and not what it is.
NOT_CHOSEN = ("metric", "scale")
SAME = 1e-9


def number(result: Result, threshold: float | None = None) -> Hashable:
    """What a result is: its quantity, place, choices and cases, whatever its id.

    A period is its data set, one of several sets is that set, and the declared threshold is that of decisions
    that name none. What was read under a protocol is the arm, or the pair of arms, in which it was read. A
    rate of errors is what is left of the share of right decisions.

    Parameters
    ----------
    threshold : that of the declared operating point
    """
    place = result.place.narrowed(period=None)
    if len(place.datasets) == 1:
        place = place.narrowed(dataset=place.datasets[0], datasets=())
    if place.threshold == threshold:
        place = place.narrowed(threshold=None)
    if place.arm or place.arms:
        place = place.narrowed(protocol=None)
    chosen = {
        key: value
        for key, value in result.parameters.items()
        if key not in NOT_CHOSEN and not (key == "groups" and isinstance(value, Mapping))
    }
    # An endpoint that makes the quantity (a period's sensitivity) is not said twice.
    made = known(result.endpoint) and result.name in (*VALUES, *CHANGES)
    endpoint = "" if made else result.endpoint
    said = json.dumps(chosen, sort_keys=True, default=str)
    return _right(result) or result.quantity.id, place, endpoint, said, result.cases


def _right(result: Result) -> str:
    """Of a rate of errors, or its difference, that of right decisions; else empty."""
    of = result.quantity
    return of.id.replace(of.base, of.left_of) if of.left_of else ""


def contradictions(
    results: Iterable[Result], threshold: float | None = None
) -> dict[Hashable, tuple[Result, Result]]:
    """Numbers of which two primary entries differ in value, interval or p, with the first two that do."""
    first: dict[Hashable, Result] = {}
    found: dict[Hashable, tuple[Result, Result]] = {}
    for r in results:
        if r.primary:
            key = number(r, threshold)
            one = first.setdefault(key, r)
            if not _alike(one, r):
                found.setdefault(key, (one, r))
    return found


def _alike(one: Result, other: Result) -> bool:
    return all(
        (isnan(a) and isnan(b)) or isclose(a, b, rel_tol=SAME, abs_tol=1e-12)
        for a, b in zip(_numbers(one), _numbers(other), strict=True)
    )


def _numbers(result: Result) -> tuple[float, ...]:
    e = result.estimate
    if not _right(result):
        return e.value, e.low, e.high, e.p
    whole = 0.0 if result.quantity.id.endswith(DIFFERENCE) else 1.0
    return whole - e.value, whole - e.high, whole - e.low, e.p
