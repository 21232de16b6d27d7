"""Several readers who mark the same cases: Obuchowski-Rockette with measures of localisation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.lesions.marked import (
    ALL_ALIKE,
    AT_THE_END,
    NO_CASE_WITHOUT,
    NO_LESION,
    ONE_CASE,
    Floats,
    Marked,
    ranks,
)
from trustreport.measures.mrmc.in_range import change_of_areas, difference_in_range, on_logit
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile, two_sided_p
from trustreport.measures.mrmc.obuchowski_rockette import (
    MODES,
    Mode,
    ObuchowskiRockette,
    leading,
    obuchowski_rockette,
)
from trustreport.measures.roc.auc import exponential_variance, newcombe_limits, on_logit_scale

Area = Literal["wafroc_auc", "afroc_auc", "inferred_roc_auc"]
AREAS: tuple[Area, ...] = ("wafroc_auc", "afroc_auc", "inferred_roc_auc")
PAIRS = 5_000_000  # of items and comparison cases of a patient that are held at a time
METHOD, NEWCOMBE, PAIRED = "lesion_area_logit", "lesion_area_newcombe", "lesion_area_paired"


@dataclass(frozen=True, eq=False)
class Pairs:
    """The sums over patients that an area is made of.

    With w_l the weight of item l, x_l its rating, y_k the rating of comparison case k and psi = 1, 1/2, 0 for
    x_l >, =, < y_k, the area is the weighted share of pairs won::

        A = sum_l w_l sum_k psi(x_l, y_k) / (W n0),   W = sum_l w_l

    Parameters
    ----------
    won_up, weight_up : float arrays, shape (n_patients,)
        sum of w_l psi over the items of a patient and all comparison cases, and sum of w_l.
    won_down, count_down : float arrays, shape (n_patients,)
        The same of the comparison cases of a patient over all items, and how many they are.
    own : float array, shape (n_patients,)
        Sum of w_l psi over items and comparison cases of one and the same patient.
    """

    won_up: Floats
    weight_up: Floats
    won_down: Floats
    count_down: Floats
    own: Floats

    @property
    def weight(self) -> float:
        """W, all weights together."""
        return float(self.weight_up.sum())

    @property
    def n0(self) -> float:
        """Comparison cases."""
        return float(self.count_down.sum())

    @property
    def area(self) -> float:
        """A, in [0, 1]; NaN without items or comparison cases."""
        pairs = self.weight * self.n0
        return float(self.won_up.sum()) / pairs if pairs else float("nan")

    @property
    def patients_by_class(self) -> tuple[int, int]:
        """Patients with an item, and with a comparison case."""
        return int((self.weight_up > 0).sum()), int((self.count_down > 0).sum())

    def residuals(self) -> tuple[Floats, Floats]:
        """Of each patient, what the items and what the comparison cases add to the error of the area."""
        a = self.area
        up = (self.won_up / self.n0 - self.weight_up * a) / self.weight
        down = (self.won_down / self.weight - self.count_down * a) / self.n0
        return up, down

    def without_each(self) -> Floats:
        """The area without each patient in turn, (n_patients,); NaN where nothing would be left."""
        won = self.won_up.sum() - self.won_up - self.won_down + self.own
        left = (self.weight - self.weight_up) * (self.n0 - self.count_down)
        return np.asarray(np.divide(won, left, out=np.full(len(won), np.nan), where=left > NEGLIGIBLE))


def pairs_of(marked: Marked, of: Area) -> Pairs:
    """The pairs of an area.

    ``wafroc_auc``: lesions against the highest false rating of cases without lesion, weights of a case in sum
    1; ``afroc_auc``: the same, every lesion with weight 1; ``inferred_roc_auc``: the highest rating of cases
    with lesions against that of cases without.
    """
    none = ~marked.with_lesion
    if of == "inferred_roc_auc":
        case = np.flatnonzero(marked.with_lesion)
        rating, weight = marked.highest[case], np.ones(len(case))
    else:
        case, rating = marked.lesion_case, marked.lesion_rating
        weight = marked.weights if of == "wafroc_auc" else np.ones(marked.n_lesions)
    up, down = ranks(rating, marked.highest_false[none])
    n, patient = marked.n_patients, marked.patients
    item_of, other_of = patient[case], patient[none]
    order = np.sort(down)
    beaten = (np.searchsorted(order, up, "left") + np.searchsorted(order, up, "right")) / 2
    by_rank = np.argsort(up, kind="stable")
    heavier = np.append(0.0, np.cumsum(weight[by_rank]))
    first, last = (np.searchsorted(up[by_rank], down, side) for side in ("left", "right"))
    lost_to = heavier[-1] - (heavier[first] + heavier[last]) / 2
    return Pairs(
        np.bincount(item_of, weight * beaten, n).astype(np.float64),
        np.bincount(item_of, weight, n).astype(np.float64),
        np.bincount(other_of, lost_to, n).astype(np.float64),
        np.bincount(other_of, minlength=n).astype(np.float64),
        _own(up, weight, item_of, down, other_of, n),
    )


def _own(
    up: Floats, weight: Floats, item_of: NDArray[np.int64], down: Floats, other_of: NDArray[np.int64], n: int
) -> Floats:
    """Sum of w psi within each patient, for those who have both kinds of cases."""
    found = np.zeros(n)
    order = np.argsort(other_of, kind="stable")
    first = np.searchsorted(other_of[order], np.arange(n + 1))
    beside = first[item_of + 1] - first[item_of]  # comparison cases of the patient of each item
    items = np.flatnonzero(beside)
    blocks = np.cumsum(beside[items]) // PAIRS
    for some in np.split(items, np.flatnonzero(np.diff(blocks)) + 1):
        item = np.repeat(some, beside[some])
        within = np.arange(len(item)) - np.repeat(np.cumsum(beside[some]) - beside[some], beside[some])
        other = order[first[item_of[item]] + within]
        psi = (up[item] > down[other]) + 0.5 * (up[item] == down[other])
        found += np.bincount(item_of[item], weight[item] * psi, n)
    return found


def lesion_area(marked: Marked, of: Area = "wafroc_auc", *, level: float = 0.95) -> Estimate:
    """How often a lesion is rated higher than any place of a case without lesion.

    With the residuals u_g, v_g of `Pairs.residuals` of patient g, G1 and G0 patients who have a case with and
    without lesion, G patients::

        V = G1 / (G1 - 1) sum u_g^2 + G0 / (G0 - 1) sum v_g^2 + 2 G / (G - 1) sum u_g v_g
        logit A +- t sqrt(max(V, D H)) / (A (1 - A)),  turned back

    with min(G1, G0) - 1 degrees of freedom, H the variance of the area with exponential ratings of as many
    independent cases with and without lesion (Hanley, McNeil), and D the design effect, V over what it is
    with each case a patient, where that is above 1 (cases over patients where nothing varies). At 0 and 1 the
    limits are Newcombe's with G1 and G0 cases. With one case a patient V is the variance of a U-statistic of
    two samples of cases: lesions of a case are never taken as independent.

    Estimand: ``wafroc_auc``, ``afroc_auc`` or ``inferred_roc_auc`` in the populations of patients with and
    without lesion from which these were sampled.

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts cases; `p` of one half on the same scale, which is *not* chance for the AFROC
        areas. NaN with a note without lesion, or without a case that has none.

    References
    ----------
    Chakraborty, Zhai (2016), J. Med. Imaging 3, 035502 and Chakraborty (2017), Observer Performance Methods
    for Diagnostic Imaging, chapter 14 (areas). Obuchowski (1997), Biometrics 53, 567-578 (variance).
    Hanley, McNeil (1982), Radiology 143, 29-36. Newcombe (2006), Stat. Med. 25, 559-573, method 5.

    Examples
    --------
    >>> lesions, ratings = np.array([0, 0, 1, 2]), np.array([3.0, -np.inf, 2.0, 1.0])
    >>> marked = Marked(6, lesions, ratings, np.array([3, 4]), np.array([1.0, 2.5]))
    >>> print(lesion_area(marked))
    0.58 (95% CI 0.02 to 0.99; n = 6)
    """
    check_level(level)
    pairs, n = pairs_of(marked, of), marked.n_cases
    why = _why_undefined(marked)
    if why:
        return undefined(n, why, level=level, method=METHOD)
    a, (g1, g0) = pairs.area, pairs.patients_by_class
    details = {"with_lesion": float(marked.with_lesion.sum()), "lesions": float(marked.n_lesions)}
    if marked.clustered:
        details["clusters"] = float(min(g1, g0))
    if min(g1, g0) < 2:
        return Estimate(a, float("nan"), float("nan"), n, level, METHOD, ONE_CASE, details=details)
    df = float(min(g1, g0) - 1)
    if not NEGLIGIBLE < a < 1 - NEGLIGIBLE:
        low, high, p = newcombe_limits(round(a), g1, g0, df, level)
        return Estimate(a, max(low, 0.0), high, n, level, NEWCOMBE, AT_THE_END, df=df, p=p, details=details)
    with_lesion = int(marked.with_lesion.sum())
    without = n - with_lesion
    variance, effect = _variance(*pairs.residuals(), g1, g0), 1.0
    if marked.clustered:
        alone = _variance(*pairs_of(replace(marked, cluster=None), of).residuals(), with_lesion, without)
        effect = max(1.0, variance / alone) if alone > NEGLIGIBLE else n / marked.n_patients
    se = sqrt(max(variance, effect * exponential_variance(a, with_lesion, without)))
    low, high, p = on_logit_scale(a, se, df, level)
    return Estimate(a, low, high, n, level, METHOD, se=se, df=df, p=p, details=details)


def lesion_area_difference(
    compared: Marked, baseline: Marked, of: Area = "wafroc_auc", *, level: float = 0.95
) -> Estimate:
    """Difference of two areas of the same cases: compared minus baseline, Student's t.

    The variance of `lesion_area` with the differences of both residuals in their place.

    Returns
    -------
    Estimate
        In [-1, 1]; `p` tests 0; no limits, and a note, where no pair differs.

    Raises
    ------
    ValueError : the two are not of the same cases and lesions
    """
    check_level(level)
    alike = compared.n_cases == baseline.n_cases and np.array_equal(
        compared.lesion_case, baseline.lesion_case
    )
    if not alike:
        raise ValueError("both must be of the same cases with the same lesions.")
    why, n = _why_undefined(compared), compared.n_cases
    if why:
        return undefined(n, why, level=level, method=PAIRED)
    one, other = pairs_of(compared, of), pairs_of(baseline, of)
    value, (g1, g0) = one.area - other.area, one.patients_by_class
    up, down = (x - y for x, y in zip(one.residuals(), other.residuals()))
    variance = _variance(up, down, g1, g0) if min(g1, g0) > 1 else float("nan")
    if not variance > NEGLIGIBLE:
        note = ONE_CASE if isnan(variance) else ALL_ALIKE
        return Estimate(value, float("nan"), float("nan"), n, level, PAIRED, note)
    df, se = float(min(g1, g0) - 1), sqrt(variance)
    half = quantile(df, level) * se
    e = Estimate(value, value - half, value + half, n, level, PAIRED, se=se, df=df)
    return replace(e, p=two_sided_p(value / se, df))


def _why_undefined(marked: Marked) -> str:
    if not marked.n_lesions:
        return NO_LESION
    return "" if not marked.with_lesion.all() else NO_CASE_WITHOUT


def _variance(up: Floats, down: Floats, g1: int, g0: int) -> float:
    g = len(up)
    return float(g1 / (g1 - 1) * (up @ up) + g0 / (g0 - 1) * (down @ down) + 2 * g / (g - 1) * (up @ down))


ReaderMeasure: TypeAlias = Area | Literal["lesion_sensitivity", "false_marks_per_case"]
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
        raise ValueError(NO_LESION if not first.n_lesions else NO_CASE_WITHOUT)
    left = np.array([without for _, without in every])
    if np.isnan(left).any():
        raise ValueError(ONE_CASE)
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
