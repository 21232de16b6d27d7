"""Lowess without robust steps: local lines over the nearest share of the cases."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST_WEIGHT = 1e-12  # of a case that counts towards a line; a line takes two
LEAST_SPREAD = 1e-12
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
    The values are those of R's lowess and of statsmodels with ``it=0``, up to rounding.

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
    # The window of x_i starts where moving it on would not bring its right end nearer than its left one.
    left = np.searchsorted((x[: n - k] + x[k:]) / 2, x[at], side="left")
    columns = y.reshape(n, -1)
    fitted = np.empty((len(at), columns.shape[1]))
    step = max(1, AT_ONCE // k)
    for i in range(0, len(at), step):
        block = slice(i, i + step)
        fitted[block] = _lines(x, columns, at[block], left[block], k)
    curve = np.column_stack([np.interp(x, x[at], column) for column in fitted.T])
    return curve.reshape(y.shape)


def _anchors(x: Floats, skip: float) -> NDArray[np.intp]:
    """Cases at whose x a line is fitted: from each to the last one within `skip`, or else to the next."""
    last = len(x) - 1
    tied = np.searchsorted(x, x, side="right") - 1
    beyond = np.minimum(np.searchsorted(x, x + skip, side="right"), last)
    following = np.maximum(beyond - 1, tied + 1).tolist()
    end = int(np.searchsorted(x, x[-1]))  # the first of the cases tied with the last
    found = [0]
    while found[-1] < end:
        found.append(following[found[-1]])
    return np.array(found, np.intp)


def _lines(x: Floats, y: Floats, at: NDArray[np.intp], left: NDArray[np.intp], k: int) -> Floats:
    """The values at x[at] of the lines fitted to the k cases from each `left`, (n_lines, n_columns)."""
    window = left[:, None] + np.arange(k)
    here, near = x[at][:, None], x[window]
    reach = np.maximum(here[:, 0] - near[:, 0], near[:, -1] - here[:, 0])
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.abs(near - here) / reach[:, None]
        weight = 1 - weight * weight * weight
        weight *= weight * weight
        enough = np.count_nonzero(weight > LEAST_WEIGHT, axis=1) >= 2
        weight /= weight.sum(axis=1, keepdims=True)
        near = near - np.einsum("ij,ij->i", weight, near)[:, None]
        spread = np.maximum(np.einsum("ij,ij,ij->i", weight, near, near), LEAST_SPREAD)
        # The line's value is a weighted sum of the outcomes.
        centre = here[:, 0] - (x[window[:, 0]] - near[:, 0])
        weight *= 1 + centre[:, None] * near / spread[:, None]
    values = np.column_stack([np.einsum("ij,ij->i", weight, column[window]) for column in y.T])
    values[~enough] = y[at[~enough]]
    return values
