"""Change of a quantity between two sets of cases, from the estimate of each.

The sets are independent, or share clusters (patients seen in both periods): then `correlation` is that of the
two estimates (`measures.monitoring.shared`), and the degrees of freedom are no more than `clusters` - 1.
"""

from math import exp, hypot, inf, isfinite, log, nan, sqrt

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.mrmc.interval import quantile, two_sided_p


def wald_change(
    now: Estimate, then: Estimate, *, correlation: float = 0.0, clusters: float = inf, level: float = 0.95
) -> Estimate:
    """Difference of two estimates by their standard errors, with r their correlation.

    ::

        now - then +- q sqrt(se^2 + se'^2 - 2 r se se')

    q is normal; where a standard error has degrees of freedom (clusters), Student's t with Satterthwaite's.

    Returns
    -------
    Estimate
        `n` counts both sets; `p` tests no change. NaN with the note of the one that is undefined; no limits
        where one has no standard error.

    References
    ----------
    Satterthwaite (1946), Biom. Bull. 2, 110-114.

    Examples
    --------
    >>> one, other = (Estimate(v, nan, nan, 50, se=0.3) for v in (1.0, 0.4))
    >>> print(wald_change(one, other))
    0.60 (95% CI -0.23 to 1.43; n = 100)
    """
    method, n = "wald_independent", now.n + then.n
    check_level(level)
    for part in (now, then):
        if part.value != part.value:
            return undefined(n, part.note, level=level, method=method)
    value = now.value - then.value
    if not (now.se > 0 and then.se > 0):
        return Estimate(value, nan, nan, n, level, method, notes.NO_INTERVAL)
    se, df = _combined(now, then, correlation, clusters)
    if not se > 0:
        return Estimate(value, nan, nan, n, level, method, notes.NO_INTERVAL)
    half, p = quantile(df, level) * se, two_sided_p(value / se, df)
    return Estimate(value, value - half, value + half, n, level, method, se=se, df=_shown(df), p=p)


def ratio_change(
    now: Estimate, then: Estimate, *, correlation: float = 0.0, clusters: float = inf, level: float = 0.95
) -> Estimate:
    """Ratio of two ratios whose standard errors are those of their logarithms, with r their correlation.

    ::

        exp(ln now - ln then +- q sqrt(se^2 + se'^2 - 2 r se se'))

    q is that of `wald_change`.

    Returns
    -------
    Estimate
        1 = no change; `se` on the scale of the logarithm; NaN with a note where one is undefined, 0 or
        infinite.

    Examples
    --------
    >>> one, other = (Estimate(v, nan, nan, 50, se=0.3) for v in (2.0, 1.0))
    >>> print(ratio_change(one, other))
    2.00 (95% CI 0.87 to 4.59; n = 100)
    """
    method, n = "log_wald_independent", now.n + then.n
    check_level(level)
    for part in (now, then):
        if part.value != part.value:
            return undefined(n, part.note, level=level, method=method)
    if not (0 < now.value < inf and 0 < then.value < inf):
        return undefined(n, notes.INFINITE_RATIO, level=level, method=method)
    value = now.value / then.value
    if not (now.se > 0 and then.se > 0):
        return Estimate(value, nan, nan, n, level, method, notes.NO_INTERVAL)
    se, df = _combined(now, then, correlation, clusters)
    if not se > 0:
        return Estimate(value, nan, nan, n, level, method, notes.NO_INTERVAL)
    factor, p = exp(quantile(df, level) * se), two_sided_p(log(value) / se, df)
    return Estimate(value, value / factor, value * factor, n, level, method, se=se, df=_shown(df), p=p)


def _combined(now: Estimate, then: Estimate, correlation: float, clusters: float) -> tuple[float, float]:
    """Standard error of a difference, and its degrees of freedom: infinite where neither part has any."""
    known = [(part.se, part.df) for part in (now, then) if isfinite(part.df) and part.df > 0]
    variance = now.se**2 + then.se**2
    below = sum(se**4 / df for se, df in known)
    df = min(variance**2 / below, clusters - 1) if below else inf
    return sqrt(max(0.0, variance - 2 * correlation * now.se * then.se)), df


def _shown(df: float) -> float:
    return df if isfinite(df) else nan


def mover_change(
    now: Estimate,
    then: Estimate,
    *,
    ratio: bool = False,
    correlation: float = 0.0,
    level: float = 0.95,
) -> Estimate:
    """Difference of two estimates, its limits put together from the limits of each.

    With r the correlation of the two, and of either estimate the distances to its limits, below and above::

        low = now - then - sqrt(below^2 + above'^2 - 2 r below above')
        high = now - then + sqrt(above^2 + below'^2 - 2 r above below')

    With Wilson limits of two independent shares this is Newcombe's interval. A ratio is the same on the
    logarithm.

    Returns
    -------
    Estimate
        `n` counts both sets. NaN with the note of the one that is undefined, or for a ratio where one is 0 or
        infinite; no limits where one has none.

    References
    ----------
    Zou, Donner (2008), Stat. Med. 27, 1693-1702. Newcombe (1998), Stat. Med. 17, 873-890, method 10.

    Examples
    --------
    >>> from trustreport.measures.proportion import wilson
    >>> found = mover_change(wilson(56, 70), wilson(48, 80))
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")  # Newcombe (1998), Table II
    0.2000 [0.0524, 0.3339]
    """
    method, n = "log_mover" if ratio else "mover", now.n + then.n
    check_level(level)
    for part in (now, then):
        if part.value != part.value:
            return undefined(n, part.note, level=level, method=method)
    if ratio and not (0 < now.value < inf and 0 < then.value < inf):
        return undefined(n, notes.INFINITE_RATIO, level=level, method=method)
    a, b = (_scaled(e, ratio) for e in (now, then))
    value = a[0] - b[0]
    back = exp if ratio else float
    if not all(map(isfinite, (*a, *b))):
        return Estimate(back(value), nan, nan, n, level, method, notes.NO_LIMITS)
    low = value - _third_side(a[0] - a[1], b[2] - b[0], correlation)
    high = value + _third_side(a[2] - a[0], b[0] - b[1], correlation)
    return Estimate(back(value), back(low), back(high), n, level, method)


def _third_side(one: float, other: float, correlation: float) -> float:
    """The third side of a triangle whose other two have this cosine between them."""
    if not correlation:
        return hypot(one, other)
    return sqrt(max(0.0, one**2 + other**2 - 2 * correlation * one * other))


def _scaled(e: Estimate, ratio: bool) -> tuple[float, float, float]:
    """Value and limits, or their logarithms."""
    if not ratio:
        return e.value, e.low, e.high
    value, low, high = (log(x) if 0 < x < inf else nan for x in (e.value, e.low, e.high))
    return value, low, high
