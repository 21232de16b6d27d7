"""Ratio of two independent proportions, p1 / p2: Katz and Koopman intervals.

Not statsmodels': its Koopman limits are other roots where all cases of a group have the event.
"""

from math import exp, inf, log, nan, sqrt

from scipy.optimize import brentq

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.proportion import check_counts, normal_quantile


def katz(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Ratio of two shares with the interval of its logarithm, shown as commonly published.

    ::

        p1 / p2 * exp(+- z sqrt((1 - p1) / x1 + (1 - p2) / x2))

    Estimand: P(event in group 1) / P(event in group 2), groups and cases independent. With the errors of
    the aided arm first this is the relative risk of an error, below 1 = fewer errors with the aid.

    Parameters
    ----------
    x1, n1, x2, n2 : int
        Events and cases of either group.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [0, inf]; `n` counts both groups. Without events in a group there are no limits, and the note
        says so; NaN with a note when a group is empty. `details` holds the standard error of the logarithm.

    References
    ----------
    Katz et al. (1978), Biometrics 34, 469-474, method C.

    Examples
    --------
    >>> print(katz(352, 1548, 367, 1548))
    0.96 (95% CI 0.84 to 1.09; n = 3096)
    """
    (x1, n1), (x2, n2) = check_counts(x1, n1), check_counts(x2, n2)
    z = normal_quantile(level)
    if n1 == 0 or n2 == 0:
        return undefined(n1 + n2, notes.NO_CASE_IN_AN_ARM, level=level, method="katz")
    value = _ratio(x1, n1, x2, n2)
    if x1 == 0 or x2 == 0:
        note = notes.ZERO_CELL if x2 else notes.RATIO_INFINITE_NO_INTERVAL
        note = note if x1 or x2 else notes.NO_ERROR_IN_EITHER_ARM
        return Estimate(value, nan, nan, n1 + n2, level, "katz", note)
    log_se = sqrt((n1 - x1) / (n1 * x1) + (n2 - x2) / (n2 * x2))
    low, high = value * exp(-z * log_se), value * exp(z * log_se)
    note = "" if log_se else notes.NO_WIDTH
    return Estimate(value, low, high, n1 + n2, level, "katz", note, details={"log_se": log_se})


def koopman(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Ratio of two shares with the limits at which the score test just accepts, the default for a ratio.

    The limits are the two f that solve, with p1(f) = f p2(f) the most likely rates at that ratio::

        |x1/n1 - f x2/n2| = z sqrt(p1(f) (1 - p1(f)) / n1 + f^2 p2(f) (1 - p2(f)) / n2)

    Estimand: P(event in group 1) / P(event in group 2), groups and cases independent.

    Parameters
    ----------
    x1, n1, x2, n2 : int
        Events and cases of either group.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [0, inf]; `n` counts both groups. Infinite with a note when only group 2 has no event; undefined,
        between 0 and infinity, when neither has one; NaN with a note when a group is empty.

    References
    ----------
    Koopman (1984), Biometrics 40, 513-517.

    Examples
    --------
    >>> print(koopman(36, 40, 16, 80))
    4.50 (95% CI 2.94 to 7.15; n = 120)
    """
    (x1, n1), (x2, n2) = check_counts(x1, n1), check_counts(x2, n2)
    z = normal_quantile(level)
    if n1 == 0 or n2 == 0:
        return undefined(n1 + n2, notes.NO_CASE_IN_AN_ARM, level=level, method="koopman")
    value = _ratio(x1, n1, x2, n2)
    low = 1 / _highest_ratio(x2, n2, x1, n1, z) if x1 else 0.0
    high = _highest_ratio(x1, n1, x2, n2, z) if x2 else inf
    note = "" if x2 else notes.RATIO_INFINITE if x1 else notes.NO_ERROR_IN_EITHER_ARM
    return Estimate(value, low, high, n1 + n2, level, "koopman", note)


def _ratio(x1: int, n1: int, x2: int, n2: int) -> float:
    if x2 == 0:
        return inf if x1 else nan
    return (x1 * n2) / (n1 * x2)


def _highest_ratio(x1: int, n1: int, x2: int, n2: int, z: float) -> float:
    """The largest ratio that the score test accepts, x2 > 0."""

    def excess(log_f: float) -> float:
        """(gap^2 - allowed) / (gap^2 + allowed): bounded, -1 at the observed ratio."""
        f = exp(log_f)
        a, b = f * (n1 + x2), x1 + n2
        root = sqrt((a - b) * (a - b) + 4 * f * (n1 - x1) * (n2 - x2))
        p1 = min(2 * f * (x1 + x2) / (a + b + root), f, 1.0)
        p2 = p1 / f
        gap = f * x2 / n2 - x1 / n1
        allowed = z * z * (p1 * (1 - p1) / n1 + f * f * p2 * (1 - p2) / n2)
        return (gap * gap - allowed) / (gap * gap + allowed) if gap > 0 else -1.0

    start = log(_ratio(x1, n1, x2, n2) or n2 / (n1 * x2))
    while excess(start) >= 0:
        start -= 1.0
    step = 1.0
    while excess(start + step) < 0:
        step *= 2
    return exp(brentq(excess, start, start + step, xtol=1e-15, rtol=1e-14))
