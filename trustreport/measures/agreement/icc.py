"""Intraclass correlation: how much of the variance of numeric labels is between cases."""

from math import isfinite, isnan, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri

from trustreport.measures.agreement.tally import (
    IN_CLUSTERS,
    INCOMPLETE_LEFT_OUT,
    NO_F_LIMITS,
    NO_PAIR,
    NO_VARIATION,
    NO_WHOLE_CASES,
    ONE_CATEGORY,
)
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.notes import OFTEN_ABOVE

METHOD = "icc_f"
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
    level : float in (0, 1)

    Returns
    -------
    Estimate
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
        return undefined(n, NO_PAIR, level=level, method=METHOD)
    if n < 2:
        return undefined(n, NO_WHOLE_CASES, level=level, method=METHOD)
    squares = _mean_squares(whole)
    value = _value(form, n, k, *squares)
    if isnan(value):
        return undefined(n, ONE_CATEGORY, level=level, method=METHOD)
    # Cases that do not differ at all, or labels of a case that do not, leave limits of no width.
    bare = value == 1 or squares[0] == 0 or cluster is not None
    low, high = (nan, nan) if bare else _limits(form, n, k, *squares, level)
    without = NO_VARIATION if value == 1 else NO_F_LIMITS if isnan(low) else ""
    without = IN_CLUSTERS if cluster is not None else without
    often = OFTEN_ABOVE if k <= FEW_RATERS and not without else ""
    note = "; ".join(filter(None, (INCOMPLETE_LEFT_OUT if left_out else "", without, often)))
    details = {"raters": float(k), "left_out": float(left_out)}
    return Estimate(value, low, high, n, level, METHOD, note, details=details)


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
