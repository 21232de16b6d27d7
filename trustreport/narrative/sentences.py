"""What sentences say of an estimate: its numbers, and where its interval is."""

from math import isnan

from trustreport.estimate import Estimate


def numbers(e: Estimate) -> dict[str, float]:
    """The values that a sentence with an interval names."""
    return {"value": e.value, "low": e.low, "high": e.high, "level": e.level}


def side_of(
    e: Estimate, bound: float, above: str = "above", below: str = "below", across: str = "either"
) -> str:
    """Whether the whole interval is above or below a bound, or includes it."""
    return above if e.low > bound else below if e.high < bound else across


def known(x: float) -> float | None:
    """A number, None where it is not known."""
    return None if isnan(x) else x
