"""What a site hands over of its scores, and the estimates that are made of it where no score is known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from trustreport.measures.calibration import notes
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.roc.auc import AUC_NEWCOMBE, newcombe_limits

NOT_OVER_ALL = note("fitted_at_each_site")
NO_BINS = note("area_over_all_not_shared")
NOT_AT_THIS_LEVEL = note("limits_not_shared_at_this_level")
CLUSTERS_NOT_SHARED = note("clusters_not_shared")
NOT_SHARED = note("not_shared_by_site")
# Levels of which limits are handed over where no formula gives them back.
LEVELS = (0.8, 0.9, 0.95, 0.975, 0.98, 0.99)
ALIKE = 1e-9  # of limits that a formula gives back, relative

Floats = NDArray[np.float64]
Bins = Sequence[tuple[float, float, int]]
"""Bins of the scores of one class: from, up to but without, cases."""


@dataclass(frozen=True, slots=True)
class SharedEstimate:
    """An estimate from which limits at any level are made again.

    ``value`` and ``se`` with the ``form`` of the interval: symmetric on the scale of that name ("identity",
    "logit", "log"), `se` being that of the value or, with "own " before the name, of the scaled value; or
    "newcombe". With none, only ``limits`` at some levels are known.
    """

    value: float
    n: int
    method: str
    form: str = ""
    se: float = nan
    df: float = nan
    p: float = nan
    note: Note = NO_NOTE
    details: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[float, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def from_estimates(cls, made: Callable[[float], Estimate]) -> "SharedEstimate":
        """What is handed over of an estimate that `made` gives at each level."""
        e = made(0.95)
        shared = cls(e.value, e.n, e.method, "", e.se, e.df, e.p, e.note, dict(e.details))
        if isnan(e.value) or isnan(e.low):
            return shared
        others = [made(level) for level in (0.8, 0.99)]
        for form in FORMS:
            if all(_is_given_back(replace(shared, form=form), one) for one in (e, *others)):
                return replace(shared, form=form)
        return replace(
            shared, limits={level: (one.low, one.high) for level in LEVELS for one in [made(level)]}
        )

    def estimate(self, level: float) -> Estimate:
        """The estimate at a level; without limits, and a note, where they were not handed over."""
        e = Estimate(
            self.value, nan, nan, self.n, level, self.method, self.note,
            se=self.se, df=self.df, p=self.p, details=dict(self.details),
        )  # fmt: skip
        if isnan(self.value):
            return e
        if self.form:
            low, high = FORMS[self.form](self, level)
            return replace(e, low=low, high=high)
        known = next((ends for at, ends in self.limits.items() if abs(at - level) < ALIKE), None)
        if known is not None:
            return replace(e, low=known[0], high=known[1])
        return replace(e, note=self.note + NOT_AT_THIS_LEVEL) if self.limits else e


def _is_given_back(shared: SharedEstimate, e: Estimate) -> bool:
    again = shared.estimate(e.level)
    return bool(np.allclose((again.low, again.high), (e.low, e.high), rtol=ALIKE, atol=ALIKE))


def _identity(e: SharedEstimate, level: float) -> tuple[float, float]:
    half = _quantile(e, level) * e.se
    return e.value - half, e.value + half


def _logit(e: SharedEstimate, level: float, *, own: bool = False) -> tuple[float, float]:
    if not 0 < e.value < 1:
        return nan, nan
    half = _quantile(e, level) * (e.se if own else e.se / (e.value * (1 - e.value)))
    centre = float(logit(e.value))
    return float(expit(centre - half)), float(expit(centre + half))


def _log(e: SharedEstimate, level: float, *, own: bool = False) -> tuple[float, float]:
    if not e.value > 0:
        return nan, nan
    factor = float(np.exp(_quantile(e, level) * (e.se if own else e.se / e.value)))
    return e.value / factor, e.value * factor


def _newcombe(e: SharedEstimate, level: float) -> tuple[float, float]:
    if e.method != AUC_NEWCOMBE:
        return nan, nan
    low, high, _ = newcombe_limits(e.value, e.details["positives"], e.details["negatives"], np.inf, level)
    return low, high


def _quantile(e: SharedEstimate, level: float) -> float:
    return quantile(e.df if isfinite(e.df) else np.inf, level)


FORMS: Mapping[str, Callable[[SharedEstimate, float], tuple[float, float]]] = {
    "identity": _identity,
    "logit": _logit,
    "own logit": lambda e, level: _logit(e, level, own=True),
    "log": _log,
    "own log": lambda e, level: _log(e, level, own=True),
    "newcombe": _newcombe,
}


@dataclass(frozen=True, slots=True)
class ScoreSums:
    """Sums over the cases with a score that is a probability s, y being 1 in cases with the condition.

    `squares` is the sum of (s - y)^2, `fourth` of its square, `expected` of s, `expected_squares` of s^2,
    `hits` of y s. Sums of several sites add up to those of all their cases.
    """

    n: int
    events: int
    expected: float
    expected_squares: float
    hits: float
    squares: float
    fourth: float

    @classmethod
    def of_cases(cls, truth: NDArray[np.bool_], risk: Floats) -> "ScoreSums":
        """The sums of cases, truth and risk (n,) each."""
        loss = (risk - truth) ** 2
        return cls(
            len(risk), int(truth.sum()), float(risk.sum()), float(risk @ risk), float(risk[truth].sum()),
            float(loss.sum()), float(loss @ loss),
        )  # fmt: skip

    def __add__(self, other: "ScoreSums") -> "ScoreSums":
        names = self.__dataclass_fields__
        return ScoreSums(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def brier(self, level: float) -> Estimate:
        """The Brier score with the interval ``logit_t`` of `calibration.overall.brier`."""
        n, method = self.n, "logit_t"
        if n == 0:
            return undefined(0, notes.NO_CASE, level=level, method=method)
        value = self.squares / n
        variance = max(0.0, self.fourth / n - value**2)
        details = {"variance_per_case": variance}
        if n == 1 or variance <= 1e-15 * self.fourth / n:
            why = notes.ONE_CASE if n == 1 else notes.ALIKE
            return Estimate(value, nan, nan, n, level, method, why, details=details)
        se, df = sqrt(variance / (n - 1)), float(n - 1)
        shared = SharedEstimate(value, n, method, "logit", se, df, details=details)
        return shared.estimate(level)

    def oe_ratio(self, level: float) -> Estimate:
        """Events over expected events with the interval ``oe_delta`` of `calibration.overall.oe_ratio`."""
        n, events, method = self.n, self.events, "oe_delta"
        if n == 0:
            return undefined(0, notes.NO_CASE, level=level, method=method)
        if not self.expected > 0:
            return undefined(n, notes.NOTHING_EXPECTED, level=level, method=method)
        details = {"observed": float(events), "expected": self.expected}
        value = events / self.expected
        if events in (0, n):
            why = notes.ALL_EVENTS if events else notes.NO_EVENT
            return Estimate(value, nan, nan, n, level, method, why, details=details)
        influence = (
            1 / events - 2 * self.hits / (events * self.expected) + self.expected_squares / self.expected**2
        )
        se = sqrt(max(influence, 0.0) * n / (n - 1))
        shared = SharedEstimate(value, n, method, "own log", se, float(n - 1), details=details)
        e = shared.estimate(level)
        return replace(e, p=two_sided_p(float(np.log(value)) / se, n - 1) if se else nan)


def area_bounds(positives: Bins, negatives: Bins) -> tuple[float, float]:
    """The least and the greatest area under the ROC curve that bins of both classes allow."""
    n1, n0 = (sum(n for *_, n in bins) for bins in (positives, negatives))
    if not n1 or not n0:
        return nan, nan
    surely = sum(n * m for low, _, n in positives for _, end, m in negatives if low >= end)
    never = sum(n * m for _, high, n in positives for start, _, m in negatives if high <= start)
    return surely / (n1 * n0), 1 - never / (n1 * n0)


@dataclass(frozen=True, slots=True)
class SiteScores:
    """What a site hands over of the scores of a candidate on a data set.

    `estimates` are the estimates of each measure, the primary one first; `acted` the four cells (tp, fp, fn,
    tn) at each probability at which one acts; `positives` and `negatives` the bins of the scores by class,
    higher speaking for the condition. What is None or absent was not handed over.
    """

    estimates: Mapping[str, tuple[SharedEstimate, ...]] = field(default_factory=dict)
    sums: ScoreSums | None = None
    acted: Mapping[float, tuple[int, int, int, int]] = field(default_factory=dict)
    positives: Bins = ()
    negatives: Bins = ()


@dataclass(frozen=True, slots=True)
class SharedScores:
    """The scores of a candidate on a data set at several sites, or at one of them (`whole` is then false).

    Where cases come in `clusters` there are estimates of the measures of the four cells too.
    `withheld_groups` are those of which a site withheld cases; `fewest` is the largest limit of the sites.
    """

    sites: Mapping[str, SiteScores]
    whole: bool = True
    clusters: bool = False
    withheld_groups: frozenset[str] = frozenset()
    fewest: int = 0

    def site(self, name: str) -> "SharedScores | None":
        """Those of one site; None where it handed none over."""
        return replace(self, sites={name: self.sites[name]}, whole=False) if name in self.sites else None

    def cells(self, threshold: float) -> tuple[int, int, int, int] | None:
        """The four cells over the sites at a probability; None where one did not hand them over."""
        found = [one.acted.get(threshold) for one in self.sites.values()]
        if not found or any(one is None for one in found):
            return None
        tp, fp, fn, tn = (sum(column) for column in zip(*(one for one in found if one is not None)))
        return tp, fp, fn, tn

    def estimate(self, name: str, n: int, level: float) -> tuple[Estimate, ...]:
        """The estimates of a measure that does not need a threshold, of `n` cases.

        Of one site they are its own. Over sites the Brier score and O/E are those of all cases; of the area
        the note says between which bounds it lies; what is fitted has no value.
        """
        if not self.whole:
            own = next(iter(self.sites.values())).estimates.get(name, ())
            return tuple(one.estimate(level) for one in own) or (undefined(n, NOT_SHARED, level=level),)
        if name in ("brier", "oe_ratio"):
            sums = [one.sums for one in self.sites.values()]
            if sums and all(one is not None for one in sums):
                total = _added(one for one in sums if one is not None)
                return (total.brier(level) if name == "brier" else total.oe_ratio(level),)
            return (undefined(n, NOT_SHARED, level=level),)
        return (undefined(n, self._area() if name == "auc" else NOT_OVER_ALL, level=level),)

    def _area(self) -> Note:
        """Between which bounds the area over all sites lies, where every site gave its bins."""
        every = tuple(self.sites.values())
        if not all(one.positives and one.negatives for one in every):
            return NO_BINS
        bins: Any = ([b for one in every for b in getattr(one, k)] for k in ("positives", "negatives"))
        low, high = area_bounds(*bins)
        return note("area_over_all_between", low=low, high=high)


def _added(sums: Iterable[ScoreSums]) -> ScoreSums:
    first, *others = sums
    for one in others:
        first += one
    return first
