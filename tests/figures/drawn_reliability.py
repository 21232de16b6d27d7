"""Nomograms to draw: few and many sets, long names."""

from math import nan

import numpy as np
from drawn_studies import LONG, REASON, estimate

from trustreport.figures.nomogram import NomogramFigure, NomogramLine, NomogramPoint

MEASURED = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
TICKS = tuple((c, (1 + c**0.5) / 2) for c in (0, 0.04, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1))


def lines(measured: tuple[float, ...] = MEASURED) -> tuple[NomogramLine, ...]:
    return tuple(
        NomogramLine(x, tuple((a, x * a + (1 - x) * (1 - a)) for a in (0.5, 0.75, 1.0))) for x in measured
    )


def point(name: str, measured: float, concordance: float) -> NomogramPoint:
    a = (1 + concordance**0.5) / 2
    actual = measured * a + (1 - measured) * (1 - a)
    low, high = abs(measured + a - 1), 1 - abs(measured - a)
    return NomogramPoint(name, concordance, a, measured, actual, low, high)


def points(n: int, name: str = "Set {}") -> tuple[NomogramPoint, ...]:
    draw = np.random.default_rng(12)
    return tuple(
        point(name.format(i), float(round(draw.uniform(0.5, 1), 2)), float(draw.uniform())) for i in range(n)
    )


RHO, LABEL = estimate(0.585, 0.568, 0.6), estimate(0.882, 0.877, 0.887)
NAN = estimate(nan, nan, nan, note=REASON)

RELIABILITY = {
    **{f"nomogram-{n}": NomogramFigure(lines(), TICKS, points(n)) for n in (1, 2, 5, 8, 9, 42)},
    "nomogram-long": NomogramFigure(lines(), TICKS, points(8, LONG + " {}")),
    "nomogram-one-place": NomogramFigure(lines(), TICKS, points(1) * 6),
    "nomogram-low": NomogramFigure(lines((0.1, 0.3, 0.5, 1.0)), TICKS, (point("low", 0.1, 0.9),)),
    "nomogram-close": NomogramFigure(lines((0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0)), TICKS),
    "nomogram-raters": NomogramFigure(lines(), TICKS, concordance=RHO, label=LABEL),
    "nomogram-both": NomogramFigure(lines(), TICKS, points(8, LONG), concordance=RHO, label=LABEL),
    "nomogram-undefined": NomogramFigure(lines(), TICKS, concordance=NAN, label=NAN),
}
