"""All tables of counts that fit printed figures: how many, and the range of every cell and metric."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import copysign, sqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.reported.printed import (
    CELL_RATIOS,
    CELLS,
    METRICS,
    OF_ONE_CLASS,
    CaseCounts,
    CellSumBound,
    PrintedFigure,
    Weights,
    bounds_of,
    defined,
    enclose,
)

Number = TypeVar("Number", int, Fraction)

# int64, or Python's own integers in an object array where sums could grow beyond it.
Whole = NDArray[Any]

# Rows (numbers of positives and true positives) tried before bounds without a search must do.
ROWS = 4_000_000
CHUNK = 1 << 17
INT64_UP_TO = 2**62
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Range:
    """Lowest and highest value over the tables where the metric is defined.

    `unique` says that all of them agree exactly; `undefined` counts the tables that fit and where the metric
    is 0/0 (None: not counted).
    """

    low: float
    high: float
    unique: bool = False
    undefined: int | None = 0


@dataclass(frozen=True, slots=True)
class Matrices:
    """The tables of counts that fit.

    `count` is None where there were too many rows to try: the ranges are then outer bounds. `cells` and
    `positives` are empty, and `metrics` lacks a metric, where no table fits or none defines it.
    """

    cases: CaseCounts
    count: int | None
    cells: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    positives: tuple[int, int] | None = None
    metrics: Mapping[str, Range] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Tables as rows: for P positives, T - P negatives and tp true positives, tn runs from low to high."""

    T: int
    P: Whole
    tp: Whole
    low: Whole
    high: Whole

    def __len__(self) -> int:
        return len(self.P)

    def where(self, keep: NDArray[np.bool_]) -> "_Rows":
        return _Rows(self.T, self.P[keep], self.tp[keep], self.low[keep], self.high[keep])

    def within(self, bounds: Sequence[CellSumBound]) -> "_Rows":
        """The rows with tn cut to what linear bounds leave; empty rows are dropped."""
        low, high = self.low.copy(), self.high.copy()
        for bound in bounds:
            a, b, rest = _sides(bound, self.P, self.T)
            _cut(low, high, b, a * self.tp + rest)
        return _Rows(self.T, self.P, self.tp, low, high).where(np.asarray(low <= high, bool))

    def total(self, weights: Weights, tn: Whole) -> Whole:
        """The weighted sum of cells at one tn of each row."""
        a, b, rest = _sides(CellSumBound(weights, 0), self.P, self.T)
        found: Whole = a * self.tp + b * tn + rest
        return found

    def n_tables(self) -> int:
        """How many tables these rows stand for."""
        return int((self.high - self.low + 1).sum()) if len(self) else 0


def consistent_matrices(figures: Sequence[PrintedFigure], n: CaseCounts, *, rows: int = ROWS) -> Matrices:
    """How many tables of counts print as these figures, and what they leave open.

    With P positives, N negatives and tp given, every metric is a monotone function of tn, so each figure
    leaves one interval of tn and all of them their intersection::

        number of tables = sum over P, tp of max(0, high - low + 1)

    A ratio of sums of cells gives the ends by whole division. MCC rises with tn: with b = P - tp and
    q = tn + b, the sign of its derivative is that of q (P - b) + b (T - q) >= 0; its ends come from
    bisection, where MCC >= t is decided by signs and squares in whole numbers.

    Parameters
    ----------
    figures : sequence of Figure
        From `printed`; a metric may come twice.
    n : Cases
        From `cases`. With the total alone every number of positives is tried. Of one class alone only its own
        cells and their share are given (`OF_ONE_CLASS`), and no figure may be of another kind.
    rows : int
        How many pairs (P, tp) to try; beyond it the ranges are the outer bounds of `enclose`.

    Returns
    -------
    `count` 0 means that the figures contradict each other.

    Notes
    -----
    Assumes that all figures come from one table, each case counted once. Means over folds or classes do not.
    A metric that is 0/0 (MCC with a zero margin) fits no printed number.

    References
    ----------
    Brown and Heathers (2017), Soc. Psychol. Personal. Sci. 8, 363-369 (means of whole numbers).
    Fazekas and Kovacs (2023), arXiv:2310.12527 (the same idea for scores, positives and negatives known).
    Chicco and Jurman (2020), BMC Genomics 21, 6 (MCC).
    """
    if not n.adds_up:
        return Matrices(n, 0)
    search = _search(figures, n, rows)
    if search is None:
        return _enclosed(figures, n)
    extremes = _Extremes(mirrored=search.mirrored)
    for part in search:
        extremes.add(part)
    return _known(extremes.matrices(n))


