"""What figures say about the cells of a table, as linear bounds, and what follows without a search."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, floor, sqrt
from typing import Literal

from trustreport.measures.reported.printed import CELL_RATIOS, CELLS, PrintedFigure, Weights

Plane = tuple[int, int, int, int]
Corner = tuple[Fraction, Fraction, Fraction, Fraction]

RAISE_MCC = ("ppv", "sensitivity", "specificity", "npv")


@dataclass(frozen=True, slots=True)
class CellSumBound:
    """A sum of cells that is at least so large: ``weights . (tp, fn, fp, tn) >= least``."""

    weights: Weights
    least: int

    def mirrored(self) -> "CellSumBound":
        """The same with the classes swapped: tp for tn, fn for fp."""
        tp, fn, fp, tn = self.weights
        return CellSumBound((tn, fp, fn, tp), self.least)


@dataclass(frozen=True, slots=True)
class CaseCounts:
    """How many cases there are: the total, and where they are known the positives among them.

    `adds_up` is False where positives, negatives and total were given and contradict each other. `only` is
    the class that was given where nothing is known of the other: `total` is then the size of that class.
    """

    total: int
    positives: int | None = None
    adds_up: bool = True
    only: Literal["", "positives", "negatives"] = ""


def cases(positives: int | None = None, negatives: int | None = None, total: int | None = None) -> CaseCounts:
    """The cases from any two of positives, negatives and total, from the total, or from one class alone.

    >>> cases(positives=143, negatives=67).total, cases(negatives=67, total=210).positives
    (210, 143)
    >>> cases(positives=338).only
    'positives'
    """
    for name, n in (("positives", positives), ("negatives", negatives), ("total", total)):
        if n is not None and n < 0:
            raise ValueError(f"{name} must be a count (0, 1, 2, ...), got {n}.")
    if total is None:
        if positives is None and negatives is None:
            raise ValueError("The number of cases is not known: give positives, negatives or total.")
        if negatives is None:
            return CaseCounts(positives or 0, positives, only="positives")
        if positives is None:
            return CaseCounts(negatives, 0, only="negatives")
        return CaseCounts(positives + negatives, positives)
    if positives is None and negatives is not None:
        positives, negatives = total - negatives, None
    fits = positives is None or 0 <= positives <= total
    if negatives is not None and positives is not None:
        fits = positives + negatives == total
    return CaseCounts(total, positives, fits)


def bounds_of(figures: Iterable[PrintedFigure], n: CaseCounts) -> list[CellSumBound]:
    """Every linear bound that the figures and the number of positives set; MCC only has to be defined."""
    found = [] if n.positives is None else _between((1, 1, 0, 0), n.positives, n.positives)
    for figure in figures:
        if figure.metric in CELLS:
            weights = _unit(CELLS.index(figure.metric))
            found += _between(weights, ceil(figure.low), floor(figure.high))
        elif figure.metric == "mcc":
            found += defined("mcc")
        else:
            numerator, denominator = CELL_RATIOS[figure.metric]
            found += defined(figure.metric)
            low, high = figure.low, figure.high
            found.append(_ratio(numerator, denominator, low.numerator, low.denominator, figure.open_low))
            found.append(_ratio(numerator, denominator, -high.numerator, -high.denominator, figure.open_high))
    return [bound for bound in found if not _idle(bound)]


def defined(metric: str) -> list[CellSumBound]:
    """What must not be zero for a metric to have a value."""
    if metric == "mcc":
        return [
            CellSumBound(margin, 1) for margin in ((1, 1, 0, 0), (0, 0, 1, 1), (1, 0, 1, 0), (0, 1, 0, 1))
        ]
    return [CellSumBound(CELL_RATIOS[metric][1], 1)]


def _between(weights: Weights, low: int, high: int) -> list[CellSumBound]:
    tp, fn, fp, tn = weights
    return [CellSumBound(weights, low), CellSumBound((-tp, -fn, -fp, -tn), -high)]


def _unit(i: int) -> Weights:
    return (int(i == 0), int(i == 1), int(i == 2), int(i == 3))


def _ratio(numerator: Weights, denominator: Weights, n: int, d: int, strict: bool) -> CellSumBound:
    """numerator / denominator >= n / d, <= where n and d come negated; in whole numbers > 0 is >= 1."""
    a, b, c, e = (d * x - n * y for x, y in zip(numerator, denominator))
    return CellSumBound((a, b, c, e), int(strict))


def _idle(bound: CellSumBound) -> bool:
    """Whether no table can break the bound."""
    return min(bound.weights) >= 0 and bound.least <= 0


# ---------------------------------------------------------------- without a search


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Ranges that hold every table that fits: of each cell, of the positives, of each metric (exact ends)."""

    cells: dict[str, tuple[int, int]]
    positives: tuple[int, int]
    metrics: dict[str, tuple[float, float]]


