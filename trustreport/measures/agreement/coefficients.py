"""Coefficients of agreement other than kappa: alpha, AC1 and AC2, and the intraclass correlation."""

from math import isfinite, isnan, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from trustreport.measures.agreement import notes
from trustreport.measures.agreement.labels import (
    METHOD,
    Floats,
    chance_corrected,
    lacking,
    linearised,
    quadratic,
    tally,
)
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE
from trustreport.measures.notes import OFTEN_ABOVE

Metric = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    metric: Metric = "nominal",
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement beyond chance for any number of raters, with labels missing, corrected for few labels.

    Over the cases with two labels or more, N labels in all, disagreement d_kl of two labels::

        alpha = 1 - observed / expected disagreement
        observed = sum over cases and pairs of d / (r - 1) / N,  expected = sum of N_k N_l d_kl / (N (N - 1))
        d nominal: 1 unless k = l;  interval: (k - l)^2
        d ordinal: (N_k / 2 + all N between + N_l / 2)^2

    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, in their order unless nominal; -1 where there is none.
    metric : ``nominal``, ``ordinal`` or ``interval``

    Returns
    -------
    At most 1; `n` counts cases with two labels or more. NaN with a note when there is none or all
    labels are the same.

    Notes
    -----
    The variance is that of alpha without its correction for few labels, and takes the ordinal distances as
    given. Krippendorff calls .800 reliable and .667 the least for tentative conclusions.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th ed., chapter 12.
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., section 5.3 (variance).

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(krippendorff_alpha(codes, 2))
    0.43 (95% CI 0.07 to 0.78; n = 20)
    """
    t = tally(codes, n_categories, None, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return missing
    counts, raters = t.counts[t.paired], t.raters[t.paired]
    n_labels = float(raters.sum())
    weights = _weights(metric, counts.sum(axis=0))
    share = raters / raters.mean()
    shares = counts / raters.mean()
    use = shares.mean(axis=0)
    expected = float(use @ weights @ use)
    if 1 - expected < 1e-12:
        return undefined(t.n, notes.ONE_CATEGORY, level=level, method=METHOD)
    if metric == "nominal":
        agreement = t.agreement[t.paired]
    else:
        again = tally(t.codes, n_categories, weights, _kept(multiplicity))
        agreement = again.agreement[again.paired]
    observed = float((share * agreement).mean())
    uncorrected = (observed - expected) / (1 - expected)
    agreement_parts = share * agreement - observed * (share - 1)
    chance_parts = shares @ weights @ use - expected * (share - 1)
    parts = agreement_parts - 2 * (1 - uncorrected) * (chance_parts - expected)
    value = uncorrected + (1 - uncorrected) / n_labels
    details = {"observed": observed, "expected": expected, "labels": n_labels}
    cluster = None if t.cluster is None else t.cluster[t.paired]
    parts = parts / (1 - expected)
    return linearised(value, parts, n=t.n, cluster=cluster, level=level, details=details)


def _weights(metric: Metric, totals: Floats) -> Floats:
    """1 - disagreement, the largest disagreement scaled to 1."""
    if metric == "nominal":
        return np.eye(len(totals))
    if metric == "interval":
        return quadratic(len(totals))
    rank = np.cumsum(totals) - totals / 2
    distance = (rank[:, None] - rank) ** 2
    return np.asarray(1 - distance / max(distance.max(), 1e-300), np.float64)


def _kept(multiplicity: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if multiplicity is None else np.asarray(multiplicity)[np.asarray(multiplicity) > 0]


def gwet_ac1(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement beyond chance, chance only on cases that raters label at random.

    `gwet_ac2` with all or nothing for two labels::

        AC1 = (Po - Pe) / (1 - Pe),  Pe = sum over k of p_k (1 - p_k) / (n_categories - 1)

    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    n_categories : int, at least 2
        Categories that raters could choose, whether or not they did: it enters the agreement by chance.

    Returns
    -------
    At most 1; `n` counts cases with two labels or more; NaN with a note when there is none.

    References
    ----------
    Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48.

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(gwet_ac1(codes, 2))
    0.34 (95% CI -0.07 to 0.76; n = 20)
    """
    alike = np.eye(n_categories)
    return gwet_ac2(codes, n_categories, alike, multiplicity=multiplicity, cluster=cluster, level=level)