def _known(found: Matrices) -> Matrices:
    """The same without what rests on the class of which nothing is known."""
    if not found.cases.only:
        return found
    own = OF_ONE_CLASS[found.cases.only]
    cells = {name: ends for name, ends in found.cells.items() if name in own}
    metrics = {name: ends for name, ends in found.metrics.items() if name in own}
    return replace(found, cells=cells, metrics=metrics)


def fits(figures: Sequence[PrintedFigure], n: CaseCounts, *, rows: int = ROWS) -> bool:
    """Whether any table prints as these figures; True also where that cannot be decided by a search."""
    if not n.adds_up:
        return False
    search = _search(figures, n, rows)
    if (search is None or search.size > CHUNK) and enclose(figures, n) is None:
        return False
    return search is None or any(len(part) for part in search)


def _enclosed(figures: Sequence[PrintedFigure], n: CaseCounts) -> Matrices:
    found = enclose(figures, n)
    if found is None:
        return Matrices(n, 0)
    metrics = {name: Range(*found.metrics[name], undefined=None) for name in METRICS}
    return _known(Matrices(n, None, found.cells, found.positives, metrics))


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The rows to try, in chunks, each cut to the tables that fit; mirrored where that is shorter."""

    T: int
    P: Whole
    box: tuple[Whole, Whole, Whole, Whole]
    bounds: Sequence[CellSumBound]
    mcc: Sequence[PrintedFigure]
    mirrored: bool

    @property
    def size(self) -> int:
        """How many rows there are to try."""
        return int((self.box[1] - self.box[0] + 1).sum())

    def __iter__(self) -> Iterator[_Rows]:
        tp_low, tp_high, tn_low, tn_high = self.box
        sizes = (tp_high - tp_low + 1).astype(np.int64)
        ends = np.cumsum(sizes)
        for start in range(0, self.size, CHUNK):
            row = np.arange(start, min(start + CHUNK, self.size))
            i = np.searchsorted(ends, row, side="right")
            tp = tp_low[i] + (row - (ends[i] - sizes[i]))
            rows = _Rows(self.T, self.P[i], tp, tn_low[i], tn_high[i]).within(self.bounds)
            for figure in self.mcc:
                rows = _within_mcc(rows, figure)
            yield rows


def _search(figures: Sequence[PrintedFigure], n: CaseCounts, rows: int) -> _Search | None:
    """The rows of the problem, or of its mirror image if those are fewer; None if there are too many."""
    bounds = bounds_of(figures, n)
    first, last = (0, n.total) if n.positives is None else (n.positives, n.positives)
    if last - first > CHUNK:
        found = enclose(figures, n)
        first, last = found.positives if found else (1, 0)
    if last - first > rows:
        return None
    reach = max((sum(map(abs, b.weights)) * n.total + abs(b.least) for b in bounds), default=0)
    dtype: Any = np.int64 if max(2 * reach, 4 * rows * n.total) < INT64_UP_TO else object
    P = np.arange(last - first + 1).astype(dtype) + first
    box = _box(bounds, P, n.total)
    keep = np.asarray((box[0] <= box[1]) & (box[2] <= box[3]), bool)
    P, box = P[keep], (box[0][keep], box[1][keep], box[2][keep], box[3][keep])
    n_tp, n_tn = int((box[1] - box[0] + 1).sum()), int((box[3] - box[2] + 1).sum())
    if min(n_tp, n_tn) > rows:
        return None
    mcc = [figure for figure in figures if figure.metric == "mcc"]
    if n_tp <= n_tn:
        return _Search(n.total, P, box, bounds, mcc, False)
    turned = (box[2], box[3], box[0], box[1])
    return _Search(n.total, n.total - P, turned, [b.mirrored() for b in bounds], mcc, True)


def _box(bounds: Sequence[CellSumBound], P: Whole, T: int) -> tuple[Whole, Whole, Whole, Whole]:
    """For each P the range of tp and tn that the bounds leave, each bound taken by itself."""
    tp_low, tp_high, tn_low, tn_high = P * 0, P.copy(), P * 0, T - P
    for _ in range(3):
        for bound in bounds:
            a, b, rest = _sides(bound, P, T)
            _cut(tp_low, tp_high, a, rest + (b * tn_high if b > 0 else b * tn_low))
            _cut(tn_low, tn_high, b, rest + (a * tp_high if a > 0 else a * tp_low))
    return tp_low, tp_high, tn_low, tn_high


def _sides(bound: CellSumBound, P: Whole, T: int) -> tuple[int, int, Whole]:
    """A bound as ``a tp + b tn + rest >= 0``, with fn = P - tp and fp = T - P - tn put in."""
    tp, fn, fp, tn = bound.weights
    return tp - fn, tn - fp, fn * P + fp * (T - P) - bound.least


def _cut(low: Whole, high: Whole, weight: int, rest: Whole) -> None:
    """Cut [low, high] in place to the x with ``weight x + rest >= 0``."""
    if weight > 0:
        np.maximum(low, -(rest // weight), out=low)
    elif weight < 0:
        np.minimum(high, rest // -weight, out=high)
    else:
        high[np.asarray(rest < 0, bool)] = -1


def _within_mcc(rows: _Rows, figure: PrintedFigure) -> _Rows:
    """The rows with tn cut to where MCC, which rises with tn, lies in the interval of a figure."""
    low = _least_tn(rows, figure.low, strict=figure.open_low)
    high = _least_tn(rows, figure.high, strict=not figure.open_high) - 1
    return _Rows(rows.T, rows.P, rows.tp, low, high).where(np.asarray(low <= high, bool))


def _least_tn(rows: _Rows, level: Fraction, *, strict: bool) -> Whole:
    """The least tn of each row whose MCC is at least (strictly: above) a level; high + 1 where none is."""
    low, high = rows.low.copy(), rows.high + 1
    while True:
        undecided = np.flatnonzero(np.asarray(low < high, bool))
        if not len(undecided):
            return low
        middle = (low[undecided] + high[undecided]) // 2
        reached = _mcc_reaches(rows.T, rows.P[undecided], rows.tp[undecided], middle, level, strict)
        high[undecided] = np.where(reached, middle, high[undecided])
        low[undecided] = np.where(reached, low[undecided], middle + 1)


def _mcc_reaches(T: int, P: Whole, tp: Whole, tn: Whole, level: Fraction, strict: bool) -> NDArray[np.bool_]:
    """Whether MCC >= level (strictly: >). Floats answer only beyond their own error, integers the rest."""
    value, error = _mcc(T, P, tp, tn)
    reached = np.asarray(value > float(level))
    for i in np.flatnonzero(np.abs(value - float(level)) <= error):
        reached[i] = _mcc_reaches_exactly(T, int(P[i]), int(tp[i]), int(tn[i]), level, strict)
    return reached


def _mcc_reaches_exactly(T: int, P: int, tp: int, tn: int, level: Fraction, strict: bool) -> bool:
    over, under = _signed_square(T, P, tp, tn)
    n, d = level.numerator, level.denominator
    margin = over * d * d - n * abs(n) * under
    return margin > 0 if strict else margin >= 0


def _signed_square(T: int, P: int, tp: int, tn: int) -> tuple[int, int]:
    """MCC |MCC| as numerator and denominator."""
    q = tn + P - tp
    over = P * q - T * (P - tp)  # = tp tn - fp fn
    return over * abs(over), P * (T - P) * q * (T - q)


def _mcc(T: int, P: Whole, tp: Whole, tn: Whole) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """MCC in floats, and a bound of its rounding error."""
    p, fn = P.astype(np.float64), (P - tp).astype(np.float64)
    q = tn.astype(np.float64) + fn
    root = np.sqrt(p * (T - p)) * np.sqrt(q * (T - q))
    value = (p * q - T * fn) / root
    return value, 16 * EPS * ((p * q + T * fn) / root + np.abs(value) + 1)


class _Extremes:
    """Collects count and ranges, chunk by chunk; of a mirrored search in the terms of the one asked for."""

    def __init__(self, *, mirrored: bool) -> None:
        self.mirrored = mirrored
        self.count = 0
        self.n_defined = dict.fromkeys(METRICS, 0)
        self.cells: dict[str, tuple[int, int]] = {}
        self.ends: dict[str, tuple[Fraction, Fraction]] = {}  # of MCC, those of MCC |MCC|

    def add(self, rows: _Rows) -> None:
        """Take in the tables of a chunk."""
        if not len(rows):
            return
        self.count += rows.n_tables()
        negatives = rows.T - rows.P
        ranges = {
            "tp": (rows.tp, rows.tp),
            "fn": (rows.P - rows.tp, rows.P - rows.tp),
            "fp": (negatives - rows.high, negatives - rows.low),
            "tn": (rows.low, rows.high),
            "positives": (rows.P, rows.P),
        }
        for name, (low, high) in ranges.items():
            self.cells[name] = _joined(self.cells.get(name), (int(low.min()), int(high.max())))
        for name in METRICS:
            needs = [b.mirrored() if self.mirrored else b for b in defined(name)]
            there = rows.within(needs)
            if len(there):
                self.n_defined[name] += there.n_tables()
                self.ends[name] = _joined(self.ends.get(name), self._ends(name, there))

    def _ends(self, name: str, rows: _Rows) -> tuple[Fraction, Fraction]:
        """Exact ends of a metric, each of which rises with tn and with tp."""
        if name == "mcc":
            return _least_mcc(rows, rows.low, 1), -_least_mcc(rows, rows.high, -1)
        above, below = CELL_RATIOS[name]
        if self.mirrored:
            above, below = above[::-1], below[::-1]
        at_low = _least(rows.total(above, rows.low), rows.total(below, rows.low))
        return at_low, -_least(-rows.total(above, rows.high), rows.total(below, rows.high))

    def matrices(self, n: CaseCounts) -> Matrices:
        """What was found."""
        if not self.count:
            return Matrices(n, 0)
        low, high = self.cells.pop("positives")
        cells = self.cells
        if self.mirrored:
            low, high = n.total - high, n.total - low
            cells = dict(zip(CELLS, (cells[name] for name in reversed(CELLS))))
        metrics = {
            name: Range(
                _value(name, self.ends[name][0]),
                _value(name, self.ends[name][1]),
                self.ends[name][0] == self.ends[name][1],
                self.count - self.n_defined[name],
            )
            for name in METRICS
            if name in self.ends
        }
        return Matrices(n, self.count, cells, (low, high), metrics)


def _joined(a: tuple[Number, Number] | None, b: tuple[Number, Number]) -> tuple[Number, Number]:
    return b if a is None else (min(a[0], b[0]), max(a[1], b[1]))


def _least(above: Whole, below: Whole) -> Fraction:
    """The least ratio of two arrays of whole numbers: floats choose candidates, fractions among them."""
    value = (above / below).astype(np.float64)
    near = value <= value.min() + 4 * EPS * abs(value.min())
    return min(Fraction(int(a), int(b)) for a, b in set(zip(above[near].tolist(), below[near].tolist())))


def _least_mcc(rows: _Rows, tn: Whole, sign: int) -> Fraction:
    """The least of sign x MCC |MCC|."""
    value, error = _mcc(rows.T, rows.P, rows.tp, tn)
    near = sign * value - error <= (sign * value + error).min()
    tables = set(zip(rows.P[near].tolist(), rows.tp[near].tolist(), tn[near].tolist()))
    return min(sign * Fraction(*_signed_square(rows.T, *table)) for table in tables)


def _value(name: str, end: Fraction) -> float:
    return copysign(sqrt(abs(end)), end) if name == "mcc" else float(end)
