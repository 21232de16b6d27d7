"""Loess as R computes it: local parabolas at a few places, joined by cubics."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DEGREE = 2
CELL = 0.2  # share of a window's cases with which a stretch is not cut again
TINY = 1e-150  # a spread whose inverse overflows once it is squared
MARGIN = 0.005  # of the range, by which the outermost places lie beyond the cases


def loess(x: Floats, y: Floats, *, span: float) -> Floats:
    """The curve through `y` at each `x`.

    ::

        value and slope at a place v: of the parabola fitted to all cases with weights
            (1 - (|x - v| / h)^3)^3, h = distance of the k-th nearest case, k = [span n]
        between two places: the cubic with these values and slopes

    The places are just beyond the outermost x and, cut by cut, the median of the cases of each stretch that
    still holds more than a fifth of k.

    Parameters
    ----------
    x : float array, shape (n,)
        Ascending, of at least two different values.
    y : float array, shape (n,)
    span : float in (0, 1]

    Returns
    -------
    float array, shape (n,)

    Notes
    -----
    The values are those of R's ``loess(y ~ x, span, degree = 2)`` (``surface = "interpolate"``), which differ
    from those of a parabola fitted at every case.

    References
    ----------
    Cleveland, Devlin (1988), J. Am. Stat. Assoc. 83, 596-610.
    Cleveland, Grosse (1991), Stat. Comput. 1, 47-62 (places and cubics).

    Examples
    --------
    >>> x = np.arange(10.0)
    >>> loess(x, x**2, span=0.75).round(6).tolist()
    [0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0, 81.0]
    """
    n = len(x)
    if x[-1] - x[0] < TINY:
        x = x * 2.0**600  # exact, and the curve does not depend on the unit of x
    k = min(n, int(span * n + 1e-5))
    at = _places(x, int(n * span * CELL))
    value, slope = np.array([_parabola(x, y, v, k) for v in at]).T
    left = np.clip(np.searchsorted(at, x, side="right") - 1, 0, len(at) - 2)
    width = at[left + 1] - at[left]
    u = (x - at[left]) / width
    v = 1 - u
    curve: Floats = (
        (1 + 2 * u) * v * v * value[left]
        + u * v * v * width * slope[left]
        + (1 + 2 * v) * u * u * value[left + 1]
        - u * u * v * width * slope[left + 1]
    )
    return curve


def _places(x: Floats, few: int) -> Floats:
    """Where parabolas are fitted, ascending: cuts until a stretch holds no more than `few` cases."""
    margin = MARGIN * (x[-1] - x[0])
    low, high = float(x[0] - margin), float(x[-1] + margin)
    cuts, stretches = [low, high], [(0, len(x) - 1, low, high)]
    while stretches:
        first, last, a, b = stretches.pop()
        if last - first < few:
            continue
        middle = _between_unlike(x, first, last)
        if middle is None or x[middle] in (a, b):
            continue
        at = float(x[middle])
        cuts.append(at)
        stretches += [(first, middle, a, at), (middle + 1, last, at, b)]
    return np.array(sorted(cuts))


def _between_unlike(x: Floats, first: int, last: int) -> int | None:
    """The case nearest to the middle of a stretch whose successor has another x; None if none has."""
    middle = (first + last) // 2
    for away in range(last - first + 1):
        for at in (middle + away, middle - away):
            if not first <= at < last:
                return None
            if x[at] != x[at + 1]:
                return at
    return None


def _parabola(x: Floats, y: Floats, at: float, k: int) -> tuple[float, float]:
    """Value and slope at a place of the parabola fitted around it."""
    distance = np.abs(x - at)
    reach = np.partition(distance, k - 1)[k - 1]
    near = np.flatnonzero(distance < reach)
    degree = min(DEGREE, int(np.count_nonzero(np.diff(x[near]))))  # what so many different x determine
    if not degree:
        return float(y[near if near.size else distance <= reach].mean()), 0.0
    root = (1 - (distance[near] / reach) ** 3) ** 1.5  # of the weight
    powers = ((x[near] - at) / reach)[:, None] ** np.arange(degree + 1)
    fitted = np.linalg.lstsq(powers * root[:, None], y[near] * root, rcond=None)[0]
    return float(fitted[0]), float(fitted[1] / reach)
