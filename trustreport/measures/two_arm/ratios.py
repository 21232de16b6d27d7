"""Two independent groups: ratio and odds ratio of two proportions.

Not statsmodels': its Koopman limits are other roots where all cases of a group have the event.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp, inf, log, log1p, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.proportion import check_counts, normal_quantile


def katz(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Ratio of two shares with the interval of its logarithm, shown as commonly published.

    ::

        p1 / p2 * exp(+- z sqrt((1 - p1) / x1 + (1 - p2) / x2))

    Estimand: P(event in group 1) / P(event in group 2), groups and cases independent. With the errors of
    the aided arm first this is the relative risk of an error, below 1 = fewer errors with the aid.

    Returns
    -------
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
    note = NO_NOTE if log_se else notes.NO_WIDTH
    return Estimate(value, low, high, n1 + n2, level, "katz", note, details={"log_se": log_se})


def koopman(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Ratio of two shares with the limits at which the score test just accepts, the default for a ratio.

    The limits are the two f that solve, with p1(f) = f p2(f) the most likely rates at that ratio::

        |x1/n1 - f x2/n2| = z sqrt(p1(f) (1 - p1(f)) / n1 + f^2 p2(f) (1 - p2(f)) / n2)

    Estimand: P(event in group 1) / P(event in group 2), groups and cases independent.

    Returns
    -------
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
    note = NO_NOTE if x2 else notes.RATIO_INFINITE if x1 else notes.NO_ERROR_IN_EITHER_ARM
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


MOST_TABLES = 2**19  # an exact interval sums over no more; reached at some 1e9 cases
TIE = 1e-7  # as likely as, in R's fisher.test: relative difference of two probabilities


def woolf(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Odds ratio of two shares with the interval of its logarithm, as most papers print it.

    ::

        OR exp(+- z sqrt(1/x1 + 1/(n1 - x1) + 1/x2 + 1/(n2 - x2))),   OR = x1 (n2 - x2) / (x2 (n1 - x1))

    Estimand: odds of an event in group 1 / odds in group 2, groups and cases independent. With the errors
    of the aided arm first, below 1 = fewer errors with the aid.

    Returns
    -------
    In [0, inf]; `n` counts both groups. With a zero count there are no limits, and the note says so
    (nothing is added to the counts); NaN with a note when the ratio is 0/0. `details` holds the standard
    error of the logarithm.

    References
    ----------
    Woolf (1955), Ann. Hum. Genet. 19, 251-253.

    Examples
    --------
    >>> est = woolf(352, 1548, 367, 1548)
    >>> print(f"{est.value:.3f} [{est.low:.4f}, {est.high:.4f}]")
    0.947 [0.8015, 1.1191]
    """
    (x1, n1), (x2, n2) = check_counts(x1, n1), check_counts(x2, n2)
    z = normal_quantile(level)
    value, note = _odds_ratio(x1, n1, x2, n2)
    cells = (x1, n1 - x1, x2, n2 - x2)
    if 0 in cells:
        note = notes.ODDS_INFINITE_NO_INTERVAL if value == inf else note or notes.ZERO_CELL
        return Estimate(value, nan, nan, n1 + n2, level, "woolf", note)
    log_se = sqrt(sum(1 / cell for cell in cells))
    low, high = value * exp(-z * log_se), value * exp(z * log_se)
    return Estimate(value, low, high, n1 + n2, level, "woolf", details={"log_se": log_se})


