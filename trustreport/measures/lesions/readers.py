"""Several readers who mark the same cases: Obuchowski-Rockette with measures of localisation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate
from trustreport.measures.lesions import notes
from trustreport.measures.lesions.area import AREAS, Area, pairs_of
from trustreport.measures.lesions.marked import Floats, Marked
from trustreport.measures.mrmc.in_range import change_of_areas, difference_in_range, on_logit
from trustreport.measures.mrmc.interval import NEGLIGIBLE
from trustreport.measures.mrmc.obuchowski_rockette import (
    MODES,
    Mode,
    ObuchowskiRockette,
    leading,
    obuchowski_rockette,
)

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

    Examples
    --------
    >>> rng, false = np.random.default_rng(3), np.arange(30, 60)
    >>> def reader(mean):
    ...     ratings = rng.normal(mean, 1, 60), rng.normal(0, 1, 30)
    ...     return Marked(60, np.repeat(np.arange(30), 2), ratings[0], false, ratings[1])
    >>> print(fit_lesions([[reader(1) for _ in "abcd"], [reader(2) for _ in "abcd"]]).difference(1, 0))
    0.21 (95% CI 0.19 to 0.24; n = 240)
    """
    every = [value_and_without(one, of) for arm in marked for one in arm]
    theta = np.array([value for value, _ in every]).reshape(len(marked), -1)
    first = marked[0][0]
    if np.isnan(theta).any():
        raise ValueError(notes.NO_LESION if not first.n_lesions else notes.NO_CASE_WITHOUT)
    left = np.array([without for _, without in every])
    if np.isnan(left).any():
        raise ValueError(notes.ONE_CASE)
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


def mean_of_readers(marked: Sequence[Sequence[Marked]], of: ReaderMeasure) -> MeanOfReaders | str:
    """The fit of one arm, or of two, with its estimates; or why there is none."""
    try:
        return MeanOfReaders(fit_lesions(marked, of), of)
    except ValueError as error:
        return str(error)
