"""How a drawn number is written, in the unit of its scale, and at which round numbers an axis has ticks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, isfinite, isnan, log10
from typing import Any, Literal

from trustreport.figures import style
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.digits import by_width, of_ratio, of_share, places_in
from trustreport.vocabulary.messages import Catalogue, Message

Scale = Literal["ratio", "points", "difference", "percent", "number"]

# How numbers of a unit are drawn; others are plain numbers.
SCALES: dict[str, Scale] = {
    "proportion": "percent",
    "difference": "points",
    "area_difference": "difference",
    "ratio": "ratio",
}

Ticks = tuple[tuple[float, ...], tuple[str, ...]]
MOST = 8
NARROWEST = 0.02  # an axis shows at least so much
ROOM = 3.0  # between two tick labels, millimetres
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def written_number(say: Catalogue, value: float, places: int, scale: Scale) -> str:
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
    value, low, high = (written_number(say, x, places, scale) for x in (e.value, e.low, e.high))
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


def towards_better(say: Catalogue, side: str) -> str:
    """The word for the better side of no effect, "up" or "down", with an arrow."""
    word = say("answer.forest.better")
    return f"{word} →" if side == "up" else f"← {word}"


def columns(e: Estimate, *more: str) -> dict[str, Any]:
    """The columns of an estimate in a table of values: value and limits, and what else is asked for."""
    return {name: getattr(e, name) for name in ("value", "low", "high", *more)}


def entry(say: Catalogue, e: Estimate, *more: str, **labels: Message | str) -> dict[str, Any]:
    """A row of a table of values: what an estimate is of, then its columns."""
    return {name: style.label(say, text) for name, text in labels.items()} | columns(e, *more)


def has_interval(e: Estimate) -> bool:
    """Whether both limits are known and finite."""
    return isfinite(e.low) and isfinite(e.high)


def fitted_ticks(
    values: Iterable[float], length: float, text: Callable[[float], str], least: float, most: float
) -> tuple[tuple[float, float], Ticks]:
    """The ends of an axis that fits these values, and its ticks: two at least, so that it has a scale.

    `least` and `most` are the ends of what is possible.
    """
    low, high = axis_ends(values, least, most)
    found = linear_ticks(low, high, length, text)
    for _ in range(12):
        if len(found[0]) > 1:
            break
        step = 0.1 * (high - low)
        low, high = (low - step, high) if low - step >= least else (low, high + step)
        found = linear_ticks(low, high, length, text)
    return (low, high), found


def axis_ends(values: Iterable[float], least: float, most: float) -> tuple[float, float]:
    """The ends of an axis that holds these values with some air, hardly more than is possible.

    NaN and infinite values are left out.

    >>> axis_ends([0.82, 0.95], 0, 1), axis_ends([0.7, 1.0], 0, 1), axis_ends([], 0, 1)
    ((0.8135, 0.9565), (0.685, 1.015), (0, 1))
    """
    shown = [min(max(x, least), most) for x in values if isfinite(x)]
    if not shown:
        return least, most
    low, high = min(shown), max(shown)
    room = max(0.05 * (high - low), (NARROWEST - (high - low)) / 2)
    beyond = 0.05 * (high - low)
    return round(max(low - room, least - beyond), 6), round(min(high + room, most + beyond), 6)


def linear_ticks(
    low: float, high: float, length: float, text: Callable[[float], str], *, upright: bool = False
) -> Ticks:
    """Multiples of 1, 2 or 5 times a power of ten, for an axis of this length in millimetres."""
    exponent = floor(log10((high - low) / MOST))
    for step in (m * 10.0**e for e in range(exponent, exponent + 4) for m in (1, 2, 5)):
        found = _multiples(step, low, high)
        labels = [text(x) for x in found]
        if len(found) <= MOST and _fits(found, labels, lambda x: (x - low) / (high - low) * length, upright):
            break
    return tuple(found), tuple(labels)


def ratio_ticks(low: float, high: float, width: float, text: Callable[[float], str]) -> Ticks:
    """Ticks of a logarithmic axis, always with 1: equal steps where it is short, else powers of ten."""

    def place(x: float) -> float:
        return log10(x / low) / log10(high / low) * width

    for ladder in _ladders(low, high):
        found = [x for x in ladder if low * (1 - 1e-9) <= x <= high * (1 + 1e-9)]
        labels = [text(x) for x in found]
        spread = place(found[-1]) - place(found[0]) if found else 0.0
        if len(found) <= MOST and spread > 0.55 * width and _fits(found, labels, place):
            return tuple(found), tuple(labels)
    ends = sorted({low, 1.0, high})
    return tuple(ends), tuple(text(x) for x in ends)


def _ladders(low: float, high: float) -> Iterator[list[float]]:
    """From fine to coarse."""
    if high / low < 2:
        for step in (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2):
            if (high - low) / step < 2 * MOST:
                yield _multiples(step, low, high)
    down, up = floor(log10(low)), ceil(log10(high))
    yield [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.6, 1.8, 2]
    yield [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2]
    yield [0.25, 0.5, 0.8, 1, 1.25, 2, 4]
    yield [0.25, 0.5, 1, 2, 4, 8]
    if up - down > 12 * MOST:
        return
    for mantissas in ((1, 2, 5), (1, 3), (1,)):
        yield sorted(m * 10.0**e for e in range(down, up + 1) for m in mantissas)
    for step in (2, 3, 6, 12):
        yield [10.0**e for e in range(down // step * step, up + 1, step)]


def _multiples(step: float, low: float, high: float) -> list[float]:
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def _fits(
    values: Sequence[float], labels: Sequence[str], place: Callable[[float], float], upright: bool = False
) -> bool:
    """Whether the labels leave room between them."""

    def half(label: str) -> float:
        return (style.height_of(label, style.TICK) if upright else style.width_of(label, style.TICK)) / 2

    ends = [(place(x), half(label)) for x, label in zip(values, labels)]
    return all(b - b_half - a - a_half >= ROOM for (a, a_half), (b, b_half) in pairwise(ends))
