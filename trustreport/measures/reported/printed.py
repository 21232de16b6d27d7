"""A figure as it was printed, the exact numbers that it can stand for, and what they imply."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, floor, isfinite, isinf, sqrt
from typing import Literal

Rounding = Literal["rounded", "truncated"]
Weights = tuple[int, int, int, int]

CELLS = ("tp", "fn", "fp", "tn")

# Numerator and denominator of each ratio, as weights of (tp, fn, fp, tn).
CELL_RATIOS: dict[str, tuple[Weights, Weights]] = {
    "accuracy": ((1, 0, 0, 1), (1, 1, 1, 1)),
    "sensitivity": ((1, 0, 0, 0), (1, 1, 0, 0)),
    "specificity": ((0, 0, 0, 1), (0, 0, 1, 1)),
    "ppv": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "npv": ((0, 0, 0, 1), (0, 1, 0, 1)),
    "f1": ((2, 0, 0, 0), (2, 1, 1, 0)),
    "threat_score": ((1, 0, 0, 0), (1, 1, 1, 0)),
    "prevalence": ((1, 1, 0, 0), (1, 1, 1, 1)),
}
METRICS = (*(name for name in CELL_RATIOS if name != "prevalence"), "mcc")
KNOWN = (*METRICS, "prevalence", *CELLS)

# What can be said of a class of which the other is not known.
OF_ONE_CLASS = {"positives": ("tp", "fn", "sensitivity"), "negatives": ("fp", "tn", "specificity")}

# Other names in use; what they are compared with has no case, blanks, hyphens or underscores.
SYNONYMS = {
    "acc": "accuracy",
    "recall": "sensitivity", "rec": "sensitivity", "tpr": "sensitivity", "truepositiverate": "sensitivity",
    "sens": "sensitivity", "hitrate": "sensitivity",
    "tnr": "specificity", "truenegativerate": "specificity", "spec": "specificity",
    "selectivity": "specificity",
    "precision": "ppv", "prec": "ppv", "positivepredictivevalue": "ppv",
    "negativepredictivevalue": "npv",
    "f1score": "f1", "fscore": "f1", "fmeasure": "f1", "dice": "f1", "dicecoefficient": "f1",
    "jaccard": "threat_score", "jaccardindex": "threat_score", "ts": "threat_score", "csi": "threat_score",
    "iou": "threat_score", "criticalsuccessindex": "threat_score",
    "matthews": "mcc", "matthewscorrelationcoefficient": "mcc", "phi": "mcc",
    "baserate": "prevalence",
    "truepositives": "tp", "falsenegatives": "fn", "falsepositives": "fp", "truenegatives": "tn",
}  # fmt: skip

_NUMBER = re.compile(r"([+-]?)(\d*)(?:[.,](\d*))?\s*(%?)")
_COUNT = re.compile(r"\d+|\d{1,3}(?:[, \u00a0\u2009\u202f]\d{3})+")
_SIGNS = str.maketrans("\N{MINUS SIGN}\N{EN DASH}\N{NO-BREAK SPACE}", "-- ")


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """One printed figure: its metric, its text, and the interval of numbers that print as this text.

    `low` and `high` are exact; each end belongs to the interval unless it is open.
    """

    metric: str
    text: str
    low: Fraction
    high: Fraction
    open_low: bool = False
    open_high: bool = False


def metric_named(name: str) -> str | None:
    """The metric of `KNOWN` that goes by a name, None where none does."""
    squeezed = re.sub(r"[\s_-]", "", name).casefold()
    known = {metric.replace("_", ""): metric for metric in KNOWN}
    return known.get(squeezed) or SYNONYMS.get(squeezed)


def printed(metric: str, text: str, rounding: Rounding = "rounded") -> PrintedFigure:
    """What a printed figure says about the number behind it, digits as typed.

    With d decimals as typed, a rounded figure x means::

        [x - 10**-d / 2, x + 10**-d / 2]

    both ends included, since halves are rounded up by some and to even by others. A truncated one means
    ``[x, x + 10**-d)``, below zero for ``(x - 10**-d, x]``. Counts are exact.

    Parameters
    ----------
    metric : one of `KNOWN`
    text : such as ``"0.80"``, ``".8"``, ``"80%"``, ``"88.1 %"``, ``"-0,05"``; for a cell a count, ``"97"``
    rounding : how the source cut its figures

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        Where the metric is unknown, or the text is no number, or no number that this metric can take.
    """
    if metric not in KNOWN:
        raise ValueError(f"unknown metric {metric!r}, expected one of {', '.join(KNOWN)}.")
    said = text.translate(_SIGNS).strip()
    if metric in CELLS:
        return _count(metric, text, said)
    match = _NUMBER.fullmatch(said)
    if match is None or not (match[2] or match[3]):
        raise ValueError(f'{metric} is printed as "{text}", expected a number such as 0.80 or 80%.')
    sign, whole, decimals, percent = match[1], match[2], match[3] or "", match[4]
    unit = Fraction(1, 10 ** (len(decimals) + (2 if percent else 0)))
    value = int(whole + decimals) * unit * (-1 if sign == "-" else 1)
    least = -1 if metric == "mcc" else 0
    if not least <= value <= 1:
        hint = f' Is it per cent? Then write "{said}%".' if 1 < value <= 100 and not percent else ""
        raise ValueError(f'{metric} is printed as "{text}", expected a number from {least} to 1.{hint}')
    if rounding == "rounded":
        return PrintedFigure(metric, text, value - unit / 2, value + unit / 2)
    if value == 0:  # a small number of either sign prints as zero
        return PrintedFigure(metric, text, -unit, unit, True, True)
    if value < 0:
        return PrintedFigure(metric, text, value - unit, value, open_low=True)
    return PrintedFigure(metric, text, value, value + unit, open_high=True)


def _count(metric: str, text: str, said: str) -> PrintedFigure:
    if _COUNT.fullmatch(said) is None:
        raise ValueError(f'{metric} is printed as "{text}", expected a count (0, 1, 2, ...).')
    value = Fraction(int(re.sub(r"\D", "", said)))
    return PrintedFigure(metric, text, value, value)


_CLAIM_SIGNS = str.maketrans(
    "\N{MINUS SIGN}\N{EN DASH}\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}", "--   "
)
_CLAIM_NUMBER = re.compile(r"([+-]?)(\d{1,3}(?:[ ,']\d{3})+|\d*)(?:[.,](\d*))?\s*(%?)")
NOT_DEFINED = frozenset(
    {"", "-", "na", "n/a", "n.a.", "nan", "none", "not defined", "undefined", "not applicable"}
)
# Floating point only; a printed half is rounded up by some and to even by others.
SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Declared:
    """A number as typed: its value, its decimals, whether it is per cent."""

    value: float
    places: int
    percent: bool

    def as_share(self, *, share: bool) -> "Declared":
        """The same where it is a share: a number above 1 without a sign was meant as per cent."""
        return Declared(self.value, self.places, True) if share and abs(self.value) > 1 else self

    def is_of(self, computed: float) -> bool:
        """Whether the computed number prints like this, both ends of rounding included."""
        if not isfinite(computed):
            return isinf(computed) and computed == self.value
        shown = 100 * computed if self.percent else computed
        return abs(shown - self.value) <= 0.5 * 10.0**-self.places + SLACK * max(1.0, abs(shown))


def declared(text: str) -> Declared | None:
    """The number that a text shows; None where it shows none.

    A comma is a decimal mark unless exactly three digits follow each and the first group is not zero.
    """
    said = text.translate(_CLAIM_SIGNS).strip()
    if said in ("\N{INFINITY}", "inf", "infinity"):
        return Declared(float("inf"), 0, False)
    match = _CLAIM_NUMBER.fullmatch(said)
    if match is None or not (match[2] or match[3]):
        return None
    sign, whole, decimals, percent = match[1], match[2], match[3] or "", match[4]
    if re.match(r"0[ ,']", whole):  # "0,945" is a decimal comma
        whole, decimals = whole[0], whole[2:]
    value = float(f"{sign}{re.sub(r'[^0-9]', '', whole) or '0'}.{decimals or '0'}")
    return Declared(value, len(decimals), bool(percent))


def says_not_defined(text: str) -> bool:
    """Whether a text says that there is no such number: ``NA``, ``-``.

    >>> says_not_defined("NA"), says_not_defined("\N{EN DASH}"), says_not_defined("0")
    (True, True, False)
    """
    return text.translate(_CLAIM_SIGNS).strip().casefold() in NOT_DEFINED


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
    """The cases from any two of positives, negatives and total, from the total, or from one class alone."""
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
