"""Whether those who start low gain more: change against baseline, freed of the term that both share.

Of statsmodels' OLS three lines would be spared here, for half a second of import.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from trustreport.measures.estimate import Estimate, check_level, undefined

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
