"""Number needed to decide with the aid for one error fewer."""

from math import inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, check_level, undefined

# Two means of 0/1 outcomes that are equal may differ by this much after summing in another order.
ROUNDING = 1e-15


def number_needed(difference: Estimate) -> Estimate:
    """How many decisions with the aid it takes to have one error fewer (negative: one error more).

    ::

        NND = 1 / ARR,   ARR = unaided minus aided error rate

    Estimand: the reciprocal of that of `difference`.

    Parameters
    ----------
    difference : Estimate
        The absolute risk reduction with its interval, whatever method made it.

    Returns
    -------
    Estimate
        Outside (-1, 1); `method`, `level` and `n` are those of the difference. If its interval holds zero,
        the interval of the NND runs from `details["benefit_from"]` (1/high) through infinity to harm at
        `details["harm_from"]` (1/|low|); low and high are NaN and the note says so. Equal rates have no NND.
        Where a limit of the difference is zero itself, the NND has no bound on that side.

    References
    ----------
    Altman (1998), BMJ 317, 1309-1312.

    Examples
    --------
    >>> from trustreport.measures.two_arm import difference
    >>> print(number_needed(difference.newcombe(80, 200, 5, 200)))
    2.67 (95% CI 2.24 to 3.31; n = 400)
    >>> through = number_needed(difference.newcombe(367, 1548, 352, 1548))
    >>> print(f"{through.value:.1f}: {through.note}")
    103.2: the interval of the difference holds zero: the number needed runs through infinity
    >>> {name: round(number, 1) for name, number in through.details.items()}
    {'benefit_from': 25.4, 'harm_from': 49.9}
    """
    arr, low, high = (_cleaned(x) for x in (difference.value, difference.low, difference.high))
    n, level, method = difference.n, difference.level, difference.method
    if isnan(arr):
        return undefined(n, difference.note or notes.DIFFERENCE_UNDEFINED, level=level, method=method)
    value = 1 / arr if arr else nan
    pieces = {name: x for name, x in difference.details.items() if name == "clusters"}
    if arr == 0 or low < 0 < high:
        if high > 0:
            pieces["benefit_from"] = 1 / high
        if low < 0:
            pieces["harm_from"] = -1 / low
        note = notes.THROUGH_INFINITY if arr else notes.DIFFERENCE_ZERO
        return Estimate(value, nan, nan, n, level, method, note, details=pieces)
    if isnan(low) or isnan(high):
        return Estimate(value, nan, nan, n, level, method, difference.note, details=pieces)
    often = notes.mirrored(notes.of_simulations(difference.note))
    note = "; ".join(filter(None, ("" if low and high else notes.LIMIT_ZERO, often)))
    low, high = 1 / high if high else -inf, 1 / low if low else inf
    return Estimate(value, low, high, n, level, method, note, details=pieces)


def _cleaned(difference: float) -> float:
    """A possible difference of rates, without the rounding error that equal rates may leave."""
    return 0.0 if abs(difference) < ROUNDING else min(max(difference, -1.0), 1.0)


FEW = "fewer than three readers with both values: no slope"
SAME = "all readers have the same mean of both values: no slope"
ON_A_LINE = "the changes of all readers are on one line: no standard error, so the precision is not known"


def oldham_slope(
    baseline: NDArray[np.float64], later: NDArray[np.float64], *, level: float = 0.95
) -> Estimate:
    """Slope of the change on the mean of both values, in place of the slope on the baseline.

    ::

        change_j = a + b (baseline_j + later_j) / 2 + error,  least squares, t with n - 2 df

    The slope on the baseline itself is negative already when every reader has the same true change, because
    chance lows of the baseline raise the change. With equal variances of both values b is 0 then.

    Parameters
    ----------
    baseline, later : float array, shape (n_readers,)
        The endpoint without and with the aid; NaN where a reader has none.

    Returns
    -------
    Estimate
        b, without unit; `n` counts readers; `details` holds the naive slope on the baseline. NaN with a note
        under three readers; no limits where all changes lie on a line.

    Notes
    -----
    Assumes that measurement error is alike in both arms.

    References
    ----------
    Oldham (1962), J. Chronic Dis. 15, 969-977. Hayes (1988), Stat. Med. 7, 915-927.

    Examples
    --------
    >>> before = np.array([0.60, 0.70, 0.75, 0.80, 0.90])
    >>> print(oldham_slope(before, before + np.array([0.06, 0.01, 0.04, 0.02, 0.0])))
    -0.17 (95% CI -0.46 to 0.11; n = 5)
    """
    check_level(level)
    known = ~(np.isnan(baseline) | np.isnan(later))
    before, after = baseline[known], later[known]
    n = before.size
    if n < 3:
        return undefined(n, FEW, level=level, method="oldham")
    change, mean = after - before, (after + before) / 2
    spread = float(((mean - mean.mean()) ** 2).sum())
    if spread <= 1e-14:
        return undefined(n, SAME, level=level, method="oldham")
    slope = float(((mean - mean.mean()) * change).sum() / spread)
    residual = change - change.mean() - slope * (mean - mean.mean())
    se = sqrt(float((residual**2).sum()) / (n - 2) / spread)
    own = float(((before - before.mean()) ** 2).sum())
    naive = float(((before - before.mean()) * change).sum() / own) if own > 0 else np.nan
    if se <= 1e-9:
        details = {"slope_on_baseline": naive}
        return Estimate(slope, np.nan, np.nan, n, level, "oldham", ON_A_LINE, details=details)
    half = float(stdtrit(n - 2, (1 + level) / 2)) * se
    p = 2 * float(stdtr(n - 2, -abs(slope / se)))
    return Estimate(
        slope,
        slope - half,
        slope + half,
        n,
        level,
        "oldham",
        se=se,
        df=n - 2.0,
        p=p,
        details={"slope_on_baseline": naive},
    )
