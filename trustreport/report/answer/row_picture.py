"""The picture of a row of page 1: estimate, interval and bound, on the axis that rows of one unit share."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, isnan, log10
from re import sub

from markupsafe import Markup

from trustreport.figures import numbers
from trustreport.report.answer.sentences import MEASURING
from trustreport.study.criteria import Bound
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result

WIDTH, NARROW, HEIGHT, MARGIN, STRIP = 104.0, 90.0, 12.0, 6.0, 9.0  # points; the strip is of the axis
MARK = 2.8
SCALE = 2  # numbers that a scale has at least
ARROWS = {"up": "→", "down": "←"}  # towards what is better
POINTS = 72 / 25.4  # in a millimetre
LETTER, AIR = 3.7, 3.0  # points that a letter of the strip takes at most, and between two texts
# As in report.css.
COLOURS = {"pass": "#0e7c7b", "fail": "#b4472b", "inconclusive": "#8a6100", "none": "#5b6875"}
SHADE, TICK, QUIET = "#d3e6e7", "#1b2733", "#5b6875"

Row = tuple[Result | None, Bound | None]


@dataclass(frozen=True, slots=True)
class RowAxis:
    """The axis of a unit: its ends, ticks with their numbers, no effect, and towards which side is better."""

    low: float
    high: float
    logarithmic: bool
    ticks: numbers.Ticks
    no_effect: float | None = None
    better: str = ""
    towards: str = ""
    width: float = WIDTH

    def x(self, value: float) -> float:
        """Where a value is drawn; beyond an end, at the end."""
        if self.logarithmic:
            share = log10(value / self.low) / log10(self.high / self.low) if value > 0 else 0.0
        else:
            share = (value - self.low) / (self.high - self.low)
        return MARGIN + min(max(share, 0.0), 1.0) * (self.width - 2 * MARGIN)


def unit_of(found: Result | None) -> str:
    """What rows on one axis have in common: how numbers are written, and which side of shares is better.

    Measured values are by what was measured; other numbers that are neither shares of cases, areas under a
    curve nor comparisons are each on their own.
    """
    if found is None:
        return ""
    if found.written in (*numbers.SCALES, "area"):
        return f"{found.written} {found.quantity.better if found.written == 'proportion' else ''}"
    of = found.endpoint if found.dimension in MEASURING else found.quantity.id
    return f"{found.written} {of} {found.details.get('unit', '')}"


def axes(rows: Iterable[Row], say: Catalogue, width: float = WIDTH) -> dict[str, RowAxis]:
    """The axis of each unit, with room for all estimates, limits and bounds of its rows."""
    drawn: dict[str, list[float]] = {}
    first: dict[str, Result] = {}
    for found, bound in rows:
        if found is not None:
            e, unit = found.estimate, unit_of(found)
            first.setdefault(unit, found)
            ends = (e.value, e.low, e.high, *(bound.ends if bound else ()))
            drawn.setdefault(unit, []).extend(x for x in ends if isfinite(x))
    return {unit: _axis(first[unit], values, say, width) for unit, values in drawn.items() if values}


def _axis(of: Result, values: Sequence[float], say: Catalogue, width: float) -> RowAxis:
    row, length = of.quantity, (width - 2 * MARGIN) / POINTS
    scale = numbers.SCALES.get(of.written, "number")
    text = numbers.tick(say, scale)
    alike = row.no_effect if scale in ("points", "difference", "ratio") else None
    values = [*values, *([alike] if alike is not None else [])]
    better = row.better if alike is not None and isinstance(row.better, str) else ""
    side = better, numbers.towards_better(say, better) if better else ""
    if scale == "ratio" and min(values) > 0:
        air = (max(values) / min(values)) ** 0.05 or 1.05
        low, high = min(values) / max(air, 1.02), max(values) * max(air, 1.02)
        ticks = numbers.ratio_ticks(low, high, length, text)
        return RowAxis(low, high, True, ticks, alike, *side, width)
    (low, high), ticks = numbers.fitted_ticks(values, length, text, row.low, row.high)
    return RowAxis(low, high, False, ticks, alike, *side, width)


def has_strip(units: Sequence[str]) -> list[bool]:
    """Whether a row has room for the numbers of its axis: the last of several rows of one unit."""
    return [bool(unit) and unit != after for unit, after in pairwise([*units, ""])]


def picture(row: Row, mark: str, axis: RowAxis | None, alt: str, *, strip: bool = True) -> Markup:
    """Interval and estimate as SVG, where the bound is met shaded, the bound a tick, no effect dotted.

    Colours are those of paper; on the screen the classes of the marks give them.

    Parameters
    ----------
    strip : whether the numbers of the axis have room; else they are below the picture, where only a phone,
        whose rows are cards, shows them
    """
    found, bound = row
    inner, height, width = Markup(""), HEIGHT, axis.width if axis else WIDTH
    if axis is not None and found is not None:
        shapes = [*_shaded(bound, axis), *_no_effect(axis), *_marks(found, mark, axis)]
        below = Markup("").join(_strip(axis))
        height += STRIP if strip else 0
        hidden = Markup('<g class="below">{}</g>').format(below)
        inner = Markup("").join([*shapes, below if strip else hidden])
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" class="forest-row" width="{w}pt" height="{h}pt" '
        'viewBox="0 0 {w} {h}" aria-label="{alt}">{inner}</svg>'
    ).format(w=f"{width:g}", h=f"{height:g}", alt=alt, inner=inner)


def on_paper(picture: str) -> str:
    """A picture without what only a phone shows."""
    return sub('<g class="below">.*?</g>', "", picture)


def _shaded(bound: Bound | None, axis: RowAxis) -> Iterable[Markup]:
    if bound is None:
        return
    left = axis.x(bound.low) if bound.low is not None else MARGIN
    right = axis.x(bound.high) if bound.high is not None else axis.width - MARGIN
    yield Markup('<rect class="met" x="{x}" y="1" width="{w}" height="{h}" fill="{fill}"/>').format(
        x=f"{left:.1f}", w=f"{max(right - left, 0):.1f}", h=f"{HEIGHT - 2:g}", fill=SHADE
    )
    for end in (bound.low, bound.high):
        if end is not None:
            yield _line("bound", f"M{axis.x(end):.1f} 0V{HEIGHT:g}", TICK, 1.2)


def _no_effect(axis: RowAxis) -> Iterable[Markup]:
    if axis.no_effect is not None:
        yield _line("alike", f"M{axis.x(axis.no_effect):.1f} 0V{HEIGHT:g}", QUIET, 0.7, dashes="1.5 1.2")


def _line(name: str, path: str, colour: str, width: float, dashes: str = "none") -> Markup:
    return Markup(
        '<path class="{name}" d="{d}" stroke="{colour}" stroke-width="{w}" stroke-dasharray="{dashes}" '
        'fill="none"/>'
    ).format(name=name, d=path, colour=colour, w=f"{width:g}", dashes=dashes)


def _marks(found: Result, mark: str, axis: RowAxis) -> Iterable[Markup]:
    e, middle, colour = found.estimate, HEIGHT / 2, COLOURS[mark]
    if not (isnan(e.low) or isnan(e.high)):
        yield _line(mark, f"M{axis.x(e.low):.1f} {middle:g}H{axis.x(e.high):.1f}", colour, 1.4)
    if isnan(e.value):
        return
    x, side, tall = axis.x(e.value), 2 * MARK, MARK + 0.8
    shapes = {
        "pass": f"M{x - MARK:.1f} {middle:g}a{MARK} {MARK} 0 1 0 {side} 0a{MARK} {MARK} 0 1 0 {-side} 0Z",
        "fail": f"M{x - MARK:.1f} {middle - MARK:g}h{side}v{side}h{-side}Z",
    }
    diamond = f"M{x:.1f} {middle - tall:g}l{tall} {tall}l{-tall} {tall}l{-tall} {-tall}Z"
    yield Markup('<path class="{mark}" d="{d}" fill="{colour}"/>').format(
        mark=mark, d=shapes.get(mark, diamond), colour=colour
    )


def _strip(axis: RowAxis) -> Iterator[Markup]:
    """The line of the axis, ticks, their numbers, and an arrow towards what is better.

    Where the word beside the arrow would leave fewer than two numbers, the arrow stands alone.
    """
    top = HEIGHT + 0.5
    yield _line("axis", f"M{MARGIN:g} {top:g}H{axis.width - MARGIN:g}", QUIET, 0.5)
    for value in axis.ticks[0]:
        yield _line("axis", f"M{axis.x(value):.1f} {top:g}v1.6", QUIET, 0.5)
    towards, labels = axis.towards, _labels(axis, axis.towards)
    if len(labels) < SCALE:
        towards = ARROWS.get(axis.better, "")
        labels = _labels(axis, towards)
    for x, label in labels:
        yield _text(x, "middle", label)
    if axis.better:
        up = axis.better == "up"
        yield _text(axis.width - 1 if up else 1, "end" if up else "start", towards)


def _labels(axis: RowAxis, towards: str) -> list[tuple[float, str]]:
    """The numbers of the ticks that the text at the better end leaves room for."""
    word, found = LETTER * len(towards) + AIR, []
    for value, label in zip(*axis.ticks):
        x, half = axis.x(value), LETTER * len(label) / 2
        room = {"down": x - half - word, "up": axis.width - word - x - half}
        if room.get(axis.better, 0.0) >= 0:
            found.append((x, label))
    return found


def _text(x: float, anchor: str, text: str) -> Markup:
    return Markup(
        '<text x="{x}" y="{y}" font-family="Inter, sans-serif" font-size="6.8" text-anchor="{anchor}" '
        'fill="{colour}">{text}</text>'
    ).format(x=f"{x:.1f}", y=f"{HEIGHT + STRIP - 0.5:g}", anchor=anchor, colour=QUIET, text=text)
