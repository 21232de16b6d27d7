"""Nomograms and joyplots to draw: few and many sets and raters, long names, scales with steps and without."""

from math import nan

import numpy as np
from drawn_studies import LONG, REASON, estimate

from trustreport.figures.reliability import Joyplot, NomogramFigure, NomogramLine, NomogramPoint, Ridge

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


def ridges(n: int, at: tuple[float, ...], name: str = "Rater {}") -> tuple[Ridge, ...]:
    draw = np.random.default_rng(13)
    rows = []
    for i in range(n):
        shares = draw.dirichlet(np.ones(len(at)))
        mean = float(shares @ np.array(at))
        rows.append(Ridge(name.format(i), tuple(float(s) for s in shares), mean, 300))
    return tuple(rows)


STEPS = (0.2, 0.4, 0.6, 0.8, 1.0)
BINS = tuple(float(x) for x in (np.arange(25) + 0.5) / 25)
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
    **{f"joyplot-{n}": Joyplot(ridges(n, STEPS), STEPS) for n in (1, 2, 8, 13, 40)},
    **{f"joyplot-bins-{n}": Joyplot(ridges(n, BINS), BINS, discrete=False) for n in (1, 8, 40)},
    "joyplot-long": Joyplot(ridges(8, STEPS, LONG + " {}"), STEPS),
    "joyplot-long-40": Joyplot(ridges(40, STEPS, LONG + " {}"), STEPS),
    "joyplot-one-step": Joyplot((Ridge("a", (1.0,), 0.5, 10),), (0.5,)),
    "joyplot-ends": Joyplot(ridges(3, (0.0, 1.0)), (0.0, 1.0)),
}
