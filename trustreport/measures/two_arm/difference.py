"""Two independent groups: difference of two proportions, and the number of decisions for one error less.

Not statsmodels': its Miettinen-Nurminen limits are not the published ones (56 of 70 and 48 of 80: to 0.344 in
place of 0.338), and a quarter of drawn tables ends in an error; the two others are a line each.
"""

from collections.abc import Callable
from math import hypot, inf, isnan, nan, sqrt

from scipy.optimize import brentq

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE
from trustreport.measures.proportion import check_counts, normal_quantile, wilson


def score_distance(variance: Callable[[float], float], z: float, farthest: float) -> float:
    """The distance h in (0, farthest] from the estimate with h^2 = z^2 variance(h).

    `variance(h)` is the variance of the estimate under the hypothesis at distance h. The quotient below is
    bounded and rises from -1 to 1, also where the variance vanishes at either end.
    """

    def excess(h: float) -> float:
        allowed = z * z * variance(h)
        return (h * h - allowed) / (h * h + allowed) if h else -1.0

    if farthest <= 0 or excess(farthest) <= 0:
        return max(farthest, 0.0)
    return float(brentq(excess, 0.0, farthest, xtol=1e-300, rtol=1e-14, maxiter=2000))


def wald(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Difference of two shares with the textbook interval, shown as commonly published.

    ::

        p1 - p2 +- z sqrt(p1 (1 - p1) / n1 + p2 (1 - p2) / n2)

    Estimand: P(event in group 1) - P(event in group 2), groups and cases independent. With the unaided
    arm's errors first this is the absolute risk reduction, positive = fewer errors with the aid.

    Returns
    -------
    In [-1, 1], limits not cut; `n` counts both groups. Width 0 with a note when neither group varies;
    NaN with a note when a group is empty.

    Notes
    -----
    Covers less often than it says near 0 and 1; prefer `newcombe`.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 873-890, method 1.

    Examples
    --------
    >>> est = wald(56, 70, 48, 80)
    >>> print(f"{est.value:.4f} [{est.low:.4f}, {est.high:.4f}]")
    0.2000 [0.0575, 0.3425]
    """
    (x1, n1), (x2, n2) = check_counts(x1, n1), check_counts(x2, n2)
    z = normal_quantile(level)
    if n1 == 0 or n2 == 0:
        return undefined(n1 + n2, notes.NO_CASE_IN_AN_ARM, level=level, method="wald")
    p1, p2 = x1 / n1, x2 / n2
    se = sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
    value = _difference(x1, n1, x2, n2)
    note = NO_NOTE if se else notes.NO_WIDTH
    return Estimate(value, value - z * se, value + z * se, n1 + n2, level, "wald", note, se=se)


def newcombe(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Difference of two shares with limits put together from the Wilson limits of each.

    With (l1, u1) and (l2, u2) the Wilson limits of p1 and p2::

        low = p1 - p2 - sqrt((p1 - l1) ^ 2 + (u2 - p2) ^ 2)
        high = p1 - p2 + sqrt((u1 - p1) ^ 2 + (p2 - l2) ^ 2)

    Estimand: P(event in group 1) - P(event in group 2), groups and cases independent.

    Returns
    -------
    In [-1, 1]; `n` counts both groups; NaN with a note when a group is empty.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 873-890, method 10.

    Examples
    --------
    >>> est = newcombe(56, 70, 48, 80)
    >>> print(f"{est.value:.4f} [{est.low:.4f}, {est.high:.4f}]")
    0.2000 [0.0524, 0.3339]
    """
    one, two = wilson(x1, n1, level), wilson(x2, n2, level)
    if one.n == 0 or two.n == 0:
        return undefined(one.n + two.n, notes.NO_CASE_IN_AN_ARM, level=level, method="newcombe")
    value = _difference(int(x1), one.n, int(x2), two.n)
    low = value - hypot(one.value - one.low, two.high - two.value)
    high = value + hypot(one.high - one.value, two.value - two.low)
    return Estimate(value, low, high, one.n + two.n, level, "newcombe")


def miettinen_nurminen(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Difference of two shares with the limits at which the score test just accepts.

    The limits are the two d that solve, with p1(d) = p2(d) + d the most likely rates at that difference::

        |x1/n1 - x2/n2 - d| = z sqrt((p1(d) (1 - p1(d)) / n1 + p2(d) (1 - p2(d)) / n2) N / (N - 1))

    and N = n1 + n2.

    Estimand: P(event in group 1) - P(event in group 2), groups and cases independent.

    Returns
    -------
    In [-1, 1]; `n` counts both groups; of positive width also when neither group has an event; NaN with
    a note when a group is empty.

    Notes
    -----
    The rates at d come from the likelihood equation: its closed form loses every digit for rare events.

    References
    ----------
    Miettinen and Nurminen (1985), Stat. Med. 4, 213-226.

    Examples
    --------
    >>> est = miettinen_nurminen(56, 70, 48, 80)
    >>> print(f"{est.value:.4f} [{est.low:.4f}, {est.high:.4f}]")
    0.2000 [0.0528, 0.3382]
    """
    (x1, n1), (x2, n2) = check_counts(x1, n1), check_counts(x2, n2)
    z = normal_quantile(level)
    if n1 == 0 or n2 == 0:
        return undefined(n1 + n2, notes.NO_CASE_IN_AN_ARM, level=level, method="miettinen_nurminen")
    low, high = score_limits(x1, n1, x2, n2, z)
    return Estimate(_difference(x1, n1, x2, n2), low, high, n1 + n2, level, "miettinen_nurminen")


def score_limits(x1: int, n1: int, x2: int, n2: int, z: float) -> tuple[float, float]:
    """Miettinen and Nurminen's limits of x1/n1 - x2/n2 at the quantile z."""
    value = _difference(x1, n1, x2, n2)

    def above(h: float) -> float:
        return score_variance(value + h, x1, n1, x2, n2)

    def below(h: float) -> float:
        return score_variance(value - h, x1, n1, x2, n2)

    return value - score_distance(below, z, 1 + value), value + score_distance(above, z, 1 - value)


def _difference(x1: int, n1: int, x2: int, n2: int) -> float:
    """x1/n1 - x2/n2, rounded once: whole numbers do not cancel."""
    return (x1 * n2 - x2 * n1) / (n1 * n2)


def score_variance(d: float, x1: int, n1: int, x2: int, n2: int) -> float:
    """Miettinen-Nurminen variance of the difference under the hypothesis that it is d."""
    if 2 * (x1 + x2) > n1 + n2:  # count the rarer outcome: rates near 0 keep their digits
        x1, x2, d = n1 - x1, n2 - x2, -d
    if d < 0:
        x1, n1, x2, n2, d = x2, n2, x1, n1, -d
    p2 = _restricted_rate(d, x1, n1, x2, n2)
    p1 = min(p2 + d, 1.0)
    return (p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2) * (n1 + n2) / (n1 + n2 - 1)


def _restricted_rate(d: float, x1: int, n1: int, x2: int, n2: int) -> float:
    """The most likely p2 in [0, 1 - d] given p1 = p2 + d, d >= 0."""
    if d == 0:
        return (x1 + x2) / (n1 + n2)
    top = 1 - d
    if top <= 0:
        return 0.0

    def slope(p: float) -> float:
        """Derivative of the log likelihood; falls in p."""
        rise = x1 / (p + d) + (x2 / p if x2 else 0.0)
        return rise - (n2 - x2) / (1 - p) - ((n1 - x1) / (top - p) if x1 < n1 else 0.0)

    if x2 == 0 and slope(0.0) <= 0:
        return 0.0
    if x1 == n1 and slope(top) >= 0:
        return top
    left = right = top / 2
    while slope(left) < 0:
        left /= 4
    while slope(right) > 0:
        right = top - (top - right) / 4
    return float(brentq(slope, left, right, xtol=1e-300, rtol=1e-13)) if left < right else left


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
    103.2: interval_difference_holds_zero_number_needed
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
    note = (NO_NOTE if low and high else notes.LIMIT_ZERO) + often
    low, high = 1 / high if high else -inf, 1 / low if low else inf
    return Estimate(value, low, high, n, level, method, note, details=pieces)


def _cleaned(difference: float) -> float:
    """A possible difference of rates, without the rounding error that equal rates may leave."""
    return 0.0 if abs(difference) < ROUNDING else min(max(difference, -1.0), 1.0)