def enclose(figures: Sequence[PrintedFigure], n: CaseCounts) -> Enclosure | None:
    """Ranges from the corners of the body of real tables that fit; None if there is no such body.

    A ratio of sums of cells takes its extremes over a polytope in corners, and MCC rises with PPV,
    sensitivity, specificity and NPV::

        MCC = sqrt(PPV TPR TNR NPV) - sqrt((1 - PPV) (1 - TPR) (1 - TNR) (1 - NPV))

    so that the lowest and the highest of those four bound it. Corners are exact (Cramer's rule in integers).
    The ranges are outer bounds: whole tables may leave less, or nothing.

    Parameters
    ----------
    figures : sequence of Figure
    n : Cases

    Returns
    -------
    Enclosure or None
        None means that no table fits, which is then certain.
    """
    corners = _corners(figures, n)
    ranges = [(ceil(min(c)), floor(max(c))) for c in zip(*corners)]
    if not corners or any(low > high for low, high in ranges):
        return None
    positives = [tp + fn for tp, fn, _, _ in corners]
    metrics = {name: _ratio_range(name, corners) for name in CELL_RATIOS}
    low, high = (_mcc_of(*(metrics[m][end] for m in RAISE_MCC)) for end in (0, 1))
    for figure in figures:
        if figure.metric == "mcc":
            if high < figure.low - Fraction(1, 10**9) or low > figure.high + Fraction(1, 10**9):
                return None
            low, high = max(low, float(figure.low)), min(high, float(figure.high))
    found = {name: (float(a), float(b)) for name, (a, b) in metrics.items()} | {"mcc": (low, high)}
    return Enclosure(dict(zip(CELLS, ranges)), (ceil(min(positives)), floor(max(positives))), found)


def _ratio_range(name: str, corners: Sequence[Corner]) -> tuple[Fraction, Fraction]:
    numerator, denominator = CELL_RATIOS[name]
    parts = [(_sum(numerator, c), _sum(denominator, c)) for c in corners]
    if any(below == 0 for _, below in parts):
        return Fraction(0), Fraction(1)
    ratios = [above / below for above, below in parts]
    return min(ratios), max(ratios)


def _sum(weights: Weights, cells: Corner) -> Fraction:
    return sum((w * x for w, x in zip(weights, cells)), Fraction(0))


def _mcc_of(*rates: Fraction) -> float:
    right = wrong = Fraction(1)
    for rate in rates:
        right, wrong = right * rate, wrong * (1 - rate)
    return sqrt(right) - sqrt(wrong)


def _corners(figures: Sequence[PrintedFigure], n: CaseCounts) -> list[Corner]:
    """The corners (tp, fn, fp, tn) of the polytope of real tables; tn is the rest of the total."""
    bounds = bounds_of(figures, n) + [CellSumBound(_unit(i), 0) for i in range(4)]
    planes = list(dict.fromkeys(_plane(bound, n.total) for bound in bounds))
    found = set()
    for three in combinations(planes, 3):
        corner = _meet(*three)
        if corner and all(_beyond(plane, corner) for plane in planes):
            x, y, z, w = corner
            found.add((Fraction(x, w), Fraction(y, w), Fraction(z, w)))
    return [(tp, fn, fp, n.total - tp - fn - fp) for tp, fn, fp in sorted(found)]


def _plane(bound: CellSumBound, total: int) -> Plane:
    """A bound on (tp, fn, fp), with tn put in as the rest of the total."""
    tp, fn, fp, tn = bound.weights
    return tp - tn, fn - tn, fp - tn, bound.least - tn * total


def _meet(p: Plane, q: Plane, r: Plane) -> tuple[int, int, int, int] | None:
    """Where three planes meet, in homogeneous whole numbers with a positive last one."""
    (a, b, c, k), (d, e, f, m), (g, h, i, o) = p, q, r
    ei, di, dh = e * i - f * h, d * i - f * g, d * h - e * g
    w = a * ei - b * di + c * dh
    if w == 0:
        return None
    mi, mh, oe, od = m * i - f * o, m * h - e * o, o * e - m * h, d * o - m * g
    x = k * ei - b * mi + c * mh
    y = a * mi - k * di + c * od
    z = a * oe - b * od + k * dh
    return (x, y, z, w) if w > 0 else (-x, -y, -z, -w)


def _beyond(plane: Plane, corner: tuple[int, int, int, int]) -> bool:
    a, b, c, least = plane
    x, y, z, w = corner
    return a * x + b * y + c * z >= least * w
