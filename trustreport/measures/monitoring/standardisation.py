"""Direct standardisation: what a share would have changed by if the mix of cases had stayed as it was."""

from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from trustreport.estimate import Estimate, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.proportion import normal_quantile

METHOD = "direct_standardisation"


def standardised_change(
    events: ArrayLike,
    n: ArrayLike,
    baseline_events: ArrayLike,
    baseline_n: ArrayLike,
    *,
    level: float = 0.95,
) -> Estimate:
    """Change of a share since the baseline with the case mix held at that of the baseline.

    Over the strata j that hold cases of both sets, with W_j the stratum's share of these baseline cases::

        change = sum W_j (p_j - b_j),   V = sum W_j^2 (p~_j (1 - p~_j) / n_j + b~_j (1 - b~_j) / m_j)
        change +- z sqrt(V)

    where p~ and b~ are the shares with one half added to events and non-events, so that a stratum without
    events does not count as certain.

    Estimand: the change in a population with the case mix of the baseline, cases independent.

    Parameters
    ----------
    events, n : int arrays, shape (n_strata,)
        Of the period.
    baseline_events, baseline_n : int arrays, shape (n_strata,)
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [-1, 1]; `n` counts both sets; `details` hold the crude change, both standardised shares and the
        shares of baseline and of present cases in the strata compared. NaN with a note where no stratum holds
        cases of both.

    References
    ----------
    Fleiss, Levin, Paik (2003), Statistical Methods for Rates and Proportions, 3rd ed., chapter 19.

    Examples
    --------
    Half as many hard cases, the same share right in either stratum: nothing has changed.

    >>> found = standardised_change([30, 40], [100, 50], [15, 80], [50, 100])
    >>> abs(round(found.value, 12)), round(found.details["crude"], 4)
    (0.0, -0.1667)
    """
    x, m = np.asarray(events, np.float64), np.asarray(n, np.float64)
    y, k = np.asarray(baseline_events, np.float64), np.asarray(baseline_n, np.float64)
    if not x.shape == m.shape == y.shape == k.shape:
        raise ValueError("events and cases of both sets must have one entry for each stratum.")
    z = normal_quantile(level)
    total = int(m.sum() + k.sum())
    both = (m > 0) & (k > 0)
    if not both.any():
        return undefined(total, notes.NO_COMMON_STRATUM, level=level, method=METHOD)
    crude = float(x.sum() / m.sum() - y.sum() / k.sum())
    covered = float(k[both].sum() / k.sum())
    covered_now = float(m[both].sum() / m.sum())
    note = "" if both.sum() == ((m > 0) | (k > 0)).sum() else notes.NOT_ALL_STRATA
    x, m, y, k = (column[both] for column in (x, m, y, k))
    weight = k / k.sum()
    now, then = x / m, y / k
    smooth = [(events + 0.5) / (cases + 1) for events, cases in ((x, m), (y, k))]
    variance = sum(
        float((weight**2 * share * (1 - share) / cases).sum()) for share, cases in zip(smooth, (m, k))
    )
    value, se = float(weight @ (now - then)), sqrt(variance)
    details = {
        "crude": crude,
        "standardised": float(weight @ now),
        "baseline": float(weight @ then),
        "strata": float(both.sum()),
        "covered": covered,
        "covered_now": covered_now,
    }
    p = two_sided_p(value / se) if se else nan
    low, high = max(-1.0, value - z * se), min(1.0, value + z * se)
    return Estimate(value, low, high, total, level, METHOD, note, se=se, p=p, details=details)