def exact_conditional(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Odds ratio of two shares with the exact interval that puts half of the doubt on either side.

    Given the total of events, X1 is noncentral hypergeometric with the odds ratio w as parameter::

        P(X1 = t; w) proportional to C(n1, t) C(n2, x1 + x2 - t) w^t
        P(X1 >= x1; low) = P(X1 <= x1; high) = (1 - level) / 2

    Estimand: odds of an event in group 1 / odds in group 2, groups and cases independent.

    Returns
    -------
    In [0, inf]; `n` counts both groups. `value` is the sample odds ratio, the same under every method;
    `details` holds the conditional maximum likelihood estimate, which R's fisher.test prints. 0/0: NaN,
    between 0 and infinity, with a note. Where more than `MOST_TABLES` tables matter, no limits.

    Notes
    -----
    Covers at least as often as it says; `baptista_pike` does so too and is shorter. The probabilities are
    summed in a window around the mode; what lies outside is below 1e-17 of it.

    References
    ----------
    Cornfield (1956), Proc. 3rd Berkeley Symp. 4, 135-148.

    Examples
    --------
    >>> est = exact_conditional(10, 100, 20, 100)
    >>> print(f"{est.value:.3f} [{est.low:.3f}, {est.high:.3f}]; {est.details['conditional_mle']:.3f}")
    0.444 [0.175, 1.069]; 0.446
    """
    (x1, n1), (x2, n2) = check_counts(x1, n1), check_counts(x2, n2)
    check_level(level)
    if n1 == 0 or n2 == 0:
        return undefined(n1 + n2, notes.NO_CASE_IN_AN_ARM, level=level, method="exact_conditional")
    value, note = _odds_ratio(x1, n1, x2, n2)
    try:
        low, high = (exp(log_w) for log_w in _tail_limits(x1, n1, x2, n2, (1 - level) / 2))
        mle = _conditional_mle(x1, n1, x2, n2)
    except _TooManyTables:
        return Estimate(value, nan, nan, n1 + n2, level, "exact_conditional", notes.TOO_MANY_TABLES)
    return Estimate(
        value, low, high, n1 + n2, level, "exact_conditional", note, details={"conditional_mle": mle}
    )


def baptista_pike(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> Estimate:
    """Odds ratio of two shares with the interval that agrees with Fisher's two-sided exact test.

    All w that the test accepts, from the first to the last, where the two-sided p sums the tables that are
    no more likely than the one observed (up to a relative 1e-7, as R's fisher.test does)::

        p(w) = sum of P(X1 = t; w) over t with P(X1 = t; w) <= P(X1 = x1; w),   accepted: p(w) >= 1 - level

    Estimand: odds of an event in group 1 / odds in group 2, groups and cases independent.

    Returns
    -------
    In [0, inf]; `n` counts both groups; 0/0: NaN, between 0 and infinity, with a note. Where more than
    `MOST_TABLES` tables matter, no limits.

    Notes
    -----
    p(w) jumps where a table leaves the sum, so a limit may sit at a jump (often 1) and the set may have
    holes; the interval is its hull. Covers at least as often as it says.

    References
    ----------
    Baptista and Pike (1977), Appl. Stat. 26, 214-220.
    Fagerland, Lydersen and Laake (2015), Stat. Methods Med. Res. 24, 224-254.

    Examples
    --------
    >>> est = baptista_pike(10, 100, 20, 100)
    >>> print(f"{est.value:.3f} [{est.low:.3f}, {est.high:.3f}]")
    0.444 [0.193, 1.007]
    """
    (x1, n1), (x2, n2) = check_counts(x1, n1), check_counts(x2, n2)
    check_level(level)
    if n1 == 0 or n2 == 0:
        return undefined(n1 + n2, notes.NO_CASE_IN_AN_ARM, level=level, method="baptista_pike")
    value, note = _odds_ratio(x1, n1, x2, n2)
    try:
        low = exp(-_last_accepted(x2, n2, x1, n1, 1 - level))
        high = exp(_last_accepted(x1, n1, x2, n2, 1 - level))
    except _TooManyTables:
        return Estimate(value, nan, nan, n1 + n2, level, "baptista_pike", notes.TOO_MANY_TABLES)
    return Estimate(value, low, high, n1 + n2, level, "baptista_pike", note)


def _odds_ratio(x1: int, n1: int, x2: int, n2: int) -> tuple[float, Note]:
    """The sample odds ratio and, where it is not a finite number, why."""
    above, below = x1 * (n2 - x2), x2 * (n1 - x1)
    if below:
        return above / below, NO_NOTE
    if above:
        return inf, notes.ODDS_INFINITE
    if n1 == 0 or n2 == 0:
        return nan, notes.NO_CASE_IN_AN_ARM
    return nan, notes.NO_ERROR_IN_EITHER_ARM if x1 == 0 else notes.ONLY_ERRORS_IN_BOTH_ARMS


class _TooManyTables(Exception):
    """More tables matter than `MOST_TABLES`."""


@dataclass(frozen=True)
class _Window:
    """Tables with the observed margins whose first count is near the observed one.

    `step` is t - x1, `log_weight` the logarithm of P(t; 1) / P(x1; 1), `at` the place of x1 in both;
    `cut_low` and `cut_high` say whether there are tables beyond the window.
    """

    step: NDArray[np.float64]
    log_weight: NDArray[np.float64]
    at: int
    cut_low: bool
    cut_high: bool

    def probabilities(self, log_w: float) -> NDArray[np.float64]:
        """P(X1 = t) for the tables of the window at the odds ratio exp(log_w)."""
        exponent = self.log_weight + self.step * log_w
        weight: NDArray[np.float64] = np.exp(exponent - exponent.max())
        weight /= weight.sum()
        return weight

    def lower_tail(self, log_w: float) -> float:
        """P(X1 <= x1)."""
        return float(self.probabilities(log_w)[: self.at + 1].sum())

    def suffices(self, log_w: float) -> bool:
        """Whether the tables left out weigh nothing at this odds ratio."""
        p = self.probabilities(log_w)
        return not ((self.cut_low and p[0] > 1e-17 * p.max()) or (self.cut_high and p[-1] > 1e-17 * p.max()))


def _window(x1: int, n1: int, x2: int, n2: int, half_width: int) -> _Window:
    m = x1 + x2
    first, last = max(0, m - n2), min(n1, m)
    low, high = max(first, x1 - half_width), min(last, x1 + half_width)
    if high - low >= MOST_TABLES:
        raise _TooManyTables
    t = np.arange(low, high, dtype=float)
    rise = np.log((n1 - t) / (t + 1)) + np.log((m - t) / (n2 - m + t + 1))
    log_weight = np.concatenate([[0.0], np.cumsum(rise)])
    at = x1 - low
    step = np.arange(low - x1, high - x1 + 1, dtype=float)
    return _Window(step, log_weight - log_weight[at], at, low > first, high < last)


def _solve(
    x1: int, n1: int, x2: int, n2: int, rising: Callable[[_Window, float], float]
) -> tuple[float, _Window]:
    """The log odds ratio at which `rising` is zero, and a window that is wide enough there."""
    spread = 1 / sqrt(sum(1 / (cell + 0.5) for cell in (x1, n1 - x1, x2, n2 - x2)))
    start = log((x1 + 0.5) / (n1 - x1 + 0.5)) - log((x2 + 0.5) / (n2 - x2 + 0.5))
    half_width = 50 + int(12 * spread)
    while True:
        window = _window(x1, n1, x2, n2, half_width)
        log_w = _zero(partial(rising, window), start, 1 / spread)
        if window.suffices(log_w):
            return log_w, window
        half_width *= 2


def _zero(rising: Callable[[float], float], start: float, step: float) -> float:
    left = right = start
    reach = step
    while rising(left) > 0:
        left, reach = left - reach, 2 * reach
    reach = step
    while rising(right) < 0:
        right, reach = right + reach, 2 * reach
    return float(brentq(rising, left, right, xtol=1e-14, rtol=1e-14))


def _upper(x1: int, n1: int, x2: int, n2: int, tail: float) -> tuple[float, _Window]:
    """The log odds ratio with P(X1 <= x1) = tail; some table has a larger X1."""
    return _solve(x1, n1, x2, n2, lambda window, log_w: tail - window.lower_tail(log_w))


def _tail_limits(x1: int, n1: int, x2: int, n2: int, tail: float) -> tuple[float, float]:
    """Log odds ratios with P(X1 >= x1) = tail and P(X1 <= x1) = tail, infinite at an end of the support."""
    low = -_upper(x2, n2, x1, n1, tail)[0] if x1 > 0 and x2 < n2 else -inf
    high = _upper(x1, n1, x2, n2, tail)[0] if x2 > 0 and x1 < n1 else inf
    return low, high


def _conditional_mle(x1: int, n1: int, x2: int, n2: int) -> float:
    """The odds ratio at which the mean of X1 is x1."""
    if 0 in (x1, n1 - x1, x2, n2 - x2):
        return _odds_ratio(x1, n1, x2, n2)[0]
    log_w, _ = _solve(x1, n1, x2, n2, lambda window, log_w: float(window.probabilities(log_w) @ window.step))
    return exp(log_w)


def _last_accepted(x1: int, n1: int, x2: int, n2: int, alpha: float) -> float:
    """The largest log odds ratio with a two-sided exact p of at least alpha.

    A table t > x1 is no more likely than x1 up to `leaves[t]`, which rises with t. So upwards of the first
    of these, p is P(X1 <= x1) + P(X1 >= t) between one and the next: minus the probability of a run of
    tables, which rises and then falls. Hence on such a piece p is highest at an end, and over many pieces
    it is at most P(X1 <= x1) at the left end + P(X1 >= first t) at the right end.
    """
    larger = min(n1, x1 + x2) - x1
    if larger == 0:
        return inf
    farthest, window = _upper(x1, n1, x2, n2, alpha / (1 + larger))  # rejected from there on
    at = window.at
    leaves = (log1p(TIE) - window.log_weight[at + 1 :]) / window.step[at + 1 :]
    ends = np.append(leaves[leaves < farthest], farthest)

    def bound(left: float, right: float, first: int) -> float:
        """P(X1 <= x1) at `left` + P(X1 >= x1 + first) at `right`: the p-value where they are the same."""
        return window.lower_tail(left) + float(window.probabilities(right)[at + first :].sum())

    def excess(log_w: float, first: int) -> float:
        return bound(log_w, log_w, first) - alpha

    pieces = [(1, len(ends) - 1)]
    while pieces:
        i, j = pieces.pop()
        if i > j or bound(ends[i - 1], ends[j], i + 1) < alpha:
            continue
        if i < j:
            middle = (i + j) // 2
            pieces += [(i, middle), (middle + 1, j)]
        elif excess(ends[i], i + 1) >= 0:
            return float(ends[i])
        elif excess(ends[i - 1], i + 1) >= 0:
            return float(brentq(excess, ends[i - 1], ends[i], args=(i + 1,), xtol=1e-14, rtol=1e-14))
    return float(ends[0])
