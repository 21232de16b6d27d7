"""One proportion: Wald, Wilson and Clopper-Pearson intervals.

Not statsmodels': its Wilson interval takes 24 times as long, groups and draws ask for thousands, and its
exact limits are off by a factor of two for 1,000 events in 1e9 cases.
"""

from collections.abc import Callable
from math import sqrt

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE

# Of SciPy each function imports what it uses: the process that draws needs this module, and not SciPy.


def check_counts(x: int, n: int) -> tuple[int, int]:
    """Refuse counts that are negative, not whole, or more events than cases."""
    for name, count in (("x", x), ("n", n)):
        if not (count >= 0 and count == int(count)):
            raise ValueError(f"{name} must be a count (0, 1, 2, ...), got {count}.")
    if x > n:
        raise ValueError(f"x must not exceed n, got x = {x} and n = {n}.")
    return int(x), int(n)


def normal_quantile(level: float) -> float:
    """The z of a two-sided interval: 1.96 for level 0.95."""
    from scipy.special import ndtri

    check_level(level)
    return float(-ndtri((1 - level) / 2))


def wald(x: int, n: int, level: float = 0.95) -> Estimate:
    """Share of events with the textbook interval, shown as commonly published.

    ::

        p +- z sqrt(p (1 - p) / n),   p = x / n

    Estimand: the probability of an event, cases independent.

    Parameters
    ----------
    x, n : int
        Events and cases, 0 <= x <= n.

    Returns
    -------
    Limits are not cut at 0 and 1. Without events, or with nothing else, the width is 0 and the note
    says so; NaN with a note when n is 0.

    Notes
    -----
    Covers less often than it says for small n or rare events; prefer `wilson`.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 857-872, method 1.

    Examples
    --------
    >>> est = wald(352, 1548)
    >>> print(f"{est.value:.3f} [{est.low:.3f}, {est.high:.3f}]")
    0.227 [0.207, 0.248]
    """
    x, n = check_counts(x, n)
    z = normal_quantile(level)
    if n == 0:
        return undefined(0, notes.NO_CASE, level=level, method="wald")
    p = x / n
    se = sqrt(p * (1 - p) / n)
    return Estimate(p, p - z * se, p + z * se, n, level, "wald", NO_NOTE if se else notes.NO_WIDTH, se=se)


def wilson(x: int, n: int, level: float = 0.95) -> Estimate:
    """Share of events with the score interval, the default for a proportion.

    The limits are the p at which the score test just accepts x, the roots of::

        |x / n - p| = z sqrt(p (1 - p) / n)

    Estimand: the probability of an event, cases independent.

    Parameters
    ----------
    x, n : int
        Events and cases, 0 <= x <= n.

    Returns
    -------
    Proportion in [0, 1]; NaN with a note when n is 0.

    Notes
    -----
    Takes cases as independent; several readings of one case are not.

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.
    Newcombe (1998), Stat. Med. 17, 857-872, method 3.

    Examples
    --------
    >>> print(wilson(81, 263))
    0.31 (95% CI 0.26 to 0.37; n = 263)
    """
    x, n = check_counts(x, n)
    z = normal_quantile(level)
    if n == 0:
        return undefined(0, notes.NO_CASE, level=level, method="wilson")
    root = z * sqrt(z * z + 4 * x * ((n - x) / n))
    high = 1.0 if x == n else (2 * x + z * z + root) / (2 * (n + z * z))
    low = (x / n) * x / (n + z * z) / high  # product of the two roots: no cancellation for rare events
    return Estimate(x / n, low, high, n, level, "wilson")


def clopper_pearson(x: int, n: int, level: float = 0.95) -> Estimate:
    """Share of events with the exact interval, which covers at least as often as it says.

    The limits are the p with tail probability (1 - level) / 2 each::

        P(X >= x; low) = P(X <= x; high) = (1 - level) / 2,   X binomial (n, p)

    Estimand: the probability of an event, cases independent.

    Parameters
    ----------
    x, n : int
        Events and cases, 0 <= x <= n.

    Returns
    -------
    Proportion in [0, 1]; NaN with a note when n is 0.

    Notes
    -----
    Conservative: wider than it need be for small n.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> print(clopper_pearson(15, 148))
    0.10 (95% CI 0.06 to 0.16; n = 148)
    """
    x, n = check_counts(x, n)
    check_level(level)
    if n == 0:
        return undefined(0, notes.NO_CASE, level=level, method="clopper_pearson")
    return Estimate(x / n, *exact_limits(x, n, level), n, level, "clopper_pearson")


def exact_limits(x: float, n: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of x / n; the counts need not be whole."""
    from scipy.special import betainc, betaincc

    tail = (1 - level) / 2
    low = _where_equal(betainc, x, n - x + 1, tail) if x else 0.0  # P(X >= x; p) = P(Beta <= p)
    high = _where_equal(betaincc, x + 1, n - x, tail) if x < n else 1.0
    return low, high


def _where_equal(
    probability: Callable[[float, float, float], float], a: float, b: float, tail: float
) -> float:
    """The p with probability(a, b, p) = tail.

    By root finding: scipy 1.17's betaincinv is off by a factor of two for 1,000 events in 1e9 cases.
    """
    from scipy.optimize import brentq

    def excess(p: float) -> float:
        return probability(a, b, p) - tail

    return float(brentq(excess, 0.0, 1.0, xtol=1e-300, rtol=1e-14, maxiter=2000))
