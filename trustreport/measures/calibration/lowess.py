"""Lowess without robust steps: local lines over the nearest share of the cases."""

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

    Examples
    --------
    >>> x = np.arange(10.0)
    >>> lowess(x, 2 * x + 1, span=0.5, skip=0.0).round(9).tolist()
    [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0, 19.0]
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
