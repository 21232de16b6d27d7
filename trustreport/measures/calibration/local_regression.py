"""Local regression: lowess of the truth over the scores, and loess as R computes it."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST_WEIGHT = 1e-12  # of a case that counts towards a line; a line takes two
LEAST_SPREAD = 1e-12
LEAST_TOTAL = 1e-3  # of the weights of other cases, from which on none of them needs to be looked at
AT_ONCE = 8_000  # weights that are held at a time: few enough to stay in a cache of the processor


def lowess(x: Floats, y: Floats, *, span: float, skip: float) -> Floats:
    """The curve through `y` at each `x`; of several columns at once, for the weights are those of `x` alone.

    ::

        curve(x_i) = value at x_i of the line fitted to the k = [span n] cases nearest to x_i,
                     with weights (1 - (|x - x_i| / h)^3)^3, h = distance of the farthest of them

    Lines are fitted at some of the x, none farther from the next than `skip` where cases lie between;
    between these the curve is straight.

    Parameters
    ----------
    x : float array, shape (n,)
        Ascending.
    y : float array, shape (n,) or (n, n_columns)
    span : float in (0, 1]
    skip : float
        In units of `x`.

    Returns
    -------
    float array, shape of `y`
        Where fewer than two cases have a weight the curve passes through the case itself.

    Notes
    -----
    The values are those of R's lowess and of statsmodels with ``it=0``, up to rounding. Here the weights of
    `x` serve all resampled columns of `y`; statsmodels would compute them anew for each.

    References
    ----------
    Cleveland (1979), J. Am. Stat. Assoc. 74, 829-836.
    """
    n = len(x)
    k = min(n, max(2, int(span * n + 1e-10)))
    at = _anchors(x, skip)
    here = x[at]
    # The window of x_i starts where moving it on would not bring its right end nearer than its left one.
    left = np.searchsorted((x[: n - k] + x[k:]) / 2, here, side="left")
    columns = y.reshape(n, -1)
    windows = sliding_window_view(np.column_stack([x, columns]), k, axis=0)
    fitted = np.empty((len(at), columns.shape[1]))
    step = max(1, AT_ONCE // k)
    for i in range(0, len(at), step):
        block = slice(i, i + step)
        fitted[block], enough = _lines(here[block], windows[left[block]])
        if not enough.all():
            fitted[block][~enough] = columns[at[block][~enough]]
    curve = np.column_stack([np.interp(x, here, column) for column in fitted.T])
    return curve.reshape(y.shape)


def _anchors(x: Floats, skip: float) -> NDArray[np.intp]:
    """Cases at whose x a line is fitted: from each to the last one within `skip`, or else to the next."""
    tied = x.searchsorted(x, side="right") - 1
    beyond = np.minimum(x.searchsorted(x + skip, side="right"), len(x) - 1)
    following = np.maximum(beyond - 1, tied + 1).tolist()
    end = int(x.searchsorted(x[-1]))  # the first of the cases tied with the last
    found = [at := 0]
    while at < end:
        found.append(at := following[at])
    return np.array(found, np.intp)


def _lines(here: Floats, windows: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The values at `here` of the lines fitted to the cases of each window, and where these are enough.

    `windows` holds x and the columns of y, shape (n_lines, 1 + n_columns, k); values (n_lines, n_columns).
    """
    away = windows[:, 0] - here[:, None]
    reach = np.maximum(-away[:, 0], away[:, -1])
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.abs(away)
        weight /= reach[:, None]
        cube = weight * weight
        cube *= weight
        np.subtract(1, cube, out=cube)
        np.multiply(cube, cube, out=weight)
        weight *= cube
        total = weight.sum(axis=1)
        enough = total > 1 + LEAST_TOTAL
        if not enough.all():
            enough[~enough] = np.count_nonzero(weight[~enough] > LEAST_WEIGHT, axis=1) >= 2
        moment = np.multiply(weight, away, out=cube)
        centre = moment.sum(axis=1) / total
        spread = np.einsum("ij,ij->i", moment, away) / total - centre * centre
        tilt = centre / np.maximum(spread, LEAST_SPREAD)
        # The line's value is a sum of the outcomes, each times weight (1 - tilt (away - centre)) / total.
        weight *= ((1 + tilt * centre) / total)[:, None]
        moment *= (tilt / total)[:, None]
        own = np.subtract(weight, moment, out=away)
        values = np.column_stack([np.einsum("ij,ij->i", own, y) for y in windows[:, 1:].swapaxes(0, 1)])
    return values, enough


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
