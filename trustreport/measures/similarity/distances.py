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


def as_ties(distance: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Distances as whole numbers that leave room for an index below `n` in 63 bits."""
    largest = float(distance.max(initial=0.0))
    # Coarser than RESOLUTION only where something lies further out than 1e5 SDs.
    per_unit = 1 / max(RESOLUTION, largest * n * 2.0**-62)
    scaled = distance * per_unit
    np.rint(scaled, out=scaled)
    return scaled.astype(np.int64)


def _nearest(between: Distances, start: int, stop: int, k: int) -> NDArray[np.int32]:
    n = len(between)
    order = np.empty((k, stop - start), dtype=np.int32)
    step = max(1, SORTED // n)
    room = np.empty((step, n)) if between.matrix is None else None
    for first in range(start, stop, step):
        last = min(first + step, stop)
        keys = as_ties(between.rows(first, last, room), n)
        keys *= n
        keys += np.arange(n)
        own = np.arange(last - first), np.arange(first, last)
        keys[own] = np.iinfo(np.int64).max  # not its own neighbour
        if k < n:
            keys.partition(k - 1, axis=1)
        nearest = np.sort(keys[:, :k], axis=1)
        nearest %= n
        order[:, first - start : last - start] = nearest.T
    return order