def gwet_ac2(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    weights: Floats,
    *,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement beyond chance with credit for labels that lie near each other.

    ::

        AC2 = (Po - Pe) / (1 - Pe),  Pe = sum of all w_kl / (q (q - 1)) x sum over k of p_k (1 - p_k)

    with q categories, p_k the mean over cases of the share of labels in category k.
    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, in their order, -1 where there is none.
    n_categories : int, at least 2
    weights : float array, shape (n_categories, n_categories)
        Credit in [0, 1] for two labels, 1 on the diagonal; see `trustreport.measures.agreement.labels`.

    Returns
    -------
    At most 1; `n` counts cases with two labels or more; NaN with a note when there is none.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapters 4 and 5.

    Examples
    --------
    >>> from trustreport.measures.agreement.labels import quadratic
    >>> codes = np.array([[0, 0, 1], [1, 1, 0], [2, 2, 2], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(gwet_ac2(codes, 3, quadratic(3)))
    0.69 (95% CI 0.56 to 0.83; n = 20)
    """
    if n_categories < 2:
        raise ValueError(f"n_categories must be at least 2, got {n_categories}.")
    t = tally(codes, n_categories, weights, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return missing
    shares = t.counts / t.raters[:, None]
    use = shares.mean(axis=0)
    factor = t.weights.sum() / (n_categories * (n_categories - 1))
    return chance_corrected(t, float(factor * use @ (1 - use)), factor * (shares @ (1 - use)), level=level)


ICC_METHOD = "icc_f"
FEW_RATERS = 5
Form = Literal["1", "A,1", "C,1"]


def icc(
    values: NDArray[np.floating[Any]],
    *,
    form: Form = "A,1",
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of the variance of labels that is between cases, from an analysis of variance.

    With MSR, MSC, MSE the mean squares of cases, raters and residual, MSW that within cases, n cases and k
    raters::

        1    (MSR - MSW) / (MSR + (k - 1) MSW)
        C,1  (MSR - MSE) / (MSR + (k - 1) MSE)
        A,1  (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n)

    Estimand: the correlation of two labels of a case, by raters drawn at random. A,1: absolute agreement, so
    that a rater who always gives more lowers it; C,1: consistency, so that this does not matter; 1: other
    raters for each case.

    Parameters
    ----------
    values : float array, shape (n_cases, n_raters)
        Labels as numbers, of which equal steps mean the same; NaN where a rater gave none.
    form : "1", "A,1" or "C,1", as McGraw and Wong name them; (1,1), (2,1) and (3,1) of Shrout and Fleiss
    cluster : int array, shape (n_cases,), optional
        Which cases belong together; then the value has no limits, with a note.

    Returns
    -------
    At most 1, negative where cases differ less than labels of one case do; `n` counts the cases that
    every rater labelled, `details` the raters and the cases left out. NaN with a note where fewer than
    two such cases or raters are there, or all labels are the same.

    Notes
    -----
    Limits by the F distribution, of A,1 with Satterthwaite's degrees of freedom. They take cases, raters and
    residuals as normal; of ordinal labels that is an approximation. Where labels are missing only the cases
    that every rater labelled count.

    References
    ----------
    McGraw, Wong (1996), Psychol. Methods 1, 30-46, tables 4 and 7. Shrout, Fleiss (1979), Psychol. Bull. 86,
    420-428.

    Examples
    --------
    >>> judges = np.array(
    ...     [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7.0]]
    ... )
    >>> print(icc(judges))
    0.29 (95% CI 0.02 to 0.76; n = 6)
    """
    check_level(level)
    values = np.asarray(values, float)
    if values.ndim != 2:
        raise ValueError(f"values must have shape (n_cases, n_raters), got {values.shape}.")
    given = ~np.isnan(values)
    values, given = values[given.any(axis=1)][:, given.any(axis=0)], given[:, given.any(axis=0)]
    whole = values[~np.isnan(values).any(axis=1)]
    (n, k), left_out = whole.shape, len(values) - len(whole)
    if k < 2:
        return undefined(n, notes.NO_PAIR, level=level, method=ICC_METHOD)
    if n < 2:
        return undefined(n, notes.NO_WHOLE_CASES, level=level, method=ICC_METHOD)
    squares = _mean_squares(whole)
    value = _value(form, n, k, *squares)
    if isnan(value):
        return undefined(n, notes.ONE_CATEGORY, level=level, method=ICC_METHOD)
    # Cases that do not differ at all, or labels of a case that do not, leave limits of no width.
    bare = value == 1 or squares[0] == 0 or cluster is not None
    low, high = (nan, nan) if bare else _limits(form, n, k, *squares, level)
    without = notes.NO_VARIATION if value == 1 else notes.NO_F_LIMITS if isnan(low) else NO_NOTE
    without = notes.IN_CLUSTERS if cluster is not None else without
    often = OFTEN_ABOVE if k <= FEW_RATERS and not without else NO_NOTE
    note = (notes.INCOMPLETE_LEFT_OUT if left_out else NO_NOTE) + without + often
    details = {"raters": float(k), "left_out": float(left_out)}
    return Estimate(value, low, high, n, level, ICC_METHOD, note, details=details)


def _mean_squares(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Of cases, raters and residual, of a whole table."""
    n, k = values.shape
    mean = values.mean()
    of_case, of_rater = values.mean(axis=1) - mean, values.mean(axis=0) - mean
    residual = values - mean - of_case[:, None] - of_rater
    found = (
        k * float(of_case @ of_case) / (n - 1),
        n * float(of_rater @ of_rater) / (k - 1),
        float((residual**2).sum()) / ((n - 1) * (k - 1)),
    )
    # What is left of labels that are sums of a case and a rater is rounding.
    least = 1e-24 * max(1.0, float((values**2).mean()))
    cases, raters, residual = (0.0 if x < least else x for x in found)
    return cases, raters, residual


def _value(form: Form, n: int, k: int, cases: float, raters: float, residual: float) -> float:
    if form == "1":
        residual = _within(n, k, raters, residual)
    below = cases + (k - 1) * residual + (k * (raters - residual) / n if form == "A,1" else 0.0)
    return (cases - residual) / below if below > 0 else nan


def _within(n: int, k: int, raters: float, residual: float) -> float:
    """The mean square within cases: raters and residual together."""
    return ((k - 1) * raters + (n - 1) * (k - 1) * residual) / (n * (k - 1))


def _limits(
    form: Form, n: int, k: int, cases: float, raters: float, residual: float, level: float
) -> tuple[float, float]:
    p = (1 + level) / 2
    if form in ("1", "C,1"):
        one_way = form == "1"
        error = _within(n, k, raters, residual) if one_way else residual
        within = n * (k - 1) if one_way else (n - 1) * (k - 1)
        if error == 0:
            return nan, nan
        least = cases / error / fdtri(n - 1, within, p)
        most = cases / error * fdtri(within, n - 1, p)
        return (least - 1) / (least + k - 1), (most - 1) / (most + k - 1)
    value = _value(form, n, k, cases, raters, residual)
    a = k * value / (n * (1 - value))
    b = 1 + a * (n - 1)
    parts = (a * raters) ** 2 / (k - 1) + (b * residual) ** 2 / ((n - 1) * (k - 1))
    df = (a * raters + b * residual) ** 2 / parts if parts > 0 else 0.0
    if not df > 0:
        return nan, nan
    least, most = fdtri(n - 1, df, p), fdtri(df, n - 1, p)
    noise = k * raters + (k * n - k - n) * residual
    below = least * noise + n * cases, noise + n * most * cases
    if not min(below) > 0 or not isfinite(max(below)):
        return nan, nan
    low, high = n * (cases - least * residual) / below[0], n * (most * cases - residual) / below[1]
    return (low, high) if low <= value <= high else (nan, nan)
