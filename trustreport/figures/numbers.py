"""How a drawn number is written: decimals that its interval deserves, never rounded away to nothing."""

from collections.abc import Iterable
from math import floor, isfinite, isnan, log10
from typing import Literal

from trustreport.estimate import Estimate
from trustreport.messages import Catalogue, decimals

Scale = Literal["ratio", "points", "difference", "percent", "number"]

LEAST_PLACES: dict[Scale, int] = {"ratio": 2, "points": 1, "difference": 2, "percent": 1, "number": 2}

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def one(say: Catalogue, value: float, places: int, scale: Scale) -> str:
    """A number in the unit of its scale: percent and points are hundredfold, differences carry their sign."""
    if scale == "ratio":
        return _ratio(say, value, places)
    shown = hundredfold(value, scale)
    text = say.numbers.fixed(shown, places)
    return "+" + text if scale in ("points", "difference") and round(shown, places) > 0 else text


def hundredfold(value: float, scale: Scale) -> float:
    """The value as its scale writes it."""
    return 100 * value if scale in ("points", "percent") else value


def places_of(estimates: Iterable[Estimate], scale: Scale) -> int:
    """The decimals of a column: as many as the estimate that deserves most, at least those of sentences."""
    most, largest = LEAST_PLACES[scale], 0.0
    for e in estimates:
        if not isnan(e.value) and (scale != "ratio" or _moderate(e)):
            numbers = [hundredfold(x, scale) for x in (e.value, e.low, e.high)]
            most = max(most, decimals(*numbers)) if any(numbers) else most
            largest = max(largest, *(abs(x) for x in numbers if isfinite(x)))
    return min(most, 2) if scale == "percent" and largest >= 0.1 else most


def _moderate(e: Estimate) -> bool:
    """Whether a ratio is well written with a fixed number of decimals."""
    return all(0.05 <= x < 100 for x in (e.value, e.low, e.high) if isfinite(x) and x != 0)


def _ratio(say: Catalogue, value: float, places: int) -> str:
    """At least two significant digits; powers of ten where figures would be long."""
    if not isfinite(value) or value == 0:
        return say.numbers.fixed(value, 0)
    size = floor(log10(abs(value)))
    if not -4 <= size < 7:
        return say.numbers.fixed(value / 10**size, 1) + power(size)
    return say.numbers.fixed(value, max(places, 1 - size))


def power(exponent: int) -> str:
    """``× 10`` to a power, as it follows a number."""
    return "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}" + power_of_ten(exponent)


def power_of_ten(exponent: int) -> str:
    """``10⁶``"""
    return "10" + str(exponent).translate(_RAISED)


def estimate(say: Catalogue, shown: Estimate, scale: Scale, places: int) -> str:
    """``0.95 (0.80 to 1.12)``; says so where there is no value or no interval."""
    if isnan(shown.value):
        return say("figure.not_estimable")
    if scale == "ratio" and not _moderate(shown):
        places = 0
    percent = "percent_" if scale == "percent" else ""
    value = one(say, shown.value, places, scale)
    if isnan(shown.low) or isnan(shown.high):
        return say(f"figure.{percent}no_interval", value=value)
    low, high = one(say, shown.low, places, scale), one(say, shown.high, places, scale)
    return say(f"figure.{percent}estimate", value=value, low=low, high=high)


def of_mark(say: Catalogue, shown: Estimate, scale: Scale, *names: str) -> str:
    """What a mark says about itself: of what it is, its estimate, and of how many."""
    number = estimate(say, shown, scale, places_of([shown], scale))
    name = " · ".join(filter(None, names))
    text = say("figure.mark", name=name, number=number) if name else number
    return say("figure.mark_of", text=text, n=shown.n) if shown.n else text


def plain(say: Catalogue, value: float) -> str:
    """A tick's number: as many decimals as it needs."""
    text = f"{abs(value):.10f}".rstrip("0")
    return say.numbers.fixed(value, len(text.partition(".")[2]))
