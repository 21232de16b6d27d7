"""How long a chart runs until it signals, and the limits that make it run as long as is wanted."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import ceil, inf, log
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import MatrixRankWarning, spsolve
from scipy.special import gammaln, xlog1py, xlogy

Floats = NDArray[np.float64]
Step = Mapping[int, float]
# Looks after which the share of charts that go on is tested for having become constant.
TESTED_EVERY = 64
CONSTANT = 1e-13
DENSE = 256  # states up to which so many looks at once are one product with the matrix's power
LEAP = 16  # looks that are one product with the power of a larger matrix, which stays sparse


def bernoulli(rate: float, up: int, down: int) -> dict[int, float]:
    """The step of one case: `up` with probability `rate`, else `-down`."""
    return {up: rate, -down: 1 - rate}


def binomial(n: int, rate: float, up: int, down: int) -> dict[int, float]:
    """The step of a look at n cases at once."""
    x = np.arange(n + 1)
    logs = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1) + xlogy(x, rate) + xlog1py(n - x, -rate)
    steps = x * up - (n - x) * down
    return dict(zip(steps.tolist(), np.exp(logs).tolist()))


def cusum_moves(step: Step, limit: int) -> csr_array:
    """Transitions between the states 0 ... limit - 1 of a CUSUM that never falls below 0.

    Rows are where it stands, columns where it goes; what a row lacks to 1 is the chance of an alert.
    """
    return _moves(step, 0, limit - 1, held=True)


def sprt_moves(step: Step, low: int, high: int) -> csr_array:
    """Transitions between the states low + 1 ... high - 1 of a sum that ends at or beyond either limit."""
    return _moves(step, low + 1, high - 1, held=False)


def restarting_moves(step: Step, low: int, high: int) -> csr_array:
    """As `sprt_moves`, but a sum at or below the lower limit begins again at 0: only an alert ends it."""
    moves = sprt_moves(step, low, high)
    states = np.arange(low + 1, high)
    below = np.zeros(len(states))
    for by, share in step.items():
        below += share * (states + by <= low)
    column = np.full(len(states), -low - 1)
    again = csr_array((below, (np.arange(len(states)), column)), shape=moves.shape)
    return csr_array(moves + again)


def _moves(step: Step, first: int, last: int, *, held: bool) -> csr_array:
    states = np.arange(first, last + 1)
    rows, columns, shares = [], [], []
    for by, share in step.items():
        to = states + by
        to = np.maximum(to, first) if held else to
        inside = (to >= first) & (to <= last)
        rows.append(np.flatnonzero(inside))
        columns.append(to[inside] - first)
        shares.append(np.full(int(inside.sum()), share))
    size = len(states)
    where = (np.concatenate(rows), np.concatenate(columns))
    return csr_array((np.concatenate(shares), where), shape=(size, size))


def reaches_high(step: Step, low: int, high: int) -> float:
    """The chance that a sum, begun at 0, comes to `high` or beyond before it comes to `low` or beyond."""
    moves = sprt_moves(step, low, high)
    states = np.arange(low + 1, high)
    beyond = np.zeros(len(states))
    for by, share in step.items():
        beyond += share * (states + by >= high)
    return float(_solved(moves, beyond)[-low - 1])


def average_run_length(moves: csr_array, start: int = 0) -> float:
    """Looks on average until the chart ends, from a state on (0 = the first one).

    ::

        (I - Q) L = 1,   Q the transitions between the states in which the chart goes on

    Returns
    -------
    1 or more; infinite where the chart can never end.

    References
    ----------
    Brook, Evans (1972), Biometrika 59, 539-549.

    Examples
    --------
    An alert after the first event: the mean of a geometric distribution.
    """
    length = float(_solved(moves, np.ones(moves.shape[0]))[start])
    return length if np.isfinite(length) and length >= 1 else inf


def median_run_length(moves: csr_array, start: int = 0) -> float:
    """The least number of looks by which half of the charts, or more, have ended.

    ::

        min n with 1' (Q')^n e_start <= 1/2,   Q as in `average_run_length`

    Returns
    -------
    1 or more; infinite where fewer than half ever end.

    References
    ----------
    Brook, Evans (1972), Biometrika 59, 539-549 (the distribution of the run length).
    Tan, Pooi, Chong (2005), Malays. J. Sci. 24, 45-50 (why the median: run lengths are skewed).

    Examples
    --------
    An alert after the first event: 0.9 ** 6 is over a half, 0.9 ** 7 below.
    """
    matrix = moves.T.tocsr()
    standing = np.zeros(matrix.shape[0])
    standing[start] = 1.0
    looks, share, ratio = 0, 1.0, 0.0
    while True:
        block, before = share, ratio
        for _ in range(TESTED_EVERY):
            standing = matrix @ standing
            looks, share = looks + 1, float(standing.sum())
            if share <= 0.5 + CONSTANT:
                return float(looks)
        ratio = share / block
        if abs(ratio - before) <= CONSTANT * ratio:
            if ratio >= 1 - CONSTANT:
                return inf
            return float(looks + ceil(TESTED_EVERY * log(0.5 / share) / log(ratio) - CONSTANT))


def _solved(moves: csr_array, right: Floats) -> Floats:
    """The x with (I - Q) x = right; infinite where the chart can go on for ever."""
    every = np.arange(len(right))
    identity = csr_array((np.ones(len(right)), (every, every)), shape=moves.shape)
    with catch_warnings():
        simplefilter("ignore", MatrixRankWarning)
        return np.atleast_1d(spsolve((identity - moves).tocsc(), right))


def probability_of_no_end(moves: Iterable[csr_array], start: int = 0) -> float:
    """The chance that the chart has not ended after all looks, one matrix of transitions a look.

    Equal matrices in a row should be the same object: then the work ends where the share of charts that go on
    from one look to the next has become constant.
    """
    standing: Floats | None = None
    share = 1.0
    for _, same in groupby(moves, key=id):
        block = list(same)
        matrix = block[0].T.tocsr()
        if standing is None:
            standing = np.zeros(matrix.shape[0])
            standing[start] = 1.0
        standing, factor = _walk(matrix, standing, len(block))
        share *= factor
    found = share if standing is None else share * float(standing.sum())
    return min(1.0, found)  # a sum of what is rounded may be above


def _walk(matrix: csr_array, standing: Floats, looks: int) -> tuple[Floats, float]:
    """The states after so many looks, scaled, and the scale."""
    scale, before = 1.0, 0.0
    blocks, rest = divmod(looks, TESTED_EVERY)
    leap, looks_of_leap = _power(matrix) if blocks > 1 else (matrix, 1)
    for block in range(blocks):
        standing = _stepped(leap, standing, TESTED_EVERY // looks_of_leap)
        total = float(standing.sum())
        if total <= 0:
            return standing, 0.0
        standing, scale = standing / total, scale * total
        if abs(total - before) <= CONSTANT * total:
            return standing, scale * float(total ** (looks / TESTED_EVERY - block - 1))
        before = total
    return _stepped(matrix, standing, rest), scale


def _power(matrix: csr_array) -> tuple[csr_array | Floats, int]:
    """The transitions of several looks at once, and of how many."""
    if matrix.shape[0] <= DENSE:
        return np.linalg.matrix_power(matrix.toarray(), TESTED_EVERY), TESTED_EVERY
    looks = 1
    while looks < LEAP:
        matrix, looks = matrix @ matrix, 2 * looks
    return matrix, looks


def _stepped(matrix: csr_array | Floats, standing: Floats, steps: int) -> Floats:
    for _ in range(steps):
        standing = matrix @ standing
    return standing


def per_look(sizes: Sequence[int], rate: float, up: int, down: int, limit: int) -> list[csr_array]:
    """The transitions of a CUSUM at each look, of looks at so many cases each."""
    made = {n: cusum_moves(binomial(n, rate, up, down), limit) for n in set(sizes)}
    return [made[n] for n in sizes]
