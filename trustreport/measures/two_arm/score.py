"""Limits of a score interval: how far from the estimate the score test still accepts."""

from collections.abc import Callable

from scipy.optimize import brentq


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
