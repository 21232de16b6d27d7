"""How a drawn number is written: with the decimals that it knows, in the unit of its scale."""

from collections.abc import Callable
from math import floor, isfinite, isnan, log10
from typing import Any, Literal

from trustreport.digits import by_width, of_ratio, of_share, places_in
from trustreport.estimate import Estimate
from trustreport.figures import style
from trustreport.messages import Catalogue, Message

Scale = Literal["ratio", "points", "difference", "percent", "number"]

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


def places_of(e: Estimate, scale: Scale) -> int:
    """The decimals of an estimate and its limits: those that it knows, or those of its scale and n."""
    known = next((p for p in map(places_in, (e.value, e.low, e.high)) if p is not None), None)
    if scale in ("points", "percent"):
        return max((of_share(e, e.n) if known is None else known) - 2, 0)
    if known is not None:
        return known
    return of_ratio(e) if scale == "ratio" else by_width(e.value, e.low, e.high)


def _ratio(say: Catalogue, value: float, places: int) -> str:
    """Powers of ten where figures would be long."""
    if not isfinite(value) or value == 0:
        return say.numbers.fixed(value, 0)
    size = floor(log10(abs(value)))
    if not -4 <= size < 7:
        return say.numbers.fixed(value / 10**size, 1) + power(size)
    return say.numbers.fixed(value, places)


def power(exponent: int) -> str:
    """``× 10`` to a power, as it follows a number."""
    return "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}" + power_of_ten(exponent)


def power_of_ten(exponent: int) -> str:
    """``10⁶``"""
    return "10" + str(exponent).translate(_RAISED)


def estimate(say: Catalogue, shown: Estimate, scale: Scale) -> str:
    """``0.95 (0.80 to 1.12)``; says so where there is no value or no interval."""
    if isnan(shown.value):
        return say("figure.not_estimable")
    percent = "percent_" if scale == "percent" else ""
    value, low, high = parts(say, shown, scale)
    if isnan(shown.low) or isnan(shown.high):
        return say(f"figure.{percent}no_interval", value=value)
    return say(f"figure.{percent}estimate", value=value, low=low, high=high)


def parts(say: Catalogue, e: Estimate, scale: Scale) -> tuple[str, str, str]:
    """Value and limits, all to the same digits."""
    places = places_of(e, scale)
    value, low, high = (one(say, x, places, scale) for x in (e.value, e.low, e.high))
    return value, low, high


def of_mark(say: Catalogue, shown: Estimate, scale: Scale, *names: str) -> str:
    """What a mark says about itself: of what it is, its estimate, and of how many."""
    text = named(say, " · ".join(filter(None, names)), estimate(say, shown, scale))
    return say("figure.mark_of", text=text, n=shown.n) if shown.n else text


def named(say: Catalogue, name: str, number: str) -> str:
    """A number after the name of what it is, where that has one."""
    return say("figure.mark", name=name, number=number) if name else number


def shares(say: Catalogue, sensitivity: Estimate, specificity: Estimate) -> tuple[str, str]:
    """Both of the shares that a point of a ROC curve stands for."""
    first = say("figure.roc.sensitivity", number=estimate(say, sensitivity, "percent"))
    return first, say("figure.roc.specificity", number=estimate(say, specificity, "percent"))


def plain(say: Catalogue, value: float) -> str:
    """A tick's number: as many decimals as it needs."""
    text = f"{abs(value):.10f}".rstrip("0")
    return say.numbers.fixed(value, len(text.partition(".")[2]))


def percent(say: Catalogue, value: float) -> str:
    """A share as the per cent of a tick."""
    return say("figure.percent_tick", value=plain(say, round(100 * value, 10)))


def level(say: Catalogue, e: Estimate) -> str:
    """The level of an interval in per cent, without its sign."""
    return plain(say, round(100 * e.level, 6))


def tick(say: Catalogue, scale: Scale) -> Callable[[float], str]:
    """How the ticks of a scale are written."""

    def written(value: float) -> str:
        if scale == "percent":
            return percent(say, value)
        text = plain(say, round(hundredfold(value, scale), 10))
        return "+" + text if scale in ("points", "difference") and value > 0 else text

    return written


def columns(e: Estimate, *more: str) -> dict[str, Any]:
    """The columns of an estimate in a table of values: value and limits, and what else is asked for."""
    return {name: getattr(e, name) for name in ("value", "low", "high", *more)}


def entry(say: Catalogue, e: Estimate, *more: str, **labels: Message | str) -> dict[str, Any]:
    """A row of a table of values: what an estimate is of, then its columns."""
    return {name: style.label(say, text) for name, text in labels.items()} | columns(e, *more)


def has_interval(e: Estimate) -> bool:
    """Whether both limits are known and finite."""
    return isfinite(e.low) and isfinite(e.high)
