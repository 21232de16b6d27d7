"""How many digits a number is written with: decided once, from its quantity and its n.

Tables, figures, sentences and verdicts all read it from the number itself (`Rounded`), so that a number has
the same digits wherever it is printed, and an estimate the same as its limits.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import floor, isfinite, isnan, log10, nan
from typing import Any

from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.quantities import known, quantity
from trustreport.vocabulary.quantity import Quantity

SIGNIFICANT = 13  # digits of a number in results.json
MANY = 100  # from here on a percentage has a decimal
VERY_MANY = 1000  # from here on an area under a curve has three
MOST_DECLARED = 6  # decimals that somebody sets a number with
MOST_EXTRA = 3  # decimals added, at most, for a number that would round to a value that it is not


class Rounded(float):
    """A number that knows its decimals.

    >>> Rounded(0.9, 2), Rounded(0.9, 2).places, (-Rounded(0.9, 2)).places
    (0.9, 2, 2)
    """

    __slots__ = ("places",)
    places: int

    def __new__(cls, value: float, places: int) -> "Rounded":
        made = super().__new__(cls, value)
        made.places = places
        return made

    def __neg__(self) -> "Rounded":
        return Rounded(-float(self), self.places)

    def __abs__(self) -> "Rounded":
        return Rounded(abs(float(self)), self.places)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rounded, (float(self), self.places)


def rounded(e: Estimate, places: int) -> Estimate:
    """The estimate, its value and limits with these decimals."""
    value, low, high = (Rounded(x, places) if isfinite(x) else x for x in (e.value, e.low, e.high))
    return replace(e, value=value, low=low, high=high)


def same_digits(e: Estimate, others: Iterable[Estimate]) -> Estimate:
    """The estimate with the decimals of those beside it, at most one more than the fewest of them have.

    >>> few, many = rounded(Estimate(0.743, 0.699, 0.783), 2), rounded(Estimate(0.739, 0.704, 0.771), 3)
    >>> same_digits(few, (few, many)).value.places
    3
    """
    known = sorted(places for one in others if (places := places_in(one.value)) is not None)
    own = places_in(e.value)
    return e if own is None or not known else rounded(e, max(own, min(known[-1], known[0] + 1)))


def per(e: Estimate, patients: int) -> Estimate:
    """The estimate of a rate as a number of patients, readings or cases out of so many.

    >>> per(rounded(Estimate(0.0016, 0.0011, 0.0021, 1882), 4), 1000).value.places
    1
    """
    places = places_in(e.value)
    scaled = replace(e, value=patients * e.value, low=patients * e.low, high=patients * e.high)
    return scaled if places is None else rounded(scaled, max(places - round(log10(patients)), 0))


def share(k: float, n: float) -> Rounded:
    """`k` of `n` as it is written: as per cent, with one decimal where n is 100 or more.

    >>> share(36, 40).places, share(183, 200).places
    (2, 3)
    """
    return Rounded(k / n, of_share(Estimate(k / n, nan, nan, round(n)), n))


def as_written(value: float) -> float:
    """The number as results.json has it, so that whoever reads it finds the same order among them.

    >>> as_written(0.1 + 0.2) > as_written(0.3)
    False
    """
    return float(f"{value:.{SIGNIFICANT}g}")


def places_in(value: object) -> int | None:
    """The decimals that a number knows; None where it knows none."""
    return value.places if isinstance(value, Rounded) else None


def places_of(e: Estimate, row: Quantity, *, of_cases: bool = True) -> int:
    """Decimals of an estimate and its limits, as a fraction of one where it is written as per cent.

    Parameters
    ----------
    of_cases : whether n counts cases or readings, not readers or sites
    """
    if isnan(e.value) and not isfinite(e.high - e.low):
        return 0
    base = quantity(row.base) if known(row.base) else row
    match row.unit:
        case "count":
            return 0
        case "decisions":
            return int(abs(e.value) < 10)
        case "proportion" | "difference" if base.written != "area":
            return of_share(e, e.n if of_cases else 0)
        case "proportion":
            return clear_of(3 if e.n >= VERY_MANY else 2, (e.low, e.high), 0.0)
        case "difference":
            return clear_of(3, (e.low, e.high), 0.0)
        case "ratio":
            return of_ratio(e, row.no_effect if row.no_effect is not None else row.target)
    if row.decimals is not None:
        return clear_of(row.decimals, (e.low, e.high), row.no_effect or 0.0)
    return by_width(e.value, e.low, e.high)


def of_share(e: Estimate, n: float) -> int:
    """Of a percentage, or a difference of two: one decimal where n is 100 or more, or not known.

    >>> of_share(Estimate(0.9, 0.769, 0.960, 40), 40), of_share(Estimate(0.915, 0.87, 0.945, 200), 200)
    (2, 3)
    """
    places = 2 if 0 < n < MANY else 3
    return with_width(clear_of(clear_of(places, (e.value, e.low, e.high), 0.0), (e.value,), 1.0), e)


def with_width(places: int, e: Estimate) -> int:
    """At least `places` decimals, and up to three more, so that no interval is written as if it had no width.

    >>> (
    ...     with_width(3, Estimate(0.99712, 0.99704, 0.99720, 1_000_000)),
    ...     with_width(3, Estimate(1.0, 1.0, 1.0, 5)),
    ... )
    (4, 3)
    """
    if not (isfinite(e.low) and isfinite(e.high) and e.low < e.high):
        return places
    wider = range(places, places + MOST_EXTRA)
    return next((p for p in wider if round(e.low, p) != round(e.high, p)), places + MOST_EXTRA)


def of_ratio(e: Estimate, no_effect: float | None = 1.0) -> int:
    """Two decimals, and at least two significant digits; fewer decimals where figures would be long.

    >>> of_ratio(Estimate(1.82, 1.5, 2.2, 97)), of_ratio(Estimate(0.095, 0.06, 0.15, 97))
    (2, 3)
    >>> of_ratio(Estimate(137.2, 60.4, 300.1, 97))
    0
    """
    sizes = [abs(x) for x in (e.value, e.high) if x and isfinite(x)]  # of nothing, its upper limit
    size = floor(log10(sizes[0])) if sizes and isfinite(e.value) else 0
    places = max(2 - size, 0) if size > 0 else max(2, 1 - size)
    return clear_of(clear_of(places, (e.low, e.high), 0.0), (e.low, e.high), no_effect)


def as_declared(value: float, least: int = 2) -> Rounded:
    """A number that someone has set, with the decimals that it was set with.

    One with more than six was computed by whoever set it, and is written with four.

    >>> [as_declared(x).places for x in (0.8, 0.855, 97 / 120)], as_declared(5.0, 0).places
    ([2, 3, 4], 0)
    """
    decimals = len(f"{value:.10f}".rstrip("0").partition(".")[2])
    return Rounded(value, max(least, decimals if decimals <= MOST_DECLARED else 4))


def by_width(value: float, low: float, high: float) -> int:
    """Two significant digits of the width of the interval, 0 to 4 decimals: for what has a scale of its own.

    >>> by_width(0.947, 0.8015, 1.1191), by_width(0.0097, -0.020, 0.039), by_width(103.2, 25.4, 49.9)
    (2, 3, 0)
    """
    width = high - low
    if not isfinite(width) or width <= 0:
        ends = [abs(x) for x in (value, low, high) if isfinite(x)]
        size = max(ends, default=0.0)
        return 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return clear_of(min(max(1 - floor(log10(width)), 0), 4), (low, high), 0.0)


def clear_of(places: int, numbers: Iterable[float], at: float | None) -> int:
    """At least `places` decimals, and up to three more, so that no number is written as a value it is not.

    A limit of an interval is so seen on its side of zero, of no effect, or of a bound.

    >>> (
    ...     clear_of(3, (-0.00036, 0.0880), 0.0),
    ...     clear_of(3, (0.0, 0.0880), 0.0),
    ...     clear_of(2, (0.998,), 1.0),
    ... )
    (4, 3, 3)
    """
    if at is None:
        return places
    others = [x for x in numbers if isfinite(x) and x != at]

    def seen(p: int) -> bool:
        return all(round(x, p) != round(at, p) for x in others)

    return next((p for p in range(places, places + MOST_EXTRA) if seen(p)), places + MOST_EXTRA)
