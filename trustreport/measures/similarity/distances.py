"""Distances between all cases of two sets, held or made again row by row, and who is nearest to whom."""

from dataclasses import dataclass
from math import ceil, log, log1p

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from trustreport.measures.similarity.tasks import Run, one_by_one

HELD = 50_000_000  # distances held at once (400 MB), so up to 7,071 cases
BLOCK = 5_000_000  # distances made at once
ORDERED = 25_000_000  # neighbours held at once
RESOLUTION = 1e-9  # training SDs; nearer to each other than this, two distances are a tie


@dataclass(frozen=True, slots=True)
class Distances:
    """Euclidean distances between the rows of `points`; `matrix` holds them all where they fit.

    `gamma`, where positive, makes them Gaussian kernels: exp(-gamma x distance squared).
    """

    points: NDArray[np.float64]
    matrix: NDArray[np.float64] | None = None
    gamma: float = 0.0

    def __len__(self) -> int:
        return len(self.points)

    def rows(self, start: int, stop: int) -> NDArray[np.float64]:
        """From points start to stop (excluded) to all points, shape (stop - start, N)."""
        if self.matrix is not None:
            return self.matrix[start:stop]
        return self.between(self.points[start:stop], self.points)

    def between(self, some: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
        """From each of some to each of other points, without the matrix."""
        if not self.gamma:
            return np.asarray(cdist(some, others))
        kernel: NDArray[np.float64] = np.asarray(cdist(some, others, "sqeuclidean"))
        kernel *= -self.gamma
        np.exp(kernel, out=kernel)
        return kernel

    def blocks(self) -> list[tuple[int, int]]:
        """Rows to take at a time: all of them where the matrix is held."""
        n = len(self)
        step = n if self.matrix is not None else max(1, BLOCK // n)
        return [(start, min(start + step, n)) for start in range(0, n, step)]


def distances(points: NDArray[np.float64], *, gamma: float = 0.0, held: int = HELD) -> Distances:
    """All distances between points: held where there are at most `held`, otherwise made when asked."""
    one = Distances(points, gamma=gamma)
    return Distances(points, one.between(points, points), gamma) if len(points) ** 2 <= held else one


def neighbours(between: Distances, n_training: int, *, run: Run = one_by_one) -> NDArray[np.int32]:
    """The nearest points of each point, nearest first and by index among equals, shape (K, N).

    K is such that, when `n_training` points are drawn, hardly a point lacks one of them among its K.
    """
    n, m = len(between), len(between) - n_training
    needed = ceil(log(100 * m) / -log1p(-n_training / n))
    k = max(1, min(needed, n - 1, ORDERED // n))
    step = max(1, BLOCK // n)
    tasks = [(between, start, min(start + step, n), k) for start in range(0, n, step)]
    return np.hstack(list(run(_nearest, tasks)))


def as_ties(distance: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Distances as whole numbers that leave room for an index below `n` in 63 bits."""
    largest = float(distance.max(initial=0.0))
    # Coarser than RESOLUTION only where something lies further out than 1e5 SDs.
    unit = max(RESOLUTION, largest * n * 2.0**-62)
    return np.rint(distance / unit).astype(np.int64)


def _nearest(between: Distances, start: int, stop: int, k: int) -> NDArray[np.int32]:
    n = len(between)
    keys = as_ties(between.rows(start, stop), n)
    keys *= n
    keys += np.arange(n)
    keys[np.arange(stop - start), np.arange(start, stop)] = np.iinfo(np.int64).max  # not its own neighbour
    if k < n:
        keys.partition(k - 1, axis=1)
    first = np.sort(keys[:, :k], axis=1)
    first %= n
    return np.ascontiguousarray(first.T, dtype=np.int32)
