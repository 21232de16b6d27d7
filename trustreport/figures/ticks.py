"""Where an axis gets its ticks: round numbers, as many as the width holds without crowding."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, isfinite, log10

from trustreport.figures import style

Ticks = tuple[tuple[float, ...], tuple[str, ...]]
MOST = 8
NARROWEST = 0.02  # an axis shows at least so much
ROOM = 3.0  # between two tick labels, millimetres


def fitted(
    values: Iterable[float], length: float, text: Callable[[float], str], least: float, most: float
) -> tuple[tuple[float, float], Ticks]:
    """The ends of an axis that fits these values, and its ticks: two at least, so that it has a scale.

    `least` and `most` are the ends of what is possible.
    """
    low, high = ends(values, least, most)
    found = linear(low, high, length, text)
    for _ in range(12):
        if len(found[0]) > 1:
            break
        step = 0.1 * (high - low)
        low, high = (low - step, high) if low - step >= least else (low, high + step)
        found = linear(low, high, length, text)
    return (low, high), found


def ends(values: Iterable[float], least: float, most: float) -> tuple[float, float]:
    """The ends of an axis that holds these values with some air, hardly more than is possible.

    NaN and infinite values are left out.

    >>> ends([0.82, 0.95], 0, 1), ends([0.7, 1.0], 0, 1), ends([], 0, 1)
    ((0.8135, 0.9565), (0.685, 1.015), (0, 1))
    """
    shown = [min(max(x, least), most) for x in values if isfinite(x)]
    if not shown:
        return least, most
    low, high = min(shown), max(shown)
    room = max(0.05 * (high - low), (NARROWEST - (high - low)) / 2)
    beyond = 0.05 * (high - low)
    return round(max(low - room, least - beyond), 6), round(min(high + room, most + beyond), 6)


def linear(
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


def ratio(low: float, high: float, width: float, text: Callable[[float], str]) -> Ticks:
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
