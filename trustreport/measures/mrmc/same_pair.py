"""How far arms and readers agree about the same pair of cases: the variance that no further pair removes."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK = 1_000_000  # outcomes of comparisons held at once
EXACT = 2**22  # so many products of 0, 1 and 2 add up without rounding in single precision


def same_pair(rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Sums of psi psi' over all pairs of a positive and a negative case, for all pairs of arms and readers.

    Both the unbiased covariance and the U-statistic need it: the one part of theirs that placements do not
    hold. Whichever way is shorter: by comparison of cases, or by pairs of ratings where there are few
    different ones. In single precision and by blocks, exact all the same: each block adds up whole numbers.

    Parameters
    ----------
    rating, truth
        As in `reader_auc`; a case that was not rated adds 0.

    Returns
    -------
    float array, shape (n_arms * n_readers, n_arms * n_readers)
        Readers of the first arm first.
    """
    rows = rating.reshape(-1, rating.shape[-1])
    n1 = int(np.count_nonzero(truth))
    n0 = len(truth) - n1
    levels = [np.unique(one[truth & ~np.isnan(one)]) for one in rows]
    if sum(map(len, levels)) ** 2 * (n1 + n0) < len(rows) ** 2 * n1 * n0 and max(n1, n0) < EXACT:
        return _by_level(rows, truth, levels)
    return _by_comparison(rating, truth)


def _by_comparison(rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """`same_pair` from the outcome of every comparison."""
    n_rows = rating.shape[0] * rating.shape[1]
    total = np.zeros((n_rows, n_rows))
    for _, twice in _twice_psi(rating, truth):
        total += twice @ twice.T
    return total / 4


def _by_level(
    rows: NDArray[np.float64], truth: NDArray[np.bool_], levels: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """`same_pair` from how often two rows give two ratings; `levels` are those of each row's positives::

    sum over ratings k, l of #(positives rated k and l) x sum over negatives of psi(k) psi'(l)
    """
    of_row = np.repeat(np.eye(len(rows)), [len(of) for of in levels], axis=0)
    rated, twice = [], []
    for one, of in zip(rows, levels):
        negative, level = one[~truth], of[:, None]
        rated.append((one[truth] == level).astype(np.float32))
        twice.append((negative < level).astype(np.float32) + (negative <= level))
    positives, negatives = np.concatenate(rated), np.concatenate(twice)
    total = np.zeros((len(rows), len(rows)))
    step = max(1, BLOCK // max(len(of_row), 1))
    for start in range(0, len(of_row), step):
        some = slice(start, start + step)
        often = (positives[some] @ positives.T).astype(np.float64)
        often *= negatives[some] @ negatives.T
        total += of_row[some].T @ (often @ of_row)
    return total / 4


def won_where_made(rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Sums of one row's psi over the comparisons that another row made too; as `same_pair`."""
    rated = ~np.isnan(rating.reshape(-1, rating.shape[-1]))
    designs, of_row = np.unique(rated, axis=0, return_inverse=True)  # rows that rated the same cases
    positive, negative = (designs[:, of].astype(np.float32) for of in (truth, ~truth))
    total = np.zeros((len(rated), len(designs)))
    for block, twice in _twice_psi(rating, truth):
        made = (positive[:, block, None] * negative[:, None]).reshape(len(designs), -1)
        total += twice @ made.T
    return total[:, of_row.reshape(-1)] / 2


def _twice_psi(
    rating: NDArray[np.float64], truth: NDArray[np.bool_]
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """2 psi of every row, (n_rows, positives of the block x negatives), a block of positives at a time."""
    rows = rating.reshape(-1, rating.shape[-1])
    # Ranks compare as ratings do, in a quarter of the time; 0 is a positive, and the highest a negative, that
    # was not rated, so that neither is ever above the other.
    ranks = np.array([np.unique(one, return_inverse=True)[1] for one in rows]).reshape(rows.shape) + 1
    highest = rows.shape[1] + 1
    kind = np.uint16 if highest < 2**16 else np.uint32
    unrated = np.isnan(rows)
    positive = np.where(unrated, 0, ranks)[:, truth].astype(kind)
    negative = np.where(unrated, highest, ranks)[:, ~truth].astype(kind)[:, None]
    n_rows, n1, n0 = len(rows), positive.shape[1], negative.shape[2]
    step = max(1, min(BLOCK // max(n_rows, 1), EXACT) // max(n0, 1))
    for start in range(0, n1, step):
        block = slice(start, start + step)
        some = positive[:, block, None]
        above, level = np.greater(some, negative), np.greater_equal(some, negative)
        twice = above.view(np.uint8) + level.view(np.uint8)
        yield block, twice.reshape(n_rows, -1).astype(np.float32)
