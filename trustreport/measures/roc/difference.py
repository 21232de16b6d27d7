"""Difference of two areas under the ROC curve: of two scores on the same cases, or of two sets of cases."""

from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile, two_sided_p
from trustreport.measures.roc import notes
from trustreport.measures.roc.auc import area_and_variance, placements
from trustreport.measures.roc.scores import check_scores


def paired_difference(
    truth: NDArray[np.bool_], compared: NDArray[Any], baseline: NDArray[Any], *, level: float = 0.95
) -> Estimate:
    """How much better one score separates the classes than another on the same cases.

    With X, Y of `delong` for either score::

        V = var(X - X') / n1 + var(Y - Y') / n0
        AUC - AUC' +- z sqrt(V)

    Estimand: difference of the areas, the same cases scored twice, cases independent.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
    compared, baseline : arrays of numbers, shape (n_cases,)
        Higher = more suspicious; the two may have different ranges.

    Returns
    -------
    Estimate
        Compared minus baseline, in [-1, 1]; `p` tests a difference of 0; NaN with a note when a class is
        absent; no limits when a class has one case or both scores rank all pairs alike.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> one, other = np.array([1, 2, 2, 3, 2, 3, 4, 5]), np.array([1, 3, 2, 2, 2, 1, 4, 3])
    >>> print(paired_difference(truth, one, other))
    0.22 (95% CI -0.19 to 0.63; n = 8)
    """
    check_level(level)
    check_scores(truth, compared, baseline)
    n, n1 = truth.size, int(np.count_nonzero(truth))
    if n1 in (0, n):
        note = notes.NO_NEGATIVE if n1 else notes.NO_POSITIVE
        return undefined(n, note, level=level, method="delong")
    gaps = [one - other for one, other in zip(placements(truth, compared), placements(truth, baseline))]
    value = float(gaps[0].mean())
    if min(n1, n - n1) < 2:
        return Estimate(value, nan, nan, n, level, "delong", notes.ONE_CASE)
    variance = sum(float(gap.var(ddof=1)) / len(gap) for gap in gaps)
    if not variance > NEGLIGIBLE:
        return Estimate(value, nan, nan, n, level, "delong", notes.NO_VARIATION)
    se = sqrt(variance)
    half = quantile(np.inf, level) * se
    p = two_sided_p(value / se)
    return Estimate(value, value - half, value + half, n, level, "delong", se=se, p=p)


def unpaired_difference(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    baseline_truth: NDArray[np.bool_],
    baseline_score: NDArray[Any],
    *,
    level: float = 0.95,
) -> Estimate:
    """How much better a score separates the classes in one set of cases than in another set.

    With v, v' DeLong's variances and n, n' the cases::

        AUC - AUC' +- t sqrt(v + v'),   df = (v + v')^2 / (v^2 / (n - 1) + v'^2 / (n' - 1))

    Estimand: difference of the areas in two populations, the sets independent.

    Returns
    -------
    Estimate
        First set minus baseline set; `n` counts both; `p` tests a difference of 0; NaN with a note when a
        class is absent from a set; no limits when a set has no variance.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.
    Robin et al. (2011), BMC Bioinformatics 12, 77 (pROC; degrees of freedom of the unpaired test).

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> one, other = np.array([1, 2, 2, 3, 2, 3, 4, 5]), np.array([1, 3, 2, 2, 2, 1, 4, 3])
    >>> print(unpaired_difference(truth, one, truth, other))
    0.22 (95% CI -0.36 to 0.79; n = 16)
    """
    check_level(level)
    found = [area_and_variance(truth, score), area_and_variance(baseline_truth, baseline_score)]
    (area, v, _, _, note), (other, w, _, _, baseline_note) = found
    n, m = truth.size, baseline_truth.size
    note = note or baseline_note
    value = area - other
    if value != value:
        return undefined(n + m, note, level=level, method="delong")
    if any(not variance > 0 for variance in (v, w)):
        return Estimate(value, nan, nan, n + m, level, "delong", note)
    df = (v + w) ** 2 / (v * v / (n - 1) + w * w / (m - 1))
    se = sqrt(v + w)
    half = quantile(df, level) * se
    p = two_sided_p(value / se, df)
    return Estimate(value, value - half, value + half, n + m, level, "delong", se=se, df=df, p=p)
