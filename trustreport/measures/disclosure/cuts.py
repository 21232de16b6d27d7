"""Curves and histograms thinned, until no interval holds a few cases of a class."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class KeptCuts:
    """Indices of the cut points that may be published together, ascending.

    `impossible` are those that had to be kept and cannot be, in the order in which they were given.
    """

    kept: tuple[int, ...]
    impossible: tuple[int, ...] = ()


def kept_cuts(
    positives: ArrayLike,
    negatives: ArrayLike,
    least: int,
    must: Sequence[int] = (),
    *,
    totals: tuple[int, int] | None = None,
) -> KeptCuts:
    """Choose as many cut points as may be published together.

    Between neighbouring cut points that are kept, above the last and below the first, each class has no case
    or at least `least`. Then so has each interval between any two of them.

    Parameters
    ----------
    positives, negatives : int array, shape (n_cuts,)
        Cases of each class at or above each of the ascending cut points; they never rise.
    least : int
        The smallest number of cases, other than 0, that may be known.
    must : sequence of int
        Indices of cut points to keep, the most important first. One that cannot be kept together with those
        before it is reported as impossible.
    totals : two int, optional
        Positive and negative cases; those at the first cut point if not given.

    Raises
    ------
    ValueError
        If the counts differ in length, rise, or exceed the totals.
    """
    counts = np.stack((np.asarray(positives, int), np.asarray(negatives, int)))
    n = counts.shape[1]
    whole = np.array(totals if totals is not None else counts[:, 0] if n else (0, 0))
    if (np.diff(counts, axis=1) > 0).any() or (n and (counts[:, 0] > whole).any()) or (counts < 0).any():
        raise ValueError(
            "Counts at or above ascending cut points may not rise, exceed the totals or be negative."
        )
    # The ends stand for everybody and for nobody: nothing is published there that is not known anyway.
    steps = np.column_stack((whole, counts, np.zeros(2, int)))
    gap = steps[:, :, None] - steps[:, None, :]
    follows = ((gap == 0) | (gap >= least)).all(axis=0)
    fixed, impossible = [0, n + 1], []
    for index in must:
        tried = sorted({*fixed, index + 1})
        if all(follows[a, b] for a, b in pairwise(tried)):
            fixed = tried
        else:
            impossible.append(index)
    if not all(follows[a, b] for a, b in pairwise(fixed)):
        return KeptCuts((), tuple(impossible))  # a class so small that its size alone says too much
    kept = [i for a, b in pairwise(fixed) for i in _longest(follows, a, b)]
    return KeptCuts(tuple(i - 1 for i in kept if i <= n), tuple(impossible))


def _longest(follows: NDArray[np.bool_], start: int, end: int) -> list[int]:
    """Return the longest chain of allowed steps from `start` (left out) to `end`; of equals the lowest."""
    longest = {end: [end]}
    for i in range(end - 1, start - 1, -1):
        after = [longest[j] for j in range(i + 1, end + 1) if j in longest and follows[i, j]]
        if after:
            longest[i] = [i, *max(after, key=len)]
    return longest[start][1:]


def class_bins(scores: ArrayLike, least: int, digits: int = 2) -> NDArray[np.float64]:
    """Return edges that part the scores of one class into bins of at least `least` cases each.

    A bin is closed below and open above. Inner edges are rounded to `digits`, so they say no one's score; the
    outer ones are infinite, so they do not say the lowest and the highest.

    Parameters
    ----------
    scores : float array, shape (n_cases,)
        Of one class; not NaN.
    least : int
        At least 1.
    digits : int
        Decimals of the edges.

    Returns
    -------
    float array, shape (n_bins + 1,)
        Ascending, from minus to plus infinity; empty if the class has fewer than `least` cases.
    """
    scores = np.sort(np.asarray(scores, float))
    if len(scores) < max(least, 1):
        return np.array([])
    grid = np.unique(np.round(np.floor(scores * 10**digits + 1) / 10**digits, digits))
    below = np.searchsorted(scores, grid)
    edges, done = [-np.inf], 0
    for edge, n in zip(grid, below):
        if n - done >= least and len(scores) - n >= least:
            edges.append(edge)
            done = n
    return np.array([*edges, np.inf])
