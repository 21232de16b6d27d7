"""Sensitivity of marks over false marks a case, of one reader and of several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import clustered_variance
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.independent import score_limit
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.lesions import notes
from trustreport.measures.lesions.area import AREAS, Area, Floats, Marked, pairs_of
from trustreport.measures.mrmc.in_range import change_of_areas, difference_in_range, on_logit
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile
from trustreport.measures.mrmc.obuchowski_rockette import (
    MODES,
    Mode,
    ObuchowskiRockette,
    leading,
    obuchowski_rockette,
)
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.notes import OFTEN_ABOVE
from trustreport.measures.proportion import normal_quantile

CUSTOMARY = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # false marks a case, of the competition metric
RESAMPLES = 2_000
LEAST_RESAMPLES = 200
CELLS = 2_000_000  # of a block of resamples by marks
MOST_CELLS = 200_000_000  # of all blocks: with more marks there are fewer resamples
FEW_PATIENTS = 25  # with lesions
METHOD, RATE = "froc_bootstrap_score", "false_marks_log"


@dataclass(frozen=True, eq=False)
class FrocCurve:
    """Points of the curve from the highest rating down, beginning at (0, 0).

    Parameters
    ----------
    false_marks : float array, shape (n_points,)
        False marks a case rated at least as high as the threshold; cases with and without lesions count.
    sensitivity : float array, shape (n_points,)
        Share of the lesions rated at least as high; NaN without lesions.
    threshold : float array, shape (n_points,)
        The rating; infinite at the first point.
    """

    false_marks: Floats
    sensitivity: Floats
    threshold: Floats

    def sensitivity_at(self, rate: float) -> float:
        """The sensitivity at so many false marks a case: linear between points, flat beyond the last."""
        return float(_fractions_at(self.false_marks[None], self.sensitivity[None], np.array([rate]))[0, 0])


def froc_curve(marked: Marked) -> FrocCurve:
    """The empirical FROC curve of all marks."""
    steps = _Steps.of_marks(marked)
    found, false = steps.counts(np.ones((1, marked.n_patients)))
    lesions = marked.n_lesions or np.nan
    return FrocCurve(false[0] / marked.n_cases, found[0] / lesions, np.append(np.inf, steps.threshold))


@dataclass(frozen=True)
class FrocEstimates:
    """Sensitivity at each rate of false marks, in their order, and the mean of these."""

    at: tuple[Estimate, ...]
    mean: Estimate


def froc_sensitivity(
    marked: Marked,
    rates: Sequence[float] = CUSTOMARY,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> FrocEstimates:
    """Share of lesions found at fixed numbers of false marks a case, and the mean of these shares.

    The curve is linear between operating points and flat beyond the last. With V the variance of a value over
    bootstrap samples of patients, L lesions, G1 patients who have one::

        effective n = min(s (1 - s) / V, L)
        limits: the two p with |s - p| = t sqrt(p (1 - p) / effective n),  t with G1 - 1 df

    At 0 and 1, and where nothing varies, effective n is G1. At the rates .125 to 8 the mean is the
    competition performance metric.

    Estimand: the sensitivity in the population of patients at the threshold that gives so many false marks
    there; that the threshold is estimated is part of V.

    Parameters
    ----------
    rates : false marks a case, positive
    rng : draws the patients
    resamples : at most so many bootstrap samples; fewer where there are very many marks

    Returns
    -------
    In [0, 1]; `n` counts lesions; NaN with a note without lesions; a note where fewer false marks were
    made than the rate allows.

    References
    ----------
    Setio et al. (2017), Med. Image Anal. 42, 1-13 (rates, interpolation, bootstrap of cases). Niemeijer et
    al. (2011), IEEE Trans. Med. Imaging 30, 215-223 (mean). Samuelson, Petrick (2006), ISBI, 1312-1315
    (bootstrap of cases). Korn, Graubard (1998), Surv. Methodol. 24, 193-201 (effective sample size).

    Examples
    --------
    >>> lesions, ratings = np.array([0, 0, 1, 2]), np.array([3.0, -np.inf, 2.0, 1.0])
    >>> marked = Marked(6, lesions, ratings, np.array([3, 4]), np.array([1.5, 2.5]))
    >>> found = froc_sensitivity(marked, (0.25, 1), rng=np.random.default_rng(1))
    >>> print(found.at[0])
    0.50 (95% CI 0.03 to 0.97; n = 4)
    """
    check_level(level)
    if not rates or min(rates) <= 0:
        raise ValueError("rates of false marks must be positive numbers, at least one.")
    if not marked.n_lesions:
        none = undefined(0, notes.NO_LESION, level=level, method=METHOD)
        return FrocEstimates((none,) * len(rates), none)
    curve, wanted = froc_curve(marked), np.array(rates, dtype=np.float64)
    values = _fractions_at(curve.false_marks[None], curve.sensitivity[None], wanted)[0]
    drawn = _drawn(marked, wanted, rng, resamples)
    last = float(curve.false_marks[-1])
    at = tuple(
        _interval(float(value), own, marked, level, notes.NOT_REACHED if rate > last else NO_NOTE)
        for value, own, rate in zip(values, drawn.T, rates)
    )
    note = notes.NOT_REACHED if max(rates) > last else NO_NOTE
    mean = _interval(float(values.mean()), drawn.mean(axis=1), marked, level, note)
    return FrocEstimates(at, mean)


def found_share(marked: Marked, *, level: float = 0.95) -> Estimate:
    """Share of lesions that any mark hit, whatever its rating; lesions of a patient as a cluster.

    >>> marked = Marked(
    ...     3, np.array([0, 0, 1]), np.array([3.0, -np.inf, 2.0]), np.array([]), np.array([])
    ... )
    >>> print(found_share(marked))
    0.67 (95% CI 0.01 to 1.00; n = 3)
    """
    patient = marked.patients[marked.lesion_case]
    hit = marked.lesion_rating > -np.inf
    return clustered("sensitivity", cluster_cells(np.ones(len(hit), bool), hit, patient), level=level)


def false_marks_per_case(marked: Marked, *, level: float = 0.95) -> Estimate:
    """Mean number of marks a case that hit no lesion, on a logarithmic scale, patients as clusters.

    With m the mean and V its variance from the sums of patients::

        exp(log m +- t sqrt(V) / m),  t with one degree of freedom fewer than patients

    Without any, the limit above is that of a Poisson count over the patients.

    >>> marked = Marked(
    ...     4, np.array([0]), np.array([3.0]), np.array([1, 1, 2]), np.array([1.0, 2.0, 1.0])
    ... )
    >>> print(false_marks_per_case(marked))
    0.75 (95% CI 0.10 to 5.72; n = 4)
    """
    check_level(level)
    n = marked.n_cases
    count = np.bincount(marked.false_case, minlength=n).astype(np.float64)
    mean = float(count.mean()) if n else float("nan")
    if not n:
        return undefined(0, notes.NO_LESION, level=level, method=RATE)
    if mean == 0:
        high = -log((1 - level) / 2) / marked.n_patients
        return Estimate(0.0, 0.0, high, n, level, RATE, notes.NO_FALSE_MARK)
    variance, groups = clustered_variance((count - mean) / n, marked.patients)
    if groups < 2 or not variance > NEGLIGIBLE:
        return Estimate(mean, float("nan"), float("nan"), n, level, RATE, notes.ONE_CASE)
    se = sqrt(variance)
    half = quantile(groups - 1.0, level) * se / mean
    return Estimate(mean, mean * exp(-half), mean * exp(half), n, level, RATE, se=se, df=groups - 1.0)


@dataclass(frozen=True, eq=False)
class _Steps:
    """Marks from the highest rating down, and where each rating ends."""

    patient: NDArray[np.int64]
    hit: NDArray[np.bool_]
    last: NDArray[np.int64]
    threshold: Floats

    @classmethod
    def of_marks(cls, marked: Marked) -> "_Steps":
        is_marked = marked.lesion_rating > -np.inf
        rating = np.concatenate([marked.lesion_rating[is_marked], marked.false_rating])
        case = np.concatenate([marked.lesion_case[is_marked], marked.false_case]).astype(np.int64)
        order = np.argsort(-rating, kind="stable")
        ordered = rating[order]
        last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(ordered) else order
        return cls(marked.patients[case[order]], order < is_marked.sum(), last, ordered[last])

    def counts(self, times: Floats) -> tuple[Floats, Floats]:
        """Lesions found and false marks down to each rating, with each patient so often; from 0 each."""
        of_mark = times[:, self.patient]
        found, false = (
            np.cumsum(of_mark * side, axis=1)[:, self.last] if len(self.last) else of_mark
            for side in (self.hit, ~self.hit)
        )
        none = np.zeros((len(times), 1))
        return np.concatenate([none, found], axis=1), np.concatenate([none, false], axis=1)


def _fractions_at(false: Floats, found: Floats, rates: Floats) -> Floats:
    """The height of each curve at each rate, (n_curves, n_rates); of a vertical step its upper end."""
    heights, every, end = np.empty((len(false), len(rates))), np.arange(len(false)), false.shape[1] - 1
    for i, rate in enumerate(rates):
        j = (false <= rate).sum(axis=1) - 1
        k = np.minimum(j + 1, end)
        x, y = false[every, j], found[every, j]
        wide = false[every, k] - x
        share = np.divide(rate - x, wide, out=np.zeros(len(every)), where=wide > 0)
        heights[:, i] = y + share * (found[every, k] - y)
    return heights


def _drawn(marked: Marked, rates: Floats, rng: np.random.Generator, resamples: int) -> Floats:
    """The sensitivities at these rates of resampled patients, (n_resamples, n_rates).

    A sample without any lesion is left out: it has no sensitivity.
    """
    steps, n = _Steps.of_marks(marked), marked.n_patients
    cases = np.bincount(marked.patients, minlength=n).astype(np.float64)
    lesions = np.bincount(marked.patients[marked.lesion_case], minlength=n).astype(np.float64)
    wide = max(len(steps.patient), n, 1)
    resamples = min(resamples, max(LEAST_RESAMPLES, MOST_CELLS // wide))
    block, made = max(1, CELLS // wide), []
    for start in range(0, resamples, block):
        times = rng.multinomial(n, np.full(n, 1 / n), min(block, resamples - start)).astype(np.float64)
        some = times @ lesions
        times, some = times[some > 0], some[some > 0]
        found, false = steps.counts(times)
        made.append(_fractions_at(false / (times @ cases)[:, None], found / some[:, None], rates))
    return np.concatenate(made)


def _interval(value: float, drawn: Floats, marked: Marked, level: float, note: Note) -> Estimate:
    """Score limits by the effective number of lesions that the variance of the resamples gives."""
    g1, _ = marked.patients_by_class
    n = marked.n_lesions
    variance = float(drawn.var(ddof=1)) if len(drawn) > 1 else 0.0
    if g1 < 2:
        both = note + notes.ONE_CASE
        return Estimate(value, float("nan"), float("nan"), n, level, METHOD, both)
    varies = variance > NEGLIGIBLE and 0 < value < 1
    effective = min(value * (1 - value) / variance, float(n)) if varies else float(g1)
    t = quantile(g1 - 1.0, level) if varies else normal_quantile(level)
    if not varies:
        note = note + notes.ALL_ALIKE
    elif g1 < FEW_PATIENTS:
        note = note + OFTEN_ABOVE
    low, high = score_limit(value * effective, effective, np.array([-t, t]))
    details = {"effective_n": effective, "resamples": float(len(drawn)), "clusters": float(g1)}
    se = sqrt(variance) if varies else float("nan")
    df = g1 - 1.0 if varies else float("nan")
    return Estimate(value, float(low), float(high), n, level, METHOD, note, se=se, df=df, details=details)


ReaderMeasure = Area | Literal["lesion_sensitivity", "false_marks_per_case"]
COVARIANCE = "jackknife"
COMPARED, BASELINE = 0, 1


def value_and_without(marked: Marked, of: ReaderMeasure) -> tuple[float, Floats]:
    """A measure, and the measure without each patient in turn, (n_patients,); NaN where undefined.

    Examples
    --------
    >>> marked = Marked(3, np.array([0, 0]), np.array([2.0, -np.inf]), np.array([1]), np.array([1.5]))
    >>> value_and_without(marked, "false_marks_per_case")
    (0.3333333333333333, array([0.5, 0. , 0.5]))
    """
    if of == "lesion_sensitivity":
        hit, patient = marked.lesion_rating > -np.inf, marked.patients[marked.lesion_case]
        return _share(hit.astype(np.float64), patient, np.ones(len(hit)), patient, marked.n_patients)
    if of == "false_marks_per_case":
        made, cases = marked.patients[marked.false_case], marked.patients
        return _share(np.ones(len(made)), made, np.ones(len(cases)), cases, marked.n_patients)
    pairs = pairs_of(marked, of)
    return pairs.area, pairs.without_each()


def _share(
    events: Floats, event_of: NDArray[np.int64], units: Floats, unit_of: NDArray[np.int64], n: int
) -> tuple[float, Floats]:
    """Events by units, and the same without each patient."""
    k, m = np.bincount(event_of, events, n), np.bincount(unit_of, units, n)
    left = m.sum() - m
    without = np.divide(k.sum() - k, left, out=np.full(n, np.nan), where=left > 0)
    return float(k.sum() / m.sum()) if m.sum() else float("nan"), without


class NoFit(ValueError):
    """Readers whose marks have no estimate to fit; the note says why."""

    def __init__(self, note: Note) -> None:
        super().__init__(str(note))
        self.note = note


def fit_lesions(marked: Sequence[Sequence[Marked]], of: ReaderMeasure = "wafroc_auc") -> ObuchowskiRockette:
    """Fit of a measure of each reader in each arm, its covariance by leaving out each patient in turn.

    With A_g the measures without patient g, their mean over the G patients A.::

        Cov = (G - 1) / G sum over g of (A_g - A.)(A_g - A.)'

    Estimand: as of `obuchowski_rockette`; every reader saw every case in every arm.

    Parameters
    ----------
    marked : by arm, then by reader; all of the same cases, lesions and patients
    of : an area, ``lesion_sensitivity`` (lesions that any mark hit) or ``false_marks_per_case``

    Raises
    ------
    ValueError : the measure is undefined, or undefined without one of the patients

    References
    ----------
    Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput. 24, 285-308; Hillis (2007), Stat. Med. 26,
    596-619. Chakraborty (2017), Observer Performance Methods for Diagnostic Imaging, chapters 10 and 14.
    """
    every = [value_and_without(one, of) for arm in marked for one in arm]
    theta = np.array([value for value, _ in every]).reshape(len(marked), -1)
    first = marked[0][0]
    if np.isnan(theta).any():
        raise NoFit(notes.NO_LESION if not first.n_lesions else notes.NO_CASE_WITHOUT)
    left = np.array([without for _, without in every])
    if np.isnan(left).any():
        raise NoFit(notes.ONE_CASE)
    return obuchowski_rockette(theta, jackknife_covariance(left), first.n_cases)


def jackknife_covariance(left: Floats) -> Floats:
    """Covariance of estimates from those without each unit, (n_estimates, n_units).

    >>> jackknife_covariance(np.array([[1.0, 2.0, 3.0]]))
    array([[1.33333333]])
    """
    n = left.shape[1]
    away = left - left.mean(axis=1, keepdims=True)
    return np.asarray((n - 1) / n * (away @ away.T))


@dataclass(frozen=True, eq=False)
class MeanOfReaders:
    """A fit of one arm, or of two with the compared one first, and the estimates that a report gives of it.

    The primary one has random readers and cases; under five readers the wider of that and of these readers.
    Means of shares get their limits on the logit scale, changes of areas near 1 those of both arms.
    """

    fit: ObuchowskiRockette
    of: ReaderMeasure

    def mean(self, level: float, arm: int = 0) -> dict[str, Estimate]:
        """The mean of an arm by analysis, the primary one first."""
        found = {mode: self.fit.arm_mean(arm, mode=mode, level=level) for mode in MODES}
        lead = self._lead(found)
        inside = NEGLIGIBLE < lead.value < 1 - NEGLIGIBLE
        if self.of != "false_marks_per_case" and inside:
            lead = on_logit(lead)
        return _first(lead, found)

    def difference(self, level: float) -> dict[str, Estimate]:
        """Compared minus baseline by analysis, the primary one first."""
        found = {mode: self.fit.difference(COMPARED, BASELINE, mode=mode, level=level) for mode in MODES}
        lead = self._lead(found)
        if self.of in AREAS:
            means = [next(iter(self.mean(level, arm).values())) for arm in (COMPARED, BASELINE)]
            lead = change_of_areas(lead, *means)
        if self.of != "false_marks_per_case":
            lead = difference_in_range(lead)
        return _first(lead, found)

    def _lead(self, found: Mapping[Mode, Estimate]) -> Estimate:
        return leading(found["or_rrrc"], found["or_frrc"], self.fit.n_readers)


def _first(lead: Estimate, found: Mapping[Mode, Estimate]) -> dict[str, Estimate]:
    """The estimates by analysis, the primary one first under its own method."""
    named = {f"{mode}_{COVARIANCE}": e for mode, e in found.items()}
    first = f"{lead.method}_{COVARIANCE}"
    return {first: lead, **{k: e for k, e in named.items() if k != first}}


def mean_of_readers(marked: Sequence[Sequence[Marked]], of: ReaderMeasure) -> MeanOfReaders | Note:
    """The fit of one arm, or of two, with its estimates; or why there is none."""
    try:
        return MeanOfReaders(fit_lesions(marked, of), of)
    except NoFit as error:
        return error.note
