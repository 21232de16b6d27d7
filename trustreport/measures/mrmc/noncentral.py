"""Power of tests of a difference by Student's t, from its standard error and degrees of freedom."""

from functools import cache
from math import isnan, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, chndtr, fdtri, gammaln, ncfdtr, nctdtr, ndtr, ndtri, stdtrit

from trustreport.measures.mrmc.interval import NORMAL_FROM

LEAST_NONCENTRALITY = 1e-8
# From here on a noncentral probability of 0 may come as NaN (all 1,176 of 400,000 drawn that did were 0).
MOST_NONCENTRALITY = 1000.0
NODES = 400
WIDE = 12.0  # standard errors of a standard deviation beyond which nothing is left

Floats = NDArray[np.float64]


def two_sided_power(noncentrality: float, df: float, alpha: float) -> float:
    """Chance that F with 1 and `df` degrees of freedom is beyond its critical value.

    Examples
    --------
    >>> round(two_sided_power(7.85, float("inf"), 0.05), 2)
    0.8
    """
    # Below it the noncentral distributions of scipy lose their digits.
    if noncentrality < LEAST_NONCENTRALITY:
        return alpha
    if df > NORMAL_FROM:
        return float(1 - chndtr(chdtri(1, alpha), 1, noncentrality))
    return _above(float(ncfdtr(1, df, noncentrality, fdtri(1, df, 1 - alpha))), noncentrality)


def one_sided_power(delta: float, df: float, tail: float) -> float:
    """Chance that t with noncentrality `delta` is above its critical value of a one-sided `tail`."""
    if df > NORMAL_FROM:
        return float(ndtr(delta + ndtri(tail)))
    return _above(float(nctdtr(df, delta, -stdtrit(df, tail))), delta * abs(delta))


def equivalence_power(difference: float, margin: float, se: float, df: float, tail: float) -> float:
    """Chance that both one-sided tests of the margins reject.

    With u = sqrt(chi-square / df), independent of the estimate, and t the one-sided critical value::

        E max(0, Phi((margin - d) / se - t u) - Phi(-(margin + d) / se + t u))

    Parameters
    ----------
    difference : float
        The true difference, in the unit of the margin.
    margin : float
        The largest difference that is of no consequence, on either side; more than 0.
    tail : float
        Level of each of the two tests.

    References
    ----------
    Phillips (1990), J. Pharmacokinet. Biopharm. 18, 137-144.

    Examples
    --------
    >>> se = 0.2936 * (2 / 40) ** 0.5
    >>> round(equivalence_power(-0.05129, 0.22314, se, 38, 0.05), 3)
    0.816
    """
    above, below = (margin - difference) / se, (margin + difference) / se
    if df > NORMAL_FROM:
        z = -float(ndtri(tail))
        return max(0.0, float(ndtr(above - z) - ndtr(z - below)))
    t = -float(stdtrit(df, tail))
    spread = WIDE / sqrt(2 * df)
    low, high = max(0.0, 1 - spread), min(1 + spread, (above + below) / (2 * t))  # beyond, neither rejects
    if high <= low:
        return 0.0
    at, weight = _nodes()
    u = low + (high - low) * at
    density = np.exp(log(2) + df / 2 * log(df / 2) - gammaln(df / 2) + (df - 1) * np.log(u) - df * u**2 / 2)
    inside: Floats = np.maximum(ndtr(above - t * u) - ndtr(t * u - below), 0.0)
    return float((high - low) * weight @ (inside * density))


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss and Legendre on (0, 1)."""
    at, weight = np.polynomial.legendre.leggauss(NODES)
    return (at + 1) / 2, weight / 2


def _above(below: float, noncentrality: float) -> float:
    """1 less a noncentral probability; scipy has NaN for some that are 0 to the last digit, below 1e-140."""
    return 1.0 if isnan(below) and noncentrality > MOST_NONCENTRALITY else 1 - below
