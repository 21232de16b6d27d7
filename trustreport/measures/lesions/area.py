"""Areas of localisation, and which marks hit a lesion."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.lesions import notes
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.roc.auc import exponential_variance, newcombe_limits, on_logit_scale

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
UNMARKED = -np.inf


@dataclass(frozen=True, eq=False)
class Marked:
    """Marks on cases of known lesions.

    A lesion without a mark has the rating -inf: below every mark. Whether a lesion was marked is known; of
    places without a lesion only those that were marked are.

    Parameters
    ----------
    n_cases : int
        All cases, with and without lesions, marked or not.
    lesion_case : int array, shape (n_lesions,)
        The case of each lesion, from 0.
    lesion_rating : float array, shape (n_lesions,)
        The highest rating of its marks; higher = more suspicious; -inf unmarked.
    false_case, false_rating : arrays, shape (n_false_marks,)
        The case and the rating of each mark that hit no lesion.
    weight : float array, shape (n_lesions,), optional
        Importance of each lesion, in sum 1 for every case; equal within the case where not given.
    cluster : int array, shape (n_cases,), optional
        Which cases belong to one patient; each case its own where not given.

    Raises
    ------
    ValueError : a NaN among ratings, a case out of range, or weights that are not positive and in sum 1
    """

    n_cases: int
    lesion_case: Integers
    lesion_rating: Floats
    false_case: Integers
    false_rating: Floats
    weight: Floats | None = None
    cluster: Clusters | None = None

    def __post_init__(self) -> None:
        for name, of in (("lesion", self.lesion_case), ("false mark", self.false_case)):
            if len(of) and not (of.min() >= 0 and of.max() < self.n_cases):
                raise ValueError(f"the case of a {name} must be 0 to {self.n_cases - 1}.")
        if np.isnan(self.lesion_rating).any() or not np.isfinite(self.false_rating).all():
            raise ValueError("a rating is missing: a lesion without a mark has -inf, a false mark a number.")
        if self.weight is not None:
            sums = np.bincount(self.lesion_case, self.weight, self.n_cases)[self.with_lesion]
            if not (self.weight > 0).all() or np.abs(sums - 1).max(initial=0) > 1e-6:
                raise ValueError("weights of lesions must be positive and in sum 1 for each case.")

    @property
    def n_lesions(self) -> int:
        """Lesions of all cases, marked or not."""
        return len(self.lesion_case)

    @cached_property
    def with_lesion(self) -> NDArray[np.bool_]:
        """Whether a case has a lesion, (n_cases,)."""
        found = np.zeros(self.n_cases, bool)
        found[self.lesion_case] = True
        return found

    @cached_property
    def weights(self) -> Floats:
        """The weights of lesions as declared, or equal within each case, (n_lesions,)."""
        if self.weight is not None:
            return self.weight
        return 1 / np.bincount(self.lesion_case, minlength=self.n_cases)[self.lesion_case]

    @cached_property
    def highest_false(self) -> Floats:
        """The highest rating of the false marks of each case, -inf without any, (n_cases,)."""
        found = np.full(self.n_cases, UNMARKED)
        np.maximum.at(found, self.false_case, self.false_rating)
        return found

    @cached_property
    def highest(self) -> Floats:
        """The highest rating of all marks of each case, -inf without any, (n_cases,)."""
        found = self.highest_false.copy()
        np.maximum.at(found, self.lesion_case, self.lesion_rating)
        return found

    @cached_property
    def patients(self) -> Clusters:
        """The patient of each case from 0, (n_cases,)."""
        if self.cluster is None:
            return np.arange(self.n_cases)
        return np.unique(self.cluster, return_inverse=True)[1].astype(np.int64)

    @property
    def clustered(self) -> bool:
        """Whether some patient has several cases."""
        return self.n_patients < self.n_cases

    @property
    def n_patients(self) -> int:
        """Patients, or other clusters of cases; as many as cases where each is on its own."""
        return int(self.patients.max(initial=-1)) + 1

    @cached_property
    def patients_by_class(self) -> tuple[int, int]:
        """Patients who have a case with a lesion, and who have one without."""
        own = self.patients
        return len(np.unique(own[self.with_lesion])), len(np.unique(own[~self.with_lesion]))


def ranks(*ratings: NDArray[Any]) -> list[Floats]:
    """Ratings as ranks among all of them, -inf included, so that all are finite."""
    _, index = np.unique(np.concatenate(ratings), return_inverse=True)
    ends = np.cumsum([len(one) for one in ratings])[:-1]
    return [part.astype(np.float64) for part in np.split(index, ends)]


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
        return Estimate(a, float("nan"), float("nan"), n, level, METHOD, notes.ONE_CASE, details=details)
    df = float(min(g1, g0) - 1)
    if not NEGLIGIBLE < a < 1 - NEGLIGIBLE:
        low, high, p = newcombe_limits(round(a), g1, g0, df, level)
        return Estimate(
            a, max(low, 0.0), high, n, level, NEWCOMBE, notes.AT_THE_END, df=df, p=p, details=details
        )
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
        note = notes.ONE_CASE if isnan(variance) else notes.ALL_ALIKE
        return Estimate(value, float("nan"), float("nan"), n, level, PAIRED, note)
    df, se = float(min(g1, g0) - 1), sqrt(variance)
    half = quantile(df, level) * se
    e = Estimate(value, value - half, value + half, n, level, PAIRED, se=se, df=df)
    return replace(e, p=two_sided_p(value / se, df))


def _why_undefined(marked: Marked) -> Note:
    if not marked.n_lesions:
        return notes.NO_LESION
    return NO_NOTE if not marked.with_lesion.all() else notes.NO_CASE_WITHOUT


def _variance(up: Floats, down: Floats, g1: int, g0: int) -> float:
    g = len(up)
    return float(g1 / (g1 - 1) * (up @ up) + g0 / (g0 - 1) * (down @ down) + 2 * g / (g - 1) * (up @ down))
