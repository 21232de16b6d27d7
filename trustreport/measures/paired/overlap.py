"""A difference of two arms of which some cases were read in both and some in one only."""

from collections.abc import Callable
from math import sqrt

from scipy.optimize import brentq
from scipy.special import ndtr

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.paired.difference import correlation, third_side
from trustreport.measures.paired.table import PairedTable
from trustreport.measures.proportion import wilson

OVERLAP = "newcombe_overlap"
FARTHEST = 8.0  # standard errors: a p below 2e-15 has no digits left in 1 - p


def newcombe_overlap(
    compared: tuple[int, int], baseline: tuple[int, int], pairs: PairedTable, level: float = 0.95
) -> Estimate:
    """Change in the share of right decisions over all readings of each arm, some of them pairs.

    With p1 of n1 right in the compared arm and p2 of n2 in the baseline, (l, u) their Wilson limits, m pairs
    and phi the correlation within them as in `newcombe_paired`::

        rho  = phi m / sqrt(n1 n2)
        low  = p1 - p2 - sqrt((p1 - l1)^2 - 2 rho (p1 - l1) (u2 - p2) + (u2 - p2)^2)
        high = p1 - p2 + sqrt((u1 - p1)^2 - 2 rho (u1 - p1) (p2 - l2) + (p2 - l2)^2)

    rho is the correlation of the two shares. Where every case is a pair these are the limits of
    `newcombe_paired`, without pairs those of two independent groups.

    Estimand: P(right, compared) - P(right, baseline) of one reader, cases independent.

    Parameters
    ----------
    compared, baseline : (right, read)
    pairs : PairedTable
        Of the cases read in both arms, which are among those of either.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [-1, 1]; `n` counts the readings of the arm with fewer; `p` is 1 less the level at which an
        interval ends at 0. NaN with a note where an arm has none.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 2635-2650, method 10. Zou, Donner (2008), Stat. Med. 27, 1693-1702.
    Derrick, Dobson-McKittrick, Toher, White (2015), J. Appl. Quant. Methods 10 (3), 1-14 (correlation of the
    shares).

    Examples
    --------
    >>> print(newcombe_overlap((45, 55), (34, 50), PairedTable(28, 10, 3, 4)))
    0.14 (95% CI -0.01 to 0.29; n = 50)
    """
    check_level(level)
    (x1, n1), (x2, n2) = compared, baseline
    n = min(n1, n2)
    if not n:
        return undefined(0, notes.NO_CASE, level=level, method=OVERLAP)
    rho = correlation(pairs) * pairs.n / sqrt(n1 * n2)
    value = x1 / n1 - x2 / n2

    def limits(level: float) -> tuple[float, float]:
        one, two = wilson(x1, n1, level), wilson(x2, n2, level)
        below, above = one.value - one.low, one.high - one.value
        up, down = two.high - two.value, two.value - two.low
        return value - third_side(below, up, rho), value + third_side(above, down, rho)

    low, high = limits(level)
    return Estimate(value, low, high, n, level, OVERLAP, p=_p(value, limits), details={"rho": rho})


def _p(value: float, limits: Callable[[float], tuple[float, float]]) -> float:
    """1 less the level of the interval that ends at 0."""
    if not value:
        return 1.0
    end = 0 if value > 0 else 1

    def beyond(z: float) -> float:
        return limits(1 - 2 * float(ndtr(-z)))[end]

    nearest = 1e-6
    if beyond(FARTHEST) * value > 0:
        return 2 * float(ndtr(-FARTHEST))
    return 2 * float(ndtr(-brentq(beyond, nearest, FARTHEST)))
