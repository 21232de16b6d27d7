"""Distances between all cases of two sets, held or made again row by row, and who is nearest to whom."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, inf, log, log1p, log2, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from trustreport.measures.similarity.tasks import Run, one_by_one

HELD = 50_000_000  # distances held at once (400 MB), so up to 7,071 cases
BLOCK = 5_000_000  # distances made at once
SORTED = 2_000_000  # distances put in order at once: in less than 32 MB, which the allocator reuses
GROUPS = 4  # so many groups of cases for each neighbour that is looked for
TASK = 1000  # rows that one task puts in order
ORDERED = 25_000_000  # neighbours held at once
RESOLUTION = 1e-9  # training SDs; nearer to each other than this, two distances are a tie


Metric = Literal["euclidean", "cityblock"]


@dataclass(frozen=True, slots=True)
class Distances:
    """Distances between the rows of `points` in a metric; `matrix` holds them all where they fit.

    `gamma`, where positive, makes them Gaussian kernels: exp(-gamma x Euclidean distance squared).

    They are rounded to whole multiples of 2^-k, with k such that the sum of a row is exact (`grid` does that
    when it is added and taken away): so no sum depends on the order in which linear algebra adds, on its
    threads or on who computes. With 50,000 points k is about 30, finer than `RESOLUTION`.
    """

    points: NDArray[np.float64]
    matrix: NDArray[np.float64] | None = None
    gamma: float = 0.0
    metric: Metric = "euclidean"
    grid: float = 0.0

    def __len__(self) -> int:
        return len(self.points)

    def rows(self, start: int, stop: int, into: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """From points start to stop (excluded) to all points, shape (stop - start, N).

        `into` is room for them, which spares fetching memory for each block of rows.
        """
        if self.matrix is not None:
            return self.matrix[start:stop]
        return self.between(self.points[start:stop], self.points, into)

    def between(
        self,
        some: NDArray[np.float64],
        others: NDArray[np.float64],
        into: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """From each of some to each of other points, without the matrix."""
        metric = "sqeuclidean" if self.gamma else self.metric
        room = None if into is None else into[: len(some)]
        found: NDArray[np.float64] = np.asarray(cdist(some, others, metric, out=room))
        if self.gamma:
            found *= -self.gamma
            np.exp(found, out=found)
        if self.grid:
            found += self.grid
            found -= self.grid
        return found

    def every_block(
        self, first: int = 0, last: int | None = None
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Rows first to last (excluded), at once where the matrix is held; else by blocks.

        Each block is gone when the next comes.
        """
        last = len(self) if last is None else last
        if self.matrix is not None:
            yield slice(first, last), self.matrix[first:last]
            return
        step = max(1, BLOCK // len(self))
        room = np.empty((min(step, last - first), len(self)))
        for start in range(first, last, step):
            stop = min(start + step, last)
            yield slice(start, stop), self.rows(start, stop, room)


def distances(
    points: NDArray[np.float64], *, gamma: float = 0.0, metric: Metric = "euclidean", held: int = HELD
) -> Distances:
    """All distances between points: held where there are at most `held`, otherwise made when asked."""
    one = Distances(points, None, gamma, metric, _grid(points, gamma, metric))
    return replace(one, matrix=one.between(points, points)) if len(points) ** 2 <= held else one


def _grid(points: NDArray[np.float64], gamma: float, metric: Metric) -> float:
    """The number that rounds a distance, when it is added, to multiples of which a row's sum is exact."""
    out = np.abs(points - points.mean(axis=0))
    largest = 1.0 if gamma else 2 * float((out if metric == "cityblock" else out**2).sum(axis=1).max())
    if not gamma and metric == "euclidean":
        largest = 2 * sqrt(largest / 2)
    if not 0 < largest < inf:
        return 0.0
    return 0.75 * 2.0 ** ceil(log2(len(points) * largest))


def neighbours(between: Distances, n_training: int, *, run: Run = one_by_one) -> NDArray[np.int32]:
    """The nearest points of each point, nearest first and by index among equals, shape (K, N).

    K is such that, when `n_training` points are drawn, hardly a point lacks one of them among its K.
    """
    n, m = len(between), len(between) - n_training
    needed = ceil(log(100 * m) / -log1p(-n_training / n))
    k = max(1, min(needed, n - 1, ORDERED // n))
    tasks = [(between, start, min(start + TASK, n), k) for start in range(0, n, TASK)]
    if between.matrix is not None:  # moving the matrix to workers would take longer than the work
        run = one_by_one
    return np.hstack(list(run(_nearest, tasks)))


def as_ties(distance: NDArray[np.float64], n: int, largest: float | None = None) -> NDArray[np.int64]:
    """Distances as whole numbers that leave room for an index below `n` in 63 bits.

    `largest`, if not that of these distances, is what the numbers leave room for.
    """
    scaled = distance * _ties_per_unit(float(distance.max(initial=0.0)) if largest is None else largest, n)
    np.rint(scaled, out=scaled)
    return scaled.astype(np.int64)


def _ties_per_unit(largest: float, n: int) -> float:
    # Coarser than RESOLUTION only where something lies further out than 1e5 SDs.
    return 1 / max(RESOLUTION, largest * n * 2.0**-62)


def _nearest(between: Distances, start: int, stop: int, k: int) -> NDArray[np.int32]:
    n = len(between)
    order = np.empty((k, stop - start), dtype=np.int32)
    step = max(1, SORTED // n)
    room = np.empty((step, n)) if between.matrix is None else None
    for first in range(start, stop, step):
        last = min(first + step, stop)
        distance = between.rows(first, last, room)
        row, case = np.divmod(np.flatnonzero(distance <= _far_enough(distance, k)[:, None]), n)
        row, case = (part[case != row + first] for part in (row, case))  # not its own neighbour
        starts = np.searchsorted(row, np.arange(last - first + 1))
        keys = np.full((last - first, int(np.diff(starts).max())), np.iinfo(np.int64).max)
        ties = as_ties(distance[row, case], n, float(distance.max()))
        keys[row, np.arange(len(row)) - starts[row]] = ties * n + case
        if k < keys.shape[1]:
            keys.partition(k - 1, axis=1)
        order[:, first - start : last - start] = np.sort(keys[:, :k], axis=1).T % n
    return order


def _far_enough(distance: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """For each row a distance that itself and at least `k` others do not exceed, with all that tie with them.

    That many of the shortest distances of groups of cases do not exceed it, which hardly lets more through.
    """
    n = distance.shape[1]
    groups = GROUPS * (k + 1)
    if n < 2 * groups:
        return np.full(len(distance), np.inf)
    shortest = distance[:, : n - n % groups].reshape(len(distance), -1, groups).min(axis=1)
    last = np.partition(shortest, k, axis=1)[:, k]
    return np.asarray(last + 2 / _ties_per_unit(float(distance.max()), n))
